package reads

import (
	"context"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/include"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/store"
)

// Get reads the columns of one resource that a query makes visible, and the relations that it
// includes. A resource with those has no ETag.
func (r *Reader) Get(ctx context.Context, path Path, id model.ID, q query.Query) (Resource, error) {
	open := r.store.ReadOne
	switch {
	case len(q.Includes) > 0:
		open = r.store.ReadAtLength
	case path.readsParentOfItem():
		open = r.store.Read
	}
	tx, err := open(ctx)
	if err != nil {
		return Resource{}, err
	}
	defer tx.Close()
	return r.GetIn(tx, path, id, q)
}

// usualSize is the bytes of a usual representation. Most are shorter.
const usualSize = 512

// GetIn is Get in a transaction.
func (r *Reader) GetIn(tx *store.Tx, path Path, id model.ID, q query.Query) (Resource, error) {
	if err := path.RequireParentOfItem(Stored(tx)); err != nil {
		return Resource{}, err
	}
	result, c := Resource{ID: id}, path.Collection
	var found bool
	var err error
	if len(q.Includes) > 0 {
		result.Representation, found, err = include.One(tx, c, path.Scope(), id, q)
	} else {
		found, err = tx.View(c, path.Scope(), id, func(row model.Row) {
			result.Representation = c.AppendSome(make([]byte, 0, usualSize), row, q.Visible)
			result.ETag = r.etagOf(c, row.Int(c.RevisionColumn()), r.store.DeclaredIn(c), c.ColumnsTag(q.Visible))
		})
	}
	if err == nil && !found {
		err = NotFound(c, id)
	}
	if err != nil {
		return Resource{}, err
	}
	return result, nil
}

// Judge calls judge with a resource on the path and what it refers to, in one snapshot, so that the rules of
// any caller can be evaluated for it. A resource that does not exist for the caller of the path is 404.
func (r *Reader) Judge(ctx context.Context, path Path, id model.ID, judge func(*auth.Stored) error) error {
	tx, err := r.store.Read(ctx)
	if err != nil {
		return err
	}
	defer tx.Close()
	record, err := path.Get(tx, id)
	if err != nil {
		return err
	}
	return judge(&auth.Stored{Record: record, Find: tx.Find})
}
