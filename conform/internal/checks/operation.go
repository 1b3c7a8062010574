package checks

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/plural-go/plural/conform/internal/suite"
)

var operationChecks = []suite.Check{
	{
		ID: "async.operation", Title: "an operation as a resource", Source: suite.OurAsync, Writes: true, NeedsAsync: true,
		Rule: "An operation is a resource of type operations, with status, method, resource ({id, type}), errors and attempts.",
		Run: func(p *suite.Probe) {
			for _, method := range []string{http.MethodPost, http.MethodPatch} {
				accepted, operation := p.NewOperation(method)
				members := operation.Resource().Members
				number, _ := members["attempts"].(json.Number)
				attempts, err := number.Int64()
				for name, holds := range map[string]bool{
					`type is "operations"`:                             members["type"] == suite.OperationsName,
					`method is "` + method + `"`:                       members["method"] == method,
					"resource is that of the answer, with id and type": suite.EqualJSON(members["resource"], map[string]any{"id": accepted.CreatedID(), "type": p.Collection.Name}),
					"errors is null or empty":                          emptyList(members["errors"]),
					"attempts is a number of at least 1":               err == nil && attempts >= 1,
				} {
					p.FailIf(!holds, operation, name, "%s", operation.Summary())
				}
			}
		},
	},
	{
		ID: "async.status", Title: "status of an operation", Source: suite.OurAsync, Writes: true, NeedsAsync: true,
		Rule: "The status of an operation is pending or running until it is succeeded or failed.",
		Run: func(p *suite.Probe) {
			accepted := p.AcceptNew()
			url, ok := p.OperationURL(accepted)
			p.SkipIf(!ok, "there is no operation to follow (see async.location)")
			r := p.OK(p.Get(url))
			known := slices.Contains([]string{"pending", "running", "succeeded", "failed"}, r.Resource().Text("status"))
			p.FailIf(!known, r, "status pending, running, succeeded or failed", "%s", r.Summary())
			p.Succeeds(accepted)
		},
	},
	{
		ID: "async.errors", Title: "errors of an operation", Source: suite.OurAsync, Writes: true, NeedsAsync: true,
		Rule: "An operation that fails has the status failed, and the errors that a synchronous request would have got.",
		Run: func(p *suite.Probe) {
			rivals, carriedOut := p.AcceptRivals(), 0
			for _, accepted := range rivals {
				operation := p.Finished(accepted)
				if operation.Resource().Text("status") == "succeeded" {
					carriedOut++
					continue
				}
				status, _, _, err := suite.FailureOf(operation)
				p.Followed(err, accepted)
				p.FailIf(status != http.StatusPreconditionFailed, operation, `"status":"failed", with the error 412`, "%s", operation.Summary())
			}
			p.FailIf(carriedOut != 1, rivals[0], fmt.Sprintf("one of %d changes of the same state to succeed, and the others to fail", len(rivals)), "%d have succeeded", carriedOut)
		},
	},
	{
		ID: "async.read-only", Title: "operations cannot be written", Source: suite.OurAsync, Writes: true, NeedsAsync: true,
		Rule: "POST, PUT, PATCH and DELETE on operations are 405.",
		Run: func(p *suite.Probe) {
			_, operation := p.NewOperation(http.MethodPost)
			path := "/" + suite.OperationsName + "/" + operation.Resource().ID()
			p.Status(p.SendOnly(http.MethodPost, "/"+suite.OperationsName, "{}"), 405)
			p.Status(p.SendOnly(http.MethodPatch, path, `{"status":"pending"}`), 405)
			p.Status(p.SendOnly(http.MethodPut, path, p.AttributesOf(operation.Resource())), 405)
			p.Status(p.SendOnly(http.MethodDelete, path, ""), 405)
			p.Unchanged(path, operation.Resource())
		},
	},
	{
		ID: "async.list", Title: "the collection of operations", Source: suite.OurAsync, Writes: true, NeedsAsync: true,
		Rule: "GET /operations lists the operations, with the ranges of any collection.",
		Run: func(p *suite.Probe) {
			_, first := p.NewOperation(http.MethodPost)
			_, second := p.NewOperation(http.MethodPatch)
			ids := []string{first.Resource().ID(), second.Resource().ID()}
			slices.Sort(ids)
			for _, query := range []string{"cursor=" + ids[0] + "&limit=100", "limit=-100"} {
				r := p.OK(p.Get("/" + suite.OperationsName + "?" + query))
				if got := r.IDs(); !slices.Contains(got, ids[0]) || !slices.Contains(got, ids[1]) || strings.HasPrefix(query, "cursor") && got[0] != ids[0] {
					p.Fail(r, "the operations "+ids[0]+" and "+ids[1], "%s", r.Summary())
				}
			}
		},
	},
	{
		ID: "async.filter", Title: "filters of operations", Source: suite.OurAsync, Writes: true, NeedsAsync: true,
		Rule: "Operations can be filtered like any collection, for example by status.",
		Run: func(p *suite.Probe) {
			_, operation := p.NewOperation(http.MethodPost)
			id := operation.Resource().ID()
			for query, want := range map[string][]string{
				"filter[status]=succeeded&filter[method]=POST": {id}, "filter[status]=failed": {}, "filter[method][ne]=POST": {},
			} {
				p.Lists("/"+suite.OperationsName+"?filter[id]="+id+"&"+query, want)
			}
		},
	},
}

func emptyList(value any) bool {
	list, isList := value.([]any)
	return value == nil || isList && len(list) == 0
}
