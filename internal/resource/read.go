package resource

import (
	"context"

	"github.com/plural-go/plural/schema"
)

// Read reads one resource.
func (r *Resources) Read(ctx context.Context, path Path, id schema.ID) (Resource, error) {
	tx, err := r.store.Read(ctx)
	if err != nil {
		return Resource{}, err
	}
	defer tx.Close()
	resource := Resource{ID: id}
	found, err := tx.View(path.Collection, path.scope(), id, func(row schema.Row) {
		resource.Representation = path.Collection.Append(nil, row)
	})
	if err == nil && !found {
		err = notFound(path.Collection, id)
	}
	return resource, err
}
