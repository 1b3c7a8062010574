package query

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/problem"
)

// groupKey names a group of conditions by its kind and number: filter[some][0]. The zero value is no group.
type groupKey struct {
	kind   string
	number int
}

// The kinds of groups.
const (
	anyGroup  = "any"  // one group must hold
	someGroup = "some" // one related resource must fulfil the group
	noneGroup = "none" // no related resource may
)

// MaxRelatedGroups is how many groups of some, and of none, there can be.
const MaxRelatedGroups = 8

// maxGroup is the highest number of the groups of a kind. There are no more groups of any than filters.
var maxGroup = map[string]int{anyGroup: MaxFilters - 1, someGroup: MaxRelatedGroups - 1, noneGroup: MaxRelatedGroups - 1}

// isRelated reports whether the conditions of a kind of groups are on related resources.
func isRelated(kind string) bool { return kind == someGroup || kind == noneGroup }

// conditions are filters of one group, all of which must hold.
type conditions struct {
	key    groupKey
	lists  []*list
	others []Filter
	of     *Step // relation to the resources that the conditions of some and none are on
}

// group finds the conditions that a filter belongs to, or adds them. Nil: there is no such group.
func (p *parser) group(given parameter, name filterName) *conditions {
	key := groupKey{kind: name.group}
	behind, _, _ := strings.Cut(name.op, "][")
	_, isKind := maxGroup[name.field]
	if _, isNumber := parseInt(behind); isKind && isNumber { // filter[any][0], or one group within another
		if key.kind != "" {
			p.fail(given, problem.CodeInvalidParameter, "Groups of filters are not within each other. Write filter[%s][%s], a field and an operator.", key.kind, short(name.number))
			return nil
		}
		p.failGroup(given, name.field, "has a field behind its number")
		return nil
	}
	if key.kind != "" {
		var err error
		key.number, err = strconv.Atoi(name.number)
		if most := maxGroup[key.kind]; err != nil || key.number < 0 || key.number > most || strconv.Itoa(key.number) != name.number {
			p.failGroup(given, key.kind, "has a number from 0 to "+strconv.Itoa(most))
			return nil
		}
	}
	return p.conditions(key)
}

// conditions are those of a group.
func (p *parser) conditions(key groupKey) *conditions {
	for _, group := range p.groups {
		if group.key == key {
			return group
		}
	}
	added := &conditions{key: key}
	p.groups = append(p.groups, added)
	return added
}

// failGroup reports a group whose name is wrong, and says how it is written.
func (p *parser) failGroup(given parameter, kind, wrong string) {
	field := "field"
	if kind != anyGroup {
		field = "relation.field"
	}
	p.fail(given, problem.CodeInvalidParameter, "A group of filters %s: filter[%s][0][%s]=value.", wrong, kind, field)
}

// within makes the target of a condition of some or none one on the resources that the group is about. False: it leads
// elsewhere, which is reported.
func (p *parser) within(given parameter, kind string, group *conditions, to *target) bool {
	if !isRelated(kind) {
		return true
	}
	step, first := to.operand.Through, ""
	if step != nil {
		first = step.Relation.Name
	}
	switch {
	case to.operand.Count:
		p.fail(given, problem.CodeInvalidParameter, "A number of related resources is one of the resource itself. Write filter[%s].", to.name)
	case step == nil:
		p.fail(given, problem.CodeInvalidParameter, "The conditions of filter[%s] are on resources that a relation leads to, such as filter[%s][0][%s]=value. Write filter[%s] for the field itself.",
			kind, kind, cmp.Or(p.manyExample(), "relation.field"), to.name)
	case step.Relation.One:
		p.fail(given, problem.CodeInvalidParameter, "The relation %s leads to one resource, and filter[%s] is for relations to several. Write filter[%s].", first, kind, to.name)
	case group.of != nil && group.of.Relation != step.Relation:
		p.fail(given, problem.CodeInvalidParameter, "The conditions with one number of filter[%s] are on resources of one relation, here of %s. Give those of %s another number.", kind, group.of.Relation.Name, first)
	case to.field == nil && step.Next == nil:
		p.fail(given, problem.CodeInvalidParameter, "A condition of filter[%s] is on a field of %s, such as filter[%s][0][%s.id], or on a relation of it. Write filter[%s][exists] for the relation itself.", kind, first, kind, first, first)
	default:
		group.of, to.operand.Through = step, step.Next
		return true
	}
	return false
}

// manyExample is a field behind a relation to several resources.
func (p *parser) manyExample() string {
	for _, relation := range p.relations(p.collection) {
		if !relation.One {
			return relation.Name + ".id"
		}
	}
	return ""
}

// finishFilters joins the conditions of all groups.
func (p *parser) finishFilters() {
	if len(p.groups) == 0 {
		return
	}
	var all And
	var any Or
	slices.SortFunc(p.groups, func(a, b *conditions) int { return a.key.compare(b.key) })
	for _, group := range p.groups {
		key, conditions := group.key, group.all()
		switch of := group.of; {
		case key.kind == "":
			all = append(all, conditions...)
		case key.kind == anyGroup:
			any = append(any, one(conditions))
		case of == nil: // its conditions are wrong
		case key.kind == someGroup:
			all = append(all, Through(of.Relation, of.Scope, one(conditions)))
		default:
			all = append(all, Not{Through(of.Relation, of.Scope, one(conditions))})
		}
	}
	if any != nil {
		all = append(all, any)
	}
	if len(all) > 0 {
		p.query.Filter = one(all)
	}
}

func (k groupKey) compare(other groupKey) int {
	return cmp.Or(cmp.Compare(k.kind, other.kind), cmp.Compare(k.number, other.number))
}

// leads is the condition that the last relation leads to a resource that the caller may see, or that it does not.
func (s *Step) leads(exists bool) Filter {
	if s.Next != nil {
		return Through(s.Relation, s.Scope, s.Next.leads(exists))
	}
	var found Filter = &Related{Relation: s.Relation, Scope: s.Scope, Filter: All}
	if s.Relation.One && s.Scope == nil { // what is referred to is there
		found = Not{IsNull{Column: s.Relation.Column}}
	}
	if exists {
		return found
	}
	return Not{found}
}

// toMany is the path to the first relation of an operand that leads to several resources; empty: none does.
func (o Operand) toMany() string {
	var path []string
	for step := range o.Through.all() {
		if path = append(path, step.Relation.Name); !step.Relation.One && !o.Count {
			return strings.Join(path, ".")
		}
	}
	return ""
}

// failNullToMany refuses to ask for null through a relation to several resources, which could mean that there is none, that one has no
// value, or that all have none.
func (p *parser) failNullToMany(given parameter, to *target) {
	many := to.operand.toMany()
	hint := "filter[" + many + "][exists]=false if there is none"
	if !strings.Contains(many, ".") {
		hint += ", or filter[some][0][" + to.name + "][null]=true if one has no value"
	}
	p.fail(given, problem.CodeInvalidParameter, "The relation %s leads to several resources, so that null has no clear meaning. Write %s.", many, hint)
}
