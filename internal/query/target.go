package query

import (
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
	"github.com/plural-go/plural/problem"
)

// target is what a filter is about: a field of the collection, or of a related one, or a value inside
// an object. A condition on the field is built first; condition makes it one on the collection.
type target struct {
	name       string            // as the client wrote it: author.address.city
	steps      []step            // relations that lead to the collection of the field
	collection *model.Collection // of the field
	attribute  *model.Attribute  // definition of the field; nil: it has none
	field      *model.Field      // nil: the last relation itself
	inside     *Inside           // where the value is, without a filter; nil: in the column of the field
}

// step is a relation in the name of a filter.
type step struct {
	relation *model.Relation
	scope    Filter // of the caller on the other collection
}

// filterTarget finds what a filter is about by its name. It is a field, unless the name may be that of a relation. Nil: that is
// reported.
func (p *parser) filterTarget(given parameter, name string, mayLead bool) *target {
	if p.filters > MaxFilters {
		p.failOnce(given, "At most %d different filters can be given. Many values of one field fit into filter[field][in].", MaxFilters)
		return nil
	}
	to := &target{name: name, collection: p.collection}
	for rest, visible := name, p.limits.Visible; ; {
		if field := visibleField(to.collection, visible, rest); field != nil {
			return to.at(field)
		}
		first, behind, dotted := strings.Cut(rest, ".")
		if !dotted && !mayLead {
			p.failField(given, to, visible, rest)
			return nil
		}
		if field := visibleField(to.collection, visible, first); field != nil {
			return p.targetInside(given, to.at(field), behind)
		}
		relation := to.collection.Relation(first)
		seen, scope, may := p.seenThrough(relation)
		if !may {
			p.failField(given, to, visible, first)
			return nil
		}
		to.steps = append(to.steps, step{relation, scope})
		if !p.allowsSteps(given, to) {
			return nil
		}
		if !dotted {
			return to
		}
		to.collection, visible, rest = relation.To, seen, behind
	}
}

// seenThrough is what the caller may see through a relation, if there is one.
func (p *parser) seenThrough(relation *model.Relation) (visible model.ColumnSet, scope Filter, may bool) {
	if relation == nil || p.limits.Related == nil {
		return nil, nil, relation != nil
	}
	return p.limits.Related(relation)
}

func visibleField(c *model.Collection, visible model.ColumnSet, name string) *model.Field {
	if field := c.Field(name); field != nil && visible.Has(field.Column) {
		return field
	}
	return nil
}

// visibleNames lists the fields of a collection that have a column and that a caller may see.
func visibleNames(c *model.Collection, visible model.ColumnSet) (names []string) {
	for _, column := range c.Columns() {
		if visibleField(c, visible, column.Name) != nil {
			names = append(names, column.Name)
		}
	}
	return names
}

func (to *target) at(field *model.Field) *target {
	to.field = field
	if field.Column != model.NoColumn {
		to.attribute = to.collection.Columns()[field.Column].Attribute
	}
	return to
}

// allowsSteps reports whether a filter may lead through the relations of a target.
func (p *parser) allowsSteps(given parameter, to *target) bool {
	if p.mode == OfStream {
		p.fail(given, problem.CodeInvalidParameter, "A stream cannot be filtered through a relation: filter by the fields of %s itself.", p.collection.Name)
		return false
	}
	if len(to.steps) > MaxSteps {
		p.fail(given, problem.CodeInvalidParameter, "A filter can lead through at most %d relations.", MaxSteps)
		return false
	}
	if !slices.Contains(p.related, given.name) {
		p.related = append(p.related, given.name)
	}
	if len(p.related) > MaxRelated {
		p.fail(given, problem.CodeTooManyValues, "At most %d filters through relations can be given.", MaxRelated)
		return false
	}
	return true
}

// targetInside finds a declared property of an object, at a path of names with dots between them.
func (p *parser) targetInside(given parameter, to *target, path string) *target {
	field, inside, a := to.field, &Inside{Column: to.field.Column}, to.attribute
	for rest, more := path, true; more; {
		before := rest
		var name string
		name, rest, more = strings.Cut(rest, ".")
		property := a.Property(name)
		if property == nil || !model.Addressable(name) {
			p.failProperty(given, field, a, path, before)
			return nil
		}
		inside.Path, a = append(inside.Path, name), property
	}
	inside.Kind = a.Kind().Inside()
	to.inside, to.attribute = inside, a
	to.field = &model.Field{Name: to.name, Kind: a.Kind(), Column: 0}
	return to
}

// failProperty reports a property that a filter cannot be about: the rest of the path does not name one of the
// object a.
func (p *parser) failProperty(given parameter, field *model.Field, a *model.Attribute, path, rest string) {
	for _, name := range a.PropertyNames() {
		if (rest == name || strings.HasPrefix(rest, name+".")) && !model.Addressable(name) {
			p.fail(given, problem.CodeUnknownParameter, "The property %s of the field %s cannot be filtered by: %s. Filter by another property.", fault.Quote(name), field.Name, model.Unaddressable)
			return
		}
	}
	name, _, _ := strings.Cut(rest, ".")
	p.fail(given, problem.CodeUnknownParameter, "The field %s has no declared property %s to filter by.%s",
		field.Name, fault.Quote(path), suggested(suggest.Nearest(name, addressable(a))))
}

// addressable lists the properties of an object that filters can be about.
func addressable(a *model.Attribute) []string {
	return slices.DeleteFunc(a.PropertyNames(), func(name string) bool { return !model.Addressable(name) })
}

// failField reports a field that the collection of a target does not have, or a relation.
func (p *parser) failField(given parameter, to *target, visible model.ColumnSet, name string) {
	known, hint := visibleNames(to.collection, visible), ""
	for _, relation := range to.collection.Relations() {
		if _, _, may := p.seenThrough(relation); !may {
			continue
		}
		known = append(known, relation.Name)
		if relation.Name == name {
			hint = " It is a relation: filter by a field behind it, such as " + to.name + ".id, or write filter[" + to.name + "][exists]=true."
		}
	}
	if hint == "" {
		hint = suggested(suggest.Nearest(name, known))
	}
	p.fail(given, problem.CodeUnknownParameter, "The collection %s has no field %s to filter by.%s", to.collection.Name, fault.Quote(name), hint)
}

// condition makes a filter on the field of a target one on the collection of the query.
func (to *target) condition(f Filter) Filter {
	if to.inside != nil {
		inside := *to.inside
		inside.Filter = f
		f = inside
	}
	for _, each := range slices.Backward(to.steps) {
		f = Through(each.relation, each.scope, f)
	}
	return f
}

// valueKind is the kind of values that the field is compared with: for an array, those of its items.
func (to *target) valueKind() model.Kind {
	if items := to.attribute.ScalarItems(); items != nil {
		return items.Kind()
	}
	return to.field.Kind
}

// stored is a value as it is where the field is.
func (to *target) stored(value model.Value) model.Value {
	switch items := to.attribute.ScalarItems(); {
	case items != nil:
		return items.Kind().ToItem(value)
	case to.inside != nil:
		return to.field.Kind.ToInside(value)
	}
	return value
}

// compare, in and isNull also filter by type, which has no column, as it is the same for every
// resource of the collection.
func (to *target) compare(op Op, value model.Value) Filter {
	if to.field.Column == model.NoColumn {
		return to.constant(op.holds(model.TextValue(to.collection.Name), value))
	}
	return Compare{Column: to.field.Column, Op: op, Value: value}
}

func (to *target) in(values []model.Value) Filter {
	if to.field.Column == model.NoColumn {
		return to.constant(slices.Contains(values, model.TextValue(to.collection.Name)))
	}
	return In{Column: to.field.Column, Values: values}
}

func (to *target) isNull() Filter {
	switch {
	case to.field.Column != model.NoColumn:
		return IsNull{Column: to.field.Column}
	case len(to.steps) > 0:
		return IsNull{Column: model.IDColumn}
	}
	return None
}

// has is the condition on the items of an array. Nil: the values are wrong.
func (to *target) has(values []model.Value, all bool) Filter {
	var different []model.Value
	for _, value := range values {
		if !slices.Contains(different, value) {
			different = append(different, value)
		}
	}
	if len(different) == 0 {
		return nil
	}
	return Has{Column: to.field.Column, Kind: to.valueKind().Item(), Values: different, All: all}
}

// constant is a condition that is the same for all resources that exist. One that is not there has
// no type.
func (to *target) constant(holds bool) Filter {
	if holds && len(to.steps) > 0 {
		return Not{IsNull{Column: model.IDColumn}}
	}
	return constant(holds)
}

// alternatives lists the filters that there are for a field of objects or arrays.
func (to *target) alternatives() []string {
	var all []string
	if to.attribute.ScalarItems() != nil {
		all = append(all, "filter["+to.name+"][has]=value")
	}
	if names := addressable(to.attribute); len(names) > 0 {
		all = append(all, "filter["+to.name+"."+names[0]+"]=value")
	}
	return append(all, "filter["+to.name+"][null]=true")
}
