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
	if n := len(sort); n > 0 && sort[n-1].Column == model.IDColumn {
		return sort
	}
	return append(slices.Clone(sort), query.SortKey{Column: model.IDColumn})
}

// PlaceOf is the place of a resource in the order.
func (o Order) PlaceOf(c *model.Collection, row model.Row) Place {
	place := make(Place, len(o))
	for i, key := range o {
		place[i] = c.Columns()[key.Column].Kind.Read(row, key.Column)
	}
	return place
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
		s.Write(s.table.Columns[keys[i].Column], db.Choose(keys[i].Descending, " DESC", ""))
		if keys[i].Column != model.IDColumn {
			s.Write(s.dialect.Nulls(keys[i].Descending))
		}
	})
}
