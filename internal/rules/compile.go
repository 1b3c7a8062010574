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
	s := &Set{collection: c, columns: make(model.ColumnSet, len(c.Columns())), reads: make(model.ColumnSet, len(c.Columns()))}
	k := &compiler{collection: c, scope: expression.Scope{Collection: c, Data: true}}
	for i := range c.Attributes {
		a, column := &c.Attributes[i], i+1
		if a.IsComputed() {
			k.compute(a, column)
		}
		if a.HasLifecycle() {
			s.lifecycles = append(s.lifecycles, column)
		}
		if a.WriteOnce {
			s.writeOnce = append(s.writeOnce, column)
		}
		s.columns[column] = a.IsComputed()
		s.reads[column] = a.IsComputed() || a.HasLifecycle() || a.WriteOnce
	}
	for i := range c.Checks {
		k.check(&c.Checks[i], i)
	}
	k.order()
	s.computed, s.checks = k.ordered, k.checks
	if len(k.problems) > 0 || len(s.computed)+len(s.checks)+len(s.lifecycles)+len(s.writeOnce) == 0 {
		return nil, k.problems
	}
	for i := range s.computed {
		s.reads.Add(s.computed[i].Reads)
	}
	for i := range s.checks {
		s.reads.Add(s.checks[i].Reads)
	}
	return s, nil
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

func (k *compiler) check(declared *model.Check, i int) {
	e, program := k.read(declared.Rule, model.KindBoolean, "checks", strconv.Itoa(i), "rule")
	if program != nil {
		k.checks = append(k.checks, Check{Declared: declared, Pure: !e.DependsOnWrite(), Reads: k.columns(e), previous: e.UsesPrevious(), program: program})
	}
}

func (k *compiler) compute(a *model.Attribute, column int) {
	kind := k.collection.Columns()[column].Kind
	if kind == model.KindJSON {
		k.refuse(a, "an object or array cannot be computed")
		return
	}
	e, program := k.read(a.Computed, kind, "attributes", a.Name, "computed")
	if program == nil {
		return
	}
	onlyCreate := a.When == model.WhenCreate
	k.computed = append(k.computed, Computed{
		Column: column, Pure: !e.DependsOnWrite(), derived: !onlyCreate && !e.DependsOnWrite(), Reads: k.columns(e),
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
	var visit func(column int)
	visit = func(column int) {
		i, isComputed := at[column]
		switch {
		case !isComputed || state[column] == done:
			return
		case state[column] == open:
			k.circle(path[slices.Index(path, column):])
			return
		}
		state[column] = open
		path = append(path, column)
		own := &k.computed[i]
		for _, needed := range k.needs[i] {
			visit(needed)
			if from, isComputed := at[needed]; isComputed {
				read := k.computed[from]
				own.Pure, own.derived, own.previous = own.Pure && read.Pure, own.derived && read.derived, own.previous || read.previous
			}
		}
		path = path[:len(path)-1]
		state[column] = done
		k.ordered = append(k.ordered, *own)
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
	k.refuse(first, names[0]+" is computed from itself: "+strings.Join(append(names, names[0]), " from "))
}

// refuse reports an attribute that cannot be computed.
func (k *compiler) refuse(a *model.Attribute, message string) {
	wrong := expression.Problem{Message: message}
	wrong.Line, wrong.Column = a.Computed.At(1, 0)
	k.problems = append(k.problems, Problem{[]string{"attributes", a.Name, "computed"}, wrong})
}
