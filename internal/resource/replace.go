package resource

import (
	"context"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/schema"
)

// Replace gives every attribute of a resource the value of the input, which
// has a default or null for what was left out.
func (r *Resources) Replace(ctx context.Context, path Path, id schema.ID, input schema.Input) (Resource, error) {
	return r.update(ctx, path, id, func(before schema.Record) (schema.Record, fault.List) {
		return apply(path.Collection, before, input), nil
	})
}
