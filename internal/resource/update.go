package resource

import (
	"slices"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
)

// update sets the attributes of the input: all of them to replace a resource, some to patch
// it. A change to equal values writes nothing.
func (w *Work) update(step decodedStep) ([]reads.Resource, error) {
	before, err := w.load(step)
	if err != nil {
		return nil, err
	}
	return w.writeAll(step.Path, []writing{{before: loaded{record: before}, input: step.inputs[0], readOnly: step.readOnly}}, nil)
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
func checkUnchanged(c *model.Collection, each writing) problem.Errors {
	var faults problem.Errors
	for column, given := range each.readOnly.set {
		if given && each.readOnly.values[column] != each.before.record[column] {
			name, why := c.Columns()[column].Name, "You may not change %s."
			if c.Columns()[column].Attribute.IsComputed() {
				why = "%s is computed by the server."
			}
			faults.Add(fault.At("/"+name, problem.CodeReadOnly, why+" Leave it out, or send the value that you read.", name))
		}
	}
	for _, column := range []int{c.CreatedColumn(), c.UpdatedColumn()} {
		if column != model.NoColumn && each.input.Set[column] && each.input.Values[column] != each.before.record[column] {
			name := c.Columns()[column].Name
			faults.Add(fault.At("/"+name, problem.CodeReadOnly, "%s is set by the server, and is %s. Leave it out.", name, each.before.record[column].Text()))
		}
	}
	return faults
}

// checkVersion reports what the client has sent that its version does not allow. The newest version allows all that is stored. Values that
// hooks set are not checked.
func checkVersion(path reads.Path, each writing) problem.Errors {
	c, sent := path.Collection, each.input.FromClient()
	if c.Base() == c {
		return nil
	}
	after, checked := sent.Values, []bool(nil)
	if each.before.record != nil {
		after = apply(c, each.before.record, sent)
	} else if each.partial {
		checked = sent.Set
	}
	return redact(path, c.CheckVersion(each.before.record, after, checked))
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
