package resource

import (
	"context"

	"github.com/plural-go/plural/internal/query"
)

// DescribeList describes the list of a query without values, for logs: the conditions of path, caller and request that
// must hold, and the sort.
func DescribeList(path Path, q query.Query) (filter, sort []string) {
	return query.Conditions(path.Collection, query.Both(path.Scope(), q.Filter)), query.SortNames(path.Collection, q.Sort)
}

// Explain returns the statement of a list, and its plan. Neither contains values.
func (r *Resources) Explain(ctx context.Context, path Path, q query.Query) (sql string, plan []string, err error) {
	return r.store.Explain(ctx, pageQuery(path, q, false))
}
