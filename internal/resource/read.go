package resource

import (
	"context"

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
