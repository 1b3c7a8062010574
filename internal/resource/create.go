package resource

import (
	"errors"
	"slices"
	"strconv"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// inArray is the JSON Pointer of an item of an array.
func inArray(i int) string { return "/" + strconv.Itoa(i) }

func (w *Work) create(write Write) ([]Resource, error) {
	if err := w.requireParent(write.Path); err != nil {
		return nil, err
	}
	// The write changes the collection, which has no ETag.
	if err := write.Condition.allowsChange(""); err != nil {
		return nil, err
	}
	return w.createAll(write.Path, write.Inputs, write.pointer)
}

// createAll creates resources of a path, or none of them. Pointer is as in updateAll.
func (w *Work) createAll(path Path, inputs []model.Input, pointer func(i int) string) ([]Resource, error) {
	c, before := path.Collection, len(w.creating)
	records := make([]model.Record, len(inputs))
	for i, input := range inputs {
		records[i] = newRecord(w.tx, c, input)
		w.creating = append(w.creating, identity{c, records[i].ID(model.IDColumn)})
	}
	// Once they are stored, they are found there, unless they are deleted later.
	defer func() { w.creating = w.creating[:before] }()
	for i, record := range records {
		if err := w.within(&Change{Verb: Create, Collection: c, After: record}); err != nil {
			return nil, placed(pointer(i), err)
		}
	}
	find := findAmong(w.tx, c, records...)
	for i, record := range records {
		allowed, err := path.By.Allows(schema.MayCreate, c, record, find)
		if err != nil {
			return nil, err
		}
		if !allowed {
			return nil, placed(pointer(i), path.By.Denied("You may not create a resource with these values in %s.", c.Name))
		}
	}
	dangling, err := w.checkReferences(path.By, c, nil, records)
	if err != nil {
		return nil, err
	}
	if refused := joined(pointer, dangling); len(refused) > 0 {
		return nil, refused
	}
	return w.insert(path, records, pointer)
}

// insert stores new resources, or reports all their conflicts.
func (w *Work) insert(path Path, records []model.Record, pointer func(i int) string) ([]Resource, error) {
	if err := w.hold(records...); err != nil {
		return nil, err
	}
	c := path.Collection
	representations, refused, err := w.tx.InsertAll(c, records)
	if err != nil {
		return nil, err
	}
	created := make([]Resource, len(records))
	var conflicts problem.Errors
	for i, record := range records {
		conflicts = append(conflicts, prefixed(pointer(i), path.redact(refused[i]))...)
		created[i] = w.resources.resource(path, record, representations[i])
		created[i].Created = true
		w.written(&Change{Verb: Create, Collection: c, After: record})
	}
	return created, conflicts.Err()
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

// placed prefixes the JSON Pointers of an error, if it is a problem.Error.
func placed(pointer string, err error) error {
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
