// Package params has the parameters of lists as values: filters, sort, ranges, related resources and groups. The library
// (package plural) and the Go client (package client) take the same ones, and the server reads what Encode makes of them.
package params

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Param is a part of what a list is asked for: a Filter, or what the other functions of this package return. A mistake in
// one is an error of the call that takes it.
type Param interface {
	apply(*Query) error
}

// param is a Param that is no filter.
type param func(*Query) error

func (apply param) apply(q *Query) error { return apply(q) }

// Query is what several parameters ask for together.
type Query struct {
	Offset, Limit *int64 // nil: not given
	Cursor, Since string // empty: not given
	Total         bool   // WithTotal was given

	// Of a watch.
	FromNow      bool
	OnConnection func(error) // nil: not given

	filters  []string       // "[state][eq]=open"
	numbered map[string]int // how many numbers of a group of conditions are used: "any", "some", "none"
	search   string         // escaped
	sort     []string
	groups   []string // "by=state"
	includes []include
	fields   []string
	raw      []string // include and fields as Raw has them
}

// Of combines parameters.
func Of(given ...Param) (*Query, error) {
	q := &Query{}
	for _, each := range given {
		if err := each.apply(q); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// Shows reports whether the query has Include or Fields.
func (q *Query) Shows() bool { return len(q.includes)+len(q.fields)+len(q.raw) > 0 }

// Groups reports whether the query has parts that only groups have.
func (q *Query) Groups() bool {
	return len(q.groups) > 0 || slices.ContainsFunc(q.sort, func(key string) bool { return strings.Contains(key, ":") })
}

// Includes reports whether the query has Include.
func (q *Query) Includes() bool { return len(q.includes) > 0 }

// Sorts reports whether the query has Sort.
func (q *Query) Sorts() bool { return len(q.sort) > 0 }

// Selects reports whether the query has filters, Search, Sort or a range.
func (q *Query) Selects() bool {
	return len(q.filters) > 0 || q.search != "" || q.Sorts() || q.hasRange()
}

func (q *Query) hasRange() bool {
	return q.Offset != nil || q.Limit != nil || q.Cursor != "" || q.Since != ""
}

// Encode is the query string. WithTotal, FromNow and OnConnection are not part of it.
func (q *Query) Encode() string {
	parts := slices.Clone(q.groups)
	for _, filter := range q.filters {
		parts = append(parts, "filter"+filter)
	}
	if q.search != "" {
		parts = append(parts, "search="+q.search)
	}
	parts = append(parts, list("sort", q.sort)...)
	parts = append(parts, q.encodeShown()...)
	if q.Cursor != "" {
		parts = append(parts, "cursor="+q.Cursor)
	}
	if q.Since != "" {
		parts = append(parts, "since="+url.QueryEscape(q.Since))
	}
	if q.Offset != nil {
		parts = append(parts, "offset="+strconv.FormatInt(*q.Offset, 10))
	}
	if q.Limit != nil {
		parts = append(parts, "limit="+strconv.FormatInt(*q.Limit, 10))
	}
	return strings.Join(parts, "&")
}

// list is a parameter with names; none if there are no names.
func list(parameter string, names []string) []string {
	if len(names) == 0 {
		return nil
	}
	escaped := make([]string, len(names))
	for i, name := range names {
		escaped[i] = url.QueryEscape(name)
	}
	return []string{parameter + "=" + strings.Join(escaped, ",")}
}

// Sort orders a list by fields, the smallest value first and null before it. A minus before a name reverses that:
// Sort("-created_at", "name"). Resources that are equal in all of them are in the order of ids. A field can be one of a
// related resource, through one or two references, a property of an object, or how many related resources there are:
// Sort("customer.company", "address.city", "-count.orders"). Groups are sorted by "count", the fields of By, and the values
// that are asked for: Sort("-sum.total").
func Sort(fields ...string) Param {
	return namesOnce("Sort", fields, func(q *Query) *[]string { return &q.sort })
}

// Fields selects the attributes that are shown of each resource, in addition to its id and its type.
func Fields(names ...string) Param {
	return namesOnce("Fields", names, func(q *Query) *[]string { return &q.fields })
}

// namesOnce sets a list of names, which can be given once.
func namesOnce(function string, names []string, of func(*Query) *[]string) Param {
	return param(func(q *Query) error {
		to := of(q)
		if len(names) == 0 || len(*to) > 0 || slices.Contains(names, "") {
			return fmt.Errorf("%s must be given once, with all names", function)
		}
		*to = names
		return nil
	})
}

// Limit is how many resources a list has at most. A negative limit counts back from the offset or the cursor, or else
// from the end: Limit(-5) alone is the last five.
func Limit(count int64) Param {
	return param(func(q *Query) error {
		if q.Limit != nil {
			return errors.New("a list has one Limit at most")
		}
		q.Limit = &count
		return nil
	})
}

var errTwoStarts = errors.New("a list begins at one Offset, Cursor or Since")

// Offset begins a list at a position. The first is 0.
func Offset(position int64) Param {
	return param(func(q *Query) error {
		switch {
		case position < 0:
			return fmt.Errorf("an Offset cannot be negative, but is %d", position)
		case q.Offset != nil || q.Cursor != "" || q.Since != "":
			return errTwoStarts
		}
		q.Offset = &position
		return nil
	})
}

var uuid = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)

// Cursor begins a list at the resource with an id. With a negative Limit, the list ends before that resource.
func Cursor(id string) Param {
	return param(func(q *Query) error {
		switch {
		case !uuid.MatchString(id):
			return fmt.Errorf("a Cursor is the id of a resource, a UUID, but is %q", id)
		case q.Offset != nil || q.Cursor != "" || q.Since != "":
			return errTwoStarts
		}
		q.Cursor = id
		return nil
	})
}

// Since begins a watch after the event, or after the list, that has a position. The watch has no snapshot then. If the
// server no longer knows the position, or the position belongs to another filter, the watch begins with a reset event and
// a snapshot.
//
// A list of changes begins after the position, or after the change with an id. If the server no longer has it, the error
// is problem.CodePositionGone.
func Since(position string) Param {
	return param(func(q *Query) error {
		switch {
		case position == "":
			return errors.New("Since needs the Position of an event or of a list")
		case q.Offset != nil || q.Cursor != "" || q.Since != "":
			return errTwoStarts
		}
		q.Since = position
		return nil
	})
}

// WithTotal also counts: an included relation gets a member such as comments_total, and a filtered list of the client has
// its total. The server counts the resources one by one.
func WithTotal() Param {
	return param(func(q *Query) error {
		q.Total = true
		return nil
	})
}

// FromNow begins a watch of the client with the changes from now on: instead of the snapshot there is a synced event only.
func FromNow() Param {
	return param(func(q *Query) error {
		q.FromNow = true
		return nil
	})
}

// OnConnection reports when a watch of the client is not connected: the function is called with the reason, once for any
// number of failed attempts, and with nil when there is a connection again. A stream that the server ends is not reported
// unless the next attempt fails.
func OnConnection(changed func(err error)) Param {
	return param(func(q *Query) error {
		q.OnConnection = changed
		return nil
	})
}
