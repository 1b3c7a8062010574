package checks

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/plural-go/plural/conform/internal/suite"
)

// alwaysSynchronous is why checks of arrays are not run asynchronously.
const alwaysSynchronous = "arrays, which are never done asynchronously"

var createChecks = []suite.Check{
	{
		ID: "create.status", Title: "status of POST", Source: suite.ConventionOperations, Writes: true, Synchronous: "the status of the response",
		Rule: "POST /<collection> answers 201, or 202 if it is asynchronous.",
		Run:  func(p *suite.Probe) { p.Status(p.Post(p.Body(nil)), 201, 202) },
	},
	{
		ID: "create.full", Title: "POST answers with the full resource", Source: suite.ConventionStatus, Writes: true, Synchronous: "the resource in the response",
		Rule: "On 201 the full resource is returned, with all attributes.",
		Run: func(p *suite.Probe) {
			created := p.Synchronous(p.Post(p.Body(nil)))
			read := p.OK(p.Get(p.Collection.PathOf(created.CreatedID())))
			p.FullAs(created, read.Resource())
		},
	},
	{
		ID: "create.accepted", Title: "202 has id and type alone", Source: suite.ConventionStatus, Writes: true,
		Rule: "On 202 the full resource is never returned: data has only id and type.",
		Run: func(p *suite.Probe) {
			r := p.OK(p.Prefer("respond-async", http.MethodPost, p.Collection.Path(), p.Body(nil)))
			p.SkipIf(r.Status != http.StatusAccepted, "the server answers synchronously, also with Prefer: respond-async")
			names := slices.Sorted(slices.Values(r.Resource().Order))
			p.FailIf(!slices.Equal(names, []string{"id", "type"}), r, `{"data":{"id":…,"type":…}}`, "%s", r.Summary())
		},
	},
	{
		ID: "create.values", Title: "what is sent is kept", Source: suite.OurBodies, Writes: true,
		Rule: "Values are stored as they are sent.",
		Run: func(p *suite.Probe) {
			members := p.Whole()
			created := p.OK(p.Post(suite.EncodeJSON(members)))
			read := p.OK(p.Get(p.Collection.PathOf(created.CreatedID())))
			p.HasValues(read, members)
		},
	},
	{
		ID: "create.location", Title: "Location of a new resource", Source: suite.OurOperations, Writes: true, Synchronous: "the Location of 201",
		Rule: "201 has Location, the path of the new resource.",
		Run: func(p *suite.Probe) {
			r := p.Synchronous(p.Post(p.Body(nil)))
			p.LeadsTo(r, "Location", p.Collection.PathOf(r.CreatedID()))
		},
	},
	{
		ID: "create.default", Title: "defaults", Source: suite.OurOperations, Writes: true,
		Rule: "A missing attribute gets its default, or null.",
		Run: func(p *suite.Probe) {
			a := p.Attribute("optional attribute", p.Omissible)
			created := p.OK(p.Post(p.Body(map[string]any{a.Name: suite.Nothing{}})))
			p.HasValues(p.OK(p.Get(p.Collection.PathOf(created.CreatedID()))), map[string]any{a.Name: a.Default})
		},
	},
	{
		ID: "create.required", Title: "a required attribute that is missing", Source: suite.OurBodies, Writes: true,
		Rule: "A body without a required attribute is 422.",
		Run: func(p *suite.Probe) {
			a := p.Attribute("required attribute without a default", func(a suite.Attribute) bool { return a.Required && a.Default == nil })
			p.Status(p.Post(p.Body(map[string]any{a.Name: suite.Nothing{}})), 422)
			p.Status(p.Post(p.Body(map[string]any{a.Name: nil})), 422)
		},
	},
	{
		ID: "create.own-id", Title: "an id that the client brings", Source: suite.OurResources, Writes: true,
		Rule: "A client may send its own id, any UUID.",
		Run: func(p *suite.Probe) {
			id := suite.NewUUID()
			r := p.OK(p.Post(p.Body(map[string]any{"id": id})))
			got := r.CreatedID()
			p.FailIf(got != id, r, "the id "+id, "%s", got)
			p.OK(p.Get(p.Collection.PathOf(id)))
		},
	},
	{
		ID: "create.existing-id", Title: "an id that exists already", Source: suite.OurResources, Writes: true,
		Rule: "An existing id is 409, and its resource does not change.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			p.Status(p.Post(p.Body(map[string]any{"id": suite.IDOf(path)})), 409)
			p.Unchanged(path, before)
		},
	},
	{
		ID: "create.array", Title: "POST of an array", Source: suite.OurOperations, Writes: true, Synchronous: alwaysSynchronous,
		Rule: "POST of an array creates a resource for each item, and answers 201 with an array in the same order.",
		Run: func(p *suite.Probe) {
			ids := []string{suite.NewUUID(), suite.NewUUID(), suite.NewUUID()}
			slices.SortFunc(ids, func(a, b string) int { return strings.Compare(b, a) }) // not the order of the collection
			bodies := make([]string, len(ids))
			for i, id := range ids {
				bodies[i] = p.Body(map[string]any{"id": id})
			}
			p.HasIDs(p.Status(p.Post("["+strings.Join(bodies, ",")+"]"), 201), ids)
			for _, id := range ids {
				p.OK(p.Get(p.Collection.PathOf(id)))
			}
		},
	},
	{
		ID: "create.array-of-one", Title: "POST of an array with one item", Source: suite.OurOperations, Writes: true, Synchronous: alwaysSynchronous,
		Rule: "The response to an array of one item is an array, and that to [] is [].",
		Run: func(p *suite.Probe) {
			p.DataIs(p.Post("["+p.Body(nil)+"]"), '[', "an array")
			var empty []json.RawMessage
			r := p.OK(p.Post("[]"))
			p.FailIf(json.Unmarshal(r.Data(), &empty) != nil || len(empty) != 0, r, `{"data":[]}`, "%s", r.Summary())
		},
	},
	{
		ID: "create.array-all-or-none", Title: "an array is created whole or not at all", Source: suite.OurOperations, Writes: true, Synchronous: alwaysSynchronous,
		Rule: "When one item of an array is invalid, nothing is created.",
		Run: func(p *suite.Probe) {
			before := p.Count()
			r := p.Post("[" + p.Body(nil) + "," + p.Body(map[string]any{"conform_unknown": 1}) + "," + p.Body(nil) + "]")
			p.SkipIf(r.Succeeded(), "an unknown attribute does not make an item invalid (see body.unknown-attribute)")
			p.Counts(r, before)
		},
	},
	{
		ID: "create.array-same-id", Title: "an array with one id twice", Source: suite.OurOperations, Writes: true, Synchronous: alwaysSynchronous,
		Rule: "One id twice in an array is 409, and nothing is created.",
		Run: func(p *suite.Probe) {
			id := suite.NewUUID()
			p.Status(p.Post("["+p.Body(map[string]any{"id": id})+","+p.Body(map[string]any{"id": id})+"]"), 409)
			p.Absent(p.Collection.PathOf(id))
		},
	},
	{
		ID: "create.read-only", Title: "timestamps in POST", Source: suite.OurBodies, Writes: true,
		Rule: "created_at and updated_at in POST are 422.",
		Run: func(p *suite.Probe) {
			p.HasTimestamps()
			for _, name := range suite.Timestamps {
				p.Status(p.Post(p.Body(map[string]any{name: "2020-01-01T00:00:00.000Z"})), 422)
			}
		},
	},
}
