package store

import (
	"context"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/statement"
)

// Explain returns the statement of a list and its plan, or those of a later piece of it, without what a negative limit, the offset
// index and related or searched ids add to it. Neither contains values of the request.
func (s *Store) Explain(ctx context.Context, q PageQuery, later bool) (sql string, plan []string, err error) {
	selection := newPage(q).selection
	switch {
	case later || q.Range.Anchor == query.AtCursor && q.Range.Limit > 0:
		selection.From = make(statement.Place, len(selection.Order))
		for i := range selection.From {
			selection.From[i] = model.IntValue(0) // any value but null: only its placeholder is used
		}
	case q.Range.Anchor == query.AtOffset:
		selection.Skip = q.Range.Offset
	}
	selection.ByRow = comparesWords(q.Collection, selection.Order)
	return s.explain(ctx, func(t *Tx) *statement.Statement { return t.bound.sql.Rows(q.Collection, selection) })
}

// ExplainRelated returns the statement of an included relation, for one resource, and its plan.
func (s *Store) ExplainRelated(ctx context.Context, i *query.Include) (sql string, plan []string, err error) {
	return s.explain(ctx, func(tx *Tx) *statement.Statement {
		return tx.relatedStatement(&Included{Include: i, plan: statement.Plan{Filter: query.Both(i.Scope, i.Filter)}}, make([]model.ID, 1))
	})
}

func (s *Store) explain(ctx context.Context, write func(*Tx) *statement.Statement) (sql string, plan []string, err error) {
	tx, err := s.read(ctx, db.ShortRead)
	if err != nil {
		return "", nil, err
	}
	defer tx.Close()
	written := write(tx)
	plan, err = tx.conn.Explain(written.String(), len(written.Args))
	return written.String(), plan, tx.fault(err)
}
