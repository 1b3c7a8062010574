package resource

import (
	"context"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/store"
)

// Read reads one resource.
func (r *Resources) Read(ctx context.Context, path Path, id model.ID) (Resource, error) {
	tx, err := r.store.ReadOne(ctx)
	if err != nil {
		return Resource{}, err
	}
	defer tx.Close()
	if err := (&lookup{tx: tx}).requireParentOfItem(path); err != nil {
		return Resource{}, err
	}
	resource, c := Resource{}, path.Collection
	found, err := tx.View(c, path.Scope(), id, func(row model.Row) {
		resource = r.Show(path, row)
	})
	switch {
	case err != nil:
		return Resource{}, err
	case !found:
		return Resource{}, NotFound(c, id)
	}
	return resource, nil
}

// Result returns the resource that a write left, as of a later revision of the same
// transaction, even if others have changed it since. False means that the change log no longer
// has it.
func (r *Resources) Result(tx *store.Tx, write Write, id model.ID, revision int64) (result Resource, found bool, err error) {
	c := write.Path.Collection
	change, err := tx.ChangedBefore(revision, c, id)
	if err != nil || change == nil {
		return Resource{}, false, err
	}
	record := change.After
	if record == nil {
		record = change.Before // of a deletion
	}
	result = Resource{ID: id, Created: write.Verb == Create, Representation: c.AppendSome(nil, record, write.Path.By.Visible(c))}
	if write.Verb != Delete {
		result.ETag = r.etag(write.Path, change.Revision)
	}
	return result, true, nil
}
