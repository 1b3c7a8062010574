package statement

import (
	"strconv"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// related writes a condition on related resources. If an index finds these, they come first, and
// another index finds what refers to them. Otherwise each resource is looked at, and the one that it
// refers to is found by its id: a list of all that match could be long. PostgreSQL plans both forms
// alike, SQLite does as it is told. A plan may know the ids of the related resources.
func (s *Statement) related(f *query.Related, holds bool) {
	if known, ok := s.plan.Related[f]; ok {
		s.refersTo(f.Relation, known, holds)
		return
	}
	s.aliases++
	alias := "_r" + strconv.Itoa(s.aliases)
	other := s.tables.Of(f.Relation.To)
	inner := &columnSource{table: other}
	for _, column := range other.Columns {
		inner.columns = append(inner.columns, alias+"."+column)
	}
	own, there := s.qualified(model.IDColumn), ""
	if f.Relation.One {
		own, there = s.qualified(f.Relation.Column), inner.columns[model.IDColumn]
	} else {
		there = inner.columns[f.Relation.Column]
	}
	conditions := query.Both(f.Scope, f.Filter)
	from := " FROM " + other.Name + " AS " + alias + " WHERE "
	if holds && !s.byID && s.tables.finds(f.Relation.To, conditions, s.plan.Related) {
		s.Write(own, " IN (SELECT ", there, from)
		s.in(inner, func() { s.Condition(conditions, true) })
		s.Write(")")
		return
	}
	s.Write(db.Choose(holds, "", "NOT "), "EXISTS (SELECT 1", from, there, " = ", own)
	s.Write(" AND ")
	s.in(inner, func() { s.Condition(conditions, true) })
	s.Write(")")
}

// refersTo writes a condition on related resources that are known.
func (s *Statement) refersTo(relation *model.Relation, known Related, holds bool) {
	column := model.IDColumn
	if relation.One {
		column = relation.Column
	}
	s.orNull(column, holds, func(name string) {
		s.Write(db.Choose(holds, "", "NOT "))
		s.inIDs(db.Choose(known.Many, "+", "")+name, known.IDs)
	})
}
