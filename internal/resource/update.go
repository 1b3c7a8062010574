package resource

import (
	"slices"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// update sets the attributes of the input: all of them to replace a resource, some to patch
// it. A change to equal values writes nothing.
func (w *Work) update(write Write) ([]Resource, error) {
	before, err := w.load(write)
	if err != nil {
		return nil, err
	}
	return w.updateAll(write.Path, []updating{{before: before, input: write.Inputs[0], readOnly: write.readOnly}}, nil)
}

// updating is one resource that is updated, as it was read in the transaction.
type updating struct {
	before   model.Record
	input    model.Input
	readOnly readOnlyValues
}

// updateAll updates resources of a path, or none of them. Pointer is the JSON Pointer of the
// attributes of each in the body; nil: all have the same, so that the errors of one are enough.
func (w *Work) updateAll(path Path, all []updating, pointer func(i int) string) ([]Resource, error) {
	c := path.Collection
	before, after := make([]model.Record, len(all)), make([]model.Record, len(all))
	invalid := make([]problem.Errors, len(all))
	for i, each := range all {
		before[i], after[i] = each.before, apply(c, each.before, each.input)
		invalid[i] = checkUnchanged(c, each)
		if len(invalid[i]) == 0 && !slices.Equal(before[i], after[i]) {
			if err := w.within(&Change{Verb: Update, Collection: c, Before: before[i], After: after[i]}); err != nil {
				return nil, atItem(pointer, i, err)
			}
		}
	}
	find := findAmong(w.tx, c, after...)
	for i := range all {
		allowed, err := path.By.Allows(schema.MayUpdate, c, after[i], find)
		if err != nil {
			return nil, err
		}
		if !allowed {
			return nil, atItem(pointer, i, path.By.Denied("You may not give this resource these values."))
		}
	}
	dangling, err := w.checkReferences(path.By, c, before, after)
	if err != nil {
		return nil, err
	}
	for i := range all {
		invalid[i] = append(invalid[i], dangling[i]...)
	}
	if refused := joined(pointer, invalid); len(refused) > 0 {
		return nil, refused
	}
	return w.storeAll(path, before, after, pointer)
}

// storeAll stores the resources that have changed, or reports all their conflicts.
func (w *Work) storeAll(path Path, before, after []model.Record, pointer func(i int) string) ([]Resource, error) {
	if err := w.hold(after...); err != nil {
		return nil, err
	}
	c := path.Collection
	updated, conflicts := make([]Resource, len(before)), make([]problem.Errors, len(before))
	var changed []int
	var from, to []model.Record
	for i := range before {
		if slices.Equal(before[i], after[i]) {
			updated[i] = w.resources.resource(path, before[i], c.Append(nil, before[i]))
			continue
		}
		touch(w.tx, c, before[i], after[i])
		changed, from, to = append(changed, i), append(from, before[i]), append(to, after[i])
	}
	representations, refused, err := w.tx.UpdateAll(c, from, to)
	if err != nil {
		return nil, err
	}
	for k, i := range changed {
		if refused != nil {
			conflicts[i] = path.redact(refused[k])
			continue
		}
		w.written(&Change{Verb: Update, Collection: c, Before: from[k], After: to[k]})
		updated[i] = w.resources.resource(path, to[k], representations[k])
	}
	return updated, joined(pointer, conflicts).Err()
}

// joined is the errors of several resources as one list.
func joined(pointer func(i int) string, all []problem.Errors) (faults problem.Errors) {
	for i, own := range all {
		if len(own) > 0 && pointer == nil {
			return own
		}
		if len(own) > 0 {
			faults = append(faults, prefixed(pointer(i), own)...)
		}
	}
	return faults
}

// atItem places the error of one of several resources.
func atItem(pointer func(i int) string, i int, err error) error {
	if pointer == nil {
		return err
	}
	return placed(pointer(i), err)
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
func checkUnchanged(c *model.Collection, each updating) problem.Errors {
	var faults problem.Errors
	for column, given := range each.readOnly.set {
		if given && each.readOnly.values[column] != each.before[column] {
			name := c.Columns()[column].Name
			faults.Add(fault.At("/"+name, problem.CodeReadOnly, "You may not change %s. Leave it out, or send the value that you read.", name))
		}
	}
	for _, column := range []int{c.CreatedColumn(), c.UpdatedColumn()} {
		if column != model.NoColumn && each.input.Set[column] && each.input.Values[column] != each.before[column] {
			name := c.Columns()[column].Name
			faults.Add(fault.At("/"+name, problem.CodeReadOnly, "%s is set by the server, and is %s. Leave it out.", name, each.before[column].Text()))
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
