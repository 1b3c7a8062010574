package conform

import (
	"net/http"
	"slices"
	"strings"
)

var childChecks = []Check{
	{
		ID: "child.list", Title: "GET of a sub-collection", Source: ourChildren, Writes: true,
		Rule: "GET /<parents>/<id>/<children> lists the children of that parent, and no others.",
		run: func(p *probe) {
			f := p.family()
			r := p.ok(p.get(f.path(f.mother)))
			if got := r.ids(); !slices.Equal(got, f.children) {
				p.fail(r, "the children "+strings.Join(f.children, ", "), "%s", strings.Join(got, ", "))
			}
		},
	},
	{
		ID: "child.range", Title: "a range of a sub-collection", Source: ourChildren, Writes: true,
		Rule: "Ranges of a sub-collection count among the children of that parent.",
		run: func(p *probe) {
			f := p.family()
			for query, want := range map[string][]string{
				"offset=1&limit=1": f.children[1:2], "offset=1&limit=-20": f.children[:1], "cursor=" + f.children[1] + "&limit=30": f.children[1:],
			} {
				r := p.ok(p.get(f.path(f.mother) + "?" + query))
				if got := r.ids(); !slices.Equal(got, want) {
					p.fail(r, strings.Join(want, ", "), "%s", strings.Join(got, ", "))
				}
			}
		},
	},
	{
		ID: "child.total", Title: "X-Total-Count of a sub-collection", Source: ourResponses, Writes: true,
		Rule: "X-Total-Count of a sub-collection is the number of children of that parent.",
		run: func(p *probe) {
			f := p.family()
			p.total(p.ok(p.get(f.path(f.mother)+"?limit=1")), len(f.children))
		},
	},
	{
		ID: "child.create", Title: "POST to a sub-collection", Source: ourChildren, Writes: true,
		Rule: "POST takes the parent from the path.",
		run: func(p *probe) {
			f := p.family()
			r := p.ok(p.get(f.child.path() + "/" + f.children[0]))
			if got := r.resource().text(f.attribute); got != f.mother {
				p.fail(r, f.attribute+" is "+f.mother, "%q", got)
			}
		},
	},
	{
		ID: "child.location", Title: "Location of a child", Source: ourChildren, Writes: true, Synchronous: "the Location of 201",
		Rule: "Location of a new child is its path in its own collection.",
		run: func(p *probe) {
			f := p.newFamily()
			r := p.ok(p.send(http.MethodPost, f.path(f.mother), f.body(p, nil)))
			given, want := r.header.Get("Location"), p.base+f.child.path()+"/"+r.createdID()
			if given == "" || !strings.EqualFold(r.target(given), want) {
				p.fail(r, "Location: "+want, "%q", given)
			}
		},
	},
	{
		ID: "child.read", Title: "GET of a child below its parent", Source: ourChildren, Writes: true,
		Rule: "A child is the same under its parent and in its own collection.",
		run: func(p *probe) {
			f := p.family()
			below, own := p.ok(p.get(f.path(f.mother)+"/"+f.children[0])), p.ok(p.get(f.child.path()+"/"+f.children[0]))
			if !equalMembers(below.resource(), own.resource()) {
				p.fail(below, own.summary(), "%s", below.summary())
			}
		},
	},
	{
		ID: "child.update", Title: "PUT, PATCH and DELETE of a child below its parent", Source: ourChildren, Writes: true,
		Rule: "A sub-collection has the same operations: PUT keeps the parent of the path, PATCH and DELETE reach the child.",
		run: func(p *probe) {
			f := p.newFamily()
			path, own := f.path(f.mother)+"/"+f.children[0], f.child.path()+"/"+f.children[0]
			r := p.status(p.send(http.MethodPut, path, f.body(p, nil)), 200)
			if got := p.ok(p.get(own)).resource().text(f.attribute); got != f.mother {
				p.fail(r, f.attribute+" stays "+f.mother, "%q", got)
			}
			p.status(p.send(http.MethodPatch, path, "{}"), 200)
			p.status(p.send(http.MethodDelete, path, ""), 200)
			p.status(p.get(own), 404)
		},
	},
	{
		ID: "child.unknown-parent", Title: "a parent that does not exist", Source: ourChildren, Writes: true,
		Rule: "A sub-collection of an unknown parent is 404, for GET and for POST.",
		run: func(p *probe) {
			f := p.family()
			p.status(p.get(f.path(newUUID())), 404)
			p.status(p.send(http.MethodPost, f.path(newUUID()), f.body(p, nil)), 404)
		},
	},
	{
		ID: "child.other-parent", Title: "a child of another parent", Source: ourChildren, Writes: true,
		Rule: "A child under another parent is 404.",
		run: func(p *probe) {
			f := p.newFamily()
			path := f.path(f.aunt) + "/" + f.children[0]
			p.status(p.get(path), 404)
			p.status(p.send(http.MethodPatch, path, "{}"), 404)
			p.status(p.send(http.MethodDelete, path, ""), 404)
		},
	},
	{
		ID: "child.parent-mismatch", Title: "a body with another parent", Source: ourChildren, Writes: true,
		Rule: "A POST or PUT body with another parent than the path is 422; the same parent is accepted.",
		run: func(p *probe) {
			f := p.newFamily()
			p.status(p.send(http.MethodPost, f.path(f.mother), f.body(p, map[string]any{f.attribute: f.aunt})), 422)
			p.status(p.send(http.MethodPut, f.path(f.mother)+"/"+f.children[0], f.body(p, map[string]any{f.attribute: f.aunt})), 422)
			p.ok(p.send(http.MethodPost, f.path(f.mother), f.body(p, map[string]any{f.attribute: f.mother})))
		},
	},
	{
		ID: "child.move", Title: "PATCH moves a child", Source: ourChildren, Writes: true,
		Rule: "PATCH may set another parent, which moves the child.",
		run: func(p *probe) {
			f := p.newFamily()
			p.ok(p.send(http.MethodPatch, f.path(f.mother)+"/"+f.children[0], one(f.attribute, f.aunt)))
			p.ok(p.get(f.path(f.aunt) + "/" + f.children[0]))
			p.status(p.get(f.path(f.mother)+"/"+f.children[0]), 404)
		},
	},
	{
		ID: "child.cursor", Title: "a cursor of another parent", Source: ourRanges, Writes: true,
		Rule: "A cursor that belongs to another parent is 400.",
		run: func(p *probe) {
			f := p.family()
			p.status(p.get(f.path(f.aunt)+"?cursor="+f.children[0]), 400)
		},
	},
}

// A family is a parent with three children, in the order of their ids, and another parent with one
// child.
type family struct {
	relation
	mother, aunt string
	children     []string
}

// family returns a family that several checks use, so they must not change it.
func (p *probe) family() family {
	if p.shared == nil {
		made := p.newFamily()
		p.shared = &made
	}
	return *p.shared
}

func (p *probe) newFamily() family {
	if p.suite.children == nil {
		p.skip("%s", p.noChild)
	}
	f := family{relation: *p.suite.children}
	parent := func() string {
		created, err := p.createValid(f.parent)
		if err != nil {
			p.skip("%v", err)
		}
		return p.ok(created).createdID()
	}
	f.mother, f.aunt = parent(), parent()
	for range 3 {
		f.children = append(f.children, p.ok(p.send(http.MethodPost, f.path(f.mother), f.body(p, nil))).createdID())
	}
	slices.Sort(f.children)
	p.ok(p.send(http.MethodPost, f.path(f.aunt), f.body(p, nil))) // a server that ignores the parent would list this one too
	return f
}

// body is the body of a child, without its parent, which is in the path.
func (f family) body(p *probe, changes map[string]any) string {
	p.counter++
	members, err := p.members(f.child, p.counter)
	if err != nil {
		p.skip("%v", err)
	}
	delete(members, f.attribute)
	for name, value := range changes {
		members[name] = value
	}
	return encodeJSON(members)
}
