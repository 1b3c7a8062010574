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
		p.fail(given, problem.CodeUnknownParameter, "The collection %s cannot be searched. Use filter[field][contains], which finds a part of a text and distinguishes upper and lower case, or declare search in the schema.", p.collection.Name)
		return
	}
	if words := p.words(given, "search"); words != nil {
		all := p.conditions(groupKey{})
		all.others = append(all.others, Search{Columns: columns, Words: words})
	}
}

// words reads the words of a search, which is a parameter or an operator. Nil: they are wrong.
func (p *parser) words(given parameter, name string) []string {
	if count := utf8.RuneCountInString(given.value); count > MaxSearch {
		p.fail(given, problem.CodeInvalidParameter, "A search allows at most %d characters, but got %d.", MaxSearch, count)
		return nil
	}
	found := words.Of(given.value)
	switch {
	case len(found) == 0:
		p.fail(given, problem.CodeInvalidParameter, "The search %s has no word: give at least one letter or digit, such as %s=ada+lov.", fault.Quote(given.value), name)
		return nil
	case len(found) > MaxWords:
		p.fail(given, problem.CodeTooManyValues, "A search allows at most %d words, but got %d.", MaxWords, len(found))
		return nil
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// searchCondition is the condition that words begin words of one attribute. Nil: it is wrong.
func (p *parser) searchCondition(given parameter, to *target) Filter {
	if to.operand.Count || to.operand.Path != nil || !slices.Contains(to.collection.SearchColumns(), to.field.Column) {
		p.fail(given, problem.CodeInvalidParameter, "The field %q is not searched. Declare it in search or label of %s, or use contains or starts_with for a string, which distinguish upper and lower case.", to.name, to.collection.Name)
		return nil
	}
	if !p.countContains(given) {
		return nil
	}
	if words := p.words(given, given.name); words != nil {
		return Search{Columns: []int{to.field.Column}, Words: words}
	}
	return nil
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
