package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/model"
)

// tableShape is what a database says of one of its tables.
type tableShape struct {
	columns    []columnShape
	indexes    []indexShape      // without the primary key's
	references map[string]string // column -> table referred to
	// constraints names the foreign key of a column, where they have names.
	constraints map[string]string
}

type columnShape struct {
	name, kind string // kind as columnType writes it
	notNull    bool
}

// describe reads which tables the database has, under the names that the schema
// gives them.
func describe(c conn, d dialect) (map[string]*tableShape, error) {
	tables := map[string]*tableShape{}
	name := func(row model.Row, column int) string { return declaredName(d, string(row.AppendText(nil, column))) }
	ask := d.catalogue()
	err := each(c, func(row model.Row) bool {
		table := tables[name(row, 0)]
		if table == nil {
			table = &tableShape{references: map[string]string{}, constraints: map[string]string{}}
			tables[name(row, 0)] = table
		}
		table.columns = append(table.columns, columnShape{name: name(row, 1), kind: string(row.AppendText(nil, 2)), notNull: row.Int(3) == 1})
		return true
	}, ask.columns)
	if err != nil {
		return nil, err
	}
	lastIndex := ""
	err = each(c, func(row model.Row) bool {
		table := tables[name(row, 0)]
		if table == nil {
			return true // somebody has made it since the tables were listed
		}
		if index := name(row, 1); index != lastIndex {
			table.indexes = append(table.indexes, indexShape{name: index, unique: row.Int(2) == 1})
			lastIndex = index
		}
		last := &table.indexes[len(table.indexes)-1]
		last.columns = append(last.columns, name(row, 3))
		return true
	}, ask.indexes)
	if err != nil {
		return nil, err
	}
	err = each(c, func(row model.Row) bool {
		table, column := tables[name(row, 0)], name(row, 1)
		if table == nil {
			return true
		}
		table.references[column], table.constraints[column] = name(row, 2), string(row.AppendText(nil, 3))
		return true
	}, ask.references)
	return tables, err
}

// storeFormat changes when the tables that are ours do.
const storeFormat = "3"

func readMeta(c conn, key string) (value string, err error) {
	_, err = one(c, func(row model.Row) { value = string(row.AppendText(nil, 0)) },
		"SELECT value FROM "+metaTable+" WHERE key = $1", model.TextValue(key))
	return value, err
}

type indexShape struct {
	name    string
	unique  bool
	columns []string
}

func (i indexShape) String() string {
	return choose(i.unique, "unique index", "index") + " on " + strings.Join(i.columns, ", ")
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

const misfit = "the database does not fit the schema"

func foreign(found map[string]*tableShape) error {
	return &MisfitError{
		Problem:     misfit,
		Differences: []string{fmt.Sprintf("it has tables that Plural did not make (%s), and none of Plural's own", strings.Join(sortedNames(found), ", "))},
		Advice:      `It seems to be the database of another program. Give an empty one, or the right one, with "--database".`,
	}
}

// storedSchema is the schema in force, once it is sure that the tables found are
// those that Plural made for it.
func storedSchema(c conn, d dialect, found map[string]*tableShape) (*model.Schema, error) {
	if found[metaTable] == nil || found[schemasTable] == nil {
		return nil, foreign(found)
	}
	if err := execAll(c, d.holdSchema()...); err != nil {
		return nil, fmt.Errorf("waiting until nobody changes the tables of the database: %w", err)
	}
	format, err := readMeta(c, "format")
	if err != nil {
		return nil, fmt.Errorf("the database cannot be read: %w", err)
	}
	if format != storeFormat {
		return nil, fmt.Errorf("the database has the format %q, and this version of Plural knows %q", format, storeFormat)
	}
	stored, err := readSchema(c)
	if err != nil {
		return nil, err
	}
	if differences := compare(d, stored, found); len(differences) > 0 {
		return nil, &MisfitError{
			Problem: "the tables of the database are not as Plural left them", Differences: differences,
			Advice: "Undo what was done to them by hand, or restore a backup.",
		}
	}
	return stored, nil
}

// compare reports how the tables that were found differ from those of a schema.
func compare(d dialect, s *model.Schema, found map[string]*tableShape) []string {
	var differences []string
	differ := func(format string, args ...any) { differences = append(differences, fmt.Sprintf(format, args...)) }
	known := []string{metaTable, changesTable, totalsTable, schemasTable, answersTable, queueTable, followersTable, deltasTable, positionsTable, keysTable}
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
	for _, name := range sortedNames(found) {
		if !slices.Contains(known, name) {
			differ("table %s: the schema has no collection for it", name)
		}
	}
	return differences
}

func compareColumns(d dialect, c *model.Collection, table *tableShape, differ func(string, ...any)) {
	columns := map[string]columnShape{}
	for _, column := range table.columns {
		columns[column.name] = column
	}
	for _, column := range c.Columns() {
		have, ok := columns[column.Name]
		delete(columns, column.Name)
		want := columnShape{name: column.Name, kind: d.columnType(column.Kind), notNull: column.NotNull}
		switch {
		case !ok:
			differ("collection %s: the database has no column for %s", c.Name, column.Name)
		case have.kind != want.kind:
			differ("collection %s: the column of %s has the type %s, and should have %s", c.Name, column.Name, have.kind, want.kind)
		case have.notNull && !want.notNull:
			differ("collection %s: %s is required in the database, and optional in the schema", c.Name, column.Name)
		case !have.notNull && want.notNull:
			differ("collection %s: %s is optional in the database, and required in the schema", c.Name, column.Name)
		}
	}
	for _, column := range table.columns {
		if _, left := columns[column.name]; left {
			differ("collection %s: the database has a column %s, which the schema does not have", c.Name, column.name)
		}
	}
}

func compareIndexes(c *model.Collection, table *tableShape, differ func(string, ...any)) {
	same := func(a indexShape) func(indexShape) bool {
		return func(b indexShape) bool { return a.unique == b.unique && slices.Equal(a.columns, b.columns) }
	}
	wanted := indexes(c)
	for _, index := range wanted {
		if !slices.ContainsFunc(table.indexes, same(index)) {
			differ("collection %s: the database has no %s", c.Name, index)
		}
	}
	for _, index := range table.indexes {
		if !slices.ContainsFunc(wanted, same(index)) {
			differ("collection %s: the database has %s %s, which the schema does not have", c.Name, choose(index.unique, "a", "an"), index)
		}
	}
}

func compareReferences(c *model.Collection, table *tableShape, differ func(string, ...any)) {
	wanted := map[string]string{}
	for _, link := range c.Links() {
		wanted[c.Columns()[link.Column].Name] = link.To.Name
	}
	for _, column := range c.Columns() {
		have, want := table.references[column.Name], wanted[column.Name]
		switch {
		case have == want:
		case have == "":
			differ("collection %s: %s is no reference in the database, and refers to %s in the schema", c.Name, column.Name, want)
		case want == "":
			differ("collection %s: %s refers to %s in the database, and is no reference in the schema", c.Name, column.Name, have)
		default:
			differ("collection %s: %s refers to %s in the database, and to %s in the schema", c.Name, column.Name, have, want)
		}
	}
}

func sortedNames(tables map[string]*tableShape) []string {
	var names []string
	for name := range tables {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
