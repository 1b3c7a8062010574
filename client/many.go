package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/plural-go/plural/params"
)

// UpdateMany changes the attributes that are given of all resources that the params select, in one
// transaction, and returns the resources. A filter or a range is required.
func (c *Collection[T]) UpdateMany(ctx context.Context, changes any, given ...params.Param) ([]T, error) {
	return c.sendRange(ctx, http.MethodPatch, changes, given)
}

// DeleteMany deletes all resources that the params select, in one transaction, and returns them as they
// last were. A filter or a range is required.
func (c *Collection[T]) DeleteMany(ctx context.Context, given ...params.Param) ([]T, error) {
	return c.sendRange(ctx, http.MethodDelete, nil, given)
}

func (c *Collection[T]) sendRange(ctx context.Context, method string, changes any, given []params.Param) ([]T, error) {
	request, err := c.rangeRequest(method, changes, given)
	if err != nil {
		return nil, err
	}
	return getList[T](ctx, c.client, request)
}

// rangeRequest is a write to the resources that the params select.
func (c *Collection[T]) rangeRequest(method string, changes any, given []params.Param) (Request, error) {
	body, invalid := bodyOf(method, changes)
	q, err := c.newQuery(given)
	switch {
	case invalid != nil:
		return Request{}, invalid
	case c.err != nil:
		return Request{}, c.err
	case err != nil:
		return Request{}, err
	case q.Total:
		return Request{}, fmt.Errorf("a write has no WithTotal: it returns all resources")
	case q.Shows():
		return Request{}, fmt.Errorf("a write has no Include and no Fields: it returns whole resources")
	}
	return Request{Method: method, Path: c.path, Query: q.Encode(), Body: body}, nil
}

// Upsert creates a resource, or changes the one that has the same value of a unique attribute, or of all
// attributes of a unique group, with commas between them. Only the attributes that are given are
// changed: a map by their names, or a struct that leaves the others out.
func (c *Collection[T]) Upsert(ctx context.Context, onConflict string, value any, options ...WriteOption) (stored Resource[T], created bool, err error) {
	answer, err := c.send(ctx, http.MethodPost, "", conflictQuery(onConflict), value, options)
	stored, err = c.resource(ctx, answer, err)
	return stored, err == nil && answer.Status == http.StatusCreated, err
}

// UpsertMany does the same with any number of values, in arrays, each of which is written as a whole or not
// at all. If one is refused, the resources of those before it are returned with the error.
func (c *Collection[T]) UpsertMany(ctx context.Context, onConflict string, values []T) ([]T, error) {
	return c.writeMany(ctx, conflictQuery(onConflict), values)
}

func conflictQuery(onConflict string) string { return "on_conflict=" + url.QueryEscape(onConflict) }
