package openapi

import (
	"net/http"

	"github.com/plural-go/plural/problem"
)

// agents is the path of the messages of agents.
func (b *builder) agents() object {
	version := member{"jsonrpc", object{{"type", "string"}, {"const", "2.0"}}}
	message := object{
		{"type", "object"}, {"properties", object{version, {"method", object{{"type", "string"}}}}}, {"required", list{"jsonrpc"}}, {"additionalProperties", true},
	}
	answer := object{{"type", "object"}, {"properties", object{version}}, {"required", list{"jsonrpc"}}, {"additionalProperties", true}}
	failed := object{{"jsonrpc", "2.0"}, {"id", 1}, {"error", object{{"code", -32601}, {"message", "method not found"}}}}
	// Of a message, newer versions of the protocol give some errors these statuses, too.
	either := func(description string, codes ...problem.Code) object {
		return b.answer(description, jsonOf(object{{"oneOf", list{errorsOf("", codes, false), answer}}}, failed))
	}
	malformed, others := []problem.Code{}, []problem.Code{}
	for _, code := range append([]problem.Code{
		problem.CodeMalformedQuery, problem.CodeUnknownParameter, problem.CodeNotAcceptable, problem.CodeUnsupportedMediaType, problem.CodeBodyTooLarge, problem.CodeNotAnObject,
		problem.CodeForbidden, problem.CodeTooManyRequests,
	}, b.anywhere()...) {
		if code.Status() == http.StatusBadRequest {
			malformed = append(malformed, code)
		} else {
			others = append(others, code)
		}
	}
	return object{{"post", b.describe(operation{
		id: "sendAgentMessage", tag: serverTag, public: true,
		summary:     "Send a message of an agent",
		description: "One message of the Model Context Protocol (streamable HTTP without sessions). Its tools send requests on behalf of the caller. `Accept` must have `application/json` and `text/event-stream`.",
		body:        object{{"description", "A message of JSON-RPC."}, {"required", true}, {"content", jsonOf(message, object{{"jsonrpc", "2.0"}, {"id", 1}, {"method", "tools/list"}})}},
		responses: object{
			{"200", b.answer("The result, or an error of JSON-RPC.", jsonOf(answer, object{{"jsonrpc", "2.0"}, {"id", 1}, {"result", object{}}}))},
			{"202", object{{"description", "The message was a notification."}, {"headers", b.headersOf()}}},
			{"400", either("The request or the message is malformed.", malformed...)},
			{"404", either("The protocol has no such method here.", problem.CodeNotFound)},
		},
		codes: others,
	})}}
}
