package statement

import (
	"slices"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// Place is a place in an order: the values of the sort keys, the id last.
type Place []model.Value

// Order is the total order of a list: the sort keys, and the id to break ties.
type Order []query.SortKey

// NewOrder completes the sort keys of a query.
func NewOrder(sort []query.SortKey) Order {
	if n := len(sort); n > 0 && sort[n-1].Is(model.IDColumn) {
		return sort
	}
	return append(slices.Clone(sort), query.SortBy(model.IDColumn, false))
}

// PlaceOf is the place of a resource in the order. The row has the columns that Tables.Rows selects.
func (o Order) PlaceOf(c *model.Collection, row model.Row) Place {
	place, next := make(Place, len(o)), len(c.Columns())
	for i, key := range o {
		column := key.Column
		if !key.IsColumn() {
			column, next = next, next+1
		}
		place[i] = key.KindOn(c).Read(row, column)
	}
	return place
}

// Operands lists what the order compares.
func (o Order) Operands() []query.Operand {
	operands := make([]query.Operand, len(o))
	for i, key := range o {
		operands[i] = key.Operand
	}
	return operands
}

// InColumns reports whether the order compares only columns of the resources themselves.
func (o Order) InColumns() bool {
	return !slices.ContainsFunc(o, func(key query.SortKey) bool { return !key.IsColumn() })
}

// Reversed is the opposite order.
func (o Order) Reversed() Order {
	reversed := slices.Clone(o)
	for i := range reversed {
		reversed[i].Descending = !reversed[i].Descending
	}
	return reversed
}

// Order writes an ORDER BY.
func (s *Statement) Order(keys []query.SortKey) {
	s.Write(" ORDER BY ")
	s.OrderKeys(keys)
}

// OrderKeys writes the keys of an order.
func (s *Statement) OrderKeys(keys []query.SortKey) {
	s.List(len(keys), ", ", "", func(i int) {
		s.Write(s.operand(keys[i].Operand), db.Choose(keys[i].Descending, " DESC", ""))
		if !keys[i].Is(model.IDColumn) {
			s.Write(s.dialect.Nulls(keys[i].Descending))
		}
	})
}
