package checks

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/plural-go/plural/conform/internal/suite"
)

func isComputed(a suite.Attribute) bool   { return a.Computed }
func isWriteOnce(a suite.Attribute) bool  { return a.WriteOnce && !a.Computed }
func hasLifecycle(a suite.Attribute) bool { return a.Transitions != nil }

var ruleChecks = []suite.Check{
	{
		ID: "rules.computed", Title: "a computed attribute in POST and PATCH", Source: suite.OurBodies, Writes: true,
		Rule: "A computed attribute in POST is 422 read_only. In PATCH it is accepted when equal to the stored value, else 422 read_only.",
		Run: func(p *suite.Probe) {
			a := p.Ruled("computed attribute", isComputed)
			path, before := p.Create()
			now := before.Members[a.Name]
			p.OK(p.Patch(path, suite.One(a.Name, now)))
			other := p.Other(a, now)
			p.Refused(p.Patch(path, suite.One(a.Name, other)), 422, "read_only", a.Name)
			p.Refused(p.Post(p.Body(map[string]any{a.Name: other})), 422, "read_only", a.Name)
			p.Unchanged(path, before)
		},
	},
	{
		ID: "rules.computed-put", Title: "a computed attribute in PUT", Source: suite.OurBodies, Writes: true,
		Rule: "A computed attribute in PUT is accepted without effect.",
		Run: func(p *suite.Probe) {
			a := p.Ruled("computed attribute", isComputed)
			path, before := p.Create()
			members := p.AsRead(path, before)
			members[a.Name] = p.Other(a, before.Members[a.Name])
			p.OK(p.Put(path, suite.EncodeJSON(members)))
			p.Unchanged(path, before)
		},
	},
	{
		ID: "rules.write-once", Title: "an attribute that only a create sets", Source: suite.OurBodies, Writes: true,
		Rule: "A write-once attribute is accepted when equal to the stored value, in PATCH and PUT, else 422 read_only.",
		Run: func(p *suite.Probe) {
			a := p.Ruled("write-once attribute", isWriteOnce)
			path, before := p.Create()
			p.OK(p.Patch(path, suite.One(a.Name, before.Members[a.Name])))
			members := p.AsRead(path, before)
			p.OK(p.Put(path, suite.EncodeJSON(members)))
			members[a.Name] = p.Other(a, before.Members[a.Name])
			p.Refused(p.Put(path, suite.EncodeJSON(members)), 422, "read_only", a.Name)
			p.Refused(p.Patch(path, suite.One(a.Name, members[a.Name])), 422, "read_only", a.Name)
			p.Unchanged(path, before)
		},
	},
	{
		ID: "rules.initial", Title: "the first state of a lifecycle", Source: suite.OurOperations, Writes: true,
		Rule: "A create with a state that is not initial is 409 transition.",
		Run: func(p *suite.Probe) {
			isLater := func(a suite.Attribute, state string) bool { return !slices.Contains(a.Initial, state) }
			a := p.Ruled("lifecycle with a state that is not initial", func(a suite.Attribute) bool {
				return hasLifecycle(a) && slices.ContainsFunc(a.States(), func(state string) bool { return isLater(a, state) })
			})
			for _, state := range a.States() {
				if isLater(a, state) {
					p.Refused(p.Post(p.Body(map[string]any{a.Name: state})), 409, "transition", a.Name)
				}
			}
		},
	},
	{
		ID: "rules.transition", Title: "the transitions of a lifecycle", Source: suite.OurOperations, Writes: true,
		Rule: "A change to a state that does not follow is 409 transition, and the detail lists the states that do. Staying in a state is allowed.",
		Run: func(p *suite.Probe) {
			a, path, before, wrong := unreachable(p)
			now := before.Text(a.Name)
			p.OK(p.Patch(path, suite.One(a.Name, now)))
			r := p.Refused(p.Patch(path, suite.One(a.Name, wrong)), 409, "transition", a.Name)
			detail, _ := p.Errors(r)[0]["detail"].(string)
			for _, next := range a.Transitions[now] {
				p.FailIf(!strings.Contains(detail, next), r, "a detail with the state "+next, "%s", detail)
			}
			p.Unchanged(path, before)
		},
	},
	{
		ID: "rules.transition-taken", Title: "a transition that is declared", Source: suite.OurOperations, Writes: true,
		Rule: "A change to a state that follows is made.",
		Run: func(p *suite.Probe) {
			a := p.Ruled("lifecycle whose first state has a next one", func(a suite.Attribute) bool { return hasLifecycle(a) && len(a.Transitions[a.First()]) > 0 })
			path, _ := p.Create()
			next := a.Transitions[a.First()][0]
			r := p.Patch(path, suite.One(a.Name, next))
			p.SkipIf(r.Status == 403 || r.Status == 422, "another rule refuses this change: %s", r.Summary())
			p.HasValues(p.OK(r), map[string]any{a.Name: next})
			p.HasValues(p.OK(p.Get(path)), map[string]any{a.Name: next})
		},
	},
	{
		ID: "rules.transition-everywhere", Title: "a lifecycle in every write", Source: suite.OurMany, Writes: true, Synchronous: suite.AlwaysNow,
		Rule: "A lifecycle holds for PUT, upserts, ranges and transactions as for PATCH.",
		Run: func(p *suite.Probe) {
			a, path, before, wrong := unreachable(p)
			whole := p.AsRead(path, before)
			whole[a.Name] = wrong
			p.Refused(p.Put(path, suite.EncodeJSON(whole)), 409, "transition", a.Name)
			p.Refused(p.Upsert(suite.EncodeJSON(map[string]any{"id": before.ID(), a.Name: wrong})), 409, "transition", a.Name)
			p.Refused(p.Transaction(suite.Step{Method: http.MethodPatch, Path: path, Body: map[string]any{a.Name: wrong}}), 409, "transition", "0/body/"+a.Name)
			ranged := p.Patch(p.Collection.Path()+"?filter[id]="+before.ID(), suite.One(a.Name, wrong))
			p.Refused(ranged, 409, "transition", a.Name)
			p.Unchanged(path, before)
		},
	},
	{
		ID: "rules.transition-last", Title: "422 comes before 409", Source: suite.OurErrors, Writes: true,
		Rule: "A transition is checked only if nothing of the body is invalid: null and a value outside the enum are 422.",
		Run: func(p *suite.Probe) {
			a, path, before, wrong := unreachable(p)
			p.Status(p.Patch(path, suite.EncodeJSON(map[string]any{a.Name: wrong, "conform_unknown": 1})), 422)
			p.Status(p.Patch(path, suite.One(a.Name, nil)), 422)
			p.Status(p.Patch(path, suite.One(a.Name, "conform unknown")), 422)
			p.Unchanged(path, before)
		},
	},
	{
		ID: "rules.check", Title: "checks", Source: suite.OurErrors, Writes: true,
		Rule: "A resource that a check refuses is 422 check, with the message of the check as detail and its attribute as pointer. Checks run only if no attribute is invalid.",
		Run: func(p *suite.Probe) {
			p.SkipIf(len(p.Collection.Checks) == 0, "the collection has no checks")
			id := suite.NewUUID()
			for range 40 {
				body := p.Mixed(id)
				dry := p.Send(http.MethodPost, p.Collection.Path()+"?"+suite.DryRun, body)
				if dry.Status != 422 || !slices.ContainsFunc(p.Errors(dry), func(each map[string]any) bool { return each["code"] == "check" }) {
					continue
				}
				for _, each := range p.Errors(dry) {
					isDeclared := slices.ContainsFunc(p.Collection.Checks, func(check suite.DataCheck) bool {
						pointer := ""
						if check.Attribute != "" {
							pointer = "/" + check.Attribute
						}
						source, _ := each["source"].(map[string]any)
						return each["code"] == "check" && each["detail"] == check.Message && (source["pointer"] == pointer || source == nil && pointer == "")
					})
					p.FailIf(!isDeclared, dry, fmt.Sprintf("errors of the checks that GET / lists: %+v", p.Collection.Checks), "%s", suite.EncodeJSON(each))
				}
				p.Status(p.Post(body), 422)
				p.Absent(p.Collection.PathOf(id))
				return
			}
			p.Skip("no values were found that a check refuses")
		},
	},
}

// unreachable is a lifecycle, a resource in its first state, and a state that does not follow.
func unreachable(p *suite.Probe) (a suite.Attribute, path string, before suite.Resource, wrong string) {
	wrongOf := func(a suite.Attribute) int {
		return slices.IndexFunc(a.States(), func(state string) bool {
			return state != a.First() && !slices.Contains(a.Transitions[a.First()], state)
		})
	}
	a = p.Ruled("lifecycle with a state that does not follow the first one", func(a suite.Attribute) bool { return hasLifecycle(a) && wrongOf(a) >= 0 })
	path, before = p.Create()
	return a, path, before, a.States()[wrongOf(a)]
}
