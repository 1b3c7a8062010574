package resource

import (
	"context"
	"errors"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
)

// A request is executed in this way:
//
//	Execute
//	  earlierOutcome     if it has a key: an earlier request with the key may have an outcome
//	  prepare            before the transaction: reads bodies, finds ranges, runs Before hooks, splits texts
//	  one of these in the transaction, or in a snapshot if nothing is written; it may run more than once:
//	    runOnce          if it has a key: locks the key, runs the request, stores the outcome
//	    runClaimed       if it is an operation: renews the claim, runs the request, ends the operation
//	    run              otherwise
//
//	runOrUndo            run, undone if it fails in a way that is stored
//	run                  one of these:
//	    accept           if it is executed later: tries the step, undoes it, puts it into the queue
//	    try              if it is a dry run: runSteps, counts what changed, undoes it
//	    runSteps         Work.do for each step

// Execute executes the steps of a request. Everything that is written comes through here, whether a client, the program or a worker
// asks for it; only a function of the program that has a transaction already uses Handle.Do. A failure is part of the outcome.
func (r *Resources) Execute(ctx context.Context, request Request) Outcome {
	if err := r.refuseNested(ctx); err != nil {
		return Outcome{Err: err}
	}
	if key := request.Idempotent; key != nil {
		if _, inUse := r.keysInUse.LoadOrStore(key.Key, true); inUse {
			return Outcome{Err: keyInUse()}
		}
		defer r.keysInUse.Delete(key.Key)
		if earlier, err := r.earlierOutcome(ctx, &request); err != nil || earlier != nil {
			return replayed(earlier, err)
		}
	}
	x := &execution{Request: &request, resources: r}
	x.prepare(ctx)
	if err := context.Cause(ctx); err != nil && x.claim != nil { // the hooks of a lost operation may have failed because of that
		return Outcome{Err: err}
	}
	// A final failure of a request with a key, or of an operation, is stored as well: its transaction does nothing else.
	failure := x.firstFailure()
	if failure != nil && !x.stores(failure) {
		return Outcome{Err: failure, Step: x.position(0)}
	}
	var err error
	switch {
	case x.Idempotent != nil:
		err = r.inTransaction(ctx, x.writeOptions(), x.runOnce)
	case x.claim != nil:
		err = r.inTransaction(ctx, x.writeOptions(), x.runClaimed)
	case x.onlyReads():
		err = r.inSnapshot(ctx, x.run)
	default:
		err = r.inTransaction(ctx, x.writeOptions(), x.run)
	}
	if err != nil {
		return Outcome{Err: err, Step: x.outcome.Step}
	}
	if x.earlier != nil {
		return replayed(r.readOutcome(ctx, &request, x.earlier))
	}
	return x.outcome
}

// execution is one execution of a request. Its transaction may run more than once.
type execution struct {
	*Request
	resources *Resources
	decoded   []decodedStep // up to the first that cannot be executed

	outcome Outcome                  // of the last run
	earlier *store.IdempotencyRecord // that the last run has found; nil: none
}

// firstFailure is why the first step cannot be executed, so that nothing is.
func (x *execution) firstFailure() error {
	if len(x.decoded) == 0 {
		return nil
	}
	return x.decoded[0].failure
}

// prepare decodes the steps and finds what can be found before the transaction. What follows a step that cannot be executed is never reached.
func (x *execution) prepare(ctx context.Context) {
	before := &preparation{resources: x.resources, ctx: ctx}
	defer before.end()
	x.decoded = make([]decodedStep, 0, len(x.Steps)) // it never moves
	for i, from := range x.Steps {
		x.decoded = append(x.decoded, x.resources.decode(from))
		each := &x.decoded[i]
		each.dryRun, each.countPending = x.DryRun, x.Later && !each.many
		each.deletion = x.deletionMode(each, i == len(x.Steps)-1)
		if x.claim != nil && each.failure == nil {
			each.ofJob(x.claim.job)
		}
		switch {
		case from.Refused == nil && isInvalid(each.failure) && i == 0:
			each.failure = before.withViolations(each, each.failure)
		case from.Refused == nil && isInvalid(each.failure):
			each.invalid = true
		case each.failure == nil && x.Transaction && each.many:
			each.failure = fault.New(problem.CodeNotAnObject, "The body of a step must be one object. Send several steps instead of an array.")
		case each.failure == nil && !each.countPending: // otherwise the operation will do it
			each.failure = before.prepare(each)
		}
		if each.failure != nil {
			return
		}
	}
}

// position is the number of a step in an outcome.
func (x *execution) position(i int) int {
	if x.Transaction {
		return i + 1
	}
	return 0
}

// single is the only step, nil if there are several or none.
func (x *execution) single() *decodedStep {
	if x.Transaction || len(x.decoded) != 1 {
		return nil
	}
	return &x.decoded[0]
}

// writeOptions says how the transaction is executed. A short one may share it with others. Hooks have time of their own.
func (x *execution) writeOptions() store.WriteOptions {
	step := x.single()
	if step != nil && step.failure == nil && step.verb != Delete && !step.ofMany() && !x.DryRun && !x.Later && x.claim == nil && !x.resources.hasWithin(step.Path.Collection, step.verb) {
		return store.WriteOptions{Short: true, ID: step.ID}
	}
	return x.resources.long(len(x.resources.hooks) > 0)
}

// onlyReads reports whether nothing is written, so that the request is executed in a snapshot instead of a transaction: the range is
// empty, or the deletion only predicted. On SQLite, a transaction would keep all writes waiting.
func (x *execution) onlyReads() bool {
	if len(x.decoded) != 1 {
		return false
	}
	return x.decoded[0].Range != nil && len(x.decoded[0].found) == 0 || x.DryRun && x.decoded[0].deletion == predictDeletion
}

// deletionMode is how a step deletes resources, if it does.
func (x *execution) deletionMode(step *decodedStep, last bool) deletionMode {
	switch {
	case !x.DryRun && !x.Later || !x.resources.isPredictable(step):
		return executeDeletion
	case last:
		return predictDeletion
	}
	return tryDeletion
}

// runOrUndo executes the request, and undoes it if it fails in a way that is stored. Any other failure is that of the transaction.
func (x *execution) runOrUndo(w *Work) error {
	failed := w.Savepoint(func() error { return x.run(w) })
	if failed == nil || !x.stores(failed) {
		return failed
	}
	x.outcome = Outcome{Err: failed, Step: x.outcome.Step}
	return nil
}

// stores reports whether a failure is stored as the outcome. Otherwise the request may succeed when it is repeated.
func (x *execution) stores(failed error) bool {
	switch {
	case x.Idempotent != nil:
		return isFinal(failed)
	case x.claim != nil:
		return !Transient(failed)
	}
	return false
}

// run executes the request in the transaction, or in a snapshot.
func (x *execution) run(w *Work) (err error) {
	x.outcome = Outcome{}
	if x.Memory != nil && (x.Transaction || x.decoded[0].ofMany()) {
		x.Memory.End() // of an earlier run
		w.hold(x.Memory)
	}
	switch failure := x.firstFailure(); {
	case failure != nil:
		x.outcome.Step = x.position(0)
		return failure
	case x.Later && !x.decoded[0].many:
		x.outcome, err = w.accept(x.decoded[0])
		x.outcome.Applied = x.Applied
		return err
	case !x.DryRun:
		return x.runSteps(w)
	}
	changed, err := w.try(func() error { return x.runSteps(w) })
	if err != nil || len(x.decoded) == 0 {
		return err
	}
	affected := changed.Count(x.decoded[0].Path.Collection.Schema())
	for i := range x.decoded { // the collections are named in any case
		affected = affected.Include(x.decoded[i].Path.Collection)
	}
	x.outcome.Affected = affected
	return nil
}

// runSteps executes the steps in their order.
func (x *execution) runSteps(w *Work) error {
	if x.Transaction {
		if err := w.announce(x.decoded); err != nil {
			return err
		}
	}
	bytes := 0
	for i := range x.decoded {
		x.outcome.Step = x.position(i)
		results, err := w.doUnlessFailed(x.decoded[i])
		for _, one := range results {
			bytes += len(one.Representation)
		}
		if err == nil && x.Transaction && bytes > MaxManyBytes {
			err = tooMuch()
		}
		if err != nil {
			return err
		}
		x.outcome.Results = append(x.outcome.Results, results...)
	}
	x.outcome.Step = 0
	x.outcome.describe(x.single())
	return nil
}

// Transient reports whether a failure is no fault of the request, which may succeed when it is repeated.
func Transient(err error) bool { return err != nil && fault.From(err)[0].Status() >= 500 }

// ErrLost is the failure of an operation that another worker has claimed.
var ErrLost = errors.New("the operation was taken over by another worker")
