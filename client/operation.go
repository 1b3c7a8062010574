package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"time"

	"github.com/plural-go/plural/problem"
)

// Async is a collection whose writes are executed asynchronously.
type Async[T any] struct{ collection *Collection[T] }

// Async returns the collection with asynchronous writes: a call returns when the server has
// accepted the write, and Operation.Wait returns when it is executed.
func (c *Collection[T]) Async() Async[T] { return Async[T]{c} }

// Create creates a resource asynchronously.
func (a Async[T]) Create(ctx context.Context, value T, options ...WriteOption) (*Operation[T], error) {
	return a.send(ctx, http.MethodPost, "", value, options)
}

// Replace replaces every attribute of a resource asynchronously.
func (a Async[T]) Replace(ctx context.Context, id string, value T, options ...WriteOption) (*Operation[T], error) {
	return a.send(ctx, http.MethodPut, id, value, options)
}

// Update changes attributes of a resource asynchronously, as PATCH does.
func (a Async[T]) Update(ctx context.Context, id string, changes any, options ...WriteOption) (*Operation[T], error) {
	return a.send(ctx, http.MethodPatch, id, changes, options)
}

// Delete deletes a resource asynchronously.
func (a Async[T]) Delete(ctx context.Context, id string, options ...WriteOption) (*Operation[T], error) {
	return a.send(ctx, http.MethodDelete, id, nil, options)
}

func (a Async[T]) send(ctx context.Context, method, id string, value any, options []WriteOption) (*Operation[T], error) {
	later := func(header http.Header) error {
		header.Set("Prefer", "respond-async")
		return nil
	}
	answer, err := a.collection.send(ctx, method, id, "", value, append(options[:len(options):len(options)], later))
	if err != nil {
		return nil, err
	}
	if answer.Status != http.StatusAccepted {
		return nil, fmt.Errorf("the server has answered %d, and not that it accepts the request", answer.Status)
	}
	return a.collection.accepted(answer)
}

// Operation is a write that was accepted.
type Operation[T any] struct {
	ID         string // of the operation
	ResourceID string // of the resource that it creates, changes or deletes

	collection *Collection[T]
}

// accepted reads a response with status 202.
func (c *Collection[T]) accepted(answer *Response) (*Operation[T], error) {
	operation := &Operation[T]{ID: path.Base(answer.Header.Get("Location")), collection: c}
	var resource Reference
	if err := decodeData(answer.Body, "a resource", &resource); err != nil {
		return nil, err
	}
	operation.ResourceID = resource.ID
	return operation, errors.Join(checkID(operation.ID), checkID(operation.ResourceID))
}

// Operation finds an operation of the collection again, by its id.
func (c *Collection[T]) Operation(ctx context.Context, id string) (*Operation[T], error) {
	operation := &Operation[T]{ID: id, collection: c}
	state, err := operation.State(ctx)
	if err != nil {
		return nil, err
	}
	if state.Resource.Type != c.name {
		return nil, fmt.Errorf("the operation %s is about %s, and not about %s", id, state.Resource.Type, c.name)
	}
	operation.ResourceID = state.Resource.ID
	return operation, nil
}

// OperationState is the state of an operation.
type OperationState struct {
	ID       string `json:"id"`
	Status   string `json:"status"` // pending, running, succeeded or failed
	Method   string `json:"method"`
	Resource struct {
		ID   string `json:"id"`
		Type string `json:"type"`
	} `json:"resource"`
	Errors    problem.Errors `json:"errors"` // why it failed
	Attempts  int64          `json:"attempts"`
	CreatedAt time.Time      `json:"created_at"`
	UpdatedAt time.Time      `json:"updated_at"`
}

// State reads the state of the operation.
func (o *Operation[T]) State(ctx context.Context) (OperationState, error) {
	state, err := Of[OperationState](o.collection.client, "operations").Get(ctx, o.ID)
	return state.Value, err
}

// The pause between two reads of an operation grows from one to the other.
const (
	firstLook = 20 * time.Millisecond
	lastLook  = time.Second
)

// Wait waits until the operation has finished, and returns the resource as it is then, or
// the *Error that a synchronous write would have returned. Of a deleted resource it returns
// only the ID. If the context ends first, the operation is executed nevertheless.
func (o *Operation[T]) Wait(ctx context.Context) (Resource[T], error) {
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		state, err := o.State(ctx)
		switch {
		case err != nil:
			return Resource[T]{}, err
		case state.Status == "failed":
			return Resource[T]{}, o.failure(state)
		case state.Status == "succeeded" && state.Method == http.MethodDelete:
			return Resource[T]{ID: o.ResourceID}, nil
		case state.Status == "succeeded":
			return Of[T](o.collection.client, o.collection.name).Get(ctx, o.ResourceID)
		}
		if !sleep(ctx, pause) {
			return Resource[T]{}, ctx.Err()
		}
	}
}

func (o *Operation[T]) failure(state OperationState) error {
	failed := &Error{Errors: state.Errors, Request: state.Method + " /" + o.collection.name + "/" + o.ResourceID + " (operation " + o.ID + ")"}
	if len(failed.Errors) == 0 {
		failed.Errors = problem.Errors{{Detail: "The operation failed, and does not say why."}}
	}
	failed.Status = failed.Errors[0].Status()
	return failed
}
