// Package rules evaluates what a schema says of the data of a collection: computed attributes, checks,
// write-once attributes and lifecycles. Package compile compiles the rules of a collection once.
package rules

import (
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

// Set is the compiled rules of a collection.
type Set struct {
	collection *model.Collection
	lifecycles []lifecycle
	writeOnce  []int
}

// Compile compiles the rules of a collection, and sets them, if there are any.
func Compile(c *model.Collection) {
	set := &Set{collection: c, lifecycles: lifecyclesOf(c), writeOnce: writeOnceColumns(c)}
	if len(set.lifecycles)+len(set.writeOnce) > 0 {
		c.SetRules(set)
	}
}

// Change is a state of a resource that would be stored.
type Change struct {
	Before model.Record // the stored state; nil: the resource is created
	After  model.Record // the state that would be stored. Compute changes it
	// Auth is the variables of the caller, auth.Caller.Variables; nil: there is no caller.
	Auth func() map[string]any
	Now  model.Value

	// Unsettled: the stored state may change before this one is stored. Checks that read previous are left for then.
	Unsettled bool
}

// Of returns the rules of a collection; nil if it has none.
func Of(c *model.Collection) *Set {
	set, _ := c.Rules().(*Set)
	return set
}

// Reads is the columns that the rules read, and those that they set: a write needs them even if they are hidden from its
// caller.
func (s *Set) Reads() model.ColumnSet { return nil }

// Derive computes the attributes that depend on the resource alone, without auth, now and previous. The errors
// have the pointers of the attributes. Migrations and the history of a resource use it too.
func (s *Set) Derive(before, after model.Record) problem.Errors { return nil }

// Compute computes the other attributes, for a write that changes something.
func (s *Set) Compute(change Change) problem.Errors { return nil }

// Check returns a fault for each check that does not hold.
func (s *Set) Check(change Change) problem.Errors { return nil }
