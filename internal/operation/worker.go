package operation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/internal/tracing"
	"github.com/plural-go/plural/problem"
)

const (
	// poll is how often the queue is read without a signal: another server may have added to it.
	poll = time.Second
	// emptyPause is the delay before the queue is read again when nothing could be claimed.
	emptyPause = 50 * time.Millisecond
	// maxAttempts bounds the attempts of an operation.
	maxAttempts = 10
)

// Wake signals new work.
func (o *Operations) Wake() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// Run executes operations until the context ends, and then finishes those that it has begun.
// Abandon ends these too; another run executes them again.
func (o *Operations) Run(ctx, abandon context.Context) {
	if err := o.store.RequeueAll(ctx); err != nil && ctx.Err() == nil {
		o.Failed(store.Job{}, err)
	}
	var workers sync.WaitGroup
	defer workers.Wait()
	free := make(chan struct{}, o.Workers)
	for range o.Workers {
		free <- struct{}{}
	}
	for {
		select {
		case <-free:
		case <-ctx.Done():
			return
		}
		jobs, err := o.claim(ctx, 1+len(free))
		if err != nil && ctx.Err() == nil {
			o.Failed(store.Job{}, err)
		}
		for range len(jobs) - 1 {
			<-free // this goroutine is the only receiver
		}
		for _, job := range jobs {
			workers.Go(func() {
				o.process(abandon, job)
				free <- struct{}{}
				o.Wake() // followers may be unblocked now
			})
		}
		if len(jobs) > 0 {
			continue
		}
		free <- struct{}{}
		if !o.idle(ctx, err != nil) {
			return
		}
	}
}

// idle waits until there may be work, and longer when the queue could not be read. False means
// that the context ended.
func (o *Operations) idle(ctx context.Context, failed bool) bool {
	pause := emptyPause
	if failed {
		pause = poll
	}
	for {
		timer := time.NewTimer(pause)
		select {
		case <-o.wake:
			timer.Stop()
			return true
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return false
		}
		if pause = o.untilNext(ctx); pause <= 0 {
			return true
		}
	}
}

// untilNext is the time until the next operation is due.
func (o *Operations) untilNext(ctx context.Context) time.Duration {
	tx, err := o.store.ReadOne(ctx)
	if err != nil {
		return poll
	}
	defer tx.Close()
	next, found, err := tx.Next()
	if err != nil || !found {
		return poll
	}
	return min(poll, time.Until(next))
}

// claim claims operations that can be executed.
func (o *Operations) claim(ctx context.Context, most int) (jobs []store.Job, err error) {
	err = o.store.Write(ctx, func(tx *store.Tx) error {
		jobs, err = tx.Claim(most, o.Lease)
		for _, job := range jobs {
			if err := tx.SetStatus(job, "running", nil); err != nil {
				return err
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return jobs, nil
}

// process executes a claimed operation. A failed one is retried, or given up after
// maxAttempts.
func (o *Operations) process(ctx context.Context, job store.Job) {
	outcome, err := o.attempt(ctx, job)
	switch {
	case err == nil:
		o.finished(job, outcome)
		return
	case errors.Is(err, resource.ErrLost):
		return
	case ctx.Err() != nil: // the server is stopping
		err = o.putBack(ctx, job, 0)
	default:
		o.Failed(job, err)
		// One that takes too long would keep other writes waiting each time.
		if job.Attempt < maxAttempts && fault.From(err)[0].Code != problem.CodeTooExpensive {
			err = o.putBack(ctx, job, o.Pause(job.Attempt))
		} else {
			err = o.giveUp(ctx, job, err)
		}
	}
	if err != nil {
		o.Failed(job, err) // it is retried when its lease expires
	}
}

// attempt executes an operation. An error means that it had no effect, through no fault of the
// request.
func (o *Operations) attempt(ctx context.Context, job store.Job) (outcome resource.Outcome, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic in an operation: %v\n%s", reason, debug.Stack())
		}
	}()
	held, release := o.keepLease(ctx, job)
	defer release()
	held, span := o.startSpan(held, job)
	defer func() { tracing.End(span, outcome.Err) }()
	outcome = o.resources.ExecuteJob(held, job, o.Lease)
	switch {
	case !resource.Transient(outcome.Err):
		return outcome, nil
	case ctx.Err() != nil:
		return outcome, ctx.Err()
	case held.Err() != nil:
		return outcome, resource.ErrLost
	}
	return outcome, outcome.Err
}

// startSpan starts the span of an attempt, which continues the trace of the request that was accepted.
func (o *Operations) startSpan(ctx context.Context, job store.Job) (context.Context, tracing.Span) {
	if o.Tracer == nil || job.Traceparent == "" {
		return ctx, nil
	}
	return o.Tracer.Start(o.Tracer.Continue(ctx, job.Traceparent, ""), tracing.Consumer, "operation "+job.Method+" "+job.Collection,
		slog.String("plural.operation.id", job.Operation.String()), slog.String("plural.collection", job.Collection),
		slog.String("http.request.method", job.Method), slog.Int64("plural.operation.attempt", job.Attempt))
}

// giveUp ends an operation that no attempt could finish.
func (o *Operations) giveUp(ctx context.Context, job store.Job, reason error) error {
	err := o.store.Write(ctx, func(tx *store.Tx) error {
		if mine, err := tx.Renew(job, o.Lease); err != nil || !mine {
			return cmp.Or(err, resource.ErrLost)
		}
		return tx.EndOperation(job, reason)
	})
	if err == nil {
		o.finished(job, resource.Outcome{Err: reason})
	}
	return err
}

// keepLease renews the lease of an operation until the returned function is called, and no
// longer: putBack sets the due time. The context ends when the claim is lost.
func (o *Operations) keepLease(ctx context.Context, job store.Job) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(o.renewal)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			mine := true
			err := o.store.Write(ctx, func(tx *store.Tx) (err error) {
				mine, err = tx.Renew(job, o.Lease)
				return err
			})
			if err == nil && !mine {
				cancel()
			}
		}
	}()
	return ctx, func() {
		cancel()
		<-ended
	}
}

// putBack schedules a retry after a pause, with jitter so that operations that failed together
// are not retried together. If the database fails, it tries until the lease expires, which
// otherwise delays the operation.
func (o *Operations) putBack(ctx context.Context, job store.Job, pause time.Duration) error {
	over := time.Now().Add(o.Lease)
	for {
		err := o.store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error {
			mine, err := tx.Renew(job, pause/2+rand.N(pause/2+1)) // #nosec G404 -- jitter
			if err != nil || !mine {
				return err
			}
			return tx.SetStatus(job, "pending", nil)
		})
		if err == nil || time.Now().After(over) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(min(poll, time.Until(over))):
		}
	}
}

func growingPause(attempt int64) time.Duration {
	return min(100*time.Millisecond<<min(attempt, 10), 30*time.Second)
}
