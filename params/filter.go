package params

import (
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Filter selects resources of a collection: see Where, Any, Some, None and Search. If several are given, all of them must
// hold.
type Filter struct {
	add func(*Query) error
}

func (f Filter) apply(q *Query) error {
	if f.add == nil {
		return errors.New("a filter needs a field: begin it with Where")
	}
	return f.add(q)
}

// Field is a field of a collection to select by. Its methods make filters.
type Field struct{ name string }

// Where begins a filter: Where("age").AtLeast(18). The field can be one of a related resource, through one or
// two relations, or a property of an object: Where("author.country"), Where("address.city"). It can also be how many
// related resources there are: Where("count.orders").AtLeast(5). Values are strings, numbers, booleans, times and types with
// MarshalText. Fields have times with milliseconds.
func Where(field string) Field { return Field{field} }

// Is selects what is equal to a value.
func (f Field) Is(value any) Filter { return f.filter("eq", value) }

// Not selects what is not equal to a value, null included.
func (f Field) Not(value any) Filter { return f.filter("ne", value) }

// Less selects what is less than a value.
func (f Field) Less(value any) Filter { return f.filter("lt", value) }

// AtMost selects what is equal to a value or less.
func (f Field) AtMost(value any) Filter { return f.filter("lte", value) }

// More selects what is more than a value.
func (f Field) More(value any) Filter { return f.filter("gt", value) }

// AtLeast selects what is equal to a value or more.
func (f Field) AtLeast(value any) Filter { return f.filter("gte", value) }

// In selects what is equal to one of the values, of which there must be at least one. A single slice counts as its
// elements: In(ids).
func (f Field) In(values ...any) Filter { return f.filter("in", elements(values)...) }

// NotIn selects what is equal to none of the values, null included. A single slice counts as its elements.
func (f Field) NotIn(values ...any) Filter { return f.filter("not_in", elements(values)...) }

// Contains selects strings that contain a text, in the same case.
func (f Field) Contains(text string) Filter { return f.filter("contains", text) }

// StartsWith selects strings that start with a text, in the same case.
func (f Field) StartsWith(text string) Filter { return f.filter("starts_with", text) }

// Search selects strings in which each of the words is the beginning of a word, in any case: Where("name").Search("ada lov").
// The field is one that the schema declares as search or label.
func (f Field) Search(words string) Filter { return f.filter("search", words) }

// Null selects what has no value.
func (f Field) Null() Filter { return f.filter("null", true) }

// NotNull selects what has a value.
func (f Field) NotNull() Filter { return f.filter("null", false) }

// Exists selects resources that are related to any: Where("orders").Exists(). The field is the name of a relation.
func (f Field) Exists() Filter { return f.filter("exists", true) }

// NotExists selects resources that are related to none: Where("orders").NotExists().
func (f Field) NotExists() Filter { return f.filter("exists", false) }

// Has selects arrays that have a value, or one of several. A single slice counts as its elements.
func (f Field) Has(values ...any) Filter { return f.filter("has", elements(values)...) }

// HasAll selects arrays that have all of the values. A single slice counts as its elements.
func (f Field) HasAll(values ...any) Filter { return f.filter("has_all", elements(values)...) }

// elements are the values of a list: those of the only value, if that is a slice.
func elements(values []any) []any {
	if len(values) != 1 || values[0] == nil {
		return values
	}
	slice := reflect.ValueOf(values[0])
	if slice.Kind() != reflect.Slice {
		return values
	}
	all := make([]any, slice.Len())
	for i := range all {
		all[i] = slice.Index(i).Interface()
	}
	return all
}

func (f Field) filter(op string, values ...any) Filter {
	return Filter{func(q *Query) error {
		texts, err := f.texts(op, values)
		if err != nil {
			return fmt.Errorf("the filter %s of %s: %w", op, f.name, err)
		}
		name := "[" + url.QueryEscape(f.name) + "][" + op + "]="
		// In a URL, the values of a repeated list are alternatives.
		if slices.ContainsFunc(q.filters, func(each string) bool { return strings.HasPrefix(each, name) }) {
			return fmt.Errorf("the filter %s of %s is given twice: give it once, with all values", op, f.name)
		}
		for _, text := range texts {
			q.filters = append(q.filters, name+url.QueryEscape(text))
		}
		return nil
	}}
}

// texts are the values of the parameters that make a filter together.
func (f Field) texts(op string, values []any) ([]string, error) {
	if f.name == "" {
		return nil, errors.New("the name of the field is empty")
	}
	if len(values) == 0 {
		return nil, errors.New("there must be at least one value")
	}
	texts := make([]string, len(values))
	for i, value := range values {
		text, err := valueText(op, value)
		if err != nil {
			return nil, err
		}
		texts[i] = text
	}
	if op == "in" || op == "not_in" || op == "has_all" {
		return joined(texts, op != "has_all")
	}
	return texts, nil
}

// joined joins values by commas. A backslash at the end of a value would escape the comma after it, so such a value comes
// last, or in another parameter if the parameter can be repeated.
func joined(values []string, repeatable bool) ([]string, error) {
	var plain, escaping []string
	for _, value := range values {
		if value = strings.ReplaceAll(value, ",", `\,`); strings.HasSuffix(value, `\`) {
			escaping = append(escaping, value)
		} else {
			plain = append(plain, value)
		}
	}
	switch escaping = slices.Compact(escaping); {
	case len(escaping) == 0:
		return []string{strings.Join(plain, ",")}, nil
	case len(escaping) > 1 && !repeatable:
		return nil, errors.New("only one value may end with a backslash")
	}
	return append([]string{strings.Join(append(plain, escaping[0]), ",")}, escaping[1:]...), nil
}

// Any selects what one of the alternatives selects. Each is a filter that begins with Where, or And of several:
//
//	params.Any(params.And(params.Where("state").Is("open"), params.Where("priority").AtLeast(3)), params.Where("assignee_id").Null())
//
// It can be given once.
func Any(alternatives ...Filter) Filter {
	return Filter{func(q *Query) error {
		if q.numbered[groupAny] > 0 || len(alternatives) == 0 {
			return errors.New("Any must be given once, with all alternatives")
		}
		for _, alternative := range alternatives {
			if err := q.addGroup(groupAny, "", "an alternative of Any", alternative); err != nil {
				return err
			}
		}
		return nil
	}}
}

// Some selects resources that are related to one that fulfils all conditions, which are filters that begin with Where:
//
//	params.Some("lines", params.Where("quantity").AtLeast(5), params.Where("product.name").Is("Chai"))
//
// Filters of a list, such as Where("lines.quantity"), are fulfilled by any related resource, each by itself. It can be given
// several times.
func Some(relation string, conditions ...Filter) Filter {
	return related(groupSome, "Some", relation, conditions)
}

// None selects resources that are related to none that fulfils all conditions. Where("lines").NotExists() selects those
// that are related to none at all. It can be given several times.
func None(relation string, conditions ...Filter) Filter {
	return related(groupNone, "None", relation, conditions)
}

func related(group, function, relation string, conditions []Filter) Filter {
	return Filter{func(q *Query) error {
		if relation == "" || len(conditions) == 0 {
			return fmt.Errorf("%s needs the name of a relation, and conditions: Where(relation).Exists() has none", function)
		}
		return q.addGroup(group, relation+".", "a condition of "+function, And(conditions...))
	}}
}

// The groups of conditions that have numbers in a URL.
const groupAny, groupSome, groupNone = "any", "some", "none"

// addGroup adds filters under the next number of a group: filter[any][0][state][eq]=open. The prefix leads to their fields.
func (q *Query) addGroup(group, prefix, what string, filters Filter) error {
	inner, err := Of(filters)
	if err != nil {
		return err
	}
	if len(inner.numbered) > 0 || inner.search != "" || len(inner.filters) == 0 {
		return fmt.Errorf("%s is a filter that begins with Where, or And of such filters", what)
	}
	start := "[" + group + "][" + strconv.Itoa(q.numbered[group]) + "][" + url.QueryEscape(prefix)
	for _, filter := range inner.filters {
		q.filters = append(q.filters, start+filter[1:])
	}
	q.number(group, q.numbered[group])
	return nil
}

// number notes that a number of a group is used.
func (q *Query) number(group string, number int) {
	if q.numbered == nil {
		q.numbered = map[string]int{}
	}
	q.numbered[group] = max(q.numbered[group], number+1)
}

// And selects what all of the filters select. Filters of a list are combined in this way already: And is for
// the alternatives of Any.
func And(filters ...Filter) Filter {
	return Filter{func(q *Query) error {
		for _, each := range filters {
			if err := each.apply(q); err != nil {
				return err
			}
		}
		return nil
	}}
}

// Search selects resources in which each of the words is the beginning of a word, in the attributes
// that the schema declares for search: Search("ada lov"). It can be given once.
func Search(words string) Filter {
	return Filter{func(q *Query) error {
		if words == "" || q.search != "" {
			return errors.New("Search must be given once, with all words")
		}
		q.search = url.QueryEscape(words)
		return nil
	}}
}
