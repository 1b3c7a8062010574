package resource

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

// Create creates one resource.
func (r *Resources) Create(ctx context.Context, path Path, input schema.Input) (Resource, error) {
	created, err := r.createAll(ctx, path, []schema.Input{input}, alone)
	if err != nil {
		return Resource{}, err
	}
	return created[0], nil
}

// CreateMany creates several resources, all or none.
func (r *Resources) CreateMany(ctx context.Context, path Path, inputs []schema.Input) ([]Resource, error) {
	return r.createAll(ctx, path, inputs, inArray)
}

// alone and inArray are the places of resources in a body.
func alone(int) string     { return "" }
func inArray(i int) string { return "/" + strconv.Itoa(i) }

func (r *Resources) createAll(ctx context.Context, path Path, inputs []schema.Input, pointer func(i int) string) ([]Resource, error) {
	var created []Resource
	err := r.store.Write(ctx, func(tx *store.Tx) error {
		created = make([]Resource, 0, len(inputs))
		if err := path.requireParent(tx); err != nil {
			return err
		}
		invalid, err := checkNew(tx, path.Collection, inputs, pointer)
		if err != nil {
			return err
		}
		if len(invalid) > 0 {
			return invalid
		}
		var conflicts fault.List
		for i, input := range inputs {
			record := newRecord(tx, path.Collection, input)
			representation, err := tx.Insert(path.Collection, record)
			conflict := fault.List(nil)
			if err != nil && !errors.As(err, &conflict) {
				return err
			}
			conflicts = append(conflicts, below(pointer(i), conflict)...)
			created = append(created, Resource{ID: record.ID(schema.IDColumn), Representation: representation})
		}
		return conflicts.Err()
	})
	return created, err
}

// checkNew reports the references of new resources that lead nowhere. They may
// refer to each other.
func checkNew(tx *store.Tx, c *schema.Collection, inputs []schema.Input, pointer func(i int) string) (fault.List, error) {
	var together []schema.Value
	for _, input := range inputs {
		if input.Values != nil && input.HasID() {
			together = append(together, input.Values[schema.IDColumn])
		}
	}
	var invalid fault.List
	for i, input := range inputs {
		if input.Values == nil {
			continue // it was no object
		}
		faults, err := checkReferences(tx, c, nil, input.Values, together...)
		if err != nil {
			return nil, err
		}
		invalid = append(invalid, below(pointer(i), faults)...)
	}
	return invalid, nil
}

func newRecord(tx *store.Tx, c *schema.Collection, input schema.Input) schema.Record {
	record := slices.Clone(input.Values)
	if !input.HasID() {
		record[schema.IDColumn] = schema.IDValue(tx.NewID())
	}
	if !c.NoTimestamps {
		record[c.CreatedColumn()], record[c.UpdatedColumn()] = tx.Now(), tx.Now()
	}
	return record
}

// below puts a place in front of the places of faults.
func below(pointer string, faults fault.List) fault.List {
	for _, f := range faults {
		f.Source.Pointer = pointer + f.Source.Pointer
	}
	return faults
}
