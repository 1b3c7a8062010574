package client

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Param is a part of what a list is asked for: a filter, a sort key, or a part of the
// range. Names that cannot be those of a field, and values that no field has, are errors of
// the call that they are given to.
type Param func(*query) error

// query is the parameters of a list, in the order in which they were given.
type query struct {
	filters []string
	sort    []string
	offset  *int64
	limit   *int64
	cursor  string
	since   string   // of a watch, or of changes
	exact   bool     // count what the filters leave
	groups  []string // by, sum, avg, min and max, of groups alone

	// Of a watch alone.
	fromNow      bool
	onConnection func(error)
}

func parse(params []Param) (*query, error) {
	q := &query{}
	for _, apply := range params {
		if err := apply(q); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// newQuery is what a list is asked for.
func (c *Collection[T]) newQuery(params []Param) (*query, error) {
	q, err := parse(params)
	switch {
	case err != nil:
		return nil, err
	case q.ofGroups():
		return nil, fmt.Errorf("a list has no By, Sum, Avg, Min or Max, and no units of times: they are for Groups")
	case q.cursor != "" && q.offset != nil:
		return nil, fmt.Errorf("a range begins at a cursor or at an offset, and not at both")
	case q.fromNow || q.onConnection != nil:
		return nil, fmt.Errorf("a list has no FromNow and no OnConnection: they are for Watch")
	case q.since != "" && c.name != changesName:
		return nil, fmt.Errorf("a list has no Since: it is for Watch, and for lists of changes")
	case q.since != "" && q.cursor != "":
		return nil, fmt.Errorf("a range begins at a cursor or behind a position, and not at both: give Cursor or Since")
	}
	return q, nil
}

// newWatchQuery is what a watch is asked for.
func newWatchQuery(params []Param) (*query, error) {
	q, err := parse(params)
	switch {
	case err != nil:
		return nil, err
	case q.ofGroups() || len(q.sort) > 0 || q.cursor != "" || q.offset != nil || q.limit != nil || q.exact:
		return nil, fmt.Errorf("a watch has filters, and no sort, offset, limit, cursor or exact count")
	case q.since != "" && q.fromNow:
		return nil, fmt.Errorf("a watch begins at a position or now, and not at both: give Since or FromNow")
	}
	return q, nil
}

// encode is the query string. Brackets stay what they are, as servers read them.
func (q *query) encode() string {
	parts := append(slices.Clone(q.groups), q.filters...)
	if len(q.sort) > 0 {
		parts = append(parts, "sort="+strings.Join(q.sort, ","))
	}
	if q.cursor != "" {
		parts = append(parts, "cursor="+q.cursor)
	}
	if q.since != "" {
		parts = append(parts, "since="+url.QueryEscape(q.since))
	}
	if q.offset != nil {
		parts = append(parts, "offset="+strconv.FormatInt(*q.offset, 10))
	}
	if q.limit != nil {
		parts = append(parts, "limit="+strconv.FormatInt(*q.limit, 10))
	}
	return strings.Join(parts, "&")
}

var (
	fieldPath      = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}(\.[a-z][a-z0-9_]{0,62}){0,2}$`) // resource.id of a change
	fieldName      = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)
	collectionName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)
	uuid           = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)
)

func checkField(field string) error {
	if !fieldName.MatchString(field) {
		return fmt.Errorf("%q is not the name of a field", field)
	}
	return nil
}

// filter is filter[field][op]=text.
func filter(field, op string, text func() (string, error)) Param {
	return func(q *query) error {
		if !fieldPath.MatchString(field) {
			return fmt.Errorf("%q is not the name of a field", field)
		}
		value, err := text()
		if err != nil {
			return fmt.Errorf("the filter %s of %s: %w", op, field, err)
		}
		q.filters = append(q.filters, "filter["+field+"]["+op+"]="+url.QueryEscape(value))
		return nil
	}
}

func compare(field, op string, value any) Param {
	return filter(field, op, func() (string, error) { return valueText(value) })
}

// valueText is a value as it stands in a URL.
func valueText(value any) (string, error) {
	switch value := value.(type) {
	case nil:
		return "", fmt.Errorf("nothing compares with null: use Null or NotNull")
	case string:
		return value, nil
	case json.Number:
		return value.String(), nil
	case bool:
		return strconv.FormatBool(value), nil
	case time.Time:
		return value.UTC().Format("2006-01-02T15:04:05.000Z"), nil
	case float64:
		return floatText(value, 64)
	case float32:
		return floatText(float64(value), 32)
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return fmt.Sprint(value), nil
	case encoding.TextMarshaler:
		text, err := value.MarshalText()
		return string(text), err
	}
	return "", fmt.Errorf("a %T cannot be compared with: use a string, number, boolean or time", value)
}

func floatText(value float64, bits int) (string, error) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return "", fmt.Errorf("%v is no number of JSON's", value)
	}
	return strconv.FormatFloat(value, 'g', -1, bits), nil
}

// Is selects what is equal to a value.
func Is(field string, value any) Param { return compare(field, "eq", value) }

// Not selects what is not equal to a value, null included.
func Not(field string, value any) Param { return compare(field, "ne", value) }

// Less selects what is less than a value.
func Less(field string, value any) Param { return compare(field, "lt", value) }

// AtMost selects what is a value or less.
func AtMost(field string, value any) Param { return compare(field, "lte", value) }

// More selects what is more than a value.
func More(field string, value any) Param { return compare(field, "gt", value) }

// AtLeast selects what is a value or more.
func AtLeast(field string, value any) Param { return compare(field, "gte", value) }

// Contains selects strings that have a text in them.
func Contains(field, text string) Param { return compare(field, "contains", text) }

// StartsWith selects strings that begin with a text.
func StartsWith(field, text string) Param { return compare(field, "starts_with", text) }

// Null selects what has no value.
func Null(field string) Param { return compare(field, "null", true) }

// NotNull selects what has a value.
func NotNull(field string) Param { return compare(field, "null", false) }

// In selects what is one of the values.
func In[V any](field string, values ...V) Param {
	return filter(field, "in", func() (string, error) { return listText(values) })
}

// NotIn selects what is none of the values, null included.
func NotIn[V any](field string, values ...V) Param {
	return filter(field, "not_in", func() (string, error) { return listText(values) })
}

// listText joins values by commas. A backslash at the end of a value would take the
// comma behind it for itself, so such a value comes last.
func listText[V any](values []V) (string, error) {
	var texts, last []string
	for _, value := range values {
		text, err := valueText(value)
		if err != nil {
			return "", err
		}
		if text = strings.ReplaceAll(text, ",", `\,`); strings.HasSuffix(text, `\`) {
			last = append(last, text)
		} else {
			texts = append(texts, text)
		}
	}
	last = slices.Compact(last)
	switch {
	case len(values) == 0:
		return "", fmt.Errorf("there must be at least one value")
	case len(last) > 1:
		return "", fmt.Errorf("only one value may end with a backslash")
	}
	return strings.Join(append(texts, last...), ","), nil
}

// Asc sorts by a field, the smallest first and null ahead of it. Several keys count in the order in
// which they are given; what is equal by all of them is in the order of ids.
func Asc(field string) Param { return sortKey("", field) }

// Desc sorts by a field, the largest first.
func Desc(field string) Param { return sortKey("-", field) }

func sortKey(sign, field string) Param {
	return func(q *query) error {
		q.sort = append(q.sort, sign+field)
		if groupKey.MatchString(field) {
			return nil
		}
		return checkField(field)
	}
}

// Offset begins the range at a position, of which the first is 0.
func Offset(position int64) Param {
	return func(q *query) error {
		if position < 0 {
			return fmt.Errorf("an offset is never negative, but this is %d", position)
		}
		return once("an offset", &q.offset, position)
	}
}

// Limit is how many resources the range has at most. For List a negative one counts
// back from the offset or the cursor, or from the end: Limit(-5) alone is the last five.
func Limit(count int64) Param {
	return func(q *query) error {
		return once("a limit", &q.limit, count)
	}
}

// once sets a part of the range that must not be given twice.
func once(what string, part **int64, value int64) error {
	if *part != nil {
		return fmt.Errorf("%s is given twice", what)
	}
	*part = &value
	return nil
}

// Cursor begins the range at the resource with an id, or ends it there if the range
// counts back.
func Cursor(id string) Param {
	return func(q *query) error {
		if q.cursor != "" {
			return fmt.Errorf("a range has one cursor at most")
		}
		q.cursor = id
		return checkID(id)
	}
}

// CountExact has Page.Total known for a filtered list as well, which takes the server
// longer.
func CountExact() Param {
	return func(q *query) error {
		q.exact = true
		return nil
	}
}

// Parameters takes filters, sort and range as they stand in a URL:
// "filter[active]&sort=-created_at".
func Parameters(text string) Param {
	return func(q *query) error {
		for part := range strings.SplitSeq(text, "&") {
			if part == "" {
				continue
			}
			if err := q.add(part); err != nil {
				return err
			}
		}
		return nil
	}
}

// add takes one parameter of a URL.
func (q *query) add(part string) error {
	name, given, hasValue := strings.Cut(part, "=")
	name, err := url.QueryUnescape(name)
	if err != nil {
		return fmt.Errorf("the parameter %q: %w", part, err)
	}
	value, err := url.QueryUnescape(given)
	if err != nil {
		return fmt.Errorf("the parameter %q: %w", part, err)
	}
	switch name {
	case "sort":
		for key := range strings.SplitSeq(value, ",") {
			if err := sortKey("", strings.TrimPrefix(key, "-"))(&query{}); err != nil {
				return err
			}
			q.sort = append(q.sort, key)
		}
		return nil
	case "cursor":
		return Cursor(value)(q)
	case "offset", "o", "limit", "l":
		number, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return fmt.Errorf("the parameter %s must be a whole number, but is %q", name, value)
		}
		if name[0] == 'o' {
			return Offset(number)(q)
		}
		return Limit(number)(q)
	}
	if !strings.HasPrefix(name, "filter[") {
		return fmt.Errorf("there is no parameter %q: there are filter[…], sort, offset, limit and cursor", name)
	}
	encoded := strings.NewReplacer("%5B", "[", "%5D", "]").Replace(url.QueryEscape(name))
	if hasValue {
		encoded += "=" + url.QueryEscape(value)
	}
	q.filters = append(q.filters, encoded)
	return nil
}

func checkID(id string) error {
	if !uuid.MatchString(id) {
		return fmt.Errorf("an id is a UUID, but this is %q", id)
	}
	return nil
}
