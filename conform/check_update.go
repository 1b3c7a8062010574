package conform

import (
	"maps"
	"net/http"
	"slices"
	"time"
)

var patchChecks = []Check{
	{
		ID: "patch.status", Title: "status of PATCH", Source: seedOperations, Writes: true, Synchronous: "the status of the response",
		Rule: "PATCH /<collection>/<id> answers 200, or 202 if it is asynchronous.",
		run: func(p *probe) {
			path, before := p.create()
			name, value := p.change(before)
			p.status(p.send(http.MethodPatch, path, one(name, value)), 200, 202)
		},
	},
	{
		ID: "patch.changes", Title: "PATCH changes what it names", Source: seedPayload, Writes: true,
		Rule: "A PATCH body is an object whose members are the attributes to change, not wrapped in data.",
		run: func(p *probe) {
			path, before := p.create()
			name, value := p.change(before)
			p.synchronous(p.send(http.MethodPatch, path, one(name, value)))
			p.hasValues(p.ok(p.get(path)), map[string]any{name: value})
		},
	},
	{
		ID: "patch.partial", Title: "PATCH leaves the rest alone", Source: seedOperations, Writes: true,
		Rule: "PATCH updates a resource partially: other attributes do not change.",
		run: func(p *probe) {
			path, before := p.create()
			name, value := p.change(before)
			p.synchronous(p.send(http.MethodPatch, path, one(name, value)))
			r := p.ok(p.get(path))
			for _, other := range before.order {
				if got := r.resource().members[other]; other != name && !slices.Contains(ownMembers, other) && !equalJSON(got, before.members[other]) {
					p.fail(r, other+" stays "+encodeJSON(before.members[other]), "%s", encodeJSON(got))
				}
			}
		},
	},
	{
		ID: "patch.full", Title: "PATCH answers with the full resource", Source: seedStatus, Writes: true, Synchronous: "the resource in the response",
		Rule: "On 200 the full resource is returned with all attributes, including after PATCH.",
		run: func(p *probe) {
			path, before := p.create()
			name, value := p.change(before)
			r := p.synchronous(p.send(http.MethodPatch, path, one(name, value)))
			p.fullAs(r, p.ok(p.get(path)).resource())
		},
	},
	{
		ID: "patch.null", Title: "null in PATCH", Source: ourOperations, Writes: true,
		Rule: "null in PATCH clears an attribute, also one that has a default.",
		run: func(p *probe) {
			path, before := p.create()
			a := p.attribute("optional attribute with a value", func(a attribute) bool { return p.omissible(a) && before.members[a.Name] != nil })
			p.ok(p.send(http.MethodPatch, path, one(a.Name, nil)))
			r := p.ok(p.get(path))
			if got := r.resource().members[a.Name]; got != nil {
				p.fail(r, a.Name+" is null", "%s", encodeJSON(got))
			}
		},
	},
	{
		ID: "patch.null-required", Title: "null for a required attribute", Source: ourBodies, Writes: true,
		Rule: "null for a required attribute is 422.",
		run: func(p *probe) {
			a := p.attribute("required attribute", func(a attribute) bool { return a.required })
			path, before := p.create()
			p.status(p.send(http.MethodPatch, path, one(a.Name, nil)), 422)
			p.unchanged(path, before)
		},
	},
	{
		ID: "patch.no-op", Title: "PATCH that changes nothing", Source: ourOperations, Writes: true,
		Rule: "{} and a change to the same values answer 200 and write nothing: updated_at stays.",
		run: func(p *probe) {
			path, before := p.create()
			bodies := []string{"{}"}
			if name, _, found := p.maybeChange(before); found {
				bodies = append(bodies, one(name, before.members[name]))
			}
			for _, body := range bodies {
				p.later()
				r := p.status(p.send(http.MethodPatch, path, body), 200)
				if got, want := r.resource().text("updated_at"), before.text("updated_at"); got != want {
					p.fail(r, "updated_at stays "+want, "%s", got)
				}
				p.unchanged(path, before)
			}
		},
	},
	{
		ID: "patch.updated-at", Title: "updated_at after PATCH", Source: ourResources, Writes: true,
		Rule: "A change increases updated_at and does not change created_at.",
		run: func(p *probe) {
			p.hasTimestamps()
			path, before := p.create()
			name, value := p.change(before)
			p.later()
			r := p.ok(p.send(http.MethodPatch, path, one(name, value)))
			after := r.resource()
			if after.text("updated_at") <= before.text("updated_at") {
				p.fail(r, "updated_at after "+before.text("updated_at"), "%s", after.text("updated_at"))
			}
			if after.text("created_at") != before.text("created_at") {
				p.fail(r, "created_at stays "+before.text("created_at"), "%s", after.text("created_at"))
			}
		},
	},
	{
		ID: "patch.unknown-id", Title: "PATCH of what is not there", Source: ourPaths, Writes: true,
		Rule: "PATCH with an unknown id is 404.",
		run:  func(p *probe) { p.status(p.send(http.MethodPatch, p.unknownID(), "{}"), 404) },
	},
	{
		ID: "patch.read-only", Title: "id, type and timestamps in PATCH", Source: ourBodies, Writes: true,
		Rule: "id, type, created_at and updated_at in PATCH are accepted when equal, otherwise 422.",
		run: func(p *probe) {
			path, before := p.create()
			equal := p.asRead(path, before)
			other := map[string]any{"id": newUUID(), "type": "conform", "created_at": "2001-01-01T00:00:00.000Z", "updated_at": "2001-01-01T00:00:00.000Z"}
			for _, name := range ownMembers {
				if !before.has(name) {
					continue
				}
				p.ok(p.send(http.MethodPatch, path, one(name, equal[name])))
				p.status(p.send(http.MethodPatch, path, one(name, other[name])), 422)
			}
		},
	},
}

var putChecks = []Check{
	{
		ID: "put.status", Title: "status of PUT", Source: seedOperations, Writes: true, Synchronous: "the status of the response",
		Rule: "PUT /<collection>/<id> answers 200, or 202 if it is asynchronous.",
		run: func(p *probe) {
			path, _ := p.create()
			p.status(p.send(http.MethodPut, path, p.body(nil)), 200, 202)
		},
	},
	{
		ID: "put.updates", Title: "PUT updates in full", Source: seedOperations, Writes: true,
		Rule: "PUT updates a resource in full: every attribute has the value that was sent.",
		run: func(p *probe) {
			path, _ := p.create()
			members := p.whole()
			p.synchronous(p.send(http.MethodPut, path, encodeJSON(members)))
			p.hasValues(p.ok(p.get(path)), members)
		},
	},
	{
		ID: "put.full", Title: "PUT answers with the full resource", Source: seedStatus, Writes: true, Synchronous: "the resource in the response",
		Rule: "On 200 the full resource is returned with all attributes, including after PUT.",
		run: func(p *probe) {
			path, _ := p.create()
			r := p.synchronous(p.send(http.MethodPut, path, p.body(nil)))
			p.fullAs(r, p.ok(p.get(path)).resource())
		},
	},
	{
		ID: "put.replaces", Title: "an attribute left out of PUT", Source: ourOperations, Writes: true,
		Rule: "An attribute that is missing in PUT gets its default, or null.",
		run: func(p *probe) {
			path, before := p.create()
			a := p.attribute("optional attribute with a value other than its default", func(a attribute) bool {
				return p.omissible(a) && before.members[a.Name] != nil && (!equalJSON(before.members[a.Name], a.Default) || a.Type == "boolean")
			})
			if equalJSON(before.members[a.Name], a.Default) {
				p.ok(p.send(http.MethodPatch, path, one(a.Name, before.members[a.Name] != true)))
			}
			p.ok(p.send(http.MethodPut, path, p.body(map[string]any{a.Name: nothing{}})))
			r := p.ok(p.get(path))
			if got := r.resource().members[a.Name]; !equalJSON(got, a.Default) {
				p.fail(r, a.Name+" is "+encodeJSON(a.Default), "%s", encodeJSON(got))
			}
		},
	},
	{
		ID: "put.never-creates", Title: "PUT of what is not there", Source: ourOperations, Writes: true,
		Rule: "PUT with an unknown id is 404, and creates nothing.",
		run: func(p *probe) {
			path := p.unknownID()
			p.status(p.send(http.MethodPut, path, p.body(nil)), 404)
			p.absent(path)
		},
	},
	{
		ID: "put.no-op", Title: "PUT that changes nothing", Source: ourOperations, Writes: true,
		Rule: "PUT of equal values answers 200 and writes nothing: updated_at stays.",
		run: func(p *probe) {
			path, before := p.create()
			p.later()
			p.status(p.send(http.MethodPut, path, p.attributesOf(before)), 200)
			p.unchanged(path, before)
		},
	},
	{
		ID: "put.read-back", Title: "PUT of what was read", Source: ourBodies, Writes: true,
		Rule: "PUT accepts what was read: id and type when equal, timestamps without effect, even outdated ones.",
		run: func(p *probe) {
			path, before := p.create()
			name, value := p.change(before)
			p.ok(p.send(http.MethodPatch, path, one(name, value)))
			r := p.ok(p.send(http.MethodPut, path, encodeJSON(p.asRead(path, before))))
			if got := r.resource().members[name]; !equalJSON(got, before.members[name]) {
				p.fail(r, name+" is "+encodeJSON(before.members[name]), "%s", encodeJSON(got))
			}
		},
	},
	{
		ID: "put.read-only", Title: "id and type in PUT", Source: ourBodies, Writes: true,
		Rule: "An id or type in PUT that differs from the resource is 422.",
		run: func(p *probe) {
			path, before := p.create()
			p.status(p.send(http.MethodPut, path, p.body(map[string]any{"id": newUUID()})), 422)
			p.status(p.send(http.MethodPut, path, p.body(map[string]any{"type": "conform"})), 422)
			p.unchanged(path, before)
		},
	},
}

var deleteChecks = []Check{
	{
		ID: "delete.answer", Title: "DELETE answers with the resource", Source: ourOperations, Writes: true, Synchronous: "the resource in the response",
		Rule: "DELETE answers 200 with the last state of the resource.",
		run: func(p *probe) {
			path, before := p.create()
			r := p.status(p.synchronous(p.send(http.MethodDelete, path, "")), 200)
			if !equalMembers(r.resource(), before) {
				p.fail(r, encodeJSON(before.members), "%s", r.summary())
			}
		},
	},
	{
		ID: "delete.gone", Title: "what is deleted is gone", Source: ourOperations, Writes: true,
		Rule: "A deleted resource is 404 and no longer in its collection.",
		run: func(p *probe) {
			path, before := p.create()
			p.ok(p.send(http.MethodDelete, path, ""))
			p.status(p.get(path), 404)
			if r := p.list("limit=-1"); slices.Contains(p.ok(r).ids(), before.id()) {
				p.fail(r, "a collection without "+before.id(), "%s", r.summary())
			}
		},
	},
	{
		ID: "delete.twice", Title: "a second DELETE", Source: ourOperations, Writes: true,
		Rule: "A second DELETE is 404.",
		run: func(p *probe) {
			path, _ := p.create()
			p.ok(p.send(http.MethodDelete, path, ""))
			p.status(p.send(http.MethodDelete, path, ""), 404)
		},
	},
	{
		ID: "delete.unknown-id", Title: "DELETE of what was never there", Source: ourPaths, Writes: true,
		Rule: "DELETE with an unknown id is 404.",
		run:  func(p *probe) { p.status(p.send(http.MethodDelete, p.unknownID(), ""), 404) },
	},
}

// attributesOf is a body with the attributes of a representation alone.
func (p *probe) attributesOf(of resource) string {
	members := maps.Clone(of.members)
	for _, name := range ownMembers {
		delete(members, name)
	}
	return encodeJSON(members)
}

// asRead is a representation to send back. Other checks look at id and type in representations.
func (p *probe) asRead(path string, of resource) map[string]any {
	members := map[string]any{"id": idOf(path), "type": p.collection.Name}
	for name, value := range of.members {
		if _, set := members[name]; !set {
			members[name] = value
		}
	}
	return members
}

// later waits until the clock of the server has another millisecond, so that a new timestamp
// differs from the old one.
func (p *probe) later() {
	select {
	case <-time.After(5 * time.Millisecond):
	case <-p.ctx.Done():
	}
}

// sameMoment compares date-times, which come back in UTC.
func sameMoment(a, b any) bool {
	one, _ := a.(string)
	other, _ := b.(string)
	x, err1 := time.Parse(time.RFC3339, one)
	y, err2 := time.Parse(time.RFC3339, other)
	return err1 == nil && err2 == nil && x.Equal(y)
}
