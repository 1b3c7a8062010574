package suite

import (
	"net/http"
	"slices"
	"strings"
)

// Synchronous skips the check unless the response contains the resource.
func (p *Probe) Synchronous(r *Reply) *Reply {
	if p.OK(r).Status == http.StatusAccepted {
		p.Skip("the server answers %s asynchronously", r.Method)
	}
	return r
}

// FullAs fails unless a representation has every member of the one that GET returns. Other checks
// compare the values of the timestamps.
func (p *Probe) FullAs(r *Reply, want Resource) {
	got := r.Resource()
	for _, name := range want.Order {
		if slices.Contains(Timestamps, name) {
			if !got.Has(name) {
				p.Fail(r, "the member "+name, "%s", r.Summary())
			}
		} else if name != "id" && name != "type" && (!got.Has(name) || !EqualJSON(got.Members[name], want.Members[name])) {
			p.Fail(r, "all members that GET gives: "+EncodeJSON(want.Members), "%s", r.Summary())
		}
	}
}

// Unchanged fails unless a resource is as before, timestamps included.
func (p *Probe) Unchanged(path string, before Resource) {
	r := p.OK(p.Get(path))
	if !EqualMembers(r.Resource(), before) {
		p.Fail(r, "unchanged: "+EncodeJSON(before.Members), "%s", r.Summary())
	}
}

// Absent fails if there is a resource at a path. path.unknown-id checks the status of the
// response.
func (p *Probe) Absent(path string) {
	if r := p.Get(path); r.Succeeded() && r.Resource().ID() == IDOf(path) {
		p.Fail(r, "nothing there", "%s", r.Summary())
	}
}

// IDOf is the last part of a path.
func IDOf(path string) string { return path[strings.LastIndex(path, "/")+1:] }

// Count is the current number of resources in the collection.
func (p *Probe) Count() int { return len(p.All(p.Collection.Path(), "")) }

// Omissible is an attribute that is known to be optional.
func (p *Probe) Omissible(a Attribute) bool {
	return p.Collection.optional(a) && a.References == ""
}

func (p *Probe) HasTimestamps() {
	p.Need(1)
	if !p.Reference[0].Has("created_at") || !p.Reference[0].Has("updated_at") {
		p.Skip("the collection has no timestamps")
	}
}
