package suite

import (
	"net/http"
)

var ChangeMethods = []string{http.MethodPatch, http.MethodPut, http.MethodDelete}

// TagOf is the ETag of a response.
func (p *Probe) TagOf(r *Reply) string {
	tag := p.OK(r).Header.Get("ETag")
	if tag == "" {
		p.Skip("the resource has no ETag (see etag.present)")
	}
	return tag
}

func (p *Probe) HasTag(r *Reply, want string) {
	if got := r.Header.Get("ETag"); got != want {
		p.Fail(r, "ETag: "+want, "%q", got)
	}
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
		return p.Body(nil)
	}
	return ""
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
