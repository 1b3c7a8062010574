package resource

import (
	"context"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

// A body that is invalid in itself never gets as far as a write. What the write
// would have found is looked up here, so that a client is told of everything at
// once, and of a resource that does not exist before anything else.

// CreateViolations reports what else is wrong with inputs to create from. A
// parent that does not exist is the error.
func (r *Resources) CreateViolations(ctx context.Context, path Path, inputs []schema.Input, many bool) (fault.List, error) {
	return r.look(ctx, func(tx *store.Tx) (fault.List, error) {
		if err := path.requireParent(tx); err != nil {
			return nil, err
		}
		pointer := alone
		if many {
			pointer = inArray
		}
		var coming []identity
		records := make([]schema.Record, len(inputs))
		for i, input := range inputs {
			if records[i] = input.Values; records[i] != nil && input.HasID() {
				coming = append(coming, identity{path.Collection, records[i].ID(schema.IDColumn)})
			}
		}
		return checkNew(tx, path.Collection, records, coming, pointer)
	})
}

// UpdateViolations reports what else is wrong with an input to update by, if the
// body had one. A resource that does not exist is the error.
func (r *Resources) UpdateViolations(ctx context.Context, path Path, id schema.ID, inputs []schema.Input) (fault.List, error) {
	return r.look(ctx, func(tx *store.Tx) (fault.List, error) {
		before, err := path.get(tx, id)
		if err != nil || len(inputs) == 0 {
			return nil, err
		}
		dangling, err := checkReferences(tx, path.Collection, before, apply(path.Collection, before, inputs[0]), nil)
		return append(checkTimestamps(path.Collection, before, inputs[0]), dangling...), err
	})
}

func (r *Resources) look(ctx context.Context, find func(*store.Tx) (fault.List, error)) (fault.List, error) {
	tx, err := r.store.Read(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Close()
	return find(tx)
}
