// Package reads reads what a caller may see: lists, groups and single resources, each from one snapshot. Writes,
// in package resource, use its paths, and return resources as it does.
package reads

import (
	"context"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/headers"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

// Reader reads the resources of a store.
type Reader struct {
	store *store.Store
}

// New returns the reader of a store.
func New(s *store.Store) *Reader { return &Reader{s} }

// Resource is one resource as sent to a client.
type Resource struct {
	ID             model.ID
	Representation []byte
	ETag           string // empty for a deleted resource
	Created        bool   // by the write that returns it
}

// ETag is the entity tag of a resource for the caller of a path, with the schema version in which its collection was declared.
func (r *Reader) ETag(path Path, revision, declaredIn int64) string {
	return r.etagOf(path.Collection, revision, declaredIn, path.By.ColumnsTag(path.Collection))
}

func (r *Reader) etagOf(c *model.Collection, revision, declaredIn int64, columns string) string {
	return headers.ETag(revision, declaredIn, r.store.HistoryTag(), c.Schema().Versions().Newest, r.store.ComputedBy(c), columns)
}

// Totals returns the number of resources of each collection, from one snapshot: nil where the
// caller may not list the collection, and where the resources would have to be counted: a rule
// restricts it, or it is the collection of changes.
func (r *Reader) Totals(ctx context.Context, by *auth.Permit, collections []*model.Collection) ([]*int64, error) {
	tx, err := r.store.Read(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Close()
	totals := make([]*int64, len(collections))
	for i, c := range collections {
		if !by.May(schema.MayList, c) || by.Scope(c) != nil || c == r.store.Schema().Changes() {
			continue
		}
		total, err := tx.Total(c, nil)
		if err != nil {
			return nil, err
		}
		totals[i] = &total
	}
	return totals, nil
}
