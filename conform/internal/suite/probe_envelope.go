package suite

import (
	"net/http"
	"slices"
	"strings"
)

const ContentType = "application/json;charset=utf-8"

// EqualMembers compares representations. It ignores the case of ids, and members that are null in
// one and missing in the other: other checks look at these.
func EqualMembers(a, b Resource) bool {
	for _, name := range slices.Concat(a.Order, b.Order) {
		if name != "id" && !EqualJSON(a.Members[name], b.Members[name]) {
			return false
		}
	}
	return true
}

// Writes creates a resource, changes it and replaces it.
func (p *Probe) Writes() []*Reply {
	created := p.Synchronous(p.Post(p.Body(nil)))
	path := p.Collection.Path() + "/" + created.CreatedID()
	replaced := p.Synchronous(p.Send(http.MethodPut, path, p.Body(nil)))
	answers := []*Reply{created, replaced}
	if name, value, found := p.MaybeChange(replaced.Resource()); found {
		answers = append(answers, p.Synchronous(p.Send(http.MethodPatch, path, One(name, value))))
	}
	return answers
}

func (p *Probe) ContentType(r *Reply) {
	if got := strings.Join(r.Header.Values("Content-Type"), ", "); got != ContentType {
		p.Fail(r, "Content-Type: "+ContentType, "%q", got)
	}
}

// OnlyMember fails if the body has members besides one. Other checks fail if it lacks that one.
func (p *Probe) OnlyMember(r *Reply, name string) {
	members := r.Members()
	if _, has := members[name]; !has {
		p.Skip("the body has no member %s (see envelope.data)", name)
	}
	for other := range members {
		if other != name {
			p.Fail(r, "the member "+name+" alone", "also the member %q", other)
		}
	}
}

// DataIs looks at the first character of data.
func (p *Probe) DataIs(r *Reply, first byte, what string) {
	data, has := p.OK(r).Members()["data"]
	if !has {
		p.Skip("the body has no member data (see envelope.data)")
	}
	if data[0] != first {
		p.Fail(r, "data is "+what, "%s", r.Summary())
	}
}
