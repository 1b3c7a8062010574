package interfacetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/model"
)

// naiveQuery is which resources of a collection a request wants, and what of them.
type naiveQuery struct {
	filters  []*naiveFilter
	any      map[int][]*naiveFilter
	some     []*naiveSome
	search   []string // beginnings of words
	sort     []naiveKey
	cursor   *naiveRow
	offset   int // -1: none
	limit    int
	fields   []string // nil: all
	includes []*naiveInclude
}

// naiveKey is a key of a sort.
type naiveKey struct {
	*naiveValue
	descending bool
}

// naiveInclude is a relation with what is wanted of it.
type naiveInclude struct {
	*model.Relation
	naiveQuery
	total bool
}

// naiveFilter is a condition on a field, through relations, or on how many resources a relation leads to.
type naiveFilter struct {
	count    *model.Relation // nil: on the field
	steps    []*model.Relation
	path     []string
	kind     model.Kind // of the field, or of the items of an array
	operator string     // "": the field alone, which may be a list of values
	values   []string
}

// naiveSome is conditions that one related resource fulfils, or none.
type naiveSome struct {
	relation *model.Relation
	none     bool
	filters  []*naiveFilter
}

// matches reports whether a query selects a resource, its range aside.
func (v *naiveView) matches(q *naiveQuery, r *naiveRow) bool {
	hold := func(filters []*naiveFilter) bool {
		return !slices.ContainsFunc(filters, func(f *naiveFilter) bool { return !v.holds(f, r, f.steps) })
	}
	for _, s := range q.some {
		found := slices.ContainsFunc(v.related(r, s.relation), func(other *naiveRow) bool {
			return !slices.ContainsFunc(s.filters, func(f *naiveFilter) bool { return !v.holds(f, other, f.steps) })
		})
		if found == s.none {
			return false
		}
	}
	some := len(q.any) == 0
	for _, alternative := range q.any {
		some = some || hold(alternative)
	}
	return some && hold(q.filters) && v.finds(q.search, r)
}

func (v *naiveView) holds(f *naiveFilter, r *naiveRow, steps []*model.Relation) bool {
	if f.count != nil {
		return f.matches(fmt.Sprint(len(v.related(r, f.count))))
	}
	if f.operator == "exists" && len(steps) == 1 {
		return len(v.related(r, steps[0])) > 0 == (f.values[0] == "true")
	}
	if len(steps) == 0 {
		return f.matches(r.value(f.path...))
	}
	found := v.related(r, steps[0])
	if steps[0].One && len(found) == 0 {
		return v.holds(f, nil, steps[1:])
	}
	return slices.ContainsFunc(found, func(other *naiveRow) bool { return v.holds(f, other, steps[1:]) })
}

func (f *naiveFilter) matches(value string) bool {
	equal := func(other string) bool { return compareJSON(f.kind, value, other) == 0 }
	null := value == "null"
	switch f.operator {
	case "null":
		return null == (f.values[0] == "true")
	case "ne", "not_in":
		return !slices.ContainsFunc(f.values, equal)
	}
	if null {
		return false
	}
	switch f.operator {
	case "bare":
		return f.kind != model.KindBoolean || value == "true"
	case "", "eq", "in":
		return slices.ContainsFunc(f.values, equal)
	case "lt":
		return compareJSON(f.kind, value, f.values[0]) < 0
	case "lte":
		return compareJSON(f.kind, value, f.values[0]) <= 0
	case "gt":
		return compareJSON(f.kind, value, f.values[0]) > 0
	case "gte":
		return compareJSON(f.kind, value, f.values[0]) >= 0
	case "contains":
		return strings.Contains(plain(value), plain(f.values[0]))
	case "starts_with":
		return strings.HasPrefix(plain(value), plain(f.values[0]))
	}
	if f.operator == "search" {
		return allBegin(f.values, wordsOf(value))
	}
	items := jsonItems(value)
	has := func(wanted string) bool {
		return slices.ContainsFunc(items, func(item string) bool { return compareJSON(f.kind, item, wanted) == 0 })
	}
	if f.operator == "has" {
		return slices.ContainsFunc(f.values, has)
	}
	return !slices.ContainsFunc(f.values, func(wanted string) bool { return !has(wanted) })
}

// searched lists the attributes that a search looks at.
func (v *naiveView) searched(c *model.Collection) (names []string) {
	for _, name := range append(slices.Clone(c.Search), c.Label) {
		if name != "" && v.knows(c, name) {
			names = append(names, name)
		}
	}
	return names
}

// finds reports whether each beginning is one of a word.
func (v *naiveView) finds(beginnings []string, r *naiveRow) bool {
	var words []string
	for _, name := range v.searched(r.kind) {
		if value := r.value(name); value != "null" {
			words = append(words, wordsOf(value)...)
		}
	}
	return allBegin(beginnings, words)
}

// wordsOf is the words of a text in JSON, as searches compare them.
func wordsOf(value string) (words []string) {
	for _, word := range strings.Fields(plain(value)) {
		words = append(words, modelWords[word]...)
	}
	return words
}

// selects is the resources of a query among others, in its order: all, and those of its range.
func (v *naiveView) selects(q *naiveQuery, among []*naiveRow) (all, some []*naiveRow) {
	for _, r := range among {
		if v.matches(q, r) {
			all = append(all, r)
		}
	}
	order := func(a, b *naiveRow) int {
		for _, key := range q.sort {
			order := compareJSON(key.kind, v.valueOf(key.naiveValue, a), v.valueOf(key.naiveValue, b))
			if key.descending {
				order = -order
			}
			if order != 0 {
				return order
			}
		}
		return strings.Compare(a.id, b.id)
	}
	slices.SortFunc(all, order)
	anchor := q.offset
	if q.cursor != nil {
		anchor = len(slices.DeleteFunc(slices.Clone(all), func(r *naiveRow) bool { return order(r, q.cursor) >= 0 }))
	}
	from, to := naiveRange(anchor, q.limit, len(all))
	return all, all[from:to]
}

// naiveRange is what a range selects of so many. An anchor below zero is none.
func naiveRange(anchor, limit, count int) (from, to int) {
	if anchor < 0 {
		if anchor = 0; limit < 0 {
			anchor = count
		}
	}
	from, to = min(anchor, anchor+limit), max(anchor, anchor+limit)
	return min(max(from, 0), count), min(max(to, 0), count)
}

// represent is a resource with what is included, as JSON.
func (v *naiveView) represent(r *naiveRow, q *naiveQuery) string {
	parts := []string{`"id":` + quoted(r.id), `"type":` + quoted(v.collection(r.kind))}
	wanted := func(name string) bool {
		return v.knows(r.kind, name) && (q.fields == nil || slices.Contains(q.fields, name))
	}
	for _, a := range r.kind.Attributes {
		if wanted(a.Name) {
			parts = append(parts, quoted(v.member(r.kind, a.Name))+":"+r.value(a.Name))
		}
	}
	for _, name := range []string{"created_at", "updated_at"} {
		if wanted(name) && !r.kind.NoTimestamps {
			parts = append(parts, quoted(name)+`:"TIME"`)
		}
	}
	for _, include := range q.includes {
		called := v.member(r.kind, include.Name)
		all, found := v.selects(&include.naiveQuery, v.related(r, include.Relation))
		if include.One {
			text := "null"
			if len(all) > 0 {
				text = v.represent(all[0], &include.naiveQuery)
			}
			parts = append(parts, quoted(called)+":"+text)
			continue
		}
		var items []string
		for _, each := range found {
			items = append(items, v.represent(each, &include.naiveQuery))
		}
		parts = append(parts, array(called, items...))
		if include.total {
			parts = append(parts, fmt.Sprintf(`"%s_total":%d`, called, len(all)))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}
