package store

import (
	"slices"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/statement"
)

// table is a collection with its constant SQL.
type table struct {
	*db.Table
	one string // selects the resource with an id
	// The stored schema has other rules than that of the server for what is computed: see Store.ComputedBy.
	computesOtherwise bool
	// Known once the change log is open.
	insert    db.InsertSQL
	firstPage map[bool]string // see binding.firstPage, by whether it is descending
	pageAt    string          // see binding.pageAt
	// Updates of all values, and of those that are in no index. SQLite writes an entry of an index again if its
	// columns are set, even to equal values.
	updateAll, updateUnindexed updateStatement
	indexed                    []int // columns that are in an index; every reference is
	// Of the words of resources; empty if the collection is not searched.
	words  string // name of their table
	search db.SearchSQL
}

func newTable(d db.Dialect, of *statement.Table) *table {
	c := of.Collection
	t := &table{Table: of.Table, words: of.Words}
	t.one = "SELECT " + t.All + " FROM " + t.Name + " WHERE " + t.Columns[model.IDColumn] + " = $1"

	for _, index := range db.Indexes(c) {
		for _, part := range index.Parts {
			if part.Column != model.IDColumn && !slices.Contains(t.indexed, part.Column) {
				t.indexed = append(t.indexed, part.Column)
			}
		}
	}
	t.updateAll = t.newUpdate(d, func(int) bool { return true })
	t.updateUnindexed = t.newUpdate(d, func(column int) bool { return !slices.Contains(t.indexed, column) })

	if t.words != "" {
		t.search = d.Search(t.words)
	}
	return t
}

// updateStatement sets columns of a resource, and the revision of the last change.
type updateStatement struct {
	sql     string
	columns []int
}

func (t *table) newUpdate(d db.Dialect, sets func(column int) bool) (u updateStatement) {
	c, sql := t.Collection, &db.Builder{}
	sql.Write("UPDATE ", t.Name, " SET ")
	for column := model.IDColumn + 1; column < c.RevisionColumn(); column++ {
		if sets(column) {
			u.columns = append(u.columns, column)
			sql.Write(t.Columns[column], " = ")
			sql.Arg(model.Null)
			sql.Write(", ")
		}
	}
	sql.Write(t.Columns[c.RevisionColumn()], " = ", d.LastRevision(), " WHERE ", t.Columns[model.IDColumn], " = ")
	sql.Arg(model.Null)
	sql.Write(" AND ", t.Columns[c.RevisionColumn()], " = ")
	sql.Arg(model.Null)
	u.sql = sql.String()
	return u
}

// updateOf is the statement that makes one state of a resource the other.
func (t *table) updateOf(before, after model.Record) db.Statement {
	u := &t.updateUnindexed
	if slices.ContainsFunc(t.indexed, func(column int) bool { return before[column] != after[column] }) {
		u = &t.updateAll
	}
	args := make([]model.Value, 0, len(u.columns)+2)
	for _, column := range u.columns {
		args = append(args, after[column])
	}
	return db.Statement{SQL: u.sql, Args: append(args, after[model.IDColumn], before[t.Collection.RevisionColumn()])}
}
