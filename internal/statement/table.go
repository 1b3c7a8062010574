// Package statement writes the SQL that selects resources: filters, orders, ranges and groups become text with
// arguments. It reads nothing: package store sends the statements.
package statement

import (
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// Table is the table of a collection, and what indexes it has.
type Table struct {
	*db.Table
	Words string // name of the table with the words of resources; empty: the collection is not searched

	items   map[int]string           // names of the indexes on items of arrays, by their columns
	indexed map[model.IndexPart]bool // values that an index begins with
	indexes [][]string               // columns of the indexes on columns, with a minus where they descend
}

func newTable(table *db.Table) *Table {
	t := &Table{Table: table, items: map[int]string{}, indexed: map[model.IndexPart]bool{{Column: model.IDColumn}: true}}
	for _, index := range db.Indexes(table.Stored) {
		first := index.Parts[0]
		first.Descending = false // it finds values in either direction
		if first.Column = table.ColumnOf(first.Column); first.Column < 0 {
			continue // the index of a column that the server does not know
		}
		t.indexed[first] = true
		if index.Items {
			t.items[first.Column] = index.Name
		} else if !index.Expression {
			t.indexes = append(t.indexes, index.Columns)
		}
	}
	if len(table.Collection.SearchColumns()) > 0 {
		t.Words = db.SearchTable(table.Stored)
	}
	return t
}

// inOrder is how many of the first keys some index has in their order, forwards or backwards.
func (t *Table) inOrder(keys []query.SortKey) (most int) {
	for _, index := range t.indexes {
		for _, backwards := range []bool{false, true} {
			n := 0
			for n < min(len(keys), len(index)) && index[n] == t.keyName(keys[n], backwards) {
				n++
			}
			most = max(most, n)
		}
	}
	return most
}

// keyName is the name of a key as indexes have it; empty if it is no column.
func (t *Table) keyName(key query.SortKey, backwards bool) string {
	if !key.IsColumn() {
		return ""
	}
	return db.Choose(key.Descending != backwards, "-", "") + t.StoredColumn(key.Column).Name
}

// Tables is the tables of a schema in a database.
type Tables struct {
	dialect   db.Dialect
	hashJoins bool                         // see db.Traits
	all       map[*model.Collection]*Table // by the collection as it is stored: see Of
}

// NewTables returns the tables of collections as they are stored.
func NewTables(d db.Database, tables []*db.Table) *Tables {
	t := &Tables{dialect: d, hashJoins: d.Traits().HashJoins, all: make(map[*model.Collection]*Table, len(tables))}
	for _, table := range tables {
		t.all[table.Collection] = newTable(table)
	}
	return t
}

// Of is the table of a collection, in whatever version of the interface.
func (t *Tables) Of(c *model.Collection) *Table { return t.all[c.Base()] }

// Statement starts SQL on the table of a collection.
func (t *Tables) Statement(c *model.Collection, parts ...string) *Statement {
	s := &Statement{dialect: t.dialect, table: t.Of(c), tables: t}
	s.Write(parts...)
	return s
}

// One continues SQL that selects one resource with a scope, in which the resource must be.
func (t *Tables) One(c *model.Collection, sql string, args []model.Value, scope query.Filter) *Statement {
	s := t.Statement(c, sql)
	s.byID, s.Args = true, args
	s.And(Plan{Filter: scope})
	return s
}

// Listed selects columns of the resources with some ids that pass the filter of a plan, in no order. The filter is compared for each of
// them: a database that chose an index for it could find all that pass it first, however many.
func (t *Tables) Listed(c *model.Collection, columns string, ids []model.ID, plan Plan) *Statement {
	s, table := t.Statement(c, "SELECT ", columns, " FROM (SELECT value AS _listed FROM "), t.Of(c)
	s.byID = true
	// SQLite reads the first table of a CROSS JOIN first. No column of a collection has the name _listed.
	s.Write(s.dialect.ListedIDs(s.Placeholder(db.IDs(s.dialect, ids))), ") AS _ids CROSS JOIN ", table.Name, " WHERE ", table.Columns[model.IDColumn], " = _listed")
	s.And(plan)
	return s
}
