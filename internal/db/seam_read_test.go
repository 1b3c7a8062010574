package db_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

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
		for _, use := range []db.Use{db.OneQuery, db.ShortRead, db.PageInOne, db.PageInSeveral, db.LongRead} {
			if asked, keys, err := attempt(use, nil); asked || err != nil || !slices.Equal(keys, []string{"a"}) {
				t.Errorf("use %d: asked %v, got %q, %v", use, asked, keys, err)
			}
		}
		write(t, d, func(c db.Conn) error { return saveVersion(c, 2) })
		for _, use := range []db.Use{db.OneQuery, db.ShortRead, db.PageInOne, db.PageInSeveral, db.LongRead} {
			if asked, keys, err := attempt(use, nil); !asked || err != nil || !slices.Equal(keys, []string{"a"}) {
				t.Errorf("use %d, another version: asked %v, got %q, %v", use, asked, keys, err)
			}
			if asked, _, err := attempt(use, errOnPurpose); !asked || !errors.Is(err, errOnPurpose) {
				t.Errorf("use %d, refused: asked %v, got %v", use, asked, err)
			}
		}
	})
}

// TestExplain: a plan names the table and no values, the transaction goes on, and it can be asked for again.
func TestExplain(t *testing.T) {
	eachDatabase(t, db.Options{}, func(t *testing.T, d db.Database) {
		c, release, err := d.Read(context.Background(), db.ShortRead)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		for sql, parameters := range map[string]int{
			"SELECT key FROM " + db.MetaTable: 0,
			"SELECT key FROM " + db.MetaTable + " WHERE value = $1 AND key > $2 ORDER BY value": 2,
		} {
			for range 2 {
				plan, err := c.Explain(sql, parameters)
				if text := strings.Join(plan, "\n"); err != nil || !strings.Contains(text, db.MetaTable) || strings.Contains(strings.ToLower(text), "null") {
					t.Errorf("%s: got %s, %v", sql, text, err)
				}
			}
		}
		if _, err := keysOf(c); err != nil {
			t.Error(err)
		}
	})
}

// TestSingleQueries: a query that is all of its transaction has all of its rows, or none, whatever is in
// them.
func TestSingleQueries(t *testing.T) {
	eachDatabase(t, db.Options{}, func(t *testing.T, d db.Database) {
		write(t, d, func(c db.Conn) error { return c.Batch(insertMeta("a"), insertMeta("b"), insertMeta("c")) })
		for _, use := range []db.Use{db.OneQuery, db.PageInOne} {
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
				err = db.Each(conn, func(row model.Row) {
					text := []byte("null")
					if !row.Null(0) {
						text = row.AppendText(nil, 0)
					}
					fmt.Fprintf(&got, "%s ", text)
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
		for i, use := range []db.Use{db.ShortRead, db.PageInSeveral, db.LongRead} {
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
		err = db.Each(c, func(model.Row) {
			if rows++; rows == 1000 {
				cancel()
			}
		}, "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000) SELECT i FROM n")
		release()
		if err == nil || rows == 1000000000 {
			t.Errorf("%d rows, %v", rows, err)
		}
		expectKeys(t, d)
	})
}

// TestCursor: rows of a cursor are read while other statements run, whatever their size.
func TestCursor(t *testing.T) {
	eachDatabase(t, db.Options{}, func(t *testing.T, d db.Database) {
		const rows = 3000
		var want []string
		write(t, d, func(c db.Conn) error {
			var statements []db.Statement
			for i := range rows {
				key := fmt.Sprintf("%04d", i)
				want = append(want, key)
				value := "v"
				if i > 700 && i < 1000 { // more than is kept
					value = strings.Repeat("v", 20<<10)
				}
				statements = append(statements, db.Statement{SQL: "INSERT INTO " + db.MetaTable + " (key, value) VALUES ($1, $2)", Args: []model.Value{model.TextValue(key), model.TextValue(value)}})
			}
			return c.Batch(statements...)
		})
		for _, every := range []int{31, 2049} {
			c, release, err := d.Read(context.Background(), db.PageInSeveral)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // a second one after the first was closed
				cursor, err := c.Cursor("SELECT key, value FROM "+db.MetaTable+" WHERE key >= $1 AND length(key) = $2 ORDER BY key LIMIT $3", model.TextValue("0"), model.IntValue(4), model.IntValue(rows))
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for i := 0; ; i++ {
					more, err := cursor.Next()
					if err != nil {
						t.Fatal(err)
					}
					if !more {
						break
					}
					got = append(got, string(cursor.AppendText(nil, 0)))
					if i%every == 0 {
						keys, value := 0, ""
						if _, err := db.One(c, func(row model.Row) { keys = int(row.Int(0)) }, "SELECT count(*) FROM "+db.MetaTable+" WHERE length(key) = 4"); err != nil || keys != rows {
							t.Fatalf("%d keys, %v", keys, err)
						}
						if value, err = db.ReadMeta(c, got[i]); err != nil || value == "" {
							t.Fatalf("%q, %v", value, err)
						}
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("every %d: got %d rows: %q", every, len(got), got)
				}
				cursor.Close()
			}
			// One that is closed in the middle.
			cursor, err := c.Cursor("SELECT key FROM " + db.MetaTable + " ORDER BY key DESC")
			if err == nil {
				_, err = cursor.Next()
				cursor.Close()
			}
			if err == nil {
				_, err = db.ReadMeta(c, "0000")
			}
			if err != nil {
				t.Error(err)
			}
			release()
		}
	})
}
