package store

import (
	"strings"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// statement is SQL on a table, which has no other name in it.
type statement struct {
	db.Builder
	dialect db.Dialect
	table   *table // of the columns
	tables  map[*model.Collection]*table
	within  *columnSource // of a part of a condition; nil: the table of the statement
	aliases int           // of tables in conditions on related resources
	single  bool          // it is about one resource
}

// condition writes a filter, or its negation. Negations are pushed down to the comparisons,
// because NOT in SQL has a third value and filters do not.
func (s *statement) condition(filter query.Filter, holds bool) {
	switch f := filter.(type) {
	case query.Not:
		s.condition(f.Filter, !holds)
	case query.And:
		s.junction(f, holds, holds)
	case query.Or:
		s.junction(f, holds, !holds)
	case query.IsNull:
		s.Write(s.column(f.Column), db.Choose(holds, " IS NULL", " IS NOT NULL"))
	case query.In:
		if len(f.Values) == 0 {
			s.junction(nil, holds, !holds) // in of no values is false
			return
		}
		s.orNull(f.Column, holds, func(column string) {
			s.Write(column, db.Choose(holds, " IN (", " NOT IN ("))
			s.List(len(f.Values), ", ", "", func(i int) { s.Arg(f.Values[i]) })
			s.Write(")")
		})
	case query.Compare:
		s.orNull(f.Column, holds, func(column string) { s.compare(column, f, holds) })
	case query.Search:
		s.search(f, true, holds)
	case foundSearch:
		s.Write(db.Choose(holds, "", "NOT "), "(", s.dialect.InIDs(s.table.Columns[model.IDColumn], s.Placeholder(db.IDs(s.dialect, f.ids))), ")")
	case orderedSearch: // the index has found it
		s.Write("(", s.dialect.SearchHolds(f.terms(s.table.Collection), s.text), ")")
	case rowSearch:
		s.search(f.Search, false, holds)
	case query.Inside:
		s.inside(f, holds)
	case query.Has:
		s.has(f, holds)
	case query.Related:
		s.related(f, holds)
	case refersTo:
		s.orNull(f.column, holds, func(column string) {
			s.Write(db.Choose(holds, "", "NOT "), "(", s.dialect.InIDs(db.Choose(f.many, "+", "")+column, s.Placeholder(db.IDs(s.dialect, f.ids))), ")")
		})
	default:
		panic("store: a filter of an unknown type")
	}
}

// and adds a condition to others, unless it is nil.
func (s *statement) and(filter query.Filter) {
	if filter != nil {
		s.Write(" AND ")
		s.condition(filter, true)
	}
}

// maxJunction is how many filters are joined without parentheses. SQLite bounds the depth of an
// expression, and a chain of operators is as deep as it is long.
const maxJunction = 256

// junction joins filters by AND or OR. Without filters AND is true and OR is false.
func (s *statement) junction(filters []query.Filter, holds, and bool) {
	s.Write("(")
	if half := len(filters) / 2; half > maxJunction/2 {
		s.junction(filters[:half], holds, and)
		s.Write(db.Choose(and, " AND ", " OR "))
		s.junction(filters[half:], holds, and)
	} else {
		s.List(len(filters), db.Choose(and, " AND ", " OR "), db.Choose(and, "1=1", "1=0"), func(i int) {
			s.condition(filters[i], holds)
		})
	}
	s.Write(")")
}

// orNull adds null values to a negated comparison.
func (s *statement) orNull(column int, holds bool, comparison func(column string)) {
	name := s.column(column)
	if holds {
		comparison(name)
		return
	}
	s.Write("(")
	comparison(name)
	s.Write(" OR ", name, " IS NULL)")
}

func (s *statement) compare(column string, f query.Compare, holds bool) {
	operators := map[query.Op][2]string{
		query.Equal:          {" <> ", " = "},
		query.Less:           {" >= ", " < "},
		query.LessOrEqual:    {" > ", " <= "},
		query.Greater:        {" <= ", " > "},
		query.GreaterOrEqual: {" < ", " >= "},
	}
	switch f.Op {
	case query.Contains:
		s.Write(db.Choose(holds, "", "NOT "), s.dialect.Contains(column, s.Placeholder(f.Value)))
	case query.StartsWith:
		s.startsWith(column, f.Value.Text(), holds)
	default:
		operator := operators[f.Op]
		s.Write(column, db.Choose(holds, operator[1], operator[0]))
		s.Arg(f.Value)
	}
}

// startsWith is a range of strings, so that an index can serve it.
func (s *statement) startsWith(column, prefix string, holds bool) {
	s.Write(db.Choose(holds, "", "NOT "), "(", column, " >= ")
	s.Arg(model.TextValue(prefix))
	if end, ok := db.Successor(prefix); ok {
		s.Write(" AND ", column, " < ")
		s.Arg(model.TextValue(end))
	}
	s.Write(")")
}

// where writes the conditions of a selection.
func (s *statement) where(selection Selection) {
	separator := " WHERE "
	and := func() {
		s.Write(separator)
		separator = " AND "
	}
	if selection.Filter != nil {
		and()
		s.condition(selection.narrowed(), true)
	}
	if selection.From != nil {
		and()
		s.bound(selection.Filter, selection.Order[0].Descending, selection.From[len(selection.From)-1])
		s.after(selection.Order, selection.From, !selection.AfterFrom, selection.withoutNulls)
	}
	if selection.Until != nil {
		and()
		s.bound(selection.Filter, !selection.Order[0].Descending, selection.Until[len(selection.Until)-1])
		s.after(selection.Order.reversed(), selection.Until, false, false)
	}
}

// order writes an ORDER BY.
func (s *statement) order(keys []query.SortKey) {
	s.Write(" ORDER BY ")
	s.orderKeys(keys)
}

func (s *statement) orderKeys(keys []query.SortKey) {
	s.List(len(keys), ", ", "", func(i int) {
		s.Write(s.table.Columns[keys[i].Column], db.Choose(keys[i].Descending, " DESC", ""))
		if keys[i].Column != model.IDColumn {
			s.Write(db.Choose(keys[i].Descending, s.dialect.NullsLast(), s.dialect.NullsFirst()))
		}
	})
}

// after writes that a row follows a place in an order or, if inclusive, is at it. The leading
// keys are also bounded on their own, so that an index on them finds the place: those with the
// same direction, up to where null follows a value, which no bound can express.
func (s *statement) after(keys []query.SortKey, place []model.Value, inclusive, withoutNulls bool) {
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
func (s *statement) tuple(n int, item func(i int)) {
	s.Write(db.Choose(n > 1, "(", ""))
	s.List(n, ", ", "", item)
	s.Write(db.Choose(n > 1, ")", ""))
}

// afterKeys compares key by key: after in the first, or equal in it and after in the rest.
// Null is smallest.
func (s *statement) afterKeys(keys []query.SortKey, place []model.Value, inclusive bool) {
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

func (s *statement) nullable(key query.SortKey) bool {
	return !s.table.Collection.Columns()[key.Column].NotNull
}
