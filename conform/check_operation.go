package conform

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
)

var operationChecks = []Check{
	{
		ID: "async.operation", Title: "an operation as a resource", Source: ourAsync, Writes: true,
		Rule: "An operation is a resource of type operations, with status, method, resource ({id, type}), errors and attempts.",
		run: func(p *probe) {
			for _, method := range []string{http.MethodPost, http.MethodPatch} {
				accepted, operation := p.newOperation(method)
				members := operation.resource().members
				number, _ := members["attempts"].(json.Number)
				attempts, err := number.Int64()
				for name, holds := range map[string]bool{
					`type is "operations"`:                             members["type"] == operationsName,
					`method is "` + method + `"`:                       members["method"] == method,
					"resource is that of the answer, with id and type": equalJSON(members["resource"], map[string]any{"id": accepted.createdID(), "type": p.collection.Name}),
					"errors is null or empty":                          emptyList(members["errors"]),
					"attempts is a number of at least 1":               err == nil && attempts >= 1,
				} {
					if !holds {
						p.fail(operation, name, "%s", operation.summary())
					}
				}
			}
		},
	},
	{
		ID: "async.status", Title: "status of an operation", Source: ourAsync, Writes: true,
		Rule: "The status of an operation is pending or running until it is succeeded or failed.",
		run: func(p *probe) {
			accepted := p.acceptNew()
			url, ok := p.operationURL(accepted)
			if !ok {
				p.skip("there is no operation to follow (see async.location)")
			}
			r := p.ok(p.get(url))
			if got := r.resource().text("status"); !slices.Contains([]string{"pending", "running", "succeeded", "failed"}, got) {
				p.fail(r, "status pending, running, succeeded or failed", "%s", r.summary())
			}
			p.succeeds(accepted)
		},
	},
	{
		ID: "async.errors", Title: "errors of an operation", Source: ourAsync, Writes: true,
		Rule: "An operation that fails has the status failed, and the errors that a synchronous request would have got.",
		run: func(p *probe) {
			p.asynchronous()
			rivals, carriedOut := p.acceptRivals(), 0
			for _, accepted := range rivals {
				operation := p.finished(accepted)
				if operation.resource().text("status") == "succeeded" {
					carriedOut++
					continue
				}
				status, _, _, err := failureOf(operation)
				p.followed(err, accepted)
				if status != http.StatusPreconditionFailed {
					p.fail(operation, `"status":"failed", with the error 412`, "%s", operation.summary())
				}
			}
			if carriedOut != 1 {
				p.fail(rivals[0], fmt.Sprintf("one of %d changes of the same state to succeed, and the others to fail", len(rivals)), "%d have succeeded", carriedOut)
			}
		},
	},
	{
		ID: "async.read-only", Title: "operations cannot be written", Source: ourAsync, Writes: true,
		Rule: "POST, PUT, PATCH and DELETE on operations are 405.",
		run: func(p *probe) {
			_, operation := p.newOperation(http.MethodPost)
			path := "/" + operationsName + "/" + operation.resource().id()
			p.status(p.sendOnly(http.MethodPost, "/"+operationsName, "{}"), 405)
			p.status(p.sendOnly(http.MethodPatch, path, `{"status":"pending"}`), 405)
			p.status(p.sendOnly(http.MethodPut, path, p.attributesOf(operation.resource())), 405)
			p.status(p.sendOnly(http.MethodDelete, path, ""), 405)
			p.unchanged(path, operation.resource())
		},
	},
	{
		ID: "async.list", Title: "the collection of operations", Source: ourAsync, Writes: true,
		Rule: "GET /operations lists the operations, with the ranges of any collection.",
		run: func(p *probe) {
			_, first := p.newOperation(http.MethodPost)
			_, second := p.newOperation(http.MethodPatch)
			ids := []string{first.resource().id(), second.resource().id()}
			slices.Sort(ids)
			for _, query := range []string{"cursor=" + ids[0] + "&limit=100", "limit=-100"} {
				r := p.ok(p.get("/" + operationsName + "?" + query))
				if got := r.ids(); !slices.Contains(got, ids[0]) || !slices.Contains(got, ids[1]) || strings.HasPrefix(query, "cursor") && got[0] != ids[0] {
					p.fail(r, "the operations "+ids[0]+" and "+ids[1], "%s", r.summary())
				}
			}
		},
	},
	{
		ID: "async.filter", Title: "filters of operations", Source: ourAsync, Writes: true,
		Rule: "Operations can be filtered like any collection, for example by status.",
		run: func(p *probe) {
			_, operation := p.newOperation(http.MethodPost)
			id := operation.resource().id()
			for query, want := range map[string][]string{
				"filter[status]=succeeded&filter[method]=POST": {id}, "filter[status]=failed": {}, "filter[method][ne]=POST": {},
			} {
				r := p.ok(p.get("/" + operationsName + "?filter[id]=" + id + "&" + query))
				if got := r.ids(); !slices.Equal(got, want) {
					p.fail(r, encodeJSON(want), "%s", encodeJSON(got))
				}
			}
		},
	},
}

func emptyList(value any) bool {
	list, isList := value.([]any)
	return value == nil || isList && len(list) == 0
}

// newOperation creates or changes a resource asynchronously. It returns the response, and the
// operation after it has succeeded.
func (p *probe) newOperation(method string) (accepted, operation *reply) {
	p.asynchronous()
	path, body := p.collection.path(), p.body(nil)
	if method != http.MethodPost {
		at, before := p.create()
		path, body = at, p.changeBody(method, before)
	}
	accepted = p.accept(method, path, body)
	return accepted, p.succeeds(accepted)
}

// acceptRivals sends several asynchronous changes with the same If-Match, of which only one can
// succeed. They are sent at the same time, so that some are accepted before the first is executed;
// later ones are refused at once.
func (p *probe) acceptRivals() (accepted []*reply) {
	for range 20 {
		path, now, tag := p.createTagged()
		replies := make([]*reply, 8)
		var senders sync.WaitGroup
		for i := range replies {
			body := p.changeBody(http.MethodPatch, now)
			senders.Go(func() {
				replies[i], _ = p.exchange(p.ctx, http.MethodPatch, path, body, "If-Match", tag, "Prefer", "respond-async")
			})
		}
		senders.Wait()
		accepted = nil
		for _, r := range replies {
			if r != nil && r.status == http.StatusAccepted {
				p.observe(path, r)
				accepted = append(accepted, r)
			}
		}
		if len(accepted) > 1 {
			return accepted
		}
	}
	p.skip("no operation could be made to fail: what would fail was refused at once")
	return nil
}
