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

// orderedSearch is a search whose matches a statement gets in the order of ids, as it reads. There is at
// most one in a statement, and it must hold.
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
	s.Write(s.dialect.SearchJoin(s.table.words, s.table.Name, s.qualified(model.IDColumn), terms(s.table.Collection, search.Search), s.text))
}

// bound limits what an orderedSearch reads to the resources from an id on, or up to it. The id itself
// is compared as well, so this only has to leave none out.
func (s *statement) bound(filter query.Filter, upTo bool, id model.Value) {
	if _, ok := ordered(filter); ok {
		s.Write(s.dialect.SearchBound(s.table.words, upTo, s.Placeholder(id)), " AND ")
	}
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

// findSearched replaces a search that must hold by what is faster for a page: by one that is read in the
// order of the page, or by its matches, if these are few. If it stays, searchByRow applies. Last: the page
// is read from the end. Need is how many resources it has at most.
func (t *Tx) findSearched(c *model.Collection, filter query.Filter, order Order, last bool, need int64) (query.Filter, error) {
	search, rest, ok := takeSearch(filter)
	if !ok {
		return filter, nil
	}
	s := t.store.statement(c)
	byID, found := len(order) == 1, s.finds(s.table, rest)
	inOrder := query.And{orderedSearch{search}, rest}
	if byID && t.store.db.Traits().OrderedSearch {
		passes, err := !found, error(nil)
		if found {
			passes, err = t.oftenPasses(c, search, rest)
		}
		if err != nil || !passes {
			return filter, err
		}
		return inOrder, nil
	}
	many, common, err := t.choose(c, search, byID && order[0].Descending != last, min(need, maxByID)+1)
	if err != nil {
		return nil, err
	}
	if !many {
		matches, err := t.matchesOf(c, search, common)
		if err != nil {
			return nil, err
		}
		if matches != nil {
			return query.And{*matches, rest}, nil
		}
	}
	if byID && !found {
		return inOrder, nil
	}
	return filter, nil
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

// firstSampled is how many resources are looked at to estimate how many matches a search has, and moreSampled
// how many if these have few. They are variables for tests.
var firstSampled, moreSampled = 200, 1000

// sample is how many of some resources have the words of a search.
type sample struct {
	total  int64 // resources of the collection
	sample int64
	all    int64   // that have all words
	each   []int64 // that have each word
}

// readSample looks at the first resources of a collection, or at the last ones.
func (t *Tx) readSample(c *model.Collection, search query.Search, last bool, most int) (found sample, err error) {
	s := t.store.statement(c, "SELECT counted.*, ", lists.TotalSQL("'"+c.Name+"'", "''"), " FROM (")
	s.Write(s.dialect.SampleSearched(s.table.words, terms(c, search), last, strconv.Itoa(most), s.text), ") AS counted")
	_, err = db.One(t.conn, func(row model.Row) {
		found.sample, found.all = row.Int(0), row.Int(1)
		for i := range search.Words {
			found.each = append(found.each, row.Int(2+i))
		}
		found.total = row.Int(2 + len(search.Words))
	}, s.String(), s.Args...)
	return found, t.fault(err)
}

// choose estimates which way is faster where the index of words has no order: to read the words in the order
// of the page until it has enough matches, or to find all matches by the index. Common are words for which
// the index need not be asked, because another word is in no resource of the sample.
func (t *Tx) choose(c *model.Collection, search query.Search, last bool, need int64) (inOrder bool, common []bool, err error) {
	common = make([]bool, len(search.Words))
	if t.store.db.Traits().OrderedSearch {
		return false, common, nil
	}
	first, err := t.readSample(c, search, last, firstSampled)
	if dense := 2*first.sample >= int64(firstSampled) && 50*first.all >= first.sample; err != nil || dense {
		return dense, common, err
	}
	more, err := t.readSample(c, search, last, moreSampled)
	if err != nil {
		return false, nil, err
	}
	if slices.Contains(more.each, 0) {
		for i, n := range more.each {
			common[i] = n > 0
		}
	}
	return more.inOrder(need), common, nil
}

// inOrder compares the costs of both ways, in multiples of 50 ns: the words of a resource are read in the order of
// ids in 500 ns, by the index in 1,500 ns, and the index takes 150 ns for each entry of a word.
func (s sample) inOrder(need int64) bool {
	if s.all == 0 || s.sample < int64(moreSampled)/2 {
		return false
	}
	entries := int64(0)
	for _, n := range s.each {
		entries += n
	}
	return 10*need*s.sample*s.sample <= (3*entries+30*s.all)*s.total*s.all
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
