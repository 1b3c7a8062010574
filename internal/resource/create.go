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
	created, err := r.createAll(ctx, path, []schema.Input{input}, func(int) string { return "" })
	if err != nil {
		return Resource{}, err
	}
	return created[0], nil
}

// CreateMany creates several resources, all or none.
func (r *Resources) CreateMany(ctx context.Context, path Path, inputs []schema.Input) ([]Resource, error) {
	return r.createAll(ctx, path, inputs, func(i int) string { return "/" + strconv.Itoa(i) })
}

func (r *Resources) createAll(ctx context.Context, path Path, inputs []schema.Input, pointer func(i int) string) ([]Resource, error) {
	var created []Resource
	err := r.store.Write(ctx, func(tx *store.Tx) error {
		created = make([]Resource, 0, len(inputs))
		if err := path.requireParent(tx); err != nil {
			return err
		}
		var invalid, conflicts fault.List
		for i, input := range inputs {
			record := newRecord(tx, path.Collection, input)
			faults, err := checkReferences(tx, path.Collection, nil, record)
			if err != nil {
				return err
			}
			representation, err := tx.Insert(path.Collection, record)
			conflict := fault.List(nil)
			if err != nil && !errors.As(err, &conflict) {
				return err
			}
			invalid = append(invalid, below(pointer(i), faults)...)
			conflicts = append(conflicts, below(pointer(i), conflict)...)
			created = append(created, Resource{ID: record.ID(schema.IDColumn), Representation: representation})
		}
		// What is wrong in itself comes before what is only in conflict.
		if len(invalid) > 0 {
			return invalid
		}
		return conflicts.Err()
	})
	return created, err
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
