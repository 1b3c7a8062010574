// Package rules evaluates what a schema says of the data of a collection: computed attributes, checks,
// write-once attributes and lifecycles. Package compile calls Compile once for each collection.
package rules

import (
	"errors"
	"slices"

	"github.com/plural-go/plural/internal/expression"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

// Set is the compiled rules of a collection.
type Set struct {
	collection *model.Collection
	computed   []Computed      // each after those that it reads
	columns    model.ColumnSet // of the computed attributes
	checks     []Check
	reads      model.ColumnSet
	lifecycles []int // columns
	writeOnce  []int // columns
}

// Computed is a computed attribute.
type Computed struct {
	Column int
	// Pure: it depends on the resource alone, as it is or as it was created. The others depend on auth, now or previous,
	// directly or through another computed attribute.
	Pure bool
	// Reads is the columns that the expression names, also after previous.
	Reads model.ColumnSet

	derived    bool // it is pure, and neither it nor what it reads is computed by the create only
	attribute  *model.Attribute
	kind       model.Kind
	onlyCreate bool
	previous   bool // it depends on previous, directly or through another computed attribute
	program    *expression.Program
}

// Check is a rule that every state of a resource must meet.
type Check struct {
	Declared *model.Check
	// Pure: it depends on the resource alone, without auth, now and previous.
	Pure bool
	// Reads is the columns that the rule names, also after previous.
	Reads model.ColumnSet

	previous bool // it depends on previous, directly or through a computed attribute
	program  *expression.Program
}

// Change is a state of a resource that would be stored.
type Change struct {
	Before model.Record // the stored state; nil: the resource is created
	After  model.Record // the state that would be stored. Compute changes it
	// Auth is the variables of the caller, auth.Caller.Variables; nil: there is no caller.
	Auth func() map[string]any
	Now  model.Value
	// Given has the columns that an import brings. Attributes that only a write can compute keep these values; nil: none.
	Given []bool

	// Unsettled: Before may change until the change is stored. Nothing is refused that depends on previous.
	Unsettled bool
}

func (c *Change) state() *expression.State {
	return &expression.State{Before: c.Before, After: c.After, Auth: c.Auth, Now: c.Now}
}

// Of returns the rules of a collection; nil if it has none.
func Of(c *model.Collection) *Set {
	set, _ := c.Rules().(*Set)
	return set
}

// Under is the same rules with the names that the collection has in a version of the interface.
func (s *Set) Under(c *model.Collection) any {
	named := *s
	named.collection, named.computed, named.checks = c, slices.Clone(s.computed), slices.Clone(s.checks)
	for i := range named.computed {
		named.computed[i].attribute = c.Columns()[named.computed[i].Column].Attribute
	}
	for i := range named.checks {
		named.checks[i].Declared = &c.Checks[i]
	}
	return &named
}

// Reads is the columns that the rules read, and those that they set: a write needs them even if they are hidden from its
// caller.
func (s *Set) Reads() model.ColumnSet { return s.reads }

// ComputedColumns is the columns of the computed attributes.
func (s *Set) ComputedColumns() model.ColumnSet { return s.columns }

// Computed lists the computed attributes, each after those that it reads. A nil set has none.
func (s *Set) Computed() []Computed {
	if s == nil {
		return nil
	}
	return s.computed
}

// Checks lists the checks in the order of the schema. A nil set has none.
func (s *Set) Checks() []Check {
	if s == nil {
		return nil
	}
	return s.checks
}

// Derive computes the attributes that depend on the resource alone, without auth, now and previous. The others get
// their values before, if there are any. The errors have the pointers of the attributes.
func (s *Set) Derive(before, after model.Record) (faults problem.Errors) {
	state := &expression.State{Before: before, After: after}
	for i := range s.computed {
		switch c := &s.computed[i]; {
		case c.derived:
			add(&faults, c.compute(state))
		case before != nil:
			after[c.Column] = before[c.Column]
		}
	}
	return faults
}

// Compute computes the other attributes, for a write that changes something.
func (s *Set) Compute(change Change) (faults problem.Errors) {
	state := change.state()
	for i := range s.computed {
		c := &s.computed[i]
		isGiven := !c.Pure && change.Given != nil && change.Given[c.Column]
		if c.derived || isGiven || change.Before != nil && c.onlyCreate {
			continue
		}
		if wrong := c.compute(state); !change.Unsettled || !c.previous {
			add(&faults, wrong)
		}
	}
	return faults
}

// add adds a fault, if there is one.
func add(faults *problem.Errors, fault *problem.Error) {
	if fault != nil {
		faults.Add(fault)
	}
}

// compute sets the attribute. If there is no valid value, it becomes null.
func (c *Computed) compute(state *expression.State) *problem.Error {
	state.After[c.Column] = model.Null
	var buffer [64]byte
	text, err := c.program.AppendJSON(buffer[:0], c.kind, state)
	if err != nil {
		return &problem.Error{Code: problem.CodeOutOfRange, Detail: "The value cannot be computed from these values.", Source: problem.Source{Pointer: "/" + c.attribute.Name}, Cause: err}
	}
	value, err := c.attribute.DecodeJSON(text)
	if err != nil {
		invalid := *fault.From(err)[0]
		invalid.Source.Pointer = "/" + c.attribute.Name
		return &invalid
	}
	state.After[c.Column] = value
	return nil
}

// Check returns a fault for each check that does not hold.
func (s *Set) Check(change Change) (faults problem.Errors) {
	state := change.state()
	for i := range s.checks {
		if !change.Unsettled || !s.checks[i].previous {
			add(&faults, s.checks[i].evaluate(state))
		}
	}
	return faults
}

// Concerns reports whether computed attributes or checks must be evaluated if only a column changes.
func (s *Set) Concerns(column int) bool {
	return slices.ContainsFunc(s.computed, func(c Computed) bool { return !c.onlyCreate && (!c.derived || c.Reads.Has(column)) }) ||
		slices.ContainsFunc(s.checks, func(c Check) bool { return !c.Pure || c.Reads.Has(column) })
}

// Evaluate returns a fault if a check does not hold.
func (c *Check) Evaluate(change Change) *problem.Error { return c.evaluate(change.state()) }

func (c *Check) evaluate(state *expression.State) *problem.Error {
	holds, err := c.program.Holds(state)
	if holds || errors.Is(err, expression.ErrUndecided) {
		return nil
	}
	failed := fault.New(problem.CodeCheck, "%s", c.Declared.Message)
	if c.Declared.Attribute != "" {
		failed.Source.Pointer = "/" + c.Declared.Attribute
	}
	failed.Cause = err // for the log: the detail would tell callers of values that they may not see
	return failed
}
