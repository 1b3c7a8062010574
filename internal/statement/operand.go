package statement

import (
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/query"
)

// operandSQL is an operand as SQL.
type operandSQL struct {
	of  query.Operand
	sql string
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
	for _, written := range s.operands {
		if of := written.of; of.Through == o.Through && of.Count == o.Count && of.Column == o.Column && of.Kind == o.Kind && slices.Equal(of.Path, o.Path) {
			return written.sql
		}
	}
	s.operands = append(s.operands, operandSQL{o, s.newOperand(o)})
	return s.operands[len(s.operands)-1].sql
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
			columns += ", " + s.operand(key.Operand) + " AS _key" + strconv.Itoa(i)
		}
	}
	return columns
}
