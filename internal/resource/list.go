package resource

import (
	"context"

	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/store"
)

// Listing is a range of a collection, read from one snapshot, row by row. It
// must be closed.
type Listing = store.Page

// ListOptions says how a collection is listed.
type ListOptions struct {
	Exact  bool   // the total of a filtered collection is counted
	Caller string // who asks, as each has a share of the reads; empty: the program itself
}

// List opens a range of a collection.
func (r *Resources) List(ctx context.Context, path Path, q query.Query, options ListOptions) (*Listing, error) {
	page := pageOf(path, q, options.Exact)
	page.Caller, page.Held = options.Caller, len(q.Includes) > 0
	return r.store.Page(ctx, page)
}

func pageOf(path Path, q query.Query, exact bool) store.PageQuery {
	page := store.PageQuery{
		Collection: path.Collection, Parent: path.Parent, Scope: path.Scope(), Filter: q.Filter, Sort: q.Sort, Range: q.Range,
		Unfiltered: q.Filter == nil && path.By.Rows(path.Collection) == nil, Exact: exact,
	}
	if path.Parent != nil {
		page.Before = func(tx *store.Tx) error { return (&lookup{tx: tx}).requireParent(path) }
	}
	return page
}
