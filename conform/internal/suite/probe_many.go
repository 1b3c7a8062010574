package suite

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

const (
	transactionPath = "/-/transaction"
	DryRun          = "dry_run=true"

	AlwaysNow = "these writes are always synchronous"
)

// Upsert sends an upsert by id. Where every change needs If-Match, it cannot change anything.
func (p *Probe) Upsert(body string) *Reply {
	r := p.Send(http.MethodPost, p.Collection.Path()+"?on_conflict=id", body)
	p.SkipIf(r.Status == http.StatusPreconditionRequired, "every change needs If-Match, which an upsert cannot have")
	return r
}

// ChangedOnly fails unless one attribute of a resource was changed.
func (p *Probe) ChangedOnly(path string, before Resource, name string, value any) {
	r := p.OK(p.Get(path))
	for _, member := range before.Order {
		want := before.Members[member]
		if member == name {
			want = value
		}
		got := r.Resource().Members[member]
		p.FailIf(member != "updated_at" && !p.IsComputed(member) && !EqualJSON(got, want), r, fmt.Sprintf("%s is %s", member, EncodeJSON(want)), "%s", EncodeJSON(got))
	}
}

// Affects fails unless X-Affected has a number of resources of the collection.
func (p *Probe) Affects(r *Reply, count int) {
	want := fmt.Sprintf("%s=%d", p.Collection.Name, count)
	got := r.Header.Get("X-Affected")
	p.FailIf(!slices.Contains(strings.Split(got, ", "), want), r, "X-Affected with "+want, "%q", got)
}

// Step is a write of a transaction.
type Step struct {
	Body   map[string]any `json:"body,omitzero"`
	Method string         `json:"method"`
	Path   string         `json:"path"`
}

// StepCreate is a step that creates a resource, and its id. The resource is removed at the end.
func (p *Probe) StepCreate() (id string, first Step) {
	id = NewUUID()
	p.track(place{p.Collection.Name, id})
	return id, Step{Method: http.MethodPost, Path: p.Collection.Path(), Body: p.NewMembers(map[string]any{"id": id})}
}

func (p *Probe) Transaction(steps ...Step) *Reply {
	return p.Send(http.MethodPost, transactionPath, EncodeJSON(steps))
}

// RangeOfOne creates a resource, and returns the query of a range that has only this one. It first sends a
// change of nothing, as a dry run, so that no server that ignores the filter is sent a change of something.
func (p *Probe) RangeOfOne() (path string, before Resource, query string) {
	path, before = p.Create()
	p.OK(p.Patch(path, "{}"))
	_, needsIfMatch := p.needsIfMatch.Load(p.Collection.Name)
	p.SkipIf(needsIfMatch, "every change needs If-Match, which a range cannot have")
	query = p.Collection.Path() + "?filter[id]=" + before.ID()
	p.Ranged(p.Patch(query+"&"+DryRun, "{}"), before)
	return path, before, query
}

// Ranged fails unless a range has one resource.
func (p *Probe) Ranged(r *Reply, want Resource) *Reply {
	isArray := strings.HasPrefix(strings.TrimSpace(string(r.Data())), "[")
	ids := p.Status(r, 200).IDs()
	p.FailIf(!isArray || !slices.Equal(ids, []string{want.ID()}), r, "an array with the resource "+want.ID(), "%s", r.Summary())
	return r
}
