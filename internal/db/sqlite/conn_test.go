package sqlite

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// A statement that waits to be used again holds on to what is small, or SQLite would
// plan it anew, and not to what is large.
func TestStatementsKeepSmallValues(t *testing.T) {
	b, err := Open(filepath.Join(t.TempDir(), "plural.db"), db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	c, err := b.open(sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	const sql = "SELECT $1"
	for length, want := range map[int]int{1: 1, maxBound: maxBound, maxBound + 1: 0} {
		var read string
		if _, err := db.One(c, func(row model.Row) { read = row.Text(0) }, sql, model.TextValue(strings.Repeat("x", length))); err != nil {
			t.Fatal(err)
		}
		stmt := c.statements[sql]
		if _, err := stmt.Step(); err != nil {
			t.Fatal(err)
		}
		if kept := stmt.ColumnLen(0); len(read) != length || kept != want {
			t.Errorf("of a value of %d bytes %d were read and %d kept, want all and %d", length, len(read), kept, want)
		}
		if err := stmt.Reset(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEndedContextsInterruptOnlyTheirReads: also on a connection that is used again.
func TestEndedContextsInterruptOnlyTheirReads(t *testing.T) {
	b, err := Open(filepath.Join(t.TempDir(), "plural.db"), db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	const endless = "SELECT count(*) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n)"
	var connections []db.Conn
	for range 3 {
		// Ended while a query runs.
		ctx, cancel := context.WithCancel(t.Context())
		c, release, err := b.Read(ctx, db.ShortRead)
		if err != nil {
			t.Fatal(err)
		}
		connections = append(connections, c)
		rows, err := c.Query(endless)
		if err != nil {
			t.Fatal(err)
		}
		go cancel()
		if _, err := rows.Next(); sqlite.ErrCode(err) != sqlite.ResultInterrupt {
			t.Errorf("an endless query ended with %v", err)
		}
		rows.Close()
		release()

		// Ended when the read is over.
		ctx, cancel = context.WithCancel(t.Context())
		if c, release, err = b.Read(ctx, db.ShortRead); err != nil {
			t.Fatal(err)
		}
		connections = append(connections, c)
		release()
		if c, release, err = b.Read(t.Context(), db.ShortRead); err != nil {
			t.Fatal(err)
		}
		connections = append(connections, c)
		cancel()
		if found, err := db.One(c, nil, "SELECT 1"); !found || err != nil {
			t.Errorf("a query behind one whose context has ended: %t, %v", found, err)
		}
		release()
	}
	for _, c := range connections {
		if c != connections[0] {
			t.Error("a connection was not used again")
		}
	}
}

// TestTheLastReaderIsUsedNext: its caches have what was read last.
func TestTheLastReaderIsUsedNext(t *testing.T) {
	b, err := Open(filepath.Join(t.TempDir(), "plural.db"), db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	read := func() (db.Conn, func()) {
		t.Helper()
		c, release, err := b.Read(t.Context(), db.OneQuery)
		if err != nil {
			t.Fatal(err)
		}
		return c, release
	}
	first, releaseFirst := read()
	second, releaseSecond := read()
	releaseFirst()
	releaseSecond()
	for _, want := range []db.Conn{second, second} {
		c, release := read()
		if c != want {
			t.Errorf("another connection than the one that was used last")
		}
		release()
	}
	_, releaseSecond = read()
	if c, release := read(); c != first {
		t.Errorf("a new connection although one is idle")
	} else {
		release()
	}
	releaseSecond()
}

// TestNameless: placeholders become those that SQLite finds without comparing names, and nothing else changes.
func TestNameless(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT 1":                             "SELECT 1",
		"a = $1 AND b IN ($2, $3)":             "a = ? AND b IN (?, ?)",
		"a = $1 OR b = $1 OR c = $2":           "a = ? OR b = ?1 OR c = ?",
		"VALUES ($2, $1, $3)":                  "VALUES (?2, ?1, ?)",
		`j ->> '$.a' = $1 AND "c$1" = '$2 '''`: `j ->> '$.a' = ? AND "c$1" = '$2 '''`,
		"$":                                    "$",
		"LIMIT $10":                            "LIMIT ?10",
	} {
		if got := nameless(sql); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", sql, got, want)
		}
	}
}
