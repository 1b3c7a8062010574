package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
)

// onOneConnection opens a database with one connection. Read runs a query in a snapshot of its own, and returns its rows as
// texts, and the statements that were sent: direct, without a transaction, or those of a transaction.
func onOneConnection(t *testing.T) (url string, read func(how db.Use, sql string) (rows, statements []string)) {
	url = pgtest.URL(t)
	d := open(t, with(t, url, "pool_max_conns", "1"))
	version := versionOf(t, d)
	return url, func(how db.Use, sql string) (rows, statements []string) {
		t.Helper()
		names := map[string]string{withVersion(sql): "direct", beginRead: "begin", sql: "query", "commit": "commit"}
		d.options.Trace = func(statement string) {
			if name := names[statement]; name != "" {
				statements = append(statements, name)
			}
		}
		c, release, err := d.Read(t.Context(), how)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		err = c.Expect(version, func(c db.Conn) error { return nil })
		if err == nil {
			err = db.Each(c, func(row model.Row) {
				var values []string
				for i := range row.(*result).raw {
					if row.Null(i) {
						values = append(values, "null")
					} else {
						values = append(values, fmt.Sprintf("%q", row.Text(i)))
					}
				}
				rows = append(rows, strings.Join(values, " "))
			}, sql)
		}
		if err != nil {
			t.Fatal(err)
		}
		return rows, statements
	}
}

// TestValuesOfRows: an empty text is no null, and a row without values is a row.
func TestValuesOfRows(t *testing.T) {
	t.Parallel()
	_, read := onOneConnection(t)
	for _, how := range []db.Use{db.OneQuery, db.ShortRead} {
		for sql, want := range map[string][]string{
			"SELECT '', NULL::text, 'a'":                                          {`"" null "a"`},
			"SELECT a, b FROM (VALUES ('', NULL), (NULL, '')) AS v (a, b)":        {`"" null`, `null ""`},
			"SELECT FROM (SELECT 1 UNION ALL SELECT 2) AS v":                      {``, ``},
			"SELECT value FROM (SELECT ''::text AS value) AS v WHERE value <> ''": nil,
		} {
			if got, _ := read(how, sql); !slices.Equal(got, want) {
				t.Errorf("%s (%d): got %q, want %q", sql, how, got, want)
			}
		}
	}
}

// TestOutdatedStatements: a statement that was prepared for another table is prepared again, once.
func TestOutdatedStatements(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		how                    db.Use
		change                 string // besides that of the table
		usual, changed, always string
	}{
		"one query":       {db.OneQuery, "", "direct", "direct begin query", "direct"},
		"another version": {db.ShortRead, "INSERT INTO " + db.SchemasTable + " SELECT version + 1, at, document, numbers FROM " + db.SchemasTable, "begin query", "begin query begin query", "begin query begin query"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, read := onOneConnection(t)
			execute(t, url, "CREATE TABLE changing AS SELECT 'a'::text AS value")
			for _, want := range []string{c.usual, c.usual, "", c.changed, c.always} {
				if want == "" {
					execute(t, url, "ALTER TABLE changing ALTER value TYPE varchar")
					if c.change != "" {
						execute(t, url, c.change)
					}
					continue
				}
				rows, statements := read(c.how, "SELECT * FROM changing")
				if !slices.Equal(rows, []string{`"a"`}) || strings.Join(statements, " ") != want {
					t.Errorf("got %q by %q, want %q", rows, statements, want)
				}
			}
		})
	}
}

// TestPreparedStatementsAreBounded: clients choose the filters, and with them the statements.
func TestPreparedStatementsAreBounded(t *testing.T) {
	t.Parallel()
	_, read := onOneConnection(t)
	for i := range 2 * maxPrepared {
		if rows, _ := read(db.ShortRead, fmt.Sprintf("SELECT '%d'", i)); !slices.Equal(rows, []string{fmt.Sprintf(`"%d"`, i)}) {
			t.Fatalf("%d: got %q", i, rows)
		}
	}
	rows, _ := read(db.ShortRead, fmt.Sprintf("SELECT CASE WHEN count(*) <= %d + 8 THEN 'few' ELSE 'many' END FROM pg_prepared_statements", maxPrepared))
	if !slices.Equal(rows, []string{`"few"`}) {
		t.Errorf("%q statements are prepared", rows)
	}
}

// TestForgettingIsCancelled: statements that could not be deallocated, as the request had ended, are still known to be prepared.
func TestForgettingIsCancelled(t *testing.T) {
	t.Parallel()
	acquired, err := open(t, pgtest.URL(t)).pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer acquired.Release()
	c := &connection{raw: acquired.Conn()}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, step := range []struct {
		ctx  context.Context
		want error
	}{{t.Context(), nil}, {ended, context.Canceled}, {t.Context(), nil}} {
		d, err := c.driverOf(step.ctx)
		if err == nil {
			_, err = d.build(step.ctx, c.raw, "SELECT 1", nil)
			d.outdated = true
		}
		if !errors.Is(err, step.want) {
			t.Fatalf("got %v, want %v", err, step.want)
		}
	}
}
