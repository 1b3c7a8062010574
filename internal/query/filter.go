package query

import (
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/model"
)

// Filter is a condition on a resource: a tree of And, Or and Not over Compare, In, IsNull,
// OnValue, Has, Related and Search. It is two-valued: a comparison with null is false, and its
// negation is true.
//
// Query parameters and the scope of a caller are both filters, so that the store has one kind of
// condition only.
type Filter interface {
	// Match decides for one resource in memory. It defines what the SQL of a
	// filter must select.
	Match(model.Record) bool
}

// And holds when all its filters hold; an empty And always does.
type And []Filter

// Or holds when one of its filters holds; an empty Or never does.
type Or []Filter

// Not holds when its filter does not.
type Not struct{ Filter Filter }

// IsNull holds when the column has no value.
type IsNull struct{ Column int }

// In holds when the column has one of the values. None of them is null.
type In struct {
	Column int
	Values []model.Value
}

// Compare holds when the column has a value for which the comparison with Value is true. Value is
// not null.
type Compare struct {
	Column int
	Op     Op
	Value  model.Value
}

// Op is a comparison.
type Op string

// The comparisons. Contains and StartsWith are for text only.
const (
	Equal          Op = "eq"
	Less           Op = "lt"
	LessOrEqual    Op = "lte"
	Greater        Op = "gt"
	GreaterOrEqual Op = "gte"
	Contains       Op = "contains"
	StartsWith     Op = "starts_with"
)

// All is the filter that every resource passes.
var All Filter = And(nil)

// None is the filter that no resource passes.
var None Filter = Or(nil)

// IsAll reports whether a filter has no condition.
func IsAll(f Filter) bool {
	and, ok := f.(And)
	return ok && !slices.ContainsFunc(and, func(each Filter) bool { return !IsAll(each) })
}

// eachCondition calls visit with every condition that a tree of And, Or and Not joins.
func eachCondition(f Filter, visit func(Filter)) {
	var joined []Filter
	switch f := f.(type) {
	case nil:
	case And:
		joined = f
	case Or:
		joined = f
	case Not:
		eachCondition(f.Filter, visit)
	default:
		visit(f)
	}
	for _, each := range joined {
		eachCondition(each, visit)
	}
}

// columnOf is the column that a condition is on, and whether there is one.
func columnOf(f Filter) (column int, ok bool) {
	switch f := f.(type) {
	case Compare:
		return f.Column, true
	case In:
		return f.Column, true
	case IsNull:
		return f.Column, true
	case Has:
		return f.Column, true
	case OnValue:
		return f.Column, !f.ReadsRelated()
	}
	return 0, false
}

// Both joins two filters, either of which may be nil.
func Both(a, b Filter) Filter {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return And{a, b}
}

// Map replaces the conditions that a tree of And, Or and Not joins.
func Map(f Filter, replace func(Filter) (Filter, error)) (Filter, error) {
	each := func(filters []Filter) (replaced []Filter, err error) {
		replaced = make([]Filter, len(filters))
		for i := range filters {
			if replaced[i], err = Map(filters[i], replace); err != nil {
				return nil, err
			}
		}
		return replaced, nil
	}
	switch f := f.(type) {
	case nil:
		return nil, nil
	case And:
		all, err := each(f)
		return And(all), err
	case Or:
		all, err := each(f)
		return Or(all), err
	case Not:
		inner, err := Map(f.Filter, replace)
		return Not{inner}, err
	}
	return replace(f)
}

// Match reports whether all filters match.
func (f And) Match(r model.Record) bool {
	return !slices.ContainsFunc(f, func(f Filter) bool { return !f.Match(r) })
}

// Match reports whether any filter matches.
func (f Or) Match(r model.Record) bool {
	return slices.ContainsFunc(f, func(f Filter) bool { return f.Match(r) })
}

// Match reports whether the filter does not match.
func (f Not) Match(r model.Record) bool { return !f.Filter.Match(r) }

// Match reports whether the column is null.
func (f IsNull) Match(r model.Record) bool { return r[f.Column].IsNull() }

// Match reports whether the column has one of the values.
func (f In) Match(r model.Record) bool { return slices.Contains(f.Values, r[f.Column]) }

// Match compares the column with the value.
func (f Compare) Match(r model.Record) bool {
	value := r[f.Column]
	return !value.IsNull() && f.Op.holds(value, f.Value)
}

func (op Op) holds(a, b model.Value) bool {
	switch op {
	case Contains:
		return strings.Contains(a.Text(), b.Text())
	case StartsWith:
		return strings.HasPrefix(a.Text(), b.Text())
	}
	order := model.Compare(a, b)
	switch op {
	case Less:
		return order < 0
	case LessOrEqual:
		return order <= 0
	case Greater:
		return order > 0
	case GreaterOrEqual:
		return order >= 0
	default:
		return order == 0
	}
}

// Equality reports whether a filter asks for a value, or for the beginning of one, and of which column.
func Equality(f Filter) (column int, ok bool) {
	switch f := f.(type) {
	case Compare:
		return f.Column, f.Op == Equal || f.Op == StartsWith
	case In:
		return f.Column, true
	}
	return 0, false
}
