package resource

import (
	"slices"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

// update gives the attributes that the input sets their values: all of them to
// replace a resource, some to patch it. A change to equal values writes nothing.
func (w *Work) update(write Write) (Resource, error) {
	c, input := write.Path.Collection, write.Inputs[0]
	before, err := w.meet(write)
	if err != nil {
		return Resource{}, err
	}
	after := apply(c, before, input)
	faults := checkTimestamps(c, before, input)
	if len(faults) == 0 && !slices.Equal(before, after) {
		if err := w.within(&Change{Verb: Update, Collection: c, Before: before, After: after}); err != nil {
			return Resource{}, err
		}
	}
	dangling, err := w.checkReferences(c, before, after)
	if err != nil {
		return Resource{}, err
	}
	if faults = append(faults, dangling...); len(faults) > 0 {
		return Resource{}, faults
	}
	if slices.Equal(before, after) {
		return w.resources.resource(c, before, c.Append(nil, before)), nil
	}
	touch(w.tx, c, before, after)
	representation, err := w.tx.Update(c, before, after)
	if err != nil {
		return Resource{}, err
	}
	w.written(&Change{Verb: Update, Collection: c, Before: before, After: after})
	return w.resources.resource(c, after, representation), nil
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

// checkTimestamps reports timestamps that are not those of the resource.
func checkTimestamps(c *schema.Collection, before schema.Record, input schema.Input) fault.List {
	var faults fault.List
	for _, column := range []int{c.CreatedColumn(), c.UpdatedColumn()} {
		if column != schema.NoColumn && input.Set[column] && input.Values[column] != before[column] {
			name := c.Columns()[column].Name
			faults.Add(fault.At("/"+name, fault.CodeReadOnly, "%s is set by the server, and is %s. Leave it out.", name, before[column].Text()))
		}
	}
	return faults
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
