package conform

import (
	"fmt"
	"net/http"
	"strings"
)

const onceHeader = "Idempotency-Key"

var onceChecks = []Check{
	{
		ID: "once.replay", Title: "POST again with the same key", Source: ourKeys, Writes: true, Synchronous: "the repeated response; for 202 that is async.once",
		Rule: "A request repeated with its Idempotency-Key gets the first response: status, body, Location and ETag.",
		run: func(p *probe) {
			body, key := p.body(nil), newUUID()
			p.sameAnswer(p.ok(p.keyed(key, http.MethodPost, p.collection.path(), body)), p.keyed(key, http.MethodPost, p.collection.path(), body))
		},
	},
	{
		ID: "once.replay-of-changes", Title: "PATCH, PUT and DELETE again with the same key", Source: ourKeys, Writes: true, Synchronous: "the repeated response; for 202 that is async.once",
		Rule: "PATCH, PUT and DELETE repeated with their Idempotency-Key get the first response, whatever has happened since.",
		run: func(p *probe) {
			for _, method := range changeMethods {
				path, before := p.create()
				body, key := p.changeBody(method, before), newUUID()
				first := p.ok(p.keyed(key, method, path, body))
				if method != http.MethodDelete {
					p.ok(p.send(http.MethodPatch, path, p.changeBody(http.MethodPatch, first.resource())))
				}
				p.sameAnswer(first, p.keyed(key, method, path, body))
			}
		},
	},
	{
		ID: "once.marked", Title: "Idempotency-Replayed", Source: ourKeys, Writes: true, Synchronous: "the repeated response; for 202 that is async.once",
		Rule: "A repeated response has Idempotency-Replayed: true, and the first one does not.",
		run: func(p *probe) {
			body, key := p.body(nil), newUUID()
			for _, want := range []string{"", "true"} {
				r := p.ok(p.keyed(key, http.MethodPost, p.collection.path(), body))
				if got := r.header.Get("Idempotency-Replayed"); got != want {
					p.fail(r, fmt.Sprintf("Idempotency-Replayed: %q", want), "%q", got)
				}
			}
		},
	},
	{
		ID: "once.effect", Title: "a request with a key takes effect once", Source: ourKeys, Writes: true,
		Rule: "A request repeated with its Idempotency-Key has no further effect.",
		run: func(p *probe) {
			body, key := p.body(nil), newUUID()
			p.ok(p.keyed(key, http.MethodPost, p.collection.path(), body))
			count := p.count()
			p.counts(p.keyed(key, http.MethodPost, p.collection.path(), body), count)

			path, before := p.create()
			patch, key := p.changeBody(http.MethodPatch, before), newUUID()
			p.ok(p.keyed(key, http.MethodPatch, path, patch))
			p.ok(p.send(http.MethodPut, path, p.attributesOf(before)))
			back := p.ok(p.get(path)).resource()
			p.keyed(key, http.MethodPatch, path, patch)
			p.unchanged(path, back)
		},
	},
	{
		ID: "once.other-request", Title: "one key for two requests", Source: ourKeys, Writes: true,
		Rule: "Another request with a used key is 422 and has no effect.",
		run: func(p *probe) {
			path, before := p.create()
			key := newUUID()
			p.ok(p.keyed(key, http.MethodPost, p.collection.path(), p.body(nil)))
			count := p.count()
			p.counts(p.status(p.keyed(key, http.MethodPost, p.collection.path(), p.body(map[string]any{"id": newUUID()})), 422), count)
			p.status(p.keyed(key, http.MethodPatch, path, p.changeBody(http.MethodPatch, before)), 422)
			p.unchanged(path, before)
		},
	},
	{
		ID: "once.kept-404", Title: "404 is given again", Source: ourKeys, Writes: true,
		Rule: "With an Idempotency-Key, 404 is repeated, even if the resource exists by then.",
		run: func(p *probe) {
			path, key := p.unknownID(), newUUID()
			first := p.keyed(key, http.MethodPatch, path, "{}")
			if first.status != http.StatusNotFound {
				p.skip("what is not there is not 404 (see patch.unknown-id)")
			}
			if r := p.ok(p.post(p.body(map[string]any{"id": idOf(path)}))); r.createdID() != idOf(path) {
				p.skip("a client cannot bring its own id (see create.own-id)")
			}
			p.sameAnswer(first, p.keyed(key, http.MethodPatch, path, "{}"))
		},
	},
	{
		ID: "once.kept-409", Title: "409 is given again", Source: ourKeys, Writes: true,
		Rule: "With an Idempotency-Key, 409 is repeated, even if there is no conflict any more.",
		run: func(p *probe) {
			path, _ := p.create()
			key, body := newUUID(), p.body(map[string]any{"id": idOf(path)})
			first := p.keyed(key, http.MethodPost, p.collection.path(), body)
			if first.status != http.StatusConflict {
				p.skip("an id that exists is no conflict (see create.existing-id)")
			}
			p.ok(p.send(http.MethodDelete, path, ""))
			p.sameAnswer(first, p.keyed(key, http.MethodPost, p.collection.path(), body))
		},
	},
	{
		ID: "once.kept-412", Title: "412 is given again", Source: ourKeys, Writes: true,
		Rule: "With an Idempotency-Key, 412 is repeated, even if the resource is deleted by then.",
		run: func(p *probe) {
			path, _ := p.create()
			key := newUUID()
			first := p.keyed(key, http.MethodDelete, path, "", "If-Match", `"conform"`)
			if first.status != http.StatusPreconditionFailed {
				p.skip("a state that is over is not 412 (see condition.stale)")
			}
			p.ok(p.send(http.MethodDelete, path, ""))
			p.sameAnswer(first, p.keyed(key, http.MethodDelete, path, "", "If-Match", `"conform"`))
		},
	},
	{
		ID: "once.kept-422", Title: "422 is given again", Source: ourKeys, Writes: true,
		Rule: "With an Idempotency-Key, 422 is repeated, even if the resource is deleted by then.",
		run: func(p *probe) {
			path, _ := p.create()
			key, body := newUUID(), `{"conform_unknown":1}`
			first := p.keyed(key, http.MethodPatch, path, body)
			if first.status != http.StatusUnprocessableEntity {
				p.skip("an unknown attribute is not 422 (see body.unknown-attribute)")
			}
			p.ok(p.send(http.MethodDelete, path, ""))
			p.sameAnswer(first, p.keyed(key, http.MethodPatch, path, body))
		},
	},
	{
		ID: "once.not-kept", Title: "400 is not given again", Source: ourKeys, Writes: true,
		Rule: "A malformed request does not use its key.",
		run: func(p *probe) {
			key := newUUID()
			if r := p.keyed(key, http.MethodPost, p.collection.path(), "{"); r.status != http.StatusBadRequest {
				p.skip("what is no JSON is not 400 (see body.malformed)")
			}
			p.ok(p.keyed(key, http.MethodPost, p.collection.path(), p.body(nil)))
		},
	},
	{
		ID: "once.array", Title: "an array again with the same key", Source: ourKeys, Writes: true, Synchronous: alwaysSynchronous,
		Rule: "An array repeated with its Idempotency-Key gets the first response and creates nothing.",
		run: func(p *probe) {
			key, body := newUUID(), "["+p.body(nil)+","+p.body(nil)+"]"
			first := p.ok(p.keyed(key, http.MethodPost, p.collection.path(), body))
			count := p.count()
			again := p.keyed(key, http.MethodPost, p.collection.path(), body)
			p.sameAnswer(first, again)
			p.counts(again, count)
		},
	},
	{
		ID: "once.malformed", Title: "a key that is none", Source: ourKeys, Writes: true,
		Rule: "An Idempotency-Key with more than 255 characters, or with characters other than printable ASCII, is 400.",
		run: func(p *probe) {
			for _, key := range []string{strings.Repeat("k", 256), "cl\u00e9"} {
				p.status(p.keyed(key, http.MethodPost, p.collection.path(), p.body(nil)), 400)
			}
		},
	},
}

// keyed sends a request with an Idempotency-Key.
func (p *probe) keyed(key, method, path, body string, headers ...string) *reply {
	return p.send(method, path, body, append(headers, onceHeader, key)...)
}

// sameAnswer compares a response with an earlier one.
func (p *probe) sameAnswer(first, again *reply) {
	if again.status != first.status || string(again.body) != string(first.body) {
		p.fail(again, "again "+first.summary(), "%s", again.summary())
	}
	for _, name := range []string{"Location", "ETag", "Content-Type"} {
		if got, want := again.header.Get(name), first.header.Get(name); got != want {
			p.fail(again, "again "+name+": "+want, "%q", got)
		}
	}
}

// counts fails unless the collection has a number of resources.
func (p *probe) counts(r *reply, want int) {
	if got := p.count(); got != want {
		p.fail(r, fmt.Sprintf("%d resources in the collection", want), "%d", got)
	}
}
