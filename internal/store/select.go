package store

import (
	"math"
	"strconv"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// Selection is a run of resources in an order.
type Selection struct {
	Filter query.Filter
	Order  Order
	From   Place // starts there; nil: at the beginning
	Behind bool  // starts behind From instead
	Until  Place // ends before it; nil: goes on to the end
	Skip   int64
	Take   int64

	// withoutNulls leaves out those that have no value of the first sort key.
	withoutNulls bool
}

// split divides a selection that no single range of an index can serve: what is
// behind a value in descending order is the smaller values, and then the nulls.
// Rest is nil when the selection is one range already.
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
// used for anything else.
type Rows struct {
	rows
	tx         *Tx
	collection *model.Collection
	left       int64      // that may still be given
	rest       *Selection // to go on with
}

// Select starts a stream of a selection.
func (t *Tx) Select(c *model.Collection, selection Selection) (*Rows, error) {
	r := &Rows{tx: t, collection: c, left: selection.Take}
	if selection.Skip == 0 {
		selection, r.rest = selection.split(c)
	}
	return r, r.open(selection)
}

func (r *Rows) open(selection Selection) (err error) {
	s := r.tx.rowsStatement(r.collection, selection)
	r.rows, err = r.tx.conn.query(s.String(), s.args...)
	return r.tx.fault(err)
}

// Next goes to the next resource. False means that there is none.
func (r *Rows) Next() (bool, error) {
	more, err := r.next()
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
		r.rows.close()
	}
}

// Front is the beginning of a collection, read by one query.
type Front struct {
	Rows     *Rows
	Total    int64
	After    model.ID // the first resource behind it
	HasAfter bool
}

// MaxFront is the largest Front: what is behind it is found by skipping it.
const MaxFront = 100

// Front reads a beginning of a collection, if the database can do so faster than by a query
// for each thing that is to be known of it. Nil means that it cannot. Whatever is taken, it
// is a part of the same number of resources: a plan for any number would be one for many.
func (t *Tx) Front(c *model.Collection, order Order, take int64) (*Front, error) {
	direct, ok := t.conn.(fronter)
	if !ok {
		return nil, nil
	}
	table := t.store.tables[c]
	first := func(columns string, n int) string {
		s := t.store.statement(c, "SELECT ", columns, " FROM ", table.name)
		s.order(order)
		s.write(" LIMIT ", strconv.Itoa(n))
		return s.String()
	}
	front := &Front{}
	rows, err := direct.front(func(row model.Row) {
		front.Total = row.Int(0)
		if front.HasAfter = !row.Null(1); front.HasAfter {
			front.After = row.ID(1)
		}
	}, []string{
		totalOf("'"+c.Name+"'", "''"),
		"(SELECT * FROM (" + first(table.columns[model.IDColumn], MaxFront+1) + ") AS f LIMIT 1 OFFSET $1)",
	}, first(table.all, MaxFront), take)
	if err != nil || rows == nil {
		return nil, t.fault(err)
	}
	front.Rows = &Rows{rows: rows, tx: t, collection: c, left: take}
	return front, nil
}

// IDAt is the id of the resource at Skip of a selection, if there is one.
func (t *Tx) IDAt(c *model.Collection, selection Selection) (id model.ID, found bool, err error) {
	selection.Take = 1
	s := t.selectStatement(c, t.store.tables[c].columns[model.IDColumn], selection)
	found, err = one(t.conn, func(row model.Row) { id = row.ID(0) }, s.String(), s.args...)
	return id, found, t.fault(err)
}

// Any reports whether a selection has a resource, whichever it is.
func (t *Tx) Any(c *model.Collection, selection Selection) (found bool, err error) {
	s := t.store.statement(c, "SELECT 1 FROM ", t.store.tables[c].name)
	s.where(selection)
	s.write(" LIMIT 1")
	found, err = one(t.conn, nil, s.String(), s.args...)
	return found, t.fault(err)
}

// Back finds the place n resources before the end of a selection, n > 0, or nil
// when there are fewer. More reports whether there is another one before it.
func (t *Tx) Back(c *model.Collection, selection Selection, n int64) (place Place, more bool, err error) {
	// Walk the selection from its end: what it ends before is what the walk starts behind.
	whole := Selection{
		Filter: selection.Filter, Order: selection.Order.reversed(),
		From: selection.Until, Behind: true, Skip: n - 1, Take: 2,
	}
	if first, rest := whole.split(c); rest != nil {
		// Both are mostly found without the nulls, which come last.
		if place, more, err = t.firstOf(c, first); err != nil || more {
			return place, more, err
		}
	}
	return t.firstOf(c, whole)
}

// firstOf gives the place of the first resource of a selection, and whether
// there is a second one.
func (t *Tx) firstOf(c *model.Collection, selection Selection) (place Place, more bool, err error) {
	s := t.rowsStatement(c, selection)
	err = each(t.conn, func(row model.Row) bool {
		if place != nil {
			more = true
			return false
		}
		place = selection.Order.PlaceOf(c, row)
		return true
	}, s.String(), s.args...)
	return place, more, t.fault(err)
}

// few is how many resources are worth to be found by their ids first.
const few = 1000

// rowsStatement selects whole resources. If many are passed over or sorted for a few, the ids are found
// first: an index has them, and the resources themselves are looked up for those few only.
func (t *Tx) rowsStatement(c *model.Collection, selection Selection) *statement {
	table := t.store.tables[c]
	if len(selection.Order) == 1 || selection.Take > few || selection.Skip == 0 && !selection.Order[0].Descending {
		return t.selectStatement(c, table.all, selection)
	}
	id := table.columns[model.IDColumn]
	s := t.store.statement(c, "SELECT ", table.all, " FROM ", table.name, " WHERE ", id, " IN (")
	s.selection(id, selection)
	s.write(")")
	s.order(selection.Order)
	return s
}

func (t *Tx) selectStatement(c *model.Collection, columns string, selection Selection) *statement {
	s := t.store.statement(c)
	s.selection(columns, selection)
	return s
}

// selection writes a SELECT of columns.
func (s *statement) selection(columns string, selection Selection) {
	s.write("SELECT ", columns, " FROM ", s.table.name)
	s.where(selection)
	s.order(selection.Order)
	if selection.Take < math.MaxInt64 || selection.Skip > 0 {
		s.write(" LIMIT ")
		s.arg(model.IntValue(selection.Take))
	}
	if selection.Skip > 0 {
		s.write(" OFFSET ")
		s.arg(model.IntValue(selection.Skip))
	}
}
