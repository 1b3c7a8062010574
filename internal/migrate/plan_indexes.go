package migrate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// planIndexes plans what must become unique or no longer is, and indexes that are added or removed.
func (p *plan) planIndexes(pair *pair) {
	unique := func(c *model.Collection) (groups []model.IndexGroup) {
		for _, columns := range c.UniqueGroups() {
			groups = append(groups, db.IndexOf(columns...))
		}
		return groups
	}
	carriedGroups := func(groups []model.IndexGroup) (result []model.IndexGroup) { // those whose columns still exist
		for _, group := range groups {
			if group = pair.carried(group); group != nil {
				result = append(result, group)
			}
		}
		return result
	}
	uniqueBefore, indexBefore := carriedGroups(unique(pair.from)), carriedGroups(pair.from.IndexGroups())
	for i, group := range unique(pair.to) {
		if !containsParts(uniqueBefore, group) {
			step := p.add(Rewriting, costOf("checks", pair.from, allResources), "%s: values of %s must be unique", pair.to.Name, namesOf(pair.to, group)).in(pair.from, allResources)
			pair.unique = append(pair.unique, uniqueChange{pair.to.UniqueGroups()[i], step})
		}
	}
	pair.keepUnique()
	for _, group := range pair.to.IndexGroups() {
		if !containsParts(indexBefore, group) {
			p.add(Additive, costOf("indexes", pair.from, allResources), "%s: new index on %s", pair.to.Name, namesOf(pair.to, group))
		}
	}
	for _, group := range uniqueBefore {
		if !containsParts(unique(pair.to), group) {
			p.add(Additive, nil, "%s: values of %s no longer need to be unique", pair.to.Name, namesOf(pair.to, group))
		}
	}
	for _, group := range indexBefore {
		if !containsParts(pair.to.IndexGroups(), group) {
			p.add(Additive, nil, "%s: the index on %s is removed", pair.to.Name, namesOf(pair.to, group))
		}
	}
}

// renameCost is the cost of renaming a column of from or, with allResources, the collection. No resource is written, but
// indexes have names with those of their collection and columns, and SQLite cannot rename an index: they are built again.
func (p *pair) renameCost(column int) func(*survey) (string, error) {
	indexes := db.Indexes(p.from)
	rebuilt := len(indexes) > 0 || len(p.to.SearchColumns()) > 0
	if column != allResources {
		name := p.from.Columns()[column].Name
		of := func(part string) bool {
			part = strings.TrimPrefix(part, "-")
			return part == name || strings.HasPrefix(part, name+".")
		}
		rebuilt = p.from.Name == p.to.Name && // or the step of the collection says it
			slices.ContainsFunc(indexes, func(index db.IndexDefinition) bool { return slices.ContainsFunc(index.Columns, of) })
	}
	if !rebuilt {
		return nil
	}
	return costOf("rebuilds the indexes of", p.from, allResources)
}

func containsParts(groups []model.IndexGroup, group model.IndexGroup) bool {
	return slices.ContainsFunc(groups, func(other model.IndexGroup) bool { return slices.Equal(group, other) })
}

// namesOf names the values of an index. Those of a property that no longer exists are named as well.
func namesOf(c *model.Collection, group model.IndexGroup) string {
	names := make([]string, len(group))
	for i, part := range group {
		names[i] = part.Name(c)
	}
	return strings.Join(names, ", ")
}

// carried returns the values of an index of from as values of to; nil if one of their columns is
// removed.
func (p *pair) carried(group model.IndexGroup) model.IndexGroup {
	result := slices.Clone(group)
	for i, part := range group {
		if result[i].Column = slices.Index(p.source, part.Column); result[i].Column < 0 {
			return nil
		}
	}
	return result
}

// keepUnique checks groups that were unique before and whose values change: different values
// may become equal.
func (p *pair) keepUnique() {
	for _, group := range p.to.UniqueGroups() {
		known := slices.ContainsFunc(p.unique, func(u uniqueChange) bool { return slices.Equal(u.group, group) })
		for _, c := range p.changes {
			step := cmp.Or(c.valueStep, c.computed, c.requiredStep)
			if !known && step != nil && slices.Contains(group, c.toColumn) {
				p.unique = append(p.unique, uniqueChange{group, step})
				break
			}
		}
	}
}
