package conform

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// ofReads is why a check is not run asynchronously: it is about what is read.
const ofReads = "related resources as they are read"

var includeChecks = []Check{
	{
		ID: "include.reference", Title: "include of a reference", Source: ourRelated, Writes: true, Synchronous: ofReads,
		Rule: "include embeds the resource that a reference leads to, whole, in a resource and in a list.",
		run: func(p *probe) {
			f := p.relatives()
			name := p.one(f)
			mother := p.ok(p.get(f.parent.path() + "/" + f.mother)).resource()
			for _, path := range []string{f.child.path() + "/" + f.children[0] + "?", f.child.path() + "?filter[id]=" + f.children[0] + "&"} {
				r := p.ok(p.get(path + "include=" + name))
				if got := r.resource().members[name]; !equalJSON(got, any(mother.members)) {
					p.fail(r, name+" as "+encodeJSON(mother.members), "%s", encodeJSON(got))
				}
			}
		},
	},
	{
		ID: "include.collection", Title: "include of a collection", Source: ourRelated, Writes: true, Synchronous: ofReads,
		Rule: "include embeds the resources that refer to a resource as an array, in the order of their ids.",
		run: func(p *probe) {
			f := p.relatives()
			name := p.many(f)
			p.embeds(f.parent.path()+"/"+f.mother+"?include="+name, name, f.children)
		},
	},
	{
		ID: "include.options", Title: "options of an included collection", Source: ourRelated, Writes: true, Synchronous: ofReads,
		Rule: "include[relation][limit] and [filter] select the resources, and [total]=true adds their number.",
		run: func(p *probe) {
			f := p.relatives()
			name := p.many(f)
			path := f.parent.path() + "/" + f.mother + "?include=" + name + "&include[" + name + "]"
			p.embeds(path+"[limit]=-1", name, f.children[2:])
			p.embeds(path+"[filter][id]="+f.children[1], name, f.children[1:2])
			r := p.embeds(path+"[limit]=1&include["+name+"][total]=true", name, f.children[:1])
			if got := r.resource().members[name+"_total"]; fmt.Sprint(got) != "3" {
				p.fail(r, name+"_total is 3", "%v", got)
			}
		},
	},
	{
		ID: "include.fields", Title: "fields of an included relation", Source: ourFields, Writes: true, Synchronous: ofReads,
		Rule: "fields[relation] selects attributes of embedded resources.",
		run: func(p *probe) {
			f := p.relatives()
			name := p.one(f)
			mother := p.ok(p.get(f.parent.path() + "/" + f.mother)).resource()
			at := slices.IndexFunc(mother.order, func(name string) bool { return name != "id" && name != "type" })
			if at < 0 {
				p.skip("%s has no attributes", f.parent.Name)
			}
			attribute := mother.order[at]
			r := p.ok(p.get(f.child.path() + "/" + f.children[0] + "?include=" + name + "&fields[" + name + "]=" + attribute))
			embedded, _ := r.resource().members[name].(map[string]any)
			p.selected(r, embedded, attribute)
		},
	},
	{
		ID: "include.unknown", Title: "a relation that does not exist", Source: ourRelated,
		Rule: "include of a relation that does not exist is 400.",
		run:  func(p *probe) { p.status(p.list("include=conform_unknown"), 400) },
	},
	{
		ID: "include.read-only", Title: "a body with an embedded resource", Source: ourRelated, Writes: true, Synchronous: ofReads,
		Rule: "A body that sends an embedded member back is 422.",
		run: func(p *probe) {
			f := p.relatives()
			mother := p.ok(p.get(f.parent.path() + "/" + f.mother)).resource()
			p.status(p.send(http.MethodPatch, f.child.path()+"/"+f.children[0], one(p.one(f), mother.members)), 422)
		},
	},
	{
		ID: "filter.related", Title: "filters through relations", Source: ourFilters, Writes: true, Synchronous: ofReads,
		Rule: "filter[relation.field] filters by a related resource; through a collection, one of its resources must match.",
		run: func(p *probe) {
			f := p.relatives()
			p.lists(f.child.path()+"?filter["+p.one(f)+".id]="+f.mother, f.children)
			p.lists(f.parent.path()+"?filter["+p.many(f)+".id]="+f.children[1], []string{f.mother})
		},
	},
}

var fieldChecks = []Check{
	{
		ID: "fields.selects", Title: "fields", Source: ourFields,
		Rule: "fields selects attributes: id, type and those are returned, in lists and in single resources.",
		run: func(p *probe) {
			a := p.attribute("attribute", func(attribute) bool { return true })
			p.need(2)
			for _, path := range []string{p.collection.path() + "?limit=2&", p.item(0) + "?"} {
				r := p.ok(p.get(path + "fields=" + a.Name))
				for _, each := range r.resources() {
					p.selected(r, each.members, a.Name)
				}
			}
		},
	},
	{
		ID: "fields.unknown", Title: "fields that do not exist", Source: ourFields,
		Rule: "An attribute in fields that does not exist is 400.",
		run:  func(p *probe) { p.status(p.list("fields=conform_unknown"), 400) },
	},
}

// relatives is a family of collections whose relations the server lists.
func (p *probe) relatives() family {
	// Its resources are created as those of other checks are, also if the server does that later.
	plain := &probe{suite: p.suite}
	f := plain.family()
	if len(f.parent.Relations) == 0 && len(f.child.Relations) == 0 {
		p.skip("GET / lists no relations")
	}
	return f
}

// one is the name of the relation from a child to its parent.
func (p *probe) one(f family) string {
	return p.relationOf(f.child, func(r includable) bool { return !r.Many && r.Attribute == f.attribute })
}

// many is the name of the relation from a parent to its children.
func (p *probe) many(f family) string {
	return p.relationOf(f.parent, func(r includable) bool {
		return r.Many && r.Collection == f.child.Name && r.Attribute == f.attribute
	})
}

func (p *probe) relationOf(c collection, fits func(includable) bool) string {
	at := slices.IndexFunc(c.Relations, fits)
	if at < 0 {
		p.skip("GET / lists no relation of %s for this", c.Name)
	}
	return c.Relations[at].Name
}

// embeds fails unless a resource embeds the resources of these ids, whole.
func (p *probe) embeds(path, name string, want []string) *reply {
	r := p.ok(p.get(path))
	embedded, isList := r.resource().members[name].([]any)
	var got []string
	for _, each := range embedded {
		members, _ := each.(map[string]any)
		id, _ := members["id"].(string)
		got = append(got, strings.ToLower(id))
	}
	if !isList || !slices.Equal(got, want) {
		p.fail(r, fmt.Sprintf("%s with the resources %s", name, strings.Join(want, ", ")), "%s", encodeJSON(r.resource().members[name]))
	}
	return r
}

// selected fails unless a resource has id, type and one attribute.
func (p *probe) selected(r *reply, members map[string]any, attribute string) {
	_, hasID := members["id"]
	_, hasType := members["type"]
	_, has := members[attribute]
	if !hasID || !hasType || !has || len(members) != 3 {
		p.fail(r, "id, type and "+attribute, "%s", encodeJSON(members))
	}
}

// lists fails unless a list has the resources of these ids.
func (p *probe) lists(path string, want []string) {
	r := p.ok(p.get(path))
	if got := r.ids(); !slices.Equal(got, want) {
		p.fail(r, strings.Join(want, ", "), "%s", strings.Join(got, ", "))
	}
}
