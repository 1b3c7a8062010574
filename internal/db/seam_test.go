package db_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	err = db.Each(c, func(row model.Row) {
		keys = append(keys, row.Text(0))
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
			var want []db.ColumnDefinition
			for _, column := range collection.Columns() {
				want = append(want, db.ColumnDefinition{Name: column.Name, Kind: d.ColumnType(column.Kind), NotNull: column.NotNull})
			}
			if !slices.Equal(table.Columns, want) {
				t.Errorf("%s: got %v, want %v", collection.Name, table.Columns, want)
			}
		}
	})
}
