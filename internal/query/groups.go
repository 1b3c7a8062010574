package query

import (
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
	"github.com/plural-go/plural/problem"
)

// GroupsType is the type of a group, as a resource.
const GroupsType = "groups"

// Groups says how resources are grouped, and what is computed of each group.
type Groups struct {
	By     []GroupKey
	Values []GroupValue
	Sort   []GroupSort // a total order of the groups
}

// Group is what is known of the resources that have the same values.
type Group struct {
	By     model.Record // of Groups.By
	Count  int64
	Values model.Record // of Groups.Values
}

// GroupKey is a field whose values make the groups.
type GroupKey struct {
	Name   string // as the client wrote it: state, created_at:month
	Column int
	Kind   model.Kind
	Unit   Unit // to which values are truncated; empty: they are not
}

// GroupValue is a value that is computed of the resources of a group. Null values do not count.
type GroupValue struct {
	Function Function
	Name     string // of the field
	Column   int
	Kind     model.Kind
}

// ResultKind is the kind of the value. An average is a number.
func (v GroupValue) ResultKind() model.Kind {
	if v.Function == Avg {
		return model.KindNumber
	}
	return v.Kind
}

// GroupSort is one key of the order of groups. Null is smallest.
type GroupSort struct {
	Key        int // index in By, or ByCount
	Descending bool
}

// ByCount is the key of groups that are sorted by how many resources they have.
const ByCount = -1

// Function computes a value of a group.
type Function string

// The functions. A Sum of no values is zero; the others of no values are null.
const (
	Sum Function = "sum"
	Avg Function = "avg"
	Min Function = "min"
	Max Function = "max"
)

// Functions lists the functions in the order in which their values are shown.
var Functions = []Function{Sum, Avg, Min, Max}

// AppliesTo reports whether a function computes a value of a field.
func (f Function) AppliesTo(kind model.Kind) bool {
	switch {
	case kind.IsDecimal() || kind == model.KindInteger || kind == model.KindNumber:
		return true
	case kind == model.KindText || kind == model.KindDate || kind == model.KindDateTime:
		return f == Min || f == Max
	}
	return false
}

// Unit is what a date or date-time is truncated to, in UTC.
type Unit string

// Units lists the units of a kind.
func Units(kind model.Kind) []Unit {
	switch kind {
	case model.KindDateTime:
		return []Unit{"year", "month", "day", "hour"}
	case model.KindDate:
		return []Unit{"year", "month"}
	}
	return nil
}

// Bounds of a query for groups.
const (
	MaxGroupKeys   = 8
	MaxGroupValues = 16 // of all functions
)

// isGrouping reports whether a parameter says how resources are grouped.
func isGrouping(name string) bool { return name == "by" || slices.Contains(Functions, Function(name)) }

func (p *parser) grouping(given parameter) {
	p.query.linkParameters = append(p.query.linkParameters, given.encoded)
	for text := range strings.SplitSeq(given.value, ",") {
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
	field := p.groupField(given, name)
	switch {
	case field == nil:
	case field.Kind == model.KindJSON:
		p.fail(given, problem.CodeInvalidParameter, "The field %q has objects or arrays, by which resources cannot be grouped.", name)
	case truncated && !slices.Contains(Units(field.Kind), Unit(unit)):
		p.fail(given, problem.CodeInvalidParameter, "%s", unitText(field, unit))
	case slices.ContainsFunc(*by, func(k GroupKey) bool { return k.Name == text }):
		p.fail(given, problem.CodeInvalidParameter, "The field %q is given twice.", text)
	case len(*by) == MaxGroupKeys:
		p.failOnce(given, "Resources can be grouped by at most %d fields.", MaxGroupKeys)
	default:
		*by = append(*by, GroupKey{Name: text, Column: field.Column, Kind: field.Kind, Unit: Unit(unit)})
	}
}

// unitText says to what a field can be truncated.
func unitText(field *model.Field, unit string) string {
	var known []string
	for _, each := range Units(field.Kind) {
		known = append(known, field.Name+":"+string(each))
	}
	if known == nil {
		return "The field " + fault.Quote(field.Name) + " has " + plural(field.Kind) + ", which cannot be truncated: write by=" + field.Name + "."
	}
	return "There is no unit " + fault.Quote(unit) + " of " + plural(field.Kind) + ". Write " + suggest.OneOf(known) + "."
}

func (p *parser) groupValue(given parameter, name string) {
	values, function := &p.query.Groups.Values, Function(given.name)
	field := p.groupField(given, name)
	switch {
	case field == nil:
	case !function.AppliesTo(field.Kind) && (function == Sum || function == Avg):
		p.fail(given, problem.CodeInvalidParameter, "The parameter %s is for integers, numbers and decimals, but the field %q has %s.", function, name, plural(field.Kind))
	case !function.AppliesTo(field.Kind):
		p.fail(given, problem.CodeInvalidParameter, "The parameter %s is for integers, numbers, decimals, strings, dates and date-times, but the field %q has %s.", function, name, plural(field.Kind))
	case slices.ContainsFunc(*values, func(v GroupValue) bool { return v.Function == function && v.Name == name }):
		p.fail(given, problem.CodeInvalidParameter, "The field %q is given twice.", name)
	case len(*values) == MaxGroupValues:
		p.failOnce(given, "At most %d values of groups can be asked for, by sum, avg, min and max together.", MaxGroupValues)
	default:
		*values = append(*values, GroupValue{Function: function, Name: name, Column: field.Column, Kind: field.Kind})
	}
}

// groupField finds a field that has a column. Nil: that is reported.
func (p *parser) groupField(given parameter, name string) *model.Field {
	field := p.field(name)
	switch {
	case field != nil && field.Column != model.NoColumn:
		return field
	case field != nil:
		p.fail(given, problem.CodeInvalidParameter, "The field %q is the same for all resources of a collection. Leave it out.", name)
	case strings.Contains(name, "."):
		p.fail(given, problem.CodeInvalidParameter, "The parameter %s takes the fields of %s itself, and not values inside objects or of related resources.%s", given.name, p.collection.Name, p.dottedHint(given.name, name))
	default:
		p.fail(given, problem.CodeInvalidParameter, "The collection %s has no field %s.%s", p.collection.Name, fault.Quote(name), p.fieldHint(name))
	}
	return nil
}

// dottedHint says what to write in place of a field of a related resource, or of a property of an object.
func (p *parser) dottedHint(parameter, name string) string {
	first, _, _ := strings.Cut(name, ".")
	if field := p.field(first); field != nil && field.Kind == model.KindJSON && len(name) <= maxShown {
		return " To group the resources that have one value, write filter[" + name + "]=value. To group by all values, declare the property as an attribute of its own."
	}
	relation := p.collection.Relation(first)
	if _, _, may := p.seenThrough(relation); !may || !relation.One || parameter != "by" {
		return ""
	}
	return " Write by=" + p.collection.Columns()[relation.Column].Name + "."
}

// countName sorts groups by how many resources they have.
const countName = "count"

// sortGroups reads the order of groups, once all fields by which they are made are known.
func (p *parser) sortGroups() {
	groups := p.query.Groups
	slices.SortStableFunc(groups.Values, func(a, b GroupValue) int {
		return slices.Index(Functions, a.Function) - slices.Index(Functions, b.Function)
	})
	known := []string{countName}
	for _, key := range groups.By {
		known = append(known, key.Name)
	}
	sorted := map[int]bool{}
	for _, given := range p.groupSorts {
		for text := range strings.SplitSeq(given.value, ",") {
			name, descending := strings.CutPrefix(text, "-")
			key := slices.Index(known, name) - 1 // ByCount is -1
			switch {
			case key < ByCount:
				p.fail(given, problem.CodeInvalidParameter, "Groups cannot be sorted by %s, but by %s, each with a minus before it to sort downwards.", fault.Quote(name), suggest.OneOf(known))
			case sorted[key]:
				p.fail(given, problem.CodeInvalidParameter, "The key %q is given twice.", name)
			default:
				groups.Sort = append(groups.Sort, GroupSort{Key: key, Descending: descending})
			}
			sorted[key] = true
		}
	}
	for key := range groups.By {
		if !sorted[key] {
			groups.Sort = append(groups.Sort, GroupSort{Key: key})
		}
	}
}
