package store

import (
	"context"
	"errors"
	"testing"

	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

// TestOutcomeOfACommit: what is found out about a transaction whose commit was not
// answered. A database that has crashed gives its number to another.
func TestOutcomeOfACommit(t *testing.T) {
	t.Parallel()
	s := schema.Example()
	users := s.Collection("users")
	st := open(t, pgtest.URL(t), s)
	b := st.backend.(*postgresBackend)
	ctx := context.Background()
	create := func(tx *Tx, name string) error {
		user := record(t, users, `{"name":"`+name+`","email":"`+name+`@example.com"}`)
		user[schema.IDColumn] = schema.IDValue(tx.NewID())
		user[users.CreatedColumn()], user[users.UpdatedColumn()] = tx.Now(), tx.Now()
		_, err := tx.Insert(users, user)
		return err
	}
	errUndo, errLost := errors.New("undo"), errors.New("the connection is lost")
	undone := func(tx *Tx, name string) error {
		err := tx.Attempt(func() error { return errors.Join(create(tx, name), errUndo) })
		if !errors.Is(err, errUndo) {
			return err
		}
		return nil
	}
	keep := func(tx *Tx, key string) error { return tx.KeepAnswer(AnswerKey{Key: key}, &Answer{Status: 409}) }
	// run runs a transaction and returns its connection, to ask what became of it.
	run := func(fn func(*Tx) error) (c *postgresConn, err error) {
		err = st.Write(ctx, func(tx *Tx) error {
			c = tx.conn.(*postgresConn)
			return fn(tx)
		})
		return c, err
	}
	other, err := run(func(tx *Tx) error { return create(tx, "other") })
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		fn     func(*Tx) error
		number int64 // of the transaction, if another has it now
		want   error
	}{
		"committed":                   {fn: func(tx *Tx) error { return create(tx, "committed") }},
		"committed, a part undone":    {fn: func(tx *Tx) error { return errors.Join(create(tx, "done"), undone(tx, "undone")) }},
		"rolled back":                 {fn: func(tx *Tx) error { return errors.Join(create(tx, "back"), errUndo) }, want: errLost},
		"another has its number":      {fn: func(tx *Tx) error { return create(tx, "reused") }, number: other.transaction, want: errLost},
		"its number is not given yet": {fn: func(tx *Tx) error { return create(tx, "future") }, number: other.transaction + 1<<20, want: errLost},
		"committed without changes":   {fn: func(tx *Tx) error { return keep(tx, "kept") }, want: errUnknownOutcome},
		"committed, all changes undone": {
			fn: func(tx *Tx) error { return errors.Join(undone(tx, "nobody"), keep(tx, "refused")) }, want: errUnknownOutcome,
		},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := run(c.fn)
			if (err != nil) != (name == "rolled back") {
				t.Fatal(err)
			}
			if c.number != 0 {
				conn.transaction = c.number
			}
			if got := b.resolve(ctx, conn, errLost); !errors.Is(got, c.want) || errors.Is(got, errUnknownOutcome) != (c.want == errUnknownOutcome) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	t.Run("going on", func(t *testing.T) {
		outcome := make(chan error, 1)
		if _, err := run(func(tx *Tx) error {
			if err := create(tx, "slow"); err != nil {
				return err
			}
			conn := *tx.conn.(*postgresConn)
			conn.evidence("collection = $1", schema.TextValue("users"))
			go func() { outcome <- b.resolve(ctx, &conn, errLost) }()
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := <-outcome; err != nil {
			t.Error(err)
		}
	})
}
