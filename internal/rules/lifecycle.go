package rules

import (
	"slices"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
	"github.com/plural-go/plural/problem"
)

// Transition returns a fault for each lifecycle that does not allow the change: 409.
func (s *Set) Transition(before, after model.Record) (faults problem.Errors) {
	for _, column := range s.lifecycles {
		add(&faults, refuseState(s.collection.Columns()[column].Attribute, column, before, after))
	}
	return faults
}

// refuseState returns why a lifecycle does not allow the change, or nil.
func refuseState(a *model.Attribute, column int, before, after model.Record) *problem.Error {
	to := after[column].Text()
	if before == nil {
		if initial := a.InitialStates(); !slices.Contains(initial, to) {
			return fault.At("/"+a.Name, problem.CodeTransition, "A new resource cannot have the %s %s. It can have %s.", a.Name, to, suggest.OneOf(initial))
		}
		return nil
	}
	from := before[column].Text()
	next := a.Transitions[from]
	switch {
	case from == to || slices.Contains(next, to):
		return nil
	case len(next) == 0:
		return fault.At("/"+a.Name, problem.CodeTransition, "The %s cannot change from %s to %s. No transition leads out of %s.", a.Name, from, to, from)
	}
	return fault.At("/"+a.Name, problem.CodeTransition, "The %s cannot change from %s to %s. It can change to %s.", a.Name, from, to, suggest.OneOf(next))
}

// WriteOnce returns a fault for each write-once attribute that the change would give another value: 422. A create sets them.
func (s *Set) WriteOnce(before, after model.Record) (faults problem.Errors) {
	if before == nil {
		return nil
	}
	for _, column := range s.writeOnce {
		if before[column] != after[column] {
			name := s.collection.Columns()[column].Name
			faults.Add(fault.At("/"+name, problem.CodeReadOnly, "%s is set when the resource is created, and does not change after that. Send the value that it has.", name))
		}
	}
	return faults
}
