package plural

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// Param is a part of what a list is asked for: a Filter, or what Sort, Limit, Offset and
// Cursor return. A mistake in one is an error of the call that it is given to.
type Param interface {
	apply(*parameters) error
}

// Filter selects resources of a collection: see Where and Search. Several must all hold.
type Filter struct {
	field, op string
	values    []any
}

// Field is a field of a collection to select by. Its methods make filters.
type Field struct{ name string }

// Where begins a filter: Where("age").AtLeast(18). Values are strings, numbers, booleans,
// times and types with MarshalText, as the field holds them.
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

// Search selects resources in which each of the words is the beginning of a word, in the attributes
// that the schema declares for search: Search("ada lov"). It can be given once.
func Search(words string) Filter { return Filter{op: opSearch, values: []any{words}} }

// opSearch is the operator of the filter that has no field.
const opSearch = "search"

func (f Field) filter(op string, values ...any) Filter {
	return Filter{field: f.name, op: op, values: values}
}

func (f Filter) apply(p *parameters) error {
	if f.field == "" && f.op == opSearch {
		words := f.values[0].(string)
		if words == "" || p.request.Search != "" {
			return errors.New("Search must be given once, with all words")
		}
		p.request.Search = words
		return nil
	}
	condition := query.Condition{Field: f.field, Op: f.op}
	for _, value := range f.values {
		text, err := valueText(f.op, value)
		if err != nil {
			return fmt.Errorf("the filter of %s: %w", f.field, err)
		}
		condition.Values = append(condition.Values, text)
	}
	p.request.Conditions = append(p.request.Conditions, condition)
	return nil
}

// parameters is what a list is asked for.
type parameters struct {
	request  query.Request
	hasLimit bool
	since    string // position to watch from
}

// param is a Param that is no filter.
type param func(*parameters) error

func (apply param) apply(p *parameters) error { return apply(p) }

// Sort orders a list by fields, the smallest value first and null before it; a minus in
// front of a name reverses that: Sort("-created_at", "name"). What is equal in all of them is
// in the order of ids.
func Sort(fields ...string) Param {
	return param(func(p *parameters) error {
		if len(fields) == 0 || p.request.Sort != nil {
			return errors.New("Sort must be given once, with all fields")
		}
		p.request.Sort = fields
		return nil
	})
}

// Limit is how many resources a list has at most. A negative limit counts back from the
// offset or the cursor, or else from the end: Limit(-5) alone is the last five.
func Limit(count int64) Param {
	return param(func(p *parameters) error {
		if p.hasLimit {
			return errors.New("a list has one Limit at most")
		}
		p.hasLimit, p.request.Range.Limit = true, count
		return nil
	})
}

// Offset begins a list at a position. The first is 0.
func Offset(position int64) Param {
	return param(func(p *parameters) error {
		switch {
		case position < 0:
			return fmt.Errorf("an Offset cannot be negative, but is %d", position)
		case p.request.Range.Anchor != query.AtEdge:
			return errors.New("a list begins at one Offset or Cursor")
		}
		p.request.Range.Anchor, p.request.Range.Offset = query.AtOffset, position
		return nil
	})
}

// Cursor begins a list at the resource with an id. With a negative Limit, the list ends before
// it.
func Cursor(id string) Param {
	return param(func(p *parameters) error {
		key, ok := model.ParseID(id)
		switch {
		case !ok:
			return fmt.Errorf("a Cursor is the id of a resource, but is %q", id)
		case p.request.Range.Anchor != query.AtEdge:
			return errors.New("a list begins at one Offset or Cursor")
		}
		p.request.Range.Anchor, p.request.Range.Cursor = query.AtCursor, key
		return nil
	})
}

// wanted is what parameters ask for. The limit is used if they have none.
func wanted[P Param](params []P, limit int64) (query.Request, error) {
	var p parameters
	for _, each := range params {
		if err := each.apply(&p); err != nil {
			return query.Request{}, callError(err)
		}
	}
	if p.since != "" {
		return query.Request{}, callError(errors.New("Since is for Watch: a list is as it is now"))
	}
	if !p.hasLimit {
		p.request.Range.Limit = limit
	}
	return p.request, nil
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
