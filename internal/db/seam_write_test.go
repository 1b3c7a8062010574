package db_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

func TestWriteDoesAllOrNothing(t *testing.T) {
	eachDatabase(t, db.Options{}, func(t *testing.T, d db.Database) {
		write(t, d, func(c db.Conn) error { return putMeta(c, "stored") })
		err := db.Write(context.Background(), d, func(c db.Conn) error { return errors.Join(putMeta(c, "undone"), errOnPurpose) })
		if !errors.Is(err, errOnPurpose) {
			t.Error(err)
		}
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		err = db.Write(ended, d, func(c db.Conn) error { return putMeta(c, "never begun") })
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		expectKeys(t, d, "stored")
	})
}

// TestLimit: a task that takes longer than its limit stores nothing, whatever it returns.
func TestLimit(t *testing.T) {
	eachDatabase(t, db.Options{}, func(t *testing.T, d db.Database) {
		for _, result := range []func(error) error{func(err error) error { return err }, func(error) error { return nil }} {
			err := d.Write(context.Background(), &db.Task{Limit: 1, Run: func(c db.Conn, _ []*db.Task) error { return result(putMeta(c, "late")) }})
			if !errors.Is(err, db.ErrTooLong) {
				t.Error(err)
			}
		}
		err := d.Write(context.Background(), &db.Task{Limit: time.Hour, Run: func(c db.Conn, _ []*db.Task) error { return putMeta(c, "in time") }})
		if err != nil {
			t.Error(err)
		}
		expectKeys(t, d, "in time")
	})
}

// TestFinish: it gets the tasks that have succeeded, can undo them, and learns of the commit.
func TestFinish(t *testing.T) {
	var fails bool
	var finished, committed []any
	o := db.Options{Finish: func(c db.Conn, tasks []*db.Task) (func(), error) {
		var values []any
		for _, task := range tasks {
			if task.Value != nil {
				values = append(values, task.Value)
			}
		}
		finished = append(finished, values...)
		if fails {
			return nil, errOnPurpose
		}
		if len(values) == 0 {
			return func() {}, nil
		}
		return func() { committed = append(committed, values...) }, putMeta(c, fmt.Sprint("finished ", values))
	}}
	eachDatabase(t, o, func(t *testing.T, d db.Database) {
		finished, committed = nil, nil
		task := func(value string, err error) *db.Task {
			task := &db.Task{}
			task.Run = func(c db.Conn, earlier []*db.Task) error {
				task.Value = value
				return errors.Join(putMeta(c, value), err)
			}
			return task
		}
		for _, c := range []struct {
			value       string
			err         error
			finishFails bool
		}{{"a", nil, false}, {"b", errOnPurpose, false}, {"c", nil, true}} {
			fails = c.finishFails
			if err := d.Write(context.Background(), task(c.value, c.err)); (err != nil) != (c.err != nil || c.finishFails) {
				t.Errorf("%s: %v", c.value, err)
			}
		}
		fails = false
		if !slices.Equal(finished, []any{"a", "c"}) || !slices.Equal(committed, []any{"a"}) {
			t.Errorf("finished %v, committed %v", finished, committed)
		}
		expectKeys(t, d, "a", "finished [a]")
	})
}

// TestTasksSeeEarlierOnes: whether a transaction is shared or not, a task sees what those before it
// have done, and knows of those whose effects are not finished.
func TestTasksSeeEarlierOnes(t *testing.T) {
	var mutex sync.Mutex
	finished := 0
	o := db.Options{Finish: func(_ db.Conn, tasks []*db.Task) (func(), error) {
		n := 0
		for _, task := range tasks {
			if task.Value == "counts" {
				n++
			}
		}
		return func() { mutex.Lock(); finished += n; mutex.Unlock() }, nil
	}}
	eachDatabase(t, o, func(t *testing.T, d db.Database) {
		finished = 0
		const writers = 30
		errs := make([]error, writers)
		var all sync.WaitGroup
		for i := range writers {
			all.Go(func() {
				task := &db.Task{}
				task.Run = func(c db.Conn, earlier []*db.Task) error {
					for _, other := range earlier {
						if other.Value != "counts" || other == task {
							return errors.New("an earlier task has not succeeded")
						}
					}
					if err := putMeta(c, fmt.Sprintf("%02d", i)); err != nil {
						return err
					}
					if i%3 == 0 {
						return errOnPurpose
					}
					task.Value = "counts"
					return nil
				}
				errs[i] = d.Write(context.Background(), task)
			})
		}
		all.Wait()
		var want []string
		for i, err := range errs {
			if (err != nil) != (i%3 == 0) {
				t.Errorf("%d: %v", i, err)
			}
			if i%3 != 0 {
				want = append(want, fmt.Sprintf("%02d", i))
			}
		}
		if finished != len(want) {
			t.Errorf("%d tasks are committed, want %d", finished, len(want))
		}
		expectKeys(t, d, want...)
	})
}

func insertChange(stored func(int64)) db.Statement {
	return db.Statement{SQL: "INSERT INTO " + db.ChangesTable + " (collection, id, kind, at, caller, schema, previous) VALUES (1, $1, 'created', $2, '', 1, '')",
		Args: []model.Value{model.IDValue(model.ID{1}), model.TimeValue("2026-01-01T00:00:00.000Z")}, Stored: stored}
}

// TestBatch: statements run in their order, those that store a row tell so with the revision of
// the last change, and the first error ends the batch.
func TestBatch(t *testing.T) {
	eachDatabase(t, db.Options{}, func(t *testing.T, d db.Database) {
		var revisions []int64
		note := func(revision int64) { revisions = append(revisions, revision) }
		write(t, d, func(c db.Conn) error {
			stored, taken := insertMeta("a"), insertMeta("a")
			stored.Stored = note
			taken.SQL += " ON CONFLICT DO NOTHING"
			taken.Stored = func(int64) { t.Error("a row was stored that is in conflict") }
			return c.Batch(insertChange(note), stored, taken, insertMeta("b"), insertChange(note))
		})
		if len(revisions) != 3 || revisions[0] == 0 || revisions[1] != revisions[0] || revisions[2] <= revisions[1] {
			t.Errorf("revisions %v", revisions)
		}
		err := db.Write(context.Background(), d, func(c db.Conn) error {
			return c.Batch(insertMeta("c"), db.Statement{SQL: "INSERT INTO nothing (a) VALUES (1)"}, insertMeta("d"))
		})
		if err == nil || !strings.Contains(err.Error(), "nothing") {
			t.Error(err)
		}
		expectKeys(t, d, "a", "b")
	})
}

// TestDefer: what is deferred is there for the next statement, and for the commit if there is none.
func TestDefer(t *testing.T) {
	eachDatabase(t, db.Options{}, func(t *testing.T, d db.Database) {
		write(t, d, func(c db.Conn) error {
			if err := c.Defer(insertMeta("a"), insertMeta("b")); err != nil {
				return err
			}
			if got, err := keysOf(c); err != nil || !slices.Equal(got, []string{"a", "b"}) {
				t.Errorf("got %q, %v", got, err)
			}
			return c.Defer(insertMeta("c"))
		})
		err := db.Write(context.Background(), d, func(c db.Conn) error {
			return errors.Join(putMeta(c, "d"), c.Defer(db.Statement{SQL: "INSERT INTO nothing (a) VALUES (1)"}))
		})
		if err == nil || !strings.Contains(err.Error(), "nothing") {
			t.Error(err)
		}
		expectKeys(t, d, "a", "b", "c")
	})
}

// TestDeferredQuery: the rows of a deferred query are read with the next statement, and its error is that of the statement.
func TestDeferredQuery(t *testing.T) {
	eachDatabase(t, db.Options{}, func(t *testing.T, d db.Database) {
		wrong := errors.New("wrong")
		err := db.Write(context.Background(), d, func(c db.Conn) error {
			var deferred []string
			read := func(row model.Row) error {
				deferred = append(deferred, string(row.AppendText(nil, 0)))
				return nil
			}
			query := db.Statement{SQL: "SELECT key FROM " + db.MetaTable + " ORDER BY key", Read: read}
			if err := c.Defer(insertMeta("a"), insertMeta("b"), query, insertMeta("c")); err != nil {
				return err
			}
			if got, err := keysOf(c); err != nil || !slices.Equal(got, []string{"a", "b", "c"}) || !slices.Equal(deferred, []string{"a", "b"}) {
				t.Errorf("got %q and %q, %v", got, deferred, err)
			}
			query.Read = func(model.Row) error { return wrong }
			return errors.Join(c.Defer(query), c.Batch())
		})
		if !errors.Is(err, wrong) {
			t.Error(err)
		}
		expectKeys(t, d)
	})
}

func TestAttempt(t *testing.T) {
	eachDatabase(t, db.Options{}, func(t *testing.T, d db.Database) {
		write(t, d, func(c db.Conn) error {
			attempt := func(key string, keep bool) error {
				var failed error
				return errors.Join(c.Savepoint(func() bool { failed = putMeta(c, key); return keep }), failed)
			}
			nested := c.Savepoint(func() bool { return attempt("inner", true) != nil })
			return errors.Join(nested, attempt("kept", true), attempt("undone", false), putMeta(c, "after"))
		})
		expectKeys(t, d, "after", "kept")
	})
}

// TestAttemptWithAFailure: a statement that fails within a savepoint is undone with it, also if it was only queued, and the transaction
// goes on.
func TestAttemptWithAFailure(t *testing.T) {
	eachDatabase(t, db.Options{}, func(t *testing.T, d db.Database) {
		write(t, d, func(c db.Conn) error {
			var failed error
			undone := c.Savepoint(func() bool {
				failed = errors.Join(c.Defer(insertMeta("a"), insertMeta("a")), c.Batch())
				return false
			})
			queued := c.Savepoint(func() bool {
				_ = c.Defer(insertMeta("b"), insertMeta("b")) // SQLite does not queue
				return false
			})
			if failed == nil {
				t.Error("one key was stored twice")
			}
			return errors.Join(undone, queued, putMeta(c, "after"))
		})
		expectKeys(t, d, "after")
	})
}

// TestAttemptThatPanics: the savepoints around one that a panic leaves are rolled back to where they began.
func TestAttemptThatPanics(t *testing.T) {
	eachDatabase(t, db.Options{}, func(t *testing.T, d db.Database) {
		write(t, d, func(c db.Conn) (err error) {
			panics := func() {
				defer func() { _ = recover() }()
				_ = c.Savepoint(func() bool {
					err = putMeta(c, "inner")
					panic("on purpose")
				})
			}
			outer := c.Savepoint(func() bool {
				err = putMeta(c, "outer")
				panics()
				return false
			})
			return errors.Join(err, outer, putMeta(c, "after"))
		})
		expectKeys(t, d, "after")
	})
}

// TestLock: of those who write to one resource, nobody undoes what another has done.
func TestLock(t *testing.T) {
	eachDatabase(t, db.Options{}, func(t *testing.T, d db.Database) {
		write(t, d, func(c db.Conn) error {
			_, err := c.Exec("INSERT INTO " + db.MetaTable + " (key, value) VALUES ('n', '')")
			return err
		})
		const writers = 8
		errs := make([]error, writers)
		var all sync.WaitGroup
		for i := range writers {
			all.Go(func() {
				errs[i] = db.Write(context.Background(), d, func(c db.Conn) error {
					if err := c.Announce(db.ResourceID{Collection: "users", ID: model.ID{1}}); err != nil {
						return err
					}
					value, err := db.ReadMeta(c, "n")
					if err == nil {
						_, err = c.Exec("UPDATE "+db.MetaTable+" SET value = $1 WHERE key = 'n'", model.TextValue(value+"x"))
					}
					return err
				})
			})
		}
		all.Wait()
		var value string
		write(t, d, func(c db.Conn) (err error) {
			value, err = db.ReadMeta(c, "n")
			return err
		})
		if err := errors.Join(errs...); err != nil || value != strings.Repeat("x", writers) {
			t.Errorf("got %q, %v", value, err)
		}
	})
}

// TestTryLock: a transaction gets a lock that no other has.
func TestTryLock(t *testing.T) {
	eachDatabase(t, db.Options{}, func(t *testing.T, d db.Database) {
		try := func(c db.Conn, key string) (held bool) {
			_, err := db.One(c, func(row model.Row) { held = row.Int(0) == 1 },
				"SELECT CAST("+d.TryLock("$1", "$2")+" AS integer) FROM "+db.SchemasTable+" WHERE $1 <> '' AND $2 <> ''", model.TextValue("caller"), model.TextValue(key))
			if err != nil {
				t.Error(err)
			}
			return held
		}
		write(t, d, func(c db.Conn) error {
			for range 2 { // the one that has it gets it again
				if !try(c, "a") {
					t.Error("nobody else has it, and it was not given")
				}
			}
			if !d.Traits().ManyWriters {
				return nil // no other transaction writes
			}
			return db.Write(context.Background(), d, func(other db.Conn) error {
				if try(other, "a") || !try(other, "b") {
					t.Error("another has it, and it was given")
				}
				return nil
			})
		})
		write(t, d, func(c db.Conn) error {
			if !try(c, "a") {
				t.Error("it was not given back")
			}
			return nil
		})
	})
}
