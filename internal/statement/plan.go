package statement

import (
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/search"
)

// Plan is a filter, and how statements find the resources that pass it where the database cannot choose that by itself. Its
// fields do not change which resources pass. Package store chooses a plan once for all statements of a page: see Tx.plan.
type Plan struct {
	Filter query.Filter // nil: none

	// Search is a search that must hold besides the filter. Nil: all searches are in the filter.
	Search *Search
	// ByRow: searches in the filter compare the words of each resource. Otherwise the index finds all matches first.
	ByRow bool
	// Related has the conditions of which the related resources are known.
	Related map[*query.Related]Related
}

// Search is a search that a statement does not leave to a condition.
type Search struct {
	query.Search
	// InOrder: the statement reads the index in the order of ids, which is that of the selection, and ends when it has enough
	// matches. Otherwise IDs are all matches.
	InOrder bool
	Rare    []bool // words: see db.SearchTerm; nil: none
	IDs     []model.ID
}

// Related are the related resources that match a condition.
type Related struct {
	IDs  []model.ID // of which the resource has one in the column of the relation, or as its own id
	Many bool       // an index would find so many resources that it is not used
}

// Terms are the words of the search, as an index of words takes them.
func (f *Search) Terms(c *model.Collection) db.SearchTerms {
	terms := terms(c, f.Search)
	for i, rare := range f.Rare {
		terms[i].Rare = rare
	}
	return terms
}

func terms(c *model.Collection, f query.Search) db.SearchTerms {
	return search.Terms(c, f.Columns, f.Words)
}

// Passing selects how many matches of a search there are, up to most, and how many of them pass the filter of its plan.
func (t *Tables) Passing(c *model.Collection, p Plan, most int) *Statement {
	s := t.Statement(c, "SELECT count(*), count(_passing) FROM (SELECT CASE WHEN ")
	s.plan = p
	s.Condition(p.Filter, true)
	s.Write(" THEN 1 END AS _passing FROM ")
	s.From(p)
	s.Write(" LIMIT ", strconv.Itoa(most), ")")
	return s
}

// inOrder reports whether the index of words is read in the order of ids.
func (p Plan) inOrder() bool { return p.Search != nil && p.Search.InOrder }

// From writes the table, and what a search in the order of ids joins to it.
func (s *Statement) From(p Plan) {
	if !p.inOrder() {
		s.Write(s.table.Name)
		return
	}
	s.Write(s.dialect.SearchJoin(s.table.Words, s.table.Name, s.table.Columns[model.IDColumn], p.Search.Terms(s.table.Collection), s.text))
}

// conditions lists what writes the conditions of a plan.
func (s *Statement) conditions(p Plan) (all []func()) {
	s.plan = p
	if p.inOrder() { // the index has found it
		all = append(all, func() { s.Write(s.dialect.SearchHolds(p.Search.Terms(s.table.Collection), s.text)) })
	} else if p.Search != nil {
		all = append(all, func() { s.inIDs(s.table.Columns[model.IDColumn], p.Search.IDs) })
	}
	if p.Filter != nil {
		all = append(all, func() { s.Condition(p.Filter, true) })
	}
	return all
}

// And adds the conditions of a plan to others.
func (s *Statement) And(p Plan) {
	for _, condition := range s.conditions(p) {
		s.Write(" AND ")
		condition()
	}
}

// bound lets an index that has the order of ids begin or end at an id. The comparison with the id stays, which is exact.
func (s *Statement) bound(p Plan, upTo bool, id model.Value) {
	if p.inOrder() {
		s.Write(s.dialect.SearchBound(s.table.Words, upTo, s.Placeholder(id)), " AND ")
	}
}

// search writes the condition of a search, or its negation. One of related resources compares the words of each: a plan knows
// those that the index finds, if they are few.
func (s *Statement) search(f query.Search, holds bool) {
	byIndex := s.within == nil && !s.byID && !s.plan.ByRow
	table := s.source()
	s.Write(db.Choose(holds, "", "NOT ("),
		s.dialect.Searched(table.Words, s.column(model.IDColumn), terms(table.Collection, f), byIndex, s.text),
		db.Choose(holds, "", ")"))
}

// text adds a text as an argument and returns its placeholder.
func (s *Statement) text(value string) string { return s.Placeholder(model.TextValue(value)) }

// inIDs writes that a column, given as SQL, has one of some ids.
func (s *Statement) inIDs(column string, ids []model.ID) {
	s.Write("(", s.dialect.InIDs(column, s.Placeholder(db.IDs(s.dialect, ids))), ")")
}

// Finds reports whether an index of a collection finds what passes the filter of a plan, and that is probably little.
func (t *Tables) Finds(c *model.Collection, p Plan) bool { return t.finds(c, p.Filter, p.Related) }

func (t *Tables) finds(c *model.Collection, f query.Filter, known map[*query.Related]Related) bool {
	indexed := t.Of(c).indexed
	switch f := f.(type) {
	case query.And:
		return slices.ContainsFunc(f, func(each query.Filter) bool { return t.finds(c, each, known) })
	case query.Or:
		return len(f) > 0 && !slices.ContainsFunc(f, func(each query.Filter) bool { return !t.finds(c, each, known) })
	case query.Compare, query.In:
		column, equals := query.Equality(f)
		return equals && indexed[model.IndexPart{Column: column}] && c.Columns()[column].Kind != model.KindBoolean
	case query.OnValue: // no index has a value of other resources
		_, equals := query.Equality(f.Filter)
		return !f.ReadsRelated() && equals && indexed[model.IndexPart{Column: f.Column, Path: strings.Join(f.Path, ".")}] && f.Kind != model.KindBoolean
	case query.Has:
		return indexed[model.IndexPart{Column: f.Column, Items: true}]
	case *query.Related:
		if related, isKnown := known[f]; isKnown { // ids and references have an index
			return !related.Many
		}
		return t.finds(f.Relation.To, query.And{query.Both(query.All, f.Scope), f.Filter}, known)
	}
	return false
}
