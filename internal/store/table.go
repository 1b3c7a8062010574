package store

import (
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/statement"
)

// table is a collection with its constant SQL.
type table struct {
	*db.Table
	one string // selects the resource with an id
	// Known once the change log is open.
	insert    db.InsertSQL
	firstPage map[bool]string // see Store.firstPage, by whether it is descending
	pageAt    string          // see Store.pageAt
	// update takes the values between the id and the revision, then the id and the previous revision. It
	// sets the revision of the last change.
	update string
	// Of the words of resources; empty if the collection is not searched.
	words  string // name of their table
	search db.SearchSQL
}

func newTable(d db.Dialect, c *model.Collection, of *statement.Table) *table {
	t := &table{Table: of.Table, words: of.Words}
	id, revision := t.Columns[model.IDColumn], t.Columns[c.RevisionColumn()]

	t.one = "SELECT " + t.All + " FROM " + t.Name + " WHERE " + id + " = $1"

	update := &db.Builder{}
	update.Write("UPDATE ", t.Name, " SET ")
	for _, column := range t.Columns[1:c.RevisionColumn()] {
		update.Write(column, " = ")
		update.Arg(model.Null)
		update.Write(", ")
	}
	update.Write(revision, " = ", d.LastRevision(), " WHERE ", id, " = ")
	update.Arg(model.Null)
	update.Write(" AND ", revision, " = ")
	update.Arg(model.Null)
	t.update = update.String()

	if t.words != "" {
		t.search = d.Search(t.words)
	}
	return t
}
