package conform

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// alwaysSynchronous is why checks of arrays are not run asynchronously.
const alwaysSynchronous = "arrays, which are never done asynchronously"

var createChecks = []Check{
	{
		ID: "create.status", Title: "status of POST", Source: seedOperations, Writes: true, Synchronous: "the status of the response",
		Rule: "POST /<collection> answers 201, or 202 if it is asynchronous.",
		run:  func(p *probe) { p.status(p.post(p.body(nil)), 201, 202) },
	},
	{
		ID: "create.full", Title: "POST answers with the full resource", Source: seedStatus, Writes: true, Synchronous: "the resource in the response",
		Rule: "On 201 the full resource is returned, with all attributes.",
		run: func(p *probe) {
			created := p.synchronous(p.post(p.body(nil)))
			read := p.ok(p.get(p.collection.path() + "/" + created.createdID()))
			p.fullAs(created, read.resource())
		},
	},
	{
		ID: "create.accepted", Title: "202 has id and type alone", Source: seedStatus, Writes: true,
		Rule: "On 202 the full resource is never returned: data has only id and type.",
		run: func(p *probe) {
			r := p.ok(p.prefer("respond-async", http.MethodPost, p.collection.path(), p.body(nil)))
			if r.status != http.StatusAccepted {
				p.skip("the server answers synchronously, also with Prefer: respond-async")
			}
			names := slices.Sorted(slices.Values(r.resource().order))
			if !slices.Equal(names, []string{"id", "type"}) {
				p.fail(r, `{"data":{"id":…,"type":…}}`, "%s", r.summary())
			}
		},
	},
	{
		ID: "create.values", Title: "what is sent is kept", Source: ourBodies, Writes: true,
		Rule: "Values are stored as they are sent.",
		run: func(p *probe) {
			members := p.whole()
			created := p.ok(p.post(encodeJSON(members)))
			read := p.ok(p.get(p.collection.path() + "/" + created.createdID()))
			p.hasValues(read, members)
		},
	},
	{
		ID: "create.location", Title: "Location of a new resource", Source: ourOperations, Writes: true, Synchronous: "the Location of 201",
		Rule: "201 has Location, the path of the new resource.",
		run: func(p *probe) {
			r := p.synchronous(p.post(p.body(nil)))
			given, want := r.header.Get("Location"), p.base+p.collection.path()+"/"+r.createdID()
			if got := r.target(given); given == "" || !strings.EqualFold(got, want) {
				p.fail(r, "Location: "+want, "%q", given)
			}
		},
	},
	{
		ID: "create.default", Title: "defaults", Source: ourOperations, Writes: true,
		Rule: "A missing attribute gets its default, or null.",
		run: func(p *probe) {
			a := p.attribute("optional attribute", p.omissible)
			created := p.ok(p.post(p.body(map[string]any{a.Name: nothing{}})))
			read := p.ok(p.get(p.collection.path() + "/" + created.createdID()))
			if got := read.resource().members[a.Name]; !equalJSON(got, a.Default) {
				p.fail(read, a.Name+" is "+encodeJSON(a.Default), "%s", encodeJSON(got))
			}
		},
	},
	{
		ID: "create.required", Title: "a required attribute that is missing", Source: ourBodies, Writes: true,
		Rule: "A body without a required attribute is 422.",
		run: func(p *probe) {
			a := p.attribute("required attribute without a default", func(a attribute) bool { return a.required && a.Default == nil })
			p.status(p.post(p.body(map[string]any{a.Name: nothing{}})), 422)
			p.status(p.post(p.body(map[string]any{a.Name: nil})), 422)
		},
	},
	{
		ID: "create.own-id", Title: "an id that the client brings", Source: ourResources, Writes: true,
		Rule: "A client may send its own id, any UUID.",
		run: func(p *probe) {
			id := newUUID()
			r := p.ok(p.post(p.body(map[string]any{"id": id})))
			if got := r.createdID(); got != id {
				p.fail(r, "the id "+id, "%s", got)
			}
			p.ok(p.get(p.collection.path() + "/" + id))
		},
	},
	{
		ID: "create.existing-id", Title: "an id that exists already", Source: ourResources, Writes: true,
		Rule: "An existing id is 409, and its resource does not change.",
		run: func(p *probe) {
			path, before := p.create()
			p.status(p.post(p.body(map[string]any{"id": idOf(path)})), 409)
			p.unchanged(path, before)
		},
	},
	{
		ID: "create.array", Title: "POST of an array", Source: ourOperations, Writes: true, Synchronous: alwaysSynchronous,
		Rule: "POST of an array creates a resource for each item, and answers 201 with an array in the same order.",
		run: func(p *probe) {
			ids := []string{newUUID(), newUUID(), newUUID()}
			slices.SortFunc(ids, func(a, b string) int { return strings.Compare(b, a) }) // not the order of the collection
			bodies := make([]string, len(ids))
			for i, id := range ids {
				bodies[i] = p.body(map[string]any{"id": id})
			}
			r := p.status(p.post("["+strings.Join(bodies, ",")+"]"), 201)
			if got := r.ids(); !slices.Equal(got, ids) {
				p.fail(r, "the ids "+strings.Join(ids, ", "), "%s", strings.Join(got, ", "))
			}
			for _, id := range ids {
				p.ok(p.get(p.collection.path() + "/" + id))
			}
		},
	},
	{
		ID: "create.array-of-one", Title: "POST of an array with one item", Source: ourOperations, Writes: true, Synchronous: alwaysSynchronous,
		Rule: "The response to an array of one item is an array, and that to [] is [].",
		run: func(p *probe) {
			p.dataIs(p.post("["+p.body(nil)+"]"), '[', "an array")
			var empty []json.RawMessage
			if r := p.ok(p.post("[]")); json.Unmarshal(r.data(), &empty) != nil || len(empty) != 0 {
				p.fail(r, `{"data":[]}`, "%s", r.summary())
			}
		},
	},
	{
		ID: "create.array-all-or-none", Title: "an array is created whole or not at all", Source: ourOperations, Writes: true, Synchronous: alwaysSynchronous,
		Rule: "When one item of an array is invalid, nothing is created.",
		run: func(p *probe) {
			before := p.count()
			r := p.post("[" + p.body(nil) + "," + p.body(map[string]any{"conform_unknown": 1}) + "," + p.body(nil) + "]")
			if r.succeeded() {
				p.skip("an unknown attribute does not make an item invalid (see body.unknown-attribute)")
			}
			if after := p.count(); after != before {
				p.fail(r, fmt.Sprintf("%d resources, as before", before), "%d", after)
			}
		},
	},
	{
		ID: "create.array-same-id", Title: "an array with one id twice", Source: ourOperations, Writes: true, Synchronous: alwaysSynchronous,
		Rule: "One id twice in an array is 409, and nothing is created.",
		run: func(p *probe) {
			id := newUUID()
			p.status(p.post("["+p.body(map[string]any{"id": id})+","+p.body(map[string]any{"id": id})+"]"), 409)
			p.absent(p.collection.path() + "/" + id)
		},
	},
	{
		ID: "create.read-only", Title: "timestamps in POST", Source: ourBodies, Writes: true,
		Rule: "created_at and updated_at in POST are 422.",
		run: func(p *probe) {
			p.hasTimestamps()
			for _, name := range timestamps {
				p.status(p.post(p.body(map[string]any{name: "2020-01-01T00:00:00.000Z"})), 422)
			}
		},
	},
}

// synchronous skips the check unless the response contains the resource.
func (p *probe) synchronous(r *reply) *reply {
	if p.ok(r).status == http.StatusAccepted {
		p.skip("the server answers %s asynchronously", r.method)
	}
	return r
}

// fullAs fails unless a representation has every member of the one that GET returns. Other checks
// compare the values of the timestamps.
func (p *probe) fullAs(r *reply, want resource) {
	got := r.resource()
	for _, name := range want.order {
		if slices.Contains(timestamps, name) {
			if !got.has(name) {
				p.fail(r, "the member "+name, "%s", r.summary())
			}
		} else if name != "id" && name != "type" && (!got.has(name) || !equalJSON(got.members[name], want.members[name])) {
			p.fail(r, "all members that GET gives: "+encodeJSON(want.members), "%s", r.summary())
		}
	}
}

// unchanged fails unless a resource is as before, timestamps included.
func (p *probe) unchanged(path string, before resource) {
	r := p.ok(p.get(path))
	if !equalMembers(r.resource(), before) {
		p.fail(r, "unchanged: "+encodeJSON(before.members), "%s", r.summary())
	}
}

// absent fails if there is a resource at a path. path.unknown-id checks the status of the
// response.
func (p *probe) absent(path string) {
	if r := p.get(path); r.succeeded() && r.resource().id() == idOf(path) {
		p.fail(r, "nothing there", "%s", r.summary())
	}
}

// idOf is the last part of a path.
func idOf(path string) string { return path[strings.LastIndex(path, "/")+1:] }

// count is the current number of resources in the collection.
func (p *probe) count() int { return len(p.all(p.collection.path(), "")) }

// omissible is an attribute that is known to be optional.
func (p *probe) omissible(a attribute) bool {
	return p.collection.optional(a) && a.References == ""
}

func (p *probe) hasTimestamps() {
	p.need(1)
	if !p.reference[0].has("created_at") || !p.reference[0].has("updated_at") {
		p.skip("the collection has no timestamps")
	}
}
