package checks

import (
	"net/http"

	"github.com/plural-go/plural/conform/internal/suite"
)

var childChecks = []suite.Check{
	{
		ID: "child.list", Title: "GET of a sub-collection", Source: suite.OurChildren, Writes: true,
		Rule: "GET /<parents>/<id>/<children> lists the children of that parent, and no others.",
		Run: func(p *suite.Probe) {
			f := p.SharedParents()
			p.Lists(f.Path(f.First), f.Children)
		},
	},
	{
		ID: "child.range", Title: "a range of a sub-collection", Source: suite.OurChildren, Writes: true,
		Rule: "Ranges of a sub-collection count among the children of that parent.",
		Run: func(p *suite.Probe) {
			f := p.SharedParents()
			for query, want := range map[string][]string{
				"offset=1&limit=1": f.Children[1:2], "offset=1&limit=-20": f.Children[:1], "cursor=" + f.Children[1] + "&limit=30": f.Children[1:],
			} {
				p.Lists(f.Path(f.First)+"?"+query, want)
			}
		},
	},
	{
		ID: "child.total", Title: "X-Total-Count of a sub-collection", Source: suite.OurResponses, Writes: true,
		Rule: "X-Total-Count of a sub-collection is the number of children of that parent.",
		Run: func(p *suite.Probe) {
			f := p.SharedParents()
			p.Total(p.OK(p.Get(f.Path(f.First)+"?limit=1")), len(f.Children))
		},
	},
	{
		ID: "child.create", Title: "POST to a sub-collection", Source: suite.OurChildren, Writes: true,
		Rule: "POST takes the parent from the path.",
		Run: func(p *suite.Probe) {
			f := p.SharedParents()
			r := p.OK(p.Get(f.Child.PathOf(f.Children[0])))
			got := r.Resource().Text(f.Attribute)
			p.FailIf(got != f.First, r, f.Attribute+" is "+f.First, "%q", got)
		},
	},
	{
		ID: "child.location", Title: "Location of a child", Source: suite.OurChildren, Writes: true, Synchronous: "the Location of 201",
		Rule: "Location of a new child is its path in its own collection.",
		Run: func(p *suite.Probe) {
			f := p.NewParents()
			r := p.OK(p.Send(http.MethodPost, f.Path(f.First), f.Body(p, nil)))
			p.LeadsTo(r, "Location", f.Child.PathOf(r.CreatedID()))
		},
	},
	{
		ID: "child.read", Title: "GET of a child below its parent", Source: suite.OurChildren, Writes: true,
		Rule: "A child is the same under its parent and in its own collection.",
		Run: func(p *suite.Probe) {
			f := p.SharedParents()
			below, own := p.OK(p.Get(f.Path(f.First)+"/"+f.Children[0])), p.OK(p.Get(f.Child.PathOf(f.Children[0])))
			p.FailIf(!suite.EqualMembers(below.Resource(), own.Resource()), below, own.Summary(), "%s", below.Summary())
		},
	},
	{
		ID: "child.update", Title: "PUT, PATCH and DELETE of a child below its parent", Source: suite.OurChildren, Writes: true,
		Rule: "A sub-collection has the same operations: PUT keeps the parent of the path, PATCH and DELETE reach the child.",
		Run: func(p *suite.Probe) {
			f := p.NewParents()
			path, own := f.Path(f.First)+"/"+f.Children[0], f.Child.PathOf(f.Children[0])
			r := p.Status(p.Put(path, f.Body(p, nil)), 200)
			got := p.OK(p.Get(own)).Resource().Text(f.Attribute)
			p.FailIf(got != f.First, r, f.Attribute+" stays "+f.First, "%q", got)
			p.Status(p.Patch(path, "{}"), 200)
			p.Status(p.Delete(path), 200)
			p.Status(p.Get(own), 404)
		},
	},
	{
		ID: "child.unknown-parent", Title: "a parent that does not exist", Source: suite.OurChildren, Writes: true,
		Rule: "A sub-collection of an unknown parent is 404, for GET and for POST.",
		Run: func(p *suite.Probe) {
			f := p.SharedParents()
			p.Status(p.Get(f.Path(suite.NewUUID())), 404)
			p.Status(p.Send(http.MethodPost, f.Path(suite.NewUUID()), f.Body(p, nil)), 404)
		},
	},
	{
		ID: "child.other-parent", Title: "a child of another parent", Source: suite.OurChildren, Writes: true,
		Rule: "A child under another parent is 404.",
		Run: func(p *suite.Probe) {
			f := p.NewParents()
			path := f.Path(f.Second) + "/" + f.Children[0]
			p.Status(p.Get(path), 404)
			p.Status(p.Patch(path, "{}"), 404)
			p.Status(p.Delete(path), 404)
		},
	},
	{
		ID: "child.parent-mismatch", Title: "a body with another parent", Source: suite.OurChildren, Writes: true,
		Rule: "A POST or PUT body with another parent than the path is 422; the same parent is accepted.",
		Run: func(p *suite.Probe) {
			f := p.NewParents()
			p.Status(p.Send(http.MethodPost, f.Path(f.First), f.Body(p, map[string]any{f.Attribute: f.Second})), 422)
			p.Status(p.Put(f.Path(f.First)+"/"+f.Children[0], f.Body(p, map[string]any{f.Attribute: f.Second})), 422)
			p.OK(p.Send(http.MethodPost, f.Path(f.First), f.Body(p, map[string]any{f.Attribute: f.First})))
		},
	},
	{
		ID: "child.move", Title: "PATCH moves a child", Source: suite.OurChildren, Writes: true,
		Rule: "PATCH may set another parent, which moves the child.",
		Run: func(p *suite.Probe) {
			f := p.NewParents()
			p.OK(p.Patch(f.Path(f.First)+"/"+f.Children[0], suite.One(f.Attribute, f.Second)))
			p.OK(p.Get(f.Path(f.Second) + "/" + f.Children[0]))
			p.Status(p.Get(f.Path(f.First)+"/"+f.Children[0]), 404)
		},
	},
	{
		ID: "child.cursor", Title: "a cursor of another parent", Source: suite.OurRanges, Writes: true,
		Rule: "A cursor that belongs to another parent is 400.",
		Run: func(p *suite.Probe) {
			f := p.SharedParents()
			p.Status(p.Get(f.Path(f.Second)+"?cursor="+f.Children[0]), 400)
		},
	},
}
