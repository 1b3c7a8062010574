package resource

import (
	"context"
	"slices"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// Write is one write to be done, as data: requests, recorded requests and
// operations all come down to it.
type Write struct {
	Verb Verb
	Path Path
	ID   model.ID // of what is updated or deleted

	Inputs []model.Input // one, or any number of new resources if Many
	Many   bool          // they are items of an array

	Condition Condition

	// echoed is what an update sets of the attributes that the caller sees and may not
	// change, by column: it must be what is stored.
	echoed    model.Record
	echoedSet []bool

	// Schema is the version of the schema that its condition is about, if it was
	// accepted by a server with another one.
	Schema int64

	// Accepting: it is only to be found out whether it can be accepted, to be
	// done later. Resources that will exist by then count.
	Accepting bool
}

// pointer is the place of an input in the body.
func (write *Write) pointer(i int) string {
	if write.Many {
		return inArray(i)
	}
	return ""
}

// Do does a write with all that follows from it. It returns the resources as
// they are now, or as they last were.
func (r *Resources) Do(ctx context.Context, write Write) (results []Resource, err error) {
	if err := r.Before(ctx, &write); err != nil {
		return nil, err
	}
	if results, done, err := r.Add(ctx, write); done || err != nil {
		return results, err
	}
	err = r.Transact(ctx, func(w *Work) error {
		results, err = w.Do(write)
		return err
	})
	return results, err
}

// Identify gives the resource that a write creates an id, if the client brought
// none, and returns it.
func (w *Work) Identify(write *Write) model.ID {
	if !write.Inputs[0].HasID() {
		write.SetID(w.tx.NewID())
	}
	return write.Inputs[0].Values.ID(model.IDColumn)
}

// SetID sets the id of the resource that a write creates. It leaves the input that
// it was given alone: a transaction may run again.
func (write *Write) SetID(id model.ID) {
	input := model.Input{Values: slices.Clone(write.Inputs[0].Values), Set: slices.Clone(write.Inputs[0].Set)}
	input.Values[model.IDColumn], input.Set[model.IDColumn] = model.IDValue(id), true
	write.Inputs = []model.Input{input}
}

// Relied lists the operations that will create what writes have relied on.
func (w *Work) Relied() []model.ID { return w.relied }

// Before runs the hooks that come ahead of the transaction of a write.
func (r *Resources) Before(ctx context.Context, write *Write) error {
	if err := r.refuseNested(ctx); err != nil {
		return err
	}
	ctx, cancel := r.hookTime(ctx)
	defer cancel()
	return r.runBefore(ctx, write)
}

func (r *Resources) runBefore(ctx context.Context, write *Write) error {
	id := &write.ID
	if write.Verb == Delete {
		return r.before(ctx, Delete, write.Path, id, nil)
	}
	if write.Verb == Create {
		id = nil // it has none yet, or its input has it
	}
	for i := range write.Inputs {
		if err := r.before(ctx, write.Verb, write.Path, id, &write.Inputs[i]); err != nil {
			return at(write.pointer(i), err)
		}
	}
	return nil
}

// Do does a write in the transaction.
func (w *Work) Do(write Write) ([]Resource, error) {
	if write.Path.Collection.ReadOnly() {
		return nil, fault.New(problem.CodeMethodNotAllowed, "The %s are written by the server alone.", write.Path.Collection.Name)
	}
	if by := write.Path.By; by != nil {
		if !by.May(verbs[write.Verb], write.Path.Collection) {
			return nil, by.Denied("You may not %s resources of %s.", write.Verb, write.Path.Collection.Name)
		}
		w.by = by
		w.tx.As(by.Caller.ID)
	}
	w.accepted = w.accepted || write.Accepting
	var result Resource
	var err error
	switch write.Verb {
	case Create:
		return w.create(write)
	case Update:
		result, err = w.update(write)
	case Delete:
		result, err = w.delete(write)
	}
	return []Resource{result}, err
}

// verbs is what must be granted for a write.
var verbs = map[Verb]schema.AccessVerb{Create: schema.MayCreate, Update: schema.MayUpdate, Delete: schema.MayDelete}

// allowed reports why a caller may not change a resource that they see.
func (write *Write) allowed(before model.Record) error {
	if by := write.Path.By; !by.Allows(verbs[write.Verb], write.Path.Collection, before) {
		return by.Denied("You may not %s this resource.", write.Verb)
	}
	return nil
}

// meet reads the resource that a write is about, and answers 404, 403 when the caller
// may not change it, or 412 and 428 when it is not in the state that the write is meant for.
func (w *Work) meet(write Write) (model.Record, error) {
	if err := w.requireParentOfItem(write.Path); err != nil {
		return nil, err
	}
	record, err := write.Path.get(w.tx, write.ID)
	if err != nil {
		return nil, err
	}
	if err := write.allowed(record); err != nil {
		return nil, err
	}
	return record, w.resources.checkState(w.tx, write, record)
}

func (r *Resources) checkState(tx *store.Tx, write Write, record model.Record) error {
	c := write.Path.Collection
	tag := r.etag(write.Path, record.Int(c.RevisionColumn()))
	if write.Schema != 0 {
		since, err := tx.SinceOf(c, write.Schema)
		if err != nil {
			return err
		}
		tag = etagOf(record.Int(c.RevisionColumn()), since, write.Path.By.Mark(c))
	}
	return write.Condition.allowsChange(tag)
}
