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
		s.dialect.Searched(s.table.words, s.table.Columns[model.IDColumn], terms(c, f), byIndex, s.text),
		db.Choose(holds, "", ")"))
}

func terms(c *model.Collection, f query.Search) db.SearchTerms {
	return search.Terms(c, f.Columns, f.Words)
}

// text adds a text as an argument and returns its placeholder.
func (s *statement) text(value string) string { return s.Placeholder(model.TextValue(value)) }

// foundSearch is a search whose matches are known. A page has several statements, and the index of words
// is asked only once.
type foundSearch struct {
	query.Search
	ids model.Value // of db.IDs
}

// manyMatches is how many matches of a search are found by the index before the page is read. If there
// are more, it is faster to read the page in its order and to look at the words of each resource. In a
// collection of a million resources, both take about as long for this number. It is a variable for tests.
var manyMatches = 4000

// findSearched replaces searches that must hold and have few matches by these.
func (t *Tx) findSearched(c *model.Collection, filter query.Filter) (query.Filter, error) {
	search, isSearch := filter.(query.Search)
	if !isSearch {
		return eachOfAnd(filter, func(each query.Filter) (query.Filter, error) { return t.findSearched(c, each) })
	}
	s := t.store.statement(c)
	s.Write(s.dialect.FindSearched(s.table.words, terms(c, search), strconv.Itoa(manyMatches+1), s.text))
	var ids []model.ID
	found := 0
	err := db.Each(t.conn, func(row model.Row) bool {
		if found++; row.Bool(1) {
			ids = append(ids, row.ID(0))
		}
		return true
	}, s.String(), s.Args...)
	if err != nil || found > manyMatches {
		return filter, t.fault(err)
	}
	return foundSearch{search, db.IDs(t.store.db, ids)}, nil
}

// searchByRow replaces searches that must hold by searches that look at the words of each resource. An
// order that no index has needs all matches in any case.
func searchByRow(c *model.Collection, filter query.Filter, order Order) query.Filter {
	if !inOrder(c, order) {
		return filter
	}
	if search, isSearch := filter.(query.Search); isSearch {
		return rowSearch{search}
	}
	replaced, _ := eachOfAnd(filter, func(each query.Filter) (query.Filter, error) { return searchByRow(c, each, order), nil })
	return replaced
}

// eachOfAnd replaces the filters that must all hold. Any other filter stays.
func eachOfAnd(filter query.Filter, replace func(query.Filter) (query.Filter, error)) (query.Filter, error) {
	and, isAnd := filter.(query.And)
	if !isAnd {
		return filter, nil
	}
	replaced := make(query.And, len(and))
	for i, each := range and {
		var err error
		if replaced[i], err = replace(each); err != nil {
			return nil, err
		}
	}
	return replaced, nil
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
