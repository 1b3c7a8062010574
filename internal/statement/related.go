package statement

import (
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// related writes a condition on related resources. If an index finds these, they come first, and
// another index finds what refers to them. Otherwise each resource is looked at, and the one that it
// refers to is found by its id: a list of all that match could be long. PostgreSQL plans both forms
// alike, SQLite does as it is told. Lists get short ones from listRelated before.
func (s *Statement) related(f query.Related, holds bool) {
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
	conditions := query.And{}
	for _, condition := range []query.Filter{f.Scope, f.Filter} {
		if condition != nil {
			conditions = append(conditions, condition)
		}
	}
	from := " FROM " + other.Name + " AS " + alias + " WHERE "
	if holds && !s.byID && s.tables.Finds(f.Relation.To, conditions) {
		s.Write(own, " IN (SELECT ", there, from)
		s.in(inner, func() { s.Condition(conditions, true) })
		s.Write(")")
		return
	}
	s.Write(db.Choose(holds, "", "NOT "), "EXISTS (SELECT 1", from, there, " = ", own)
	s.in(inner, func() {
		for _, condition := range conditions {
			s.Write(" AND ")
			s.Condition(condition, true)
		}
	})
	s.Write(")")
}

// Finds reports whether an index of a collection finds what passes a filter, and that is probably little.
func (t *Tables) Finds(c *model.Collection, f query.Filter) bool {
	indexed := t.Of(c).indexed
	switch f := f.(type) {
	case query.And:
		return slices.ContainsFunc(f, func(each query.Filter) bool { return t.Finds(c, each) })
	case query.Or:
		return len(f) > 0 && !slices.ContainsFunc(f, func(each query.Filter) bool { return !t.Finds(c, each) })
	case query.Compare, query.In:
		column, equals := query.Equality(f)
		return equals && indexed[model.IndexPart{Column: column}] && c.Columns()[column].Kind != model.KindBoolean
	case query.Inside:
		_, equals := query.Equality(f.Filter)
		return equals && indexed[model.IndexPart{Column: f.Column, Path: strings.Join(f.Path, ".")}] && f.Kind != model.KindBoolean
	case query.Has:
		return indexed[model.IndexPart{Column: f.Column, Items: true}]
	case RefersTo: // ids and references have an index
		return !f.Many
	case query.Related:
		return t.Finds(f.Relation.To, query.And{query.Both(query.All, f.Scope), f.Filter})
	}
	return false
}

// RefersTo is a condition on related resources of which the matching ones are known: the column has one of
// their ids.
type RefersTo struct {
	Column int
	IDs    []model.ID
	Many   bool // of the resources themselves: no index of the column is used
}

// Match decides for one resource.
func (f RefersTo) Match(r model.Record) bool {
	return !r.Null(f.Column) && slices.Contains(f.IDs, r.ID(f.Column))
}
