package migrate

import (
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/search"
)

// sameSearch reports whether the same attributes are searched, in the same order. Their names may
// differ: the index does not have them.
func (p *pair) sameSearch() bool {
	before, after := db.IndexOf(p.from.SearchColumns()...), db.IndexOf(p.to.SearchColumns()...)
	return len(before) == len(after) && slices.Equal(p.carried(before), after)
}

// formerWords lists the collections whose tables of words have an earlier form.
func formerWords(d db.Dialect, s *model.Schema, found map[string]*db.TableDefinition) (former []*model.Collection) {
	for _, c := range s.All() {
		name := db.SearchTable(c)
		if len(c.SearchColumns()) == 0 || found[name] == nil {
			continue
		}
		isFormer := func(before db.TableDefinition) bool { return slices.Equal(found[name].Columns, before.Columns) }
		if slices.ContainsFunc(d.Search(name).Former, isFormer) {
			former = append(former, c)
		}
	}
	return former
}

// rebuildWords adds steps for the tables of words that have an earlier form.
func (p *plan) rebuildWords(former []*model.Collection) {
	for _, pair := range p.pairs {
		if pair.formerWords = slices.Contains(former, pair.from); pair.formerWords && len(pair.to.SearchColumns()) > 0 {
			p.add(Additive, costOf("indexes", pair.from, allResources), "%s: the search index is built again, in its present form", pair.to.Name)
		}
	}
}

// keepsWords reports whether the words in the index stay right.
func (p *pair) keepsWords() bool {
	changed := func(c *change) bool { return slices.Contains(p.to.SearchColumns(), c.toColumn) }
	return !p.formerWords && p.from.Name == p.to.Name && p.sameSearch() && !slices.ContainsFunc(p.changes, changed)
}

// compareSearch adds a step if other attributes are searched.
func (p *plan) compareSearch(pair *pair) {
	names := func(c *model.Collection) string {
		var names []string
		for _, column := range c.SearchColumns() {
			names = append(names, c.Columns()[column].Name)
		}
		return strings.Join(names, ", ")
	}
	switch {
	case pair.sameSearch():
	case len(pair.to.SearchColumns()) == 0:
		p.add(Additive, nil, "%s: no longer searched", pair.to.Name)
	default:
		p.add(Additive, costOf("indexes", pair.from, allResources), "%s: search in %s", pair.to.Name, names(pair.to))
	}
}

// dropWords removes the tables of words that do not stay.
func (m *migration) dropWords() error {
	gone := slices.Clone(m.plan.removed)
	for _, p := range m.plan.pairs {
		if !p.keepsWords() {
			gone = append(gone, p.from)
		}
	}
	for _, c := range gone {
		if err := search.Drop(m.conn, m.dialect, c); err != nil {
			return err
		}
	}
	return nil
}

// buildWords makes the tables of words that are missing.
func (m *migration) buildWords() error {
	missing := slices.Clone(m.plan.added)
	for _, p := range m.plan.pairs {
		if !p.keepsWords() {
			missing = append(missing, p.to)
		}
	}
	for _, c := range missing {
		if err := search.Build(m.conn, m.dialect, c); err != nil {
			return err
		}
	}
	return nil
}
