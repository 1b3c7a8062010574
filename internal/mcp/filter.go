package mcp

import (
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/plural-go/plural/internal/suggest"
	"github.com/plural-go/plural/params"
	"github.com/plural-go/plural/problem"
)

// number is a number as it is written. It is a string for package params.
type number string

// comparisons are the operators of filters, by what package params calls them.
var comparisons = map[string]func(field params.Field, values []any) params.Filter{
	"eq":          func(f params.Field, v []any) params.Filter { return f.Is(v[0]) },
	"ne":          func(f params.Field, v []any) params.Filter { return f.Not(v[0]) },
	"lt":          func(f params.Field, v []any) params.Filter { return f.Less(v[0]) },
	"lte":         func(f params.Field, v []any) params.Filter { return f.AtMost(v[0]) },
	"gt":          func(f params.Field, v []any) params.Filter { return f.More(v[0]) },
	"gte":         func(f params.Field, v []any) params.Filter { return f.AtLeast(v[0]) },
	"in":          func(f params.Field, v []any) params.Filter { return f.In(v...) },
	"not_in":      func(f params.Field, v []any) params.Filter { return f.NotIn(v...) },
	"has":         func(f params.Field, v []any) params.Filter { return f.Has(v...) },
	"has_all":     func(f params.Field, v []any) params.Filter { return f.HasAll(v...) },
	"contains":    func(f params.Field, v []any) params.Filter { return f.Contains(v[0].(string)) },
	"starts_with": func(f params.Field, v []any) params.Filter { return f.StartsWith(v[0].(string)) },
	"search":      func(f params.Field, v []any) params.Filter { return f.Search(v[0].(string)) },
	"null":        func(f params.Field, v []any) params.Filter { return either(v[0] == true, f.Null(), f.NotNull()) },
	"exists":      func(f params.Field, v []any) params.Filter { return either(v[0] == true, f.Exists(), f.NotExists()) },
}

var (
	operators     = []string{"eq", "ne", "lt", "lte", "gt", "gte", "in", "not_in", "contains", "starts_with", "search", "null", "has", "has_all", "exists"}
	ofLists       = []string{"in", "not_in", "has", "has_all"}
	ofTexts       = []string{"contains", "starts_with", "search"}
	ofBooleans    = []string{"null", "exists"}
	operatorHints = suggest.Hints{
		"equals is = ==": "eq", "not neq != <>": "ne", "< less before": "lt", "<=": "lte", "> greater after": "gt", ">=": "gte",
		"like ilike includes": "contains", "nin": "not_in", "is_null": "null", "any_of": "has",
	}
)

func either[T any](first bool, one, other T) T {
	if first {
		return one
	}
	return other
}

// filters reads an argument that has filters: attributes with values, or with operators and values. Any, some and none are groups of
// conditions.
func (a arguments) filters(argument string) ([]params.Filter, error) {
	if a[argument] == nil {
		return nil, nil
	}
	f := &filterReader{argument: argument}
	return f.conditions(a[argument], true), f.wrong.orNil()
}

type problems problem.Errors

func (p problems) orNil() error {
	if p == nil {
		return nil
	}
	return problem.Errors(p)
}

// filterReader reads filters, and collects what is wrong with them.
type filterReader struct {
	argument string
	wrong    problems
}

func (f *filterReader) refuse(field, detail string) {
	f.wrong = append(f.wrong, wrongArgument(f.argument+"."+field, problem.CodeInvalidParameter, detail))
}

// conditions reads an object of conditions, all of which must hold. Groups do not nest.
func (f *filterReader) conditions(object jsontext.Value, groups bool) (all []params.Filter) {
	each := map[string]jsontext.Value{}
	if err := json.Unmarshal(object, &each); err != nil {
		f.refuse("", `Must be an object, such as {"state":"open","priority":{"gte":3}}, in which no member is repeated.`)
		return nil
	}
	for _, field := range sortedNames(each) {
		switch value := each[field]; {
		case groups && field == "any":
			all = append(all, f.alternatives(value))
		case groups && (field == "some" || field == "none"):
			all = append(all, f.related(field, value)...)
		default:
			all = append(all, f.condition(field, value)...)
		}
	}
	return all
}

// alternatives reads the group any, of whose items one must hold.
func (f *filterReader) alternatives(value jsontext.Value) params.Filter {
	var items []jsontext.Value
	if json.Unmarshal(value, &items) != nil || len(items) == 0 {
		f.refuse("any", `Must be an array of alternatives, such as [{"state":"open"},{"priority":{"gte":3}}].`)
		return params.Filter{}
	}
	list := make([]params.Filter, len(items))
	for i, item := range items {
		list[i] = params.And(f.conditions(item, false)...)
	}
	return params.Any(list...)
}

// related reads the group some or none: by a relation, the conditions that one related resource must fulfil, or none may.
func (f *filterReader) related(group string, value jsontext.Value) (all []params.Filter) {
	relations := map[string]jsontext.Value{}
	if json.Unmarshal(value, &relations) != nil || len(relations) == 0 {
		f.refuse(group, `Must be an object of relations with their conditions, such as {"lines":{"quantity":{"gte":5}}}.`)
	}
	for _, relation := range sortedNames(relations) {
		conditions := f.conditions(relations[relation], false)
		all = append(all, either(group == "some", params.Some, params.None)(relation, conditions...))
	}
	return all
}

// condition reads what is asked of one attribute.
func (f *filterReader) condition(field string, value jsontext.Value) (all []params.Filter) {
	switch value.Kind() {
	case 'n':
		return []params.Filter{params.Where(field).Null()}
	case '[':
		return f.compare(field, "in", value)
	case '{':
		operators := map[string]jsontext.Value{}
		if json.Unmarshal(value, &operators) != nil || len(operators) == 0 {
			f.refuse(field, `Must be a value, or an object of operators such as {"gte":3}.`)
		}
		for _, operator := range sortedNames(operators) {
			all = append(all, f.compare(field, operator, operators[operator])...)
		}
		return all
	}
	return f.compare(field, "eq", value)
}

func (f *filterReader) compare(field, operator string, value jsontext.Value) []params.Filter {
	compare, known := comparisons[operator]
	isList := slices.Contains(ofLists, operator)
	values, scalar := scalars(value, isList)
	switch {
	case !known:
		hint := ""
		if meant := meantBy(operator, operatorHints, operators); meant != "" {
			hint = " Write " + meant + " instead."
		}
		f.refuse(field, "There is no operator "+quote(operator)+"."+hint+" The operators are "+strings.Join(operators, ", ")+".")
	case isList && !scalar:
		f.refuse(field, "The operator "+operator+` needs an array of values, such as ["open","closed"].`)
	case !scalar:
		f.refuse(field, "The operator "+operator+" needs one string, number or boolean. What has no value is {\"null\":true}.")
	case slices.Contains(ofTexts, operator) && value.Kind() != '"':
		f.refuse(field, "The operator "+operator+" needs a string.")
	case slices.Contains(ofBooleans, operator) && value.Kind() != 't' && value.Kind() != 'f':
		f.refuse(field, "The operator "+operator+" needs true or false.")
	default:
		return []params.Filter{compare(params.Where(field), values)}
	}
	return nil
}

// scalars reads one value, or a list with at least one.
func scalars(value jsontext.Value, isList bool) (values []any, ok bool) {
	if isList {
		var items []jsontext.Value
		if json.Unmarshal(value, &items) != nil {
			return nil, false
		}
		for _, item := range items {
			one, ok := scalars(item, false)
			if !ok {
				return nil, false
			}
			values = append(values, one...)
		}
		return values, len(values) > 0
	}
	switch value.Kind() {
	case '"':
		return []any{textOf(value)}, true
	case '0':
		return []any{number(value)}, true
	case 't', 'f':
		return []any{value.Kind() == 't'}, true
	}
	return nil, false
}

// includes reads the argument include: relations with their options.
func (a arguments) includes() (all []params.Param, err error) {
	relations := map[string]jsontext.Value{}
	if a["include"] != nil && json.Unmarshal(a["include"], &relations) != nil {
		return nil, problem.Errors{wrongArgument("include", problem.CodeInvalidParameter, "Must be an object in which no member is repeated.")}
	}
	for _, relation := range sortedNames(relations) {
		options, err := readArguments(relations[relation], includeOptions)
		if err != nil {
			wrong, _ := errors.AsType[problem.Errors](err)
			for _, each := range wrong {
				each.Source.Parameter = strings.TrimSuffix("include."+relation+"."+each.Source.Parameter, ".")
			}
			return nil, err
		}
		chosen, err := options.chosen("filter")
		if err != nil {
			return nil, err
		}
		if options["limit"] != nil {
			chosen = append(chosen, params.Limit(int64(options.limit())))
		}
		if options["total"].Kind() == 't' {
			chosen = append(chosen, params.WithTotal())
		}
		all = append(all, params.Include(relation, chosen...))
	}
	return all, nil
}

// includeOptions are the options of an included relation.
var includeOptions = []argument{
	{"limit", count, false, ""}, {"sort", names, false, ""}, {"filter", members, false, ""}, {"fields", names, false, ""}, {"total", yesOrNo, false, ""},
}

// chosen is the filters, the search, the order and the fields that are asked for.
func (a arguments) chosen(filter string) (all []params.Param, err error) {
	filters, err := a.filters(filter)
	if err != nil {
		return nil, err
	}
	for _, each := range filters {
		all = append(all, each)
	}
	if words := a.text("search"); words != "" {
		all = append(all, params.Search(words))
	}
	if fields := a.texts("sort"); fields != nil {
		all = append(all, params.Sort(fields...))
	}
	if fields := a.texts("fields"); fields != nil {
		all = append(all, params.Fields(fields...))
	}
	return all, nil
}
