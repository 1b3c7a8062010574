package checks

import (
	"net/http"
	"strings"
	"time"

	"github.com/plural-go/plural/conform/internal/suite"
)

var asyncChecks = []suite.Check{
	{
		ID: "async.accepted", Title: "answers to Prefer: respond-async", Source: suite.OurAsync, Writes: true, NeedsAsync: true,
		Rule: "POST, PUT, PATCH and DELETE with Prefer: respond-async are 202, and data has only the id and type of the resource.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			for _, method := range []string{http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete} {
				target, body := path, p.ChangeBody(method, before)
				want := map[string]any{"id": suite.IDOf(path), "type": p.Collection.Name}
				if method == http.MethodPost {
					want["id"] = suite.NewUUID()
					target, body = p.Collection.Path(), p.Body(map[string]any{"id": want["id"]})
				}
				r := p.Status(p.Prefer("respond-async", method, target, body), 202)
				got := r.Resource().Members
				p.FailIf(!suite.EqualJSON(got, want), r, suite.EncodeJSON(map[string]any{"data": want}), "%s", r.Summary())
				p.OnlyMember(r, "data")
			}
		},
	},
	{
		ID: "async.location", Title: "Location of an operation", Source: suite.OurAsync, Writes: true, NeedsAsync: true,
		Rule: "202 has Location, the path of an operation in the collection operations.",
		Run: func(p *suite.Probe) {
			r := p.AcceptNew()
			given, prefix := r.Header.Get("Location"), p.Base+"/"+suite.OperationsName+"/"
			id, below := strings.CutPrefix(r.Target(given), prefix)
			p.FailIf(given == "" || !below || !suite.UUIDForm.MatchString(strings.ToLower(id)), r, "Location: "+prefix+"<id>", "%q", given)
		},
	},
	{
		ID: "async.preference-applied", Title: "Preference-Applied", Source: suite.OurAsync, Writes: true, NeedsAsync: true,
		Rule: "202 has Preference-Applied: respond-async.",
		Run: func(p *suite.Probe) {
			r := p.AcceptNew()
			given := r.Header.Get("Preference-Applied")
			p.FailIf(!strings.Contains(given, "respond-async"), r, "Preference-Applied: respond-async", "%q", given)
		},
	},
	{
		ID: "async.create", Title: "POST that is done later", Source: suite.OurAsync, Writes: true, NeedsAsync: true,
		Rule: "When the operation of a POST has succeeded, the resource exists with its values.",
		Run: func(p *suite.Probe) {
			members := p.Whole()
			r := p.Accept(http.MethodPost, p.Collection.Path(), suite.EncodeJSON(members))
			p.Succeeds(r)
			p.HasValues(p.OK(p.Get(p.Collection.PathOf(r.CreatedID()))), members)
		},
	},
	{
		ID: "async.patch", Title: "PATCH that is done later", Source: suite.OurAsync, Writes: true, NeedsAsync: true,
		Rule: "When the operation of a PATCH has succeeded, the resource has the new value.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			name, value := p.Change(before)
			p.Succeeds(p.Accept(http.MethodPatch, path, suite.One(name, value)))
			p.HasValues(p.OK(p.Get(path)), map[string]any{name: value})
		},
	},
	{
		ID: "async.put", Title: "PUT that is done later", Source: suite.OurAsync, Writes: true, NeedsAsync: true,
		Rule: "When the operation of a PUT has succeeded, the resource has the new values.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			members := p.Kept(before, p.Whole())
			p.Succeeds(p.Accept(http.MethodPut, path, suite.EncodeJSON(members)))
			p.HasValues(p.OK(p.Get(path)), members)
		},
	},
	{
		ID: "async.delete", Title: "DELETE that is done later", Source: suite.OurAsync, Writes: true, NeedsAsync: true,
		Rule: "When the operation of a DELETE has succeeded, the resource is deleted.",
		Run: func(p *suite.Probe) {
			path, _ := p.Create()
			p.Succeeds(p.Accept(http.MethodDelete, path, ""))
			p.Absent(path)
		},
	},
	{
		ID: "async.exactly-once", Title: "an operation takes effect once", Source: suite.OurAsync, Writes: true, NeedsAsync: true,
		Rule: "An operation takes effect exactly once.",
		Run: func(p *suite.Probe) {
			count := p.Count()
			r := p.Accept(http.MethodPost, p.Collection.Path(), p.Body(nil))
			p.Succeeds(r)
			p.Counts(r, count+1)
		},
	},
	{
		ID: "async.order", Title: "several operations on one resource", Source: suite.OurAsync, Writes: true, NeedsAsync: true,
		Rule: "Operations on one resource take effect in the order in which they were accepted.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			accepted, last := p.AcceptChanges(path, before, 6)
			for _, r := range accepted {
				p.Succeeds(r)
			}
			p.HasValues(p.OK(p.Get(path)), last)
		},
	},
	{
		ID: "async.about-to-exist", Title: "a resource that is about to be created", Source: suite.OurAsync, Writes: true, NeedsAsync: true,
		Rule: "A resource whose creation is accepted counts as existing for further asynchronous operations.",
		Run: func(p *suite.Probe) {
			members := p.Whole()
			created := p.Accept(http.MethodPost, p.Collection.Path(), suite.EncodeJSON(members))
			path := p.Collection.PathOf(created.CreatedID())
			name, value := p.Change(suite.Resource{Members: suite.DecodeJSON([]byte(suite.EncodeJSON(members))).(map[string]any)})
			patched := p.Status(p.Prefer("respond-async", http.MethodPatch, path, suite.One(name, value)), 202)
			p.Succeeds(created)
			p.Succeeds(patched)
			p.HasValues(p.OK(p.Get(path)), map[string]any{name: value})
		},
	},
	{
		ID: "async.checks-request", Title: "what cannot be read is refused at once", Source: suite.OurAsync, Writes: true, NeedsAsync: true,
		Rule: "A body that is not JSON is 400, and one of another content type 415, at once.",
		Run: func(p *suite.Probe) {
			p.Status(p.Prefer("respond-async", http.MethodPost, p.Collection.Path(), "{"), 400)
			p.Status(p.Prefer("respond-async", http.MethodPost, p.Collection.Path(), p.Body(nil), "Content-Type", "text/plain"), 415)
		},
	},
	{
		ID: "async.checks-body", Title: "an invalid body is refused at once", Source: suite.OurAsync, Writes: true, NeedsAsync: true,
		Rule: "An invalid body is 422 at once, of POST, PUT and PATCH.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			body := p.Body(map[string]any{"conform_unknown": 1})
			p.Status(p.Prefer("respond-async", http.MethodPost, p.Collection.Path(), body), 422)
			p.Status(p.Prefer("respond-async", http.MethodPut, path, body), 422)
			p.Status(p.Prefer("respond-async", http.MethodPatch, path, `{"conform_unknown":1}`), 422)
			p.Unchanged(path, before)
		},
	},
	{
		ID: "async.checks-existence", Title: "an unknown id is refused at once", Source: suite.OurAsync, Writes: true, NeedsAsync: true,
		Rule: "PUT, PATCH and DELETE of a resource that neither exists nor is being created are 404 at once.",
		Run: func(p *suite.Probe) {
			_, before := p.Create()
			for _, method := range suite.ChangeMethods {
				p.Status(p.Prefer("respond-async", method, p.UnknownID(), p.ChangeBody(method, before)), 404)
			}
		},
	},
	{
		ID: "async.checks-conflict", Title: "an id that exists is refused at once", Source: suite.OurAsync, Writes: true, NeedsAsync: true,
		Rule: "POST with an existing id is 409 at once.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			p.Status(p.Prefer("respond-async", http.MethodPost, p.Collection.Path(), p.Body(map[string]any{"id": suite.IDOf(path)})), 409)
			p.Unchanged(path, before)
		},
	},
	{
		ID: "async.checks-condition", Title: "a state that is over is refused at once", Source: suite.OurAsync, Writes: true, NeedsAsync: true,
		Rule: "PUT, PATCH and DELETE with If-Match and another ETag than that of the resource are 412 at once.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			for _, method := range suite.ChangeMethods {
				p.Status(p.Prefer("respond-async", method, path, p.ChangeBody(method, before), "If-Match", `"conform"`), 412)
			}
			p.Unchanged(path, before)
		},
	},
	{
		ID: "async.wait", Title: "Prefer: respond-async, wait=N", Source: suite.OurAsync, Writes: true, NeedsAsync: true,
		Rule: "With wait=N the response is the synchronous one if the operation finishes within N seconds, otherwise 202.",
		Run: func(p *suite.Probe) {
			started := time.Now()
			r := p.Status(p.Prefer("respond-async, wait=10", http.MethodPost, p.Collection.Path(), p.Body(nil)), 201, 202)
			if waited := time.Since(started); r.Status == http.StatusAccepted && waited < 10*time.Second {
				p.Fail(r, "201, or 202 when 10 seconds are over", "202 after %s", waited.Round(time.Millisecond))
			}
			if r.Status == http.StatusCreated {
				p.FullAs(r, p.OK(p.Get(p.Collection.PathOf(r.CreatedID()))).Resource())
			}
		},
	},
	{
		ID: "async.array", Title: "an array with Prefer: respond-async", Source: suite.OurAsync, Writes: true, NeedsAsync: true,
		Rule: "POST of an array is always synchronous.",
		Run: func(p *suite.Probe) {
			p.DataIs(p.Status(p.Prefer("respond-async", http.MethodPost, p.Collection.Path(), "["+p.Body(nil)+"]"), 201), '[', "an array")
		},
	},
	{
		ID: "async.once", Title: "Idempotency-Key with Prefer: respond-async", Source: suite.OurAsync, Writes: true, NeedsAsync: true,
		Rule: "A request repeated with its Idempotency-Key gets the same operation and takes effect once.",
		Run: func(p *suite.Probe) {
			count := p.Count()
			key, body := suite.NewUUID(), p.Body(nil)
			first := p.Accept(http.MethodPost, p.Collection.Path(), body, suite.OnceHeader, key)
			p.SameAnswer(first, p.Prefer("respond-async", http.MethodPost, p.Collection.Path(), body, suite.OnceHeader, key))
			p.Succeeds(first)
			p.SameAnswer(first, p.Prefer("respond-async", http.MethodPost, p.Collection.Path(), body, suite.OnceHeader, key))
			p.AwaitUnfinished(p.Ctx)
			p.Counts(first, count+1)
		},
	},
}
