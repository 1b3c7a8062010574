package auth

import (
	"unicode/utf8"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// unknown is an error in CEL: neither true nor false.
func unknown() (isTrue, isFalse query.Filter) { return query.None, query.None }

func isNone(f query.Filter) bool {
	or, ok := f.(query.Or)
	return ok && len(or) == 0
}

// both and either join filters and drop constant ones: a rule that is true for a caller must become
// no filter at all, because totals are only stored for lists without a filter.
func both(a, b query.Filter) query.Filter {
	switch {
	case query.IsAll(a) || isNone(b):
		return b
	case query.IsAll(b) || isNone(a):
		return a
	}
	return query.And{a, b}
}

func either(a, b query.Filter) query.Filter {
	switch {
	case isNone(a) || query.IsAll(b):
		return b
	case isNone(b) || query.IsAll(a):
		return a
	}
	return query.Or{a, b}
}

// evaluated is a condition whose filters follow from a value that does not depend on the resource.
type evaluated struct {
	value   cel.Program
	filters func(given ref.Val) (isTrue, isFalse query.Filter)
}

func (n evaluated) bind(variables map[string]any) (isTrue, isFalse query.Filter) {
	given, _, err := n.value.Eval(variables)
	if err != nil {
		return unknown()
	}
	return n.filters(given)
}

// fact is a part that does not depend on the resource at all.
func fact(given ref.Val) (isTrue, isFalse query.Filter) {
	switch given {
	case types.True:
		return query.All, query.None
	case types.False:
		return query.None, query.All
	}
	return unknown()
}

// flag is a boolean column used as a condition.
type flag struct{ attribute }

func (n flag) bind(map[string]any) (isTrue, isFalse query.Filter) {
	return n.compare(query.Equal, model.BoolValue(true)), n.compare(query.Equal, model.BoolValue(false))
}

// junction is && or ||. One side can decide the result, even if the other is an error.
type junction struct {
	and         bool
	left, right node
}

func (n junction) bind(variables map[string]any) (isTrue, isFalse query.Filter) {
	leftTrue, leftFalse := n.left.bind(variables)
	rightTrue, rightFalse := n.right.bind(variables)
	if n.and {
		return both(leftTrue, rightTrue), either(leftFalse, rightFalse)
	}
	return either(leftTrue, rightTrue), both(leftFalse, rightFalse)
}

type negation struct{ of node }

func (n negation) bind(variables map[string]any) (isTrue, isFalse query.Filter) {
	isTrue, isFalse = n.of.bind(variables)
	return isFalse, isTrue
}

// choice is condition ? yes : no.
type choice struct{ condition, yes, no node }

func (n choice) bind(variables map[string]any) (isTrue, isFalse query.Filter) {
	isYes, isNo := n.condition.bind(variables)
	yesTrue, yesFalse := n.yes.bind(variables)
	noTrue, noFalse := n.no.bind(variables)
	return either(both(isYes, yesTrue), both(isNo, noTrue)), either(both(isYes, yesFalse), both(isNo, noFalse))
}

// equals is ==. Null equals only null, and values of different types are not equal.
func (a attribute) equals(given ref.Val) (isTrue, isFalse query.Filter) {
	if given == types.NullValue {
		return a.isNull(), query.Not{Filter: a.isNull()}
	}
	switch value, fit := a.fit(given); fit {
	case fits:
		equal := a.compare(query.Equal, value)
		return equal, query.Not{Filter: equal}
	case differs:
		return query.None, query.All
	default:
		return unknown()
	}
}

var inverse = map[query.Op]query.Op{
	query.Less: query.GreaterOrEqual, query.GreaterOrEqual: query.Less, query.Greater: query.LessOrEqual, query.LessOrEqual: query.Greater,
}

// below is the comparison of a column of integers, or of whole milliseconds, with the next lower
// value, for a value between two of them.
var below = map[query.Op]query.Op{
	query.Less: query.LessOrEqual, query.LessOrEqual: query.LessOrEqual, query.Greater: query.Greater, query.GreaterOrEqual: query.Greater,
}

// isOrdered is <, <=, > or >=. Comparing null is an error.
func (a attribute) isOrdered(op query.Op, given ref.Val) (isTrue, isFalse query.Filter) {
	value, fit := a.fit(given)
	if floor, between := a.floor(given); between && fit == differs {
		value, fit, op = floor, fits, below[op]
	}
	if fit != fits {
		return unknown()
	}
	return a.compare(op, value), a.compare(inverse[op], value)
}

// hasPart is startsWith or contains. It is an error for null, and for a text that is too long to search
// for.
func (a attribute) hasPart(op query.Op, given ref.Val) (isTrue, isFalse query.Filter) {
	value, fit := a.fit(given)
	if fit != fits || utf8.RuneCountInString(value.Text()) > query.MaxPart {
		return unknown()
	}
	has := a.compare(op, value)
	return has, query.And{query.Not{Filter: a.isNull()}, query.Not{Filter: has}}
}

// maxMembers limits the number of different values in a membership test, so that a long list in a
// claim does not become a very long query.
const maxMembers = 1000

// isIn is in: equality with one of several values.
func (a attribute) isIn(given ref.Val) (isTrue, isFalse query.Filter) {
	items, ok := itemsOf(given)
	if !ok {
		return unknown()
	}
	var values []model.Value
	isIn, seen := query.None, map[model.Value]bool{}
	for _, item := range items {
		if item == types.NullValue {
			isIn = a.isNull()
			continue
		}
		switch value, fit := a.fit(item); fit {
		case fits:
			if !seen[value] {
				values, seen[value] = append(values, value), true
			}
		case clashes:
			return unknown()
		}
		if len(values) > maxMembers {
			return unknown()
		}
	}
	if len(values) > 0 {
		isIn = either(a.through(query.In{Column: a.Column, Values: values}), isIn)
	}
	if isNone(isIn) {
		return query.None, query.All
	}
	return isIn, query.Not{Filter: isIn}
}

// itemsOf returns the members for in: the items of a list, or the keys of a map.
func itemsOf(value ref.Val) (items []ref.Val, ok bool) {
	if _, isMap := value.(traits.Mapper); !isMap {
		if _, isList := value.(traits.Lister); !isList {
			return nil, false
		}
	}
	for each := value.(traits.Iterable).Iterator(); each.HasNext() == types.True; {
		items = append(items, each.Next())
	}
	return items, true
}
