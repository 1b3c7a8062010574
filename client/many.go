package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// UpdateMany changes the attributes that are given of all resources that the params select, in one
// transaction, and returns the resources. A filter or a range is required.
func (c *Collection[T]) UpdateMany(ctx context.Context, changes any, params ...Param) ([]T, error) {
	body, err := marshal(changes)
	if err != nil {
		return nil, err
	}
	return c.sendRange(ctx, http.MethodPatch, body, params)
}

// DeleteMany deletes all resources that the params select, in one transaction, and returns them as they
// last were. A filter or a range is required.
func (c *Collection[T]) DeleteMany(ctx context.Context, params ...Param) ([]T, error) {
	return c.sendRange(ctx, http.MethodDelete, nil, params)
}

func (c *Collection[T]) sendRange(ctx context.Context, method string, body []byte, params []Param) ([]T, error) {
	q, err := c.newQuery(params)
	switch {
	case c.err != nil:
		return nil, c.err
	case err != nil:
		return nil, err
	case q.exact:
		return nil, fmt.Errorf("a write has no CountExact: it returns all resources")
	}
	answer, err := c.client.Do(ctx, Request{Method: method, Path: c.path, Query: q.encode(), Body: body})
	if err != nil {
		return nil, err
	}
	return decodeList[T](answer.Body)
}

// Upsert creates a resource, or changes the one that has the same value of a unique attribute, or of all
// attributes of a unique group, with commas between them. Only the attributes that are given are
// changed: a map by their names, or a struct that leaves the others out.
func (c *Collection[T]) Upsert(ctx context.Context, onConflict string, value any, options ...WriteOption) (stored Resource[T], created bool, err error) {
	body, err := attributes(value, true)
	if err != nil {
		return stored, false, err
	}
	answer, err := c.sendQuery(ctx, http.MethodPost, "", conflictQuery(onConflict), body, options)
	stored, err = c.resource(ctx, answer, err)
	return stored, err == nil && answer.Status == http.StatusCreated, err
}

// UpsertMany does the same with any number of values, in arrays, each of which is written as a whole or not
// at all. If one is refused, the resources of those ahead of it are returned with the error.
func (c *Collection[T]) UpsertMany(ctx context.Context, onConflict string, values []T) ([]T, error) {
	return c.writeMany(ctx, conflictQuery(onConflict), values)
}

func conflictQuery(onConflict string) string { return "on_conflict=" + url.QueryEscape(onConflict) }

// Step is one write of a Transaction.
type Step struct {
	Method string `json:"method"` // POST, PUT, PATCH or DELETE
	// Path is that of a collection for POST, which may have on_conflict as its query, and otherwise that of
	// one resource: "/users", "/users?on_conflict=email", "/users/<id>".
	Path    string `json:"path"`
	Body    any    `json:"body,omitempty"`
	IfMatch string `json:"if_match,omitempty"` // an ETag; empty: none
}

// Transaction executes steps in their order, all or none, and returns the resource of each. The
// place of an error starts with the number of its step: "/1/body/name".
func (c *Client) Transaction(ctx context.Context, steps []Step) ([]json.RawMessage, error) {
	if steps == nil {
		steps = []Step{}
	}
	body, err := marshal(steps)
	if err != nil {
		return nil, err
	}
	answer, err := c.Do(ctx, Request{Method: http.MethodPost, Path: "/-/transaction", Body: body})
	if err != nil {
		return nil, err
	}
	return decodeList[json.RawMessage](answer.Body)
}

// DryRun sends a write that is checked and answered, but changes nothing. It returns how many resources of
// each collection the write would create, change or delete.
func (c *Client) DryRun(ctx context.Context, request Request) (affected map[string]int64, answer *Response, err error) {
	request.Repeatable = true
	if request.Query != "" {
		request.Query += "&"
	}
	request.Query += "dry_run=true"
	if answer, err = c.Do(ctx, request); err != nil {
		return nil, nil, err
	}
	affected = map[string]int64{}
	for part := range strings.SplitSeq(answer.Header.Get("X-Affected"), ",") {
		name, number, found := strings.Cut(strings.TrimSpace(part), "=")
		count, err := strconv.ParseInt(number, 10, 64)
		if !found || err != nil {
			return nil, answer, fmt.Errorf("the server does not say what is affected: X-Affected is %q", answer.Header.Get("X-Affected"))
		}
		affected[name] = count
	}
	return affected, answer, nil
}
