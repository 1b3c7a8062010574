package mcp

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/problem"
)

func (s *session) write(ctx context.Context, a arguments) ([]byte, error) {
	action := a.text("action")
	var wrong problems
	refuse := func(argument, detail string) {
		wrong = append(wrong, wrongArgument(argument, problem.CodeInvalidParameter, detail))
	}
	if (action == "delete") == (a["attributes"] != nil) {
		refuse("attributes", either(action == "delete", "A resource is deleted without attributes. Leave them out.", "Give the attributes to set."))
	}
	if action == "create" {
		for _, each := range []string{"id", "if_match"} {
			if a[each] != nil {
				refuse(each, "A new resource has no "+each+". Leave it out; an id of your own is a member of attributes.")
			}
		}
	} else {
		if a["id"] == nil {
			refuse("id", "Give the id of the resource to "+action+".")
		}
		if a["parent"] != nil {
			refuse("parent", "Only create takes a parent. Leave it out.")
		}
	}
	if wrong != nil {
		return nil, wrong.orNil()
	}
	path := "/" + a.text("collection")
	if action != "create" {
		path = resourcePath(a)
	} else if parent := a.text("parent"); parent != "" {
		path = "/" + parent + path
	}
	request := client.Request{Method: methods[action], Path: path, Body: a["attributes"], Header: http.Header{}}
	if a["dry_run"].Kind() == 't' {
		request.Query = "dry_run=true"
	}
	if key := a.text("idempotency_key"); key != "" {
		request.Header.Set("Idempotency-Key", key)
	} else {
		request.Once = true // whether to repeat it is the agent's decision
	}
	return s.send(ctx, request, a)
}

func (s *session) transition(ctx context.Context, a arguments) ([]byte, error) {
	body := object(jsonMember{a.text("attribute"), a["state"]})
	return s.send(ctx, client.Request{Method: http.MethodPatch, Path: resourcePath(a), Body: body, Header: http.Header{}, Once: true}, a)
}

// send sends a write, if agents may write for the caller.
func (s *session) send(ctx context.Context, request client.Request, a arguments) ([]byte, error) {
	if err := s.mayWrite(ctx); err != nil {
		return nil, err
	}
	if etag := a.text("if_match"); etag != "" {
		request.Header.Set("If-Match", etag)
	}
	response, err := s.api.Do(ctx, request)
	if err != nil {
		return nil, err
	}
	var done []jsonMember
	if response.Status == http.StatusAccepted {
		done = append(done, jsonMember{"accepted", jsontext.Value(quote("The write is executed later, by the operation " + response.Header.Get("Location") + "."))})
	}
	if affected := response.Header.Get("X-Affected"); affected != "" {
		done = append(done, jsonMember{"would_affect", jsontext.Value(quote(affected))})
	}
	return oneResult(response, done...)
}
