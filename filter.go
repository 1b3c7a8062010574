package plural

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/plural-go/plural/internal/query"
)

// Filter selects resources of a collection: see Where, Any and Search. Several must all hold.
type Filter struct {
	field, op string
	values    []any
	filters   []Filter // of Any and And
}

// Field is a field of a collection to select by. Its methods make filters.
type Field struct{ name string }

// Where begins a filter: Where("age").AtLeast(18). The field can be one of a related resource, through one or
// two relations, or a property of an object: Where("author.country"), Where("address.city"). Values are strings,
// numbers, booleans, times and types with MarshalText, as the field holds them.
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

// In selects what is equal to one of the values, of which there must be at least one.
func (f Field) In(values ...any) Filter { return f.filter("in", values...) }

// NotIn selects what is equal to none of the values, null included.
func (f Field) NotIn(values ...any) Filter { return f.filter("not_in", values...) }

// Contains selects strings that contain a text.
func (f Field) Contains(text string) Filter { return f.filter("contains", text) }

// StartsWith selects strings that start with a text.
func (f Field) StartsWith(text string) Filter { return f.filter("starts_with", text) }

// Null selects what has no value.
func (f Field) Null() Filter { return f.filter("null", true) }

// NotNull selects what has a value.
func (f Field) NotNull() Filter { return f.filter("null", false) }

// Has selects arrays that have a value, or one of several.
func (f Field) Has(values ...any) Filter { return f.filter("has", values...) }

// HasAll selects arrays that have all of the values.
func (f Field) HasAll(values ...any) Filter { return f.filter("has_all", values...) }

// Any selects what one of the filters selects. It can be given once, and not within another Any.
func Any(alternatives ...Filter) Filter { return Filter{op: opAny, filters: alternatives} }

// And selects what all of the filters select. Filters of a list are combined in this way already: And is for
// the alternatives of Any.
func And(filters ...Filter) Filter { return Filter{op: opAnd, filters: filters} }

// Search selects resources in which each of the words is the beginning of a word, in the attributes
// that the schema declares for search: Search("ada lov"). It can be given once.
func Search(words string) Filter { return Filter{op: opSearch, values: []any{words}} }

// The operators of filters that have no field.
const (
	opSearch = "search"
	opAny    = "any"
	opAnd    = "and"
)

func (f Field) filter(op string, values ...any) Filter {
	return Filter{field: f.name, op: op, values: values}
}

func (f Filter) apply(p *parameters) error {
	if f.field != "" {
		condition, err := f.condition()
		p.request.Conditions = append(p.request.Conditions, condition)
		return err
	}
	switch f.op {
	case opSearch:
		words := f.values[0].(string)
		if words == "" || p.request.Search != "" {
			return errors.New("Search must be given once, with all words")
		}
		p.request.Search = words
	case opAnd:
		for _, each := range f.filters {
			if err := each.apply(p); err != nil {
				return err
			}
		}
	case opAny:
		if p.request.Any != nil || len(f.filters) == 0 {
			return errors.New("Any must be given once, with all alternatives")
		}
		for _, each := range f.filters {
			alternative, err := each.alternative()
			if err != nil {
				return err
			}
			p.request.Any = append(p.request.Any, alternative)
		}
	default:
		return errors.New("a filter needs a field: begin it with Where")
	}
	return nil
}

// alternative is the conditions of one alternative of Any.
func (f Filter) alternative() ([]query.Condition, error) {
	var p parameters
	if err := f.apply(&p); err != nil {
		return nil, err
	}
	if p.request.Any != nil || p.request.Search != "" || len(p.request.Conditions) == 0 {
		return nil, errors.New("an alternative of Any is a filter that begins with Where, or And of such filters")
	}
	return p.request.Conditions, nil
}

// condition is the filter of a field, with its values as texts.
func (f Filter) condition() (query.Condition, error) {
	condition := query.Condition{Field: f.field, Op: f.op}
	for _, value := range f.values {
		text, err := valueText(f.op, value)
		if err != nil {
			return condition, fmt.Errorf("the filter of %s: %w", f.field, err)
		}
		condition.Values = append(condition.Values, text)
	}
	return condition, nil
}

// valueText is a value as the query string of a URL would have it, without escaping.
func valueText(op string, value any) (string, error) {
	switch value := value.(type) {
	case nil:
		return "", errors.New("nothing is compared with nil: use Null or NotNull")
	case time.Time:
		return timeText(op, value), nil
	case encoding.TextMarshaler:
		text, err := value.MarshalText()
		return string(text), err
	}
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.String:
		return v.String(), nil
	case reflect.Bool:
		return strconv.FormatBool(v.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.FormatUint(v.Uint(), 10), nil
	case reflect.Float32, reflect.Float64:
		if math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0) {
			return "", fmt.Errorf("%v is not a number that a field can hold", value)
		}
		return strconv.FormatFloat(v.Float(), 'g', -1, v.Type().Bits()), nil
	case reflect.Pointer:
		if !v.IsNil() {
			return valueText(op, v.Elem().Interface())
		}
		return "", errors.New("nothing is compared with nil: use Null or NotNull")
	}
	return "", fmt.Errorf("a %T cannot be compared with a field: use a string, number, boolean or time", value)
}

// timeText is a time with the milliseconds that a field has. What is less than a time between
// two of them is less than the second. No field is equal to such a time, which is refused by
// its digits.
func timeText(op string, at time.Time) string {
	whole := at.Truncate(time.Millisecond)
	switch {
	case (op == "lt" || op == "gte") && whole.Before(at):
		at = whole.Add(time.Millisecond)
	case op == "gt" || op == "lte":
		at = whole
	}
	return at.UTC().Format(time.RFC3339Nano)
}
