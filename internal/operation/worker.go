package operation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

const (
	// lease is how long an operation stays with a worker that says nothing more.
	lease = 15 * time.Second
	// poll is how often the queue is looked at without being asked to: another
	// server may have left something in it.
	poll = time.Second
	// breath is how long it takes for the queue to be looked at again when nothing
	// could be claimed.
	breath = 50 * time.Millisecond
	// maxAttempts is how often an operation is tried.
	maxAttempts = 10
)

// Wake says that there may be something to do.
func (o *Operations) Wake() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// Run carries operations out until the context ends, and then finishes those
// that it has begun; abandon ends these too, to be done by another run.
func (o *Operations) Run(ctx, abandon context.Context) {
	if err := o.store.TakeOver(ctx); err != nil && ctx.Err() == nil {
		o.Failed("", err)
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
			o.Failed("", err)
		}
		for range len(jobs) - 1 {
			<-free // nobody else takes from it
		}
		for _, job := range jobs {
			workers.Go(func() {
				o.carryOut(abandon, job)
				free <- struct{}{}
				o.Wake() // others may have waited for it
			})
		}
		if len(jobs) > 0 {
			continue
		}
		free <- struct{}{}
		if !o.rest(ctx) {
			return
		}
	}
}

// rest waits until there may be something to do. False means that it is over.
func (o *Operations) rest(ctx context.Context) bool {
	for pause := breath; ; {
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

// untilNext is how long nothing will be due, as far as can be told.
func (o *Operations) untilNext(ctx context.Context) time.Duration {
	tx, err := o.store.Look(ctx)
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

// claim takes operations that can be worked on.
func (o *Operations) claim(ctx context.Context, most int) (jobs []store.Job, err error) {
	err = o.store.Write(ctx, func(tx *store.Tx) error {
		jobs, err = tx.Claim(most, lease)
		for _, job := range jobs {
			if err := o.update(tx, job, "running", nil); err != nil {
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

// update shows clients how far an operation has come.
func (o *Operations) update(tx *store.Tx, job store.Job, status string, faults fault.List) error {
	c := o.schema.Operations()
	before, err := tx.Get(c, nil, job.Operation)
	if err != nil || before == nil {
		return err
	}
	after := slices.Clone(before)
	after[c.Field("status").Column] = schema.TextValue(status)
	after[c.Field("attempts").Column] = schema.IntValue(job.Attempt)
	if len(faults) > 0 {
		after[c.Field("errors").Column] = schema.TextValue(string(faults.JSON()))
	}
	after[c.UpdatedColumn()] = tx.Now()
	_, err = tx.Update(c, before, after)
	return err
}

// errLost: somebody else has the operation.
var errLost = errors.New("the operation was taken over by another worker")

// carryOut does an operation that was claimed.
func (o *Operations) carryOut(ctx context.Context, job store.Job) {
	outcome, err := o.attempt(ctx, job)
	switch {
	case err == nil:
		if transient(outcome.Err) {
			o.Failed(job.Operation.String(), outcome.Err) // for the last time
		}
		o.finished(job.Operation, outcome)
	case errors.Is(err, errLost):
	default:
		if ctx.Err() == nil { // else it was given up
			o.Failed(job.Operation.String(), err)
		}
		if err := o.putBack(ctx, job); err != nil {
			o.Failed(job.Operation.String(), err) // it comes back when its lease is over
		}
	}
}

// attempt does an operation. An error means that nothing came of it, and that it
// should be tried again.
func (o *Operations) attempt(ctx context.Context, job store.Job) (outcome Outcome, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic in an operation: %v\n%s", reason, debug.Stack())
		}
	}()
	held, release := o.holding(ctx, job)
	defer release()
	outcome.Write, outcome.Err = o.decode(held, job, false)
	if outcome.Err == nil {
		outcome.Err = o.resources.Before(held, &outcome.Write)
	}
	if ctx.Err() != nil {
		return outcome, ctx.Err()
	}
	if held.Err() != nil {
		return outcome, errLost
	}
	refused := outcome.Err
	err = o.resources.Transact(ctx, func(w *resource.Work) error {
		mine, err := w.Tx().Hold(job, lease)
		if err == nil && !mine {
			err = errLost
		}
		if err != nil {
			return err
		}
		if outcome.Err = refused; refused == nil {
			outcome.Err = w.Attempt(func() error {
				outcome.Results, err = w.Do(outcome.Write)
				return err
			})
		}
		if transient(outcome.Err) && job.Attempt < maxAttempts {
			return outcome.Err
		}
		return o.conclude(w.Tx(), job, outcome.Err)
	})
	return outcome, err
}

func transient(err error) bool {
	return err != nil && fault.From(err)[0].Status() >= http.StatusInternalServerError
}

// conclude ends an operation for good.
func (o *Operations) conclude(tx *store.Tx, job store.Job, refused error) error {
	status, faults := "succeeded", fault.List(nil)
	if refused != nil {
		status, faults = "failed", fault.From(refused)
	}
	if err := o.update(tx, job, status, faults); err != nil {
		return err
	}
	return tx.Finish(job)
}

// holding keeps the lease of an operation alive until it is released. The context
// ends when the operation is lost.
func (o *Operations) holding(ctx context.Context, job store.Job) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		tick := time.NewTicker(lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			mine := true
			err := o.store.Write(ctx, func(tx *store.Tx) (err error) {
				mine, err = tx.Hold(job, lease)
				return err
			})
			if err == nil && !mine {
				cancel()
			}
		}
	}()
	return ctx, cancel
}

// putBack has an operation tried again after a pause that grows with every attempt.
func (o *Operations) putBack(ctx context.Context, job store.Job) error {
	pause := min(100*time.Millisecond<<min(job.Attempt, 10), 30*time.Second)
	if ctx.Err() != nil {
		pause = 0 // it was not its fault
	}
	return o.store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		mine, err := tx.Hold(job, pause/2+rand.N(pause/2+1))
		if err != nil || !mine {
			return err
		}
		return o.update(tx, job, "pending", nil)
	})
}
