package conform

import (
	"net/http"
	"regexp"
)

var strongTag = regexp.MustCompile(`^"[!#-~\x80-\xff]*"$`)

var etagChecks = []Check{
	{
		ID: "etag.present", Title: "ETag of one resource", Source: ourConditions,
		Rule: "GET of one resource has a strong ETag.",
		run: func(p *probe) {
			r := p.ok(p.get(p.item(0)))
			if tag := r.header.Get("ETag"); !strongTag.MatchString(tag) {
				p.fail(r, `an ETag such as "1a.1"`, "%q", tag)
			}
		},
	},
	{
		ID: "etag.same-everywhere", Title: "ETag by HEAD and under the singular", Source: ourConditions,
		Rule: "The ETag of a resource is the same by GET and HEAD, in its collection and under the singular.",
		run: func(p *probe) {
			path := p.item(0)
			tag := p.tagOf(p.get(path))
			replies := []*reply{p.get(path), p.send(http.MethodHead, path, "")}
			if p.collection.Singular != "" {
				replies = append(replies, p.get(p.singular()), p.send(http.MethodHead, p.singular(), ""))
			}
			for _, r := range replies {
				if !r.succeeded() {
					p.skip("there is no answer to compare (see path.singular and method.head): %s %s", r.method, r.url)
				}
				p.hasTag(r, tag)
			}
		},
	},
	{
		ID: "etag.written", Title: "ETag of answers to writes", Source: ourConditions, Writes: true, Synchronous: "the ETag of the response, and 202 has none",
		Rule: "The responses to POST, PUT and PATCH have the same ETag as a following GET.",
		run: func(p *probe) {
			created := p.synchronous(p.post(p.body(nil)))
			path := p.collection.path() + "/" + created.createdID()
			read := p.ok(p.get(path))
			p.hasTag(created, p.tagOf(read))
			for _, method := range []string{http.MethodPut, http.MethodPatch} {
				written := p.ok(p.send(method, path, p.changeBody(method, read.resource())))
				read = p.get(path)
				p.hasTag(written, p.tagOf(read))
			}
		},
	},
	{
		ID: "etag.deleted", Title: "no ETag of what is gone", Source: ourConditions, Writes: true, Synchronous: "the ETag of the response, and 202 has none",
		Rule: "The response to DELETE has no ETag.",
		run: func(p *probe) {
			path, _ := p.create()
			p.hasTag(p.ok(p.send(http.MethodDelete, path, "")), "")
		},
	},
	{
		ID: "etag.changes", Title: "ETag after a change", Source: ourConditions, Writes: true,
		Rule: "A change gives a resource another ETag, and so does deleting and creating it again.",
		run: func(p *probe) {
			path, before, tag := p.createTagged()
			seen := map[string]bool{tag: true}
			isNew := func(r *reply) {
				if tag := p.tagOf(r); seen[tag] {
					p.fail(r, "an ETag that it did not have before", "%s again", tag)
				} else {
					seen[tag] = true
				}
			}
			p.ok(p.send(http.MethodPatch, path, p.changeBody(http.MethodPatch, before)))
			changed := p.ok(p.get(path))
			if equalMembers(changed.resource(), before) {
				p.skip("a change has no effect (see patch.changes)")
			}
			isNew(changed)
			p.ok(p.send(http.MethodPut, path, p.attributesOf(before)))
			isNew(p.get(path))
			p.ok(p.send(http.MethodDelete, path, ""))
			if r := p.post(p.body(map[string]any{"id": idOf(path)})); r.succeeded() && r.createdID() == idOf(path) {
				isNew(p.get(path))
			}
		},
	},
	{
		ID: "etag.no-op", Title: "ETag after a change of nothing", Source: ourConditions, Writes: true,
		Rule: "A write that changes nothing does not change the ETag.",
		run: func(p *probe) {
			path, before, tag := p.createTagged()
			p.ok(p.send(http.MethodPatch, path, "{}"))
			p.hasTag(p.ok(p.get(path)), tag)
			p.ok(p.send(http.MethodPut, path, p.attributesOf(before)))
			p.hasTag(p.ok(p.get(path)), tag)
		},
	},
}

var conditionalReadChecks = []Check{
	{
		ID: "condition.not-modified", Title: "GET of what the client has", Source: ourConditions,
		Rule: "GET and HEAD with If-None-Match and the ETag of the resource are 304.",
		run: func(p *probe) {
			path := p.item(0)
			tag := p.tagOf(p.get(path))
			p.status(p.get(path, "If-None-Match", tag), 304)
			if p.send(http.MethodHead, path, "").succeeded() {
				p.status(p.send(http.MethodHead, path, "", "If-None-Match", tag), 304)
			}
		},
	},
	{
		ID: "condition.not-modified-form", Title: "headers and body of 304", Source: ourConditions,
		Rule: "304 has the ETag, but no body and no headers of a body.",
		run: func(p *probe) {
			path := p.item(0)
			tag := p.tagOf(p.get(path))
			r := p.get(path, "If-None-Match", tag)
			if r.status != http.StatusNotModified {
				p.skip("a resource that the client has is not 304 (see condition.not-modified)")
			}
			if len(r.body) > 0 || r.header.Get("Content-Type") != "" {
				p.fail(r, "neither a body nor a Content-Type", "Content-Type %q, %s", r.header.Get("Content-Type"), r.summary())
			}
			p.hasTag(r, tag)
		},
	},
	{
		ID: "condition.not-modified-any", Title: "If-None-Match: *", Source: ourConditions,
		Rule: "If-None-Match: * is 304 for an existing resource and 404 for a missing one.",
		run: func(p *probe) {
			p.status(p.get(p.item(0), "If-None-Match", "*"), 304)
			if path := p.unknownID(); p.get(path).status == http.StatusNotFound {
				p.status(p.get(path, "If-None-Match", "*"), 404)
			}
		},
	},
	{
		ID: "condition.not-modified-list", Title: "If-None-Match with several tags", Source: ourConditions,
		Rule: "If-None-Match may list ETags, one of which must match; a weak ETag matches too.",
		run: func(p *probe) {
			path := p.item(0)
			tag := p.tagOf(p.get(path))
			for _, given := range []string{`"conform", ` + tag, "W/" + tag, `"conform",W/"conform" , W/` + tag} {
				p.status(p.get(path, "If-None-Match", given), 304)
			}
		},
	},
	{
		ID: "condition.modified", Title: "GET of what the client does not have", Source: ourConditions,
		Rule: "If-None-Match with other ETags has no effect.",
		run: func(p *probe) {
			for _, given := range []string{`"conform"`, `W/"conform", "conform-2"`} {
				p.status(p.get(p.item(0), "If-None-Match", given), 200)
			}
		},
	},
	{
		ID: "condition.malformed", Title: "If-None-Match that is no list of tags", Source: ourConditions,
		Rule: "If-None-Match that is neither * nor a list of quoted ETags is 400.",
		run: func(p *probe) {
			for _, given := range []string{"conform", `"conform`, `"a" "b"`} {
				p.status(p.get(p.item(0), "If-None-Match", given), 400)
			}
		},
	},
}

var conditionalWriteChecks = []Check{
	{
		ID: "condition.match", Title: "a change of the state that is meant", Source: ourConditions, Writes: true,
		Rule: "PUT, PATCH and DELETE with the ETag of the resource in If-Match succeed, also if it is one of a list.",
		run: func(p *probe) {
			for _, prefix := range []string{"", `"conform", `} {
				p.eachChange(func(method, path, body, tag string) { p.ok(p.send(method, path, body, "If-Match", prefix+tag)) })
			}
		},
	},
	{
		ID: "condition.match-any", Title: "If-Match: *", Source: ourConditions, Writes: true,
		Rule: "PUT, PATCH and DELETE with If-Match: * succeed.",
		run: func(p *probe) {
			p.eachChange(func(method, path, body, _ string) { p.ok(p.send(method, path, body, "If-Match", "*")) })
		},
	},
	{
		ID: "condition.stale", Title: "a change of a state that is over", Source: ourConditions, Writes: true,
		Rule: "PUT, PATCH and DELETE with an outdated ETag are 412 and have no effect.",
		run: func(p *probe) {
			path, before, old := p.createTagged()
			p.ok(p.send(http.MethodPatch, path, p.changeBody(http.MethodPatch, before)))
			if p.tagOf(p.get(path)) == old {
				p.skip("a change leaves the ETag as it was (see etag.changes)")
			}
			p.refusesChanges(path, old, 412)
		},
	},
	{
		ID: "condition.weak", Title: "If-Match with a weak tag", Source: ourConditions, Writes: true,
		Rule: "A weak ETag never matches in If-Match: the change is 412.",
		run: func(p *probe) {
			path, _, tag := p.createTagged()
			p.refusesChanges(path, "W/"+tag, 412)
		},
	},
	{
		ID: "condition.match-malformed", Title: "If-Match that is no list of tags", Source: ourConditions, Writes: true,
		Rule: "If-Match that is neither * nor a list of quoted ETags is 400 and has no effect.",
		run: func(p *probe) {
			path, _, _ := p.createTagged()
			for _, given := range []string{"conform", `"conform`, `"a" "b"`} {
				p.refusesChanges(path, given, 400)
			}
		},
	},
	{
		ID: "condition.unknown-id", Title: "If-Match for what is not there", Source: ourConditions, Writes: true,
		Rule: "A missing resource is 404, whatever If-Match says.",
		run: func(p *probe) {
			_, before := p.create()
			for _, method := range changeMethods {
				if r := p.send(method, p.unknownID(), p.changeBody(method, before)); r.status != http.StatusNotFound {
					p.skip("%s of what is not there is not 404 (see path.unknown-id and the like)", method)
				}
				for _, given := range []string{`"conform"`, "*"} {
					p.status(p.send(method, p.unknownID(), p.changeBody(method, before), "If-Match", given), 404)
				}
			}
		},
	},
	{
		ID: "condition.first", Title: "conditions come before bodies", Source: ourConditions, Writes: true,
		Rule: "An outdated ETag is 412, also if the body is invalid.",
		run: func(p *probe) {
			path, before := p.create()
			p.status(p.send(http.MethodPatch, path, `{"conform_unknown":1}`, "If-Match", `"conform"`), 412)
			p.unchanged(path, before)
		},
	},
}

var changeMethods = []string{http.MethodPatch, http.MethodPut, http.MethodDelete}

// tagOf is the ETag of a response.
func (p *probe) tagOf(r *reply) string {
	tag := p.ok(r).header.Get("ETag")
	if tag == "" {
		p.skip("the resource has no ETag (see etag.present)")
	}
	return tag
}

func (p *probe) hasTag(r *reply, want string) {
	if got := r.header.Get("ETag"); got != want {
		p.fail(r, "ETag: "+want, "%q", got)
	}
}

// createTagged creates a resource and returns it with its ETag.
func (p *probe) createTagged() (path string, before resource, tag string) {
	path, before = p.create()
	return path, before, p.tagOf(p.get(path))
}

// changeBody is the body of a request that changes a resource.
func (p *probe) changeBody(method string, now resource) string {
	switch method {
	case http.MethodPatch:
		name, value := p.change(now)
		return one(name, value)
	case http.MethodPut:
		return p.body(nil)
	}
	return ""
}

// eachChange changes a new resource by each method.
func (p *probe) eachChange(try func(method, path, body, tag string)) {
	for _, method := range changeMethods {
		path, before, tag := p.createTagged()
		try(method, path, p.changeBody(method, before), tag)
	}
}

// refusesChanges fails unless the server refuses every change of a resource with a status, and
// leaves the resource unchanged.
func (p *probe) refusesChanges(path, ifMatch string, status int) {
	now := p.ok(p.get(path)).resource()
	for _, method := range changeMethods {
		p.status(p.send(method, path, p.changeBody(method, now), "If-Match", ifMatch), status)
		p.unchanged(path, now)
	}
}
