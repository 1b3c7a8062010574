package suite

import (
	"fmt"
)

const OnceHeader = "Idempotency-Key"

// Keyed sends a request with an Idempotency-Key.
func (p *Probe) Keyed(key, method, path, body string, headers ...string) *Reply {
	return p.Send(method, path, body, append(headers, OnceHeader, key)...)
}

// SameAnswer compares a response with an earlier one.
func (p *Probe) SameAnswer(first, again *Reply) {
	if again.Status != first.Status || string(again.Body) != string(first.Body) {
		p.Fail(again, "again "+first.Summary(), "%s", again.Summary())
	}
	for _, name := range []string{"Location", "ETag", "Content-Type"} {
		if got, want := again.Header.Get(name), first.Header.Get(name); got != want {
			p.Fail(again, "again "+name+": "+want, "%q", got)
		}
	}
}

// Counts fails unless the collection has a number of resources.
func (p *Probe) Counts(r *Reply, want int) {
	if got := p.Count(); got != want {
		p.Fail(r, fmt.Sprintf("%d resources in the collection", want), "%d", got)
	}
}
