package resource

import (
	"context"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/schema"
)

// Patch changes the attributes that the input sets. Timestamps are taken when
// they equal what is stored.
func (r *Resources) Patch(ctx context.Context, path Path, id schema.ID, input schema.Input) (Resource, error) {
	c := path.Collection
	return r.update(ctx, path, id, func(before schema.Record) (schema.Record, fault.List) {
		var faults fault.List
		for _, column := range []int{c.CreatedColumn(), c.UpdatedColumn()} {
			if column != schema.NoColumn && input.Set[column] && input.Values[column] != before[column] {
				name := c.Columns()[column].Name
				faults.Add(fault.At("/"+name, fault.CodeReadOnly, "%s is set by the server, and is %s. Leave it out.", name, before[column].Text()))
			}
		}
		return apply(c, before, input), faults
	})
}
