package query

import (
	"iter"
	"strings"

	"github.com/plural-go/plural/internal/model"
)

// Operand is what a filter, a sort key or a group key compares: a column, a value inside an object, either of them of a resource
// that is referred to, or the number of related resources.
type Operand struct {
	Through *Step // relations that lead to the value; nil: it is of the resource itself
	Count   bool  // the number of resources to which Through, one relation to many, leads
	Column  int
	Path    []string   // of the value in a column of objects; nil: the column itself
	Kind    model.Kind // of the value, inside objects as model.Kind.Inside; a column of the resource itself has it only in a GroupKey: see KindOn
}

// Step is a relation on the way to a value. The value is null where there is no related resource in the scope.
type Step struct {
	Relation *model.Relation
	Scope    Filter // what exists of the other collection for the caller; nil: everything
	Next     *Step  // nil: the relation leads to the collection of the value
}

// IsColumn reports whether the value is that of a column of the resource itself.
func (o Operand) IsColumn() bool { return o.Through == nil && o.Path == nil }

// Is reports whether the value is that of one column of the resource itself.
func (o Operand) Is(column int) bool { return o.IsColumn() && o.Column == column }

// ReadsRelated reports whether the value depends on other resources.
func (o Operand) ReadsRelated() bool { return o.Through != nil }

// Where is a condition on the value, which is made for the column that has it.
func (o Operand) Where(condition func(column int) Filter) Filter {
	if o.IsColumn() {
		return condition(o.Column)
	}
	return OnValue{o, condition(0)}
}

// KindOn is the kind of the value for resources of a collection.
func (o Operand) KindOn(c *model.Collection) model.Kind {
	if o.IsColumn() {
		return c.Columns()[o.Column].Kind
	}
	return o.Kind
}

// name is the operand as clients write it.
func (o Operand) name(c *model.Collection) string {
	var parts []string
	if o.Count {
		parts = append(parts, countName)
	}
	for step := range o.Through.all() {
		parts, c = append(parts, step.Relation.Name), step.Relation.To
	}
	if !o.Count {
		parts = append(append(parts, c.Columns()[o.Column].Name), o.Path...)
	}
	return strings.Join(parts, ".")
}

// all iterates over a step and those behind it.
func (s *Step) all() iter.Seq[*Step] {
	return func(yield func(*Step) bool) {
		for ; s != nil && yield(s); s = s.Next {
		}
	}
}

// then adds a relation behind the last one.
func (s *Step) then(next *Step) *Step {
	if s == nil {
		return next
	}
	return &Step{s.Relation, s.Scope, s.Next.then(next)}
}

// through makes a filter on the resources to which steps lead one on the resources that they begin at.
func (s *Step) through(f Filter) Filter {
	if s == nil {
		return f
	}
	return Through(s.Relation, s.Scope, s.Next.through(f))
}

// OnValue holds when the value of an operand passes a filter, which is on a resource with that value as its only column. A value
// that is not there is null. The operand is no column of the resource itself: see Operand.Where.
type OnValue struct {
	Operand
	Filter Filter
}

// Match looks at the value inside the column. It does not know other resources: see Resolve.
func (f OnValue) Match(r model.Record) bool {
	if f.ReadsRelated() {
		panic("query: a filter on a value of related resources cannot be decided for one resource")
	}
	return f.Filter.Match(model.Record{r[f.Column].Inside(f.Path, f.Kind)})
}
