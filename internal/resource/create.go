package resource

import (
	"cmp"
	"slices"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/store"
)

// create creates the resources of a step.
func (w *Work) create(step decodedStep) ([]reads.Resource, error) {
	// The write changes the collection, which has no ETag.
	if err := cmp.Or(step.Path.RequireParent(w.exists), step.condition.AllowsChange("")); err != nil {
		return nil, err
	}
	return w.writeAll(step.Path, step.newWritings(), step.pointer)
}

// newRecord is a new resource, with the id and the times that its input has not given.
func newRecord(tx *store.Tx, c *model.Collection, input model.Input) model.Record {
	id := input.Values[model.IDColumn]
	if !input.HasID() {
		id = model.IDValue(tx.NewID())
	}
	record := slices.Clone(input.Values)
	record[model.IDColumn] = id
	if !c.NoTimestamps {
		// They are null, or what an import says. One that says only one of them means both.
		created, updated := record[c.CreatedColumn()], record[c.UpdatedColumn()]
		record[c.CreatedColumn()] = cmp.Or(created, updated, tx.Now())
		record[c.UpdatedColumn()] = cmp.Or(updated, created, tx.Now())
	}
	return record
}
