package store

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// TestTurns: one has it, the others wait for as long as they may.
func TestTurns(t *testing.T) {
	var all turns
	about := contested{"users", model.ID{1}}
	never, ended := context.WithCancel(context.Background())
	ended()
	first, err := all.join(context.Background(), about, time.Now().Add(time.Minute))
	if err != nil || first == nil {
		t.Fatal(first, err)
	}
	if none, err := all.join(context.Background(), about, time.Now()); none != nil || !errors.Is(err, errOutOfTurn) {
		t.Errorf("got %v, %v", none, err)
	}
	if none, err := all.join(never, about, time.Now().Add(time.Minute)); none != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", none, err)
	}
	if none, err := all.join(context.Background(), contested{}, time.Now()); none != nil || err != nil {
		t.Errorf("got %v, %v", none, err)
	}
	second := make(chan *turn)
	go func() {
		turn, _ := all.join(context.Background(), about, time.Now().Add(time.Minute))
		second <- turn
	}()
	first.leave()
	(<-second).leave()
	if all.waiting(about) {
		t.Error("there is a line of nobody")
	}
}

// TestOutOfTurn: who has not lost yet leaves a resource to those who have, also if
// nobody looks at the error.
func TestOutOfTurn(t *testing.T) {
	t.Parallel()
	st := open(t, pgtest.URL(t), (*model.Schema)(schema.Example()))
	users := st.schema.Collection("users")
	b := st.backend.(*postgresBackend)
	insert(t, st, users, `{"id":"`+id(1)+`","name":"Ada","email":"ada@example.com"}`)
	key, _ := model.ParseID(id(1))
	rename := func(name string) error {
		return st.Write(context.Background(), func(tx *Tx) error {
			before, err := tx.Get(users, nil, key)
			if err != nil {
				return err
			}
			after := append(model.Record{}, before...)
			after[users.Field("name").Column] = model.TextValue(name)
			_, _ = tx.Update(users, before, after)
			return nil
		})
	}
	turn, err := b.turns.join(context.Background(), contested{"users", key}, time.Now().Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	b.patience = 500 * time.Millisecond // of somebody who has to wait in vain
	if err := rename("Out of turn"); !fault.Is(err, problem.CodeUnavailable) {
		t.Errorf("out of turn: got %v", err)
	}
	turn.leave()
	b.patience = postgresPatience
	if err := rename("In turn"); err != nil {
		t.Errorf("in turn: got %v", err)
	}
	read(t, st, func(tx *Tx) {
		user, err := tx.Get(users, nil, key)
		if err != nil || user[users.Field("name").Column] != model.TextValue("In turn") {
			t.Errorf("got %v, %v", user, err)
		}
	})
}

// TestServerThatKeepsItsTurn: it may hang between its lock and its transaction, and nobody
// waits for it for long.
func TestServerThatKeepsItsTurn(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	st := open(t, url, (*model.Schema)(schema.Example()))
	about := contested{"users", model.ID{1}}
	hangs, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer hangs.Close(context.Background())
	if _, err := hangs.Exec(context.Background(), "SELECT pg_advisory_lock(hashtextextended($1, 0))", about.text()); err != nil {
		t.Fatal(err)
	}
	runs := 0
	err = st.Write(context.Background(), func(tx *Tx) error {
		if runs++; runs == 1 {
			return errors.Join(tx.conn.claims(about.collection, about.id), &pgconn.PgError{Code: "40001"})
		}
		return nil
	})
	if err != nil || runs != 2 {
		t.Errorf("%d runs, got %v", runs, err)
	}
}
