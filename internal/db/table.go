package db

import (
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/model"
)

// Table is the table of a collection, with its names as they are in SQL.
type Table struct {
	Collection *model.Collection
	Name       string   // quoted
	Columns    []string // quoted
	All        string   // all columns, separated by commas

	// Stored is the collection as the schema in the database declares it. Its names are those of the table and its columns. It differs
	// from Collection if the schema of the server is not the stored one.
	Stored *model.Collection
	stored []int // the column of Stored for each of Collection
	// Others are the columns that Collection does not have.
	Others []OtherColumn
}

// OtherColumn is a column of a table that the schema of a server does not have.
type OtherColumn struct {
	Name   string // quoted
	Column int    // of Table.Stored
	Fill   string // its value in new rows, as SQL; empty: null
}

// NewTable is the table of a collection.
func NewTable(d Dialect, c *model.Collection) *Table {
	stored := make([]int, len(c.Columns()))
	for i := range stored {
		stored[i] = i
	}
	return NewTableAs(d, c, c, stored)
}

// NewTables are the tables of the collections of a schema.
func NewTables(d Dialect, s *model.Schema) (all []*Table) {
	for _, c := range s.All() {
		all = append(all, NewTable(d, c))
	}
	return all
}

// NewTableAs is the table of a collection that the database declares as stored. Columns has the column of stored for each column of the
// collection.
func NewTableAs(d Dialect, c, stored *model.Collection, columns []int) *Table {
	t := &Table{Collection: c, Name: Quote(d, stored.Name), Stored: stored, stored: columns}
	for _, column := range columns {
		t.Columns = append(t.Columns, Quote(d, stored.Columns()[column].Name))
	}
	t.All = strings.Join(t.Columns, ", ")
	for i, column := range stored.Columns() {
		if slices.Contains(columns, i) {
			continue
		}
		other := OtherColumn{Name: Quote(d, column.Name), Column: i}
		if column.Attribute != nil && !column.Attribute.DefaultValue().IsNull() {
			other.Fill = constant(d, column.Kind, column.Attribute.DefaultValue())
		}
		t.Others = append(t.Others, other)
	}
	return t
}

// constant is a value as SQL.
func constant(d Dialect, kind model.Kind, v model.Value) string {
	var text string
	switch {
	case kind == model.KindBoolean:
		return Choose(v.Bool(), "TRUE", "FALSE")
	case kind == model.KindUUID:
		return d.ToID(Literal(v.ID().String()))
	case kind == model.KindInteger || kind.IsDecimal():
		text = strconv.FormatInt(v.Int(), 10)
	case kind == model.KindNumber:
		text = strconv.FormatFloat(v.Float(), 'g', -1, 64)
	default:
		text = v.Text()
	}
	name, _, _ := strings.Cut(d.ColumnType(kind), " COLLATE ") // a CAST takes no collation
	return "CAST(" + Literal(text) + " AS " + name + ")"
}

// StoredColumn is a column as the database declares it.
func (t *Table) StoredColumn(column int) model.Column { return t.Stored.Columns()[t.stored[column]] }

// ColumnOf is the column of the collection that a column of Stored is, or model.NoColumn.
func (t *Table) ColumnOf(stored int) int { return slices.Index(t.stored, stored) }

// Filled returns the columns that new rows get besides those of the collection, and their values. Both begin with a comma, or are
// empty.
func (t *Table) Filled() (columns, values string) {
	for _, other := range t.Others {
		if other.Fill != "" {
			columns, values = columns+", "+other.Name, values+", "+other.Fill
		}
	}
	return columns, values
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
