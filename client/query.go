package client

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/plural-go/plural/params"
)

// newQuery is what a list is asked for.
func (c *Collection[T]) newQuery(given []params.Param) (*params.Query, error) {
	q, err := params.Of(given...)
	switch {
	case err != nil:
		return nil, err
	case q.Groups():
		return nil, errors.New("a list has no By, Sum, Avg, Min, Max, Distinct, Having or unit of times: they are for Groups")
	case q.FromNow || q.OnConnection != nil:
		return nil, errors.New("a list has no FromNow and no OnConnection: they are for Watch")
	case q.Since != "" && c.name != changesName:
		return nil, errors.New("a list has no Since: it is for Watch, and for lists of changes")
	}
	return q, nil
}

// newWatchQuery is what a watch is asked for.
func newWatchQuery(given []params.Param) (*params.Query, error) {
	q, err := params.Of(given...)
	switch {
	case err != nil:
		return nil, err
	case q.Includes():
		return nil, errors.New("a watch has no Include: watch the other collections too")
	case q.Groups() || q.Sorts() || q.Cursor != "" || q.Offset != nil || q.Limit != nil || q.Total:
		return nil, errors.New("a watch has filters, Search and Fields, and no Sort, Offset, Limit, Cursor or WithTotal")
	case q.Since != "" && q.FromNow:
		return nil, errors.New("a watch begins at a position or now, and not at both: give Since or FromNow")
	}
	return q, nil
}

// itemQuery is the query string of a read of one resource.
func itemQuery(given []params.Param) (string, error) {
	q, err := params.Of(given...)
	switch {
	case err != nil:
		return "", err
	case q.Selects() || q.Groups() || q.Total || q.FromNow || q.OnConnection != nil:
		return "", errors.New("one resource is read with Include and Fields, and no filter, Sort or range")
	}
	return q.Encode(), nil
}

// join joins two query strings, of which the first may be empty.
func join(first, second string) string {
	if first == "" {
		return second
	}
	return first + "&" + second
}

var (
	collectionName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)
	uuid           = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)
)

func checkID(id string) error {
	if !uuid.MatchString(id) {
		return fmt.Errorf("an id is a UUID, but this is %q", id)
	}
	return nil
}
