package store

import (
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/statement"
)

// Rows is a stream of resources. It must be closed before its transaction is
// used for anything else, unless it is read by a cursor.
type Rows struct {
	model.Row
	rows       db.Rows
	tx         *Tx
	collection *model.Collection
	left       int64                // rows that may still be returned
	rest       *statement.Selection // follows; nil: none
	peeked     bool                 // the next row was read already
	useCursor  bool                 // other statements are run between the rows
}

// Select starts a stream of a selection.
func (t *Tx) Select(c *model.Collection, selection statement.Selection) (*Rows, error) {
	return t.selectRows(c, selection, false)
}

// selectRows also starts a stream with a cursor: other statements can be run between two calls of Next.
func (t *Tx) selectRows(c *model.Collection, selection statement.Selection, useCursor bool) (*Rows, error) {
	r := &Rows{tx: t, collection: c, left: selection.Take, useCursor: useCursor}
	if selection.Skip == 0 {
		selection, r.rest = selection.Split(c)
	}
	return r, r.open(selection)
}

func (r *Rows) open(selection statement.Selection) (err error) {
	s := r.tx.store.sql.Rows(r.collection, selection)
	if r.useCursor {
		r.rows, err = r.tx.conn.Cursor(s.String(), s.Args...)
	} else {
		r.rows, err = r.tx.conn.Query(s.String(), s.Args...)
	}
	r.Row = r.rows
	return r.tx.fault(err)
}

// Next moves to the next resource. False means that there is none.
func (r *Rows) Next() (bool, error) {
	if r.peeked {
		r.peeked = false
		return true, nil
	}
	more, err := r.rows.Next()
	if err != nil {
		return false, r.tx.fault(err)
	}
	if more {
		r.left--
		return true, nil
	}
	if r.rest == nil || r.left == 0 {
		return false, nil
	}
	r.Close()
	rest := *r.rest
	rest.Take, r.rest = r.left, nil
	if err := r.open(rest); err != nil {
		return false, err
	}
	return r.Next()
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
	s := t.store.sql.Columns(c, t.store.tables[c].Columns[model.IDColumn], selection)
	found, err = t.one(s, func(row model.Row) { id = row.ID(0) })
	return id, found, err
}

// Any reports whether a selection has a resource.
func (t *Tx) Any(c *model.Collection, selection statement.Selection) (found bool, err error) {
	return t.one(t.store.sql.Any(c, selection), nil)
}

// PlaceBefore finds the place n resources before the end of a selection, n > 0, or nil when there
// are fewer. More reports whether another one precedes it.
func (t *Tx) PlaceBefore(c *model.Collection, selection statement.Selection, n int64) (place statement.Place, more bool, err error) {
	whole := selection.FromEnd()
	whole.Skip, whole.Take = n-1, 2
	if first, rest := whole.Split(c); rest != nil {
		// Usually found without the nulls, which come last.
		if place, more, err = t.firstOf(c, first); err != nil || more {
			return place, more, err
		}
	}
	return t.firstOf(c, whole)
}

// lastIDs finds the ids of the last n resources of a selection, the last one first.
func (t *Tx) lastIDs(c *model.Collection, selection statement.Selection, n int64) (ids []model.ID, err error) {
	whole := selection.FromEnd()
	whole.Take = n
	err = t.each(t.store.sql.Columns(c, t.store.tables[c].Columns[model.IDColumn], whole), func(row model.Row) { ids = append(ids, row.ID(0)) })
	return ids, err
}

// firstOf returns the place of the first resource of a selection, and whether there is a
// second one.
func (t *Tx) firstOf(c *model.Collection, selection statement.Selection) (place statement.Place, more bool, err error) {
	s := t.store.sql.Rows(c, selection)
	err = t.eachWhile(s, func(row model.Row) bool {
		if place != nil {
			more = true
			return false
		}
		place = selection.Order.PlaceOf(c, row)
		return true
	})
	return place, more, err
}
