package query

import (
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
)

// relatedHint says how to write a field that the collection does not have and a related one has.
func (p *parser) relatedHint(name string, use use) string {
	if strings.Contains(name, ".") {
		return ""
	}
	for _, relation := range p.collection.Relations() {
		if visible, _, may := p.seenThrough(relation); may && (relation.One || use.toMany) && visibleField(relation.To, visible, name) != nil {
			return suggested(relation.Name + "." + name)
		}
	}
	return ""
}

// countHint says how to write the number of related resources.
func (p *parser) countHint(to *target, name string, use use) string {
	through := to.operand.Through
	switch {
	case name != countName || !use.counts:
		return ""
	case through == nil:
		if known := p.countNames(); len(known) > 0 {
			return " For the number of related resources, use " + known[0] + "."
		}
	case through.Next == nil && !through.Relation.One:
		return numberHint(through.Relation)
	}
	return ""
}

func numberHint(relation *model.Relation) string {
	return " For their number, use " + countName + "." + relation.Name + "."
}

// countNames lists the numbers of related resources that a caller may know.
func (p *parser) countNames() (known []string) {
	for _, relation := range p.relations(p.collection) {
		if !relation.One {
			known = append(known, countName+"."+relation.Name)
		}
	}
	return known
}

// insideHint says how to write what was written as a property of a field that has none: of a reference the field behind it, of a time its unit.
func (p *parser) insideHint(to *target, path string, use use) string {
	before := strings.TrimSuffix(to.name, to.field.Name+"."+path)
	if use.key == forGroup.key && slices.Contains(Units(to.field.Kind), Unit(path)) {
		return " Use " + before + to.field.Name + ":" + path + "."
	}
	for _, relation := range p.relations(to.collection) {
		if relation.One && relation.Column == to.field.Column {
			return " It refers to another resource. Use " + before + relation.Name + "." + path + "."
		}
	}
	return ""
}

// havingHint says how to keep groups by a value, which is no field to filter by.
func (p *parser) havingHint(name string, use use) string {
	function, _, _ := strings.Cut(name, ".")
	if p.mode != OfGroups || use.key != forFilter.key || name != countName && !slices.Contains(Functions, Function(function)) {
		return ""
	}
	return " To keep groups by a value, use having[" + short(name) + "]."
}

// groupsHint says how to write a parameter that is about groups.
func (p *parser) groupsHint(name string) string {
	switch word := suggest.Bare(strings.TrimPrefix(name, "$")); {
	case p.mode == OfGroups && (word == "groupby" || word == "group"):
		return " Use by, with the names of fields: by=state,created_at:month."
	case p.mode == OfGroups && word == countName:
		return " Every group has its count."
	case p.mode == OfList && (word == "groupby" || word == "group" || isGrouping(name) || isHaving(name)):
		path := "/-/groups/" + p.collection.Name
		return " Groups are at " + path + ", such as " + path + "?by=created_at:month."
	}
	return ""
}
