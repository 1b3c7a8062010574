package resource

import (
	"context"

	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/store"
)

// Page is a range of a collection, read from one snapshot, row by row. It must be closed.
type Page = store.Page

// ListOptions says how a collection is listed.
type ListOptions struct {
	Exact    bool   // count the total of a filtered collection
	QuotaKey string // whose quota of reads applies; empty: the program itself, which has none
}

// List opens a range of a collection.
func (r *Resources) List(ctx context.Context, path Path, q query.Query, options ListOptions) (*Page, error) {
	wanted := pageQuery(path, q, options.Exact)
	wanted.QuotaKey, wanted.UseCursor = options.QuotaKey, len(q.Includes) > 0
	return r.store.Page(ctx, wanted)
}

func pageQuery(path Path, q query.Query, exact bool) store.PageQuery {
	wanted := store.PageQuery{
		Collection: path.Collection,
		Parent:     path.Parent,
		Scope:      path.Scope(),
		Filter:     q.Filter,
		Sort:       q.Sort,
		Range:      q.Range,
		Unfiltered: q.Filter == nil && path.By.Scope(path.Collection) == nil,
		Exact:      exact,
	}
	if path.Parent != nil {
		wanted.Check = path.RequireParent
	}
	return wanted
}
