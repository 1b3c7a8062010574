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

// keepsWords reports whether the words in the index stay right.
func (p *pair) keepsWords() bool {
	changed := func(c *change) bool { return slices.Contains(p.to.SearchColumns(), c.toColumn) }
	return p.from.Name == p.to.Name && p.sameSearch() && !slices.ContainsFunc(p.changes, changed)
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
	return m.words(search.Drop, m.plan.removed, func(p *pair) *model.Collection { return p.from })
}

// buildWords makes the tables of words that are missing.
func (m *migration) buildWords() error {
	return m.words(search.Build, m.plan.added, func(p *pair) *model.Collection { return p.to })
}

// words calls do with collections, and with those of the pairs whose words do not stay.
func (m *migration) words(do func(db.Conn, db.Dialect, *model.Collection) error, collections []*model.Collection, of func(*pair) *model.Collection) error {
	for _, p := range m.plan.pairs {
		if !p.keepsWords() {
			collections = append(slices.Clip(collections), of(p))
		}
	}
	for _, c := range collections {
		if err := do(m.conn, m.dialect, c); err != nil {
			return err
		}
	}
	return nil
}
