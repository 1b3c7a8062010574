package rules

import (
	"github.com/plural-go/plural/internal/expression"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

// Migrations and the history evaluate the rules that depend on the resource alone for states that are stored.

// ComputedAt is the computed attribute of a column, nil if there is none.
func (s *Set) ComputedAt(column int) *Computed {
	all := s.Computed()
	for i := range all {
		if all[i].Column == column {
			return &all[i]
		}
	}
	return nil
}

// IsPure reports whether a column is computed from the resource alone.
func (s *Set) IsPure(column int) bool {
	c := s.ComputedAt(column)
	return c != nil && c.Pure
}

// Fill computes some of the pure attributes of a stored state, those with when: create as well. The errors have the pointers of
// the attributes.
func (s *Set) Fill(record model.Record, some func(column int) bool) (faults problem.Errors) {
	var state *expression.State
	for i := range s.Computed() {
		if c := &s.computed[i]; c.Pure && some(c.Column) {
			if state == nil {
				state = &expression.State{After: record}
			}
			add(&faults, c.compute(state))
		}
	}
	return faults
}

// Unrepeatable lists the attributes that only the write could compute, so that an import may keep them.
func (s *Set) Unrepeatable() (names []string) {
	for _, c := range s.Computed() {
		if !c.Pure {
			names = append(names, c.attribute.Name)
		}
	}
	return names
}
