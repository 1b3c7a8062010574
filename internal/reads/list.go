package reads

import (
	"context"
	"time"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/include"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/store"
)

// List is a range of a collection, and what a query includes in its resources, read from one snapshot. It must be closed.
type List struct {
	// Total is the number of resources without the range, if TotalKnown: it is stored, or was requested.
	Total      int64
	TotalKnown bool
	Point      changelog.Point // where the snapshot is in the change log

	reader     *Reader
	rows       *store.Page
	including  *include.Renderer // nil: nothing is included
	collection *model.Collection
	visible    model.ColumnSet
	row        model.Row // of the last resource, until the next one; nil: there was none, or something is included
}

// List opens a range of a collection. Exact: count the total of a filtered collection.
func (r *Reader) List(ctx context.Context, path Path, q query.Query, exact bool) (*List, error) {
	rows, err := r.store.Page(ctx, PageQuery(path, q, exact))
	if err != nil {
		return nil, err
	}
	return r.list(rows, path, q), nil
}

// ListIn opens a range of a collection in a transaction.
func (r *Reader) ListIn(tx *store.Tx, path Path, q query.Query, exact bool) (*List, error) {
	rows, err := tx.Page(PageQuery(path, q, exact))
	if err != nil {
		return nil, err
	}
	return r.list(rows, path, q), nil
}

func (r *Reader) list(rows *store.Page, path Path, q query.Query) *List {
	l := &List{Total: rows.Total, TotalKnown: rows.TotalKnown, Point: rows.Point, reader: r, rows: rows, collection: path.Collection, visible: q.Visible}
	if len(q.Includes) > 0 {
		l.including = include.OfPage(rows, path.Collection, q)
	}
	return l
}

// Append appends the representation of the next resource. False means that there is none.
func (l *List) Append(dst []byte) ([]byte, bool, error) {
	if l.including != nil {
		return l.including.Append(dst)
	}
	var err error
	if l.row, err = l.rows.Next(); err != nil || l.row == nil {
		return dst, false, err
	}
	return l.collection.AppendSome(dst, l.row, l.visible), true, nil
}

// ID is the id of the last resource, of a list that includes nothing.
func (l *List) ID() model.ID { return l.row.ID(model.IDColumn) }

// Each calls a function with all resources. Those with related resources have no ETag and no id of their own.
func (l *List) Each(visit func(Resource) error) error {
	declaredIn, columns := l.reader.store.DeclaredIn(l.collection), l.collection.ColumnsTag(l.visible)
	for {
		text, more, err := l.Append(nil)
		if err != nil || !more {
			return err
		}
		found := Resource{Representation: text}
		if l.including == nil {
			found.ID, found.ETag = l.ID(), l.reader.etagOf(l.collection, l.row.Int(l.collection.RevisionColumn()), declaredIn, columns)
		}
		if err := visit(found); err != nil {
			return err
		}
	}
}

// Neighbours returns the previous and the next range, see store.Page.
func (l *List) Neighbours() (previous, next *query.Range, err error) { return l.rows.Neighbours() }

// Extend lets the list be read for as long as its client takes.
func (l *List) Extend() error { return l.rows.Extend() }

// Close ends the list.
func (l *List) Close() { l.rows.Close() }

// Parts divides a piece of a list that includes relations into what the database was asked for: its relations, and the list itself.
func (l *List) Parts(list ListPart) (parts []ListPart) {
	for _, took := range l.including.Took() {
		relation := list
		relation.Include, relation.Took = took.Include, took.Time
		parts = append(parts, relation)
	}
	for _, each := range parts {
		list.Took -= each.Took
	}
	return append(parts, list)
}

// PageQuery asks for a range of the resources on a path.
func PageQuery(path Path, q query.Query, exact bool) store.PageQuery {
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
		wanted.Check = func(tx *store.Tx) error { return path.RequireParent(Stored(tx)) }
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
func (r *Reader) Explain(ctx context.Context, p ListPart) (sql string, plan []string, err error) {
	if p.Include != nil {
		return r.store.ExplainRelated(ctx, p.Include)
	}
	return r.store.Explain(ctx, PageQuery(p.Path, p.Query, false), p.Piece > 1)
}
