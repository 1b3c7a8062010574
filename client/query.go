package client

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Param is a part of what a list is asked for: a filter, a sort key, a part of the
// range, or what is shown of each resource. Names that cannot be those of a field, and values that no field has, are errors of
// the call that they are given to.
type Param func(*query) error

// query is the parameters of a list, in the order in which they were given.
type query struct {
	filters []string // names in brackets with values: "[state][eq]=open"
	hasAny  bool     // some of them are those of Any
	search  string
	sort    []string
	offset  *int64
	limit   *int64
	cursor  string
	since   string   // of a watch, or of changes
	exact   bool     // count what the filters leave
	groups  []string // by, sum, avg, min and max, of groups alone

	includes []include
	fields   []string
	parts    []string // include and fields as Parameters has them

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
	case len(q.includes) > 0:
		return nil, fmt.Errorf("a watch has no Include: watch the other collections too")
	case q.ofGroups() || len(q.sort) > 0 || q.cursor != "" || q.offset != nil || q.limit != nil || q.exact:
		return nil, fmt.Errorf("a watch has filters, Search and Fields, and no sort, offset, limit, cursor or exact count")
	case q.since != "" && q.fromNow:
		return nil, fmt.Errorf("a watch begins at a position or now, and not at both: give Since or FromNow")
	}
	return q, nil
}

// encode is the query string. Brackets stay what they are, as servers read them.
func (q *query) encode() string {
	parts := slices.Clone(q.groups)
	for _, filter := range q.filters {
		parts = append(parts, "filter"+filter)
	}
	if q.search != "" {
		parts = append(parts, "search="+url.QueryEscape(q.search))
	}
	if len(q.sort) > 0 {
		parts = append(parts, "sort="+strings.Join(q.sort, ","))
	}
	parts = append(parts, q.encodeParts()...)
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

// join joins two query strings, of which the first may be empty.
func join(first, second string) string {
	if first == "" {
		return second
	}
	return first + "&" + second
}

var (
	fieldName      = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)
	collectionName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)
	uuid           = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)
)

// checkField refuses a name that does not have the form of a field.
func checkField(form *regexp.Regexp, field string) error {
	if !form.MatchString(field) {
		return fmt.Errorf("%q is not the name of a field", field)
	}
	return nil
}

// Asc sorts by a field, the smallest first and null before it. Several keys count in the order in
// which they are given; what is equal by all of them is in the order of ids.
func Asc(field string) Param { return sortKey("", field) }

// Desc sorts by a field, the largest first.
func Desc(field string) Param { return sortKey("-", field) }

func sortKey(sign, field string) Param {
	return func(q *query) error {
		q.sort = append(q.sort, sign+field)
		return checkField(groupKey, field)
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

// Parameters takes filters, sort, range and what is included as they stand in a URL:
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
	case "search":
		return Search(value)(q)
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
	first, rest, bracketed := strings.Cut(name, "[")
	if bracketed {
		rest = "[" + rest
	}
	encoded := bracketsKept.Replace(url.QueryEscape(rest))
	if hasValue {
		encoded += "=" + url.QueryEscape(value)
	}
	switch {
	case first == "filter" && bracketed:
		q.filters = append(q.filters, encoded)
	case first == "include" || first == "fields":
		q.parts = append(q.parts, first+encoded)
	default:
		return fmt.Errorf("there is no parameter %q: there are filter[…], search, sort, offset, limit, cursor, include and fields", name)
	}
	return nil
}

// bracketsKept has brackets as servers read them.
var bracketsKept = strings.NewReplacer("%5B", "[", "%5D", "]")

func checkID(id string) error {
	if !uuid.MatchString(id) {
		return fmt.Errorf("an id is a UUID, but this is %q", id)
	}
	return nil
}
