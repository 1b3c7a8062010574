// Package resource holds the verbs on resources, one file each: create, read,
// list, update and delete. A verb that writes does so, with all that
// follows from it, in one transaction of the store.
package resource

import (
	"context"
	"slices"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

// Resources is the resources of a store.
type Resources struct {
	store *store.Store
	hooks map[hookKey][]Hook

	// AfterFailed, if set, is told of hooks that failed after their commit.
	AfterFailed func(error)
}

// New gives access to the resources of a store.
func New(s *store.Store) *Resources { return &Resources{store: s, hooks: map[hookKey][]Hook{}} }

// Resource is one resource as it goes to a client.
type Resource struct {
	ID             schema.ID
	Representation []byte
}

// identity names a resource.
type identity struct {
	collection *schema.Collection
	id         schema.ID
}

// Path is where a request looks for resources: in a collection, or among those
// of one parent.
type Path struct {
	Collection *schema.Collection
	Parent     *schema.ID // set on a sub-collection
}

// scope is the filter that a path means.
func (p Path) scope() query.Filter {
	if p.Parent == nil {
		return nil
	}
	return query.Compare{Column: p.Collection.ParentLink().Column, Op: query.Equal, Value: schema.IDValue(*p.Parent)}
}

// requireParent answers 404 when the parent of a sub-collection does not exist.
func (p Path) requireParent(tx *store.Tx) error {
	if p.Parent == nil {
		return nil
	}
	parents := p.Collection.ParentLink().To
	found, err := tx.View(parents, nil, *p.Parent, nil)
	if err == nil && !found {
		err = notFound(parents, *p.Parent)
	}
	return err
}

// get reads a resource on the path, or answers 404.
func (p Path) get(tx *store.Tx, id schema.ID) (schema.Record, error) {
	record, err := tx.Get(p.Collection, p.scope(), id)
	if err == nil && record == nil {
		err = notFound(p.Collection, id)
	}
	return record, err
}

func notFound(c *schema.Collection, id schema.ID) *fault.Error {
	return fault.New(fault.CodeNotFound, "There is no resource %s here in %s.", id, c.Name)
}

// checkReferences reports the references of a resource that lead nowhere.
// Before is the resource as it was, nil for a new one: only what has changed is
// looked at. Those that are coming may be referred to as if they were there.
func checkReferences(tx *store.Tx, c *schema.Collection, before, after schema.Record, coming []identity) (fault.List, error) {
	var faults fault.List
	for _, link := range c.Links() {
		target := after[link.Column]
		if target.IsNull() || before != nil && before[link.Column] == target {
			continue
		}
		if slices.Contains(coming, identity{link.To, target.ID()}) {
			continue
		}
		found, err := tx.View(link.To, nil, target.ID(), nil)
		if err != nil {
			return nil, err
		}
		if !found {
			faults.Add(fault.At("/"+c.Columns()[link.Column].Name, fault.CodeUnknownReference, "There is no resource %s in %s.", target.ID(), link.To.Name))
		}
	}
	return faults, nil
}

// Totals gives the number of resources of each collection, from one snapshot.
func (r *Resources) Totals(ctx context.Context, collections []*schema.Collection) ([]int64, error) {
	tx, err := r.store.Read(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Close()
	totals := make([]int64, len(collections))
	for i, c := range collections {
		if totals[i], err = tx.Total(c, nil); err != nil {
			return nil, err
		}
	}
	return totals, nil
}

// Ping reports whether resources can be read.
func (r *Resources) Ping(ctx context.Context) error { return r.store.Ping(ctx) }
