package checks

import (
	"fmt"
	"slices"

	"github.com/plural-go/plural/conform/internal/suite"
)

// ofReads is why a check is not run asynchronously: it is about what is read.
const ofReads = "related resources as they are read"

var includeChecks = []suite.Check{
	{
		ID: "include.reference", Title: "include of a reference", Source: suite.OurRelated, Writes: true, Synchronous: ofReads,
		Rule: "include embeds the resource that a reference leads to, whole, in a resource and in a list.",
		Run: func(p *suite.Probe) {
			f := p.RelatedParents()
			name := p.RelationToParent(f)
			parent := p.OK(p.Get(f.Parent.PathOf(f.First))).Resource()
			for _, path := range []string{f.Child.PathOf(f.Children[0]) + "?", f.Child.Path() + "?filter[id]=" + f.Children[0] + "&"} {
				r := p.OK(p.Get(path + "include=" + name))
				got := r.Resource().Members[name]
				p.FailIf(!suite.EqualJSON(got, any(parent.Members)), r, name+" as "+suite.EncodeJSON(parent.Members), "%s", suite.EncodeJSON(got))
			}
		},
	},
	{
		ID: "include.collection", Title: "include of a collection", Source: suite.OurRelated, Writes: true, Synchronous: ofReads,
		Rule: "include embeds the resources that refer to a resource as an array, in the order of their ids.",
		Run: func(p *suite.Probe) {
			f := p.RelatedParents()
			name := p.RelationToChildren(f)
			p.Embeds(f.Parent.PathOf(f.First)+"?include="+name, name, f.Children)
		},
	},
	{
		ID: "include.options", Title: "options of an included collection", Source: suite.OurRelated, Writes: true, Synchronous: ofReads,
		Rule: "include[relation][limit] and [filter] select the resources, and [total]=true adds their number.",
		Run: func(p *suite.Probe) {
			f := p.RelatedParents()
			name := p.RelationToChildren(f)
			path := f.Parent.PathOf(f.First) + "?include=" + name + "&include[" + name + "]"
			p.Embeds(path+"[limit]=-1", name, f.Children[2:])
			p.Embeds(path+"[filter][id]="+f.Children[1], name, f.Children[1:2])
			r := p.Embeds(path+"[limit]=1&include["+name+"][total]=true", name, f.Children[:1])
			got := r.Resource().Members[name+"_total"]
			p.FailIf(fmt.Sprint(got) != "3", r, name+"_total is 3", "%v", got)
		},
	},
	{
		ID: "include.fields", Title: "fields of an included relation", Source: suite.OurFields, Writes: true, Synchronous: ofReads,
		Rule: "fields[relation] selects attributes of embedded resources.",
		Run: func(p *suite.Probe) {
			f := p.RelatedParents()
			name := p.RelationToParent(f)
			parent := p.OK(p.Get(f.Parent.PathOf(f.First))).Resource()
			at := slices.IndexFunc(parent.Order, func(name string) bool { return name != "id" && name != "type" })
			p.SkipIf(at < 0, "%s has no attributes", f.Parent.Name)
			attribute := parent.Order[at]
			r := p.OK(p.Get(f.Child.PathOf(f.Children[0]) + "?include=" + name + "&fields[" + name + "]=" + attribute))
			embedded, _ := r.Resource().Members[name].(map[string]any)
			p.Selected(r, embedded, attribute)
		},
	},
	{
		ID: "include.unknown", Title: "a relation that does not exist", Source: suite.OurRelated,
		Rule: "include of a relation that does not exist is 400.",
		Run:  refused("include=conform_unknown"),
	},
	{
		ID: "include.read-only", Title: "a body with an embedded resource", Source: suite.OurRelated, Writes: true, Synchronous: ofReads,
		Rule: "A body that sends an embedded member back is 422.",
		Run: func(p *suite.Probe) {
			f := p.RelatedParents()
			parent := p.OK(p.Get(f.Parent.PathOf(f.First))).Resource()
			p.Status(p.Patch(f.Child.PathOf(f.Children[0]), suite.One(p.RelationToParent(f), parent.Members)), 422)
		},
	},
	{
		ID: "filter.related", Title: "filters through relations", Source: suite.OurFilters, Writes: true, Synchronous: ofReads,
		Rule: "filter[relation.field] filters by a related resource; through a collection, one of its resources must match.",
		Run: func(p *suite.Probe) {
			f := p.RelatedParents()
			p.Lists(f.Child.Path()+"?filter["+p.RelationToParent(f)+".id]="+f.First, f.Children)
			p.Lists(f.Parent.Path()+"?filter["+p.RelationToChildren(f)+".id]="+f.Children[1], []string{f.First})
		},
	},
}

var fieldChecks = []suite.Check{
	{
		ID: "fields.selects", Title: "fields", Source: suite.OurFields, Needs: 2,
		Rule: "fields selects attributes: id, type and those are returned, in lists and in single resources.",
		Run: func(p *suite.Probe) {
			a := p.Attribute("attribute", func(suite.Attribute) bool { return true })
			for _, path := range []string{p.Collection.Path() + "?limit=2&", p.Item(0) + "?"} {
				r := p.OK(p.Get(path + "fields=" + a.Name))
				for _, each := range r.Resources() {
					p.Selected(r, each.Members, a.Name)
				}
			}
		},
	},
	{
		ID: "fields.unknown", Title: "fields that do not exist", Source: suite.OurFields,
		Rule: "An attribute in fields that does not exist is 400.",
		Run:  refused("fields=conform_unknown"),
	},
}
