package resource

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
)

// A step that is executed later is accepted by a request: it is executed, undone and put into the queue. A worker executes it by another
// request, which also ends the operation. Package operation has the workers.

// accept checks a step by executing it and undoing that, and adds it to the queue. It takes effect when the
// transaction commits.
func (w *Work) accept(step decodedStep) (Outcome, error) {
	var by auth.Caller
	share := w.resources.Backlog // nobody knows the caller
	if step.Path.By != nil {
		by, share = step.Path.By.Caller, w.resources.BacklogShare
	}
	if err := w.tx.CheckBacklog(by.ID, w.resources.Backlog, share); err != nil {
		return Outcome{}, err
	}
	id := step.ID
	if step.verb == Create {
		id = step.setID(w.tx.NewID)
	}
	var awaited []model.ID
	err := w.undone(func() error {
		if err := w.tryPending(step.Path.Collection, id); err != nil {
			return err
		}
		before := len(w.awaited)
		_, err := w.do(step)
		awaited = w.awaited[before:]
		return err
	})
	if err != nil {
		return Outcome{}, err
	}
	caller, err := by.Marshal()
	if err != nil {
		return Outcome{}, err
	}
	c := step.Path.Collection
	job := store.Job{
		Operation: w.tx.NewID(), Caller: caller, Version: int64(c.Schema().Versions().Newest), Method: step.Method, Collection: c.Base().Name, Resource: id, Parent: step.Path.Parent, Body: string(step.Body),
		IfMatch: headerText(step.IfMatch), IfNoneMatch: headerText(step.IfNoneMatch),
	}
	return Outcome{Operation: job.Operation, Results: []reads.Resource{{ID: id}}}, w.tx.AddOperation(job, c, by.ID, awaited)
}

// headerText is a header as stored. Bytes that are not valid UTF-8 occur in no ETag of ours.
func headerText(values []string) string {
	return strings.ToValidUTF8(strings.Join(values, ","), "\uFFFD")
}

// tryPending executes the pending operations on a resource that one of them will create.
func (w *Work) tryPending(c *model.Collection, id model.ID) error {
	stored, err := w.tx.View(c, nil, id, nil)
	if err != nil || stored {
		return err
	}
	ahead, err := w.tx.Unfinished(c, id)
	if err != nil {
		return err
	}
	for _, job := range ahead {
		err := w.Savepoint(func() error {
			step := w.resources.decode(w.resources.stepOf(job))
			if step.failure == nil {
				step.ofJob(job)
				step.countPending = true
			}
			_, err := w.doUnlessFailed(step)
			return err
		})
		if Transient(err) {
			return err
		}
		// A refused operation has no effect, and the next ones go on.
	}
	return nil
}

// stepOf is the step of an operation.
func (r *Resources) stepOf(job store.Job) Step {
	schema, c := r.store.Version(int(job.Version)), r.store.Schema().Collection(job.Collection)
	switch {
	case c == nil:
		return Step{Refused: fault.New(problem.CodeNotFound, "There is no collection %s any more.", job.Collection)}
	case schema == nil:
		return Step{Refused: fault.New(problem.CodeVersionGone, "This was requested in version %d of the interface, which has ended since. Request it again in a later version.", job.Version)}
	}
	c = schema.Of(c)
	if job.Parent != nil && c.ParentLink() == nil {
		return Step{Refused: fault.New(problem.CodeNotFound, "The collection %s is no sub-collection any more.", job.Collection)}
	}
	caller, err := auth.UnmarshalCaller(job.Caller)
	if err != nil {
		return Step{Refused: err}
	}
	return Step{
		Method: job.Method, Path: reads.Path{Collection: c, Parent: job.Parent, By: r.Guard.PolicyInForce().Permit(caller)}, ID: job.Resource, Body: []byte(job.Body),
		IfMatch: headerOf(job.IfMatch), IfNoneMatch: headerOf(job.IfNoneMatch),
		IfMatchOptional: true, // whether it is required was decided on acceptance
	}
}

func headerOf(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// ofJob completes the step of an operation by what was decided on acceptance.
func (step *decodedStep) ofJob(job store.Job) {
	if step.verb == Create {
		step.setID(func() model.ID { return job.Resource })
	}
	step.schema = job.Schema // ETags are those of the schema on acceptance
}

// claim is an operation that a worker executes.
type claim struct {
	job   store.Job
	lease time.Duration
}

// ExecuteJob executes the step of an operation, and ends the operation in the same transaction, unless the failure is Transient: then
// nothing has happened. ErrLost means that another worker has claimed the operation.
func (r *Resources) ExecuteJob(ctx context.Context, job store.Job, lease time.Duration) Outcome {
	step := r.stepOf(job)
	if step.Refused == nil {
		step.Refused = r.Guard.CheckNotRevoked(ctx, step.Path.By)
	}
	return r.Execute(ctx, Request{Steps: []Step{step}, claim: &claim{job, lease}})
}

// runClaimed executes the step of an operation and ends the operation. It renews the claim first, to make sure that no other worker has
// claimed it. That is a write, so that of two workers one fails.
func (x *execution) runClaimed(w *Work) error {
	if mine, err := w.tx.Renew(x.claim.job, x.claim.lease); err != nil || !mine {
		if err == nil {
			err = ErrLost
		}
		return err
	}
	if err := x.runOrUndo(w); err != nil {
		return err
	}
	return w.tx.EndOperation(x.claim.job, x.outcome.Err)
}

// OutcomeOf reads the outcome of an accepted step: its errors, or the resource as it left it, even if others have changed that since.
// False means that there is none yet, or that the change log no longer has it.
func (r *Resources) OutcomeOf(ctx context.Context, step Step, accepted Outcome) (outcome Outcome, done bool, err error) {
	tx, err := r.store.Read(ctx)
	if err != nil {
		return Outcome{}, false, err
	}
	defer tx.Close()
	operations := r.store.Schema().Operations()
	record, err := tx.Get(operations, nil, accepted.Operation)
	if err != nil || record == nil {
		return Outcome{}, false, err
	}
	switch record[operations.Field("status").Column].Text() {
	case "failed":
		var faults problem.Errors
		err := json.Unmarshal([]byte(record[operations.Field("errors").Column].Text()), &faults)
		return Outcome{Err: faults}, err == nil, err
	case "succeeded":
		id, c := accepted.Results[0].ID, step.Path.Collection
		change, err := tx.ChangedBefore(record.Int(operations.RevisionColumn()), c, id)
		if err != nil || change == nil {
			return Outcome{}, false, err
		}
		left := change.After
		if left == nil {
			left = change.Before // of a deletion
		}
		result := reads.Resource{ID: id, Created: step.Method == http.MethodPost, Representation: c.AppendSome(nil, left, step.Path.By.Visible(c))}
		if step.Method != http.MethodDelete {
			result.ETag = r.ETag(step.Path, change.Revision, r.store.DeclaredIn(c))
		}
		return Outcome{Results: []reads.Resource{result}, Created: result.Created}, true, nil
	}
	return Outcome{}, false, nil
}
