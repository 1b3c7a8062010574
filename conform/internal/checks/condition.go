package checks

import (
	"net/http"
	"regexp"

	"github.com/plural-go/plural/conform/internal/suite"
)

var strongTag = regexp.MustCompile(`^"[!#-~\x80-\xff]*"$`)

var etagChecks = []suite.Check{
	{
		ID: "etag.present", Title: "ETag of one resource", Source: suite.OurConditions,
		Rule: "GET of one resource has a strong ETag.",
		Run: func(p *suite.Probe) {
			r := p.OK(p.Get(p.Item(0)))
			tag := r.Header.Get("ETag")
			p.FailIf(!strongTag.MatchString(tag), r, `an ETag such as "1a.1.k3"`, "%q", tag)
		},
	},
	{
		ID: "etag.same-everywhere", Title: "ETag by HEAD and under the singular", Source: suite.OurConditions,
		Rule: "The ETag of a resource is the same by GET and HEAD, in its collection and under the singular.",
		Run: func(p *suite.Probe) {
			path := p.Item(0)
			tag := p.TagOf(p.Get(path))
			replies := []*suite.Reply{p.Get(path), p.Send(http.MethodHead, path, "")}
			if p.Collection.Singular != "" {
				replies = append(replies, p.Get(p.Singular()), p.Send(http.MethodHead, p.Singular(), ""))
			}
			for _, r := range replies {
				p.SkipIf(!r.Succeeded(), "there is no answer to compare (see path.singular and method.head): %s %s", r.Method, r.URL)
				p.HasTag(r, tag)
			}
		},
	},
	{
		ID: "etag.written", Title: "ETag of answers to writes", Source: suite.OurConditions, Writes: true, Synchronous: "the ETag of the response, and 202 has none",
		Rule: "The responses to POST, PUT and PATCH have the same ETag as a following GET.",
		Run: func(p *suite.Probe) {
			created := p.Synchronous(p.Post(p.Body(nil)))
			path := p.Collection.PathOf(created.CreatedID())
			read := p.OK(p.Get(path))
			p.HasTag(created, p.TagOf(read))
			for _, method := range []string{http.MethodPut, http.MethodPatch} {
				written := p.OK(p.Send(method, path, p.ChangeBody(method, read.Resource())))
				read = p.Get(path)
				p.HasTag(written, p.TagOf(read))
			}
		},
	},
	{
		ID: "etag.deleted", Title: "no ETag of what is gone", Source: suite.OurConditions, Writes: true, Synchronous: "the ETag of the response, and 202 has none",
		Rule: "The response to DELETE has no ETag.",
		Run: func(p *suite.Probe) {
			path, _ := p.Create()
			p.HasTag(p.OK(p.Delete(path)), "")
		},
	},
	{
		ID: "etag.changes", Title: "ETag after a change", Source: suite.OurConditions, Writes: true,
		Rule: "A change gives a resource another ETag, and so does deleting and creating it again.",
		Run: func(p *suite.Probe) {
			path, before, tag := p.CreateTagged()
			seen := map[string]bool{tag: true}
			isNew := func(r *suite.Reply) {
				tag := p.TagOf(r)
				p.FailIf(seen[tag], r, "an ETag that it did not have before", "%s again", tag)
				seen[tag] = true
			}
			p.OK(p.Patch(path, p.ChangeBody(http.MethodPatch, before)))
			changed := p.OK(p.Get(path))
			p.SkipIf(suite.EqualMembers(changed.Resource(), before), "a change has no effect (see patch.changes)")
			isNew(changed)
			p.OK(p.Put(path, p.AttributesOf(before)))
			isNew(p.Get(path))
			p.OK(p.Delete(path))
			if r := p.Post(p.Body(map[string]any{"id": suite.IDOf(path)})); r.Succeeded() && r.CreatedID() == suite.IDOf(path) {
				isNew(p.Get(path))
			}
		},
	},
	{
		ID: "etag.no-op", Title: "ETag after a change of nothing", Source: suite.OurConditions, Writes: true,
		Rule: "A write that changes nothing does not change the ETag.",
		Run: func(p *suite.Probe) {
			path, before, tag := p.CreateTagged()
			p.OK(p.Patch(path, "{}"))
			p.HasTag(p.OK(p.Get(path)), tag)
			p.OK(p.Put(path, p.AttributesOf(before)))
			p.HasTag(p.OK(p.Get(path)), tag)
		},
	},
}

var conditionalReadChecks = []suite.Check{
	{
		ID: "condition.not-modified", Title: "GET of what the client has", Source: suite.OurConditions,
		Rule: "GET and HEAD with If-None-Match and the ETag of the resource are 304.",
		Run: func(p *suite.Probe) {
			path := p.Item(0)
			tag := p.TagOf(p.Get(path))
			p.Status(p.Get(path, "If-None-Match", tag), 304)
			if p.Send(http.MethodHead, path, "").Succeeded() {
				p.Status(p.Send(http.MethodHead, path, "", "If-None-Match", tag), 304)
			}
		},
	},
	{
		ID: "condition.not-modified-form", Title: "headers and body of 304", Source: suite.OurConditions,
		Rule: "304 has the ETag, but no body and no headers of a body.",
		Run: func(p *suite.Probe) {
			path := p.Item(0)
			tag := p.TagOf(p.Get(path))
			r := p.Get(path, "If-None-Match", tag)
			p.SkipIf(r.Status != http.StatusNotModified, "a resource that the client has is not 304 (see condition.not-modified)")
			contentType := r.Header.Get("Content-Type")
			p.FailIf(len(r.Body) > 0 || contentType != "", r, "neither a body nor a Content-Type", "Content-Type %q, %s", contentType, r.Summary())
			p.HasTag(r, tag)
		},
	},
	{
		ID: "condition.not-modified-any", Title: "If-None-Match: *", Source: suite.OurConditions,
		Rule: "If-None-Match: * is 304 for an existing resource and 404 for a missing one.",
		Run: func(p *suite.Probe) {
			p.Status(p.Get(p.Item(0), "If-None-Match", "*"), 304)
			if path := p.UnknownID(); p.Get(path).Status == http.StatusNotFound {
				p.Status(p.Get(path, "If-None-Match", "*"), 404)
			}
		},
	},
	{
		ID: "condition.not-modified-list", Title: "If-None-Match with several tags", Source: suite.OurConditions,
		Rule: "If-None-Match may list ETags, one of which must match; a weak ETag matches too.",
		Run: func(p *suite.Probe) {
			path := p.Item(0)
			tag := p.TagOf(p.Get(path))
			for _, given := range []string{`"conform", ` + tag, "W/" + tag, `"conform",W/"conform" , W/` + tag} {
				p.Status(p.Get(path, "If-None-Match", given), 304)
			}
		},
	},
	{
		ID: "condition.modified", Title: "GET of what the client does not have", Source: suite.OurConditions,
		Rule: "If-None-Match with other ETags has no effect.",
		Run: func(p *suite.Probe) {
			for _, given := range []string{`"conform"`, `W/"conform", "conform-2"`} {
				p.Status(p.Get(p.Item(0), "If-None-Match", given), 200)
			}
		},
	},
	{
		ID: "condition.malformed", Title: "If-None-Match that is no list of tags", Source: suite.OurConditions,
		Rule: "If-None-Match that is neither * nor a list of quoted ETags is 400.",
		Run: func(p *suite.Probe) {
			for _, given := range []string{"conform", `"conform`, `"a" "b"`} {
				p.Status(p.Get(p.Item(0), "If-None-Match", given), 400)
			}
		},
	},
}

var conditionalWriteChecks = []suite.Check{
	{
		ID: "condition.match", Title: "a change of the state that is meant", Source: suite.OurConditions, Writes: true,
		Rule: "PUT, PATCH and DELETE with the ETag of the resource in If-Match succeed, also if it is one of a list.",
		Run: func(p *suite.Probe) {
			for _, prefix := range []string{"", `"conform", `} {
				p.EachChange(func(method, path, body, tag string) { p.OK(p.Send(method, path, body, "If-Match", prefix+tag)) })
			}
		},
	},
	{
		ID: "condition.match-any", Title: "If-Match: *", Source: suite.OurConditions, Writes: true,
		Rule: "PUT, PATCH and DELETE with If-Match: * succeed.",
		Run: func(p *suite.Probe) {
			p.EachChange(func(method, path, body, _ string) { p.OK(p.Send(method, path, body, "If-Match", "*")) })
		},
	},
	{
		ID: "condition.stale", Title: "a change of a state that is over", Source: suite.OurConditions, Writes: true,
		Rule: "PUT, PATCH and DELETE with an outdated ETag are 412 and have no effect.",
		Run: func(p *suite.Probe) {
			path, before, old := p.CreateTagged()
			p.OK(p.Patch(path, p.ChangeBody(http.MethodPatch, before)))
			p.SkipIf(p.TagOf(p.Get(path)) == old, "a change leaves the ETag as it was (see etag.changes)")
			p.RefusesChanges(path, old, 412)
		},
	},
	{
		ID: "condition.weak", Title: "If-Match with a weak tag", Source: suite.OurConditions, Writes: true,
		Rule: "A weak ETag never matches in If-Match: the change is 412.",
		Run: func(p *suite.Probe) {
			path, _, tag := p.CreateTagged()
			p.RefusesChanges(path, "W/"+tag, 412)
		},
	},
	{
		ID: "condition.match-malformed", Title: "If-Match that is no list of tags", Source: suite.OurConditions, Writes: true,
		Rule: "If-Match that is neither * nor a list of quoted ETags is 400 and has no effect.",
		Run: func(p *suite.Probe) {
			path, _, _ := p.CreateTagged()
			for _, given := range []string{"conform", `"conform`, `"a" "b"`} {
				p.RefusesChanges(path, given, 400)
			}
		},
	},
	{
		ID: "condition.unknown-id", Title: "If-Match for what is not there", Source: suite.OurConditions, Writes: true,
		Rule: "A missing resource is 404, whatever If-Match says.",
		Run: func(p *suite.Probe) {
			_, before := p.Create()
			for _, method := range suite.ChangeMethods {
				r := p.Send(method, p.UnknownID(), p.ChangeBody(method, before))
				p.SkipIf(r.Status != http.StatusNotFound, "%s of what is not there is not 404 (see path.unknown-id and the like)", method)
				for _, given := range []string{`"conform"`, "*"} {
					p.Status(p.Send(method, p.UnknownID(), p.ChangeBody(method, before), "If-Match", given), 404)
				}
			}
		},
	},
	{
		ID: "condition.first", Title: "conditions come before bodies", Source: suite.OurConditions, Writes: true,
		Rule: "An outdated ETag is 412, also if the body is invalid.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			p.Status(p.Send(http.MethodPatch, path, `{"conform_unknown":1}`, "If-Match", `"conform"`), 412)
			p.Unchanged(path, before)
		},
	},
}
