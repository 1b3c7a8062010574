package api

import (
	"context"
	"net/http"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/operation"
	"github.com/plural-go/plural/internal/resource"
)

// change does what a request wants to be written, once or as often as it comes,
// now or later, and answers with what comes of it.
func (a *API) change(r *http.Request, out *response, t *target) (*reply, error) {
	request := resource.Request{
		Method: r.Method, Path: t.path, ID: t.id,
		IfMatch: r.Header.Values("If-Match"), IfNoneMatch: r.Header.Values("If-None-Match"),
	}
	if r.Method != http.MethodDelete {
		body, err := a.readBody(r, out)
		if err != nil {
			return nil, err
		}
		request.Body = body
	}
	when := timingOf(r, request)
	request.Accepting = when.later
	once, err := a.onceOf(r, request)
	if err != nil {
		return nil, err
	}
	if once == nil {
		return a.perform(r.Context(), request, when, nil)
	}
	if !a.keys.enter(once) {
		return nil, resource.KeyInUse()
	}
	defer a.keys.leave(once)
	kept, err := a.Resources.Recall(r.Context(), *once)
	if err != nil || kept != nil {
		return replayed(kept), err
	}
	return a.perform(r.Context(), request, when, once)
}

// perform does a write, in a transaction that also keeps the answer if it is to be
// done once only.
func (a *API) perform(ctx context.Context, request resource.Request, when timing, once *resource.Once) (*reply, error) {
	if !when.later {
		answer, _, err := a.settle(ctx, a.now(ctx, request), once)
		return answer, err
	}
	var accepted operation.Accepted
	answer, fresh, err := a.settle(ctx, a.later(ctx, request, when, &accepted), once)
	if err != nil || !fresh || answer.status != http.StatusAccepted {
		a.Operations.Disregard(accepted)
		return answer, err
	}
	a.Operations.Wake()
	if when.wait == 0 {
		return answer, nil
	}
	return a.await(ctx, accepted, answer, when, once)
}

// deed is a write in the making: what has gone wrong ahead of its transaction, how
// it takes effect there, and what is answered then.
type deed struct {
	failed error
	effect func(*resource.Work) error
	answer func() *reply
}

// now is the deed of a request that is done at once.
func (a *API) now(ctx context.Context, request resource.Request) deed {
	write, err := a.Resources.Decode(ctx, request)
	if err == nil {
		err = a.Resources.Before(ctx, &write)
	}
	var results []resource.Resource
	return deed{
		failed: err,
		effect: func(w *resource.Work) (err error) {
			results, err = w.Do(write)
			return err
		},
		answer: func() *reply { return a.written(write, results) },
	}
}

// later is the deed of a request that is accepted, to be done afterwards.
func (a *API) later(ctx context.Context, request resource.Request, when timing, accepted *operation.Accepted) deed {
	write, err := a.Resources.Decode(ctx, request)
	return deed{
		failed: err,
		effect: func(w *resource.Work) (err error) {
			a.Operations.Disregard(*accepted) // of a transaction that is run again
			*accepted, err = a.Operations.Accept(w, request, write, when.wait > 0)
			return err
		},
		answer: func() *reply {
			answer := enveloped(http.StatusAccepted, []byte(`{"id":"`+accepted.Resource.String()+`","type":"`+request.Path.Collection.Name+`"}`))
			answer.header.Set("Location", a.locate(a.Schema.Operations(), accepted.Operation))
			answer.header.Set("Preference-Applied", when.applied)
			if when.wait > 0 {
				answer.provisional = when.wait + settleTime
			}
			return answer
		},
	}
}

// settleTime is how much longer than a client waits an answer may take to be final.
const settleTime = 10 * time.Second

// await answers with the outcome of an operation, if there is one in time. What the
// client gets is what it gets again.
func (a *API) await(ctx context.Context, accepted operation.Accepted, answer *reply, when timing, once *resource.Once) (*reply, error) {
	wanted, cancel := a.whileWanted(ctx)
	defer cancel()
	outcome, ok := a.Operations.Wait(wanted, accepted, when.wait)
	final := answer
	switch {
	case ok && outcome.Err != nil:
		answer = failure(fault.From(outcome.Err))
	case ok:
		answer = a.written(outcome.Write, outcome.Results)
	}
	answer.header.Set("Preference-Applied", when.applied)
	if once == nil {
		return answer, nil
	}
	if outcome.Err == nil || isFinal(outcome.Err) {
		final = answer
	}
	final.provisional = 0
	other, err := a.Resources.Revise(ctx, *once, kept(final))
	if err == nil && other != nil {
		answer = given(other) // it took so long that a repeated request was answered first
	}
	return answer, err
}

// whileWanted is a context that ends when nobody waits any more: the client is
// gone, or the server stops and those who wait must not keep others waiting.
func (a *API) whileWanted(ctx context.Context) (context.Context, context.CancelFunc) {
	wanted, cancel := context.WithCancel(ctx)
	client := clientOf(ctx)
	go func() {
		select {
		case <-a.Stopping:
		case <-client.Done():
		case <-wanted.Done():
		}
		cancel()
	}()
	return wanted, cancel
}

type clientKey struct{}

// detached is a context that does not end with its request. Whoever wants to know
// when that ends asks clientOf.
func detached(ctx context.Context) context.Context {
	return context.WithValue(context.WithoutCancel(ctx), clientKey{}, ctx)
}

func clientOf(ctx context.Context) context.Context { return ctx.Value(clientKey{}).(context.Context) }
