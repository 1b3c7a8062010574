package catalog

import (
	"fmt"
	"slices"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// Differences returns the differences between the tables of a database and those of a schema.
func Differences(d db.Dialect, s *model.Schema, found map[string]*db.TableDefinition) []string {
	var differences []string
	differ := func(format string, args ...any) { differences = append(differences, fmt.Sprintf(format, args...)) }
	known := []string{
		db.MetaTable, db.ChangesTable, db.TotalsTable, db.SchemasTable, db.IdempotencyTable, db.QueueTable,
		db.FollowersTable, db.DeltasTable, db.OffsetsTable, db.KeysTable, db.UsesTable, db.SequenceTable, db.TicksTable,
	}
	for _, c := range s.All() {
		known = append(known, c.Name)
		table := found[c.Name]
		if table == nil {
			differ("collection %s: the database has no table for it", c.Name)
			continue
		}
		compareColumns(d, c, table, differ)
		compareIndexes(c, table, differ)
		compareReferences(c, table, differ)
	}
	for _, c := range s.All() {
		if len(c.SearchColumns()) > 0 {
			name := db.SearchTable(c)
			known = append(known, name)
			compareWords(d, c, found[name], differ)
		}
	}
	for _, name := range db.SortedNames(found) {
		if !slices.Contains(known, name) {
			differ("table %s: the schema has no collection for it", name)
		}
	}
	return differences
}

// compareWords checks the table with the words of a collection's resources.
func compareWords(d db.Dialect, c *model.Collection, table *db.TableDefinition, differ func(string, ...any)) {
	want := d.Search(db.SearchTable(c)).Definition
	switch {
	case table == nil:
		differ("collection %s: the database has no table of its words, for search", c.Name)
	case !slices.Equal(table.Columns, want.Columns):
		differ("collection %s: the table of its words, for search, has other columns", c.Name)
	case len(table.Indexes) != 1 || !slices.Equal(table.Indexes[0].Columns, want.Indexes[0].Columns):
		differ("collection %s: the table of its words, for search, has another index", c.Name)
	}
}

func compareColumns(d db.Dialect, c *model.Collection, table *db.TableDefinition, differ func(string, ...any)) {
	columns := map[string]db.ColumnDefinition{}
	for _, column := range table.Columns {
		columns[column.Name] = column
	}
	for _, column := range c.Columns() {
		have, ok := columns[column.Name]
		delete(columns, column.Name)
		kind := d.ColumnType(column.Kind)
		switch {
		case !ok:
			differ("collection %s: the database has no column for %s", c.Name, column.Name)
		case have.Kind != kind:
			differ("collection %s: the column of %s has the type %s instead of %s", c.Name, column.Name, have.Kind, kind)
		case have.NotNull && !column.NotNull:
			differ("collection %s: %s is required in the database, but optional in the schema", c.Name, column.Name)
		case !have.NotNull && column.NotNull:
			differ("collection %s: %s is optional in the database, but required in the schema", c.Name, column.Name)
		}
	}
	for _, column := range table.Columns {
		if _, left := columns[column.Name]; left {
			differ("collection %s: the database has a column %s, which the schema does not have", c.Name, column.Name)
		}
	}
}

func compareIndexes(c *model.Collection, table *db.TableDefinition, differ func(string, ...any)) {
	wanted := db.Indexes(c)
	for _, index := range wanted {
		if !slices.ContainsFunc(table.Indexes, index.Same) {
			differ("collection %s: the database has no %s", c.Name, index)
		}
	}
	for _, index := range table.Indexes {
		if !slices.ContainsFunc(wanted, index.Same) {
			differ("collection %s: the database has %s %s, which the schema does not have", c.Name, db.Choose(index.Unique, "a", "an"), index)
		}
	}
}

func compareReferences(c *model.Collection, table *db.TableDefinition, differ func(string, ...any)) {
	wanted := map[string]string{}
	for _, link := range c.Links() {
		wanted[c.Columns()[link.Column].Name] = link.To.Name
	}
	for _, column := range c.Columns() {
		have, want := table.References[column.Name], wanted[column.Name]
		switch {
		case have == want:
		case have == "":
			differ("collection %s: %s is not a reference in the database, but refers to %s in the schema", c.Name, column.Name, want)
		case want == "":
			differ("collection %s: %s refers to %s in the database, but is not a reference in the schema", c.Name, column.Name, have)
		default:
			differ("collection %s: %s refers to %s in the database, but to %s in the schema", c.Name, column.Name, have, want)
		}
	}
}
