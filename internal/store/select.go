package store

import (
	"math"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// Selection is a range of resources in an order.
type Selection struct {
	Filter query.Filter
	Order  Order
	From   Place // start; nil: the beginning
	Until  Place // end, exclusive; nil: the end
	Skip   int64
	Take   int64

	// Total is the number of resources without From, Until, Skip and Take; zero: it is not known.
	Total int64

	// AfterFrom: the selection starts after From. Otherwise it includes a resource at From.
	AfterFrom bool

	// withoutNulls excludes resources that have no value of the first sort key.
	withoutNulls bool
}

// split divides a selection that no single index range can serve: in descending order, the
// smaller values and then the nulls follow a value. Rest is nil if the selection is one range.
func (s Selection) split(c *model.Collection) (first Selection, rest *Selection) {
	key := s.Order[0]
	if s.From == nil || s.From[0].IsNull() || !key.Descending || c.Columns()[key.Column].NotNull {
		return s, nil
	}
	first, nulls := s, s
	first.withoutNulls = true
	nulls.Filter = query.Both(s.Filter, query.IsNull{Column: key.Column})
	nulls.From = nil
	return first, &nulls
}

// Rows is a stream of resources. It must be closed before its transaction is
// used for anything else, unless it is read by a cursor.
type Rows struct {
	model.Row
	rows       db.Rows
	tx         *Tx
	collection *model.Collection
	left       int64      // rows that may still be returned
	rest       *Selection // follows; nil: none
	peeked     bool       // the next row was read already
	useCursor  bool       // other statements are run between the rows
}

// Select starts a stream of a selection.
func (t *Tx) Select(c *model.Collection, selection Selection) (*Rows, error) {
	return t.selectRows(c, selection, false)
}

// selectRows also starts a stream with a cursor: other statements can be run between two calls of Next.
func (t *Tx) selectRows(c *model.Collection, selection Selection, useCursor bool) (*Rows, error) {
	r := &Rows{tx: t, collection: c, left: selection.Take, useCursor: useCursor}
	if selection.Skip == 0 {
		selection, r.rest = selection.split(c)
	}
	return r, r.open(selection)
}

func (r *Rows) open(selection Selection) (err error) {
	s := r.tx.rowsStatement(r.collection, selection)
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
func (t *Tx) IDAt(c *model.Collection, selection Selection) (id model.ID, found bool, err error) {
	selection.Take = 1
	s := t.selectStatement(c, t.store.tables[c].Columns[model.IDColumn], selection)
	found, err = t.one(s, func(row model.Row) { id = row.ID(0) })
	return id, found, err
}

// Any reports whether a selection has a resource.
func (t *Tx) Any(c *model.Collection, selection Selection) (found bool, err error) {
	s := t.store.statement(c, "SELECT 1 FROM ")
	s.from(selection.Filter)
	s.where(selection)
	s.Write(" LIMIT 1")
	return t.one(s, nil)
}

// PlaceBefore finds the place n resources before the end of a selection, n > 0, or nil when there
// are fewer. More reports whether another one precedes it.
func (t *Tx) PlaceBefore(c *model.Collection, selection Selection, n int64) (place Place, more bool, err error) {
	whole := selection.fromEnd()
	whole.Skip, whole.Take = n-1, 2
	if first, rest := whole.split(c); rest != nil {
		// Usually found without the nulls, which come last.
		if place, more, err = t.firstOf(c, first); err != nil || more {
			return place, more, err
		}
	}
	return t.firstOf(c, whole)
}

// lastIDs finds the ids of the last n resources of a selection, the last one first.
func (t *Tx) lastIDs(c *model.Collection, selection Selection, n int64) (ids []model.ID, err error) {
	whole := selection.fromEnd()
	whole.Take = n
	err = t.each(t.selectStatement(c, t.store.tables[c].Columns[model.IDColumn], whole), func(row model.Row) bool {
		ids = append(ids, row.ID(0))
		return true
	})
	return ids, err
}

// fromEnd is the selection up to its end, read from there: its exclusive end becomes the start.
func (s Selection) fromEnd() Selection {
	return Selection{Filter: s.Filter, Order: s.Order.reversed(), From: s.Until, AfterFrom: true}
}

// firstOf returns the place of the first resource of a selection, and whether there is a
// second one.
func (t *Tx) firstOf(c *model.Collection, selection Selection) (place Place, more bool, err error) {
	s := t.rowsStatement(c, selection)
	err = t.each(s, func(row model.Row) bool {
		if place != nil {
			more = true
			return false
		}
		place = selection.Order.PlaceOf(c, row)
		return true
	})
	return place, more, err
}

// maxByID is the largest number of rows for which the ids are found first: see rowsStatement.
const maxByID = 1000

// rowsStatement selects whole resources. If many are skipped or sorted for a few, the ids are
// found first from an index, and only those few resources are read.
func (t *Tx) rowsStatement(c *model.Collection, selection Selection) *statement {
	table := t.store.tables[c]
	sorted := len(selection.Order) > 1
	skips := selection.Skip > 0 && (sorted || selection.Filter != nil)
	if selection.Take > maxByID || !skips && !(sorted && selection.Order[0].Descending) {
		return t.selectStatement(c, table.All, selection)
	}
	id := table.Columns[model.IDColumn]
	s := t.store.statement(c, "SELECT ", table.All, " FROM ", table.Name, " WHERE ", id, " IN (")
	s.selection(id, selection.fromNearerEnd())
	s.Write(")")
	s.order(selection.Order)
	return s
}

// fromNearerEnd is the same resources in the reversed order, if fewer are skipped there.
func (s Selection) fromNearerEnd() Selection {
	if behind := s.Total - s.Skip - s.Take; s.Total > 0 && s.From == nil && s.Until == nil && behind >= 0 && behind < s.Skip {
		s.Order, s.Skip = s.Order.reversed(), behind
	}
	return s
}

func (t *Tx) selectStatement(c *model.Collection, columns string, selection Selection) *statement {
	s := t.store.statement(c)
	s.selection(columns, selection)
	return s
}

// selection writes a SELECT of columns.
func (s *statement) selection(columns string, selection Selection) {
	s.Write("SELECT ", columns, " FROM ")
	s.from(selection.Filter)
	s.where(selection)
	if _, ok := ordered(selection.Filter); ok {
		s.Write(" ORDER BY ", db.SearchMatch, db.Choose(selection.Order[0].Descending, " DESC", ""))
	} else {
		s.order(selection.Order)
	}
	if selection.Take < math.MaxInt64 || selection.Skip > 0 {
		s.Write(" LIMIT ")
		s.Arg(model.IntValue(selection.Take))
	}
	if selection.Skip > 0 {
		s.Write(" OFFSET ")
		s.Arg(model.IntValue(selection.Skip))
	}
}
