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
	// With one connection, who asks for the outcome must have given back the one that was lost.
	st := open(t, with(t, url, "pool_max_conns", "1"), schema.Example())
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
	later := func(write func() error) <-chan error {
		done := make(chan error, 1)
		go func() { done <- write() }()
		return done
	}
	for name, disturb := range map[string]func(){
		"patience":   func() {},
		"cancelled":  func() { waiting("pg_cancel_backend") },
		"terminated": func() { waiting("pg_terminate_backend") },
	} {
		t.Run(name, func(t *testing.T) {
			standby("ghost")
			written := later(func() error { return insert(name) })
			disturb()
			if err := <-written; !errors.Is(err, errUnknownOutcome) {
				t.Errorf("the standby is away: got %v", err)
			}
		})
	}
	keep := func() error {
		return st.Write(context.Background(), func(tx *Tx) error { return tx.KeepAnswer(AnswerKey{Key: "k"}, &Answer{Status: 409}) })
	}
	for name, c := range map[string]struct {
		write func() error
		do    string
	}{
		"cancelled, comes back":                  {func() error { return insert("back") }, "pg_cancel_backend"},
		"terminated, comes back":                 {func() error { return insert("again") }, "pg_terminate_backend"},
		"terminated without changes, comes back": {keep, "pg_terminate_backend"},
	} {
		t.Run(name, func(t *testing.T) {
			standby("ghost")
			written := later(c.write)
			waiting(c.do)
			standby("")
			if err := <-written; err != nil {
				t.Errorf("the standby is not needed any more: got %v", err)
			}
		})
	}
}
