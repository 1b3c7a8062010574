package store

import (
	"slices"
	"strconv"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/lists"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/search"
)

// putWords stores the words of resources for search, in the transaction that writes the resources.
// Before are the previous states, nil for new resources.
func (t *Tx) putWords(c *model.Collection, before, after []model.Record) error {
	put := t.store.tables[c].putWords
	if put == nil {
		return nil
	}
	var rows []model.Record
	size := 0
	for i, record := range after {
		if before != nil && search.Same(c, before[i], record) {
			continue
		}
		text := search.Text(c, record)
		rows = append(rows, model.Record{record[model.IDColumn], model.TextValue(text)})
		if size += len(text); size > maxPut {
			if err := put(t.conn, rows); err != nil {
				return err
			}
			rows, size = nil, 0
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return put(t.conn, rows)
}

// maxPut is how many bytes of words are in memory before they are stored.
const maxPut = 1 << 20

// orderedSearch is a search that a statement gets from the index of words in the order of ids, as it
// reads. There is at most one in a statement, and it must hold.
type orderedSearch struct{ query.Search }

// ordered finds the orderedSearch of a filter.
func ordered(filter query.Filter) (found orderedSearch, ok bool) {
	switch f := filter.(type) {
	case orderedSearch:
		return f, true
	case query.And:
		for _, each := range f {
			if found, ok = ordered(each); ok {
				return found, true
			}
		}
	}
	return orderedSearch{}, false
}

// from writes the table of the statement, with the index of words before it if the filter has an
// orderedSearch.
func (s *statement) from(filter query.Filter) {
	search, ok := ordered(filter)
	if !ok {
		s.Write(s.table.Name)
		return
	}
	s.Write(s.dialect.SearchJoin(s.table.words, terms(s.table.Collection, search.Search), s.text),
		" CROSS JOIN ", s.table.Name, " ON ", s.qualified(model.IDColumn), " = ", db.SearchResource)
}

// bound limits the places that an orderedSearch reads to those from an id on, or up to it. The id itself
// is compared as well, so this only has to leave no resource out.
func (s *statement) bound(filter query.Filter, upTo bool, id model.Value) {
	if _, ok := ordered(filter); !ok {
		return
	}
	operator, direction, otherwise := " >= ", "", "9223372036854775807"
	if upTo {
		operator, direction, otherwise = " <= ", " DESC", "-9223372036854775808"
	}
	s.Write(db.SearchMatch, operator, "coalesce((SELECT ", db.SearchPlace, ` FROM "`, s.table.words, `" WHERE `, db.SearchResource, operator)
	s.Arg(id)
	s.Write(" ORDER BY ", db.SearchResource, direction, " LIMIT 1), ", otherwise, ") AND ")
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
	ids []model.ID // sorted
}

// narrowed leaves out matches that a selection cannot have, if it has no other filter and the order of ids.
func (s Selection) narrowed() query.Filter {
	and, ok := s.Filter.(query.And)
	if !ok || len(and) != 2 || len(s.Order) != 1 || !isAll(and[1]) {
		return s.Filter
	}
	found, ok := and[0].(foundSearch)
	if !ok {
		return s.Filter
	}
	low, high := s.From, s.Until
	if s.Order[0].Descending {
		low, high = high, low
	}
	at := func(place Place) int {
		i, _ := slices.BinarySearchFunc(found.ids, place[0].ID(), lists.CompareIDs)
		return i
	}
	if high != nil { // it may be included
		found.ids = found.ids[:min(at(high)+1, len(found.ids))]
	}
	if low != nil {
		found.ids = found.ids[min(at(low), len(found.ids)):]
	}
	// One more, as From may be left out.
	if most := s.Skip + s.Take + 1; s.Take > 0 && most > 0 && most < int64(len(found.ids)) {
		if s.Order[0].Descending {
			found.ids = found.ids[len(found.ids)-int(most):]
		} else {
			found.ids = found.ids[:most]
		}
	}
	return query.And{found, and[1]}
}

func isAll(filter query.Filter) bool {
	and, ok := filter.(query.And)
	return ok && !slices.ContainsFunc(and, func(each query.Filter) bool { return !isAll(each) })
}

// manyMatches is how many matches of a search are found by the index before the page is read. If there
// are more, it is faster to read the page in its order and to look at the words of each resource. In a
// collection of a million resources, both take about as long for this number. It is a variable for tests.
var manyMatches = 4000

// findSearched replaces a search that must hold by what is faster for a page: by one that the index
// returns in the order of the page, or by its matches, if these are few. If it stays, searchByRow applies.
func (t *Tx) findSearched(c *model.Collection, filter query.Filter, order Order) (query.Filter, error) {
	search, rest, ok := takeSearch(filter)
	if !ok {
		return filter, nil
	}
	if len(order) == 1 && t.store.db.Traits().OrderedSearch {
		by := query.And{orderedSearch{search}, rest}
		s := t.store.statement(c)
		if !s.finds(s.table, rest) {
			return by, nil
		}
		passes, err := t.oftenPasses(c, search, rest)
		if err != nil || !passes {
			return filter, err
		}
		return by, nil
	}
	often, common, err := t.sample(c, search)
	if err != nil || often {
		return filter, err
	}
	found, err := t.matchesOf(c, search, common)
	if err != nil || found == nil {
		return filter, err
	}
	return query.And{*found, rest}, nil
}

// takeSearch returns the first search that must hold, and the rest of a filter.
func takeSearch(filter query.Filter) (search query.Search, rest query.Filter, ok bool) {
	switch f := filter.(type) {
	case query.Search:
		return f, query.All, true
	case query.And:
		for i, each := range f {
			if search, rest, ok = takeSearch(each); ok {
				replaced := slices.Clone(f)
				replaced[i] = rest
				return search, replaced, true
			}
		}
	}
	return query.Search{}, nil, false
}

// sampleSize is how many matches of a search are read to find out how many pass another filter.
// sampleLeast is how many of them must pass, so that a page gets the matches from the index. It is a
// variable for tests.
var sampleSize, sampleLeast = 300, 10

// oftenPasses reports whether an index of words serves a search better than an index for the rest of the
// filter: the matches are few, or many of them pass.
func (t *Tx) oftenPasses(c *model.Collection, search query.Search, rest query.Filter) (bool, error) {
	s := t.store.statement(c, "SELECT count(*), count(_passing) FROM (SELECT CASE WHEN ")
	s.condition(rest, true)
	s.Write(" THEN 1 END AS _passing FROM ")
	s.from(orderedSearch{search})
	s.Write(" LIMIT ", strconv.Itoa(sampleSize+1), ")")
	var matches, passing int64
	_, err := db.One(t.conn, func(row model.Row) { matches, passing = row.Int(0), row.Int(1) }, s.String(), s.Args...)
	return int(matches) <= sampleSize || int(passing) >= sampleLeast, t.fault(err)
}

// sample estimates how many resources a search finds, from the first ones: often, if a page that reads
// resource by resource soon has its matches; and which of its words many resources have.
func (t *Tx) sample(c *model.Collection, search query.Search) (often bool, common []bool, err error) {
	s := t.store.statement(c)
	common = make([]bool, len(search.Words))
	sql := s.dialect.SampleSearched(s.table.words, terms(c, search), strconv.Itoa(sampleSize), s.text)
	if sql == "" {
		return false, common, nil
	}
	_, err = db.One(t.conn, func(row model.Row) {
		sampled := row.Int(0)
		often = 6*sampled >= int64(sampleSize) && 100*row.Int(1) >= sampled && row.Int(1) > 1
		for i := range common {
			common[i] = 30*row.Int(2+i) > sampled
		}
	}, sql, s.Args...)
	return often, common, t.fault(err)
}

// matchesOf asks the index for all matches of a search. Nil: there are many.
func (t *Tx) matchesOf(c *model.Collection, search query.Search, common []bool) (*foundSearch, error) {
	s := t.store.statement(c)
	s.Write(s.dialect.FindSearched(s.table.words, terms(c, search), common, strconv.Itoa(manyMatches+1), s.text))
	var ids []model.ID
	found := 0
	err := db.Each(t.conn, func(row model.Row) bool {
		if found++; row.Bool(1) {
			ids = append(ids, row.ID(0))
		}
		return true
	}, s.String(), s.Args...)
	if err != nil || found > manyMatches {
		return nil, t.fault(err)
	}
	slices.SortFunc(ids, lists.CompareIDs)
	return &foundSearch{search, ids}, nil
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
