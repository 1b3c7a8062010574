package conform

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

var asyncChecks = []Check{
	{
		ID: "async.accepted", Title: "answers to Prefer: respond-async", Source: ourAsync, Writes: true,
		Rule: "POST, PUT, PATCH and DELETE with Prefer: respond-async are 202, and data has only the id and type of the resource.",
		run: func(p *probe) {
			p.asynchronous()
			path, before := p.create()
			for _, method := range []string{http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete} {
				target, body := path, p.changeBody(method, before)
				want := map[string]any{"id": idOf(path), "type": p.collection.Name}
				if method == http.MethodPost {
					want["id"] = newUUID()
					target, body = p.collection.path(), p.body(map[string]any{"id": want["id"]})
				}
				r := p.status(p.prefer("respond-async", method, target, body), 202)
				if got := r.resource().members; !equalJSON(got, want) {
					p.fail(r, encodeJSON(map[string]any{"data": want}), "%s", r.summary())
				}
				p.onlyMember(r, "data")
			}
		},
	},
	{
		ID: "async.location", Title: "Location of an operation", Source: ourAsync, Writes: true,
		Rule: "202 has Location, the path of an operation in the collection operations.",
		run: func(p *probe) {
			r := p.acceptNew()
			given, prefix := r.header.Get("Location"), p.base+"/"+operationsName+"/"
			if id, below := strings.CutPrefix(r.target(given), prefix); given == "" || !below || !uuidForm.MatchString(strings.ToLower(id)) {
				p.fail(r, "Location: "+prefix+"<id>", "%q", given)
			}
		},
	},
	{
		ID: "async.preference-applied", Title: "Preference-Applied", Source: ourAsync, Writes: true,
		Rule: "202 has Preference-Applied: respond-async.",
		run: func(p *probe) {
			r := p.acceptNew()
			if given := r.header.Get("Preference-Applied"); !strings.Contains(given, "respond-async") {
				p.fail(r, "Preference-Applied: respond-async", "%q", given)
			}
		},
	},
	{
		ID: "async.create", Title: "POST that is done later", Source: ourAsync, Writes: true,
		Rule: "When the operation of a POST has succeeded, the resource exists with its values.",
		run: func(p *probe) {
			p.asynchronous()
			members := p.whole()
			r := p.accept(http.MethodPost, p.collection.path(), encodeJSON(members))
			p.succeeds(r)
			p.hasValues(p.ok(p.get(p.collection.path()+"/"+r.createdID())), members)
		},
	},
	{
		ID: "async.patch", Title: "PATCH that is done later", Source: ourAsync, Writes: true,
		Rule: "When the operation of a PATCH has succeeded, the resource has the new value.",
		run: func(p *probe) {
			p.asynchronous()
			path, before := p.create()
			name, value := p.change(before)
			p.succeeds(p.accept(http.MethodPatch, path, one(name, value)))
			p.hasValues(p.ok(p.get(path)), map[string]any{name: value})
		},
	},
	{
		ID: "async.put", Title: "PUT that is done later", Source: ourAsync, Writes: true,
		Rule: "When the operation of a PUT has succeeded, the resource has the new values.",
		run: func(p *probe) {
			p.asynchronous()
			path, _ := p.create()
			members := p.whole()
			p.succeeds(p.accept(http.MethodPut, path, encodeJSON(members)))
			p.hasValues(p.ok(p.get(path)), members)
		},
	},
	{
		ID: "async.delete", Title: "DELETE that is done later", Source: ourAsync, Writes: true,
		Rule: "When the operation of a DELETE has succeeded, the resource is deleted.",
		run: func(p *probe) {
			p.asynchronous()
			path, _ := p.create()
			p.succeeds(p.accept(http.MethodDelete, path, ""))
			p.absent(path)
		},
	},
	{
		ID: "async.exactly-once", Title: "an operation takes effect once", Source: ourAsync, Writes: true,
		Rule: "An operation takes effect exactly once.",
		run: func(p *probe) {
			p.asynchronous()
			count := p.count()
			r := p.accept(http.MethodPost, p.collection.path(), p.body(nil))
			p.succeeds(r)
			p.counts(r, count+1)
		},
	},
	{
		ID: "async.order", Title: "several operations on one resource", Source: ourAsync, Writes: true,
		Rule: "Operations on one resource take effect in the order in which they were accepted.",
		run: func(p *probe) {
			p.asynchronous()
			path, before := p.create()
			accepted, last := p.acceptChanges(path, before, 6)
			for _, r := range accepted {
				p.succeeds(r)
			}
			p.hasValues(p.ok(p.get(path)), last)
		},
	},
	{
		ID: "async.about-to-exist", Title: "a resource that is about to be created", Source: ourAsync, Writes: true,
		Rule: "A resource whose creation is accepted counts as existing for further asynchronous operations.",
		run: func(p *probe) {
			p.asynchronous()
			members := p.whole()
			created := p.accept(http.MethodPost, p.collection.path(), encodeJSON(members))
			path := p.collection.path() + "/" + created.createdID()
			name, value := p.change(resource{members: decodeJSON([]byte(encodeJSON(members))).(map[string]any)})
			patched := p.status(p.prefer("respond-async", http.MethodPatch, path, one(name, value)), 202)
			p.succeeds(created)
			p.succeeds(patched)
			p.hasValues(p.ok(p.get(path)), map[string]any{name: value})
		},
	},
	{
		ID: "async.checks-request", Title: "what cannot be read is refused at once", Source: ourAsync, Writes: true,
		Rule: "A body that is not JSON is 400, and one of another content type 415, at once.",
		run: func(p *probe) {
			p.asynchronous()
			p.status(p.prefer("respond-async", http.MethodPost, p.collection.path(), "{"), 400)
			p.status(p.prefer("respond-async", http.MethodPost, p.collection.path(), p.body(nil), "Content-Type", "text/plain"), 415)
		},
	},
	{
		ID: "async.checks-body", Title: "an invalid body is refused at once", Source: ourAsync, Writes: true,
		Rule: "An invalid body is 422 at once, of POST, PUT and PATCH.",
		run: func(p *probe) {
			p.asynchronous()
			path, before := p.create()
			body := p.body(map[string]any{"conform_unknown": 1})
			p.status(p.prefer("respond-async", http.MethodPost, p.collection.path(), body), 422)
			p.status(p.prefer("respond-async", http.MethodPut, path, body), 422)
			p.status(p.prefer("respond-async", http.MethodPatch, path, `{"conform_unknown":1}`), 422)
			p.unchanged(path, before)
		},
	},
	{
		ID: "async.checks-existence", Title: "an unknown id is refused at once", Source: ourAsync, Writes: true,
		Rule: "PUT, PATCH and DELETE of a resource that neither exists nor is being created are 404 at once.",
		run: func(p *probe) {
			p.asynchronous()
			_, before := p.create()
			for _, method := range changeMethods {
				p.status(p.prefer("respond-async", method, p.unknownID(), p.changeBody(method, before)), 404)
			}
		},
	},
	{
		ID: "async.checks-conflict", Title: "an id that exists is refused at once", Source: ourAsync, Writes: true,
		Rule: "POST with an existing id is 409 at once.",
		run: func(p *probe) {
			p.asynchronous()
			path, before := p.create()
			p.status(p.prefer("respond-async", http.MethodPost, p.collection.path(), p.body(map[string]any{"id": idOf(path)})), 409)
			p.unchanged(path, before)
		},
	},
	{
		ID: "async.checks-condition", Title: "a state that is over is refused at once", Source: ourAsync, Writes: true,
		Rule: "PUT, PATCH and DELETE with If-Match and another ETag than that of the resource are 412 at once.",
		run: func(p *probe) {
			p.asynchronous()
			path, before := p.create()
			for _, method := range changeMethods {
				p.status(p.prefer("respond-async", method, path, p.changeBody(method, before), "If-Match", `"conform"`), 412)
			}
			p.unchanged(path, before)
		},
	},
	{
		ID: "async.wait", Title: "Prefer: respond-async, wait=N", Source: ourAsync, Writes: true,
		Rule: "With wait=N the response is the synchronous one if the operation finishes within N seconds, otherwise 202.",
		run: func(p *probe) {
			p.asynchronous()
			started := time.Now()
			r := p.status(p.prefer("respond-async, wait=10", http.MethodPost, p.collection.path(), p.body(nil)), 201, 202)
			if waited := time.Since(started); r.status == http.StatusAccepted && waited < 10*time.Second {
				p.fail(r, "201, or 202 when 10 seconds are over", "202 after %s", waited.Round(time.Millisecond))
			}
			if r.status == http.StatusCreated {
				p.fullAs(r, p.ok(p.get(p.collection.path()+"/"+r.createdID())).resource())
			}
		},
	},
	{
		ID: "async.array", Title: "an array with Prefer: respond-async", Source: ourAsync, Writes: true,
		Rule: "POST of an array is always synchronous.",
		run: func(p *probe) {
			p.asynchronous()
			p.dataIs(p.status(p.prefer("respond-async", http.MethodPost, p.collection.path(), "["+p.body(nil)+"]"), 201), '[', "an array")
		},
	},
	{
		ID: "async.once", Title: "Idempotency-Key with Prefer: respond-async", Source: ourAsync, Writes: true,
		Rule: "A request repeated with its Idempotency-Key gets the same operation and takes effect once.",
		run: func(p *probe) {
			p.asynchronous()
			count := p.count()
			key, body := newUUID(), p.body(nil)
			first := p.accept(http.MethodPost, p.collection.path(), body, onceHeader, key)
			p.sameAnswer(first, p.prefer("respond-async", http.MethodPost, p.collection.path(), body, onceHeader, key))
			p.succeeds(first)
			p.sameAnswer(first, p.prefer("respond-async", http.MethodPost, p.collection.path(), body, onceHeader, key))
			p.awaitUnfinished(p.ctx)
			p.counts(first, count+1)
		},
	},
}

// asynchronous skips the check on a server that does not execute writes asynchronously.
func (p *probe) asynchronous() {
	p.sent(p.decideAsync(), &reply{method: http.MethodPost, url: p.base + p.collection.path()})
	if p.async == unsupported {
		p.skip(notSupported)
	}
}

// prefer sends a request with a preference, and returns the response without waiting for an
// operation.
func (p *probe) prefer(preference, method, path, body string, headers ...string) *reply {
	return p.sendOnly(method, path, body, append(slices.Clip(headers), "Prefer", preference)...)
}

// accept sends a write that must be accepted for asynchronous execution.
func (p *probe) accept(method, path, body string, headers ...string) *reply {
	r := p.ok(p.prefer("respond-async", method, path, body, headers...))
	if r.status != http.StatusAccepted {
		p.skip("the server answers %s synchronously, also with Prefer: respond-async (see async.accepted)", method)
	}
	return r
}

// acceptNew sends an asynchronous creation.
func (p *probe) acceptNew() *reply {
	p.asynchronous()
	return p.accept(http.MethodPost, p.collection.path(), p.body(nil))
}

// acceptChanges sends n asynchronous changes of a resource, one directly after the other. It
// returns the responses, and the last change.
func (p *probe) acceptChanges(path string, now resource, count int) (accepted []*reply, last map[string]any) {
	for range count {
		name, value := p.change(now)
		last = map[string]any{name: value}
		now = resource{members: decodeJSON([]byte(encodeJSON(last))).(map[string]any)}
		accepted = append(accepted, p.accept(http.MethodPatch, path, encodeJSON(last)))
	}
	return accepted, last
}

// finished waits for the operation of a response, and returns it.
func (p *probe) finished(accepted *reply) *reply {
	operation, err := p.await(p.ctx, accepted)
	p.followed(err, accepted)
	return operation
}

// succeeds waits for the operation of a response, which must succeed.
func (p *probe) succeeds(accepted *reply) *reply {
	operation := p.finished(accepted)
	if operation.resource().text("status") != "succeeded" {
		p.fail(operation, `"status":"succeeded"`, "%s", operation.summary())
	}
	return operation
}

// hasValues fails unless a resource has the values that were sent.
func (p *probe) hasValues(r *reply, members map[string]any) {
	for name, value := range decodeJSON([]byte(encodeJSON(members))).(map[string]any) {
		if got := r.resource().members[name]; !equalJSON(got, value) && !sameMoment(got, value) {
			p.fail(r, fmt.Sprintf("%s is %s", name, encodeJSON(value)), "%s", encodeJSON(got))
		}
	}
}
