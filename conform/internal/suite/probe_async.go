package suite

import (
	"fmt"
	"net/http"
	"slices"
)

// Asynchronous skips the check on a server that does not execute writes asynchronously.
func (p *Probe) Asynchronous() {
	p.sent(p.decideAsync(), &Reply{Method: http.MethodPost, URL: p.Base + p.Collection.Path()})
	if p.async == unsupported {
		p.Skip(notSupported)
	}
}

// Prefer sends a request with a preference, and returns the response without waiting for an
// operation.
func (p *Probe) Prefer(preference, method, path, body string, headers ...string) *Reply {
	return p.SendOnly(method, path, body, append(slices.Clip(headers), "Prefer", preference)...)
}

// Accept sends a write that must be accepted for asynchronous execution.
func (p *Probe) Accept(method, path, body string, headers ...string) *Reply {
	r := p.OK(p.Prefer("respond-async", method, path, body, headers...))
	if r.Status != http.StatusAccepted {
		p.Skip("the server answers %s synchronously, also with Prefer: respond-async (see async.accepted)", method)
	}
	return r
}

// AcceptNew sends an asynchronous creation.
func (p *Probe) AcceptNew() *Reply {
	p.Asynchronous()
	return p.Accept(http.MethodPost, p.Collection.Path(), p.Body(nil))
}

// AcceptChanges sends n asynchronous changes of a resource, one directly after the other. It
// returns the responses, and the last change.
func (p *Probe) AcceptChanges(path string, now Resource, count int) (accepted []*Reply, last map[string]any) {
	for range count {
		name, value := p.Change(now)
		last = map[string]any{name: value}
		now = Resource{Members: DecodeJSON([]byte(EncodeJSON(last))).(map[string]any)}
		accepted = append(accepted, p.Accept(http.MethodPatch, path, EncodeJSON(last)))
	}
	return accepted, last
}

// Finished waits for the operation of a response, and returns it.
func (p *Probe) Finished(accepted *Reply) *Reply {
	operation, err := p.await(p.Ctx, accepted)
	p.Followed(err, accepted)
	return operation
}

// Succeeds waits for the operation of a response, which must succeed.
func (p *Probe) Succeeds(accepted *Reply) *Reply {
	operation := p.Finished(accepted)
	if operation.Resource().Text("status") != "succeeded" {
		p.Fail(operation, `"status":"succeeded"`, "%s", operation.Summary())
	}
	return operation
}

// HasValues fails unless a resource has the values that were sent.
func (p *Probe) HasValues(r *Reply, members map[string]any) {
	for name, value := range DecodeJSON([]byte(EncodeJSON(members))).(map[string]any) {
		if got := r.Resource().Members[name]; !EqualJSON(got, value) && !sameMoment(got, value) {
			p.Fail(r, fmt.Sprintf("%s is %s", name, EncodeJSON(value)), "%s", EncodeJSON(got))
		}
	}
}
