package store

import (
	"math"
	"strconv"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/search"
	"github.com/plural-go/plural/internal/statement"
)

// Texts remembers the words of texts: see Tx.UseTexts.
type Texts = search.Texts

// UseTexts gives the transaction the words of texts that it may store, so that these are not split while other writes wait. It adds
// others to them.
func (t *Tx) UseTexts(texts *Texts) { t.texts = texts }

// putWords stores the words of resources for search, in the transaction that writes the resources.
// Before are the previous states, nil for new resources.
func (t *Tx) putWords(c *model.Collection, before, after []model.Record) error {
	if table := t.store.tables[c]; table.words != "" {
		return search.Put(t.texts, t.conn, table.search, c, before, after)
	}
	return nil
}

// MaxWordBytes bounds the different words that one request gives to the index, those of each resource by themselves: on
// SQLite the index takes half a second for a megabyte, while all other writes wait. One resource has less (search.MaxBytes).
const MaxWordBytes = 1 << 20

// WordBytes counts the bytes of different words that resources get. Before are the previous states, nil for each new one.
func (t *Tx) WordBytes(c *model.Collection, before, after []model.Record) int {
	return search.Bytes(t.texts, c, before, after)
}

// manyMatches is how many matches of a search are found by the index before the page is read. If there
// are more, it is faster to read the page in its order and to look at the words of each resource. In a
// collection of a million resources, both take about as long for this number. It is a variable for tests.
var manyMatches = 4000

// findSearched replaces a search that must hold by what is faster for a page: by one that is read in the
// order of the page, or by its matches, if these are few. If it stays, searchByRow applies.
func (t *Tx) findSearched(c *model.Collection, filter query.Filter, order statement.Order, r query.Range) (query.Filter, error) {
	words, rest, ok := query.TakeSearch(filter)
	if !ok {
		return filter, nil
	}
	byID, found := len(order) == 1, t.store.sql.Finds(c, rest)
	last := byID && order[0].Descending != (r.Limit < 0 && r.Anchor != query.AtOffset)
	inOrder := statement.OrderedSearch{Search: words}
	table, terms := t.store.tables[c].words, statement.Terms(c, words)
	many, common := false, make([]bool, len(words.Words))
	if t.store.db.Traits().OrderedSearch {
		var err error
		if inOrder.Rare, err = search.FindRare(t.conn, t.store.db, table, terms, last); err != nil {
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
		if many, common, err = search.Choose(t.conn, t.store.db, table, terms, last, needed(r), total); err != nil {
			return nil, t.fault(err)
		}
	}
	if !many {
		ids, all, err := search.Find(t.conn, t.store.db, table, inOrder.Terms(c), common, manyMatches)
		if err != nil {
			return nil, t.fault(err)
		}
		if all {
			return statement.WithFound(words, ids, rest), nil
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
func (t *Tx) oftenPasses(c *model.Collection, search statement.OrderedSearch, rest query.Filter) (bool, error) {
	s := t.store.sql.Statement(c, "SELECT count(*), count(_passing) FROM (SELECT CASE WHEN ")
	s.Condition(rest, true)
	s.Write(" THEN 1 END AS _passing FROM ")
	s.From(search)
	s.Write(" LIMIT ", strconv.Itoa(sampleSize+1), ")")
	var matches, passing int64
	_, err := db.One(t.conn, func(row model.Row) { matches, passing = row.Int(0), row.Int(1) }, s.String(), s.Args...)
	return int(matches) <= sampleSize || int(passing) >= sampleLeast, t.fault(err)
}

// searchByRow replaces searches by searches that look at the words of each resource. An order that no index
// has needs all matches in any case.
func searchByRow(c *model.Collection, filter query.Filter, order statement.Order) query.Filter {
	if len(order) > 1 && !db.IndexBegins(c, c.Columns()[order[0].Column].Name) {
		return filter
	}
	replaced, _ := query.Map(filter, func(each query.Filter) (query.Filter, error) {
		if search, isSearch := each.(query.Search); isSearch {
			return statement.RowSearch{Search: search}, nil
		}
		return each, nil
	})
	return replaced
}
