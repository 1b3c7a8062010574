package store

import (
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/statement"
)

// Rows is a stream of resources. It must be closed before its transaction is
// used for anything else, unless it is read by a cursor.
type Rows struct {
	model.Row
	rows       db.Rows
	tx         *Tx
	collection *model.Collection
	peeked     bool // the next row was read already
}

// Select starts a stream of a selection.
func (t *Tx) Select(c *model.Collection, selection statement.Selection) (*Rows, error) {
	return t.selectRows(c, selection, false)
}

// selectRows also starts a stream with a cursor: other statements can be run between two calls of Next.
func (t *Tx) selectRows(c *model.Collection, selection statement.Selection, interleaved bool) (*Rows, error) {
	s, start := t.bound.sql.Rows(c, selection), t.conn.Query
	if interleaved {
		start = t.conn.Cursor
	}
	rows, err := start(s.String(), s.Args...)
	return &Rows{Row: rows, rows: rows, tx: t, collection: c}, t.fault(err)
}

// Next moves to the next resource. False means that there is none.
func (r *Rows) Next() (bool, error) {
	if r.peeked {
		r.peeked = false
		return true, nil
	}
	more, err := r.rows.Next()
	return more, r.tx.fault(err)
}

// Close ends the stream.
func (r *Rows) Close() {
	if r.rows != nil {
		r.rows.Close()
	}
}

// IDAt is the id of the resource at Skip of a selection, if there is one.
func (t *Tx) IDAt(c *model.Collection, selection statement.Selection) (id model.ID, found bool, err error) {
	selection.Take = 1
	s := t.bound.sql.Columns(c, t.bound.table(c).Columns[model.IDColumn], selection)
	found, err = t.one(s, func(row model.Row) { id = row.ID(0) })
	return id, found, err
}

// Any reports whether a selection has a resource.
func (t *Tx) Any(c *model.Collection, selection statement.Selection) (found bool, err error) {
	return t.one(t.bound.sql.Any(c, selection), nil)
}

// PlaceBefore finds the place n resources before the end of a selection, n > 0, or nil when there
// are fewer. More reports whether another one precedes it.
func (t *Tx) PlaceBefore(c *model.Collection, selection statement.Selection, n int64) (place statement.Place, more bool, err error) {
	whole := selection.FromEnd()
	whole.Skip, whole.Take = n-1, 2
	err = t.eachWhile(t.bound.sql.Rows(c, whole), func(row model.Row) bool {
		if place != nil {
			more = true
			return false
		}
		place = whole.Order.PlaceOf(c, row)
		return true
	})
	return place, more, err
}

// placeOf is the place of a resource in an order, nil if the scope does not have it.
func (t *Tx) placeOf(c *model.Collection, scope query.Filter, id model.ID, order statement.Order) (place statement.Place, err error) {
	byID := query.Compare{Column: model.IDColumn, Op: query.Equal, Value: model.IDValue(id)}
	one := statement.Selection{Plan: statement.Plan{Filter: query.Both(scope, byID)}, Order: order, Take: 1}
	_, err = t.one(t.bound.sql.Rows(c, one), func(row model.Row) { place = order.PlaceOf(c, row) })
	return place, err
}

// lastIDs finds the ids of the last n resources of a selection, the last one first.
func (t *Tx) lastIDs(c *model.Collection, selection statement.Selection, n int64) (ids []model.ID, err error) {
	whole := selection.FromEnd()
	whole.Take = n
	err = t.each(t.bound.sql.Columns(c, t.bound.table(c).Columns[model.IDColumn], whole), func(row model.Row) { ids = append(ids, row.ID(0)) })
	return ids, err
}
