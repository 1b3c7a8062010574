package store

import (
	"context"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/query"
)

// Explain returns the statement of a list and its plan, without what a cursor, a negative limit, the offset index and related or
// searched ids add to it. Neither contains values of the request.
func (s *Store) Explain(ctx context.Context, q PageQuery) (sql string, plan []string, err error) {
	tx, err := s.read(ctx, db.ShortRead)
	if err != nil {
		return "", nil, err
	}
	defer tx.Close()
	selection := newPage(q).selection
	if q.Range.Anchor == query.AtOffset {
		selection.Skip = q.Range.Offset
	}
	selection.Filter = searchByRow(q.Collection, selection.Filter, selection.Order)
	statement := tx.store.sql.Rows(q.Collection, selection)
	plan, err = tx.conn.Explain(statement.String(), len(statement.Args))
	return statement.String(), plan, tx.fault(err)
}
