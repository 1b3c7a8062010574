package resource

import (
	"context"
	"time"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/include"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/store"
)

// Page is a range of a collection, and what a query includes in its resources, read from one snapshot. It must be closed.
type Page struct {
	// Total is the number of resources without the range, if TotalKnown: it is stored, or was requested.
	Total      int64
	TotalKnown bool
	Point      changelog.Point // where the snapshot is in the change log

	resources  *Resources
	rows       *store.Page
	including  *include.Page // nil: nothing is included
	collection *model.Collection
	visible    model.ColumnSet
	id         model.ID // of the last resource, if nothing is included
	revision   int64
}

// List opens a range of a collection. Exact: count the total of a filtered collection.
func (r *Resources) List(ctx context.Context, path Path, q query.Query, exact bool) (*Page, error) {
	rows, err := r.store.Page(ctx, pageQuery(path, q, exact))
	if err != nil {
		return nil, err
	}
	return r.page(rows, path, q), nil
}

func (r *Resources) page(rows *store.Page, path Path, q query.Query) *Page {
	p := &Page{Total: rows.Total, TotalKnown: rows.TotalKnown, Point: rows.Point, resources: r, rows: rows, collection: path.Collection, visible: q.Visible}
	if len(q.Includes) > 0 {
		p.including = include.NewPage(rows, path.Collection, q)
	}
	return p
}

// Append appends the representation of the next resource. False means that there is none.
func (p *Page) Append(dst []byte) ([]byte, bool, error) {
	if p.including != nil {
		return p.including.Append(dst)
	}
	row, err := p.rows.Next()
	if err != nil || row == nil {
		return dst, false, err
	}
	p.id, p.revision = row.ID(model.IDColumn), row.Int(p.collection.RevisionColumn())
	return p.collection.AppendSome(dst, row, p.visible), true, nil
}

// ID is the id of the last resource, of a page that includes nothing.
func (p *Page) ID() model.ID { return p.id }

// Each calls a function with all resources. Those with related resources have no ETag and no id of their own.
func (p *Page) Each(visit func(Resource) error) error {
	declaredIn, columns := p.resources.store.DeclaredIn(p.collection), p.collection.ColumnsTag(p.visible)
	for {
		text, more, err := p.Append(nil)
		if err != nil || !more {
			return err
		}
		found := Resource{Representation: text}
		if p.including == nil {
			found.ID, found.ETag = p.id, p.resources.etagOf(p.revision, declaredIn, columns)
		}
		if err := visit(found); err != nil {
			return err
		}
	}
}

// Neighbours returns the previous and the next range, see store.Page.
func (p *Page) Neighbours() (previous, next *query.Range, err error) { return p.rows.Neighbours() }

// Extend lets the page be read for as long as its client takes.
func (p *Page) Extend() error { return p.rows.Extend() }

// Close ends the page.
func (p *Page) Close() { p.rows.Close() }

// Parts divides a piece of a page that includes relations into what the database was asked for: its relations, and the list itself.
func (p *Page) Parts(list ListPart) (parts []ListPart) {
	for _, took := range p.including.Took() {
		relation := list
		relation.Include, relation.Took = took.Include, took.Time
		parts = append(parts, relation)
	}
	for _, each := range parts {
		list.Took -= each.Took
	}
	return append(parts, list)
}

func pageQuery(path Path, q query.Query, exact bool) store.PageQuery {
	wanted := store.PageQuery{
		Collection:  path.Collection,
		Parent:      path.Parent,
		Scope:       path.Scope(),
		Filter:      q.Filter,
		Sort:        q.Sort,
		Range:       q.Range,
		Unfiltered:  q.Filter == nil && path.By.Scope(path.Collection) == nil,
		Exact:       exact,
		Interleaved: len(q.Includes) > 0,
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
