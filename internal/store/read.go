package store

import (
	"math"
	"slices"

	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/schema"
)

// View hands the resource with the id to read, if there is one within the scope.
func (t *Tx) View(c *schema.Collection, scope query.Filter, id schema.ID, read func(schema.Row)) (found bool, err error) {
	table := t.store.tables[c]
	s := t.store.statement(c, "SELECT ", table.all, " FROM ", table.name, " WHERE ", table.columns[schema.IDColumn], " = ")
	s.arg(schema.IDValue(id))
	if scope != nil {
		s.write(" AND ")
		s.condition(scope, true)
	}
	found, err = one(t.conn, read, s.String(), s.args...)
	return found, t.fault(err)
}

// Get reads the resource with the id into memory, if there is one within the scope.
func (t *Tx) Get(c *schema.Collection, scope query.Filter, id schema.ID) (record schema.Record, err error) {
	_, err = t.View(c, scope, id, func(row schema.Row) { record = c.Scan(row) })
	return record, err
}

// Count counts the resources that pass a filter, by looking at them.
func (t *Tx) Count(c *schema.Collection, filter query.Filter) (n int64, err error) {
	s := t.store.statement(c, "SELECT count(*) FROM ", t.store.tables[c].name)
	if filter != nil {
		s.write(" WHERE ")
		s.condition(filter, true)
	}
	_, err = one(t.conn, func(row schema.Row) { n = row.Int(0) }, s.String(), s.args...)
	return n, t.fault(err)
}

// Place is a place in an order: the values of the sort keys, the id last.
type Place []schema.Value

// Order is the total order of a listing: the sort keys, and the id to break ties.
type Order []query.Key

// NewOrder completes the sort keys of a query.
func NewOrder(sort []query.Key) Order {
	if n := len(sort); n > 0 && sort[n-1].Column == schema.IDColumn {
		return sort
	}
	return append(slices.Clone(sort), query.Key{Column: schema.IDColumn})
}

// PlaceOf is where a resource stands in the order.
func (o Order) PlaceOf(c *schema.Collection, row schema.Row) Place {
	place := make(Place, len(o))
	for i, key := range o {
		place[i] = c.Columns()[key.Column].Kind.Read(row, key.Column)
	}
	return place
}

func (o Order) reversed() Order {
	reversed := slices.Clone(o)
	for i := range reversed {
		reversed[i].Descending = !reversed[i].Descending
	}
	return reversed
}

// Selection is a run of resources in an order.
type Selection struct {
	Filter query.Filter
	Order  Order
	From   Place // starts there; nil: at the beginning
	Behind bool  // starts behind From instead
	Until  Place // ends before it; nil: goes on to the end
	Skip   int64
	Take   int64
}

// Rows is a stream of resources. It must be closed before its transaction is
// used for anything else.
type Rows struct {
	rows
	tx *Tx
}

// Select starts a stream of a selection.
func (t *Tx) Select(c *schema.Collection, selection Selection) (*Rows, error) {
	s := t.selectStatement(c, t.store.tables[c].all, selection)
	rows, err := t.conn.query(s.String(), s.args...)
	if err != nil {
		return nil, t.fault(err)
	}
	return &Rows{rows: rows, tx: t}, nil
}

// Next goes to the next resource. False means that there is none.
func (r *Rows) Next() (bool, error) {
	more, err := r.rows.next()
	return more, r.tx.fault(err)
}

// Close ends the stream.
func (r *Rows) Close() { r.rows.close() }

// IDAt is the id of the resource at Skip of a selection, if there is one.
func (t *Tx) IDAt(c *schema.Collection, selection Selection) (id schema.ID, found bool, err error) {
	selection.Take = 1
	s := t.selectStatement(c, t.store.tables[c].columns[schema.IDColumn], selection)
	found, err = one(t.conn, func(row schema.Row) { id = row.ID(0) }, s.String(), s.args...)
	return id, found, t.fault(err)
}

// Back finds the place n resources before the end of a selection, n > 0, or nil
// when there are fewer. More reports whether there is another one before it.
func (t *Tx) Back(c *schema.Collection, selection Selection, n int64) (place Place, more bool, err error) {
	// Walk the selection from its end: what it ends before is what the walk starts behind.
	backwards := Selection{
		Filter: selection.Filter, Order: selection.Order.reversed(),
		From: selection.Until, Behind: true, Skip: n - 1, Take: 2,
	}
	s := t.selectStatement(c, t.store.tables[c].all, backwards)
	err = each(t.conn, func(row schema.Row) bool {
		if place != nil {
			more = true
			return false
		}
		place = selection.Order.PlaceOf(c, row)
		return true
	}, s.String(), s.args...)
	return place, more, t.fault(err)
}

func (t *Tx) selectStatement(c *schema.Collection, columns string, selection Selection) *statement {
	s := t.store.statement(c, "SELECT ", columns, " FROM ", t.store.tables[c].name)
	separator := " WHERE "
	and := func() {
		s.write(separator)
		separator = " AND "
	}
	if selection.Filter != nil {
		and()
		s.condition(selection.Filter, true)
	}
	if selection.From != nil {
		and()
		s.beyond(selection.Order, selection.From, !selection.Behind)
	}
	if selection.Until != nil {
		and()
		s.beyond(selection.Order.reversed(), selection.Until, false)
	}
	s.order(selection.Order)
	if selection.Take < math.MaxInt64 || selection.Skip > 0 {
		s.write(" LIMIT ")
		s.arg(schema.IntValue(selection.Take))
	}
	if selection.Skip > 0 {
		s.write(" OFFSET ")
		s.arg(schema.IntValue(selection.Skip))
	}
	return s
}
