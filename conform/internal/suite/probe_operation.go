package suite

import (
	"net/http"
	"sync"
)

// NewOperation creates or changes a resource asynchronously. It returns the response, and the
// operation after it has succeeded.
func (p *Probe) NewOperation(method string) (accepted, operation *Reply) {
	p.Asynchronous()
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
