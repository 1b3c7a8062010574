package db

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/model"
)

// TableDefinition is the definition of a table, as read from the database.
type TableDefinition struct {
	Columns    []ColumnDefinition
	Indexes    []IndexDefinition // without the primary key's
	References map[string]string // column -> table referred to
	// Constraints has the name of a column's foreign key, if the database names foreign keys.
	Constraints map[string]string
}

// ColumnDefinition is the definition of a column.
type ColumnDefinition struct {
	Name, Kind string // the kind is a type as ColumnType returns it, followed by GENERATED if the column is computed
	NotNull    bool
}

// Describe reads the definitions of all tables of the database. The names are those of the schema.
func Describe(c Conn, d Dialect) (map[string]*TableDefinition, error) {
	tables := map[string]*TableDefinition{}
	name := func(row model.Row, column int) string { return declaredName(d, row.Text(column)) }
	ask := d.Catalogue()
	err := Each(c, func(row model.Row) {
		table := tables[name(row, 0)]
		if table == nil {
			table = &TableDefinition{References: map[string]string{}, Constraints: map[string]string{}}
			tables[name(row, 0)] = table
		}
		table.Columns = append(table.Columns, ColumnDefinition{Name: name(row, 1), Kind: row.Text(2), NotNull: row.Int(3) == 1})
	}, ask.Columns)
	if err != nil {
		return nil, err
	}
	lastIndex := ""
	err = Each(c, func(row model.Row) {
		table := tables[name(row, 0)]
		if table == nil {
			return // it was created after the tables were listed
		}
		if index := name(row, 1); index != lastIndex {
			table.Indexes = append(table.Indexes, IndexDefinition{Name: index, Unique: row.Int(2) == 1})
			lastIndex = index
		}
		last := &table.Indexes[len(table.Indexes)-1]
		column := name(row, 3)
		last.Columns = append(last.Columns, Choose(row.Int(4) == 1, "-", "")+column)
		last.Expression = last.Expression || column == ""
	}, ask.Indexes)
	if err != nil {
		return nil, err
	}
	err = Each(c, func(row model.Row) {
		table, column := tables[name(row, 0)], name(row, 1)
		if table == nil {
			return
		}
		table.References[column], table.Constraints[column] = name(row, 2), row.Text(3)
	}, ask.References)
	return tables, err
}

// IndexDefinition is the definition of an index, in the database or as the schema needs it.
type IndexDefinition struct {
	Name    string
	Unique  bool
	Columns []string // with a minus where they descend; without a name in a database where it is an expression

	Expression bool // it has values inside objects, or items of arrays
	Items      bool // it has the items of an array

	Parts model.IndexGroup // the same as Columns; nil in a database
}

func (i IndexDefinition) String() string {
	if i.Expression && i.Parts == nil {
		return "index " + i.Name
	}
	return Choose(i.Unique, "unique index", "index") + " on " + strings.Join(i.Columns, ", ")
}

// MisfitError says that the tables of a database are not those of the schema.
type MisfitError struct {
	Problem     string // a summary
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

// Misfit is the Problem of a database whose tables differ from the schema.
const Misfit = "the database does not fit the schema"

// NoPluralTables is the error for a database that has no tables of Plural.
func NoPluralTables(found map[string]*TableDefinition) error {
	if len(found) == 0 {
		return errors.New(`the database is empty: create its tables first, by "plural migrate" or by starting a server`)
	}
	return &MisfitError{
		Problem:     Misfit,
		Differences: []string{fmt.Sprintf("it has tables that Plural did not create (%s), and none of Plural's own", strings.Join(SortedNames(found), ", "))},
		Advice:      `It seems to belong to another program. Use an empty database, or the right one.`,
	}
}

// SortedNames returns the names of tables in alphabetical order.
func SortedNames(tables map[string]*TableDefinition) []string {
	return slices.Sorted(maps.Keys(tables))
}
