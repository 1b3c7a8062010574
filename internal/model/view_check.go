package model

import (
	"bytes"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/problem"
)

// CheckVersion checks the values that a write changes by the declarations of the version, as Decode does by those of what is
// stored. Before is nil for a create. What is stored already may be sent back, also inside objects and arrays, and the
// default may be given: the newest version accepts values that this one does not. A collection that is no view has no
// other declarations. Checked is the columns to check, nil for all.
func (c *Collection) CheckVersion(before, after Record, checked []bool) (faults problem.Errors) {
	from, to := c.AttributeColumns()
	for column := from; column < to; column++ {
		a := c.columns[column].Attribute
		value := after[column]
		if a.inVersion == nil || checked != nil && !checked[column] || before != nil && before[column] == value || !value.IsNull() && value == a.compiled.Default {
			continue
		}
		text := c.columns[column].Kind.AppendValue(nil, after, column)
		var stored []byte
		if before != nil {
			stored = c.columns[column].Kind.AppendValue(nil, before, column)
		}
		for _, each := range a.inVersion.faultsOf(text) {
			pointer := jsontext.Pointer(each.Source.Pointer)
			if stored == nil || !bytes.Equal(valueAt(stored, pointer), valueAt(text, pointer)) {
				each.Source.Pointer = "/" + a.Name + each.Source.Pointer
				faults.Add(each)
			}
		}
	}
	return faults
}

// faultsOf is what is wrong with a value that is well-formed JSON.
func (a *Attribute) faultsOf(text []byte) problem.Errors {
	d := newDecoder(text, math.MaxInt) // it was checked when it was sent
	defer d.release()
	if _, err := d.attribute(a); err != nil {
		return fault.From(err)
	}
	return d.faults
}

// valueAt finds the value at a JSON Pointer, nil if there is none.
func valueAt(text []byte, pointer jsontext.Pointer) []byte {
	for token := range pointer.Tokens() {
		if inside := member(text, token); inside != nil {
			text = inside
		} else {
			text = item(text, token)
		}
	}
	return text
}

// item finds an item of a JSON array by its index, nil if there is none.
func item(text []byte, index string) []byte {
	n, err := strconv.Atoi(index)
	for d := enter(text, '['); err == nil && d != nil && d.PeekKind() != ']'; n-- {
		value, err := d.ReadValue()
		if err != nil {
			return nil
		}
		if n == 0 {
			return value
		}
	}
	return nil
}
