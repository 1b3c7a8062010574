package suite

import (
	"strings"
)

// Refusals are failures that a read can have.
func (p *Probe) Refusals() []*Reply {
	return []*Reply{p.Get(p.UnknownID()), p.List("limit=ten"), p.List("", "Accept", "text/plain"), p.Get("/" + p.Collection.Name + "-" + NewTag())}
}

// Errors are the error objects of a response. If there are none, envelope.errors or the check of
// the refusal fails.
func (p *Probe) Errors(r *Reply) []map[string]any {
	var objects []map[string]any
	list, _ := DecodeJSON(r.Members()["errors"]).([]any)
	for _, each := range list {
		if object, ok := each.(map[string]any); ok {
			objects = append(objects, object)
		}
	}
	if len(objects) == 0 {
		p.Skip("there are no errors to look at (see envelope.errors): %s %s", r.Method, r.URL)
	}
	return objects
}

func (p *Probe) Source(r *Reply, member, want string) {
	objects := p.Errors(r)
	for _, each := range objects {
		source, _ := each["source"].(map[string]any)
		if got, _ := source[member].(string); got == want || member == "header" && strings.EqualFold(got, want) {
			return
		}
	}
	p.Fail(r, `"source":{"`+member+`":"`+want+`"}`, "%s", r.Summary())
}
