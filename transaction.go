package plural

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/params"
	"github.com/plural-go/plural/problem"
)

// Transaction runs a function in one transaction: what it writes through tx is stored when it
// returns nil, all of it or nothing. Its error is returned as it is. What it writes has the
// checks, hooks and rights of requests, and the caller of the context; Before hooks run
// inside the transaction. The function may run more than once, because the transaction may, so it
// should have no effect outside. It may take Config.MaxHookTime; a panic becomes an error. On
// SQLite no other write goes on meanwhile: be quick, and write through tx only.
func (s *Server) Transaction(ctx context.Context, fn func(ctx context.Context, tx *Tx) error) error {
	return s.callAs(ctx, func(by *auth.Permit) error {
		own, err := s.resources.Transaction(ctx, by, func(ctx context.Context, handle *resource.Handle) error {
			return fn(ctx, &Tx{handle: handle, schema: s.store.Schema()})
		})
		if own {
			return err
		}
		return callError(err)
	})
}

// Tx reads and writes within a transaction: that of a Within hook, or of Server.Transaction.
// What it writes is committed with the transaction, or not at all, and has its own hooks run.
// In a hook that is without Before, and not restricted by the rights of the caller. A write that
// fails is undone by itself, and the transaction can go on. Tx is of no use once the function that
// it was given to has returned.
//
// Its errors are Errors. They are about what a hook wanted, and not about the
// request: one that a hook returns is a 500. Return Invalid or Conflict instead
// if the client is to blame.
type Tx struct {
	handle *resource.Handle
	schema *model.Schema
}

// Get reads one resource.
func (t *Tx) Get(collection, id string) (*Resource, error) {
	c, key, err := find(t.schema, collection, id)
	if err != nil {
		return nil, callError(err)
	}
	found, err := t.get(context.Background(), c, key, "")
	return restored(c, found, err)
}

// List reads a range of a collection into memory: 100 resources at most, if there is no Limit.
func (t *Tx) List(collection string, given ...params.Param) ([]*Resource, error) {
	c := t.schema.Collection(collection)
	if c == nil {
		return nil, callError(unknownCollection(collection))
	}
	q, err := wanted(given)
	if err != nil {
		return nil, err
	}
	if q.Shows() {
		return nil, callError(errors.New("this list has no Include and no Fields: use In of a Collection"))
	}
	var all []*Resource
	err = t.list(context.Background(), c, q.Encode(), 100, func(found reads.Resource) error {
		each, err := restored(c, found, nil)
		all = append(all, each)
		return err
	})
	return all, callError(err)
}

// Create creates a resource of attributes: a struct or a map that encoding/json
// can marshal.
func (t *Tx) Create(collection string, attributes any) (*Resource, error) {
	c := t.schema.Collection(collection)
	if c == nil {
		return nil, callError(unknownCollection(collection))
	}
	return t.write(c, http.MethodPost, model.ID{}, attributes, nil)
}

// Update changes the attributes that are given, as PATCH does.
func (t *Tx) Update(collection, id string, attributes any, conditions ...Condition) (*Resource, error) {
	return t.change(collection, http.MethodPatch, id, attributes, conditions)
}

// Replace gives every attribute of a resource a value, as PUT does: one that is left out goes to
// its default, or to null.
func (t *Tx) Replace(collection, id string, attributes any, conditions ...Condition) (*Resource, error) {
	return t.change(collection, http.MethodPut, id, attributes, conditions)
}

// Delete deletes a resource and returns it as it last was.
func (t *Tx) Delete(collection, id string, conditions ...Condition) (*Resource, error) {
	return t.change(collection, http.MethodDelete, id, nil, conditions)
}

func (t *Tx) change(collection, method, id string, attributes any, conditions []Condition) (*Resource, error) {
	c, key, err := find(t.schema, collection, id)
	if err != nil {
		return nil, callError(err)
	}
	return t.write(c, method, key, attributes, conditions)
}

func (t *Tx) write(c *model.Collection, method string, id model.ID, attributes any, conditions []Condition) (*Resource, error) {
	w := write{Step: resource.Step{Method: method, Path: reads.Path{Collection: c}, ID: id}}
	if err := w.complete(attributes, conditions); err != nil {
		return nil, callError(err)
	}
	results, err := t.do(context.Background(), w)
	if err != nil {
		return nil, callError(err)
	}
	return restored(c, results[0], nil)
}

// These four methods implement backend. The context is that of the transaction already.

func (t *Tx) get(_ context.Context, c *model.Collection, id model.ID, wanted string) (reads.Resource, error) {
	found, err := t.handle.Read(c, id, wanted)
	return found, callError(err)
}

func (t *Tx) list(_ context.Context, c *model.Collection, wanted string, limit int64, visit func(reads.Resource) error) error {
	all, err := t.handle.List(c, wanted, limit)
	for i := 0; i < len(all) && err == nil; i++ {
		err = visit(all[i])
	}
	return callError(err)
}

func (t *Tx) count(_ context.Context, c *model.Collection, wanted string) (int64, error) {
	total, err := t.handle.Count(c, wanted)
	return total, callError(err)
}

func (t *Tx) do(_ context.Context, w write) ([]reads.Resource, error) {
	step, err := w.resolve(t.handle.Limits(w.Path.Collection))
	if err != nil {
		return nil, callError(err)
	}
	results, err := t.handle.Do(step)
	return results, callError(err)
}

// restored is a resource in memory, read back from its representation.
func restored(c *model.Collection, found reads.Resource, err error) (*Resource, error) {
	if err != nil {
		return nil, err
	}
	record, err := c.Restore(found.Representation)
	if err != nil {
		return nil, callError(err)
	}
	r := stored(newResource(c, record, nil))
	r.etag = found.ETag
	return r, nil
}

// callError is the error of a call by the program: if it has codes, it becomes an Errors that
// is not mistaken for errors of a request.
func callError(err error) error {
	if inner := (*fault.Inner)(nil); err == nil || errors.As(err, &inner) {
		return err
	}
	var list problem.Errors
	var one *problem.Error
	if !errors.As(err, &list) && errors.As(err, &one) {
		err = problem.Errors{one}
	}
	return &fault.Inner{Err: err}
}

func find(s *model.Schema, collection, id string) (*model.Collection, model.ID, error) {
	c := s.Collection(collection)
	if c == nil {
		return nil, model.ID{}, unknownCollection(collection)
	}
	key, err := parseID(id)
	return c, key, err
}

func parseID(id string) (model.ID, error) {
	key, ok := model.ParseID(id)
	if !ok {
		return model.ID{}, fault.New(problem.CodeNotFound, "%s is not an id.", fault.Quote(id))
	}
	return key, nil
}

func unknownCollection(name string) error {
	return fmt.Errorf("the schema has no collection %q", name)
}
