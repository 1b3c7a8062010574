package statement

import (
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// Statement is SQL on a table, which has no other name in it.
type Statement struct {
	db.Builder
	dialect  db.Dialect
	table    *Table // of the columns
	tables   *Tables
	within   *columnSource // of a part of a condition; nil: the table of the statement
	aliases  int           // of tables in conditions on related resources and in operands
	operands []operandSQL  // of the table of the statement
	byID     bool          // its resources are found by their ids: no other index is needed
	plan     Plan          // that its conditions follow
}

// Condition writes a filter, or its negation. Negations are pushed down to the comparisons,
// because NOT in SQL has a third value and filters do not.
func (s *Statement) Condition(filter query.Filter, holds bool) {
	switch f := filter.(type) {
	case query.Not:
		s.Condition(f.Filter, !holds)
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
		s.search(f, holds)
	case query.OnValue:
		s.in(&columnSource{columns: []string{s.operand(f.Operand)}}, func() { s.Condition(f.Filter, holds) })
	case query.Has:
		s.has(f, holds)
	case *query.Related:
		s.related(f, holds)
	default:
		panic("statement: a filter of an unknown type")
	}
}

// maxJunction is how many filters are joined without parentheses. SQLite bounds the depth of an
// expression, and a chain of operators is as deep as it is long.
const maxJunction = 256

// junction joins filters by AND or OR. Without filters AND is true and OR is false.
func (s *Statement) junction(filters []query.Filter, holds, and bool) {
	s.Write("(")
	if half := len(filters) / 2; half > maxJunction/2 {
		s.junction(filters[:half], holds, and)
		s.Write(db.Choose(and, " AND ", " OR "))
		s.junction(filters[half:], holds, and)
	} else {
		s.List(len(filters), db.Choose(and, " AND ", " OR "), db.Choose(and, "1=1", "1=0"), func(i int) {
			s.Condition(filters[i], holds)
		})
	}
	s.Write(")")
}

// orNull adds null values to a negated comparison.
func (s *Statement) orNull(column int, holds bool, comparison func(column string)) {
	name := s.column(column)
	if holds {
		comparison(name)
		return
	}
	s.Write("(")
	comparison(name)
	s.Write(" OR ", name, " IS NULL)")
}

func (s *Statement) compare(column string, f query.Compare, holds bool) {
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
func (s *Statement) startsWith(column, prefix string, holds bool) {
	s.Write(db.Choose(holds, "", "NOT "), "(", column, " >= ")
	s.Arg(model.TextValue(prefix))
	if end, ok := db.Successor(prefix); ok {
		s.Write(" AND ", column, " < ")
		s.Arg(model.TextValue(end))
	}
	s.Write(")")
}
