package operation

import (
	"context"
	"encoding/json"
	"time"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
)

// expect makes room for the outcome of an operation.
func (o *Operations) expect(operation model.ID) chan Outcome {
	outcome := make(chan Outcome, 1)
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.waiters[operation] = outcome
	return outcome
}

// finished hands an outcome to whoever waits for it, and tells of it.
func (o *Operations) finished(job store.Job, outcome Outcome) {
	o.Finished(job, outcome.Err)
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if waiter, ok := o.waiters[job.Operation]; ok {
		waiter <- outcome
		delete(o.waiters, job.Operation)
	}
}

// lookEvery is how often an operation is looked at that another server may have
// carried out.
const lookEvery = 100 * time.Millisecond

// Wait waits for the outcome of an operation that was accepted as observed. False
// means that there was none in time.
func (o *Operations) Wait(ctx context.Context, accepted Accepted, patience time.Duration) (Outcome, bool) {
	defer o.Disregard(accepted)
	ctx, cancel := context.WithTimeout(ctx, patience) // also of a look at a database that is away
	defer cancel()
	var look <-chan time.Time
	if !o.store.Sole() {
		ticker := time.NewTicker(lookEvery)
		defer ticker.Stop()
		look = ticker.C
	}
	for {
		select {
		case outcome := <-accepted.outcome:
			return outcome, true
		case <-look:
			// An error is no outcome, and the next look may tell.
			if outcome, done, err := o.outcome(ctx, accepted); err == nil && done {
				return outcome, true
			}
		case <-ctx.Done():
			return Outcome{}, false
		}
	}
}

// outcome reads what came of an operation: its errors, or the resource as it left it.
func (o *Operations) outcome(ctx context.Context, accepted Accepted) (outcome Outcome, done bool, err error) {
	tx, err := o.store.Read(ctx)
	if err != nil {
		return Outcome{}, false, err
	}
	defer tx.Close()
	operations := o.schema.Operations()
	record, err := tx.Get(operations, nil, accepted.Operation)
	if err != nil || record == nil {
		return Outcome{}, false, err
	}
	outcome.Write = accepted.write
	switch record[operations.Field("status").Column].Text() {
	case "failed":
		var errors problem.Errors
		err := json.Unmarshal([]byte(record[operations.Field("errors").Column].Text()), &errors)
		outcome.Err = errors
		return outcome, err == nil, err
	case "succeeded":
		result, found, err := o.resources.Result(tx, accepted.write, accepted.Resource, record.Int(operations.RevisionColumn()))
		outcome.Results = []resource.Resource{result}
		return outcome, found, err
	}
	return Outcome{}, false, nil
}

// Disregard gives up an outcome that nobody waits for after all.
func (o *Operations) Disregard(accepted Accepted) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	delete(o.waiters, accepted.Operation)
}
