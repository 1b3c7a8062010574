package query

import "github.com/plural-go/plural/internal/model"

// Suppose returns what remains of a filter for a resource that refers to another one, whose state is known,
// in a column: conditions on the other resource and on the column are decided, and what does not matter any
// more is left out.
func Suppose(f Filter, column int, referred model.Record, find Lookup) (Filter, error) {
	resource := make(model.Record, column+1)
	resource[column] = referred[model.IDColumn]
	decided, err := Map(f, func(each Filter) (Filter, error) {
		if related, ok := each.(*Related); ok && related.Relation.Column == column {
			holds, err := related.holdsFor(referred, find)
			return constant(holds), err
		}
		if of, ok := columnOf(each); ok && of == column {
			return constant(each.Match(resource)), nil
		}
		return each, nil
	})
	return simplify(decided), err
}

// simplify leaves out what is always true or never.
func simplify(f Filter) Filter {
	switch f := f.(type) {
	case And:
		return simplifyAll(f, func(rest []Filter) Filter { return And(rest) }, IsAll, isNone)
	case Or:
		return simplifyAll(f, func(rest []Filter) Filter { return Or(rest) }, isNone, IsAll)
	case Not:
		inner := simplify(f.Filter)
		if IsAll(inner) || isNone(inner) {
			return constant(isNone(inner))
		}
		return Not{inner}
	}
	return f
}

// simplifyAll simplifies what a junction joins. Neutral filters do not matter in it, and one that decides is the result.
func simplifyAll(filters []Filter, join func([]Filter) Filter, neutral, decides func(Filter) bool) Filter {
	var rest []Filter
	for _, each := range filters {
		each = simplify(each)
		if decides(each) {
			return each
		}
		if !neutral(each) {
			rest = append(rest, each)
		}
	}
	return join(rest)
}

// isNone reports whether a simplified filter never holds.
func isNone(f Filter) bool {
	or, ok := f.(Or)
	return ok && len(or) == 0
}
