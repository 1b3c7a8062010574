package api

import (
	"context"
	"net/http"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/internal/tracing"
)

// write executes a write, which is a request of one step: now or asynchronously, with or without an Idempotency-Key.
func (a *API) write(r *http.Request, out *response, t *target) (*reply, error) {
	request, err := a.requestOf(r, t)
	if err != nil {
		return nil, err
	}
	step := &request.Steps[0]
	if r.Method != http.MethodDelete {
		if step.Body, err = a.readBody(r, out, a.MaxBody); err != nil {
			return nil, err
		}
	}
	request.Idempotent, err = idempotentRequestOf(r, t.path.By, request.DryRun, func() string { return a.fingerprint(r, step) })
	if err != nil {
		return nil, err
	}
	return a.execute(r.Context(), request, out)
}

// requestOf reads the target, the parameters and the preferences of a write.
func (a *API) requestOf(r *http.Request, t *target) (resource.Request, error) {
	step := resource.Step{
		Method: r.Method, Path: t.path, ID: t.id,
		IfMatch: r.Header["If-Match"], IfNoneMatch: r.Header["If-None-Match"],
	}
	mode := query.OfWrite
	switch {
	case t.isCollection() && r.Method == http.MethodPost:
		mode = query.OfCreate
	case t.isCollection():
		mode = query.OfRange
	}
	q, err := query.Parse(mode, t.path.Collection, r.URL.RawQuery, a.queryLimits(t))
	if err != nil {
		return resource.Request{}, err
	}
	step.Conflict = q.OnConflict
	if mode == query.OfRange {
		step.Range = new(q) // not &q: q of every other write would be allocated too
	}
	request := resource.Request{Steps: []resource.Step{step}, DryRun: q.DryRun}
	setAsync(r, &request)
	return request, nil
}

// execute executes a request, waits for its outcome if it was accepted for later and the client wants that, and renders the outcome.
func (a *API) execute(ctx context.Context, request resource.Request, out *response) (*reply, error) {
	out.written = a.Resources.Memory.Begin(out.context.reader.Key, nil)
	request.Memory = out.written
	outcome := a.Resources.Execute(ctx, request)
	if outcome.Operation != (model.ID{}) && !outcome.Replayed {
		a.Operations.Wake()
		if request.Wait > 0 {
			outcome = a.await(ctx, request, outcome)
		}
	}
	// The errors that have only the headers of any error are logged where they are sent. Others need the headers that render adds.
	if outcome.Err != nil && !outcome.Replayed && outcome.Applied == "" {
		return nil, positioned(outcome)
	}
	return a.render(request, outcome), nil
}

// await waits for the outcome of an accepted step. If that takes too long, the outcome is that it was accepted.
func (a *API) await(ctx context.Context, request resource.Request, accepted resource.Outcome) resource.Outcome {
	waiting, cancel := a.untilDisconnectedOrStopped(ctx)
	defer cancel()
	outcome, ok := a.Operations.Wait(tracing.Quiet(a.Tracer, waiting), request.Steps[0], accepted, request.Wait)
	if !ok {
		outcome = accepted
	}
	return a.Resources.Finalize(ctx, request, accepted, outcome)
}

// render makes the reply of an outcome. Equal outcomes of equal requests have replies that are the same byte for byte.
func (a *API) render(request resource.Request, outcome resource.Outcome) *reply {
	reply := a.renderResults(request, outcome)
	if outcome.Applied != "" {
		reply.header.Set("Preference-Applied", outcome.Applied)
	}
	if outcome.Replayed {
		reply.header.Set("Idempotency-Replayed", "true")
	}
	if request.DryRun { // what does not stay has no ETag and no Location
		reply.etag = ""
		reply.header.Del("Location")
		reply.header.Set("X-Affected", outcome.Affected.String())
		if deletions := outcome.Affected.Deletions(); deletions != "" {
			reply.header.Set("X-Deleted", deletions)
		}
	}
	return reply
}

func (a *API) renderResults(request resource.Request, outcome resource.Outcome) *reply {
	status := http.StatusOK
	if outcome.Created {
		status = http.StatusCreated
	}
	switch {
	case outcome.Err != nil:
		return failure(fault.From(positioned(outcome)))
	case outcome.Many:
		return envelopedAll(status, outcome.Results)
	}
	c, result := request.Steps[0].Path.Collection, outcome.Results[0]
	if outcome.Operation != (model.ID{}) {
		reply := enveloped(http.StatusAccepted, []byte(`{"id":"`+result.ID.String()+`","type":"`+c.Name+`"}`))
		reply.header.Set("Location", a.resourceAddress(a.Schema.Operations(), outcome.Operation))
		return reply
	}
	reply := enveloped(status, result.Representation)
	if outcome.Created {
		reply.header.Set("Location", a.resourceAddress(c, result.ID))
	}
	reply.etag = result.ETag
	return reply
}

// envelopedAll returns the reply with an array of representations, which can be large: they are copied once.
func envelopedAll(status int, resources []reads.Resource) *reply {
	size := len(`{"data":[]}`) + len(resources)
	for _, each := range resources {
		size += len(each.Representation)
	}
	body := append(make([]byte, 0, size), `{"data":[`...)
	for i, each := range resources {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, each.Representation...)
	}
	return &reply{status: status, header: http.Header{}, body: append(body, `]}`...)}
}
