package resource

import (
	"context"

	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/store"
)

// Page is a range of a collection, read from one snapshot, row by row. It must be closed.
type Page = store.Page

// List opens a range of a collection. Exact: count the total of a filtered collection.
func (r *Resources) List(ctx context.Context, path Path, q query.Query, exact bool) (*Page, error) {
	wanted := pageQuery(path, q, exact)
	wanted.UseCursor = len(q.Includes) > 0
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

// DescribeList describes the list of a query without values, for logs: the conditions of path, caller and request that
// must hold, and the sort.
func DescribeList(path Path, q query.Query) (filter, sort []string) {
	return query.Conditions(path.Collection, query.Both(path.Scope(), q.Filter)), query.SortNames(path.Collection, q.Sort)
}

// Explain returns the statement of a list, and its plan. Neither contains values.
func (r *Resources) Explain(ctx context.Context, path Path, q query.Query) (sql string, plan []string, err error) {
	return r.store.Explain(ctx, pageQuery(path, q, false))
}
