package ts

import (
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// relation is a relation of a collection, with the collection that it leads to.
type relation struct {
	*model.Relation
	to family
}

// relations lists the relations of a collection, as far as the role has them: it sees the referring attribute,
// and may read the other collection, or list it where that refers to this one.
func (g *generator) relations(f family) []relation {
	var found []relation
	for _, r := range f.Relations() {
		at := slices.IndexFunc(g.families, func(other family) bool { return other.Collection == r.To })
		if at < 0 {
			continue
		}
		to, referring, verb := g.families[at], f, schema.MayRead
		if !r.One {
			referring, verb = to, schema.MayList
		}
		if to.may(verb) && referring.maySee(referring.Columns()[r.Column].Name) {
			found = append(found, relation{r, to})
		}
	}
	return found
}

// relationTypes is the member relations of a shape.
func (g *generator) relationTypes(f family) string {
	var members []string
	for _, r := range g.relations(f) {
		kind := "ToMany<" + r.to.name + "Shape>"
		if r.One {
			kind = "ToOne<" + r.to.name + "Shape, " + literal(f.Columns()[r.Column].Name) + ">"
		}
		members = append(members, "readonly "+member(r.Name)+": "+kind)
	}
	return braced(members)
}

// relationSpecs is what the runtime must know of relations.
func (g *generator) relationSpecs(f family) []string {
	var facts []string
	for _, r := range g.relations(f) {
		many := ", true"
		if r.One {
			many = ""
		}
		facts = append(facts, member(r.Name)+": ["+literal(r.to.Name)+many+"]")
	}
	return facts
}

// searched names the attributes that are searched.
func (f family) searched() (names []string) {
	for _, column := range f.SearchColumns() {
		if name := f.Columns()[column].Name; f.maySee(name) {
			names = append(names, name)
		}
	}
	return names
}

// searchType is that of the words to search for, never if nothing can be searched.
func (f family) searchType() string {
	if len(f.searched()) == 0 {
		return "never"
	}
	return "string"
}

// uniqueType names the unique attributes, and the groups of them.
func (f family) uniqueType() string {
	if f.ReadOnly() {
		return "never"
	}
	groups := []string{literal("id")}
	for _, group := range f.GivenGroups() {
		var names []string
		for _, column := range group {
			names = append(names, f.Columns()[column].Name)
		}
		if slices.ContainsFunc(names, func(name string) bool { return !f.maySee(name) }) {
			continue
		}
		if len(names) == 1 {
			groups = append(groups, literal(names[0]))
		} else {
			groups = append(groups, "readonly ["+strings.Join(quotedAll(names), ", ")+"]")
		}
	}
	return union(groups)
}
