package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

// open opens a database that has a table things, with unique names.
func open(t *testing.T, o db.Options) *Database {
	t.Helper()
	d, err := Open(filepath.Join(t.TempDir(), "test.db"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	err = db.Write(context.Background(), d, func(c db.Conn) error {
		_, err := c.Exec("CREATE TABLE things (name TEXT NOT NULL UNIQUE)")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func things(t *testing.T, d *Database) (names []string) {
	t.Helper()
	c, release, err := d.Read(context.Background(), db.ShortRead)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if err := db.Each(c, func(row model.Row) {
		names = append(names, row.Text(0))
	}, "SELECT name FROM things ORDER BY name"); err != nil {
		t.Fatal(err)
	}
	return names
}

// writerByHand is another writer of the database, which does nothing by itself.
func writerByHand(t *testing.T, d *Database, o db.Options) *writer {
	t.Helper()
	c, err := d.open(sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.close(); err != nil {
			t.Error(err)
		}
	})
	return &writer{conn: c, options: o.WithDefaults()}
}

func queuedOf(fn func(db.Conn) error) *queuedTask {
	return &queuedTask{ctx: context.Background(), task: &db.Task{Run: func(c db.Conn, _ []*db.Task) error { return fn(c) }}}
}

func insertion(name string) *queuedTask {
	return queuedOf(func(c db.Conn) error {
		_, err := c.Exec("INSERT INTO things (name) VALUES ($1)", model.TextValue(name))
		return err
	})
}

// When the transaction that several share is lost, nobody gets an answer that
// came of it: each is run again, alone.
func TestLostTransactionIsRunAgainOneByOne(t *testing.T) {
	finished := 0
	d := open(t, db.Options{})
	w := writerByHand(t, d, db.Options{Finish: func(_ db.Conn, tasks []*db.Task) (func(), error) {
		return func() { finished += len(tasks) }, nil
	}})
	lost := errors.New("lost on purpose")
	loser := queuedOf(func(c db.Conn) error {
		_, _ = c.Exec("ROLLBACK")
		return lost
	})
	// The second is in conflict with the first, and only with it.
	batch := []*queuedTask{insertion("a"), insertion("a"), insertion("b"), loser}
	w.runBatch(batch)
	if batch[0].err != nil || sqlite.ErrCode(batch[1].err) != sqlite.ResultConstraintUnique || batch[2].err != nil || !errors.Is(batch[3].err, lost) {
		t.Errorf("got %v, %v, %v, %v", batch[0].err, batch[1].err, batch[2].err, batch[3].err)
	}
	if got := things(t, d); !slices.Equal(got, []string{"a", "b"}) || finished != 2 {
		t.Errorf("got %q, %d finished", got, finished)
	}
}

// A statement that runs at the end of the limit of its task is interrupted, and everything of the task is undone, also if it ignores that. The
// others in the transaction take effect.
func TestTasksThatTakeTooLong(t *testing.T) {
	const endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
	for name, sql := range map[string]string{"read": endless, "write": "INSERT INTO things (name) " + endless} {
		d := open(t, db.Options{})
		w := writerByHand(t, d, db.Options{})
		limited := func(name string, result func(error) error) *queuedTask {
			queued := queuedOf(func(c db.Conn) error {
				_, err := c.Exec("INSERT INTO things (name) VALUES ($1)", model.TextValue(name))
				if err == nil {
					_, err = c.Exec(sql)
				}
				return result(err)
			})
			queued.task.Limit = time.Millisecond
			return queued
		}
		batch := []*queuedTask{
			insertion("a"), limited("b", func(err error) error { return err }), limited("c", func(error) error { return nil }), insertion("d"),
		}
		w.runBatch(batch)
		for i, tooLong := range []bool{false, true, true, false} {
			if err := batch[i].err; errors.Is(err, db.ErrTooLong) != tooLong || err != nil && !tooLong {
				t.Errorf("%s: task %d: %v", name, i, err)
			}
		}
		if got := things(t, d); !slices.Equal(got, []string{"a", "d"}) {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// When SQLite rolls back because of a task that has only read, nothing is finished outside a transaction.
func TestTransactionLostByARead(t *testing.T) {
	d := open(t, db.Options{})
	w := writerByHand(t, d, db.Options{Finish: func(c db.Conn, tasks []*db.Task) (func(), error) {
		for range tasks {
			if _, err := c.Exec("INSERT INTO things (name) SELECT 'finished ' || count(*) FROM things"); err != nil {
				return nil, err
			}
		}
		return func() {}, nil
	}})
	lost := errors.New("lost on purpose")
	batch := []*queuedTask{insertion("a"), queuedOf(func(c db.Conn) error {
		_ = sqlitex.ExecuteTransient(c.(*connection).raw, "ROLLBACK", nil) // as SQLite does after an error of the disk
		return lost
	})}
	w.runBatch(batch)
	if batch[0].err != nil || !errors.Is(batch[1].err, lost) {
		t.Errorf("got %v, %v", batch[0].err, batch[1].err)
	}
	if got := things(t, d); !slices.Equal(got, []string{"a", "finished 1"}) {
		t.Errorf("got %q", got)
	}
}

// A task that panics in a savepoint of its own is undone as a whole.
func TestPanicInASharedTransaction(t *testing.T) {
	d := open(t, db.Options{})
	w := writerByHand(t, d, db.Options{})
	failed := errors.New("failed on purpose")
	panics := queuedOf(func(c db.Conn) (err error) {
		defer func() {
			if recover() != nil { // as store.run does
				err = failed
			}
		}()
		_, err = c.Exec("INSERT INTO things (name) VALUES ('half')")
		return errors.Join(err, c.Savepoint(func() bool { panic("on purpose") }))
	})
	batch := []*queuedTask{insertion("a"), panics, insertion("b")}
	w.runBatch(batch)
	if batch[0].err != nil || !errors.Is(batch[1].err, failed) || batch[2].err != nil {
		t.Errorf("got %v, %v, %v", batch[0].err, batch[1].err, batch[2].err)
	}
	if got := things(t, d); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("got %q", got)
	}
}

// A task that fails in the middle harms no other that shares its transaction.
func TestFailureInASharedTransaction(t *testing.T) {
	d := open(t, db.Options{})
	w := writerByHand(t, d, db.Options{})
	failed := errors.New("failed on purpose")
	fails := queuedOf(func(c db.Conn) error {
		_, err := c.Exec("INSERT INTO things (name) VALUES ('undone')")
		return errors.Join(err, failed)
	})
	batch := []*queuedTask{insertion("a"), fails, insertion("b"), insertion("a")}
	w.runBatch(batch)
	if batch[0].err != nil || !errors.Is(batch[1].err, failed) || batch[2].err != nil || sqlite.ErrCode(batch[3].err) != sqlite.ResultConstraintUnique {
		t.Errorf("got %v, %v, %v, %v", batch[0].err, batch[1].err, batch[2].err, batch[3].err)
	}
	if got := things(t, d); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("got %q", got)
	}
}

// Another process that writes for long delays all who wait together, and not one after the other.
func TestBusyDatabaseIsWaitedForOnce(t *testing.T) {
	d := open(t, db.Options{})
	other := writerByHand(t, d, db.Options{})
	if _, err := other.conn.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	w := writerByHand(t, d, db.Options{})
	w.conn.raw.SetBusyTimeout(1)
	batch := []*queuedTask{insertion("a"), insertion("b"), insertion("c")}
	w.runBatch(batch)
	other.rollBack()
	if err := batch[0].err; sqlite.ErrCode(err) != sqlite.ResultBusy || batch[1].err != err || batch[2].err != err { // of one attempt
		t.Errorf("got %v, %v, %v", err, batch[1].err, batch[2].err)
	}
	if got := things(t, d); got != nil {
		t.Errorf("got %q", got)
	}
	w.runBatch(batch)
	if got := things(t, d); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("got %q", got)
	}
}

// After an error of the disk nothing is acknowledged any more, not even what would
// succeed when tried again; what is there can still be read.
func TestDiskErrorEndsAllWriting(t *testing.T) {
	for _, code := range []sqlite.ResultCode{sqlite.ResultIOErrWrite, sqlite.ResultIOErrFsync, sqlite.ResultIOErrDirFsync, sqlite.ResultIOErrTruncate} {
		t.Run(code.String(), func(t *testing.T) {
			var reasons []error
			d := open(t, db.Options{Failed: func(err error) { reasons = append(reasons, err) }})
			write := func(fn func(db.Conn) error) error { return db.Write(context.Background(), d, fn) }
			if err := write(func(c db.Conn) error {
				_, err := c.Exec("INSERT INTO things (name) VALUES ('before')")
				return err
			}); err != nil {
				t.Fatal(err)
			}
			fine, failing := queuedOf(func(db.Conn) error { return nil }), queuedOf(func(db.Conn) error { return code.ToError() })
			writerByHand(t, d, db.Options{}).runBatch([]*queuedTask{fine, failing})
			if sqlite.ErrCode(fine.err) != code || sqlite.ErrCode(failing.err) != code {
				t.Errorf("got %v, %v", fine.err, failing.err)
			}
			if err := write(func(db.Conn) error { return code.ToError() }); sqlite.ErrCode(err) != code || !fault.Is(d.Fault(err), problem.CodeUnavailable) {
				t.Error(err)
			}
			err := write(func(db.Conn) error {
				t.Error("a write was tried")
				return nil
			})
			if !fault.Is(d.Fault(err), problem.CodeUnavailable) || len(reasons) != 1 || !fault.Is(d.Fault(reasons[0]), problem.CodeUnavailable) {
				t.Errorf("write: %v, reasons: %v", err, reasons)
			}
			if got := things(t, d); !slices.Equal(got, []string{"before"}) {
				t.Errorf("got %q", got)
			}
		})
	}
}

// However many pages are being read, a short read finds a connection, and however many
// of them are long, so does the first part of another.
func TestLongReadsLeaveRoomForShortOnes(t *testing.T) {
	d := open(t, db.Options{})
	read := func(use db.Use) db.Conn {
		c, release, err := d.Read(context.Background(), use)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(release)
		return c
	}
	for range maxLongReaders {
		if err := read(db.PageInSeveral).Extend(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range maxPageReaders {
		if _, err := read([]db.Use{db.PageInSeveral, db.PageInOne}[i%2]).Exec("SELECT 1"); err != nil {
			t.Fatal(err)
		}
	}
	if got := things(t, d); len(got) != 0 {
		t.Errorf("got %q", got)
	}
	if got := d.Traits().LongReads; got != maxLongReaders {
		t.Errorf("%d long reads", got)
	}
}

// Statements of many shapes, and long ones, do not pile up.
func TestStatementsAreBounded(t *testing.T) {
	d := open(t, db.Options{})
	c, release, err := d.Read(context.Background(), db.ShortRead)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	var counts []int // of parameters
	for n := range maxStatements + 10 {
		counts = append(counts, n+1)
	}
	for _, n := range append(counts, 999) { // the last statement is too long to be kept
		values := make([]model.Value, n)
		placeholders := make([]string, n)
		for i := range values {
			values[i], placeholders[i] = model.TextValue("x"), fmt.Sprintf("$%d", i+1)
		}
		if _, err := c.Exec("SELECT count(*) FROM things WHERE name IN ("+strings.Join(placeholders, ", ")+")", values...); err != nil {
			t.Fatal(err)
		}
	}
	kept := c.(*connection).statements
	if len(kept) > maxStatements {
		t.Errorf("%d statements are kept", len(kept))
	}
	for sql := range kept {
		if len(sql) > maxCachedSQL {
			t.Errorf("one of %d bytes is kept", len(sql))
		}
	}
}
