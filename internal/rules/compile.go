package rules

import (
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/expression"
	"github.com/plural-go/plural/internal/model"
)

// Problem is a mistake in a rule.
type Problem struct {
	Path []string // after the name of the collection: checks, 0, rule
	expression.Problem
}

// Compile compiles the rules of a collection, whose columns are laid out. The set is nil if there are none.
func Compile(c *model.Collection) (*Set, []Problem) {
	k := &compiler{collection: c, scope: expression.Scope{Collection: c, Data: true}}
	some := len(c.Checks) > 0
	for i := range c.Attributes {
		a := &c.Attributes[i]
		some = some || a.IsComputed() || a.HasLifecycle() || a.WriteOnce
		if a.IsComputed() {
			k.compute(a, i+1)
		}
	}
	for i := range c.Checks {
		k.check(&c.Checks[i], i)
	}
	k.order()
	if !some || len(k.problems) > 0 {
		return nil, k.problems
	}
	s := &Set{collection: c, computed: k.ordered, columns: make(model.ColumnSet, len(c.Columns())), checks: k.checks, reads: make(model.ColumnSet, len(c.Columns())), lifecycles: lifecyclesOf(c), writeOnce: writeOnceColumns(c)}
	for i := range s.computed {
		s.columns[s.computed[i].Column], s.reads[s.computed[i].Column] = true, true
		s.add(s.computed[i].Reads)
	}
	for i := range s.checks {
		s.add(s.checks[i].Reads)
	}
	for i := range c.Attributes {
		s.reads[i+1] = s.reads[i+1] || c.Attributes[i].HasLifecycle() || c.Attributes[i].WriteOnce
	}
	return s, nil
}

// add adds to the columns that the rules read.
func (s *Set) add(columns model.ColumnSet) {
	for i, has := range columns {
		s.reads[i] = s.reads[i] || has
	}
}

// compiler compiles the rules of a collection.
type compiler struct {
	collection *model.Collection
	scope      expression.Scope
	computed   []Computed // in the order of the schema
	needs      [][]int    // the columns of the resource that each of them reads
	ordered    []Computed
	checks     []Check
	problems   []Problem
}

// read compiles an expression.
func (k *compiler) read(source model.Rule, result model.Kind, at ...string) (*expression.Expression, *expression.Program) {
	checked, problems := expression.Compile(source, k.scope, result)
	var program *expression.Program
	if problems == nil {
		program, problems = checked.Program()
	}
	for _, each := range problems {
		k.problems = append(k.problems, Problem{at, each})
	}
	return checked, program
}

// columns is what an expression names.
func (k *compiler) columns(e *expression.Expression) model.ColumnSet {
	set := make(model.ColumnSet, len(k.collection.Columns()))
	for _, a := range e.Attributes() {
		set[a.Column] = true
	}
	return set
}

// dependsOnWrite reports whether an expression depends on more than the resource.
func dependsOnWrite(e *expression.Expression) bool {
	return e.UsesPrevious() || e.UsesNow() || e.UsesAuth()
}

func (k *compiler) check(declared *model.Check, i int) {
	e, program := k.read(declared.Rule, model.KindBoolean, "checks", strconv.Itoa(i), "rule")
	if program != nil {
		k.checks = append(k.checks, Check{Declared: declared, Derived: !dependsOnWrite(e), Reads: k.columns(e), previous: e.UsesPrevious(), program: program})
	}
}

func (k *compiler) compute(a *model.Attribute, column int) {
	kind := k.collection.Columns()[column].Kind
	if kind == model.KindJSON {
		k.problems = append(k.problems, Problem{[]string{"attributes", a.Name, "computed"}, expression.Problem{Line: a.Computed.Line, Column: a.Computed.Column, Message: "an object or array cannot be computed"}})
		return
	}
	e, program := k.read(a.Computed, kind, "attributes", a.Name, "computed")
	if program == nil {
		return
	}
	onlyCreate := a.When == model.WhenCreate
	k.computed = append(k.computed, Computed{
		Column: column, Pure: !dependsOnWrite(e), Derived: !onlyCreate && !dependsOnWrite(e), Reads: k.columns(e),
		attribute: a, kind: kind, onlyCreate: onlyCreate, previous: e.UsesPrevious(), program: program,
	})
	var needs []int
	for _, read := range e.Attributes() {
		if !read.Previous {
			needs = append(needs, read.Column)
		}
	}
	k.needs = append(k.needs, needs)
}

// order puts the computed attributes after those that they read.
func (k *compiler) order() {
	const (
		open = iota + 1
		done
	)
	state, at := map[int]int{}, map[int]int{}
	for i := range k.computed {
		at[k.computed[i].Column] = i
	}
	var path []int
	var visit func(column int) (pure, derived bool)
	visit = func(column int) (bool, bool) {
		i, isComputed := at[column]
		switch {
		case !isComputed || state[column] == done:
			return !isComputed || k.computed[i].Pure, !isComputed || k.computed[i].Derived
		case state[column] == open:
			k.circle(path[slices.Index(path, column):])
			return true, true
		}
		state[column] = open
		path = append(path, column)
		for _, needed := range k.needs[i] {
			pure, derived := visit(needed)
			k.computed[i].Pure = k.computed[i].Pure && pure
			k.computed[i].Derived = k.computed[i].Derived && derived
			if from, isComputed := at[needed]; isComputed && k.computed[from].previous {
				k.computed[i].previous = true
			}
		}
		path = path[:len(path)-1]
		state[column] = done
		k.ordered = append(k.ordered, k.computed[i])
		return k.computed[i].Pure, k.computed[i].Derived
	}
	for i := range k.computed {
		visit(k.computed[i].Column)
	}
	for i := range k.checks {
		k.checks[i].previous = k.checks[i].previous || slices.ContainsFunc(k.computed, func(c Computed) bool { return c.previous && k.checks[i].Reads.Has(c.Column) })
	}
}

// circle reports attributes that are computed from each other.
func (k *compiler) circle(columns []int) {
	var names []string
	for _, column := range columns {
		names = append(names, k.collection.Columns()[column].Name)
	}
	first := k.collection.Declared(names[0])
	k.problems = append(k.problems, Problem{[]string{"attributes", first.Name, "computed"}, expression.Problem{
		Line: first.Computed.Line, Column: first.Computed.Column,
		Message: names[0] + " is computed from itself: " + strings.Join(append(names, names[0]), " from "),
	}})
}
