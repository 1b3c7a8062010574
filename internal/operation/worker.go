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
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
)

const (
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
		if !o.rest(ctx, err != nil) {
			return
		}
	}
}

// rest waits until there may be something to do, and longer when the queue could
// not be looked at. False means that it is over.
func (o *Operations) rest(ctx context.Context, failed bool) bool {
	pause := breath
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
		jobs, err = tx.Claim(most, o.Lease)
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
func (o *Operations) update(tx *store.Tx, job store.Job, status string, faults problem.Errors) error {
	c := o.schema.Operations()
	before, err := tx.Get(c, nil, job.Operation)
	if err != nil || before == nil {
		return err
	}
	after := slices.Clone(before)
	after[c.Field("status").Column] = model.TextValue(status)
	after[c.Field("attempts").Column] = model.IntValue(job.Attempt)
	if len(faults) > 0 {
		after[c.Field("errors").Column] = model.TextValue(string(fault.JSON(faults)))
	}
	after[c.UpdatedColumn()] = tx.Now()
	_, err = tx.Update(c, before, after)
	return err
}

// errLost: somebody else has the operation.
var errLost = errors.New("the operation was taken over by another worker")

// carryOut does an operation that was claimed. One that nothing came of is tried
// again, or given up if it was tried often enough.
func (o *Operations) carryOut(ctx context.Context, job store.Job) {
	outcome, err := o.attempt(ctx, job)
	switch {
	case err == nil:
		o.finished(job, outcome)
		return
	case errors.Is(err, errLost):
		return
	case ctx.Err() != nil: // it was not its fault
		err = o.putBack(ctx, job, 0)
	default:
		o.Failed(job.Operation.String(), err)
		if job.Attempt < maxAttempts {
			err = o.putBack(ctx, job, o.Pause(job.Attempt))
		} else {
			err = o.giveUp(ctx, job, err)
		}
	}
	if err != nil {
		o.Failed(job.Operation.String(), err) // it comes back when its lease is over
	}
}

// attempt does an operation. An error means that nothing came of it, through no
// fault of the request.
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
		outcome.Err = o.Guard.StillTrusts(held, outcome.Write.Path.By)
	}
	if outcome.Err == nil {
		outcome.Err = o.resources.Before(held, &outcome.Write)
	}
	switch {
	case ctx.Err() != nil:
		return outcome, ctx.Err()
	case held.Err() != nil:
		return outcome, errLost
	case transient(outcome.Err):
		return outcome, outcome.Err
	}
	refused := outcome.Err
	err = o.resources.Transact(ctx, func(w *resource.Work) error {
		if err := o.mine(w.Tx(), job); err != nil {
			return err
		}
		if outcome.Err = refused; refused == nil {
			outcome.Err = w.Attempt(func() (err error) {
				outcome.Results, err = w.Do(outcome.Write)
				return err
			})
		}
		if transient(outcome.Err) {
			return outcome.Err
		}
		return o.conclude(w.Tx(), job, outcome.Err)
	})
	return outcome, err
}

func transient(err error) bool {
	return err != nil && fault.From(err)[0].Status() >= http.StatusInternalServerError
}

// mine makes sure that nobody else has claimed an operation since.
func (o *Operations) mine(tx *store.Tx, job store.Job) error {
	mine, err := tx.Hold(job, o.Lease)
	if err == nil && !mine {
		err = errLost
	}
	return err
}

// giveUp ends an operation that no attempt brought to an end.
func (o *Operations) giveUp(ctx context.Context, job store.Job, reason error) error {
	err := o.store.Write(ctx, func(tx *store.Tx) error {
		if err := o.mine(tx, job); err != nil {
			return err
		}
		return o.conclude(tx, job, reason)
	})
	if err == nil {
		o.finished(job, Outcome{Err: reason})
	}
	return err
}

// conclude ends an operation for good.
func (o *Operations) conclude(tx *store.Tx, job store.Job, refused error) error {
	status, faults := "succeeded", problem.Errors(nil)
	if refused != nil {
		status, faults = "failed", fault.From(refused)
	}
	if err := o.update(tx, job, status, faults); err != nil {
		return err
	}
	return tx.Finish(job)
}

// holding keeps the lease of an operation alive until it is released, and not a
// moment longer: whoever puts it back says when it is due. The context ends when the
// operation is lost.
func (o *Operations) holding(ctx context.Context, job store.Job) (context.Context, func()) {
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
				mine, err = tx.Hold(job, o.Lease)
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

// putBack has an operation tried again after a pause, which is shortened at random
// so that those who failed together do not meet again. If that cannot be written, it
// goes on trying until the lease is over, which else is what the operation waits for.
func (o *Operations) putBack(ctx context.Context, job store.Job, pause time.Duration) error {
	over := time.Now().Add(o.Lease)
	for {
		err := o.tryPutBack(ctx, job, pause)
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

func (o *Operations) tryPutBack(ctx context.Context, job store.Job, pause time.Duration) error {
	return o.store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		mine, err := tx.Hold(job, pause/2+rand.N(pause/2+1)) // #nosec G404 -- so that not all come back at once
		if err != nil || !mine {
			return err
		}
		return o.update(tx, job, "pending", nil)
	})
}

func growingPause(attempt int64) time.Duration {
	return min(100*time.Millisecond<<min(attempt, 10), 30*time.Second)
}
