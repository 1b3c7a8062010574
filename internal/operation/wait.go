package operation

import (
	"context"
	"encoding/json"
	"time"

	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
)

// finished delivers an outcome to the request that waits for it, and reports it.
func (o *Operations) finished(job store.Job, outcome Outcome) {
	o.Finished(job, outcome.Err)
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if waiter, ok := o.waiters[job.Operation]; ok {
		waiter <- outcome
		delete(o.waiters, job.Operation)
	}
}

// outcomePoll is how often an operation is read that another server may have executed.
const outcomePoll = 100 * time.Millisecond

// Wait waits for the outcome of an operation that was accepted as observed. False means that
// there was none in time.
func (o *Operations) Wait(ctx context.Context, accepted Accepted, timeout time.Duration) (Outcome, bool) {
	defer o.StopWaiting(accepted)
	ctx, cancel := context.WithTimeout(ctx, timeout) // also bounds reads of an unavailable database
	defer cancel()
	var look <-chan time.Time
	if !o.store.IsOnlyServer() {
		ticker := time.NewTicker(outcomePoll)
		defer ticker.Stop()
		look = ticker.C
	}
	for {
		select {
		case outcome := <-accepted.outcome:
			return outcome, true
		case <-look:
			// An error is no outcome. The next read may find one.
			if outcome, done, err := o.outcome(ctx, accepted); err == nil && done {
				return outcome, true
			}
		case <-ctx.Done():
			return Outcome{}, false
		}
	}
}

// outcome reads the result of an operation: its errors, or the resource as it left it.
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

// StopWaiting discards an outcome that no request waits for.
func (o *Operations) StopWaiting(accepted Accepted) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	delete(o.waiters, accepted.Operation)
}
