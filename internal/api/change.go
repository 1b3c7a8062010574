package api

import (
	"context"
	"net/http"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/operation"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/resource"
)

// change executes a write: now or asynchronously, with or without an Idempotency-Key.
func (a *API) change(r *http.Request, out *response, t *target) (*reply, error) {
	request, err := a.requestOf(r, t)
	if err != nil {
		return nil, err
	}
	if r.Method != http.MethodDelete {
		if request.Body, err = a.readBody(r, out); err != nil {
			return nil, err
		}
	}
	when := timingOf(r, request)
	request.Accepting = when.later
	key, err := a.idempotencyKeyOf(r, t.path.By, request.DryRun, func() string { return a.fingerprint(request, r.URL.RawQuery) })
	if err != nil {
		return nil, err
	}
	return a.once(r.Context(), key, func(ctx context.Context) (*reply, error) { return a.perform(ctx, request, when, key, shareOf(out)) })
}

// requestOf reads the target and the parameters of a write.
func (a *API) requestOf(r *http.Request, t *target) (resource.Request, error) {
	request := resource.Request{
		Method: r.Method, Path: t.path, ID: t.id,
		IfMatch: r.Header.Values("If-Match"), IfNoneMatch: r.Header.Values("If-None-Match"),
	}
	q, err := a.parseWrite(r.Method, r.URL.RawQuery, t)
	if err != nil {
		return request, err
	}
	request.DryRun, request.Conflict = q.DryRun, q.OnConflict
	if t.lists() && r.Method != http.MethodPost {
		request.Range = &q
	}
	return request, nil
}

// parseWrite reads the query string of a write.
func (a *API) parseWrite(method, raw string, t *target) (query.Query, error) {
	limits := a.Query
	limits.Visible = t.path.By.Visible(t.path.Collection)
	switch {
	case !t.lists():
		return query.ParseWrite(raw)
	case method == http.MethodPost:
		return query.ParseCreate(t.path.Collection, raw, limits)
	}
	return query.ParseRange(t.path.Collection, raw, limits)
}

// once performs a request, unless there is an idempotency record of its key. Nil: it has no key.
func (a *API) once(ctx context.Context, key *resource.IdempotencyKey, perform func(context.Context) (*reply, error)) (*reply, error) {
	if key == nil {
		return perform(ctx)
	}
	if !a.keys.enter(key) {
		return nil, resource.KeyInUse()
	}
	defer a.keys.leave(key)
	record, err := a.Resources.FindRecord(ctx, *key)
	if err != nil || record != nil {
		return replayOf(record), err
	}
	return perform(ctx)
}

// perform executes a write. With an Idempotency-Key the same transaction stores the
// idempotency record.
func (a *API) perform(ctx context.Context, request resource.Request, when timing, key *resource.IdempotencyKey, share string) (*reply, error) {
	if !when.later {
		reply, _, err := a.execute(ctx, a.now(ctx, request, share), key)
		return reply, err
	}
	var accepted operation.Accepted
	reply, fresh, err := a.execute(ctx, a.later(ctx, request, when, &accepted), key)
	if err != nil || !fresh || reply.status != http.StatusAccepted {
		a.Operations.StopWaiting(accepted)
		return reply, err
	}
	a.Operations.Wake()
	if when.wait == 0 {
		return reply, nil
	}
	return a.await(ctx, accepted, reply, when, key)
}

// pendingWrite is a write before its transaction: the error found so far, the function that
// executes it, and the reply to send afterwards.
type pendingWrite struct {
	failed error
	effect func(*resource.Work) error
	reply  func() *reply
}

// now prepares a write that is executed in this request. Share is whose quota of reads it uses.
func (a *API) now(ctx context.Context, request resource.Request, share string) pendingWrite {
	write, err := a.Resources.Decode(ctx, request)
	if err == nil {
		err = a.prepare(ctx, &write, share)
	}
	var results []resource.Resource
	pending := pendingWrite{
		failed: err,
		effect: func(w *resource.Work) (err error) {
			results, err = w.Do(write)
			return err
		},
		reply: func() *reply { return a.written(write, results) },
	}
	if request.DryRun {
		return pending.undone(request.Path.Collection)
	}
	return pending
}

// prepare reads what a write needs to know before its transaction, and runs the hooks that come
// before it.
func (a *API) prepare(ctx context.Context, write *resource.Write, share string) error {
	patience := a.startQueryTimer(ctx)
	err := patience.explain(a.Resources.Survey(patience, write, share))
	patience.end()
	if err == nil {
		err = a.Resources.Before(ctx, write)
	}
	return err
}

// undone is a dry run of a write. What does not stay has no ETag and no Location. The
// collections are named in any case.
func (d pendingWrite) undone(collections ...*model.Collection) pendingWrite {
	var affected resource.Affected
	effect, plain := d.effect, d.reply
	d.effect = func(w *resource.Work) (err error) {
		affected, err = w.DryRun(func() error { return effect(w) })
		return err
	}
	d.reply = func() *reply {
		for _, c := range collections {
			affected = affected.Include(c)
		}
		reply := plain()
		reply.header.Del("ETag")
		reply.header.Del("Location")
		reply.header.Set("X-Affected", affected.String())
		return reply
	}
	return d
}

// later prepares a write that is accepted and executed asynchronously.
func (a *API) later(ctx context.Context, request resource.Request, when timing, accepted *operation.Accepted) pendingWrite {
	write, err := a.Resources.Decode(ctx, request)
	return pendingWrite{
		failed: err,
		effect: func(w *resource.Work) (err error) {
			a.Operations.StopWaiting(*accepted) // from an earlier run of the transaction
			*accepted, err = a.Operations.Accept(w, request, write, when.wait > 0)
			return err
		},
		reply: func() *reply {
			reply := enveloped(http.StatusAccepted, []byte(`{"id":"`+accepted.Resource.String()+`","type":"`+request.Path.Collection.Name+`"}`))
			reply.header.Set("Location", a.locate(a.Schema.Operations(), accepted.Operation))
			reply.header.Set("Preference-Applied", when.applied)
			if when.wait > 0 {
				reply.provisional = when.wait + settleTime
			}
			return reply
		},
	}
}

// settleTime is how long, beyond the time the client waits, a reply may remain provisional.
const settleTime = 10 * time.Second

// await waits for the outcome of an operation and replies with it. The idempotency record gets
// the same reply.
func (a *API) await(ctx context.Context, accepted operation.Accepted, reply *reply, when timing, key *resource.IdempotencyKey) (*reply, error) {
	wanted, cancel := a.whileAwaited(ctx)
	defer cancel()
	outcome, ok := a.Operations.Wait(wanted, accepted, when.wait)
	final := reply
	switch {
	case ok && outcome.Err != nil:
		reply = failure(fault.From(outcome.Err))
	case ok:
		reply = a.written(outcome.Write, outcome.Results)
	}
	reply.header.Set("Preference-Applied", when.applied)
	if key == nil {
		return reply, nil
	}
	if outcome.Err == nil || isFinal(outcome.Err) {
		final = reply
	}
	final.provisional = 0
	other, err := a.Resources.FinalizeRecord(ctx, *key, recordOf(final))
	if err == nil && other != nil {
		reply = replyOf(other) // a repeated request was answered first
	}
	return reply, err
}

// whileAwaited returns a context that ends when the client disconnects or the server stops.
func (a *API) whileAwaited(ctx context.Context) (context.Context, context.CancelFunc) {
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

type clientContextKey struct{}

// detached returns a context that does not end with its request. clientOf returns the context
// of the request.
func detached(ctx context.Context) context.Context {
	return context.WithValue(context.WithoutCancel(ctx), clientContextKey{}, ctx)
}

func clientOf(ctx context.Context) context.Context {
	return ctx.Value(clientContextKey{}).(context.Context)
}
