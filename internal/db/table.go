package db

import (
	"strings"

	"github.com/plural-go/plural/internal/model"
)

// Table is the table of a collection, with its names as they are in SQL.
type Table struct {
	Collection *model.Collection
	Name       string   // quoted
	Columns    []string // quoted
	All        string   // all columns, separated by commas
}

// NewTable is the table of a collection.
func NewTable(d Dialect, c *model.Collection) *Table {
	t := &Table{Collection: c, Name: Quote(d, c.Name)}
	for _, column := range c.Columns() {
		t.Columns = append(t.Columns, Quote(d, column.Name))
	}
	t.All = strings.Join(t.Columns, ", ")
	return t
}

// MaxListed is how many values one statement gets by Dialect.Listed. It bounds the size of the
// statement, and the time until the database replies.
const MaxListed = 5000

// IDs is a text of ids for Dialect.InIDs.
func IDs(d Dialect, ids []model.ID) model.Value {
	const length = len("00000000-0000-0000-0000-000000000000")
	all := make([]byte, 0, len(ids)*length)
	for _, id := range ids {
		all = id.Append(all)
	}
	text, texts := string(all), make([]string, len(ids))
	for i := range ids {
		texts[i] = text[i*length : (i+1)*length]
	}
	return d.List(texts)
}

// Quote is a name of the schema as an SQL identifier.
func Quote(d Dialect, name string) string { return `"` + StoredName(d, name) + `"` }

// Literal is a text of the schema as a constant in SQL.
func Literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// StoredName is the name in the database for a name of the schema. A reserved name gets an
// underscore, with which no other name starts.
func StoredName(d Dialect, name string) string {
	if d.Reserved(name) {
		name = "_" + name
	}
	return name
}

// declaredName is the inverse of StoredName.
func declaredName(d Dialect, stored string) string {
	if name, ok := strings.CutPrefix(stored, "_"); ok && d.Reserved(name) {
		return name
	}
	return stored
}
