package suite

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
)

// needAsync skips the check on a server that does not execute writes asynchronously.
func (p *Probe) needAsync() {
	p.sent(p.decideAsync(), p.newRequest(http.MethodPost, p.Collection.Path(), "", nil))
	p.SkipIf(p.async == unsupported, notSupported)
}

// Prefer sends a request with a preference, and returns the response without waiting for an
// operation.
func (p *Probe) Prefer(preference, method, path, body string, headers ...string) *Reply {
	return p.SendOnly(method, path, body, append(slices.Clip(headers), "Prefer", preference)...)
}

// Accept sends a write that must be accepted for asynchronous execution.
func (p *Probe) Accept(method, path, body string, headers ...string) *Reply {
	r := p.OK(p.Prefer("respond-async", method, path, body, headers...))
	p.SkipIf(r.Status != http.StatusAccepted, "the server answers %s synchronously, also with Prefer: respond-async (see async.accepted)", method)
	return r
}

// AcceptNew sends an asynchronous creation.
func (p *Probe) AcceptNew() *Reply {
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
	p.FailIf(operation.Resource().Text("status") != "succeeded", operation, `"status":"succeeded"`, "%s", operation.Summary())
	return operation
}

// HasValues fails unless a resource has the values that were sent.
func (p *Probe) HasValues(r *Reply, members map[string]any) {
	for name, value := range DecodeJSON([]byte(EncodeJSON(members))).(map[string]any) {
		got := r.Resource().Members[name]
		p.FailIf(!EqualJSON(got, value) && !sameMoment(got, value), r, fmt.Sprintf("%s is %s", name, EncodeJSON(value)), "%s", EncodeJSON(got))
	}
}

// NewOperation creates or changes a resource asynchronously. It returns the response, and the
// operation after it has succeeded.
func (p *Probe) NewOperation(method string) (accepted, operation *Reply) {
	path, body := p.Collection.Path(), p.Body(nil)
	if method != http.MethodPost {
		at, before := p.Create()
		path, body = at, p.ChangeBody(method, before)
	}
	accepted = p.Accept(method, path, body)
	return accepted, p.Succeeds(accepted)
}

// AcceptRivals sends several asynchronous changes with the same If-Match, of which only one can
// succeed. They are sent at the same time, so that some are accepted before the first is executed;
// later ones are refused at once.
func (p *Probe) AcceptRivals() (accepted []*Reply) {
	for range 20 {
		path, now, tag := p.CreateTagged()
		replies := make([]*Reply, 8)
		var senders sync.WaitGroup
		for i := range replies {
			body := p.ChangeBody(http.MethodPatch, now)
			senders.Go(func() {
				replies[i], _ = p.exchange(p.Ctx, http.MethodPatch, path, body, "If-Match", tag, "Prefer", "respond-async")
			})
		}
		senders.Wait()
		accepted = nil
		for _, r := range replies {
			if r != nil && r.Status == http.StatusAccepted {
				p.observe(path, r)
				accepted = append(accepted, r)
			}
		}
		if len(accepted) > 1 {
			return accepted
		}
	}
	p.Skip("no operation could be made to fail: what would fail was refused at once")
	return nil
}

const OnceHeader = "Idempotency-Key"

// Keyed sends a request with an Idempotency-Key.
func (p *Probe) Keyed(key, method, path, body string, headers ...string) *Reply {
	return p.Send(method, path, body, append(headers, OnceHeader, key)...)
}

// SameAnswer compares a response with an earlier one.
func (p *Probe) SameAnswer(first, again *Reply) {
	p.FailIf(again.Status != first.Status || string(again.Body) != string(first.Body), again, "again "+first.Summary(), "%s", again.Summary())
	for _, name := range []string{"Location", "ETag", "Content-Type"} {
		got, want := again.Header.Get(name), first.Header.Get(name)
		p.FailIf(got != want, again, "again "+name+": "+want, "%q", got)
	}
}

// Counts fails unless the collection has a number of resources.
func (p *Probe) Counts(r *Reply, want int) {
	got := p.Count()
	p.FailIf(got != want, r, fmt.Sprintf("%d resources in the collection", want), "%d", got)
}
