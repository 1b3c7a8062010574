package query

import (
	"slices"
	"unicode/utf8"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/words"
	"github.com/plural-go/plural/problem"
)

// Search holds when each word is the beginning of some word in some of the columns.
type Search struct {
	Columns []int    // of the attributes that are searched, those that the caller may see
	Words   []string // in the form of words.Of, sorted, each once

	// SetOf returns the words of a text. Nil: words.SetOf.
	SetOf func(text string) words.Set
}

// Match looks for the words in the columns.
func (f Search) Match(r model.Record) bool {
	setOf := f.SetOf
	if setOf == nil {
		setOf = words.SetOf
	}
	left := f.Words
	for _, column := range f.Columns {
		if r[column].IsNull() {
			continue
		}
		found := setOf(r[column].Text())
		missing := make([]string, 0, len(left))
		for _, wanted := range left {
			if !found.HasPrefix(wanted) {
				missing = append(missing, wanted)
			}
		}
		if left = missing; len(left) == 0 {
			return true
		}
	}
	return len(left) == 0
}

// SharingWords makes the searches in a filter find the words of texts by a function.
func SharingWords(f Filter, setOf func(text string) words.Set) Filter {
	f, _ = Map(f, func(each Filter) (Filter, error) {
		if search, ok := each.(Search); ok {
			search.SetOf = setOf
			return search, nil
		}
		return each, nil
	})
	return f
}

// searchColumns lists the columns that the caller can search.
func (p *parser) searchColumns() []int {
	hidden := func(column int) bool { return !p.limits.Visible.Has(column) }
	return slices.DeleteFunc(slices.Clone(p.collection.SearchColumns()), hidden)
}

func (p *parser) search(given parameter) {
	p.query.linkParameters = append(p.query.linkParameters, given.encoded)
	p.query.filterParameters = append(p.query.filterParameters, given.encoded)
	columns := p.searchColumns()
	if len(columns) == 0 {
		p.fail(given, problem.CodeUnknownParameter, "The collection %s cannot be searched. Use filter[field][contains], which finds a part of a text.", p.collection.Name)
		return
	}
	if count := utf8.RuneCountInString(given.value); count > MaxSearch {
		p.fail(given, problem.CodeInvalidParameter, "A search allows at most %d characters, but got %d.", MaxSearch, count)
		return
	}
	found := words.Of(given.value)
	switch {
	case len(found) == 0:
		p.fail(given, problem.CodeInvalidParameter, "The search %s has no word: give at least one letter or digit, such as search=ada+lov.", fault.Quote(given.value))
	case len(found) > MaxWords:
		p.fail(given, problem.CodeTooManyValues, "A search allows at most %d words, but got %d.", MaxWords, len(found))
	default:
		slices.Sort(found)
		p.conditions.others = append(p.conditions.others, Search{Columns: columns, Words: slices.Compact(found)})
	}
}

// TakeSearch returns the first search that must hold, and the rest of a filter.
func TakeSearch(filter Filter) (search Search, rest Filter, ok bool) {
	switch f := filter.(type) {
	case Search:
		return f, All, true
	case And:
		for i, each := range f {
			if search, rest, ok = TakeSearch(each); ok {
				replaced := slices.Clone(f)
				replaced[i] = rest
				return search, replaced, true
			}
		}
	}
	return Search{}, nil, false
}
