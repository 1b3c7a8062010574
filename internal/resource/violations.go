package resource

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/problem"
)

// A write with an invalid body is not executed. These checks find what the write would have
// found, so that a client gets all errors at once, and 404 before any other.

// withViolations adds the other errors of a write whose inputs are invalid. A missing resource
// or a failed precondition is returned alone: no other body could change it.
func (p *preparation) withViolations(step *decodedStep, invalid error) error {
	s, closing, err := p.snapshot()
	if err != nil {
		return err
	}
	defer closing()
	s.countPending = step.countPending
	var others problem.Errors
	if step.verb == Create || step.Range != nil {
		others, err = s.collectionViolations(step)
	} else {
		others, err = p.resources.updateViolations(s, step)
	}
	if err != nil {
		return err
	}
	all := withOthers(fault.From(invalid), others)
	if step.many {
		slices.SortStableFunc(all, func(a, b *problem.Error) int { return cmp.Compare(itemOf(a), itemOf(b)) })
	}
	return all
}

// withOthers adds errors that were found of a body which is invalid. A value that could not be decoded has no second one.
func withOthers(invalid, others problem.Errors) problem.Errors {
	all := slices.Clone(invalid)
	for _, other := range others {
		at := other.Source.Pointer
		if at == "" || !slices.ContainsFunc(invalid, func(e *problem.Error) bool {
			return e.Source.Pointer == at || strings.HasPrefix(e.Source.Pointer, at+"/")
		}) {
			all = append(all, other)
		}
	}
	return all
}

// itemOf is the position in an array that an error is about.
func itemOf(e *problem.Error) int {
	item, _, _ := e.Source.Item()
	return item
}

// collectionViolations is the errors of a write that creates, or changes a range. The resources of the range are not read:
// that can take long, and is left to findRange. So each reference counts as changed.
func (s *lookup) collectionViolations(step *decodedStep) (problem.Errors, error) {
	if err := cmp.Or(step.Path.RequireParent(s.exists), step.condition.AllowsChange("")); err != nil {
		return nil, err
	}
	found, err := s.violations(step.Path, step.newWritings())
	return fault.Joined(step.pointer, found), err
}

func (r *Resources) updateViolations(s *lookup, step *decodedStep) (problem.Errors, error) {
	if err := step.Path.RequireParentOfItem(s.exists); err != nil {
		return nil, err
	}
	c := step.Path.Collection
	before, err := s.tx.Get(c, step.Path.Scope(), step.ID)
	if err != nil {
		return nil, err
	}
	if before == nil {
		if promised, err := s.isPending(step.Path.By, c, step.ID); err != nil || promised {
			return nil, err // it does not exist yet
		}
		return nil, reads.NotFound(c, step.ID)
	}
	var input model.Input
	if len(step.inputs) > 0 {
		input = step.inputs[0]
	}
	if err := s.requireOn(step.Path, Update, before, input); err != nil {
		return nil, err
	}
	if err := r.checkCondition(s.tx, *step, before); err != nil || input.Values == nil {
		return nil, err
	}
	found, err := s.violations(step.Path, []writing{{before: loaded{record: before}, input: input, readOnly: step.readOnly}})
	return fault.Joined(nil, found), err
}

// violations reports changed attributes that the caller may not change, and references to nothing, of each resource. One
// whose input has no values could not be decoded.
func (s *lookup) violations(path reads.Path, all []writing) ([]problem.Errors, error) {
	c, count := path.Collection, len(s.creating)
	defer func() { s.creating = s.creating[:count] }()
	before, after, found := make([]model.Record, len(all)), make([]model.Record, len(all)), make([]problem.Errors, len(all))
	for i, each := range all {
		before[i] = each.before.record
		switch {
		case each.input.Values == nil:
		case before[i] != nil:
			after[i], found[i] = apply(c, before[i], each.input), append(checkUnchanged(c, each), checkVersion(path, each)...)
			if err := s.checkWriteOnce(path, before[i], after[i], &found[i]); err != nil {
				return nil, err
			}
		default:
			if after[i], found[i] = each.input.Values, checkVersion(path, each); each.input.HasID() {
				s.creating = append(s.creating, identity{c.Base(), after[i].ID(model.IDColumn)})
			}
		}
	}
	return found, s.checkReferences(path, before, after, found)
}
