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
		resource.ETag = r.etag(path, row.Int(c.RevisionColumn()))
		if unchanged, refused = condition.AllowsReading(resource.ETag); !unchanged {
			resource.Representation = c.AppendSome(nil, row, path.By.Visible(c))
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

// Result reads what a write has left that was done in the transaction of a later
// revision: the resource as it was then, also if others have changed it since. False
// means that nobody remembers.
func (r *Resources) Result(tx *store.Tx, write Write, id schema.ID, revision int64) (result Resource, found bool, err error) {
	c := write.Path.Collection
	change, err := tx.ChangedBefore(revision, c, id)
	if err != nil || change == nil {
		return Resource{}, false, err
	}
	record, err := c.Restore(change.Representation)
	if err != nil {
		return Resource{}, false, err
	}
	result = Resource{ID: id, Representation: c.AppendSome(nil, record, write.Path.By.Visible(c))}
	if write.Verb != Delete {
		result.ETag = r.etag(write.Path, change.Position.Revision)
	}
	return result, true, nil
}
