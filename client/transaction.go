package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// Step is one write of a Transaction. Steps of a collection make them.
type Step struct {
	Method string `json:"method"` // POST, PUT, PATCH or DELETE
	// Path is that of a collection for POST, which may have on_conflict as its query, and otherwise that of
	// one resource: "/users", "/users?on_conflict=email", "/users/<id>".
	Path    string `json:"path"`
	Body    any    `json:"body,omitempty"`
	IfMatch string `json:"if_match,omitempty"` // an ETag; empty: none

	err error // of the call that made it; Transaction returns it
}

// Steps makes the steps of transactions from values of T. It sends nothing.
type Steps[T any] struct{ collection *Collection[T] }

// Steps returns the writes of the collection as steps of a transaction. If a value or an id is invalid, the
// transaction returns the error.
func (c *Collection[T]) Steps() Steps[T] { return Steps[T]{c} }

// Create creates a resource. With an id of your own, later steps can refer to it.
func (s Steps[T]) Create(value T) Step {
	return s.step(http.MethodPost, "", "", value, nil)
}

// Upsert creates a resource, or changes the one with the same unique values: see Collection.Upsert.
func (s Steps[T]) Upsert(onConflict string, value any) Step {
	return s.step(http.MethodPost, "", conflictQuery(onConflict), value, nil)
}

// Replace sets every attribute of a resource. The only option is IfMatch.
func (s Steps[T]) Replace(id string, value T, options ...WriteOption) Step {
	return s.step(http.MethodPut, id, "", value, options)
}

// Update changes the attributes that are given. The only option is IfMatch.
func (s Steps[T]) Update(id string, changes any, options ...WriteOption) Step {
	return s.step(http.MethodPatch, id, "", changes, options)
}

// Delete deletes a resource. The only option is IfMatch.
func (s Steps[T]) Delete(id string, options ...WriteOption) Step {
	return s.step(http.MethodDelete, id, "", nil, options)
}

func (s Steps[T]) step(method, id, query string, value any, options []WriteOption) Step {
	request, err := s.collection.request(method, id, query, value, options)
	if err == nil && request.Header.Get("Idempotency-Key") != "" {
		err = fmt.Errorf("an IdempotencyKey is for the whole transaction")
	}
	step := Step{Method: method, Path: request.Path, IfMatch: request.Header.Get("If-Match"), err: err}
	if query != "" {
		step.Path += "?" + query
	}
	if request.Body != nil {
		step.Body = json.RawMessage(request.Body)
	}
	return step
}

// Decode reads a resource as the server sends it into a T, such as one of a Transaction.
func (c *Collection[T]) Decode(representation json.RawMessage) (value T, err error) {
	err = decode(representation, &value)
	return value, err
}

// Transaction executes steps in their order, all or none, and returns the resource of each. The
// place of an error starts with the number of its step: "/1/body/name". The only option is IdempotencyKey.
func (c *Client) Transaction(ctx context.Context, steps []Step, options ...WriteOption) ([]json.RawMessage, error) {
	request, err := transactionRequest(steps, options)
	if err != nil {
		return nil, err
	}
	return getList[json.RawMessage](ctx, c, request)
}

func transactionRequest(steps []Step, options []WriteOption) (Request, error) {
	for i, step := range steps {
		if step.err != nil {
			return Request{}, fmt.Errorf("step %d: %w", i, step.err)
		}
	}
	if steps == nil {
		steps = []Step{}
	}
	body, err := marshal(steps)
	if err != nil {
		return Request{}, err
	}
	request := Request{Method: http.MethodPost, Path: "/-/transaction", Header: http.Header{}, Body: body}
	for _, apply := range options {
		if err := apply(request.Header); err != nil {
			return Request{}, err
		}
	}
	if request.Header.Get("If-Match") != "" {
		return Request{}, fmt.Errorf("IfMatch is for the steps of a transaction")
	}
	return request, nil
}
