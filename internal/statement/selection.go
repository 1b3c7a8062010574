package statement

import (
	"math"
	"slices"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// Selection is a range of resources in an order.
type Selection struct {
	Plan
	Order Order
	From  Place // start; nil: the beginning
	Until Place // end, exclusive; nil: the end
	Skip  int64
	Take  int64 // at most so many; math.MaxInt64: all. Any ignores it and Skip

	// Total is the number of resources without From, Until, Skip and Take; zero: it is not known.
	Total int64

	// AfterFrom: the selection starts after From. Otherwise it includes a resource at From.
	AfterFrom bool
}

// FromEnd is the selection up to its end, read from there: its exclusive end becomes the start.
func (s Selection) FromEnd() Selection {
	return Selection{Plan: s.Plan, Order: s.Order.Reversed(), From: s.Until, AfterFrom: true}
}

// MaxByID is the largest number of rows for which the ids are found first: see Rows.
const MaxByID = 1000

// Rows selects whole resources. It also selects the values of the order that no column has: see
// Order.PlaceOf. If it skips some of a filtered or sorted list, the first of several keys descends, or a key is no column, the ids are
// found first, and only the resources of the range are read: in descending order, resources with equal values are sorted, as ids ascend, and it is cheaper to
// sort ids.
func (t *Tables) Rows(c *model.Collection, selection Selection) *Statement {
	table := t.Of(c)
	sorted := len(selection.Order) > 1
	skips := selection.Skip > 0 && (sorted || selection.Filter != nil || selection.Search != nil)
	s := t.Statement(c)
	columns := table.All + s.extra(selection.Order)
	if selection.Take > MaxByID || !skips && !(sorted && selection.Order[0].Descending) && selection.Order.InColumns() {
		s.selection(columns, selection, true)
		return s
	}
	id := table.Columns[model.IDColumn]
	s.Write("SELECT ", columns, " FROM ", table.Name, s.Joins(selection.Order.Operands()...), " WHERE ", id, " IN (")
	if nearer := selection.fromNearerEnd(); !s.skipInIndex(nearer) {
		s.selection(id, nearer, true)
	}
	s.Write(")")
	s.Order(selection.Order)
	return s
}

// skipInIndex selects the ids of resources with one value, if an index has them one after another in the order of the selection.
// What is skipped is not compared with the value: in the index it can only be followed by other values, and those are left out
// of the result. SQLite takes a third of the time then.
func (s *Statement) skipInIndex(selection Selection) bool {
	equals, ok := selection.Filter.(query.Compare)
	if !ok || selection.Search != nil || equals.Op != query.Equal || selection.Skip == 0 || selection.From != nil || selection.Until != nil {
		return false
	}
	descending := selection.Order[0].Descending
	keys := slices.Insert(slices.Clone(selection.Order), 0, query.SortBy(equals.Column, descending))
	if s.table.inOrder(keys) < len(keys) || slices.ContainsFunc(keys, func(key query.SortKey) bool { return key.Descending != descending }) {
		return false
	}
	id, value := s.table.Columns[model.IDColumn], s.table.Columns[equals.Column]
	s.Write("SELECT ", id, " FROM (SELECT ", id, ", ", value, " FROM ", s.table.Name, " WHERE ", value, db.Choose(descending, " <= ", " >= "))
	s.Arg(equals.Value)
	s.Order(keys)
	s.limit(selection)
	s.Write(") AS _skipped WHERE ", value, " = ")
	s.Arg(equals.Value)
	return true
}

// fromNearerEnd is the same resources in the reversed order, if fewer are skipped there.
func (s Selection) fromNearerEnd() Selection {
	if behind := s.Total - s.Skip - s.Take; s.Total > 0 && s.From == nil && s.Until == nil && behind >= 0 && behind < s.Skip {
		s.Order, s.Skip = s.Order.Reversed(), behind
	}
	return s
}

// Columns selects columns, given as SQL.
func (t *Tables) Columns(c *model.Collection, columns string, selection Selection) *Statement {
	s := t.Statement(c)
	s.selection(columns, selection, true)
	return s
}

// selection writes a SELECT of columns, ordered or in any order. Ranges follow each other: the next one is read when a range
// has ended, and the databases return them in their order. With a LIMIT, SQLite keeps the order of each.
func (s *Statement) selection(columns string, selection Selection, ordered bool) {
	ranges, filter := selection.ranges(s.table), s.conditions(selection.Plan)
	if len(ranges) == 1 {
		s.keyRange(columns, selection, ranges[0], filter, ordered)
		s.limit(selection)
		return
	}
	filter = s.repeatable(filter)
	for i, r := range ranges {
		s.Write(db.Choose(i > 0, " UNION ALL ", ""), "SELECT * FROM (")
		s.keyRange(columns, selection, r, filter, ordered)
		s.limit(Selection{Take: min(selection.Take, math.MaxInt64-1-selection.Skip) + selection.Skip})
		s.Write(") AS _range")
	}
	s.limit(selection)
}

// repeatable lets conditions be written several times. Their arguments are added only once, as the number of arguments is limited.
func (s *Statement) repeatable(conditions []func()) []func() {
	written := make([]string, len(conditions))
	repeatable := make([]func(), len(conditions))
	for i, condition := range conditions {
		repeatable[i] = func() {
			if start := s.Len(); written[i] == "" {
				condition()
				written[i] = s.String()[start:]
			} else {
				s.Write(written[i])
			}
		}
	}
	return repeatable
}

// keyRange writes a SELECT of one range.
func (s *Statement) keyRange(columns string, selection Selection, r keyRange, filter []func(), ordered bool) {
	s.Write("SELECT ", columns, " FROM ")
	s.From(selection.Plan)
	if !selection.Order.InColumns() && (ordered || selection.From != nil || selection.Until != nil) {
		s.Write(s.Joins(selection.Order.Operands()...))
	}
	conditions, descends := slices.Clip(filter), selection.Order[0].Descending
	for _, condition := range r.conditions {
		conditions = append(conditions, func() { s.Condition(condition, true) })
	}
	if r.from != nil {
		conditions = append(conditions, func() {
			s.bound(selection.Plan, descends, selection.From[len(selection.From)-1])
			s.compareKeys(r, r.from, true)
		})
	}
	if r.until != nil {
		conditions = append(conditions, func() {
			s.bound(selection.Plan, !descends, selection.Until[len(selection.Until)-1])
			s.compareKeys(r, r.until, false)
		})
	}
	s.where(conditions)
	switch {
	case !ordered:
	case selection.inOrder():
		s.Write(" ORDER BY ", db.SearchMatch, db.Choose(descends, " DESC", ""))
	default:
		s.Order(r.keys(s.table))
	}
}

// where writes conditions, if there are any.
func (s *Statement) where(conditions []func()) {
	for i, condition := range conditions {
		s.Write(db.Choose(i == 0, " WHERE ", " AND "))
		condition()
	}
}

func (s *Statement) limit(selection Selection) {
	if selection.Take == 1 && selection.Skip == 0 {
		s.Write(" LIMIT 1") // so that PostgreSQL plans for one row
	} else if selection.Take < math.MaxInt64 || selection.Skip > 0 {
		s.Write(" LIMIT ")
		s.Arg(model.IntValue(selection.Take))
	}
	if selection.Skip > 0 {
		s.Write(" OFFSET ")
		s.Arg(model.IntValue(selection.Skip))
	}
}

// Any selects 1 if a selection has a resource, and otherwise nothing.
func (t *Tables) Any(c *model.Collection, selection Selection) *Statement {
	s := t.Statement(c)
	selection.Skip, selection.Take = 0, 1
	s.selection("1", selection, false)
	return s
}

// Count selects the number of resources of a selection. It needs all matches of a search, which the index finds.
func (t *Tables) Count(c *model.Collection, selection Selection) *Statement {
	s := t.Statement(c, "SELECT count(*) FROM (")
	selection.ByRow = false
	s.selection("1", selection, false)
	s.Write(") AS _counted")
	return s
}
