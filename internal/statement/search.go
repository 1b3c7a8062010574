package statement

import (
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/search"
)

// OrderedSearch is a search whose matches a statement gets in the order of ids, as it reads. There is at
// most one in a statement, and it must hold.
type OrderedSearch struct {
	query.Search
	Rare []bool // words: see db.SearchTerm; nil: none
}

// Terms are the words of the search, as an index of words takes them.
func (f OrderedSearch) Terms(c *model.Collection) db.SearchTerms {
	terms := Terms(c, f.Search)
	for i, rare := range f.Rare {
		terms[i].Rare = rare
	}
	return terms
}

// Ordered finds the OrderedSearch of a filter.
func Ordered(filter query.Filter) (found OrderedSearch, ok bool) {
	switch f := filter.(type) {
	case OrderedSearch:
		return f, true
	case query.And:
		for _, each := range f {
			if found, ok = Ordered(each); ok {
				return found, true
			}
		}
	}
	return OrderedSearch{}, false
}

// From writes the table of the statement, with the index of words before it if the filter has an
// OrderedSearch.
func (s *Statement) From(filter query.Filter) {
	search, ok := Ordered(filter)
	if !ok {
		s.Write(s.table.Name)
		return
	}
	s.Write(s.dialect.SearchJoin(s.table.Words, s.table.Name, s.qualified(model.IDColumn), search.Terms(s.table.Collection), s.text))
}

// bound limits what an OrderedSearch reads to the resources from an id on, or up to it. The id itself
// is compared as well, so this only has to leave none out.
func (s *Statement) bound(filter query.Filter, upTo bool, id model.Value) {
	if _, ok := Ordered(filter); ok {
		s.Write(s.dialect.SearchBound(s.table.Words, upTo, s.Placeholder(id)), " AND ")
	}
}

// RowSearch is a search that looks at the words of each resource instead of finding all matches first.
// That is faster if there are many matches, of which a page needs the first few only.
type RowSearch struct{ query.Search }

// search writes the condition of a search, or its negation.
func (s *Statement) search(f query.Search, byIndex, holds bool) {
	c := s.table.Collection
	s.Write(db.Choose(holds, "", "NOT ("),
		s.dialect.Searched(s.table.Words, s.table.Columns[model.IDColumn], Terms(c, f), byIndex, s.text),
		db.Choose(holds, "", ")"))
}

// Terms are the words of a search, as an index of words takes them.
func Terms(c *model.Collection, f query.Search) db.SearchTerms {
	return search.Terms(c, f.Columns, f.Words)
}

// text adds a text as an argument and returns its placeholder.
func (s *Statement) text(value string) string { return s.Placeholder(model.TextValue(value)) }

// FoundSearch is a search whose matches are known. A page has several statements, and the index of words
// is asked only once.
type FoundSearch struct {
	query.Search
	IDs []model.ID // sorted
}

// WithFound is the filter of a search whose matches are known, and of the rest of a filter. Selection.narrowed recognises it.
func WithFound(f query.Search, ids []model.ID, rest query.Filter) query.Filter {
	return query.And{FoundSearch{Search: f, IDs: ids}, rest}
}
