package rules

import (
	"slices"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
	"github.com/plural-go/plural/problem"
)

// lifecycle is the states that an attribute can have one after the other.
type lifecycle struct {
	column    int
	attribute *model.Attribute
	initial   []string
}

// lifecyclesOf lists the lifecycles of a collection.
func lifecyclesOf(c *model.Collection) (all []lifecycle) {
	for i, column := range c.Columns() {
		a := column.Attribute
		if a == nil || !a.HasLifecycle() {
			continue
		}
		all = append(all, lifecycle{column: i, attribute: a, initial: a.InitialStates()})
	}
	return all
}

// writeOnceColumns lists the columns that only a create sets.
func writeOnceColumns(c *model.Collection) (columns []int) {
	for i, column := range c.Columns() {
		if column.Attribute != nil && column.Attribute.WriteOnce {
			columns = append(columns, i)
		}
	}
	return columns
}

// Transition returns a fault for each lifecycle that does not allow the change: 409.
func (s *Set) Transition(before, after model.Record) (faults problem.Errors) {
	for _, each := range s.lifecycles {
		if refused := each.refuse(before, after); refused != nil {
			faults.Add(refused)
		}
	}
	return faults
}

// refuse returns why the change is not allowed, or nil. A resource from before the attribute was declared may have no state
// yet: its first one is an initial one, too.
func (l lifecycle) refuse(before, after model.Record) *problem.Error {
	name, to := l.attribute.Name, after[l.column].Text()
	if before == nil || before.Null(l.column) {
		if slices.Contains(l.initial, to) {
			return nil
		}
		return fault.At("/"+name, problem.CodeTransition, "A new resource cannot have the %s %s. It can have %s.", name, to, suggest.OneOf(l.initial))
	}
	from := before[l.column].Text()
	next := l.attribute.Transitions[from]
	switch {
	case from == to || slices.Contains(next, to):
		return nil
	case len(next) == 0:
		return fault.At("/"+name, problem.CodeTransition, "The %s cannot change from %s to %s. No transition leads out of %s.", name, from, to, from)
	}
	return fault.At("/"+name, problem.CodeTransition, "The %s cannot change from %s to %s. It can change to %s.", name, from, to, suggest.OneOf(next))
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
