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

func (r *Resources) createAll(ctx context.Context, path Path, inputs []schema.Input, pointer func(i int) string) (created []Resource, err error) {
	for i := range inputs {
		if err := r.before(ctx, Create, path.Collection, nil, &inputs[i]); err != nil {
			return nil, at(pointer(i), err)
		}
	}
	err = r.write(ctx, func(w *work) error {
		created, err = w.create(path, inputs, pointer)
		return err
	})
	return created, err
}

func (w *work) create(path Path, inputs []schema.Input, pointer func(i int) string) ([]Resource, error) {
	c := path.Collection
	if err := path.requireParent(w.tx); err != nil {
		return nil, err
	}
	records := make([]schema.Record, len(inputs))
	for i, input := range inputs {
		records[i] = newRecord(w.tx, c, input)
		w.coming = append(w.coming, identity{c, records[i].ID(schema.IDColumn)})
	}
	for i, record := range records {
		if err := w.within(&Change{Verb: Create, Collection: c, After: record}); err != nil {
			return nil, at(pointer(i), err)
		}
	}
	invalid, err := checkNew(w.tx, c, records, w.coming, pointer)
	if err != nil {
		return nil, err
	}
	if len(invalid) > 0 {
		return nil, invalid
	}
	return w.insert(c, records, pointer)
}

// insert stores new resources, or reports all that they are in conflict with.
func (w *work) insert(c *schema.Collection, records []schema.Record, pointer func(i int) string) ([]Resource, error) {
	created := make([]Resource, 0, len(records))
	var conflicts fault.List
	for i, record := range records {
		representation, err := w.tx.Insert(c, record)
		conflict := fault.List(nil)
		if err != nil && !errors.As(err, &conflict) {
			return nil, err
		}
		conflicts = append(conflicts, below(pointer(i), conflict)...)
		created = append(created, Resource{ID: record.ID(schema.IDColumn), Representation: representation})
		w.written(&Change{Verb: Create, Collection: c, After: record})
	}
	return created, conflicts.Err()
}

// checkNew reports the references of new resources that lead nowhere. A record
// that is nil could not be read.
func checkNew(tx *store.Tx, c *schema.Collection, records []schema.Record, coming []identity, pointer func(i int) string) (fault.List, error) {
	var invalid fault.List
	for i, record := range records {
		if record == nil {
			continue
		}
		faults, err := checkReferences(tx, c, nil, record, coming)
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

// at puts a place in front of the places of an error, if it is a fault.
func at(pointer string, err error) error {
	var list fault.List
	var one *fault.Error
	switch {
	case errors.As(err, &list):
		return below(pointer, list)
	case errors.As(err, &one):
		return below(pointer, fault.List{one})
	}
	return err
}

// below puts a place in front of the places of faults. It leaves the faults
// themselves alone: a hook may return the same one again and again.
func below(pointer string, faults fault.List) fault.List {
	placed := make(fault.List, len(faults))
	for i, f := range faults {
		moved := *f
		moved.Source.Pointer = pointer + f.Source.Pointer
		placed[i] = &moved
	}
	return placed
}
