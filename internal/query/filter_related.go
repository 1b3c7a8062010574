package query

import (
	"errors"
	"slices"

	"github.com/plural-go/plural/internal/model"
)

// Related holds when there is a related resource that is in the scope and passes the filter.
type Related struct {
	Relation *model.Relation
	Scope    Filter // what exists of the other collection for the caller; nil: everything
	Filter   Filter // on the other collection
}

// Through makes a filter on related resources one on the resources that they are related to. Where
// one resource is referred to, and it is not there or not in the scope, it counts as one without any
// values.
func Through(relation *model.Relation, scope, f Filter) Filter {
	if relation.One && matchesNull(f) {
		return Not{&Related{Relation: relation, Scope: scope, Filter: Not{f}}}
	}
	return &Related{Relation: relation, Scope: scope, Filter: f}
}

// Match cannot decide: it does not know other resources. Resolve must have replaced the filter.
func (f *Related) Match(model.Record) bool {
	panic("query: a filter on related resources was not resolved")
}

// Lookup finds a resource of a collection, as it is stored, by its id; nil if there is none.
type Lookup func(*model.Collection, model.ID) (model.Record, error)

// Holds decides a filter for one resource, of which others are looked up. Nil always holds.
func Holds(f Filter, r model.Record, find Lookup) (bool, error) {
	if f == nil {
		return true, nil
	}
	resolved, err := Resolve(f, r, find)
	return err == nil && resolved.Match(r), err
}

// Resolve replaces conditions on the resources that a resource refers to by what they are for it, so
// that Match can decide the rest.
func Resolve(f Filter, r model.Record, find Lookup) (Filter, error) {
	if !ReadsRelated(f) {
		return f, nil
	}
	return Map(f, func(each Filter) (Filter, error) {
		switch f := each.(type) {
		case *Related:
			holds, err := f.holds(r, find)
			return constant(holds), err
		case OnValue:
			if f.ReadsRelated() {
				return nil, errManyRelated
			}
		}
		return each, nil
	})
}

// errManyRelated: one resource can be looked up, but not all that refer to another.
var errManyRelated = errors.New("a filter on resources that refer to others cannot be decided for one of these")

func (f *Related) holds(r model.Record, find Lookup) (bool, error) {
	if !f.Relation.One {
		return false, errManyRelated
	}
	reference := r[f.Relation.Column]
	if reference.IsNull() {
		return false, nil
	}
	related, err := find(f.Relation.To.Base(), reference.ID())
	if err != nil || related == nil {
		return false, err
	}
	return f.holdsFor(related, find)
}

// holdsFor decides the condition for the related resource.
func (f *Related) holdsFor(related model.Record, find Lookup) (bool, error) {
	if holds, err := Holds(f.Scope, related, find); err != nil || !holds {
		return false, err
	}
	return Holds(f.Filter, related, find)
}

// EachRelated calls visit with every condition on related resources in a filter, also with those in
// their scopes and filters.
func EachRelated(f Filter, visit func(*Related)) {
	EachDirectlyRelated(f, func(related *Related) {
		visit(related)
		EachRelated(related.Scope, visit)
		EachRelated(related.Filter, visit)
	})
}

// EachDirectlyRelated calls visit with every condition on related resources in a filter, but not with those in their scopes and
// filters.
func EachDirectlyRelated(f Filter, visit func(*Related)) {
	eachCondition(f, func(each Filter) {
		if related, ok := each.(*Related); ok {
			visit(related)
		}
	})
}

// EachColumn calls visit with every column that a filter on a collection compares, also with those of related
// resources.
func EachColumn(f Filter, c *model.Collection, visit func(*model.Collection, int)) {
	eachCondition(f, func(each Filter) {
		if column, ok := columnOf(each); ok {
			visit(c, column)
		}
		switch f := each.(type) {
		case *Related:
			EachColumn(Both(f.Scope, f.Filter), f.Relation.To, visit)
		case OnValue:
			for step := range f.Through.all() {
				EachColumn(step.Scope, step.Relation.To, visit)
			}
		case Search:
			for _, column := range f.Columns {
				visit(c, column)
			}
		}
	})
}

// ReadsRelated reports whether a filter depends on other resources.
func ReadsRelated(f Filter) (reads bool) {
	eachCondition(f, func(each Filter) {
		switch f := each.(type) {
		case *Related:
			reads = true
		case OnValue:
			reads = reads || f.ReadsRelated()
		}
	})
	return reads
}

// matchesNull reports whether a filter holds for a resource of which every column is null, also its
// id, and which nothing is related to.
func matchesNull(f Filter) bool {
	switch f := f.(type) {
	case And:
		return !slices.ContainsFunc(f, func(each Filter) bool { return !matchesNull(each) })
	case Or:
		return slices.ContainsFunc(f, matchesNull)
	case Not:
		return !matchesNull(f.Filter)
	case OnValue:
		if f.Count {
			return f.Filter.Match(model.Record{model.IntValue(0)})
		}
		return matchesNull(f.Filter)
	case IsNull:
		return true
	}
	return false
}
