package db_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/db/databases"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

var errOnPurpose = errors.New("on purpose")

// eachDatabase runs a test on a database of each kind that has the tables of a schema.
func eachDatabase(t *testing.T, o db.Options, test func(t *testing.T, d db.Database)) {
	for name, url := range map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "test.db") },
		"postgres": func(t *testing.T) string { return pgtest.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			d, err := databases.Open(context.Background(), url(t), o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			})
			err = d.Migrate(context.Background(), func(c db.Conn) error {
				tables, additions := db.Definitions(d, (*model.Schema)(schema.Example()))
				if err := db.ExecAll(c, append(tables, additions...)...); err != nil {
					return err
				}
				return saveVersion(c, 1)
			})
			if err != nil {
				t.Fatal(err)
			}
			test(t, d)
		})
	}
}

func saveVersion(c db.Conn, version int64) error {
	_, err := c.Exec("INSERT INTO "+db.SchemasTable+" (version, at, document, numbers) VALUES ($1, $2, '', '')", model.IntValue(version), model.TimeValue("2026-01-01T00:00:00.000Z"))
	return err
}

func write(t *testing.T, d db.Database, fn func(db.Conn) error) {
	t.Helper()
	if err := db.Write(context.Background(), d, fn); err != nil {
		t.Fatal(err)
	}
}

// insertMeta is a statement that stores a key.
func insertMeta(key string) db.Statement {
	return db.Statement{SQL: "INSERT INTO " + db.MetaTable + " (key, value) VALUES ($1, '')", Args: []model.Value{model.TextValue(key)}}
}

func putMeta(c db.Conn, key string) error {
	s := insertMeta(key)
	_, err := c.Exec(s.SQL, s.Args...)
	return err
}

// keysOf lists the keys of the meta table.
func keysOf(c db.Conn) (keys []string, err error) {
	err = db.Each(c, func(row model.Row) bool {
		keys = append(keys, string(row.AppendText(nil, 0)))
		return true
	}, "SELECT key FROM "+db.MetaTable+" ORDER BY key")
	return keys, err
}

func expectKeys(t *testing.T, d db.Database, want ...string) {
	t.Helper()
	c, release, err := d.Read(context.Background(), db.ShortRead)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if got, err := keysOf(c); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

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
	return db.Statement{SQL: "INSERT INTO " + db.ChangesTable + " (collection, id, kind, at, caller, representation) VALUES ('users', $1, 'create', $2, '', '{}')",
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

func TestAttempt(t *testing.T) {
	eachDatabase(t, db.Options{}, func(t *testing.T, d db.Database) {
		write(t, d, func(c db.Conn) error {
			attempt := func(key string, keep bool) error {
				var failed error
				return errors.Join(c.Attempt(func() bool { failed = putMeta(c, key); return keep }), failed)
			}
			nested := c.Attempt(func() bool { return attempt("inner", true) != nil })
			return errors.Join(nested, attempt("kept", true), attempt("undone", false), putMeta(c, "after"))
		})
		expectKeys(t, d, "after", "kept")
	})
}

// TestExpect: a transaction goes on if the schema has the version, and else asks.
func TestExpect(t *testing.T) {
	eachDatabase(t, db.Options{}, func(t *testing.T, d db.Database) {
		var first db.Version
		write(t, d, func(c db.Conn) (err error) {
			first, err = db.ReadVersion(c)
			return err
		})
		if first.Number != 1 {
			t.Errorf("got %v", first)
		}
		// attempt expects the first version, and reads in the way that use says.
		attempt := func(use db.Use, refusal error) (asked bool, keys []string, err error) {
			c, release, err := d.Read(context.Background(), use)
			if err != nil {
				return false, nil, err
			}
			defer release()
			err = c.Expect(first, func(c db.Conn) error {
				asked = true
				if current, err := db.ReadVersion(c); err != nil || current.Number != 2 {
					t.Errorf("got %v, %v", current, err)
				}
				return refusal
			})
			if err == nil {
				keys, err = keysOf(c)
			}
			return asked, keys, err
		}
		write(t, d, func(c db.Conn) error { return putMeta(c, "a") })
		for _, use := range []db.Use{db.OneQuery, db.ShortRead, db.PageQuery, db.PageQueries, db.LongRead} {
			if asked, keys, err := attempt(use, nil); asked || err != nil || !slices.Equal(keys, []string{"a"}) {
				t.Errorf("use %d: asked %v, got %q, %v", use, asked, keys, err)
			}
		}
		write(t, d, func(c db.Conn) error { return saveVersion(c, 2) })
		for _, use := range []db.Use{db.OneQuery, db.ShortRead, db.PageQuery, db.PageQueries, db.LongRead} {
			if asked, keys, err := attempt(use, nil); !asked || err != nil || !slices.Equal(keys, []string{"a"}) {
				t.Errorf("use %d, another version: asked %v, got %q, %v", use, asked, keys, err)
			}
			if asked, _, err := attempt(use, errOnPurpose); !asked || !errors.Is(err, errOnPurpose) {
				t.Errorf("use %d, refused: asked %v, got %v", use, asked, err)
			}
		}
	})
}

// TestSingleQueries: a query that is all of its transaction has all of its rows, or none, whatever is in
// them.
func TestSingleQueries(t *testing.T) {
	eachDatabase(t, db.Options{}, func(t *testing.T, d db.Database) {
		write(t, d, func(c db.Conn) error { return c.Batch(insertMeta("a"), insertMeta("b"), insertMeta("c")) })
		for _, use := range []db.Use{db.OneQuery, db.PageQuery} {
			for _, c := range []struct{ sql, want string }{
				{"SELECT key FROM " + db.MetaTable + " ORDER BY key DESC", "c b a "},
				{"SELECT key FROM " + db.MetaTable + " WHERE key > $1 ORDER BY key LIMIT 1", "b "},
				{"SELECT key FROM " + db.MetaTable + " WHERE key > 'x'", ""},
				{"SELECT nullif(key, 'a') FROM " + db.MetaTable + " ORDER BY key", "null b c "},
			} {
				conn, release, err := d.Read(context.Background(), use)
				if err != nil {
					t.Fatal(err)
				}
				if err := conn.Expect(versionOf(t, d), func(db.Conn) error { return errOnPurpose }); err != nil {
					t.Fatal(err)
				}
				var args []model.Value
				if strings.Contains(c.sql, "$1") {
					args = append(args, model.TextValue("a"))
				}
				var got strings.Builder
				err = db.Each(conn, func(row model.Row) bool {
					text := []byte("null")
					if !row.Null(0) {
						text = row.AppendText(nil, 0)
					}
					fmt.Fprintf(&got, "%s ", text)
					return true
				}, c.sql, args...)
				release()
				if err != nil || got.String() != c.want {
					t.Errorf("use %d, %s: got %q, %v, want %q", use, c.sql, got.String(), err, c.want)
				}
			}
		}
	})
}

func versionOf(t *testing.T, d db.Database) (v db.Version) {
	t.Helper()
	c, release, err := d.Read(context.Background(), db.ShortRead)
	if err == nil {
		v, err = db.ReadVersion(c)
		release()
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestReadsSeeOneSnapshot(t *testing.T) {
	eachDatabase(t, db.Options{}, func(t *testing.T, d db.Database) {
		for i, use := range []db.Use{db.ShortRead, db.PageQueries, db.LongRead} {
			c, release, err := d.Read(context.Background(), use)
			if err != nil {
				t.Fatal(err)
			}
			before, err := keysOf(c)
			if err != nil {
				t.Fatal(err)
			}
			write(t, d, func(c db.Conn) error { return putMeta(c, fmt.Sprint(i)) })
			if after, err := keysOf(c); err != nil || !slices.Equal(before, after) {
				t.Errorf("use %d: %q became %q, %v", use, before, after, err)
			}
			release()
		}
		expectKeys(t, d, "0", "1", "2")
	})
}

// TestContextEndsAQuery: the query ends, and the database can be used.
func TestContextEndsAQuery(t *testing.T) {
	eachDatabase(t, db.Options{}, func(t *testing.T, d db.Database) {
		ctx, cancel := context.WithCancel(context.Background())
		c, release, err := d.Read(ctx, db.LongRead)
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		err = db.Each(c, func(model.Row) bool {
			if rows++; rows == 1000 {
				cancel()
			}
			return true
		}, "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000) SELECT i FROM n")
		release()
		if err == nil || rows == 1000000000 {
			t.Errorf("%d rows, %v", rows, err)
		}
		expectKeys(t, d)
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
					if err := c.Lock("users", model.ID{1}); err != nil {
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
			if !d.Traits().Shared {
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

// TestMigrateDoesAllOrNothing: a migration that fails has changed no table and no row.
func TestMigrateDoesAllOrNothing(t *testing.T) {
	eachDatabase(t, db.Options{}, func(t *testing.T, d db.Database) {
		migrate := func(fn func(db.Conn) error) error { return d.Migrate(context.Background(), fn) }
		if err := migrate(func(c db.Conn) error {
			return errors.Join(db.ExecAll(c, "DROP TABLE "+db.Quote(d, "posts")), putMeta(c, "undone"), errOnPurpose)
		}); !errors.Is(err, errOnPurpose) {
			t.Error(err)
		}
		c, release, err := d.Read(context.Background(), db.ShortRead)
		if err != nil {
			t.Fatal(err)
		}
		found, err := db.Describe(c, d)
		release()
		if err != nil || found["posts"] == nil || found["users"] == nil || found["posts"].References["user_id"] != "users" {
			t.Errorf("got %v, %v", found, err)
		}
		expectKeys(t, d)
	})
}

// TestLoad: rows of every kind are as they were.
func TestLoad(t *testing.T) {
	eachDatabase(t, db.Options{}, func(t *testing.T, d db.Database) {
		const n = 1234
		i := 0
		err := d.Migrate(context.Background(), func(c db.Conn) error {
			return c.Load(db.MetaTable, []string{"key", "value"}, func() (model.Record, error) {
				if i++; i > n {
					return nil, nil
				}
				return model.Record{model.TextValue(fmt.Sprintf("%04d", i)), model.TextValue("'\"\\\t\n\x1fü")}, nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		c, release, err := d.Read(context.Background(), db.OneQuery)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		var count int64
		if _, err := db.One(c, func(row model.Row) { count = row.Int(0) }, "SELECT count(*) FROM "+db.MetaTable+" WHERE value = $1", model.TextValue("'\"\\\t\n\x1fü")); err != nil || count != n {
			t.Errorf("%d rows, %v", count, err)
		}
	})
}

func TestClosedDatabases(t *testing.T) {
	eachDatabase(t, db.Options{}, func(t *testing.T, d db.Database) {
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := d.Read(context.Background(), db.ShortRead); !errors.Is(err, db.ErrClosed) {
			t.Errorf("read: %v", err)
		}
		if err := db.Write(context.Background(), d, func(db.Conn) error { return nil }); !errors.Is(err, db.ErrClosed) {
			t.Errorf("write: %v", err)
		}
	})
}

// TestDescribe: the tables are described as they were defined.
func TestDescribe(t *testing.T) {
	eachDatabase(t, db.Options{}, func(t *testing.T, d db.Database) {
		c, release, err := d.Read(context.Background(), db.ShortRead)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		found, err := db.Describe(c, d)
		if err != nil {
			t.Fatal(err)
		}
		for _, collection := range (*model.Schema)(schema.Example()).All() {
			table := found[collection.Name]
			if table == nil {
				t.Fatalf("there is no table %s", collection.Name)
			}
			var want []db.ColumnShape
			for _, column := range collection.Columns() {
				want = append(want, db.ColumnShape{Name: column.Name, Kind: d.ColumnType(column.Kind), NotNull: column.NotNull})
			}
			if !slices.Equal(table.Columns, want) {
				t.Errorf("%s: got %v, want %v", collection.Name, table.Columns, want)
			}
		}
	})
}
