package db

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/model"
)

// TableShape is what a database says of one of its tables.
type TableShape struct {
	Columns    []ColumnShape
	Indexes    []IndexShape      // without the primary key's
	References map[string]string // column -> table referred to
	// Constraints names the foreign key of a column, where they have names.
	Constraints map[string]string
}

type ColumnShape struct {
	Name, Kind string // kind as columnType writes it
	NotNull    bool
}

// Describe reads which tables the database has, under the names that the schema
// gives them.
func Describe(c Conn, d Dialect) (map[string]*TableShape, error) {
	tables := map[string]*TableShape{}
	name := func(row model.Row, column int) string { return declaredName(d, string(row.AppendText(nil, column))) }
	ask := d.Catalogue()
	err := Each(c, func(row model.Row) bool {
		table := tables[name(row, 0)]
		if table == nil {
			table = &TableShape{References: map[string]string{}, Constraints: map[string]string{}}
			tables[name(row, 0)] = table
		}
		table.Columns = append(table.Columns, ColumnShape{Name: name(row, 1), Kind: string(row.AppendText(nil, 2)), NotNull: row.Int(3) == 1})
		return true
	}, ask.Columns)
	if err != nil {
		return nil, err
	}
	lastIndex := ""
	err = Each(c, func(row model.Row) bool {
		table := tables[name(row, 0)]
		if table == nil {
			return true // somebody has made it since the tables were listed
		}
		if index := name(row, 1); index != lastIndex {
			table.Indexes = append(table.Indexes, IndexShape{Name: index, Unique: row.Int(2) == 1})
			lastIndex = index
		}
		last := &table.Indexes[len(table.Indexes)-1]
		last.Columns = append(last.Columns, name(row, 3))
		return true
	}, ask.Indexes)
	if err != nil {
		return nil, err
	}
	err = Each(c, func(row model.Row) bool {
		table, column := tables[name(row, 0)], name(row, 1)
		if table == nil {
			return true
		}
		table.References[column], table.Constraints[column] = name(row, 2), string(row.AppendText(nil, 3))
		return true
	}, ask.References)
	return tables, err
}

type IndexShape struct {
	Name    string
	Unique  bool
	Columns []string
}

func (i IndexShape) String() string {
	return Choose(i.Unique, "unique index", "index") + " on " + strings.Join(i.Columns, ", ")
}

// MisfitError says that a database was made for another schema.
type MisfitError struct {
	Problem     string // what is wrong as a whole
	Differences []string
	Advice      string // what to do; may be empty
}

// Error lists the differences.
func (e *MisfitError) Error() string {
	text := e.Problem + ":\n  - " + strings.Join(e.Differences, "\n  - ")
	if e.Advice != "" {
		text += "\n" + e.Advice
	}
	return text
}

const Misfit = "the database does not fit the schema"

func Foreign(found map[string]*TableShape) error {
	return &MisfitError{
		Problem:     Misfit,
		Differences: []string{fmt.Sprintf("it has tables that Plural did not create (%s), and none of Plural's own", strings.Join(SortedNames(found), ", "))},
		Advice:      `It seems to belong to another program. Use an empty database, or the right one.`,
	}
}

func SortedNames(tables map[string]*TableShape) []string {
	var names []string
	for name := range tables {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
