package checks

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/plural-go/plural/conform/internal/suite"
)

var onceChecks = []suite.Check{
	{
		ID: "once.replay", Title: "POST again with the same key", Source: suite.OurKeys, Writes: true, Synchronous: "the repeated response; for 202 that is async.once",
		Rule: "A request repeated with its Idempotency-Key gets the first response: status, body, Location and ETag.",
		Run: func(p *suite.Probe) {
			body, key := p.Body(nil), suite.NewUUID()
			p.SameAnswer(p.OK(p.Keyed(key, http.MethodPost, p.Collection.Path(), body)), p.Keyed(key, http.MethodPost, p.Collection.Path(), body))
		},
	},
	{
		ID: "once.replay-of-changes", Title: "PATCH, PUT and DELETE again with the same key", Source: suite.OurKeys, Writes: true, Synchronous: "the repeated response; for 202 that is async.once",
		Rule: "PATCH, PUT and DELETE repeated with their Idempotency-Key get the first response, whatever has happened since.",
		Run: func(p *suite.Probe) {
			for _, method := range suite.ChangeMethods {
				path, before := p.Create()
				body, key := p.ChangeBody(method, before), suite.NewUUID()
				first := p.OK(p.Keyed(key, method, path, body))
				if method != http.MethodDelete {
					p.OK(p.Patch(path, p.ChangeBody(http.MethodPatch, first.Resource())))
				}
				p.SameAnswer(first, p.Keyed(key, method, path, body))
			}
		},
	},
	{
		ID: "once.marked", Title: "Idempotency-Replayed", Source: suite.OurKeys, Writes: true, Synchronous: "the repeated response; for 202 that is async.once",
		Rule: "A repeated response has Idempotency-Replayed: true, and the first one does not.",
		Run: func(p *suite.Probe) {
			body, key := p.Body(nil), suite.NewUUID()
			for _, want := range []string{"", "true"} {
				r := p.OK(p.Keyed(key, http.MethodPost, p.Collection.Path(), body))
				got := r.Header.Get("Idempotency-Replayed")
				p.FailIf(got != want, r, fmt.Sprintf("Idempotency-Replayed: %q", want), "%q", got)
			}
		},
	},
	{
		ID: "once.effect", Title: "a request with a key takes effect once", Source: suite.OurKeys, Writes: true,
		Rule: "A request repeated with its Idempotency-Key has no further effect.",
		Run: func(p *suite.Probe) {
			body, key := p.Body(nil), suite.NewUUID()
			p.OK(p.Keyed(key, http.MethodPost, p.Collection.Path(), body))
			count := p.Count()
			p.Counts(p.Keyed(key, http.MethodPost, p.Collection.Path(), body), count)

			path, before := p.Create()
			patch, key := p.ChangeBody(http.MethodPatch, before), suite.NewUUID()
			p.OK(p.Keyed(key, http.MethodPatch, path, patch))
			p.OK(p.Put(path, p.AttributesOf(before)))
			back := p.OK(p.Get(path)).Resource()
			p.Keyed(key, http.MethodPatch, path, patch)
			p.Unchanged(path, back)
		},
	},
	{
		ID: "once.other-request", Title: "one key for two requests", Source: suite.OurKeys, Writes: true,
		Rule: "Another request with a used key is 422 and has no effect.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			key := suite.NewUUID()
			p.OK(p.Keyed(key, http.MethodPost, p.Collection.Path(), p.Body(nil)))
			count := p.Count()
			p.Counts(p.Status(p.Keyed(key, http.MethodPost, p.Collection.Path(), p.Body(map[string]any{"id": suite.NewUUID()})), 422), count)
			p.Status(p.Keyed(key, http.MethodPatch, path, p.ChangeBody(http.MethodPatch, before)), 422)
			p.Unchanged(path, before)
		},
	},
	{
		ID: "once.kept-404", Title: "404 is given again", Source: suite.OurKeys, Writes: true,
		Rule: "With an Idempotency-Key, 404 is repeated, even if the resource exists by then.",
		Run: func(p *suite.Probe) {
			path, key := p.UnknownID(), suite.NewUUID()
			first := p.Keyed(key, http.MethodPatch, path, "{}")
			p.SkipIf(first.Status != http.StatusNotFound, "what is not there is not 404 (see patch.unknown-id)")
			r := p.OK(p.Post(p.Body(map[string]any{"id": suite.IDOf(path)})))
			p.SkipIf(r.CreatedID() != suite.IDOf(path), "a client cannot bring its own id (see create.own-id)")
			p.SameAnswer(first, p.Keyed(key, http.MethodPatch, path, "{}"))
		},
	},
	{
		ID: "once.kept-409", Title: "409 is given again", Source: suite.OurKeys, Writes: true,
		Rule: "With an Idempotency-Key, 409 is repeated, even if there is no conflict any more.",
		Run: func(p *suite.Probe) {
			path, _ := p.Create()
			key, body := suite.NewUUID(), p.Body(map[string]any{"id": suite.IDOf(path)})
			first := p.Keyed(key, http.MethodPost, p.Collection.Path(), body)
			p.SkipIf(first.Status != http.StatusConflict, "an id that exists is no conflict (see create.existing-id)")
			p.OK(p.Delete(path))
			p.SameAnswer(first, p.Keyed(key, http.MethodPost, p.Collection.Path(), body))
		},
	},
	{
		ID: "once.kept-412", Title: "412 is given again", Source: suite.OurKeys, Writes: true,
		Rule: "With an Idempotency-Key, 412 is repeated, even if the resource is deleted by then.",
		Run: func(p *suite.Probe) {
			path, _ := p.Create()
			key := suite.NewUUID()
			first := p.Keyed(key, http.MethodDelete, path, "", "If-Match", `"conform"`)
			p.SkipIf(first.Status != http.StatusPreconditionFailed, "a state that is over is not 412 (see condition.stale)")
			p.OK(p.Delete(path))
			p.SameAnswer(first, p.Keyed(key, http.MethodDelete, path, "", "If-Match", `"conform"`))
		},
	},
	{
		ID: "once.kept-422", Title: "422 is given again", Source: suite.OurKeys, Writes: true,
		Rule: "With an Idempotency-Key, 422 is repeated, even if the resource is deleted by then.",
		Run: func(p *suite.Probe) {
			path, _ := p.Create()
			key, body := suite.NewUUID(), `{"conform_unknown":1}`
			first := p.Keyed(key, http.MethodPatch, path, body)
			p.SkipIf(first.Status != http.StatusUnprocessableEntity, "an unknown attribute is not 422 (see body.unknown-attribute)")
			p.OK(p.Delete(path))
			p.SameAnswer(first, p.Keyed(key, http.MethodPatch, path, body))
		},
	},
	{
		ID: "once.not-kept", Title: "400 is not given again", Source: suite.OurKeys, Writes: true,
		Rule: "A malformed request does not use its key.",
		Run: func(p *suite.Probe) {
			key := suite.NewUUID()
			r := p.Keyed(key, http.MethodPost, p.Collection.Path(), "{")
			p.SkipIf(r.Status != http.StatusBadRequest, "what is no JSON is not 400 (see body.malformed)")
			p.OK(p.Keyed(key, http.MethodPost, p.Collection.Path(), p.Body(nil)))
		},
	},
	{
		ID: "once.array", Title: "an array again with the same key", Source: suite.OurKeys, Writes: true, Synchronous: alwaysSynchronous,
		Rule: "An array repeated with its Idempotency-Key gets the first response and creates nothing.",
		Run: func(p *suite.Probe) {
			key, body := suite.NewUUID(), "["+p.Body(nil)+","+p.Body(nil)+"]"
			first := p.OK(p.Keyed(key, http.MethodPost, p.Collection.Path(), body))
			count := p.Count()
			again := p.Keyed(key, http.MethodPost, p.Collection.Path(), body)
			p.SameAnswer(first, again)
			p.Counts(again, count)
		},
	},
	{
		ID: "once.malformed", Title: "a key that is none", Source: suite.OurKeys, Writes: true,
		Rule: "An Idempotency-Key with more than 255 characters, or with characters other than printable ASCII, is 400.",
		Run: func(p *suite.Probe) {
			for _, key := range []string{strings.Repeat("k", 256), "cl\u00e9"} {
				p.Status(p.Keyed(key, http.MethodPost, p.Collection.Path(), p.Body(nil)), 400)
			}
		},
	},
}
