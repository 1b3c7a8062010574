package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/operation"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/resource"
)

// write executes a write: now or asynchronously, with or without an Idempotency-Key.
func (a *API) write(r *http.Request, out *response, t *target) (*reply, error) {
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
	request.CountPending = when.later
	idempotent, err := a.idempotentRequestOf(r, t.path.By, request.DryRun, func() string { return a.fingerprint(request, r.URL.RawQuery) })
	if err != nil {
		return nil, err
	}
	return a.replayOrPerform(r.Context(), idempotent, out, func(ctx context.Context) (*reply, error) { return a.perform(ctx, request, when, idempotent, out) })
}

// requestOf reads the target and the parameters of a write.
func (a *API) requestOf(r *http.Request, t *target) (resource.Request, error) {
	request := resource.Request{
		Method: r.Method, Path: t.path, ID: t.id,
		IfMatch: r.Header.Values("If-Match"), IfNoneMatch: r.Header.Values("If-None-Match"),
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
		return request, err
	}
	request.DryRun, request.Conflict = q.DryRun, q.OnConflict
	if mode == query.OfRange {
		request.Range = &q
	}
	return request, nil
}

// replayOrPerform performs a request, unless there is an idempotency record of it. Idempotent is nil if it has no
// Idempotency-Key.
func (a *API) replayOrPerform(ctx context.Context, idempotent *resource.IdempotentRequest, out *response, perform func(context.Context) (*reply, error)) (*reply, error) {
	if idempotent == nil {
		return perform(ctx)
	}
	if _, inUse := a.idempotencyKeys.LoadOrStore(idempotent.Key, true); inUse {
		return nil, resource.KeyInUse()
	}
	defer a.idempotencyKeys.Delete(idempotent.Key)
	idempotent.Reserve = func(bytes int64) error { return a.reserveReplay(out, bytes) }
	record, err := a.Resources.FindRecord(ctx, *idempotent)
	if err != nil || record != nil {
		return replayOf(record), err
	}
	return perform(ctx)
}

// perform executes a write in this request, or accepts it for later. Idempotent is nil if the request
// has no Idempotency-Key; otherwise the same transaction stores the idempotency record.
func (a *API) perform(ctx context.Context, request resource.Request, when timing, idempotent *resource.IdempotentRequest, out *response) (*reply, error) {
	if !when.later {
		reply, _, err := a.execute(ctx, a.prepareNow(ctx, request, out), idempotent)
		return reply, err
	}
	var accepted operation.Accepted
	reply, fresh, err := a.execute(ctx, a.prepareLater(ctx, request, when, &accepted), idempotent)
	if err != nil || !fresh || reply.status != http.StatusAccepted {
		a.Operations.StopWaiting(accepted)
		return reply, err
	}
	a.Operations.Wake()
	if when.wait == 0 {
		return reply, nil
	}
	return a.await(ctx, accepted, reply, when, idempotent)
}

// preparedWrite is a write before its transaction.
type preparedWrite struct {
	failed  error                      // why it is refused, as far as it is known without the transaction; nil: it may succeed
	sharing resource.Sharing           // of the transaction
	run     func(*resource.Work) error // executes it in the transaction, perhaps more than once
	read    func() error               // executes a write that changes nothing, without a transaction; nil: run executes it
	reply   func() *reply              // after run has succeeded
}

// prepareNow prepares a write that is executed in this request.
func (a *API) prepareNow(ctx context.Context, request resource.Request, out *response) preparedWrite {
	write, err := a.Resources.Decode(ctx, request)
	if err == nil {
		err = a.beforeTransaction(ctx, &write)
	}
	reserve := func(*resource.Work) {}
	if write.OfMany() {
		reserve = a.memoryOf(out)
	}
	var results []resource.Resource
	var affected resource.Affected
	prepared := preparedWrite{
		failed:  err,
		sharing: a.Resources.SharingOf(&write),
		run: func(w *resource.Work) (err error) {
			reserve(w)
			results, err = w.Do(write)
			return err
		},
		reply: func() *reply { return a.replyToWrite(write, results) },
	}
	if err == nil && a.Resources.OnlyReads(&write) {
		prepared.read = func() error {
			return a.Resources.RunReading(ctx, func(w *resource.Work) (err error) {
				reserve(w)
				results, affected, err = w.Predict(write)
				return err
			})
		}
	}
	if request.DryRun {
		return prepared.asDryRun(&affected, request.Path.Collection)
	}
	return prepared
}

// beforeTransaction reads what a write needs to know before its transaction, and runs its Before hooks.
func (a *API) beforeTransaction(ctx context.Context, write *resource.Write) error {
	if err := a.Resources.FindRange(ctx, write); err != nil {
		return err
	}
	return a.Resources.Before(ctx, write)
}

// asDryRun is a dry run of the write, which sets affected. What does not stay has no ETag and no Location. The
// collections are named in any case.
func (w preparedWrite) asDryRun(affected *resource.Affected, collections ...*model.Collection) preparedWrite {
	run, plain := w.run, w.reply
	w.run = func(work *resource.Work) (err error) {
		*affected, err = work.DryRun(func() error { return run(work) })
		return err
	}
	w.reply = func() *reply {
		affected := *affected
		for _, c := range collections {
			affected = affected.Include(c)
		}
		reply := plain()
		reply.header.Del("ETag")
		reply.header.Del("Location")
		reply.header.Set("X-Affected", affected.String())
		if deletions := affected.Deletions(); deletions != "" {
			reply.header.Set("X-Deleted", deletions)
		}
		return reply
	}
	return w
}

// prepareLater prepares a write that is accepted and executed asynchronously.
func (a *API) prepareLater(ctx context.Context, request resource.Request, when timing, accepted *operation.Accepted) preparedWrite {
	write, err := a.Resources.Decode(ctx, request)
	return preparedWrite{
		failed: err,
		run: func(w *resource.Work) (err error) {
			a.Operations.StopWaiting(*accepted) // from an earlier run of the transaction
			*accepted, err = a.Operations.Accept(w, request, write, when.wait > 0)
			return err
		},
		reply: func() *reply {
			reply := enveloped(http.StatusAccepted, []byte(`{"id":"`+accepted.Resource.String()+`","type":"`+request.Path.Collection.Name+`"}`))
			reply.header.Set("Location", a.resourceAddress(a.Schema.Operations(), accepted.Operation))
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

// execute runs the transaction of a write. Idempotent is nil if the request has no Idempotency-Key.
// Fresh is false if the reply comes from an idempotency record.
func (a *API) execute(ctx context.Context, write preparedWrite, idempotent *resource.IdempotentRequest) (reply *reply, fresh bool, err error) {
	if idempotent == nil || write.failed != nil && !isFinal(write.failed) {
		if write.failed != nil {
			return nil, false, write.failed
		}
		execute := write.read
		if execute == nil {
			execute = func() error { return a.Resources.RunWork(ctx, write.sharing, write.run) }
		}
		if err := execute(); err != nil {
			return nil, false, err
		}
		return write.reply(), true, nil
	}
	run := func(w *resource.Work) error {
		if write.failed != nil {
			return write.failed
		}
		return write.run(w)
	}
	render := func(failed error) *resource.IdempotencyRecord {
		switch {
		case failed == nil:
			reply = write.reply()
		case isFinal(failed):
			reply = failure(fault.From(failed))
		default:
			return nil
		}
		return recordOf(reply)
	}
	recorded, repeated, err := a.Resources.RunRecorded(ctx, *idempotent, write.sharing, run, render)
	if err != nil {
		return nil, false, err
	}
	if repeated {
		return replayOf(recorded), false, nil
	}
	return reply, true, nil
}

// await waits for the outcome of an operation and replies with it, or with the pending reply if it
// takes too long. The idempotency record gets the same reply, unless the outcome is a passing error.
func (a *API) await(ctx context.Context, accepted operation.Accepted, pending *reply, when timing, idempotent *resource.IdempotentRequest) (*reply, error) {
	waiting, cancel := a.untilDisconnectedOrStopped(ctx)
	defer cancel()
	outcome, ok := a.Operations.Wait(waiting, accepted, when.wait)
	reply, recorded := pending, pending
	switch {
	case ok && outcome.Err != nil:
		reply = failure(fault.From(outcome.Err))
	case ok:
		reply = a.replyToWrite(outcome.Write, outcome.Results)
	}
	reply.header.Set("Preference-Applied", when.applied)
	if idempotent == nil {
		return reply, nil
	}
	if outcome.Err == nil || isFinal(outcome.Err) {
		recorded = reply
	}
	recorded.provisional = 0
	other, err := a.Resources.FinalizeRecord(ctx, *idempotent, recordOf(recorded))
	if err == nil && other != nil {
		reply = replyOf(other) // a repeated request was answered first
	}
	return reply, err
}

// replyToWrite replies with resources after they were created or changed, or with one that was
// deleted.
func (a *API) replyToWrite(write resource.Write, results []resource.Resource) *reply {
	if write.Range != nil {
		return envelopedAll(http.StatusOK, results)
	}
	status := http.StatusOK
	if write.Verb == resource.Create && !slices.ContainsFunc(results, func(r resource.Resource) bool { return !r.Created }) {
		status = http.StatusCreated
	}
	if write.Many {
		return envelopedAll(status, results)
	}
	reply := enveloped(status, results[0].Representation)
	if status == http.StatusCreated {
		reply.header.Set("Location", a.resourceAddress(write.Path.Collection, results[0].ID))
	}
	if write.Verb != resource.Delete {
		reply.header.Set("ETag", results[0].ETag)
	}
	return reply
}

// envelopedAll returns the reply with an array of representations, which can be large: they are copied once.
func envelopedAll(status int, resources []resource.Resource) *reply {
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

// memoryOf returns a function that lets a transaction that writes many resources reserve memory, which is freed when
// the response is sent. Each run of the transaction starts anew.
func (a *API) memoryOf(out *response) func(*resource.Work) {
	out.written.End() // of a recorded reply that was removed meanwhile
	out.written = a.Resources.Memory.Begin(quotaKeyOf(out), nil)
	return func(w *resource.Work) {
		out.written.End()
		w.Reserve(a.Resources.Memory.Most(), out.written.Take)
	}
}

// reserveReplay reserves memory for a recorded reply until it is sent. One that is longer than a caller may hold
// reserves as much as that, so that it can be sent at all.
func (a *API) reserveReplay(out *response, bytes int64) error {
	out.written.End()
	out.written = a.Resources.Memory.Begin(quotaKeyOf(out), nil)
	return out.written.Take(min(bytes, a.Resources.Memory.Most()))
}
