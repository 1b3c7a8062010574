package checks

import (
	"net/http"
	"slices"

	"github.com/plural-go/plural/conform/internal/suite"
)

var patchChecks = []suite.Check{
	{
		ID: "patch.status", Title: "status of PATCH", Source: suite.ConventionOperations, Writes: true, Synchronous: "the status of the response",
		Rule: "PATCH /<collection>/<id> answers 200, or 202 if it is asynchronous.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			p.Status(p.Patch(path, p.ChangeBody(http.MethodPatch, before)), 200, 202)
		},
	},
	{
		ID: "patch.changes", Title: "PATCH changes what it names", Source: suite.ConventionPayload, Writes: true,
		Rule: "A PATCH body is an object whose members are the attributes to change, not wrapped in data.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			name, value := p.Change(before)
			p.Synchronous(p.Patch(path, suite.One(name, value)))
			p.HasValues(p.OK(p.Get(path)), map[string]any{name: value})
		},
	},
	{
		ID: "patch.partial", Title: "PATCH leaves the rest alone", Source: suite.ConventionOperations, Writes: true,
		Rule: "PATCH updates a resource partially: other attributes do not change.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			name, value := p.Change(before)
			p.Synchronous(p.Patch(path, suite.One(name, value)))
			r := p.OK(p.Get(path))
			for _, other := range before.Order {
				if got := r.Resource().Members[other]; other != name && !p.IsComputed(other) && !slices.Contains(suite.OwnMembers, other) && !suite.EqualJSON(got, before.Members[other]) {
					p.Fail(r, other+" stays "+suite.EncodeJSON(before.Members[other]), "%s", suite.EncodeJSON(got))
				}
			}
		},
	},
	{
		ID: "patch.full", Title: "PATCH answers with the full resource", Source: suite.ConventionStatus, Writes: true, Synchronous: "the resource in the response",
		Rule: "On 200 the full resource is returned with all attributes, including after PATCH.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			r := p.Synchronous(p.Patch(path, p.ChangeBody(http.MethodPatch, before)))
			p.FullAs(r, p.OK(p.Get(path)).Resource())
		},
	},
	{
		ID: "patch.null", Title: "null in PATCH", Source: suite.OurOperations, Writes: true,
		Rule: "null in PATCH clears an attribute, also one that has a default.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			a := p.Attribute("optional attribute with a value", func(a suite.Attribute) bool { return p.Omissible(a) && before.Members[a.Name] != nil })
			p.OK(p.Patch(path, suite.One(a.Name, nil)))
			p.HasValues(p.OK(p.Get(path)), map[string]any{a.Name: nil})
		},
	},
	{
		ID: "patch.null-required", Title: "null for a required attribute", Source: suite.OurBodies, Writes: true,
		Rule: "null for a required attribute is 422.",
		Run: func(p *suite.Probe) {
			a := p.Attribute("required attribute", func(a suite.Attribute) bool { return a.Required })
			path, before := p.Create()
			p.Status(p.Patch(path, suite.One(a.Name, nil)), 422)
			p.Unchanged(path, before)
		},
	},
	{
		ID: "patch.no-op", Title: "PATCH that changes nothing", Source: suite.OurOperations, Writes: true,
		Rule: "{} and a change to the same values answer 200 and write nothing: updated_at stays.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			bodies := []string{"{}"}
			if name, _, found := p.MaybeChange(before); found {
				bodies = append(bodies, suite.One(name, before.Members[name]))
			}
			for _, body := range bodies {
				p.Later()
				r := p.Status(p.Patch(path, body), 200)
				got, want := r.Resource().Text("updated_at"), before.Text("updated_at")
				p.FailIf(got != want, r, "updated_at stays "+want, "%s", got)
				p.Unchanged(path, before)
			}
		},
	},
	{
		ID: "patch.updated-at", Title: "updated_at after PATCH", Source: suite.OurResources, Writes: true,
		Rule: "A change increases updated_at and does not change created_at.",
		Run: func(p *suite.Probe) {
			p.HasTimestamps()
			path, before := p.Create()
			name, value := p.Change(before)
			p.Later()
			r := p.OK(p.Patch(path, suite.One(name, value)))
			after := r.Resource()
			p.FailIf(after.Text("updated_at") <= before.Text("updated_at"), r, "updated_at after "+before.Text("updated_at"), "%s", after.Text("updated_at"))
			p.FailIf(after.Text("created_at") != before.Text("created_at"), r, "created_at stays "+before.Text("created_at"), "%s", after.Text("created_at"))
		},
	},
	{
		ID: "patch.unknown-id", Title: "PATCH of what is not there", Source: suite.OurPaths, Writes: true,
		Rule: "PATCH with an unknown id is 404.",
		Run:  func(p *suite.Probe) { p.Status(p.Patch(p.UnknownID(), "{}"), 404) },
	},
	{
		ID: "patch.read-only", Title: "id, type and timestamps in PATCH", Source: suite.OurBodies, Writes: true,
		Rule: "id, type, created_at and updated_at in PATCH are accepted when equal, otherwise 422.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			equal := p.AsRead(path, before)
			other := map[string]any{"id": suite.NewUUID(), "type": "conform", "created_at": "2001-01-01T00:00:00.000Z", "updated_at": "2001-01-01T00:00:00.000Z"}
			for _, name := range suite.OwnMembers {
				if !before.Has(name) {
					continue
				}
				p.OK(p.Patch(path, suite.One(name, equal[name])))
				p.Status(p.Patch(path, suite.One(name, other[name])), 422)
			}
		},
	},
}

var putChecks = []suite.Check{
	{
		ID: "put.status", Title: "status of PUT", Source: suite.ConventionOperations, Writes: true, Synchronous: "the status of the response",
		Rule: "PUT /<collection>/<id> answers 200, or 202 if it is asynchronous.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			p.Status(p.Put(path, p.ChangeBody(http.MethodPut, before)), 200, 202)
		},
	},
	{
		ID: "put.updates", Title: "PUT updates in full", Source: suite.ConventionOperations, Writes: true,
		Rule: "PUT updates a resource in full: every attribute has the value that was sent.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			members := p.Kept(before, p.Whole())
			p.Synchronous(p.Put(path, suite.EncodeJSON(members)))
			p.HasValues(p.OK(p.Get(path)), members)
		},
	},
	{
		ID: "put.full", Title: "PUT answers with the full resource", Source: suite.ConventionStatus, Writes: true, Synchronous: "the resource in the response",
		Rule: "On 200 the full resource is returned with all attributes, including after PUT.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			r := p.Synchronous(p.Put(path, p.ChangeBody(http.MethodPut, before)))
			p.FullAs(r, p.OK(p.Get(path)).Resource())
		},
	},
	{
		ID: "put.replaces", Title: "an attribute left out of PUT", Source: suite.OurOperations, Writes: true,
		Rule: "An attribute that is missing in PUT gets its default, or null.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			a := p.Attribute("optional attribute with a value other than its default", func(a suite.Attribute) bool {
				return p.Omissible(a) && before.Members[a.Name] != nil && (!suite.EqualJSON(before.Members[a.Name], a.Default) || a.Type == "boolean")
			})
			if suite.EqualJSON(before.Members[a.Name], a.Default) {
				p.OK(p.Patch(path, suite.One(a.Name, before.Members[a.Name] != true)))
			}
			p.OK(p.Put(path, suite.EncodeJSON(p.Kept(before, p.NewMembers(map[string]any{a.Name: suite.Nothing{}})))))
			p.HasValues(p.OK(p.Get(path)), map[string]any{a.Name: a.Default})
		},
	},
	{
		ID: "put.never-creates", Title: "PUT of what is not there", Source: suite.OurOperations, Writes: true,
		Rule: "PUT with an unknown id is 404, and creates nothing.",
		Run: func(p *suite.Probe) {
			path := p.UnknownID()
			p.Status(p.Put(path, p.Body(nil)), 404)
			p.Absent(path)
		},
	},
	{
		ID: "put.no-op", Title: "PUT that changes nothing", Source: suite.OurOperations, Writes: true,
		Rule: "PUT of equal values answers 200 and writes nothing: updated_at stays.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			p.Later()
			p.Status(p.Put(path, p.AttributesOf(before)), 200)
			p.Unchanged(path, before)
		},
	},
	{
		ID: "put.read-back", Title: "PUT of what was read", Source: suite.OurBodies, Writes: true,
		Rule: "PUT accepts what was read: id and type when equal, timestamps without effect, even outdated ones.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			name, value := p.Change(before)
			p.OK(p.Patch(path, suite.One(name, value)))
			r := p.OK(p.Put(path, suite.EncodeJSON(p.AsRead(path, before))))
			p.HasValues(r, map[string]any{name: before.Members[name]})
		},
	},
	{
		ID: "put.read-only", Title: "id and type in PUT", Source: suite.OurBodies, Writes: true,
		Rule: "An id or type in PUT that differs from the resource is 422.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			p.Status(p.Put(path, p.Body(map[string]any{"id": suite.NewUUID()})), 422)
			p.Status(p.Put(path, p.Body(map[string]any{"type": "conform"})), 422)
			p.Unchanged(path, before)
		},
	},
}

var deleteChecks = []suite.Check{
	{
		ID: "delete.answer", Title: "DELETE answers with the resource", Source: suite.OurOperations, Writes: true, Synchronous: "the resource in the response",
		Rule: "DELETE answers 200 with the last state of the resource.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			r := p.Status(p.Synchronous(p.Delete(path)), 200)
			p.FailIf(!suite.EqualMembers(r.Resource(), before), r, suite.EncodeJSON(before.Members), "%s", r.Summary())
		},
	},
	{
		ID: "delete.gone", Title: "what is deleted is gone", Source: suite.OurOperations, Writes: true,
		Rule: "A deleted resource is 404 and no longer in its collection.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			p.OK(p.Delete(path))
			p.Status(p.Get(path), 404)
			r := p.List("limit=-1")
			p.FailIf(slices.Contains(p.OK(r).IDs(), before.ID()), r, "a collection without "+before.ID(), "%s", r.Summary())
		},
	},
	{
		ID: "delete.twice", Title: "a second DELETE", Source: suite.OurOperations, Writes: true,
		Rule: "A second DELETE is 404.",
		Run: func(p *suite.Probe) {
			path, _ := p.Create()
			p.OK(p.Delete(path))
			p.Status(p.Delete(path), 404)
		},
	},
	{
		ID: "delete.unknown-id", Title: "DELETE of what was never there", Source: suite.OurPaths, Writes: true,
		Rule: "DELETE with an unknown id is 404.",
		Run:  func(p *suite.Probe) { p.Status(p.Delete(p.UnknownID()), 404) },
	},
}
