package resource

import (
	"slices"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/problem"
)

// writing is one resource that is created or updated.
type writing struct {
	before   loaded // as it was read in the transaction; zero: it is created
	input    model.Input
	readOnly readOnlyValues
	inRange  bool // the resource is one of a range
	partial  bool // it is not known what it changes, and only what the input has is checked
}

// newWritings lists the inputs of a write without a state before it.
func (step *decodedStep) newWritings() []writing {
	all := make([]writing, len(step.inputs))
	for i, input := range step.inputs {
		all[i].input = input
	}
	return all
}

// verbFor is what happens to a resource. Its state before is nil if it is new.
func verbFor(before model.Record) Verb {
	if before == nil {
		return Create
	}
	return Update
}

// writeAll creates and updates resources of a path, or none of them. Pointer is the JSON Pointer of the
// attributes of each in the body; nil: all have the same.
func (w *Work) writeAll(path reads.Path, all []writing, pointer func(i int) string) ([]reads.Resource, error) {
	c, creating := path.Collection, len(w.creating)
	before, after := make([]model.Record, len(all)), make([]model.Record, len(all))
	for i, each := range all {
		if before[i] = each.before.record; before[i] != nil {
			after[i] = apply(c, before[i], each.input)
			continue
		}
		after[i] = newRecord(w.tx, c, each.input)
		w.creating = append(w.creating, identity{c.Base(), after[i].ID(model.IDColumn)})
	}
	// Once they are stored, they are found there, unless they are deleted later.
	defer func() { w.creating = w.creating[:creating] }()
	invalid := make([]problem.Errors, len(all))
	for i, each := range all {
		if before[i] != nil {
			invalid[i] = checkUnchanged(c, each)
		}
		invalid[i] = append(invalid[i], checkVersion(path, each)...)
		if len(invalid[i]) > 0 || !w.resources.hasWithin(c, verbFor(before[i])) {
			continue
		}
		if derive(c, before[i], after[i]); slices.Equal(before[i], after[i]) {
			continue
		}
		if err := w.within(verbFor(before[i]), c, before[i], after[i]); err != nil {
			return nil, fault.AtItem(pointer, i, err)
		}
	}
	given := func(i int) []bool { return all[i].input.Set }
	changes, err := w.compute(path, before, after, given, invalid)
	if err != nil {
		return nil, err
	}
	// References come before the rules, which may read what is referred to: otherwise, whoever refers to a hidden resource would be
	// told that it exists, and what the rule says of it.
	dangling := make([]problem.Errors, len(all))
	if err := w.checkReferences(path, before, after, dangling); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(dangling, func(faults problem.Errors) bool { return len(faults) > 0 }) {
		denied, err := auth.FirstDenied(c, func(i int) query.Filter { return ruleOf(path, before[i], all[i].input) }, before, after, w.tx.Find)
		switch {
		case err != nil:
			return nil, err
		case denied >= 0 && before[denied] == nil:
			return nil, fault.AtItem(pointer, denied, path.By.Denied("You may not create a resource with these values in %s.", c.Name))
		case denied >= 0:
			return nil, fault.AtItem(pointer, denied, path.By.Denied("You may not give this resource these values."))
		}
	}
	for i := range invalid {
		invalid[i] = append(invalid[i], dangling[i]...)
	}
	conflicts, err := w.refusals(path, changes, invalid)
	if err != nil {
		return nil, err
	}
	for _, found := range [][]problem.Errors{invalid, conflicts} {
		nameInDetail(all, found)
		if refused := fault.Joined(pointer, found); len(refused) > 0 {
			return nil, refused
		}
	}
	return w.storeAll(path, all, before, after, pointer)
}

// ruleOf is the filter that a resource must pass as it will be stored. Those of the state before are checked when it is read.
func ruleOf(p reads.Path, before model.Record, input model.Input) query.Filter {
	rule := p.By.Rule(verbFor(before), p.Collection)
	if before == nil {
		rule = query.Both(rule, p.By.TransitionRule(p.Collection, nil, input))
	}
	return rule
}

// storeAll stores the resources that have changed and then the new ones, or reports all their conflicts in the
// order of the resources.
func (w *Work) storeAll(path reads.Path, all []writing, before, after []model.Record, pointer func(i int) string) ([]reads.Resource, error) {
	// The memory of what will be returned is reserved before anything is stored.
	if err := w.reserveFor(path, after...); err != nil {
		return nil, err
	}
	if err := w.boundWords(path.Collection, before, after); err != nil {
		return nil, err
	}
	var created, updated []int
	for i := range all {
		if before[i] == nil {
			created = append(created, i)
		} else {
			updated = append(updated, i)
		}
	}
	results, conflicts := make([]reads.Resource, len(all)), make([]problem.Errors, len(all))
	// A caller who does not see all attributes has changed records without the hidden texts. These are read now,
	// for a part of the resources at a time, so that the memory for whole records is bounded.
	for _, part := range parts(all, updated) {
		if err := w.complete(path.Collection, all, before, after, part); err != nil {
			return nil, err
		}
		if err := w.storeUpdates(path, before, after, part, results, conflicts); err != nil {
			return nil, err
		}
		for _, i := range part {
			before[i], after[i] = nil, nil // their memory is needed for the next part
		}
	}
	if err := w.storeNew(path, after, created, results, conflicts); err != nil {
		return nil, err
	}
	return results, fault.InvalidFirst(fault.Joined(pointer, conflicts)).Err()
}

// storeUpdates stores resources that have changed, and sets the results or the conflicts of each.
func (w *Work) storeUpdates(path reads.Path, before, after []model.Record, items []int, results []reads.Resource, conflicts []problem.Errors) error {
	c := path.Collection
	var changed []int
	var from, to []model.Record
	for _, i := range items {
		if slices.Equal(before[i], after[i]) {
			results[i] = w.resources.resource(path, before[i], c.Represent(before[i]))
			continue
		}
		touch(w.tx, c, before[i], after[i])
		changed, from, to = append(changed, i), append(from, before[i]), append(to, after[i])
	}
	representations, refused, err := w.tx.UpdateAll(c, from, to)
	if err != nil {
		return err
	}
	if refused == nil {
		for k, i := range changed {
			w.scheduleAfter(Update, c, from[k], to[k])
			results[i] = w.resources.resource(path, to[k], representations[k])
		}
		return nil
	}
	var otherFrom, otherTo []model.Record
	for k, i := range changed {
		if conflicts[i] = redact(path, refused[k]); len(refused[k]) == 0 {
			otherFrom, otherTo = append(otherFrom, from[k]), append(otherTo, to[k])
		}
	}
	// The write fails. The others are stored only so that the conflicts of what follows are found.
	_, _, err = w.tx.UpdateAll(c, otherFrom, otherTo)
	return err
}

// storeNew stores new resources, and sets the results or the conflicts of each.
func (w *Work) storeNew(path reads.Path, after []model.Record, items []int, results []reads.Resource, conflicts []problem.Errors) error {
	if len(items) == 0 {
		return nil
	}
	c, records := path.Collection, make([]model.Record, len(items))
	for k, i := range items {
		records[k] = after[i]
	}
	representations, refused, err := w.tx.InsertAll(c, records)
	if err != nil {
		return err
	}
	for k, i := range items {
		if len(refused[k]) > 0 {
			conflicts[i] = redact(path, refused[k])
			continue
		}
		results[i] = w.resources.resource(path, records[k], representations[k])
		results[i].Created = true
		w.scheduleAfter(Create, c, nil, records[k])
	}
	return nil
}
