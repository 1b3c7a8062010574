package resource

import (
	"slices"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/store"
)

// create creates the resources of a write.
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

// newRecord is a new resource, with the id and the times that its input has not given.
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
