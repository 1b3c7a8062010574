package resource

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// inArray is the place of a resource in a body that has several.
func inArray(i int) string { return "/" + strconv.Itoa(i) }

func (w *Work) create(write Write) ([]Resource, error) {
	c, inputs, pointer := write.Path.Collection, write.Inputs, write.pointer
	if err := w.requireParent(write.Path); err != nil {
		return nil, err
	}
	// What is changed is the collection, which has no ETag.
	if err := write.Condition.allowsChange(""); err != nil {
		return nil, err
	}
	records := make([]model.Record, len(inputs))
	for i, input := range inputs {
		records[i] = newRecord(w.tx, c, input)
		w.coming = append(w.coming, identity{c, records[i].ID(model.IDColumn)})
	}
	for i, record := range records {
		if err := w.within(&Change{Verb: Create, Collection: c, After: record}); err != nil {
			return nil, at(pointer(i), err)
		}
	}
	for i, record := range records {
		if !write.Path.By.Allows(schema.MayCreate, c, record) {
			return nil, at(pointer(i), write.Path.By.Denied("You may not create such a resource in %s.", c.Name))
		}
	}
	invalid, err := w.checkNew(write.Path, records, pointer)
	if err != nil {
		return nil, err
	}
	if len(invalid) > 0 {
		return nil, invalid
	}
	return w.insert(write.Path, records, pointer)
}

// insert stores new resources, or reports all that they are in conflict with.
func (w *Work) insert(path Path, records []model.Record, pointer func(i int) string) ([]Resource, error) {
	c := path.Collection
	representations, refused, err := w.tx.InsertAll(c, records)
	if err != nil {
		return nil, err
	}
	created := make([]Resource, len(records))
	var conflicts problem.Errors
	for i, record := range records {
		conflicts = append(conflicts, below(pointer(i), path.discreet(refused[i]))...)
		created[i] = w.resources.resource(path, record, representations[i])
		w.written(&Change{Verb: Create, Collection: c, After: record})
	}
	return created, conflicts.Err()
}

func newRecord(tx *store.Tx, c *model.Collection, input model.Input) model.Record {
	id := input.Values[model.IDColumn]
	if !input.HasID() {
		id = model.IDValue(tx.NewID())
	}
	return recordOf(c, input, id, tx.Now())
}

func recordOf(c *model.Collection, input model.Input, id, now model.Value) model.Record {
	record := slices.Clone(input.Values)
	record[model.IDColumn] = id
	if !c.NoTimestamps {
		record[c.CreatedColumn()], record[c.UpdatedColumn()] = now, now
	}
	return record
}

// Add does a write that creates one resource, of which nothing else is to be known, and
// nothing else is to happen with it. It shares its commit with others. If it is another
// write, or something stands against it, done is false and nothing has happened.
func (r *Resources) Add(ctx context.Context, write Write) (results []Resource, done bool, err error) {
	c := write.Path.Collection
	if write.Path.By != nil { // what they may create, and refer to, is decided in a transaction
		return nil, false, nil
	}
	if write.Verb != Create || len(write.Inputs) != 1 || write.Inputs[0].HasID() || c.ReadOnly() || len(r.hooks[hookKey{c, Create}]) > 0 ||
		write.Condition.allowsChange("") != nil {
		return nil, false, nil
	}
	record, representation, done, err := r.store.Add(ctx, c, func(id model.ID, now model.Value) model.Record {
		return recordOf(c, write.Inputs[0], model.IDValue(id), now)
	})
	if err != nil || !done {
		return nil, false, err
	}
	return []Resource{r.resource(write.Path, record, representation)}, true, nil
}

// at puts a place in front of the places of an error, if it is a fault.
func at(pointer string, err error) error {
	var list problem.Errors
	var one *problem.Error
	switch {
	case errors.As(err, &list):
		return below(pointer, list)
	case errors.As(err, &one):
		return below(pointer, problem.Errors{one})
	}
	return err
}

// below puts a place in front of the places of faults, but for those that no
// place in the body is to blame for. It leaves the faults themselves alone: a hook
// may return the same one again and again.
func below(pointer string, faults problem.Errors) problem.Errors {
	placed := make(problem.Errors, len(faults))
	for i, f := range faults {
		if placed[i] = f; f.Status() >= 500 {
			continue
		}
		moved := *f
		moved.Source.Pointer = pointer + f.Source.Pointer
		placed[i] = &moved
	}
	return placed
}
