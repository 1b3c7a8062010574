package suite

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Synchronous skips the check unless the response contains the resource.
func (p *Probe) Synchronous(r *Reply) *Reply {
	p.SkipIf(p.OK(r).Status == http.StatusAccepted, "the server answers %s asynchronously", r.Method)
	return r
}

// FullAs fails unless a representation has every member of the one that GET returns. Other checks
// compare the values of the timestamps.
func (p *Probe) FullAs(r *Reply, want Resource) {
	got := r.Resource()
	for _, name := range want.Order {
		if slices.Contains(Timestamps, name) {
			p.FailIf(!got.Has(name), r, "the member "+name, "%s", r.Summary())
		} else if name != "id" && name != "type" && (!got.Has(name) || !EqualJSON(got.Members[name], want.Members[name])) {
			p.Fail(r, "all members that GET gives: "+EncodeJSON(want.Members), "%s", r.Summary())
		}
	}
}

// Unchanged fails unless a resource is as before, timestamps included.
func (p *Probe) Unchanged(path string, before Resource) {
	r := p.OK(p.Get(path))
	p.FailIf(!EqualMembers(r.Resource(), before), r, "unchanged: "+EncodeJSON(before.Members), "%s", r.Summary())
}

// Absent fails if there is a resource at a path. path.unknown-id checks the status of the
// response.
func (p *Probe) Absent(path string) {
	r := p.Get(path)
	p.FailIf(r.Succeeded() && r.Resource().ID() == IDOf(path), r, "nothing there", "%s", r.Summary())
}

// IDOf is the last part of a path.
func IDOf(path string) string { return path[strings.LastIndex(path, "/")+1:] }

// Count is the current number of resources in the collection.
func (p *Probe) Count() int { return len(p.All("")) }

// Omissible is an attribute that is known to be optional.
func (p *Probe) Omissible(a Attribute) bool {
	return p.Collection.optional(a) && a.free() && a.References == ""
}

func (p *Probe) HasTimestamps() {
	p.need(1)
	p.SkipIf(!p.Reference[0].Has("created_at") || !p.Reference[0].Has("updated_at"), "the collection has no timestamps")
}

// AttributesOf is a body with the attributes of a representation alone.
func (p *Probe) AttributesOf(of Resource) string {
	members := maps.Clone(of.Members)
	for _, name := range OwnMembers {
		delete(members, name)
	}
	return EncodeJSON(members)
}

// AsRead is a representation to send back. Other checks look at id and type in representations.
func (p *Probe) AsRead(path string, of Resource) map[string]any {
	members := map[string]any{}
	maps.Copy(members, of.Members)
	members["id"], members["type"] = IDOf(path), p.Collection.Name
	return members
}

// Later waits until the clock of the server has another millisecond, so that a new timestamp
// differs from the old one.
func (p *Probe) Later() {
	select {
	case <-time.After(5 * time.Millisecond):
	case <-p.Ctx.Done():
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

// AnyName is the name of some member.
func (p *Probe) AnyName(members map[string]any) string {
	for _, a := range p.Collection.Attributes {
		if _, has := members[a.Name]; has {
			return a.Name
		}
	}
	// A body without attributes can still have an id.
	members["id"] = NewUUID()
	return "id"
}

// TextAttribute is an attribute that accepts any text.
func (p *Probe) TextAttribute() Attribute {
	return p.Attribute("string attribute for any text", func(a Attribute) bool {
		return a.Plain() && !p.constant[place{p.Collection.Name, a.Name}] && a.MinLength <= 10 && (a.MaxLength == 0 || a.MaxLength >= 20)
	})
}

// MalformedText is a body with a text inside a string, unescaped. The server must report that the
// body is malformed before it checks constraints of the string.
func (p *Probe) MalformedText(text string) string {
	return p.WithText(p.Attribute("string attribute", func(a Attribute) bool { return a.Type == "string" }), text)
}

func (p *Probe) WithText(a Attribute, text string) string {
	return strings.Replace(p.Body(map[string]any{a.Name: "conform-placeholder"}), "conform-placeholder", text, 1)
}

var ChangeMethods = []string{http.MethodPatch, http.MethodPut, http.MethodDelete}

// TagOf is the ETag of a response.
func (p *Probe) TagOf(r *Reply) string {
	tag := p.OK(r).Header.Get("ETag")
	p.SkipIf(tag == "", "the resource has no ETag (see etag.present)")
	return tag
}

func (p *Probe) HasTag(r *Reply, want string) {
	got := r.Header.Get("ETag")
	p.FailIf(got != want, r, "ETag: "+want, "%q", got)
}

// CreateTagged creates a resource and returns it with its ETag.
func (p *Probe) CreateTagged() (path string, before Resource, tag string) {
	path, before = p.Create()
	return path, before, p.TagOf(p.Get(path))
}

// ChangeBody is the body of a request that changes a resource.
func (p *Probe) ChangeBody(method string, now Resource) string {
	switch method {
	case http.MethodPatch:
		name, value := p.Change(now)
		return One(name, value)
	case http.MethodPut:
		return EncodeJSON(p.Kept(now, p.NewMembers(nil)))
	}
	return ""
}

// Kept is the body of a PUT, in which the attributes that only a create sets are as in a resource.
func (p *Probe) Kept(now Resource, members map[string]any) map[string]any {
	for _, a := range p.Collection.Attributes {
		if a.WriteOnce {
			members[a.Name] = now.Members[a.Name]
		}
	}
	return members
}

// IsComputed reports whether the server computes a member, so that it can change with others.
func (p *Probe) IsComputed(name string) bool {
	a, found := p.Collection.Find(func(a Attribute) bool { return a.Name == name })
	return found && a.Computed
}

// EachChange changes a new resource by each method.
func (p *Probe) EachChange(try func(method, path, body, tag string)) {
	for _, method := range ChangeMethods {
		path, before, tag := p.CreateTagged()
		try(method, path, p.ChangeBody(method, before), tag)
	}
}

// RefusesChanges fails unless the server refuses every change of a resource with a status, and
// leaves the resource unchanged.
func (p *Probe) RefusesChanges(path, ifMatch string, status int) {
	now := p.OK(p.Get(path)).Resource()
	for _, method := range ChangeMethods {
		p.Status(p.Send(method, path, p.ChangeBody(method, now), "If-Match", ifMatch), status)
		p.Unchanged(path, now)
	}
}
