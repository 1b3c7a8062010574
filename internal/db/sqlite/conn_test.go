package sqlite

import (
	"path/filepath"
	"strings"
	"testing"

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
	c, err := b.reader()
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	const sql = "SELECT $1"
	for length, want := range map[int]int{1: 1, maxBound: maxBound, maxBound + 1: 0} {
		var read string
		if _, err := db.One(c, func(row model.Row) { read = string(row.AppendText(nil, 0)) }, sql, model.TextValue(strings.Repeat("x", length))); err != nil {
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
