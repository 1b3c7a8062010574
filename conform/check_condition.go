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
		ID: "etag.written", Title: "ETag of answers to writes", Source: ourConditions, Writes: true, Synchronous: "the ETag of the answer, and 202 has none",
		Rule: "The answers to POST, PUT and PATCH have the ETag that GET has then.",
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
		ID: "etag.deleted", Title: "no ETag of what is gone", Source: ourConditions, Writes: true, Synchronous: "the ETag of the answer, and 202 has none",
		Rule: "The answer to DELETE has no ETag.",
		run: func(p *probe) {
			path, _ := p.create()
			p.hasTag(p.ok(p.send(http.MethodDelete, path, "")), "")
		},
	},
	{
		ID: "etag.changes", Title: "ETag after a change", Source: ourConditions, Writes: true,
		Rule: "A change gives a resource another ETag, and so does creating it anew.",
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
		Rule: "A write that changes nothing leaves the ETag as it was.",
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
		Rule: "304 has the ETag, and neither a body nor its headers.",
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
		Rule: "If-None-Match: * is 304 for whatever is there, and 404 for what is not.",
		run: func(p *probe) {
			p.status(p.get(p.item(0), "If-None-Match", "*"), 304)
			if path := p.unknownID(); p.get(path).status == http.StatusNotFound {
				p.status(p.get(path, "If-None-Match", "*"), 404)
			}
		},
	},
	{
		ID: "condition.not-modified-list", Title: "If-None-Match with several tags", Source: ourConditions,
		Rule: "If-None-Match may list tags, of which one has to be that of the resource; a weak one counts as well.",
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
		Rule: "If-None-Match with other tags than that of the resource is answered as if it were not there.",
		run: func(p *probe) {
			for _, given := range []string{`"conform"`, `W/"conform", "conform-2"`} {
				p.status(p.get(p.item(0), "If-None-Match", given), 200)
			}
		},
	},
	{
		ID: "condition.malformed", Title: "If-None-Match that is no list of tags", Source: ourConditions,
		Rule: "If-None-Match that is neither * nor a list of tags in quotes is 400.",
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
		Rule: "PUT, PATCH and DELETE with If-Match and the ETag of the resource are carried out, also if it is one of a list.",
		run: func(p *probe) {
			for _, prefix := range []string{"", `"conform", `} {
				p.eachChange(func(method, path, body, tag string) { p.ok(p.send(method, path, body, "If-Match", prefix+tag)) })
			}
		},
	},
	{
		ID: "condition.match-any", Title: "If-Match: *", Source: ourConditions, Writes: true,
		Rule: "PUT, PATCH and DELETE with If-Match: * are carried out.",
		run: func(p *probe) {
			p.eachChange(func(method, path, body, _ string) { p.ok(p.send(method, path, body, "If-Match", "*")) })
		},
	},
	{
		ID: "condition.stale", Title: "a change of a state that is over", Source: ourConditions, Writes: true,
		Rule: "PUT, PATCH and DELETE with an ETag that the resource no longer has are 412, and leave it alone.",
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
		Rule: "A weak tag never matches in If-Match: the change is 412.",
		run: func(p *probe) {
			path, _, tag := p.createTagged()
			p.refusesChanges(path, "W/"+tag, 412)
		},
	},
	{
		ID: "condition.match-malformed", Title: "If-Match that is no list of tags", Source: ourConditions, Writes: true,
		Rule: "If-Match that is neither * nor a list of tags in quotes is 400, and leaves the resource alone.",
		run: func(p *probe) {
			path, _, _ := p.createTagged()
			for _, given := range []string{"conform", `"conform`, `"a" "b"`} {
				p.refusesChanges(path, given, 400)
			}
		},
	},
	{
		ID: "condition.unknown-id", Title: "If-Match for what is not there", Source: ourConditions, Writes: true,
		Rule: "What is not there is 404, whatever If-Match says.",
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
		Rule: "A state that is over is 412 also if something is wrong with what the body says.",
		run: func(p *probe) {
			path, before := p.create()
			p.status(p.send(http.MethodPatch, path, `{"conform_unknown":1}`, "If-Match", `"conform"`), 412)
			p.unchanged(path, before)
		},
	},
}

var changeMethods = []string{http.MethodPatch, http.MethodPut, http.MethodDelete}

// tagOf is the ETag of an answer.
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

// createTagged makes a resource to work on, with its ETag.
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

// eachChange has a resource changed by each method, each time another one.
func (p *probe) eachChange(try func(method, path, body, tag string)) {
	for _, method := range changeMethods {
		path, before, tag := p.createTagged()
		try(method, path, p.changeBody(method, before), tag)
	}
}

// refusesChanges holds the server to a status by which it refuses every change of
// a resource, and to leaving that as it is.
func (p *probe) refusesChanges(path, ifMatch string, status int) {
	now := p.ok(p.get(path)).resource()
	for _, method := range changeMethods {
		p.status(p.send(method, path, p.changeBody(method, now), "If-Match", ifMatch), status)
		p.unchanged(path, now)
	}
}
