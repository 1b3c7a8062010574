package resource

import (
	"context"
	"slices"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

// update is what replace and patch have in common: read, change, check, write.
// A change to equal values writes nothing.
func (r *Resources) update(ctx context.Context, path Path, id schema.ID, change func(before schema.Record) (after schema.Record, faults fault.List)) (Resource, error) {
	resource := Resource{ID: id}
	err := r.store.Write(ctx, func(tx *store.Tx) error {
		before, err := path.get(tx, id)
		if err != nil {
			return err
		}
		after, faults := change(before)
		dangling, err := checkReferences(tx, path.Collection, before, after)
		if err != nil {
			return err
		}
		if faults = append(faults, dangling...); len(faults) > 0 {
			return faults
		}
		if slices.Equal(before, after) {
			resource.Representation = path.Collection.Append(nil, before)
			return nil
		}
		touch(tx, path.Collection, before, after)
		resource.Representation, err = tx.Update(path.Collection, before, after)
		return err
	})
	return resource, err
}

// touch sets updated_at, which never goes back, whatever the clock does.
func touch(tx *store.Tx, c *schema.Collection, before, after schema.Record) {
	if c.NoTimestamps {
		return
	}
	after[c.UpdatedColumn()] = tx.Now()
	if last := before[c.UpdatedColumn()]; schema.Compare(last, tx.Now()) > 0 {
		after[c.UpdatedColumn()] = last
	}
}

// apply puts the attributes that an input sets into a copy of a resource.
func apply(c *schema.Collection, before schema.Record, input schema.Input) schema.Record {
	after := slices.Clone(before)
	for column, end := c.AttributeColumns(); column < end; column++ {
		if input.Set[column] {
			after[column] = input.Values[column]
		}
	}
	return after
}
