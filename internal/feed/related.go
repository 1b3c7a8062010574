package feed

import (
	"bytes"
	"slices"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// readsRelated reports whether what is seen depends on resources of a collection, as it is stored, by a reference.
func (v *view) readsRelated(c *model.Collection) bool {
	return slices.ContainsFunc(v.related, func(r *query.Related) bool { return r.Relation.To.Base() == c })
}

// changesOthers reports whether an update of a resource may change whether subscribers see the parent in the path, or
// resources of the shape that refer to it. Of one resource that is known, it is found out.
func (v *view) changesOthers(e *changelog.Entry, states *changelog.States) (bool, error) {
	if !v.readsRelated(e.Collection) {
		return false, nil
	}
	if parents := v.parents(); parents != nil {
		if changed, err := changesOne(v.Path.By.Scope(parents), parents, *v.Path.Parent, e, states); err != nil || changed {
			return changed, err
		}
	}
	if v.ID != nil {
		return changesOne(v.scope, v.collection, *v.ID, e, states)
	}
	return mayChange(v.scope, e, states)
}

// changesOne reports whether an update of a resource changes whether another one passes a filter.
func changesOne(filter query.Filter, c *model.Collection, id model.ID, e *changelog.Entry, states *changelog.States) (bool, error) {
	if changed, err := mayChange(filter, e, states); err != nil || !changed {
		return false, err
	}
	passes := func(find query.Lookup) (bool, error) {
		record, err := find(c, id)
		if err != nil || record == nil {
			return false, err
		}
		return query.Holds(filter, record, find)
	}
	before, err := passes(states.Before(e))
	if err != nil {
		return false, err
	}
	after, err := passes(states.After(e))
	return before != after, err
}

// mayChange reports whether an update of a resource may change whether others that refer to it pass a filter. For each
// reference by which the filter reads it, what remains of the filter for those that have it there is compared. If that is the same
// before and after the update, whatever else they have decides.
func mayChange(filter query.Filter, e *changelog.Entry, states *changelog.States) (changed bool, err error) {
	query.EachDirectlyRelated(filter, func(r *query.Related) {
		if changed || err != nil {
			return
		}
		if r.Relation.To.Base() == e.Collection {
			var before, after query.Filter
			if before, err = query.Suppose(filter, r.Relation.Column, e.Before, states.Before(e)); err != nil {
				return
			}
			if after, err = query.Suppose(filter, r.Relation.Column, e.After, states.After(e)); err != nil {
				return
			}
			changed = !bytes.Equal(appendFilter(nil, before), appendFilter(nil, after))
		}
		if !changed { // or of a resource between them
			changed, err = mayChange(query.Both(r.Scope, r.Filter), e, states)
		}
	})
	return changed, err
}
