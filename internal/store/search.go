package store

import (
	"math"
	"strconv"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/search"
)

// putWords stores the words of resources for search, in the transaction that writes the resources.
// Before are the previous states, nil for new resources.
func (t *Tx) putWords(c *model.Collection, before, after []model.Record) error {
	if table := t.store.tables[c]; table.words != "" {
		return search.Put(t.conn, table.search, c, before, after)
	}
	return nil
}

// MaxWordBytes bounds the different words that one request gives to the index, those of each resource by themselves: on
// SQLite the index takes half a second for a megabyte, while all other writes wait.
const MaxWordBytes = 8 << 20

// WordBytes counts the bytes of different words that resources get. Before are the previous states, nil for each new one.
func WordBytes(c *model.Collection, before, after []model.Record) int {
	return search.Bytes(c, before, after)
}

// orderedSearch is a search whose matches a statement gets in the order of ids, as it reads. There is at
// most one in a statement, and it must hold.
type orderedSearch struct {
	query.Search
	rare []bool // words: see db.SearchTerm; nil: none
}

func (f orderedSearch) terms(c *model.Collection) db.SearchTerms {
	found := terms(c, f.Search)
	for i, rare := range f.rare {
		found[i].Rare = rare
	}
	return found
}

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
	s.Write(s.dialect.SearchJoin(s.table.words, s.table.Name, s.qualified(model.IDColumn), search.terms(s.table.Collection), s.text))
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
	if !ok || len(and) != 2 || len(s.Order) != 1 || !query.IsAll(and[1]) {
		return s.Filter
	}
	found, ok := and[0].(foundSearch)
	if !ok {
		return s.Filter
	}
	bound := func(place Place) *model.ID {
		if place == nil {
			return nil
		}
		id := place[0].ID()
		return &id
	}
	low, high, last := bound(s.From), bound(s.Until), s.Order[0].Descending
	if last {
		low, high = high, low
	}
	most := s.Skip + s.Take + 2 // the bounds may be left out
	if s.Take == 0 || most < 0 {
		most = math.MaxInt64
	}
	return query.And{foundSearch{found.Search, search.Part(found.ids, low, high, most, last)}, and[1]}
}

// manyMatches is how many matches of a search are found by the index before the page is read. If there
// are more, it is faster to read the page in its order and to look at the words of each resource. In a
// collection of a million resources, both take about as long for this number. It is a variable for tests.
var manyMatches = 4000

// findSearched replaces a search that must hold by what is faster for a page: by one that is read in the
// order of the page, or by its matches, if these are few. If it stays, searchByRow applies.
func (t *Tx) findSearched(c *model.Collection, filter query.Filter, order Order, r query.Range) (query.Filter, error) {
	words, rest, ok := query.TakeSearch(filter)
	if !ok {
		return filter, nil
	}
	s := t.store.statement(c)
	byID, found := len(order) == 1, s.finds(s.table, rest)
	last := byID && order[0].Descending != (r.Limit < 0 && r.Anchor != query.AtOffset)
	inOrder := orderedSearch{Search: words}
	many, common := false, make([]bool, len(words.Words))
	if t.store.db.Traits().OrderedSearch {
		var err error
		if inOrder.rare, err = search.MarkRare(t.conn, t.store.db, s.table.words, terms(c, words), last); err != nil {
			return nil, t.fault(err)
		}
		if byID {
			passes := !found
			if found {
				passes, err = t.oftenPasses(c, inOrder, rest)
			}
			if err != nil || !passes {
				return filter, err
			}
			return query.And{inOrder, rest}, nil
		}
	} else {
		total := func() (int64, error) { return t.Total(c, nil) }
		var err error
		if many, common, err = search.Choose(t.conn, t.store.db, s.table.words, terms(c, words), last, needed(r), total); err != nil {
			return nil, t.fault(err)
		}
	}
	if !many {
		ids, all, err := search.Find(t.conn, t.store.db, s.table.words, inOrder.terms(c), common, manyMatches)
		if err != nil {
			return nil, t.fault(err)
		}
		if all {
			return query.And{foundSearch{words, ids}, rest}, nil
		}
	}
	if byID && !found {
		return query.And{inOrder, rest}, nil
	}
	return filter, nil
}

// needed is how many matches are read for a range, with those before its offset, and the one after it.
func needed(r query.Range) int64 {
	if r.Anchor != query.AtOffset {
		return min(r.Size(), math.MaxInt64-1) + 1
	}
	_, to := query.Span(r.Offset, r.Limit, math.MaxInt64-1)
	return to + 1
}

// sampleSize is how many matches of a search are read to find out how many pass another filter.
// sampleLeast is how many of them must pass, so that a page gets the matches from the index. It is a
// variable for tests.
var sampleSize, sampleLeast = 300, 10

// oftenPasses reports whether an index of words serves a search better than an index for the rest of the
// filter: the matches are few, or many of them pass.
func (t *Tx) oftenPasses(c *model.Collection, search orderedSearch, rest query.Filter) (bool, error) {
	s := t.store.statement(c, "SELECT count(*), count(_passing) FROM (SELECT CASE WHEN ")
	s.condition(rest, true)
	s.Write(" THEN 1 END AS _passing FROM ")
	s.from(search)
	s.Write(" LIMIT ", strconv.Itoa(sampleSize+1), ")")
	var matches, passing int64
	_, err := db.One(t.conn, func(row model.Row) { matches, passing = row.Int(0), row.Int(1) }, s.String(), s.Args...)
	return int(matches) <= sampleSize || int(passing) >= sampleLeast, t.fault(err)
}

// searchByRow replaces searches by searches that look at the words of each resource. An order that no index
// has needs all matches in any case.
func searchByRow(c *model.Collection, filter query.Filter, order Order) query.Filter {
	if len(order) > 1 && !db.IndexBegins(c, c.Columns()[order[0].Column].Name) {
		return filter
	}
	replaced, _ := query.Map(filter, func(each query.Filter) (query.Filter, error) {
		if search, isSearch := each.(query.Search); isSearch {
			return rowSearch{search}, nil
		}
		return each, nil
	})
	return replaced
}
