package store

import (
	"strconv"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/search"
)

// putWords stores the words of a resource for search, in the transaction that writes the resource.
// Before is the previous state, nil for a new resource.
func (t *Tx) putWords(c *model.Collection, before, after model.Record) error {
	sql := t.store.tables[c].putWords
	if sql == "" || before != nil && search.Same(c, before, after) {
		return nil
	}
	return t.conn.Defer(db.Statement{SQL: sql, Args: []model.Value{after[model.IDColumn], model.TextValue(search.Text(c, after))}})
}

// rowSearch is a search that looks at the words of each resource instead of finding all matches first.
// That is faster if there are many matches, of which a page needs the first few only.
type rowSearch struct{ query.Search }

// search writes the condition of a search, or its negation.
func (s *statement) search(f query.Search, byIndex, holds bool) {
	c := s.table.Collection
	s.Write(db.Choose(holds, "", "NOT ("),
		s.dialect.Searched(s.table.words, s.table.Columns[model.IDColumn], search.Terms(c, f.Columns, f.Words), byIndex, s.text),
		db.Choose(holds, "", ")"))
}

// text adds a text as an argument and returns its placeholder.
func (s *statement) text(value string) string { return s.Placeholder(model.TextValue(value)) }

// manyMatches is how many matches of a search are found by the index before the page is read. It is a
// variable for tests.
var manyMatches = 10_000

// chooseSearch replaces searches with many matches by searches that look at the words of each
// resource. An order that no index has needs all matches in any case.
func (t *Tx) chooseSearch(c *model.Collection, filter query.Filter, order Order) (query.Filter, error) {
	if !inOrder(c, order) {
		return filter, nil
	}
	switch f := filter.(type) {
	case query.And:
		chosen := make(query.And, len(f))
		for i, each := range f {
			var err error
			if chosen[i], err = t.chooseSearch(c, each, order); err != nil {
				return nil, err
			}
		}
		return chosen, nil
	case query.Search:
		s := t.store.statement(c)
		s.Write(s.dialect.CountSearched(s.table.words, search.Terms(c, f.Columns, f.Words), strconv.Itoa(manyMatches+1), s.text))
		matches := int64(0)
		_, err := db.One(t.conn, func(row model.Row) { matches = row.Int(0) }, s.String(), s.Args...)
		if err != nil {
			return nil, t.fault(err)
		}
		if matches > int64(manyMatches) {
			return rowSearch{f}, nil
		}
	}
	return filter, nil
}

// inOrder reports whether an index has the order: that of ids, or one that begins with an indexed column.
func inOrder(c *model.Collection, order Order) bool {
	if len(order) == 1 {
		return true
	}
	for _, index := range db.Indexes(c) {
		if index.Columns[0] == c.Columns()[order[0].Column].Name {
			return true
		}
	}
	return false
}
