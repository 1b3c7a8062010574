package resource

import (
	"cmp"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/headers"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
)

// doUnlessFailed executes a step, or returns why preparing it has failed. Only now are the other errors of an invalid body found.
func (w *Work) doUnlessFailed(step decodedStep) ([]reads.Resource, error) {
	if step.invalid {
		return nil, (&preparation{resources: w.resources, ctx: w.ctx, work: w}).withViolations(&step, step.failure)
	}
	if step.failure != nil {
		return nil, step.failure
	}
	return w.do(step)
}

// do executes a step in the transaction.
func (w *Work) do(step decodedStep) ([]reads.Resource, error) {
	if err := step.require(); err != nil {
		return nil, err
	}
	if by := step.Path.By; by != nil {
		w.by = by
		w.tx.As(by.Caller.ID)
	}
	if w.resources.ForceStates {
		w.tx.As(forcedStates)
	}
	w.tx.UseTexts(cmp.Or(step.texts, &store.Texts{})) // of each step its own, so that a long transaction does not keep all
	w.countPending = w.countPending || step.countPending
	switch {
	case step.Range != nil:
		return w.changeRange(step)
	case step.Conflict != nil:
		return w.upsert(step)
	case step.verb == Create:
		return w.create(step)
	case step.verb == Update:
		return w.update(step)
	}
	return w.delete(step)
}

// require returns why the caller may not make such a write at all, or nil.
func (step *decodedStep) require() error {
	if step.Path.Collection.ReadOnly() {
		return fault.New(problem.CodeMethodNotAllowed, "Only the server writes %s. They are read-only.", step.Path.Collection.Name)
	}
	if step.Conflict != nil { // what an upsert needs depends on what it does
		return nil
	}
	return step.Path.Require(step.verb)
}

// announce announces steps that will be executed in the transaction, as far as they name the resources that they change. Each
// is announced again when it is executed, but together they wait only once for others that write to the same resources.
func (w *Work) announce(steps []decodedStep) error {
	var named []store.ResourceID
	for _, step := range steps {
		if step.ID != (model.ID{}) {
			named = append(named, w.tx.ResourceID(step.Path.Collection, step.ID))
		}
	}
	return w.tx.Announce(named...)
}

// requireOn returns why the caller may not delete a resource that they see, or change it by an input, or nil.
func (s *lookup) requireOn(path reads.Path, verb Verb, before model.Record, input model.Input) error {
	c := path.Collection
	allowed, err := path.By.Allows(verb, c, before, s.tx.Find)
	if err == nil && !allowed {
		err = path.By.Denied("You may not %s this resource.", verb)
	}
	rule := path.By.TransitionRule(c, before, input)
	if err != nil || rule == nil {
		return err
	}
	if unsettled, err := s.isUnsettled(c, before); err != nil || unsettled {
		return err
	}
	allowed, err = query.Holds(rule, before, s.tx.Find)
	if err == nil && !allowed {
		err = path.By.Denied("You may not change this resource to this state.")
	}
	return err
}

// load reads the resource to change. It returns 404, 403 if the caller may not change it, and
// 412 or 428 if the condition fails.
func (w *Work) load(step decodedStep) (model.Record, error) {
	if err := step.Path.RequireParentOfItem(w.exists); err != nil {
		return nil, err
	}
	record, err := step.Path.Get(w.tx, step.ID)
	if err != nil {
		return nil, err
	}
	var input model.Input // empty for a deletion
	if step.verb == Update {
		input = step.inputs[0]
	}
	if err := w.requireOn(step.Path, step.verb, record, input); err != nil {
		return nil, err
	}
	return record, w.resources.checkCondition(w.tx, step, record)
}

// checkCondition compares the condition with the ETag that the resource has for the caller. That of an operation is for
// the schema of the server that accepted it.
func (r *Resources) checkCondition(tx *store.Tx, step decodedStep, record model.Record) error {
	if step.condition == (headers.Condition{}) {
		return nil
	}
	c := step.Path.Collection
	declaredIn := r.store.DeclaredIn(c)
	if step.schema != 0 {
		var err error
		if declaredIn, err = tx.DeclaredInOther(c, step.schema); err != nil {
			return err
		}
	}
	return step.condition.AllowsChange(r.ETag(step.Path, record.Int(c.RevisionColumn()), declaredIn))
}
