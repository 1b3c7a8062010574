package resource

import (
	"errors"
	"slices"
	"strconv"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
)

// inArray is the JSON Pointer of an item of an array.
func inArray(i int) string { return "/" + strconv.Itoa(i) }

func (w *Work) create(write Write) ([]Resource, error) {
	if err := w.requireParent(write.Path); err != nil {
		return nil, err
	}
	// The write changes the collection, which has no ETag.
	if err := write.Condition.AllowsChange(""); err != nil {
		return nil, err
	}
	all := make([]writing, len(write.Inputs))
	for i, input := range write.Inputs {
		all[i].input = input
	}
	return w.writeAll(write.Path, all, write.pointer)
}

func newRecord(tx *store.Tx, c *model.Collection, input model.Input) model.Record {
	id := input.Values[model.IDColumn]
	if !input.HasID() {
		id = model.IDValue(tx.NewID())
	}
	record := slices.Clone(input.Values)
	record[model.IDColumn] = id
	if !c.NoTimestamps {
		record[c.CreatedColumn()], record[c.UpdatedColumn()] = timesOf(tx, c, input)
	}
	return record
}

// timesOf is when a new resource was created and updated: now, or what an import says. An import that
// says only one of them means both.
func timesOf(tx *store.Tx, c *model.Collection, input model.Input) (created, updated model.Value) {
	created, updated = input.Values[c.CreatedColumn()], input.Values[c.UpdatedColumn()]
	switch hasCreated, hasUpdated := input.Set[c.CreatedColumn()], input.Set[c.UpdatedColumn()]; {
	case hasCreated && hasUpdated:
		return created, updated
	case hasCreated:
		return created, created
	case hasUpdated:
		return updated, updated
	}
	return tx.Now(), tx.Now()
}

// atPointer prefixes the JSON Pointers of an error, if it is a problem.Error.
func atPointer(pointer string, err error) error {
	var list problem.Errors
	var one *problem.Error
	switch {
	case errors.As(err, &list):
		return prefixed(pointer, list)
	case errors.As(err, &one):
		return prefixed(pointer, problem.Errors{one})
	}
	return err
}

// prefixed prefixes the JSON Pointers of faults, except those of the server (5xx). It copies the
// faults: a hook may return the same one repeatedly.
func prefixed(pointer string, faults problem.Errors) problem.Errors {
	result := make(problem.Errors, len(faults))
	for i, f := range faults {
		if result[i] = f; f.Status() >= 500 {
			continue
		}
		moved := *f
		moved.Source.Pointer = pointer + f.Source.Pointer
		result[i] = &moved
	}
	return result
}
