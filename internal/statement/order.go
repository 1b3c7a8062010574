package statement

import (
	"slices"
	"strings"

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

// after writes that a row follows a place in an order or, if inclusive, is at it. The leading
// keys are also bounded on their own, so that an index on them finds the place: those with the
// same direction, up to where null follows a value, which no bound can express.
func (s *Statement) after(keys []query.SortKey, place []model.Value, inclusive, withoutNulls bool) {
	bounded := 0
	for i, key := range keys[:len(keys)-1] {
		nullsFollow := key.Descending && s.nullable(key) && !(withoutNulls && i == 0)
		if key.Descending != keys[0].Descending || place[i].IsNull() || nullsFollow {
			break
		}
		bounded++
	}
	if bounded > 0 {
		s.tuple(bounded, func(i int) { s.Write(s.table.Columns[keys[i].Column]) })
		s.Write(db.Choose(keys[0].Descending, " <= ", " >= "))
		s.tuple(bounded, func(i int) { s.Arg(place[i]) })
		s.Write(" AND ")
	}
	s.afterKeys(keys, place, inclusive)
}

// tuple writes one item, or several in parentheses.
func (s *Statement) tuple(n int, item func(i int)) {
	s.Write(db.Choose(n > 1, "(", ""))
	s.List(n, ", ", "", item)
	s.Write(db.Choose(n > 1, ")", ""))
}

// afterKeys compares key by key: after in the first, or equal in it and after in the rest.
// Null is smallest.
func (s *Statement) afterKeys(keys []query.SortKey, place []model.Value, inclusive bool) {
	first, value, last := keys[0], place[0], len(keys) == 1
	column := s.table.Columns[first.Column]
	operator := db.Choose(first.Descending, " < ", " > ")
	if last {
		s.Write(column, db.Choose(inclusive, strings.TrimSuffix(operator, " ")+"= ", operator))
		s.Arg(value) // the id, which is never null
		return
	}
	s.Write("(")
	switch {
	case value.IsNull() && first.Descending:
		s.Write("1=0") // nothing follows null
	case value.IsNull():
		s.Write(column, " IS NOT NULL")
	default:
		s.Write(column, operator)
		s.Arg(value)
		if first.Descending && s.nullable(first) {
			s.Write(" OR ", column, " IS NULL")
		}
	}
	s.Write(" OR ", column)
	if value.IsNull() {
		s.Write(" IS NULL")
	} else {
		s.Write(" = ")
		s.Arg(value)
	}
	s.Write(" AND ")
	s.afterKeys(keys[1:], place[1:], inclusive)
	s.Write(")")
}

func (s *Statement) nullable(key query.SortKey) bool {
	return !s.table.Collection.Columns()[key.Column].NotNull
}
