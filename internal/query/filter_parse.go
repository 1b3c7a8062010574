package query

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
	"github.com/plural-go/plural/problem"
)

// filterName splits filter[field] and filter[field][op].
func filterName(name string) (field, op string, ok bool) {
	rest, ok := strings.CutPrefix(name, "filter[")
	if !ok || !strings.HasSuffix(rest, "]") {
		return "", "", false
	}
	field, op, hasOp := strings.Cut(strings.TrimSuffix(rest, "]"), "][")
	if hasOp && op == "" {
		return "", "", false
	}
	return field, op, true
}

// plainFilter is filter[field], given once or more: one of its values must match.
type plainFilter struct {
	field  *model.Field
	values []model.Value // any of these, or
	others Or            // any of these
}

func (f plainFilter) filter() Filter {
	switch {
	case len(f.values) == 0:
	case len(f.values) == 1:
		f.others = append(f.others, Compare{Column: f.field.Column, Op: Equal, Value: f.values[0]})
	default:
		f.others = append(f.others, In{Column: f.field.Column, Values: f.values})
	}
	if len(f.others) == 1 {
		return f.others[0]
	}
	return f.others
}

func (p *parser) filterField(given parameter, name string) *model.Field {
	p.query.linkParameters = append(p.query.linkParameters, given.encoded)
	p.query.filterParameters = append(p.query.filterParameters, given.encoded)
	if p.filters > MaxFilters {
		if !p.tooManyFilters {
			p.fail(given, problem.CodeTooManyValues, "At most %d different filters can be given. Many values of one field fit into filter[field][in].", MaxFilters)
		}
		p.tooManyFilters = true
		return nil
	}
	field := p.field(name)
	if field == nil {
		p.fail(given, problem.CodeUnknownParameter, "The collection %s has no field %s to filter by.%s", p.collection.Name, fault.Quote(name), p.fieldHint(name))
	}
	return field
}

func (p *parser) plainFilter(given parameter, name string) {
	field := p.filterField(given, name)
	if field == nil {
		return
	}
	at := slices.IndexFunc(p.plain, func(f plainFilter) bool { return f.field == field })
	if at < 0 {
		at = len(p.plain)
		p.plain = append(p.plain, plainFilter{field: field})
	}
	p.addPlain(&p.plain[at], given)
}

func (p *parser) addPlain(f *plainFilter, given parameter) {
	field := f.field
	switch {
	case field.Kind == model.KindBoolean && given.value == "":
		if p.countValue(given) {
			f.values = append(f.values, model.BoolValue(true))
		}
	case given.bare:
		if p.countValue(given) {
			f.others = append(f.others, Not{p.isNull(field)})
		}
	case field.Kind == model.KindJSON:
		p.failJSON(given, field)
	default:
		value, ok := p.choice(given, field, given.value)
		switch {
		case !ok:
		case field.Column == model.NoColumn:
			f.others = append(f.others, p.compare(field, Equal, value))
		default:
			f.values = append(f.values, value)
		}
	}
}

func (p *parser) failJSON(given parameter, field *model.Field) {
	p.fail(given, problem.CodeInvalidParameter, "The field %q has objects or arrays, which can only be filtered by filter[%s][null].", field.Name, field.Name)
}

func (p *parser) operatorFilter(given parameter, name, op string) {
	field := p.filterField(given, name)
	if field == nil {
		return
	}
	condition := p.operatorCondition(given, field, op)
	if condition != nil {
		p.conditions = append(p.conditions, condition)
	}
}

// operators lists the operators of filter[field][operator].
var operators = []string{"eq", "ne", "lt", "lte", "gt", "gte", "in", "not_in", "contains", "starts_with", "null"}

// Operators lists the operators that fields of a kind can be filtered by.
func Operators(kind model.Kind) []string {
	switch kind {
	case model.KindText:
		return operators
	case model.KindJSON:
		return []string{"null"}
	}
	return slices.DeleteFunc(slices.Clone(operators), func(op string) bool { return op == "contains" || op == "starts_with" })
}

func (p *parser) operatorCondition(given parameter, field *model.Field, op string) Filter {
	if !slices.Contains(operators, op) {
		p.fail(given, problem.CodeInvalidParameter, "There is no operator %s. There are eq, ne, lt, lte, gt, gte, in, not_in, contains, starts_with and null.%s", fault.Quote(op), operatorHint(op))
		return nil
	}
	switch {
	case given.bare:
		p.fail(given, problem.CodeInvalidParameter, "The operator %s needs a value: filter[%s][%s]=…", op, field.Name, op)
		return nil
	case op == "null":
		return p.nullCondition(given, field)
	case field.Kind == model.KindJSON:
		p.failJSON(given, field)
		return nil
	case (op == "contains" || op == "starts_with") && field.Kind != model.KindText:
		p.fail(given, problem.CodeInvalidParameter, "The operator %s is for strings, but the field %q has %s.", op, field.Name, plural(field.Kind))
		return nil
	case op == "in" || op == "not_in":
		p.addToList(given, field, op)
		return nil
	case (op == "contains" || op == "starts_with") && !p.isShort(given, op):
		return nil
	}
	read := p.value
	if op == "eq" || op == "ne" {
		read = p.choice
	}
	value, ok := read(given, field, given.value)
	if !ok {
		return nil
	}
	if op == "ne" {
		return Not{p.compare(field, Equal, value)}
	}
	return p.compare(field, Op(op), value)
}

// isShort checks the length of a text to search for.
func (p *parser) isShort(given parameter, op string) bool {
	if count := utf8.RuneCountInString(given.value); count > MaxPart {
		p.fail(given, problem.CodeInvalidParameter, "The operator %s allows at most %d characters, but got %d.", op, MaxPart, count)
		return false
	}
	if op == "contains" {
		p.contains++
	}
	if p.contains > MaxContains {
		p.fail(given, problem.CodeTooManyValues, "At most %d filters with contains can be given.", MaxContains)
		return false
	}
	return true
}

func (p *parser) nullCondition(given parameter, field *model.Field) Filter {
	switch given.value {
	case "true":
		return p.isNull(field)
	case "false":
		return Not{p.isNull(field)}
	}
	p.fail(given, problem.CodeInvalidParameter, "Must be true or false.")
	return nil
}

// listFilter is filter[field][in] or filter[field][not_in] with all its values.
type listFilter struct {
	field  *model.Field
	op     string
	values []model.Value
}

// addToList adds the values of one parameter to those of the parameters of the same name.
func (p *parser) addToList(given parameter, field *model.Field, op string) {
	at := slices.IndexFunc(p.lists, func(f listFilter) bool { return f.field == field && f.op == op })
	if at < 0 {
		at = len(p.lists)
		p.lists = append(p.lists, listFilter{field: field, op: op})
	}
	p.lists[at].values = append(p.lists[at].values, p.listValues(given, field, splitList(given.value))...)
}

func (p *parser) listValues(given parameter, field *model.Field, texts []string) (values []model.Value) {
	for _, text := range texts {
		if value, ok := p.choice(given, field, text); ok {
			values = append(values, value)
		}
	}
	return values
}

func (p *parser) listCondition(f listFilter) Filter {
	var condition Filter = In{Column: f.field.Column, Values: f.values}
	if f.field.Column == model.NoColumn {
		condition = constant(In{Column: 0, Values: f.values}.Match(model.Record{model.TextValue(p.collection.Name)}))
	}
	if f.op == "not_in" {
		return Not{condition}
	}
	return condition
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

func (p *parser) value(given parameter, field *model.Field, text string) (model.Value, bool) {
	if !p.countValue(given) {
		return model.Null, false
	}
	value, wrong := field.Kind.Parse(text)
	if wrong != "" {
		p.fail(given, problem.CodeInvalidParameter, "The value %s must be %s.%s", fault.Quote(text), wrong, p.valueHint(field, text))
		return model.Null, false
	}
	return value, true
}

// choice reads a value that must be one of those that the field can have, if these are known.
func (p *parser) choice(given parameter, field *model.Field, text string) (model.Value, bool) {
	if choices := p.limits.Choices[field.Name]; choices != nil && !slices.Contains(choices, text) {
		p.fail(given, problem.CodeInvalidParameter, "There is no %s %s%s. Use %s.", field.Name, fault.Quote(text), suggest.DidYouMean(text, choices), model.OneOf(choices))
		return model.Null, false
	}
	return p.value(given, field, text)
}

// countValue counts a value of a filter, and reports whether there are not too many.
func (p *parser) countValue(given parameter) bool {
	if p.values++; p.values == MaxValues+1 {
		p.fail(given, problem.CodeTooManyValues, "At most %d filter values can be given.", MaxValues)
	}
	return p.values <= MaxValues
}

// compare and isNull evaluate filters on type immediately: type has no column, because it is the
// same for every resource of the collection.
func (p *parser) compare(field *model.Field, op Op, value model.Value) Filter {
	if field.Column == model.NoColumn {
		return constant(op.holds(model.TextValue(p.collection.Name), value))
	}
	return Compare{Column: field.Column, Op: op, Value: value}
}

func (p *parser) isNull(field *model.Field) Filter {
	if field.Column == model.NoColumn {
		return None
	}
	return IsNull{Column: field.Column}
}

func constant(holds bool) Filter {
	if holds {
		return All
	}
	return None
}

func (p *parser) finishFilters() {
	var all And
	for _, plain := range p.plain {
		all = append(all, plain.filter())
	}
	for _, list := range p.lists {
		all = append(all, p.listCondition(list))
	}
	all = append(all, p.conditions...)
	switch len(all) {
	case 0:
	case 1:
		p.query.Filter = all[0]
	default:
		p.query.Filter = all
	}
}

func plural(kind model.Kind) string {
	if kind.IsDecimal() {
		return "decimals"
	}
	switch kind {
	case model.KindInteger:
		return "integers"
	case model.KindNumber:
		return "numbers"
	case model.KindBoolean:
		return "booleans"
	case model.KindUUID:
		return "UUIDs"
	case model.KindDate:
		return "dates"
	case model.KindDateTime:
		return "date-times"
	default:
		return "objects or arrays"
	}
}
