package conform

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

const (
	transactionPath = "/-/transaction"
	dryRun          = "dry_run=true"

	alwaysNow = "these writes are always synchronous"
)

var upsertChecks = []Check{
	{
		ID: "upsert.one", Title: "POST with on_conflict", Source: ourMany, Writes: true, Synchronous: alwaysNow,
		Rule: "POST with on_conflict creates a resource (201), or changes the one that exists as PATCH does (200).",
		run: func(p *probe) {
			id := newUUID()
			before := p.status(p.upsert(encodeJSON(p.newMembers(map[string]any{"id": id}))), 201).resource()
			name, value := p.change(before)
			p.status(p.upsert(encodeJSON(map[string]any{"id": id, name: value})), 200)
			p.changedOnly(p.collection.path()+"/"+id, before, name, value)
		},
	},
	{
		ID: "upsert.array", Title: "an array with on_conflict", Source: ourMany, Writes: true, Synchronous: alwaysNow,
		Rule: "An array with on_conflict is 201 if all were created, else 200, in the order of the array.",
		run: func(p *probe) {
			ids := []string{newUUID(), newUUID(), newUUID()}
			items := func(which ...int) (ordered []string, body string) {
				var all []any
				for _, i := range which {
					ordered, all = append(ordered, ids[i]), append(all, p.newMembers(map[string]any{"id": ids[i]}))
				}
				return ordered, encodeJSON(all)
			}
			for _, step := range []struct {
				which  []int
				status int
			}{{[]int{0, 1}, 201}, {[]int{2, 0}, 200}} {
				want, body := items(step.which...)
				r := p.status(p.upsert(body), step.status)
				if got := r.ids(); !slices.Equal(got, want) {
					p.fail(r, strings.Join(want, ", "), "%s", strings.Join(got, ", "))
				}
			}
		},
	},
	{
		ID: "upsert.refused", Title: "on_conflict that cannot be done", Source: ourMany, Writes: true, Synchronous: alwaysNow,
		Rule: "on_conflict that names no unique attribute is 400, and a body without its value 422.",
		run: func(p *probe) {
			p.status(p.send(http.MethodPost, p.collection.path()+"?on_conflict=conform_unknown", p.body(nil)), 400)
			p.status(p.upsert(p.body(nil)), 422)
		},
	},
}

// upsert sends an upsert by id. Where every change needs If-Match, it cannot change anything.
func (p *probe) upsert(body string) *reply {
	r := p.send(http.MethodPost, p.collection.path()+"?on_conflict=id", body)
	if r.status == http.StatusPreconditionRequired {
		p.skip("every change needs If-Match, which an upsert cannot have")
	}
	return r
}

// changedOnly fails unless one attribute of a resource was changed.
func (p *probe) changedOnly(path string, before resource, name string, value any) {
	r := p.ok(p.get(path))
	for _, member := range before.order {
		want := before.members[member]
		if member == name {
			want = value
		}
		if got := r.resource().members[member]; member != "updated_at" && !equalJSON(got, want) {
			p.fail(r, fmt.Sprintf("%s is %s", member, encodeJSON(want)), "%s", encodeJSON(got))
		}
	}
}

var dryRunChecks = []Check{
	{
		ID: "dryrun.create", Title: "POST with dry_run", Source: ourMany, Writes: true, Synchronous: alwaysNow,
		Rule: "POST with dry_run=true answers as POST does, and creates nothing. X-Affected counts the resources.",
		run: func(p *probe) {
			id := newUUID()
			r := p.status(p.send(http.MethodPost, p.collection.path()+"?"+dryRun, encodeJSON(p.newMembers(map[string]any{"id": id}))), 201)
			if r.resource().id() != id {
				p.fail(r, "the resource "+id, "%s", r.summary())
			}
			p.affects(r, 1)
			p.status(p.get(p.collection.path()+"/"+id), 404)
		},
	},
	{
		ID: "dryrun.change", Title: "PATCH and DELETE with dry_run", Source: ourMany, Writes: true, Synchronous: alwaysNow,
		Rule: "PATCH and DELETE with dry_run=true answer as they would, and change nothing. X-Affected counts the resources.",
		run: func(p *probe) {
			path, before := p.create()
			name, value := p.change(before)
			r := p.status(p.send(http.MethodPatch, path+"?"+dryRun, one(name, value)), 200)
			if got := r.resource().members[name]; !equalJSON(got, value) {
				p.fail(r, fmt.Sprintf("%s is %s", name, encodeJSON(value)), "%s", encodeJSON(got))
			}
			p.affects(r, 1)
			p.affects(p.status(p.send(http.MethodDelete, path+"?"+dryRun, ""), 200), 1)
			p.changedOnly(path, before, name, before.members[name])
		},
	},
	{
		ID: "dryrun.key", Title: "dry_run with an Idempotency-Key", Source: ourMany, Writes: true, Synchronous: alwaysNow,
		Rule: "dry_run together with Idempotency-Key is 400.",
		run: func(p *probe) {
			p.status(p.send(http.MethodPost, p.collection.path()+"?"+dryRun, p.body(nil), onceHeader, newUUID()), 400)
		},
	},
}

// affects fails unless X-Affected has a number of resources of the collection.
func (p *probe) affects(r *reply, count int) {
	want := fmt.Sprintf("%s=%d", p.collection.Name, count)
	if got := r.header.Get("X-Affected"); !slices.Contains(strings.Split(got, ", "), want) {
		p.fail(r, "X-Affected with "+want, "%q", got)
	}
}

var transactionChecks = []Check{
	{
		ID: "transaction.all", Title: "POST /-/transaction", Source: ourMany, Writes: true, Synchronous: alwaysNow,
		Rule: "POST /-/transaction executes all steps in order: 200, and data has the resource of each.",
		run: func(p *probe) {
			id, first := p.stepCreate()
			name, value := p.change(resource{members: map[string]any{}})
			r := p.transaction(first, step{http.MethodPatch, p.collection.path() + "/" + id, map[string]any{name: value}})
			if r.status == http.StatusPreconditionRequired {
				p.skip("every change needs If-Match")
			}
			all := p.status(r, 200).resources()
			if len(all) != 2 || all[0].id() != id || all[1].id() != id || !equalJSON(all[1].members[name], value) {
				p.fail(r, "the created resource, and then as it was changed", "%s", r.summary())
			}
			p.changedOnly(p.collection.path()+"/"+id, all[1], name, value)
		},
	},
	{
		ID: "transaction.none", Title: "a transaction with a step that is refused", Source: ourMany, Writes: true, Synchronous: alwaysNow,
		Rule: "If a step of a transaction is refused, nothing is executed: the answer is that of the step, with its position in the pointer.",
		run: func(p *probe) {
			id, first := p.stepCreate()
			r := p.status(p.transaction(first, step{http.MethodDelete, p.unknownID(), nil}), 404)
			var document struct {
				Errors []struct{ Source struct{ Pointer string } }
			}
			_ = json.Unmarshal(r.body, &document)
			if len(document.Errors) == 0 || !strings.HasPrefix(document.Errors[0].Source.Pointer, "/1") {
				p.fail(r, "an error with a pointer to /1", "%s", r.summary())
			}
			p.status(p.get(p.collection.path()+"/"+id), 404)
		},
	},
}

// step is a write of a transaction.
type step struct {
	method, path string
	body         map[string]any
}

// stepCreate is a step that creates a resource, and its id. The resource is removed at the end.
func (p *probe) stepCreate() (id string, first step) {
	id = newUUID()
	p.track(place{p.collection.Name, id})
	return id, step{http.MethodPost, p.collection.path(), p.newMembers(map[string]any{"id": id})}
}

func (p *probe) transaction(steps ...step) *reply {
	var all []any
	for _, each := range steps {
		members := map[string]any{"method": each.method, "path": each.path}
		if each.body != nil {
			members["body"] = each.body
		}
		all = append(all, members)
	}
	return p.send(http.MethodPost, transactionPath, encodeJSON(all))
}

var rangeWriteChecks = []Check{
	{
		ID: "many.patch", Title: "PATCH of a range", Source: ourMany, Writes: true, Synchronous: alwaysNow,
		Rule: "PATCH of a collection with a filter changes the resources that the filter selects, and returns them as an array.",
		run: func(p *probe) {
			path, before, query := p.rangeOfOne()
			name, value := p.change(before)
			r := p.ranged(p.send(http.MethodPatch, query, one(name, value)), before)
			if got := r.resource().members[name]; !equalJSON(got, value) {
				p.fail(r, fmt.Sprintf("%s is %s", name, encodeJSON(value)), "%s", encodeJSON(got))
			}
			p.changedOnly(path, before, name, value)
		},
	},
	{
		ID: "many.dry-run", Title: "PATCH and DELETE of a range with dry_run", Source: ourMany, Writes: true, Synchronous: alwaysNow,
		Rule: "PATCH and DELETE of a range with dry_run=true return the resources, count them in X-Affected, and change nothing.",
		run: func(p *probe) {
			path, before, query := p.rangeOfOne()
			name, value := p.change(before)
			p.affects(p.ranged(p.send(http.MethodPatch, query+"&"+dryRun, one(name, value)), before), 1)
			p.changedOnly(path, before, name, before.members[name])
			// Never sent if there are resources of others, see admit.
			p.affects(p.ranged(p.send(http.MethodDelete, query+"&"+dryRun, ""), before), 1)
			p.changedOnly(path, before, name, before.members[name])
		},
	},
	{
		ID: "many.required", Title: "PATCH of a whole collection", Source: ourMany, Writes: true, Synchronous: alwaysNow,
		Rule: "PATCH of a collection without a filter, search or range is 400.",
		run: func(p *probe) {
			p.rangeOfOne()
			p.status(p.send(http.MethodPatch, p.collection.path(), "{}"), 400)
		},
	},
}

// rangeOfOne creates a resource, and returns the query of a range that has only this one. It first sends a
// change of nothing, as a dry run, so that no server that ignores the filter is sent a change of something.
func (p *probe) rangeOfOne() (path string, before resource, query string) {
	path, before = p.create()
	p.ok(p.send(http.MethodPatch, path, "{}"))
	if _, careful := p.careful.Load(p.collection.Name); careful {
		p.skip("every change needs If-Match, which a range cannot have")
	}
	query = p.collection.path() + "?filter[id]=" + before.id()
	p.ranged(p.send(http.MethodPatch, query+"&"+dryRun, "{}"), before)
	return path, before, query
}

// ranged fails unless a range has one resource.
func (p *probe) ranged(r *reply, want resource) *reply {
	isArray := strings.HasPrefix(strings.TrimSpace(string(r.data())), "[")
	if ids := p.status(r, 200).ids(); !isArray || !slices.Equal(ids, []string{want.id()}) {
		p.fail(r, "an array with the resource "+want.id(), "%s", r.summary())
	}
	return r
}
