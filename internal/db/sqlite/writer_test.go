package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
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
	c.writes = true
	return &writer{conn: c, options: o.WithDefaults()}
}

func queuedOf(fn func(db.Conn) error) *db.Queued {
	return &db.Queued{Task: &db.Task{Run: func(c db.Conn, _ []*db.Task) error { return fn(c) }}}
}

func insertion(name string) *db.Queued {
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
	batch := []*db.Queued{insertion("a"), insertion("a"), insertion("b"), loser}
	w.runBatch(batch, none)
	if batch[0].Err != nil || sqlite.ErrCode(batch[1].Err) != sqlite.ResultConstraintUnique || batch[2].Err != nil || !errors.Is(batch[3].Err, lost) {
		t.Errorf("got %v, %v, %v, %v", batch[0].Err, batch[1].Err, batch[2].Err, batch[3].Err)
	}
	if got := things(t, d); !slices.Equal(got, []string{"a", "b"}) || finished != 2 {
		t.Errorf("got %q, %d finished", got, finished)
	}
}

// TestTasksExpectVersions: a task that goes on with another version of the schema decides only for itself, also in a transaction
// that it shares with tasks that do not.
func TestTasksExpectVersions(t *testing.T) {
	d := open(t, db.Options{})
	var current db.Version
	if err := db.Write(context.Background(), d, func(c db.Conn) (err error) {
		for _, sql := range []string{
			"CREATE TABLE " + db.SchemasTable + " (version INTEGER PRIMARY KEY, at TEXT NOT NULL)",
			"INSERT INTO " + db.SchemasTable + " (version, at) VALUES (3, '2026-01-01T00:00:00.000Z')",
		} {
			if _, err := c.Exec(sql); err != nil {
				return err
			}
		}
		current, err = db.ReadVersion(c)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	refused := errors.New("another version")
	var asked []string
	expecting := func(name string, v db.Version, otherwise error) *db.Queued {
		return queuedOf(func(c db.Conn) error {
			return c.Expect(v, func(db.Conn) error {
				asked = append(asked, name)
				return otherwise
			})
		})
	}
	batch := []*db.Queued{
		expecting("any", db.Version{}, nil), expecting("none", db.Version{}, refused), expecting("current", current, refused),
		expecting("none, after the current", db.Version{}, refused), expecting("current again", current, refused),
	}
	writerByHand(t, d, db.Options{}).runBatch(batch, none)
	for i, want := range []error{nil, refused, nil, refused, nil} {
		if !errors.Is(batch[i].Err, want) {
			t.Errorf("task %d: got %v, want %v", i, batch[i].Err, want)
		}
	}
	if want := []string{"any", "none", "none, after the current"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
}

// A statement that runs at the end of the limit of its task is interrupted, and everything of the task is undone, also if it ignores that. The
// others in the transaction take effect.
func TestTasksThatTakeTooLong(t *testing.T) {
	const endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
	for name, sql := range map[string]string{"read": endless, "write": "INSERT INTO things (name) " + endless} {
		d := open(t, db.Options{})
		w := writerByHand(t, d, db.Options{})
		limited := func(name string, result func(error) error) *db.Queued {
			queued := queuedOf(func(c db.Conn) error {
				_, err := c.Exec("INSERT INTO things (name) VALUES ($1)", model.TextValue(name))
				if err == nil {
					_, err = c.Exec(sql)
				}
				return result(err)
			})
			queued.Limit = time.Millisecond
			return queued
		}
		batch := []*db.Queued{
			insertion("a"), limited("b", func(err error) error { return err }), limited("c", func(error) error { return nil }), insertion("d"),
		}
		w.runBatch(batch, none)
		for i, tooLong := range []bool{false, true, true, false} {
			if err := batch[i].Err; errors.Is(err, db.ErrTooLong) != tooLong || err != nil && !tooLong {
				t.Errorf("%s: task %d: %v", name, i, err)
			}
		}
		if got := things(t, d); !slices.Equal(got, []string{"a", "d"}) {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// TestShortTasksPassLongOnes: while a task is running that is not short, five others of its caller wait, and one of another caller. A
// short task is next, in the same transaction. Then callers take turns.
func TestShortTasksPassLongOnes(t *testing.T) {
	var transactions []string
	d := open(t, db.Options{Finish: func(_ db.Conn, tasks []*db.Task) (func(), error) {
		var names []string
		for _, task := range tasks {
			names = append(names, fmt.Sprint(task.Value))
		}
		return func() { transactions = append(transactions, strings.Join(names, " ")) }, nil
	}})
	transactions = nil
	begun, release := make(chan bool), make(chan bool)
	var all sync.WaitGroup
	for i, name := range strings.Fields("eve1 eve2 eve3 eve4 eve5 eve6 ada1 short") {
		task := &db.Task{Short: name == "short", Caller: name[:3]}
		task.Run = func(c db.Conn, _ []*db.Task) error {
			task.Value = name
			if name == "eve1" {
				close(begun)
				<-release
				time.Sleep(longTurn)
			}
			_, err := c.Exec("INSERT INTO things (name) VALUES ($1)", model.TextValue(name))
			return err
		}
		all.Go(func() {
			if err := d.Write(t.Context(), task); err != nil {
				t.Error(err)
			}
		})
		if i == 0 {
			<-begun
		}
		for d.writer.queue.Waiting() < i {
			runtime.Gosched()
		}
	}
	close(release)
	all.Wait()
	if got := strings.Join(transactions, " "); transactions[0] != "eve1 short" || got != "eve1 short ada1 eve2 eve3 eve4 eve5 eve6" {
		t.Errorf("got %s, first %s", got, transactions[0])
	}
}

// TestLongTasksRunOnce: those that follow a long task and fail are undone by themselves.
func TestLongTasksRunOnce(t *testing.T) {
	d := open(t, db.Options{})
	w := writerByHand(t, d, db.Options{})
	runs, failed := 0, errors.New("failed on purpose")
	long := queuedOf(func(c db.Conn) error {
		runs++
		time.Sleep(2 * longTurn)
		_, err := c.Exec("INSERT INTO things (name) VALUES ('long')")
		return err
	})
	fails := queuedOf(func(c db.Conn) error {
		_, err := c.Exec("INSERT INTO things (name) VALUES ('undone')")
		return errors.Join(err, failed)
	})
	if w.runBatch([]*db.Queued{long, fails}, none); long.Err != nil || !errors.Is(fails.Err, failed) || runs != 1 {
		t.Errorf("got %v, %v, and %d runs", long.Err, fails.Err, runs)
	}
	if got := things(t, d); !slices.Equal(got, []string{"long"}) {
		t.Errorf("got %q", got)
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
	batch := []*db.Queued{insertion("a"), queuedOf(func(c db.Conn) error {
		_ = sqlitex.ExecuteTransient(c.(*connection).raw, "ROLLBACK", nil) // as SQLite does after an error of the disk
		return lost
	})}
	w.runBatch(batch, none)
	if batch[0].Err != nil || !errors.Is(batch[1].Err, lost) {
		t.Errorf("got %v, %v", batch[0].Err, batch[1].Err)
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
	batch := []*db.Queued{insertion("a"), panics, insertion("b")}
	w.runBatch(batch, none)
	if batch[0].Err != nil || !errors.Is(batch[1].Err, failed) || batch[2].Err != nil {
		t.Errorf("got %v, %v, %v", batch[0].Err, batch[1].Err, batch[2].Err)
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
	batch := []*db.Queued{insertion("a"), fails, insertion("b"), insertion("a")}
	w.runBatch(batch, none)
	if batch[0].Err != nil || !errors.Is(batch[1].Err, failed) || batch[2].Err != nil || sqlite.ErrCode(batch[3].Err) != sqlite.ResultConstraintUnique {
		t.Errorf("got %v, %v, %v, %v", batch[0].Err, batch[1].Err, batch[2].Err, batch[3].Err)
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
	batch := []*db.Queued{insertion("a"), insertion("b"), insertion("c")}
	w.runBatch(batch, none)
	other.rollBack()
	if err := batch[0].Err; sqlite.ErrCode(err) != sqlite.ResultBusy || batch[1].Err != err || batch[2].Err != err { // of one attempt
		t.Errorf("got %v, %v, %v", err, batch[1].Err, batch[2].Err)
	}
	if got := things(t, d); got != nil {
		t.Errorf("got %q", got)
	}
	w.runBatch(batch, none)
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
			writerByHand(t, d, db.Options{}).runBatch([]*db.Queued{fine, failing}, none)
			if sqlite.ErrCode(fine.Err) != code || sqlite.ErrCode(failing.Err) != code {
				t.Errorf("got %v, %v", fine.Err, failing.Err)
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
