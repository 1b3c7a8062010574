package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

// TestOutcomeOfACommit: what is found out about a transaction whose commit was not
// answered. A database that has crashed gives its number to another.
func TestOutcomeOfACommit(t *testing.T) {
	t.Parallel()
	s := (*model.Schema)(schema.Example())
	users := s.Collection("users")
	st := open(t, pgtest.URL(t), s)
	b := st.backend.(*postgresBackend)
	ctx := context.Background()
	create := func(tx *Tx, name string) error {
		user := record(t, users, `{"name":"`+name+`","email":"`+name+`@example.com"}`)
		user[model.IDColumn] = model.IDValue(tx.NewID())
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
		"committed without changes":   {fn: func(tx *Tx) error { return keep(tx, "kept") }, want: errRunAgain},
		"committed, all changes undone": {
			fn: func(tx *Tx) error { return errors.Join(undone(tx, "nobody"), keep(tx, "refused")) }, want: errRunAgain,
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
			if got := b.resolve(conn, errLost); !errors.Is(got, c.want) || errors.Is(got, errUnknownOutcome) || errors.Is(got, errRunAgain) != (c.want == errRunAgain) {
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
			conn.evidence("collection = $1", model.TextValue("users"))
			go func() { outcome <- b.resolve(&conn, errLost) }()
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := <-outcome; err != nil {
			t.Error(err)
		}
	})
}

// TestConnectionsEndUnderTransactions: these are run again.
func TestConnectionsEndUnderTransactions(t *testing.T) {
	t.Parallel()
	s := (*model.Schema)(schema.Example())
	users := s.Collection("users")
	for name, end := range map[string]func(*testing.T, *Tx, string){
		"terminated": func(t *testing.T, tx *Tx, url string) {
			execute(t, url, fmt.Sprintf("SELECT pg_terminate_backend(%d, 10000)", tx.conn.(*postgresConn).raw.PgConn().PID()))
		},
		"idle for too long": func(t *testing.T, tx *Tx, url string) {
			if _, err := tx.conn.exec("SET idle_in_transaction_session_timeout = 1"); err != nil {
				t.Error(err)
			}
			for gone := false; !gone; {
				gone = execute(t, url, fmt.Sprintf("SELECT 1 FROM pg_stat_activity WHERE pid = %d", tx.conn.(*postgresConn).raw.PgConn().PID())) == 0
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := pgtest.URL(t)
			st := open(t, url, s)
			runs := 0
			err := st.Write(context.Background(), func(tx *Tx) error {
				if _, err := tx.Backlog(1); err != nil {
					return err
				}
				if runs++; runs == 1 {
					end(t, tx, url)
				}
				user := record(t, users, `{"id":"00000000-0000-0000-0000-000000000001","name":"Ada","email":"ada@example.com"}`)
				user[users.CreatedColumn()], user[users.UpdatedColumn()] = tx.Now(), tx.Now()
				_, err := tx.Insert(users, user)
				return err
			})
			if stored := execute(t, url, "SELECT 1 FROM users"); err != nil || runs != 2 || stored != 1 {
				t.Errorf("%v, in %d runs: %d users", err, runs, stored)
			}
		})
	}
}

// TestLostConnections: by whichever error it shows.
func TestLostConnections(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{&pgconn.PgError{Code: "57P01"}, true},
		{&pgconn.PgError{Code: "25P03"}, true},
		{&pgconn.PgError{Code: "57P05"}, true},
		{fmt.Errorf("writing: %w", syscall.EPIPE), true},
		{io.ErrUnexpectedEOF, true},
		{&pgconn.PgError{Code: "23505"}, false},
		{context.DeadlineExceeded, false},
		{errors.Join(errUnknownOutcome, io.EOF), false},
		{nil, false},
	} {
		if got := isLostConnection(c.err); got != c.want {
			t.Errorf("%v: %t", c.err, got)
		}
	}
}

// TestErrorsAsAnswers: only an error that leaves the connection says that nothing was committed.
func TestErrorsAsAnswers(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{&pgconn.PgError{SeverityUnlocalized: "ERROR", Code: "40001"}, true},
		{&pgconn.PgError{SeverityUnlocalized: "FATAL", Code: "57P01"}, false},
		{&pgconn.PgError{SeverityUnlocalized: "PANIC", Code: "XX000"}, false},
		{io.EOF, false},
		{context.DeadlineExceeded, false},
	} {
		if got := isAnswer(c.err); got != c.want {
			t.Errorf("%v: %t", c.err, got)
		}
	}
}

// execute runs a statement from outside, and counts its rows.
func execute(t *testing.T, url, sql string) int64 {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	tag, err := conn.Exec(context.Background(), sql)
	if err != nil {
		t.Fatal(err)
	}
	return tag.RowsAffected()
}
