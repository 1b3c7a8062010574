package resource

import (
	"context"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/store"
)

// ReadPart reads the columns of one resource that a query makes visible, and the relations that it
// includes. A resource with those has no ETag.
func (r *Resources) ReadPart(ctx context.Context, path Path, id model.ID, q query.Query) (Resource, error) {
	open := r.store.ReadOne
	if len(q.Includes) > 0 {
		open = r.store.Read
	}
	tx, err := open(ctx)
	if err != nil {
		return Resource{}, err
	}
	defer tx.Close()
	return r.readPart(tx, path, id, q)
}

func (r *Resources) readPart(tx *store.Tx, path Path, id model.ID, q query.Query) (Resource, error) {
	if err := (&lookup{tx: tx}).requireParentOfItem(path); err != nil {
		return Resource{}, err
	}
	resource, c := Resource{ID: id}, path.Collection
	whole := newChunk(c, q.Visible, q.Includes)
	found, err := tx.View(c, path.Scope(), id, func(row model.Row) {
		if len(q.Includes) > 0 {
			whole.add(row)
			return
		}
		resource.Representation = c.AppendSome(nil, row, q.Visible)
		resource.ETag = r.etagOf(row.Int(c.RevisionColumn()), r.store.DeclaredIn(c), c.ColumnsTag(q.Visible))
	})
	switch {
	case err != nil:
		return Resource{}, err
	case !found:
		return Resource{}, NotFound(c, id)
	case len(q.Includes) == 0:
		return resource, nil
	}
	if err := whole.load(tx, 0, 1); err != nil {
		return Resource{}, err
	}
	resource.Representation, err = whole.append(nil, 0)
	return resource, err
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
