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
	inner, from, own, there := s.other(f.Relation)
	conditions := query.Both(f.Scope, f.Filter)
	from += " WHERE "
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

// other begins a subquery on the resources to which a relation leads: its columns, FROM, and the two columns that are equal, one of
// the current source and one of the subquery.
func (s *Statement) other(relation *model.Relation) (inner *columnSource, from, own, there string) {
	s.aliases++
	alias := "_r" + strconv.Itoa(s.aliases)
	table := s.tables.Of(relation.To)
	inner = &columnSource{table: table}
	for _, column := range table.Columns {
		inner.columns = append(inner.columns, alias+"."+column)
	}
	from = " FROM " + table.Name + " AS " + alias
	if relation.One {
		return inner, from, s.qualified(relation.Column), inner.columns[model.IDColumn]
	}
	return inner, from, s.qualified(model.IDColumn), inner.columns[relation.Column]
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
