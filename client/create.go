package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
)

// The largest arrays that servers accept by default. If a server answers 413, smaller ones
// are sent.
const (
	maxItems = 1000
	maxBytes = 1 << 20
)

// CreateMany creates any number of resources, in arrays, each of which is created as a
// whole or not at all. If an array is refused, it returns the resources of the arrays before
// it with the error, whose pointers begin with the index of the value: "/1207/email".
func (c *Collection[T]) CreateMany(ctx context.Context, values []T) ([]T, error) {
	return c.writeMany(ctx, "", values)
}

// writeMany posts values in arrays.
func (c *Collection[T]) writeMany(ctx context.Context, query string, values []T) ([]T, error) {
	created := make([]T, 0, len(values))
	items, err := itemsOf(values)
	if err != nil {
		return nil, err
	}
	most := maxItems
	for len(created) < len(items) {
		body, count := array(items[len(created):], most, maxBytes)
		answer, err := c.send(ctx, http.MethodPost, "", query, body, nil)
		if hasStatus(err, http.StatusRequestEntityTooLarge) && count > 1 {
			most = (count + 1) / 2
			continue
		}
		if err != nil {
			return created, moved(err, len(created))
		}
		stored, err := decodeList[T](answer.Body)
		if err != nil {
			return created, err
		}
		if len(stored) != count {
			return created, fmt.Errorf("of %d resources the server has answered with %d", count, len(stored))
		}
		created = append(created, stored...)
	}
	return created, nil
}

// itemsOf is the values as items of arrays.
func itemsOf[T any](values []T) ([]json.RawMessage, error) {
	items := make([]json.RawMessage, len(values))
	for i, value := range values {
		item, err := attributes(value, true)
		if err != nil {
			return nil, fmt.Errorf("value %d: %w", i, err)
		}
		items[i] = item
	}
	return items, nil
}

// arrayBody is the body of a request that writes several resources.
type arrayBody []byte

// array makes a body of the first items: as many as are allowed, and at least one.
func array(items []json.RawMessage, most, mostBytes int) (body arrayBody, count int) {
	body = append(body, '[')
	for count < len(items) && count < most && (count == 0 || len(body)+len(items[count]) < mostBytes) {
		if count > 0 {
			body = append(body, ',')
		}
		body = append(body, items[count]...)
		count++
	}
	return append(body, ']'), count
}

// moved changes the pointers of an error so that they count from the first value.
func moved(err error, by int) error {
	var refused *Error
	if !errors.As(err, &refused) {
		return err
	}
	for _, each := range refused.Errors {
		if at, rest, ok := each.Source.Item(); ok {
			each.Source.Pointer = "/" + strconv.Itoa(at+by) + rest
		}
	}
	return err
}
