package resource

import (
	"context"
	"time"

	"github.com/plural-go/plural/internal/model"
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

// ListPart is what the database was asked for a piece of a list: its resources, or those of a relation that it includes.
type ListPart struct {
	Path    Path
	Query   query.Query
	Piece   int            // the first one is 1
	Include *query.Include // nil: the list itself
	Took    time.Duration
}

// Of is the part of the same piece for a relation.
func (p ListPart) Of(include *query.Include, took time.Duration) ListPart {
	p.Include, p.Took = include, took
	return p
}

// Collection is where the resources are.
func (p ListPart) Collection() *model.Collection {
	if p.Include != nil {
		return p.Include.Relation.To
	}
	return p.Path.Collection
}

// Relation is the path of the relation; empty: it is the list itself.
func (p ListPart) Relation() string { return query.IncludePath(p.Query.Includes, p.Include) }

// Describe describes the part without values, for logs: the conditions of path, caller and request that must hold, and the sort.
func (p ListPart) Describe() (filter, sort []string) {
	c := p.Collection()
	if p.Include == nil {
		return query.Conditions(c, query.Both(p.Path.Scope(), p.Query.Filter)), query.SortNames(c, p.Query.Sort)
	}
	column := p.Include.Relation.Column
	if p.Include.Relation.One {
		column = model.IDColumn
	}
	related := query.Compare{Column: column, Op: query.Equal}
	return query.Conditions(c, query.And{related, query.Both(query.Both(query.All, p.Include.Scope), p.Include.Filter)}), query.SortNames(c, p.Include.Sort)
}

// Explain returns the statement of a part, and its plan. Neither contains values.
func (r *Resources) Explain(ctx context.Context, p ListPart) (sql string, plan []string, err error) {
	if p.Include != nil {
		return r.store.ExplainRelated(ctx, p.Include)
	}
	return r.store.Explain(ctx, pageQuery(p.Path, p.Query, false), p.Piece > 1)
}
