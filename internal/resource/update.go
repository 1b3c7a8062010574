package resource

import (
	"errors"
	"slices"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// update sets the attributes of the input: all of them to replace a resource, some to patch
// it. A change to equal values writes nothing.
func (w *Work) update(write Write) (Resource, error) {
	c, input := write.Path.Collection, write.Inputs[0]
	before, err := w.load(write)
	if err != nil {
		return Resource{}, err
	}
	after := apply(c, before, input)
	faults := checkUnchanged(write, before)
	if len(faults) == 0 && !slices.Equal(before, after) {
		if err := w.within(&Change{Verb: Update, Collection: c, Before: before, After: after}); err != nil {
			return Resource{}, err
		}
	}
	allowed, err := write.Path.By.Allows(schema.MayUpdate, c, after, findAmong(w.tx, c, after))
	if err != nil {
		return Resource{}, err
	}
	if !allowed {
		return Resource{}, write.Path.By.Denied("You may not give this resource these values.")
	}
	dangling, err := w.checkReferences(write.Path.By, c, before, after)
	if err != nil {
		return Resource{}, err
	}
	if faults = append(faults, dangling...); len(faults) > 0 {
		return Resource{}, faults
	}
	if slices.Equal(before, after) {
		return w.resources.resource(write.Path, before, c.Append(nil, before)), nil
	}
	touch(w.tx, c, before, after)
	representation, err := w.tx.Update(c, before, after)
	if conflicts := (problem.Errors)(nil); errors.As(err, &conflicts) {
		err = write.Path.redact(conflicts)
	}
	if err != nil {
		return Resource{}, err
	}
	w.written(&Change{Verb: Update, Collection: c, Before: before, After: after})
	return w.resources.resource(write.Path, after, representation), nil
}

// apply returns a copy of a resource with the attributes of an input.
func apply(c *model.Collection, before model.Record, input model.Input) model.Record {
	after := slices.Clone(before)
	for column, end := c.AttributeColumns(); column < end; column++ {
		if input.Set[column] {
			after[column] = input.Values[column]
		}
	}
	return after
}

// checkUnchanged reports changed values of attributes that the caller, or anybody, may not
// change.
func checkUnchanged(write Write, before model.Record) problem.Errors {
	c, input := write.Path.Collection, write.Inputs[0]
	var faults problem.Errors
	for column, given := range write.echoedSet {
		if given && write.echoed[column] != before[column] {
			name := c.Columns()[column].Name
			faults.Add(fault.At("/"+name, problem.CodeReadOnly, "You may not change %s. Leave it out, or send the value that you read.", name))
		}
	}
	for _, column := range []int{c.CreatedColumn(), c.UpdatedColumn()} {
		if column != model.NoColumn && input.Set[column] && input.Values[column] != before[column] {
			name := c.Columns()[column].Name
			faults.Add(fault.At("/"+name, problem.CodeReadOnly, "%s is set by the server, and is %s. Leave it out.", name, before[column].Text()))
		}
	}
	return faults
}

// touch sets updated_at, which never decreases, even if the clock does.
func touch(tx *store.Tx, c *model.Collection, before, after model.Record) {
	if c.NoTimestamps {
		return
	}
	after[c.UpdatedColumn()] = tx.Now()
	if last := before[c.UpdatedColumn()]; model.Compare(last, tx.Now()) > 0 {
		after[c.UpdatedColumn()] = last
	}
}
