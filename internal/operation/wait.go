package operation

import (
	"context"
	"time"

	"github.com/plural-go/plural/schema"
)

// expect makes room for the outcome of an operation.
func (o *Operations) expect(operation schema.ID) chan Outcome {
	outcome := make(chan Outcome, 1)
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.waiters[operation] = outcome
	return outcome
}

// finished hands an outcome to whoever waits for it.
func (o *Operations) finished(operation schema.ID, outcome Outcome) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if waiter, ok := o.waiters[operation]; ok {
		waiter <- outcome
		delete(o.waiters, operation)
	}
}

// Wait waits for the outcome of an operation that was accepted as observed. False
// means that there was none in time.
func (o *Operations) Wait(ctx context.Context, accepted Accepted, patience time.Duration) (Outcome, bool) {
	defer o.Disregard(accepted)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case outcome := <-accepted.outcome:
		return outcome, true
	case <-timer.C:
	case <-ctx.Done():
	}
	return Outcome{}, false
}

// Disregard gives up an outcome that nobody waits for after all.
func (o *Operations) Disregard(accepted Accepted) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	delete(o.waiters, accepted.Operation)
}
