package resource

import (
	"context"
	"slices"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

// Update gives the attributes that the input sets their values: all of them to
// replace a resource, some to patch it. A change to equal values writes nothing.
func (r *Resources) Update(ctx context.Context, path Path, id schema.ID, input schema.Input) (Resource, error) {
	resource := Resource{ID: id}
	err := r.store.Write(ctx, func(tx *store.Tx) error {
		before, err := path.get(tx, id)
		if err != nil {
			return err
		}
		after := apply(path.Collection, before, input)
		faults, err := checkUpdate(tx, path.Collection, before, after, input)
		if err != nil {
			return err
		}
		if len(faults) > 0 {
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

// checkUpdate reports what only the stored resources can tell is invalid:
// timestamps that are not those of the resource, and references to nothing.
func checkUpdate(tx *store.Tx, c *schema.Collection, before, after schema.Record, input schema.Input) (fault.List, error) {
	var faults fault.List
	for _, column := range []int{c.CreatedColumn(), c.UpdatedColumn()} {
		if column != schema.NoColumn && input.Set[column] && input.Values[column] != before[column] {
			name := c.Columns()[column].Name
			faults.Add(fault.At("/"+name, fault.CodeReadOnly, "%s is set by the server, and is %s. Leave it out.", name, before[column].Text()))
		}
	}
	dangling, err := checkReferences(tx, c, before, after)
	return append(faults, dangling...), err
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
