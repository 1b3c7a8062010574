package postgres

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
)

// TestUpdatesRunTogether: tasks that update different resources send their batches together. One that updates the
// resource of another runs after that one, and sees what it has written. Within a savepoint a task runs by itself.
func TestUpdatesRunTogether(t *testing.T) {
	t.Parallel()
	errOwn := errors.New("a task has failed")
	const read, write = "SELECT value FROM " + db.MetaTable + " WHERE key = $1", "UPDATE " + db.MetaTable + " SET value = $1 WHERE key = $2"
	for name, c := range map[string]struct {
		resources  string // of tasks 1, 2, …; they run in the reverse order of the resources
		savepoint  byte   // the task that runs in one
		fails      byte   // the task that fails after it has read
		statements string
		values     string // of the resources a, b and c: the tasks that have updated them
	}{
		"different resources": {resources: "abc", statements: "begin read read read write write write commit", values: "1 2 3"},
		"the same resource":   {resources: "aba", statements: "begin read read write write read write commit", values: "13 2 "},
		"only one resource":   {resources: "bbb", statements: "begin read write read write read write commit", values: " 123 "},
		"only one task":       {resources: "c", statements: "begin read write commit", values: "  1"},
		"a savepoint":         {resources: "abc", savepoint: 2, statements: "begin read read write read write write commit", values: "1 2 3"},
		"one fails":           {resources: "abc", fails: 2, statements: "begin read read read write write commit begin read rollback", values: "1  3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := pgtest.URL(t)
			s := newSharing(t, url)
			execute(t, url, "INSERT INTO "+db.MetaTable+" (key, value) VALUES ('a', ''), ('b', ''), ('c', '')")
			var mutex sync.Mutex
			var statements []string
			names := map[string]string{beginWrite: "begin", read: "read", write: "write", "commit": "commit", "rollback": "rollback"}
			errs := make([]error, len(c.resources))
			for i, resource := range c.resources {
				number, key := byte(i+1), model.TextValue(string(resource))
				task := taskOf(s.version, func(*connection) {}, func(task *db.Task, conn db.Conn) (failed error) {
					update := func() error {
						var value string
						err := conn.Batch(db.Statement{SQL: read, Args: []model.Value{key}, Read: func(row model.Row) error {
							value = row.Text(0)
							return nil
						}})
						if err != nil || c.fails == number {
							return errors.Join(err, errOwn)
						}
						return conn.Batch(db.Statement{SQL: write, Args: []model.Value{model.TextValue(fmt.Sprint(value, number)), key}})
					}
					if c.savepoint != number {
						return update()
					}
					return errors.Join(conn.Savepoint(func() bool { failed = update(); return failed == nil }), failed)
				})
				task.Short, task.ID = true, model.ID{byte(resource)}
				s.writing.Go(func() { errs[i] = s.Write(t.Context(), task) })
				for s.short.Waiting() <= i {
					runtime.Gosched()
				}
			}
			s.options.Trace = func(statement string) {
				mutex.Lock()
				defer mutex.Unlock()
				if name := names[statement]; name != "" {
					statements = append(statements, name)
				}
			}
			s.release()
			s.writing.Wait()
			if got := strings.Join(statements, " "); got != c.statements {
				t.Errorf("got the statements %q, want %q", got, c.statements)
			}
			for i, err := range errs {
				if failed := int(c.fails) == i+1; errors.Is(err, errOwn) != failed || (err != nil) != failed {
					t.Errorf("task %d: %v", i+1, err)
				}
			}
			var values []string
			query(t, s.Database, func(row model.Row) { values = append(values, row.Text(0)) }, "SELECT value FROM "+db.MetaTable+" WHERE key IN ('a', 'b', 'c') ORDER BY key")
			if got := strings.Join(values, " "); got != c.values {
				t.Errorf("the resources were updated by %q, want %q", got, c.values)
			}
		})
	}
}

// TestStatementsThatAreNotSent: a task fails with a statement that cannot be sent. With it, those of other tasks were not sent
// either, so that their transaction must not be committed.
func TestStatementsThatAreNotSent(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	s := newSharing(t, url)
	execute(t, url, "INSERT INTO "+db.MetaTable+" (key, value) VALUES ('a', '')")
	errs := make([]error, 2)
	for i, fn := range []func(*db.Task, db.Conn) error{
		func(_ *db.Task, c db.Conn) error {
			return c.Batch(db.Statement{SQL: "UPDATE " + db.MetaTable + " SET value = 'written' WHERE key = 'a'"})
		},
		func(_ *db.Task, c db.Conn) error {
			_, err := db.One(c, nil, "SELECT $1::int4", model.IntValue(1<<40)) // the driver refuses to encode it
			return err
		},
	} {
		task := taskOf(s.version, func(*connection) {}, fn)
		task.Short, task.ID = true, model.ID{byte(9 - i)} // they run in this order
		s.writing.Go(func() { errs[i] = s.Write(t.Context(), task) })
		for s.short.Waiting() <= i {
			runtime.Gosched()
		}
	}
	s.release()
	s.writing.Wait()
	var value string
	query(t, s.Database, func(row model.Row) { value = row.Text(0) }, "SELECT value FROM "+db.MetaTable+" WHERE key = 'a'")
	if errs[0] != nil || errs[1] == nil || value != "written" {
		t.Errorf("got %q, and the errors %v and %v", value, errs[0], errs[1])
	}
}
