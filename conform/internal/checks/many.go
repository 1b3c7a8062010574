package checks

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/plural-go/plural/conform/internal/suite"
)

var upsertChecks = []suite.Check{
	{
		ID: "upsert.one", Title: "POST with on_conflict", Source: suite.OurMany, Writes: true, Synchronous: suite.AlwaysNow,
		Rule: "POST with on_conflict creates a resource (201), or changes the one that exists as PATCH does (200).",
		Run: func(p *suite.Probe) {
			id := suite.NewUUID()
			before := p.Status(p.Upsert(suite.EncodeJSON(p.NewMembers(map[string]any{"id": id}))), 201).Resource()
			name, value := p.Change(before)
			p.Status(p.Upsert(suite.EncodeJSON(map[string]any{"id": id, name: value})), 200)
			p.ChangedOnly(p.Collection.PathOf(id), before, name, value)
		},
	},
	{
		ID: "upsert.array", Title: "an array with on_conflict", Source: suite.OurMany, Writes: true, Synchronous: suite.AlwaysNow,
		Rule: "An array with on_conflict is 201 if all were created, else 200, in the order of the array.",
		Run: func(p *suite.Probe) {
			known := map[string]bool{}
			upsert := func(status int, ids ...string) {
				var all []any
				for _, id := range ids {
					if known[id] {
						all = append(all, map[string]any{"id": id})
					} else {
						all = append(all, p.NewMembers(map[string]any{"id": id}))
					}
					known[id] = true
				}
				p.HasIDs(p.Status(p.Upsert(suite.EncodeJSON(all)), status), ids)
			}
			first, second, third := suite.NewUUID(), suite.NewUUID(), suite.NewUUID()
			upsert(201, first, second)
			upsert(200, third, first)
		},
	},
	{
		ID: "upsert.refused", Title: "on_conflict that cannot be done", Source: suite.OurMany, Writes: true, Synchronous: suite.AlwaysNow,
		Rule: "on_conflict that names no unique attribute is 400, and a body without its value 422.",
		Run: func(p *suite.Probe) {
			p.Status(p.Send(http.MethodPost, p.Collection.Path()+"?on_conflict=conform_unknown", p.Body(nil)), 400)
			p.Status(p.Upsert(p.Body(nil)), 422)
		},
	},
}

var dryRunChecks = []suite.Check{
	{
		ID: "dryrun.create", Title: "POST with dry_run", Source: suite.OurMany, Writes: true, Synchronous: suite.AlwaysNow,
		Rule: "POST with dry_run=true answers as POST does, and creates nothing. X-Affected counts the resources.",
		Run: func(p *suite.Probe) {
			id := suite.NewUUID()
			r := p.Status(p.Send(http.MethodPost, p.Collection.Path()+"?"+suite.DryRun, suite.EncodeJSON(p.NewMembers(map[string]any{"id": id}))), 201)
			p.FailIf(r.Resource().ID() != id, r, "the resource "+id, "%s", r.Summary())
			p.Affects(r, 1)
			p.Status(p.Get(p.Collection.PathOf(id)), 404)
		},
	},
	{
		ID: "dryrun.change", Title: "PATCH and DELETE with dry_run", Source: suite.OurMany, Writes: true, Synchronous: suite.AlwaysNow,
		Rule: "PATCH and DELETE with dry_run=true answer as they would, and change nothing. X-Affected counts the resources.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			name, value := p.Change(before)
			r := p.Status(p.Patch(path+"?"+suite.DryRun, suite.One(name, value)), 200)
			p.HasValues(r, map[string]any{name: value})
			p.Affects(r, 1)
			p.Affects(p.Status(p.Delete(path+"?"+suite.DryRun), 200), 1)
			p.ChangedOnly(path, before, name, before.Members[name])
		},
	},
	{
		ID: "dryrun.key", Title: "dry_run with an Idempotency-Key", Source: suite.OurMany, Writes: true, Synchronous: suite.AlwaysNow,
		Rule: "dry_run together with Idempotency-Key is 400.",
		Run: func(p *suite.Probe) {
			p.Status(p.Send(http.MethodPost, p.Collection.Path()+"?"+suite.DryRun, p.Body(nil), suite.OnceHeader, suite.NewUUID()), 400)
		},
	},
}

var transactionChecks = []suite.Check{
	{
		ID: "transaction.all", Title: "POST /-/transaction", Source: suite.OurMany, Writes: true, Synchronous: suite.AlwaysNow,
		Rule: "POST /-/transaction executes all steps in order: 200, and data has the resource of each.",
		Run: func(p *suite.Probe) {
			id, first := p.StepCreate()
			name, value := p.Change(suite.Resource{Members: map[string]any{}})
			r := p.Transaction(first, suite.Step{Method: http.MethodPatch, Path: p.Collection.PathOf(id), Body: map[string]any{name: value}})
			p.SkipIf(r.Status == http.StatusPreconditionRequired, "every change needs If-Match")
			all := p.Status(r, 200).Resources()
			if len(all) != 2 || all[0].ID() != id || all[1].ID() != id || !suite.EqualJSON(all[1].Members[name], value) {
				p.Fail(r, "the created resource, and then as it was changed", "%s", r.Summary())
			}
			p.ChangedOnly(p.Collection.PathOf(id), all[1], name, value)
		},
	},
	{
		ID: "transaction.none", Title: "a transaction with a step that is refused", Source: suite.OurMany, Writes: true, Synchronous: suite.AlwaysNow,
		Rule: "If a step of a transaction is refused, nothing is executed: the answer is that of the step, with its position in the pointer.",
		Run: func(p *suite.Probe) {
			id, first := p.StepCreate()
			r := p.Status(p.Transaction(first, suite.Step{Method: http.MethodDelete, Path: p.UnknownID()}), 404)
			var document struct {
				Errors []struct{ Source struct{ Pointer string } }
			}
			_ = json.Unmarshal(r.Body, &document)
			pointsToStep := len(document.Errors) > 0 && strings.HasPrefix(document.Errors[0].Source.Pointer, "/1")
			p.FailIf(!pointsToStep, r, "an error with a pointer to /1", "%s", r.Summary())
			p.Status(p.Get(p.Collection.PathOf(id)), 404)
		},
	},
}

var rangeWriteChecks = []suite.Check{
	{
		ID: "many.patch", Title: "PATCH of a range", Source: suite.OurMany, Writes: true, Synchronous: suite.AlwaysNow,
		Rule: "PATCH of a collection with a filter changes the resources that the filter selects, and returns them as an array.",
		Run: func(p *suite.Probe) {
			path, before, query := p.RangeOfOne()
			name, value := p.Change(before)
			r := p.Ranged(p.Patch(query, suite.One(name, value)), before)
			p.HasValues(r, map[string]any{name: value})
			p.ChangedOnly(path, before, name, value)
		},
	},
	{
		ID: "many.dry-run", Title: "PATCH and DELETE of a range with dry_run", Source: suite.OurMany, Writes: true, Synchronous: suite.AlwaysNow,
		Rule: "PATCH and DELETE of a range with dry_run=true return the resources, count them in X-Affected, and change nothing.",
		Run: func(p *suite.Probe) {
			path, before, query := p.RangeOfOne()
			name, value := p.Change(before)
			p.Affects(p.Ranged(p.Patch(query+"&"+suite.DryRun, suite.One(name, value)), before), 1)
			p.ChangedOnly(path, before, name, before.Members[name])
			// Never sent if there are resources of others, see admit.
			p.Affects(p.Ranged(p.Delete(query+"&"+suite.DryRun), before), 1)
			p.ChangedOnly(path, before, name, before.Members[name])
		},
	},
	{
		ID: "many.required", Title: "PATCH of a whole collection", Source: suite.OurMany, Writes: true, Synchronous: suite.AlwaysNow,
		Rule: "PATCH of a collection without a filter, search or range is 400.",
		Run: func(p *suite.Probe) {
			p.RangeOfOne()
			p.Status(p.Patch(p.Collection.Path(), "{}"), 400)
		},
	},
}
