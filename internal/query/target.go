package query

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
	"github.com/plural-go/plural/problem"
)

// target is what a name in a filter or a sort is about: a field of the collection or of a related one, a value inside an object, or
// a number of related resources. A condition on the field is built first; condition makes it one on the collection.
type target struct {
	name       string            // as the client wrote it: author.address.city
	collection *model.Collection // of the field
	attribute  *model.Attribute  // definition of the field; nil: it has none
	field      *model.Field      // its column is 0 where the operand is no column; nil: the operand is the relation itself
	operand    Operand
}

// use is what a name is for. It decides which names there are, and writes what is wrong with others.
type use struct {
	to, done string       // filter by, filtered by
	key      string       // what has the name: filter
	unknown  problem.Code // of a name that does not exist
	toMany   bool         // a relation to many resources leads to values, and [exists] asks whether it leads to any
	relation bool         // the name may be that of a relation
	counts   bool         // the name may be that of a number of related resources
}

var (
	forFilter = use{to: "filter by", done: "filtered by", key: "filter", unknown: problem.CodeUnknownParameter, toMany: true, counts: true}
	forSort   = use{to: "sort by", done: "sorted by", key: "sort key", unknown: problem.CodeInvalidParameter, counts: true}
	forGroup  = use{to: "group by", done: "grouped by", key: "group key", unknown: problem.CodeInvalidParameter}
)

// target finds what a name is about. Nil: that is reported.
func (p *parser) target(given parameter, name string, use use) *target {
	to := &target{name: name, collection: p.collection}
	for rest, visible := name, p.limits.Visible; ; {
		if field := visibleField(to.collection, visible, rest); field != nil {
			return to.at(field)
		}
		first, behind, dotted := strings.Cut(rest, ".")
		if !dotted && !use.relation {
			p.failField(given, to, visible, rest, use)
			return nil
		}
		if field := visibleField(to.collection, visible, first); field != nil {
			return p.targetInside(given, to.at(field), behind, use)
		}
		relation := to.collection.Relation(first)
		seen, scope, may := p.seenThrough(relation)
		switch {
		case !may && first == countName:
			return p.targetCount(given, to, behind, use)
		case !may:
			p.failField(given, to, visible, first, use)
			return nil
		case !relation.One && !use.toMany:
			p.fail(given, problem.CodeInvalidParameter, "The relation %s of %s leads to many resources, and a %s needs one value. %s", first, to.collection.Name, use.key, use.inPlaceOf(to, first))
			return nil
		}
		to.operand.Through = to.operand.Through.then(&Step{Relation: relation, Scope: scope})
		if !p.allowsSteps(given, to, use) {
			return nil
		}
		if !dotted {
			return to
		}
		to.collection, visible, rest = relation.To, seen, behind
	}
}

// inPlaceOf says what to write in place of a relation to many resources.
func (u use) inPlaceOf(to *target, relation string) string {
	if u.counts && to.operand.Through == nil {
		return "Write " + countName + "." + relation + " for their number."
	}
	return "Use fields, and relations to one resource."
}

// targetCount finds the relation whose resources are counted.
func (p *parser) targetCount(given parameter, to *target, name string, use use) *target {
	relation := p.collection.Relation(name)
	_, scope, may := p.seenThrough(relation)
	switch {
	case !use.counts:
		p.fail(given, problem.CodeInvalidParameter, "A %s cannot be a number of related resources. Write filter[%s]=1 for those that have one number, and %s another field.", use.key, countName+"."+short(name), use.to)
	case to.operand.Through != nil:
		p.fail(given, problem.CodeInvalidParameter, "Only resources that are related to one of %s itself can be counted, and %s leads to another collection first.", p.collection.Name, fault.Quote(to.name))
	case !may || relation.One:
		p.failCount(given, name, use)
	default:
		to.operand = Operand{Through: &Step{Relation: relation, Scope: scope}, Count: true, Kind: model.KindInteger}
		to.collection, to.field = relation.To, &model.Field{Name: to.name, Kind: model.KindInteger}
		if p.allowsSteps(given, to, use) {
			return to
		}
	}
	return nil
}

// failCount reports a name that is not that of a relation to many.
func (p *parser) failCount(given parameter, name string, use use) {
	hint := " It has none."
	if known := p.countNames(); len(known) > 0 {
		hint = " Use " + suggest.OneOf(known) + "."
	}
	p.fail(given, use.unknown, "The collection %s has no relation %s to many resources, which could be counted.%s", p.collection.Name, fault.Quote(name), hint)
}

// seenThrough is what the caller may see through a relation, if there is one.
func (p *parser) seenThrough(relation *model.Relation) (visible model.ColumnSet, scope Filter, may bool) {
	if relation == nil || p.limits.Related == nil {
		return nil, nil, relation != nil
	}
	return p.limits.Related(relation)
}

// relations lists the relations of a collection that exist for the caller.
func (p *parser) relations(c *model.Collection) []*model.Relation {
	return slices.DeleteFunc(slices.Clone(c.Relations()), func(relation *model.Relation) bool {
		_, _, may := p.seenThrough(relation)
		return !may
	})
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
	to.field, to.operand.Column = field, field.Column
	if to.operand.Through != nil {
		to.operand.Kind = field.Kind
	}
	if field.Column != model.NoColumn {
		to.attribute = to.collection.Columns()[field.Column].Attribute
	}
	return to
}

// allowsSteps reports whether a name may lead through the relations of a target.
func (p *parser) allowsSteps(given parameter, to *target, use use) bool {
	if p.mode == OfStream {
		p.fail(given, problem.CodeInvalidParameter, "A stream cannot be filtered through a relation: filter by the fields of %s itself.", p.collection.Name)
		return false
	}
	steps := 0
	for range to.operand.Through.all() {
		steps++
	}
	if steps > MaxSteps {
		p.fail(given, problem.CodeInvalidParameter, "A %s can lead through at most %d relations.", use.key, MaxSteps)
		return false
	}
	if related := given.name + " " + to.name; !slices.Contains(p.related, related) {
		p.related = append(p.related, related)
	}
	if len(p.related) > MaxRelated {
		p.fail(given, problem.CodeTooManyValues, "At most %d filters, sort keys and group keys through relations can be given.", MaxRelated)
		return false
	}
	return true
}

// targetInside finds a declared property of an object, at a path of names with dots between them.
func (p *parser) targetInside(given parameter, to *target, path string, use use) *target {
	field, a, declared := to.field, to.attribute, to.attribute.InVersion()
	for rest, more := path, true; more; {
		before := rest
		var name string
		name, rest, more = strings.Cut(rest, ".")
		property := declared.Property(name)
		if property == nil || !model.Addressable(name) {
			p.failProperty(given, to, declared, path, before, use)
			return nil
		}
		to.operand.Path, a, declared = append(to.operand.Path, name), a.Property(name), property
	}
	to.operand.Column, to.operand.Kind, to.attribute = field.Column, a.Kind().Inside(), a
	to.field = &model.Field{Name: to.name, Kind: a.Kind(), Column: 0}
	return to
}

// failProperty reports a property that a name cannot be about: the rest of the path does not name one of the
// object a.
func (p *parser) failProperty(given parameter, to *target, a *model.Attribute, path, rest string, use use) {
	field := to.field.Name
	for _, name := range a.PropertyNames() {
		if (rest == name || strings.HasPrefix(rest, name+".")) && !model.Addressable(name) {
			p.fail(given, use.unknown, "The property %s of the field %s cannot be %s: %s. %s another property.", fault.Quote(name), field, use.done, model.Unaddressable, strings.ToUpper(use.to[:1])+use.to[1:])
			return
		}
	}
	name, _, _ := strings.Cut(rest, ".")
	p.fail(given, use.unknown, "The field %s has no declared property %s to %s.%s",
		field, fault.Quote(path), use.to, cmp.Or(p.insideHint(to, path, use), p.hint(to.name, use), suggested(suggest.Nearest(name, addressable(a)))))
}

// hint says how to write a name that was written as elsewhere.
func (p *parser) hint(name string, use use) string {
	if use.key == forSort.key {
		return p.sortHint(name)
	}
	return ""
}

// addressable lists the properties of an object that filters can be about.
func addressable(a *model.Attribute) []string {
	return slices.DeleteFunc(a.PropertyNames(), func(name string) bool { return !model.Addressable(name) })
}

// failField reports a field that the collection of a target does not have, or a relation.
func (p *parser) failField(given parameter, to *target, visible model.ColumnSet, name string, use use) {
	known, hint := visibleNames(to.collection, visible), ""
	for _, relation := range p.relations(to.collection) {
		known = append(known, relation.Name)
		if relation.Name == name {
			hint = " It is a relation: " + use.to + " a field behind it, such as " + to.name + ".id"
			switch {
			case use.toMany:
				hint += ", or write filter[" + to.name + "][exists]=true."
				if use.counts && !relation.One && to.operand.Through == nil {
					hint += numberHint(relation)
				}
			case !relation.One:
				hint = " It is a relation to many resources. " + use.inPlaceOf(to, name)
			default:
				hint += "."
			}
		}
	}
	if hint == "" && to.operand.Through == nil {
		hint = cmp.Or(p.havingHint(to.name, use), p.countHint(to, name, use), p.relatedHint(to.name, use), p.hint(to.name, use))
	}
	if hint == "" {
		hint = cmp.Or(p.countHint(to, name, use), suggested(suggest.Nearest(name, known)))
	}
	p.fail(given, use.unknown, "The collection %s has no field %s to %s.%s", to.collection.Name, fault.Quote(name), use.to, hint)
}

// condition makes a filter on the field of a target one on the collection of the query.
func (to *target) condition(f Filter) Filter {
	if to.operand.Count {
		return OnValue{to.operand, f}
	}
	own := to.operand
	own.Through = nil
	if !own.IsColumn() {
		f = OnValue{own, f}
	}
	return to.operand.Through.through(f)
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
	case to.operand.Path != nil:
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
	case to.operand.Through != nil:
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
	if holds && to.operand.Through != nil {
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
