package operation

import (
	"context"
	"time"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/internal/store"
)

// finished delivers an outcome to the request that waits for it, and reports it.
func (o *Operations) finished(job store.Job, outcome resource.Outcome) {
	o.Finished(job, outcome.Err)
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if waiter, ok := o.waiters[job.Operation]; ok {
		waiter <- outcome // only this one is sent
		delete(o.waiters, job.Operation)
	}
}

// outcomePoll is how often an operation is read that another server may have executed.
const outcomePoll = 100 * time.Millisecond

// Wait waits for the outcome of a step that was accepted. False means that there was none in time.
func (o *Operations) Wait(ctx context.Context, step resource.Step, accepted resource.Outcome, timeout time.Duration) (resource.Outcome, bool) {
	finished := o.watch(accepted.Operation)
	defer o.unwatch(accepted.Operation)
	ctx, cancel := context.WithTimeout(ctx, timeout) // also bounds reads of an unavailable database
	defer cancel()
	var look <-chan time.Time
	if !o.store.IsOnlyServer() {
		ticker := time.NewTicker(outcomePoll)
		defer ticker.Stop()
		look = ticker.C
	}
	for {
		// It may have ended before the watch began. An error is no outcome: the next read may find one.
		if outcome, done, err := o.resources.OutcomeOf(ctx, step, accepted); err == nil && done {
			return outcome, true
		}
		select {
		case outcome := <-finished:
			return outcome, true
		case <-look:
		case <-ctx.Done():
			return resource.Outcome{}, false
		}
	}
}

// watch returns a channel of the outcome of an operation, if this server finishes it from now on.
func (o *Operations) watch(operation model.ID) <-chan resource.Outcome {
	finished := make(chan resource.Outcome, 1)
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.waiters[operation] = finished
	return finished
}

func (o *Operations) unwatch(operation model.ID) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	delete(o.waiters, operation)
}
