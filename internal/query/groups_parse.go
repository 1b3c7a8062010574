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

// isGrouping reports whether a parameter says how resources are grouped.
func isGrouping(name string) bool { return name == "by" || slices.Contains(Functions, Function(name)) }

// isHaving reports whether a parameter says which groups are kept.
func isHaving(name string) bool { return name == "having" || strings.HasPrefix(name, "having[") }

func (p *parser) grouping(given parameter) {
	p.query.linkParameters = append(p.query.linkParameters, given.encoded)
	for text := range p.pieces(given.value, ",") {
		switch {
		case text == "" && given.name == "by":
			p.fail(given, problem.CodeInvalidParameter, "Must be names of fields, separated by commas: state,created_at:month. Leave it out for one group of all resources.")
		case text == "":
			p.fail(given, problem.CodeInvalidParameter, "Must be names of fields, separated by commas, such as %s=price,quantity.", given.name)
		case given.name == "by":
			p.groupKey(given, text)
		default:
			p.groupValue(given, text)
		}
	}
}

func (p *parser) groupKey(given parameter, text string) {
	by := &p.query.Groups.By
	name, unit, truncated := strings.Cut(text, ":")
	to := p.target(given, name, forGroup)
	switch {
	case to == nil:
	case to.field.Column == model.NoColumn:
		p.failConstant(given, name)
	case to.operand.Path != nil:
		p.fail(given, problem.CodeInvalidParameter, "Resources cannot be grouped by %s, which is inside an object. To group those that have one value, write filter[%s]=value. To group by all values, declare the property as an attribute of its own.", fault.Quote(name), name)
	case to.field.Kind == model.KindJSON:
		p.fail(given, problem.CodeInvalidParameter, "The field %q has objects or arrays, by which resources cannot be grouped.", name)
	case truncated && !slices.Contains(Units(to.field.Kind), Unit(unit)):
		p.fail(given, problem.CodeInvalidParameter, "%s", unitText(name, to.field.Kind, unit))
	case slices.ContainsFunc(*by, func(k GroupKey) bool { return k.Name == text }):
		p.fail(given, problem.CodeInvalidParameter, "The field %q is given twice.", text)
	case len(*by) == MaxGroupKeys:
		p.failOnce(given, "Resources can be grouped by at most %d fields.", MaxGroupKeys)
	default:
		key := GroupKey{Operand: to.operand, Name: text, Unit: Unit(unit)}
		key.Kind = to.field.Kind
		*by = append(*by, key)
	}
}

// unitText says to what a field can be truncated.
func unitText(name string, kind model.Kind, unit string) string {
	var known []string
	for _, each := range Units(kind) {
		known = append(known, name+":"+string(each))
	}
	if known == nil {
		return "The field " + fault.Quote(name) + " has " + plural(kind) + ", which cannot be truncated: write by=" + name + "."
	}
	return "There is no unit " + fault.Quote(unit) + " of " + plural(kind) + ". Write " + suggest.OneOf(known) + "."
}

func (p *parser) groupValue(given parameter, name string) {
	values, function := &p.query.Groups.Values, Function(given.name)
	field := p.groupField(given, name)
	switch {
	case field == nil:
	case field.Kind == model.KindJSON:
		p.fail(given, problem.CodeInvalidParameter, "The field %q has objects or arrays, of which the parameter %s computes nothing.", name, function)
	case !function.AppliesTo(field.Kind) && (function == Sum || function == Avg):
		p.fail(given, problem.CodeInvalidParameter, "The parameter %s is for integers, numbers and decimals, but the field %q has %s.", function, name, plural(field.Kind))
	case !function.AppliesTo(field.Kind):
		p.fail(given, problem.CodeInvalidParameter, "The parameter %s is for integers, numbers, decimals, strings, dates and date-times, but the field %q has %s.", function, name, plural(field.Kind))
	case slices.ContainsFunc(*values, func(v GroupValue) bool { return v.Function == function && v.Name == name }):
		p.fail(given, problem.CodeInvalidParameter, "The field %q is given twice.", name)
	case len(*values) == MaxGroupValues:
		p.failOnce(given, "At most %d values of groups can be asked for, by sum, avg, min, max and distinct together.", MaxGroupValues)
	default:
		*values = append(*values, GroupValue{Function: function, Name: name, Column: field.Column, Kind: field.Kind})
	}
}

// groupField finds a field that has a column, of which something is computed. Nil: that is reported.
func (p *parser) groupField(given parameter, name string) *model.Field {
	field := p.field(name)
	switch {
	case field != nil && field.Column != model.NoColumn:
		return field
	case field != nil:
		p.failConstant(given, name)
	case strings.Contains(name, "."):
		p.fail(given, problem.CodeInvalidParameter, "The parameter %s takes the fields of %s itself, and not values inside objects or of related resources.", given.name, p.collection.Name)
	default:
		p.fail(given, problem.CodeInvalidParameter, "The collection %s has no field %s.%s", p.collection.Name, fault.Quote(name), p.fieldHint(name))
	}
	return nil
}

func (p *parser) failConstant(given parameter, name string) {
	p.fail(given, problem.CodeInvalidParameter, "The field %q is the same for all resources of a collection. Leave it out.", name)
}

// countName is the name of how many resources a group has, and of how many are related to a resource before the relation: count.orders.
const countName = "count"

// groupHint says how to ask for a value that groups cannot be sorted or kept by yet.
func (p *parser) groupHint(name string) string {
	function, of, _ := strings.Cut(name, ".")
	if !slices.Contains(Functions, Function(function)) {
		return ""
	}
	if field := p.field(of); field == nil || field.Column == model.NoColumn || !Function(function).AppliesTo(field.Kind) {
		return ""
	}
	return " To ask for the value, add " + function + "=" + of + "."
}

// finishGroups reads what groups are sorted and kept by, once all that is known of them is known.
func (p *parser) finishGroups() {
	groups := p.query.Groups
	slices.SortStableFunc(groups.Values, func(a, b GroupValue) int {
		return slices.Index(Functions, a.Function) - slices.Index(Functions, b.Function)
	})
	var names []string
	for _, key := range groups.By {
		names = append(names, key.Name)
	}
	names = append(names, countName)
	for _, value := range groups.Values {
		names = append(names, value.Member())
	}
	p.sortGroups(names)
	p.keepGroups(names[groups.CountColumn():])
}

// sortGroups reads the order of groups.
func (p *parser) sortGroups(names []string) {
	groups, sorted := p.query.Groups, map[int]bool{}
	for _, given := range p.groupSorts {
		for text := range p.pieces(given.value, ",") {
			name, descending := strings.CutPrefix(text, "-")
			// The last one: a name that a key has in common with the count or a value is that of these.
			column := len(names) - 1
			for column >= 0 && names[column] != name {
				column--
			}
			switch {
			case column < 0:
				p.fail(given, problem.CodeInvalidParameter, "Groups cannot be sorted by %s, but by %s, each with a minus before it to sort downwards.%s", fault.Quote(name), suggest.OneOf(names), p.groupHint(name))
			case sorted[column]:
				p.fail(given, problem.CodeInvalidParameter, "The key %q is given twice.", name)
			default:
				groups.Sort = append(groups.Sort, GroupSort{Column: column, Descending: descending})
				sorted[column] = true
			}
		}
	}
	for column := range groups.By {
		if !sorted[column] {
			groups.Sort = append(groups.Sort, GroupSort{Column: column})
		}
	}
}

// HavingOperators lists the operators that compare with one value.
var HavingOperators = operators[:slices.Index(operators, "gte")+1]

// keepGroups reads which groups are kept, of those that have a count and values of these names.
func (p *parser) keepGroups(names []string) {
	groups, all := p.query.Groups, And{}
	for _, given := range p.having {
		name, op, hasOp := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(given.name, "having["), "]"), "][")
		switch at := slices.Index(names, name); {
		case !strings.HasPrefix(given.name, "having[") || !strings.HasSuffix(given.name, "]"):
			p.fail(given, problem.CodeUnknownParameter, "Write what keeps groups in brackets, as in having[count][gte]=2.")
		case at < 0:
			p.fail(given, problem.CodeUnknownParameter, "Groups cannot be kept by %s, but by %s.%s", fault.Quote(name), suggest.OneOf(names), p.groupHint(name))
		case hasOp && !slices.Contains(HavingOperators, op):
			p.fail(given, problem.CodeInvalidParameter, "Groups are kept by the operators %s, and not by %s.", suggest.OneOf(HavingOperators), fault.Quote(op))
		case p.filters > MaxFilters:
			p.failOnce(given, "At most %d different filters and having together can be given.", MaxFilters)
		case given.bare:
			p.fail(given, problem.CodeInvalidParameter, "The parameter needs a value: %s=…", given.name)
		default:
			kind := model.KindInteger
			if at > 0 {
				kind = groups.Values[at-1].ResultKind()
			}
			to := &target{name: name, field: &model.Field{Name: name, Kind: kind, Column: groups.CountColumn() + at}}
			if condition := p.comparison(given, to, cmp.Or(op, "eq")); condition != nil {
				all = append(all, condition)
			}
		}
	}
	if len(all) > 0 {
		groups.Having = one(all)
	}
}

// belongsToGroups reports whether groups have one resource of a relation: that to which a key refers.
func (p *parser) belongsToGroups(given parameter, relation *model.Relation) bool {
	switch {
	case !relation.One:
		p.fail(given, problem.CodeInvalidParameter, "The relation %q leads to many resources. Groups include what they are grouped by: a relation to one resource.", relation.Name)
	case IsMember(relation.Name):
		p.fail(given, problem.CodeInvalidParameter, "The relation %q cannot be included, as groups have another member of this name. Give the relation another name, by as beside references.", relation.Name)
	case !slices.ContainsFunc(p.query.Groups.By, func(k GroupKey) bool { return k.Is(relation.Column) }):
		reference := p.collection.Columns()[relation.Column].Name
		p.fail(given, problem.CodeInvalidParameter, "The relation %q is included in groups by %s: add it to by, as by=%s.", relation.Name, reference, reference)
	default:
		return true
	}
	return false
}
