package resource

import (
	"context"

	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

// Read reads one resource. Its representation is left out when the condition says
// that the client has it already.
func (r *Resources) Read(ctx context.Context, path Path, id schema.ID, condition Condition) (Resource, error) {
	tx, err := r.store.Look(ctx)
	if err != nil {
		return Resource{}, err
	}
	defer tx.Close()
	resource := Resource{ID: id}
	c := path.Collection
	var unchanged bool
	var refused error
	found, err := tx.View(c, path.scope(), id, func(row schema.Row) {
		resource.ETag = r.etag(c, row.Int(c.RevisionColumn()))
		if unchanged, refused = condition.AllowsReading(resource.ETag); !unchanged {
			resource.Representation = c.Append(nil, row)
		}
	})
	switch {
	case err != nil:
		return Resource{}, err
	case !found:
		return Resource{}, notFound(c, id)
	}
	return resource, refused
}

// Result reads what a write that was done has left: the resource as it is now, or
// as it was when it was deleted. False means that there is nothing left of it.
func (r *Resources) Result(tx *store.Tx, write Write, id schema.ID) (result Resource, found bool, err error) {
	c := write.Path.Collection
	if write.Verb == Delete {
		record, err := tx.Deleted(c, id)
		if err != nil || record == nil {
			return Resource{}, false, err
		}
		return Resource{ID: id, Representation: c.Append(nil, record)}, true, nil
	}
	found, err = tx.View(c, nil, id, func(row schema.Row) {
		result = Resource{ID: id, Representation: c.Append(nil, row), ETag: r.etag(c, row.Int(c.RevisionColumn()))}
	})
	return result, found, err
}
