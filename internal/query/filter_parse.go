package query

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
	"github.com/plural-go/plural/problem"
)

// filterName is the name of a parameter that filters: filter[field], filter[field][op], or either
// after the kind and the number of a group, such as filter[any][0].
type filterName struct {
	group, number string // empty: none
	field, op     string
}

// parseFilterName splits the name of a filter.
func parseFilterName(name string) (parsed filterName, ok bool) {
	rest, ok := strings.CutPrefix(name, "filter[")
	if !ok || !strings.HasSuffix(rest, "]") {
		return filterName{}, false
	}
	parts := strings.SplitN(strings.TrimSuffix(rest, "]"), "][", 4)
	if _, isKind := maxGroup[parts[0]]; isKind && len(parts) > 2 {
		parsed.group, parsed.number, parts = parts[0], parts[1], parts[2:]
	}
	parsed.field = parts[0]
	if len(parts) > 1 {
		parsed.op = strings.Join(parts[1:], "][")
		ok = parsed.op != ""
	}
	return parsed, ok
}

// list is a condition whose values may come from several parameters of one name: filter[field], or filter[field] with in, not_in
// or has.
type list struct {
	target *target
	op     string // empty: filter[field], of which one value must match
	values []model.Value
	others Or // other alternatives of filter[field]
}

// list finds the condition that a parameter belongs to, or adds it.
func (c *conditions) list(to *target, op string) *list {
	for _, each := range c.lists {
		if each.target.name == to.name && each.op == op {
			return each
		}
	}
	added := &list{target: to, op: op}
	c.lists = append(c.lists, added)
	return added
}

// condition is the condition on the field. Nil: the values are wrong.
func (l *list) condition() Filter {
	switch l.op {
	case "has":
		return l.target.has(l.values, false)
	case "in":
		return l.target.in(l.values)
	case "not_in":
		return Not{l.target.in(l.values)}
	}
	any := l.others
	switch len(l.values) {
	case 0:
	case 1:
		any = append(any, l.target.compare(Equal, l.values[0]))
	default:
		any = append(any, l.target.in(l.values))
	}
	if len(any) == 1 {
		return any[0]
	}
	return any
}

// filter reads a parameter that filters.
func (p *parser) filter(given parameter, name filterName) {
	p.query.linkParameters = append(p.query.linkParameters, given.encoded)
	p.query.filterParameters = append(p.query.filterParameters, given.encoded)
	group := p.group(given, name)
	if group == nil {
		return
	}
	if p.filters > MaxFilters {
		p.failOnce(given, "At most %d different filters can be given. Many values of one field fit into filter[field][in].", MaxFilters)
		return
	}
	use := forFilter
	use.relation = name.op == "exists"
	to := p.target(given, name.field, use)
	switch {
	case to == nil || !p.within(given, name.group, group, to):
	case to.field == nil:
		if exists, ok := p.boolean(given); ok {
			group.others = append(group.others, to.operand.Through.leads(exists))
		}
	case name.op == "":
		p.plainFilter(group, given, to)
	case name.op == "null" && !isRelated(name.group) && given.value == "true" && to.operand.toMany() != "":
		p.failNullToMany(given, to)
	default:
		if condition := p.operatorCondition(group, given, to, name.op); condition != nil {
			group.others = append(group.others, to.condition(condition))
		}
	}
}

func (p *parser) plainFilter(group *conditions, given parameter, to *target) {
	l := group.list(to, "")
	switch {
	case to.field.Kind == model.KindBoolean && given.value == "":
		if p.countValue(given) {
			l.values = append(l.values, model.BoolValue(true))
		}
	case given.bare && to.operand.Count:
		p.failNullCount(given, to)
	case given.bare:
		if p.countValue(given) {
			l.others = append(l.others, Not{to.isNull()})
		}
	case to.field.Kind == model.KindJSON:
		p.failJSON(given, to)
	default:
		p.addToList(l, given, []string{given.value})
	}
}

// failJSON refuses to compare objects and arrays, and says what can be done with them.
func (p *parser) failJSON(given parameter, to *target) {
	p.fail(given, problem.CodeInvalidParameter, "The field %q has objects or arrays, which cannot be compared. Write %s.", to.name, strings.Join(to.alternatives(), ", or "))
}

// operators lists the operators of filter[field][operator].
var operators = []string{"eq", "ne", "lt", "lte", "gt", "gte", "in", "not_in", "contains", "starts_with", "search", "null", "has", "has_all", "exists"}

// AllOperators lists the operators of all fields.
func AllOperators() []string { return operators }

// Operators lists the operators that a field can be filtered by. Attribute is its definition, nil
// if it has none. Searched: it is declared in search or label.
func Operators(kind model.Kind, a *model.Attribute, searched bool) []string {
	switch {
	case a.ScalarItems() != nil:
		return []string{"has", "has_all", "null"}
	case kind == model.KindJSON:
		return []string{"null"}
	}
	return slices.DeleteFunc(slices.Clone(operators), func(op string) bool {
		return isHas(op) || op == "exists" || isPart(op) && kind != model.KindText || op == "search" && !searched
	})
}

func isHas(op string) bool { return op == "has" || op == "has_all" }

func isPart(op string) bool { return op == "contains" || op == "starts_with" }

// operatorCondition is the condition of an operator. Nil: it is wrong, or one of a list.
func (p *parser) operatorCondition(group *conditions, given parameter, to *target, op string) Filter {
	switch {
	case !slices.Contains(operators, op):
		p.fail(given, problem.CodeInvalidParameter, "There is no operator %s. There are eq, ne, lt, lte, gt, gte, in, not_in, contains, starts_with, search and null, has and has_all for arrays, and exists for relations.%s", fault.Quote(op), operatorHint(op))
	case given.bare:
		p.fail(given, problem.CodeInvalidParameter, "The operator %s needs a value: %s=…", op, given.name)
	case op == "null":
		return p.nullCondition(given, to)
	case op == "exists":
		instead := "[null]=true or false"
		if to.operand.Count {
			instead = "[gte]=1"
		}
		p.fail(given, problem.CodeInvalidParameter, "The operator exists is for relations, and %q is a field. Write filter[%s]%s.", to.name, to.name, instead)
	case isHas(op) && to.attribute.ScalarItems() == nil:
		p.fail(given, problem.CodeInvalidParameter, "The operator %s is for arrays whose items are declared as strings, numbers or booleans, which the field %q has not.", op, to.name)
	case op == "has":
		p.addToList(group.list(to, op), given, []string{given.value})
	case op == "has_all":
		return to.has(p.listValues(given, to, splitList(given.value)), true)
	case to.field.Kind == model.KindJSON:
		p.failJSON(given, to)
	case op == "search":
		return p.searchCondition(given, to)
	case isPart(op) && to.field.Kind != model.KindText:
		p.fail(given, problem.CodeInvalidParameter, "The operator %s is for strings, but the field %q has %s.", op, to.name, plural(to.field.Kind))
	case op == "in" || op == "not_in":
		p.addToList(group.list(to, op), given, splitList(given.value))
	case isPart(op) && !p.isShort(given, op): // which isShort has reported
	default:
		return p.comparison(given, to, op)
	}
	return nil
}

// comparison is the condition of an operator that compares the field with one value. Nil: the value is wrong.
func (p *parser) comparison(given parameter, to *target, op string) Filter {
	read := p.value
	if op == "eq" || op == "ne" {
		read = p.choice
	}
	value, ok := read(given, to, given.value)
	if !ok {
		return nil
	}
	if op == "ne" {
		return Not{to.compare(Equal, value)}
	}
	return to.compare(Op(op), value)
}

// isShort checks the length of a text to search for.
func (p *parser) isShort(given parameter, op string) bool {
	if count := utf8.RuneCountInString(given.value); count > MaxPart {
		p.fail(given, problem.CodeInvalidParameter, "The operator %s allows at most %d characters, but got %d.", op, MaxPart, count)
		return false
	}
	return op != "contains" || p.countContains(given)
}

// countContains counts the filters that look into texts, and reports whether there are not too many.
func (p *parser) countContains(given parameter) bool {
	if p.contains++; p.contains > MaxContains {
		p.fail(given, problem.CodeTooManyValues, "At most %d filters with contains or search can be given.", MaxContains)
		return false
	}
	return true
}

func (p *parser) nullCondition(given parameter, to *target) Filter {
	isNull, ok := p.boolean(given)
	switch {
	case !ok:
		return nil
	case to.operand.Count:
		p.failNullCount(given, to)
		return nil
	case isNull:
		return to.isNull()
	}
	return Not{to.isNull()}
}

// failNullCount refuses to ask whether a number of related resources is null.
func (p *parser) failNullCount(given parameter, to *target) {
	p.fail(given, problem.CodeInvalidParameter, "The number %s is never null. Compare it with another number, such as filter[%s][gte]=1.", to.name, to.name)
}

// addToList adds the values of one parameter to those of the parameters of the same name.
func (p *parser) addToList(l *list, given parameter, texts []string) {
	l.values = append(l.values, p.listValues(given, l.target, texts)...)
}

func (p *parser) listValues(given parameter, to *target, texts []string) (values []model.Value) {
	for _, text := range texts {
		if value, ok := p.choice(given, to, text); ok {
			values = append(values, value)
		} else if p.failed > problem.MaxErrors { // see pieces
			break
		}
	}
	return values
}

// splitList splits at commas; a comma after a backslash belongs to the value.
func splitList(text string) []string {
	const placeholder = "\x00" // no parameter contains it
	parts := strings.Split(strings.ReplaceAll(text, `\,`, placeholder), ",")
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], placeholder, ",")
	}
	return parts
}

// value reads a value of the field, or of its items.
func (p *parser) value(given parameter, to *target, text string) (model.Value, bool) {
	value, ok := p.parse(given, to, text)
	if !ok {
		return model.Null, false
	}
	return to.stored(value), true
}

func (p *parser) parse(given parameter, to *target, text string) (model.Value, bool) {
	if !p.countValue(given) {
		return model.Null, false
	}
	kind := to.valueKind()
	value, wrong := kind.Parse(text)
	if wrong != "" {
		p.fail(given, problem.CodeInvalidParameter, "The value %s must be %s.%s", fault.Quote(text), wrong, valueHint(kind, to.name, text))
	}
	return value, wrong == ""
}

// choice reads a value that must be one of those that the field can have, if these are known.
func (p *parser) choice(given parameter, to *target, text string) (model.Value, bool) {
	choices := p.limits.Choices[to.name]
	if choices != nil && !slices.Contains(choices, text) {
		p.failChoice(given, to, text, choices)
		return model.Null, false
	}
	value, ok := p.parse(given, to, text)
	if !ok {
		return model.Null, false
	}
	if to.attribute != nil {
		if enum := to.attribute.Constraints().Enum; len(enum) > 0 && !slices.Contains(enum, value) {
			p.failChoice(given, to, text, enumTexts(to.field.Kind, enum))
			return model.Null, false
		}
	}
	return to.stored(value), true
}

func (p *parser) failChoice(given parameter, to *target, text string, choices []string) {
	p.fail(given, problem.CodeInvalidParameter, "There is no %s %s%s. Use %s.", to.name, fault.Quote(text), suggest.DidYouMean(text, choices), suggest.OneOf(choices))
}

// enumTexts are the values of an enum as they are written in a filter.
func enumTexts(kind model.Kind, enum []model.Value) (texts []string) {
	for _, value := range enum {
		if kind == model.KindText {
			texts = append(texts, value.Text())
		} else {
			texts = append(texts, strings.Trim(string(kind.AppendValue(nil, model.Record{value}, 0)), `"`))
		}
	}
	return texts
}

// countValue counts a value of a filter, and reports whether there are not too many.
func (p *parser) countValue(given parameter) bool {
	most, hint := MaxValues, fmt.Sprintf(" A QUERY can have %d.", MaxValuesInBody)
	switch {
	case p.limits.InBody:
		most, hint = MaxValuesInBody, ""
	case p.mode.writes():
		hint = ""
	}
	if p.values++; p.values == most+1 {
		p.fail(given, problem.CodeTooManyValues, "At most %d filter values can be given.%s", most, hint)
	}
	return p.values <= most
}

func constant(holds bool) Filter {
	if holds {
		return All
	}
	return None
}

// all lists the conditions.
func (c *conditions) all() (all And) {
	for _, list := range c.lists {
		if condition := list.condition(); condition != nil {
			all = append(all, list.target.condition(condition))
		}
	}
	return append(all, c.others...)
}

// one is a junction of conditions, or the only one.
func one(all And) Filter {
	if len(all) == 1 {
		return all[0]
	}
	return all
}

var plurals = map[model.Kind]string{
	model.KindText: "strings", model.KindInteger: "integers", model.KindNumber: "numbers", model.KindBoolean: "booleans",
	model.KindUUID: "UUIDs", model.KindDate: "dates", model.KindDateTime: "date-times", model.KindJSON: "objects or arrays",
}

func plural(kind model.Kind) string {
	if kind.IsDecimal() {
		return "decimals"
	}
	return plurals[kind]
}
