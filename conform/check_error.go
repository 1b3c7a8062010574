package conform

import (
	"encoding/json"
	"strings"
)

var errorChecks = []Check{
	{
		ID: "error.members", Title: "members of an error", Source: ourErrors,
		Rule: "An error has status, code, title and detail; status is a number, the others are non-empty strings.",
		run: func(p *probe) {
			for _, r := range p.refusals() {
				for _, each := range p.errors(r) {
					if _, isNumber := each["status"].(json.Number); !isNumber {
						p.fail(r, "status, a number", "%s", encodeJSON(each))
					}
					for _, name := range []string{"code", "title", "detail"} {
						if text, _ := each[name].(string); text == "" {
							p.fail(r, name+", a text", "%s", encodeJSON(each))
						}
					}
				}
			}
		},
	},
	{
		ID: "error.status", Title: "status of an error", Source: ourErrors,
		Rule: "The status of the first error is the status of the response.",
		run: func(p *probe) {
			for _, r := range p.refusals() {
				first := p.errors(r)[0]
				if got := encodeJSON(first["status"]); first["status"] != nil && got != joinInts([]int{r.status}, "") {
					p.fail(r, "status "+joinInts([]int{r.status}, ""), "%s", got)
				}
			}
		},
	},
	{
		ID: "error.parameter", Title: "errors name the parameter", Source: ourErrors,
		Rule: "An error about a query parameter has source.parameter, its name as the client wrote it.",
		run: func(p *probe) {
			for query, want := range map[string]string{"o=-1": "o", "limit=ten": "limit", "filter[conform_unknown]=1": "filter[conform_unknown]", "conform=1": "conform"} {
				p.source(p.list(query), "parameter", want)
			}
		},
	},
	{
		ID: "error.header", Title: "errors name the header", Source: ourErrors,
		Rule: "An error about a request header has source.header.",
		run:  func(p *probe) { p.source(p.list("", "Accept", "text/plain"), "header", "Accept") },
	},
	{
		ID: "error.pointer", Title: "errors point into the body", Source: ourErrors, Writes: true,
		Rule: "An error about a body has source.pointer, a JSON Pointer to the place.",
		run: func(p *probe) {
			p.source(p.post(p.body(map[string]any{"conform_unknown": 1})), "pointer", "/conform_unknown")
			p.source(p.post("["+p.body(nil)+","+p.body(map[string]any{"conform/~": 1})+"]"), "pointer", "/1/conform~1~0")
		},
	},
}

// refusals are failures that a read can have.
func (p *probe) refusals() []*reply {
	return []*reply{p.get(p.unknownID()), p.list("limit=ten"), p.list("", "Accept", "text/plain"), p.get("/" + p.collection.Name + "-" + newTag())}
}

// errors are the error objects of a response. If there are none, envelope.errors or the check of
// the refusal fails.
func (p *probe) errors(r *reply) []map[string]any {
	var objects []map[string]any
	list, _ := decodeJSON(r.members()["errors"]).([]any)
	for _, each := range list {
		if object, ok := each.(map[string]any); ok {
			objects = append(objects, object)
		}
	}
	if len(objects) == 0 {
		p.skip("there are no errors to look at (see envelope.errors): %s %s", r.method, r.url)
	}
	return objects
}

func (p *probe) source(r *reply, member, want string) {
	objects := p.errors(r)
	for _, each := range objects {
		source, _ := each["source"].(map[string]any)
		if got, _ := source[member].(string); got == want || member == "header" && strings.EqualFold(got, want) {
			return
		}
	}
	p.fail(r, `"source":{"`+member+`":"`+want+`"}`, "%s", r.summary())
}
