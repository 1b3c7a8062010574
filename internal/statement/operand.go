package statement

import (
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/query"
)

// operandSQL is an operand as SQL, and what FROM must join for it.
type operandSQL struct {
	of        query.Operand
	sql, join string
}

// operand is an operand as SQL. It is written once for the table of the statement, so that its arguments are added once: an operand
// may be compared several times, as in an order and the conditions of a range.
func (s *Statement) operand(o query.Operand) string {
	switch {
	case o.IsColumn():
		return s.column(o.Column)
	case s.within != nil:
		return s.newOperand(o)
	}
	return s.written(o).sql
}

func (s *Statement) written(o query.Operand) operandSQL {
	for _, written := range s.operands {
		if of := written.of; of.Through == o.Through && of.Count == o.Count && of.Column == o.Column && of.Kind == o.Kind && slices.Equal(of.Path, o.Path) {
			return written
		}
	}
	added := operandSQL{of: o}
	if s.joins(o) {
		added.sql, added.join = s.join(o)
	} else {
		added.sql = s.newOperand(o)
	}
	s.operands = append(s.operands, added)
	return added
}

// joins reports whether a value is joined. A planner that can hash the other table does so, where it would read it again for each
// resource in a subquery if it is small.
func (s *Statement) joins(o query.Operand) bool {
	return s.tables.hashJoins && o.ReadsRelated() && !o.Count
}

// Joins is what follows the table in FROM for operands that are compared.
func (s *Statement) Joins(operands ...query.Operand) (joins string) {
	for _, o := range operands {
		if s.joins(o) {
			joins += s.written(o).join
		}
	}
	return joins
}

// join writes an operand as a column of a table that is joined, which has at most one row for each resource.
func (s *Statement) join(o query.Operand) (value, join string) {
	inner, from, own, there := s.other(o.Through.Relation)
	alias := "_o" + strconv.Itoa(s.aliases)
	return alias + "._value", s.apart(func() {
		s.in(inner, func() {
			rest, value := o, ""
			if rest.Through = o.Through.Next; rest.Through != nil {
				var next string
				value, next = s.join(rest)
				from += next
			} else {
				value = s.newOperand(rest)
			}
			s.Write(" LEFT JOIN (SELECT ", there, " AS _on, ", value, " AS _value", from)
			if o.Through.Scope != nil {
				s.Write(" WHERE ")
				s.Condition(o.Through.Scope, true)
			}
			s.Write(") AS ", alias, " ON ", alias, "._on = ", own)
		})
	})
}

// newOperand writes an operand. A value of other resources is a subquery, which finds them by an index: that of ids, or of a
// reference.
func (s *Statement) newOperand(o query.Operand) string {
	switch {
	case o.Through != nil:
		inner, from, own, there := s.other(o.Through.Relation)
		return s.apart(func() {
			s.in(inner, func() {
				rest := o
				rest.Through = o.Through.Next
				s.Write("(SELECT ", db.Choose(o.Count, "count(*)", ""))
				if !o.Count {
					s.Write(s.newOperand(rest))
				}
				s.Write(from, " WHERE ", there, " = ", own)
				if o.Through.Scope != nil {
					s.Write(" AND ")
					s.Condition(o.Through.Scope, true)
				}
				s.Write(")")
			})
		})
	case o.Path != nil:
		return s.dialect.Inside(s.qualified(o.Column), o.Path, o.Kind)
	}
	return s.column(o.Column)
}

// apart returns what is written, and leaves it out of the statement. Its arguments stay.
func (s *Statement) apart(write func()) string {
	outer := s.Builder.Builder
	s.Builder.Builder = strings.Builder{}
	write()
	written := s.String()
	s.Builder.Builder = outer
	return written
}

// extra lists the operands of an order that no column has, each after a comma, for Order.PlaceOf. No column has their names, which
// could be those of keys otherwise.
func (s *Statement) extra(o Order) (columns string) {
	for i, key := range o {
		if !key.IsColumn() {
			columns += ", " + s.operand(key.Operand) + " AS _place" + strconv.Itoa(i)
		}
	}
	return columns
}
