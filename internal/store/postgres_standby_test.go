package store

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

// TestCommitsWithoutTheirStandby: a write is not acknowledged that only the primary has,
// whichever way the wait for its synchronous standby ends.
func TestCommitsWithoutTheirStandby(t *testing.T) {
	t.Parallel()
	url := pgtest.Cluster(t, "synchronous_commit=on")
	st := open(t, url, schema.Example())
	b := st.backend.(*postgresBackend)
	b.patience = 2 * time.Second
	users := st.schema.Collection("users")
	standby := func(names string) {
		execute(t, url, "ALTER SYSTEM SET synchronous_standby_names = '"+names+"'")
		execute(t, url, "SELECT pg_reload_conf()")
		// Each session learns of it by itself; a new one has it from the beginning.
		for execute(t, url, "SELECT 1 WHERE current_setting('synchronous_standby_names') = '"+names+"'") == 0 {
		}
		b.pool.Reset()
	}
	// waiting does something to the sessions that wait for the standby, once there is one.
	waiting := func(do string) {
		for execute(t, url, "SELECT "+do+"(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == 0 {
		}
	}
	insert := func(name string) error {
		return st.Write(context.Background(), func(tx *Tx) error {
			user := record(t, users, fmt.Sprintf(`{"name":%q,"email":"%s@example.com"}`, name, name))
			user[schema.IDColumn] = schema.IDValue(tx.NewID())
			user[users.CreatedColumn()], user[users.UpdatedColumn()] = tx.Now(), tx.Now()
			_, err := tx.Insert(users, user)
			return err
		})
	}
	write := func(name string) <-chan error {
		done := make(chan error, 1)
		go func() { done <- insert(name) }()
		return done
	}
	for name, disturb := range map[string]func(){
		"patience":   func() {},
		"cancelled":  func() { waiting("pg_cancel_backend") },
		"terminated": func() { waiting("pg_terminate_backend") },
	} {
		t.Run(name, func(t *testing.T) {
			standby("ghost")
			written := write(name)
			disturb()
			if err := <-written; !errors.Is(err, errUnknownOutcome) {
				t.Errorf("the standby is away: got %v", err)
			}
		})
	}
	t.Run("comes back", func(t *testing.T) {
		standby("ghost")
		written := write("back")
		waiting("pg_cancel_backend")
		standby("")
		if err := <-written; err != nil {
			t.Errorf("the standby is not needed any more: got %v", err)
		}
	})
}
