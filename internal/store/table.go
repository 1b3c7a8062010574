package store

import (
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
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

	items   map[int]string           // names of the indexes on items of arrays, by their columns
	indexed map[model.IndexPart]bool // values that an index begins with
}

func newTable(d db.Dialect, c *model.Collection) *table {
	t := &table{Table: db.NewTable(d, c), items: map[int]string{}, indexed: map[model.IndexPart]bool{{Column: model.IDColumn}: true}}
	for _, group := range c.UniqueGroups() {
		t.indexed[model.IndexPart{Column: group[0]}] = true
	}
	for _, link := range c.Links() {
		t.indexed[model.IndexPart{Column: link.Column}] = true
	}
	for _, group := range c.IndexGroups() {
		t.indexed[group[0]] = true
	}
	for _, index := range db.Indexes(c) {
		if index.Items {
			t.items[c.Field(index.Columns[0]).Column] = index.Name
		}
	}
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

	if len(c.SearchColumns()) > 0 {
		t.words = db.SearchTable(c)
		t.search = d.Search(t.words)
	}
	return t
}

// statement starts SQL on the table.
func (s *Store) statement(c *model.Collection, parts ...string) *statement {
	st := &statement{dialect: s.db, table: s.tables[c], tables: s.tables}
	st.Write(parts...)
	return st
}
