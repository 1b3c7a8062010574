package resource

import (
	"context"

	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

// Kept is an answer that is kept for others who ask the same. Nobody changes it.
type Kept = store.Kept

// Read reads one resource.
func (r *Resources) Read(ctx context.Context, path Path, id schema.ID) (Resource, error) {
	return r.look(ctx, path, id, func(*store.Tx, Resource) {})
}

// Known finds the answer that was made of a resource, if it is still right.
func (r *Resources) Known(path Path, id schema.ID) (Kept, bool) {
	if path.Parent != nil || !path.isWhole() {
		return nil, false
	}
	return r.store.Recall(store.Key{Collection: path.Collection, ID: id})
}

// Answer reads one resource and makes an answer of it, for those who ask for it next too.
func (r *Resources) Answer(ctx context.Context, path Path, id schema.ID, make func(Resource) Kept) (answer Kept, err error) {
	_, err = r.look(ctx, path, id, func(tx *store.Tx, found Resource) {
		if answer = make(found); path.Parent == nil && path.isWhole() {
			tx.Keep(store.Key{Collection: path.Collection, ID: id}, func() Kept { return answer })
		}
	})
	return answer, err
}

// look reads one resource, and hands it over before its snapshot is closed.
func (r *Resources) look(ctx context.Context, path Path, id schema.ID, hand func(*store.Tx, Resource)) (Resource, error) {
	tx, err := r.store.Look(ctx)
	if err != nil {
		return Resource{}, err
	}
	defer tx.Close()
	if err := (&sight{tx: tx}).requireParentOfItem(path); err != nil {
		return Resource{}, err
	}
	resource, c := Resource{}, path.Collection
	found, err := tx.View(c, path.scope(), id, func(row schema.Row) {
		resource = r.Show(path, row)
	})
	switch {
	case err != nil:
		return Resource{}, err
	case !found:
		return Resource{}, notFound(c, id)
	}
	hand(tx, resource)
	return resource, nil
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
