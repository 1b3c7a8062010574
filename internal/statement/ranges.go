package statement

import (
	"slices"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// bound is where a range begins or ends: values of its first keys. Nil: the range is open.
type bound struct {
	place     Place
	inclusive bool
}

// keyRange is a part of a selection that an index on the keys of its order finds as one range: its fixed keys have one
// value each, and its bounds compare keys that all have a value and the same direction.
type keyRange struct {
	order       Order
	fixed       int            // how many keys have one value
	conditions  []query.Filter // that fix keys, or exclude null
	from, until *bound         // they compare the keys that are not fixed
}

// ranges divides a selection into the ranges that it consists of, in its order. SQL compares neither null nor keys of
// different directions: the resources with the first value of a place, those with other values and those without a value
// are ranges of their own.
func (s Selection) ranges(t *Table) []keyRange {
	whole := keyRange{order: s.Order}
	if s.From != nil {
		whole.from = &bound{s.From, !s.AfterFrom}
	}
	if s.Until != nil {
		whole.until = &bound{s.Until, false}
	}
	return whole.split(t)
}

func (r keyRange) split(t *Table) (all []keyRange) {
	if r.from == nil && r.until == nil || r.fixed == len(r.order)-1 {
		return []keyRange{r}
	}
	if r.order[r.fixed].ReadsRelated() {
		return []keyRange{r.compared()}
	}
	if r.from != nil && r.until != nil && r.from.place[0] == r.until.place[0] {
		return r.fix(r.from.place[0], r.from, r.until).split(t)
	}
	// The first and the last value are ranges of their own, unless a bound can compare all keys.
	others := r
	if r.from != nil && !r.compares(t, r.from) {
		all = r.fix(r.from.place[0], r.from, nil).split(t)
		others.from = &bound{r.from.place[:1], false}
	}
	if r.until != nil && !r.compares(t, r.until) {
		others.until = &bound{r.until.place[:1], false}
	}
	all = append(all, others.splitNulls(t)...)
	if r.until != others.until {
		all = append(all, r.fix(r.until.place[0], nil, r.until).split(t)...)
	}
	return all
}

// compared is the range with conditions in place of its bounds. No index has the next key, so that several ranges would each compare
// all resources.
func (r keyRange) compared() keyRange {
	keys := r.order[r.fixed:]
	if r.from != nil {
		r.conditions = r.with(beyond(keys, r.from, true))
	}
	if r.until != nil {
		r.conditions = r.with(beyond(keys, r.until, false))
	}
	r.from, r.until = nil, nil
	return r
}

// beyond is the condition that a resource is on one side of a bound: its first key is, or that has the same value and the next keys are.
func beyond(keys Order, b *bound, after bool) query.Filter {
	if len(b.place) == 0 {
		if b.inclusive {
			return query.All
		}
		return query.None
	}
	key, value := keys[0], b.place[0]
	larger := key.Where(func(column int) query.Filter { return side(column, value, after != key.Descending) })
	equal := key.Where(func(column int) query.Filter { return equal(column, value) })
	return query.Or{larger, query.And{equal, beyond(keys[1:], b.rest(), after)}}
}

// side is the condition that a column is larger or smaller than a value. Null is the smallest.
func side(column int, value model.Value, larger bool) query.Filter {
	isNull := query.IsNull{Column: column}
	switch {
	case value.IsNull() && larger:
		return query.Not{Filter: isNull}
	case value.IsNull():
		return query.None
	case larger:
		return query.Compare{Column: column, Op: query.Greater, Value: value}
	}
	return query.Or{query.Compare{Column: column, Op: query.Less, Value: value}, isNull}
}

// equal is the condition that a column has a value, or none.
func equal(column int, value model.Value) query.Filter {
	if value.IsNull() {
		return query.IsNull{Column: column}
	}
	return query.Compare{Column: column, Op: query.Equal, Value: value}
}

// compares reports whether all keys of a place can be compared at once.
func (r keyRange) compares(t *Table, b *bound) bool {
	keys := r.order[r.fixed:]
	for _, key := range keys[1:] {
		if nullable(t, key) || key.Descending != keys[0].Descending {
			return false
		}
	}
	return !b.place[0].IsNull()
}

// fix is the part in which the first key has one value.
func (r keyRange) fix(value model.Value, from, until *bound) keyRange {
	condition := r.order[r.fixed].Where(func(column int) query.Filter { return equal(column, value) })
	return keyRange{order: r.order, fixed: r.fixed + 1, conditions: r.with(condition), from: from.rest(), until: until.rest()}
}

// with returns the conditions with another one.
func (r keyRange) with(condition query.Filter) []query.Filter {
	return append(r.conditions[:len(r.conditions):len(r.conditions)], condition)
}

// rest is the bound of the keys after the first one.
func (b *bound) rest() *bound {
	if b == nil {
		return nil
	}
	return &bound{b.place[1:], b.inclusive}
}

// splitNulls separates the resources without a value of the first key from the others. A bound excludes them, unless it is
// beyond them.
func (r keyRange) splitNulls(t *Table) []keyRange {
	key := r.order[r.fixed]
	if !nullable(t, key) {
		return []keyRange{r}
	}
	toNulls, toValues := &r.from, &r.until // where the range ends on either side
	if key.Descending {
		toNulls, toValues = toValues, toNulls
	}
	if *toValues != nil && (*toValues).place[0].IsNull() {
		return nil // nothing is smaller
	}
	hasNulls := *toNulls == nil
	nulls := r.fix(model.Null, nil, nil)
	if !hasNulls && (*toNulls).place[0].IsNull() {
		*toNulls = nil // all values are larger
	}
	if *toNulls == nil && *toValues == nil {
		r.conditions = r.with(query.Not{Filter: key.Where(func(column int) query.Filter { return query.IsNull{Column: column} })})
	}
	switch {
	case !hasNulls:
		return []keyRange{r}
	case key.Descending:
		return []keyRange{r, nulls}
	}
	return []keyRange{nulls, r}
}

func nullable(t *Table, key query.SortKey) bool {
	return !key.IsColumn() || !t.StoredColumn(key.Column).NotNull
}

// keys is the order of the range. Fixed keys can have any direction: that of the next key, unless an index of the table has more of the
// keys in their own.
func (r keyRange) keys(t *Table) []query.SortKey {
	if r.fixed == 0 {
		return r.order
	}
	keys := slices.Clone(r.order)
	for i := range keys[:r.fixed] {
		keys[i].Descending = keys[r.fixed].Descending
	}
	if t.inOrder(r.order) > t.inOrder(keys) {
		return r.order
	}
	return keys
}

// compareKeys writes that a resource is on one side of a bound.
func (s *Statement) compareKeys(r keyRange, b *bound, after bool) {
	keys := r.order[r.fixed:][:len(b.place)]
	s.tuple(len(keys), func(i int) { s.Write(s.operand(keys[i].Operand)) })
	s.Write(db.Choose(after != keys[0].Descending, " >", " <"), db.Choose(b.inclusive, "= ", " "))
	s.tuple(len(keys), func(i int) { s.Arg(b.place[i]) })
}

// tuple writes one item, or several in parentheses.
func (s *Statement) tuple(n int, item func(i int)) {
	s.Write(db.Choose(n > 1, "(", ""))
	s.List(n, ", ", "", item)
	s.Write(db.Choose(n > 1, ")", ""))
}
