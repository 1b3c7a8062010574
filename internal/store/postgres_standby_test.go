package store

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

// TestCommitsWithoutTheirStandby: a write is not acknowledged that only the primary has,
// whichever way the wait for its synchronous standby ends.
func TestCommitsWithoutTheirStandby(t *testing.T) {
	t.Parallel()
	url := pgtest.Cluster(t, "synchronous_commit=on")
	// With one connection, who asks for the outcome must have given back the one that was lost.
	st := open(t, with(t, url, "pool_max_conns", "1"), (*model.Schema)(schema.Example()))
	b := st.backend.(*postgresBackend)
	st.minter.mark = model.ID{0xff} // no id comes near
	users := st.schema.Collection("users")
	standby := func(names string) {
		execute(t, url, "ALTER SYSTEM SET synchronous_standby_names = '"+names+"'")
		execute(t, url, "SELECT pg_reload_conf()")
		// Each session learns of it by itself; a new one has it from the beginning.
		for execute(t, url, "SELECT 1 WHERE current_setting('synchronous_standby_names') = '"+names+"'") == 0 {
		}
		// Commits wait from when the checkpointer has learned of it. It looks whether settings have changed
		// between two checkpoints.
		execute(t, url, "CHECKPOINT")
		execute(t, url, "CHECKPOINT")
		b.reset()
	}
	// waiting does something to the sessions that wait for the standby, once there is one.
	waiting := func(do string) {
		for execute(t, url, "SELECT "+do+"(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == 0 {
		}
	}
	user := func(id model.ID, now model.Value) model.Record {
		user := record(t, users, `{"name":"Ada","email":"`+id.String()+`@example.com"}`)
		user[model.IDColumn], user[users.CreatedColumn()], user[users.UpdatedColumn()] = model.IDValue(id), now, now
		return user
	}
	alone := func() error {
		return st.Write(context.Background(), func(tx *Tx) error {
			_, err := tx.Insert(users, user(tx.NewID(), tx.Now()))
			return err
		})
	}
	inAGroup := func() error {
		_, _, stored, err := st.Add(context.Background(), users, user)
		if err == nil && !stored {
			t.Error("not stored")
		}
		return err
	}
	later := func(write func() error) <-chan error {
		done := make(chan error, 1)
		go func() { done <- write() }()
		return done
	}
	b.patience = time.Second
	for name, disturb := range map[string]func(){
		"patience":   func() {},
		"cancelled":  func() { waiting("pg_cancel_backend") },
		"terminated": func() { waiting("pg_terminate_backend") },
	} {
		for how, write := range map[string]func() error{" alone": alone, " in a group": inAGroup} {
			t.Run(name+how, func(t *testing.T) {
				standby("ghost")
				written := later(write)
				disturb()
				if err := <-written; !errors.Is(err, errUnknownOutcome) {
					t.Errorf("the standby is away: got %v", err)
				}
			})
		}
	}
	b.patience = postgresPatience
	for name, c := range map[string]struct {
		write func() error
		do    string
	}{
		"cancelled, comes back":             {alone, "pg_cancel_backend"},
		"cancelled in a group, comes back":  {inAGroup, "pg_cancel_backend"},
		"terminated, comes back":            {alone, "pg_terminate_backend"},
		"terminated in a group, comes back": {inAGroup, "pg_terminate_backend"},
		"terminated without changes, comes back": {func() error {
			return st.Write(context.Background(), func(tx *Tx) error { return tx.KeepAnswer(AnswerKey{Key: "k"}, &Answer{Status: 409}) })
		}, "pg_terminate_backend"},
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
