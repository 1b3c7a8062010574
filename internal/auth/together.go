package auth

import (
	"slices"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// A rule can read other resources of the same collection, and these may be written by the same request. Such a
// rule must hold twice. It must hold for what will be stored. And it must hold without the resource itself: a
// resource that refers to itself, or two that refer to each other, would else allow themselves. So the rule is
// also evaluated as if the resources were written one after the other, in some order: each sees those before
// it as they will be, and the others as they are.

// writtenStates is the states of the resources that a request writes.
type writtenStates struct {
	collection    *model.Collection // as it is stored
	before, after []model.Record    // before is nil for new resources
	byID          map[model.ID]int
}

// FirstDenied finds the first of the resources of a collection that the caller may not write together, none: -1. Before is their
// states before, nil for those that are created. Rule is the filter that each must pass; nil: none.
func FirstDenied(c *model.Collection, rule func(i int) query.Filter, before, after []model.Record, stored query.Lookup) (int, error) {
	v := writtenStates{collection: c.Base(), before: before, after: after}
	ownCollection := false
	for i := range after {
		if rule(i) == nil {
			continue
		}
		if !ownCollection && readsCollection(rule(i), c) {
			ownCollection = true
			v.index()
		}
		holds, err := query.Holds(rule(i), after[i], v.find(stored, func(j int) model.Record { return after[j] }))
		if err != nil || !holds {
			return i, err
		}
	}
	if !ownCollection {
		return -1, nil
	}
	allowed, err := v.allowed(stored, rule)
	return slices.Index(allowed, false), err
}

// readsCollection reports whether a filter depends on other resources of a collection.
func readsCollection(f query.Filter, c *model.Collection) (reads bool) {
	query.EachRelated(f, func(r *query.Related) { reads = reads || r.Relation.To.Base() == c.Base() })
	return reads
}

func (v *writtenStates) index() {
	v.byID = make(map[model.ID]int, len(v.after))
	for i, record := range v.after {
		if _, twice := v.byID[record.ID(model.IDColumn)]; !twice {
			v.byID[record.ID(model.IDColumn)] = i
		}
	}
}

// find finds resources: those of the request by state, and others by stored.
func (v *writtenStates) find(stored query.Lookup, state func(i int) model.Record) query.Lookup {
	return func(c *model.Collection, id model.ID) (model.Record, error) {
		if i, written := v.byID[id]; written && c.Base() == v.collection {
			return state(i), nil
		}
		return stored(c, id)
	}
}

// allowed finds the resources that can be written one after the other. One that is not allowed yet is
// evaluated again when a resource that it has read is.
func (v *writtenStates) allowed(stored query.Lookup, rule func(i int) query.Filter) ([]bool, error) {
	allowed, waiting := make([]bool, len(v.after)), map[int][]int{}
	next := make([]int, len(v.after))
	for i := range next {
		next[i] = i
	}
	for len(next) > 0 {
		i := next[0]
		next = next[1:]
		if allowed[i] {
			continue
		}
		var read []int
		holds, err := query.Holds(rule(i), v.after[i], v.find(stored, func(j int) model.Record {
			if allowed[j] {
				return v.after[j]
			}
			read = append(read, j)
			return v.before[j]
		}))
		if err != nil {
			return nil, err
		}
		if !holds {
			for _, j := range read {
				waiting[j] = append(waiting[j], i)
			}
			continue
		}
		allowed[i] = true
		next = append(next, waiting[i]...)
		delete(waiting, i)
	}
	return allowed, nil
}
