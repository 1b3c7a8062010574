package model

import (
	"math"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/problem"
)

// Mode says what a body is for.
type Mode int

// The modes: POST, PUT and PATCH, PATCH of a range, and PATCH as part of an upsert.
const (
	Create Mode = iota
	Replace
	Patch
	PatchRange
	PatchFound
)

// patches reports whether attributes that are left out stay as they are.
func (m Mode) patches() bool { return m >= Patch }

// DecodeOptions is what the rest of a request says about its body.
type DecodeOptions struct {
	Mode Mode
	ID   ID // of the path; not for Create

	// Parent and ParentID are set on the path of a sub-collection: the body
	// may leave the parent out, and must not have another one.
	Parent   *Link
	ParentID ID

	// Visible and Writable are the columns that the client may see and set. An
	// attribute that is neither is reported as unknown. One that is only visible may
	// be sent back in Replace and Patch; the caller of Decode must check that it
	// equals the stored value.
	Visible, Writable ColumnSet
	// Knows reports whether a relation exists for the client. Nil: all do.
	Knows func(*Relation) bool

	MaxDepth int // of nested objects and arrays
	MaxItems int // of an array in Create

	// AcceptTimestamps: Create may set created_at, updated_at and computed attributes.
	AcceptTimestamps bool
}

// Input is one valid body: the values of the columns that are set. Create and
// Replace set every attribute that is not computed. The patches may set computed attributes,
// created_at and updated_at, and PatchFound the id; the caller of Decode must check that they equal the stored values.
type Input struct {
	Values Record
	Set    []bool

	// Sent is the input as the client sent it, if hooks may have changed it since; nil: this one.
	Sent *Input
}

// FromClient is the input as the client sent it.
func (in Input) FromClient() Input {
	if in.Sent != nil {
		return *in.Sent
	}
	return in
}

// HasID reports whether the client sent an id.
func (in Input) HasID() bool { return in.Set[IDColumn] }

// Decode reads and validates a body. Many reports that it was an array, which
// only Create accepts. All mistakes in a well-formed body are reported together,
// as a problem.Errors.
func (c *Collection) Decode(body []byte, options DecodeOptions) (inputs []Input, many bool, err error) {
	d := newDecoder(body, options.MaxDepth)
	defer d.release()
	token, err := d.token()
	if err != nil {
		return nil, false, err
	}
	switch {
	case token.Kind() == '[' && options.Mode == Create:
		many = true
		inputs, err = d.array(c, options)
	case token.Kind() == '{':
		var in Input
		in, err = d.object(c, options)
		inputs = []Input{in}
	default:
		d.fail(problem.CodeNotAnObject, "The body must be a JSON object with the attributes%s, but is %s.", orArray(options.Mode), jsonNames[token.Kind()])
		err = d.skip(token)
	}
	if err != nil {
		return nil, many, err
	}
	if err := d.end(); err != nil {
		return nil, many, err
	}
	return inputs, many, d.faults.Err()
}

func orArray(mode Mode) string {
	if mode == Create {
		return ", or an array of such objects"
	}
	return ""
}

// Restore reads a representation that Append has written, also under an older
// schema: it ignores members that the collection no longer has, and attributes
// that are missing are null.
func (c *Collection) Restore(representation []byte) (Record, error) {
	d := newDecoder(representation, math.MaxInt) // it was checked when it was stored
	defer d.release()
	record := make(Record, len(c.columns))
	if _, err := d.token(); err != nil {
		return nil, err
	}
	for d.json.PeekKind() != '}' {
		name, err := d.token()
		if err != nil {
			return nil, err
		}
		switch field := c.fields[name.String()]; {
		case field == nil || field.Column == NoColumn:
			err = d.json.SkipValue()
		case c.columns[field.Column].Attribute != nil:
			record[field.Column], err = d.attribute(c.columns[field.Column].Attribute)
		default:
			var token jsontext.Token
			if token, err = d.token(); err == nil {
				record[field.Column], _ = field.Kind.Parse(token.String())
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return record, nil
}

// array reads the resources of an array after its opening bracket.
func (d *decoder) array(c *Collection, options DecodeOptions) ([]Input, error) {
	inputs := []Input{}
	err := d.items(options.MaxItems, "An array can create at most %d resources at once.", func() error {
		token, err := d.token()
		if err != nil {
			return err
		}
		var in Input
		if token.Kind() == '{' {
			in, err = d.object(c, options)
		} else {
			d.fail(problem.CodeNotAnObject, "Each item must be a JSON object with the attributes, but this is %s.", jsonNames[token.Kind()])
			err = d.skip(token)
		}
		inputs = append(inputs, in)
		return err
	})
	return inputs, err
}

// items reads the items of an array after its opening bracket, and the closing one.
func (d *decoder) items(most int, tooMany string, read func() error) error {
	for count := 0; d.json.PeekKind() != ']'; count++ {
		if err := read(); err != nil {
			return err
		}
		if count == most {
			return fault.New(problem.CodeTooManyItems, tooMany, most)
		}
	}
	_, err := d.token()
	return err
}

// object reads the members of a resource after its opening brace.
func (d *decoder) object(c *Collection, options DecodeOptions) (Input, error) {
	in := Input{Values: make(Record, len(c.columns)), Set: make([]bool, len(c.columns))}
	d.wrapped = false
	for d.json.PeekKind() != '}' {
		token, err := d.token()
		if err != nil {
			return in, err
		}
		// The name is not assigned: so it is not copied.
		column, ok := c.attributes[token.String()]
		switch {
		case !ok || !options.Writable.Has(column) && !options.Visible.Has(column):
			err = d.ownMember(c, token.String(), options, &in)
		case c.columns[column].Attribute.IsComputed():
			err = d.computed(c, column, options, &in)
		default:
			in.Values[column], err = d.attribute(c.columns[column].Attribute)
			in.Set[column] = true
			if options.Mode == Create && !options.Writable.Has(column) {
				d.fail(problem.CodeReadOnly, "You may not set %s. Leave it out.", c.columns[column].Name)
			}
		}
		if err != nil {
			return in, err
		}
	}
	if _, err := d.token(); err != nil {
		return in, err
	}
	if !options.Mode.patches() && !d.wrapped {
		d.complete(c, options, &in)
	}
	return in, nil
}

// complete gives the attributes that were left out their values.
func (d *decoder) complete(c *Collection, options DecodeOptions, in *Input) {
	pointer := func(name string) string { return string(d.json.StackPointer()) + "/" + name }
	if options.Parent != nil {
		column, id := options.Parent.Column, IDValue(options.ParentID)
		if in.Set[column] && in.Values[column] != id && !d.faulty(pointer(c.columns[column].Name)) {
			d.faults.Add(fault.At(pointer(c.columns[column].Name), problem.CodeParentMismatch, "The path says %s. Leave the attribute out, or give the same.", options.ParentID))
		}
		if options.Mode == Create && !options.Writable.Has(column) && !in.Set[column] {
			name := c.columns[column].Name
			d.faults.Add(fault.At(pointer(name), problem.CodeReadOnly, "You may not set %s, which the path does.", name))
		}
		in.Values[column], in.Set[column] = id, true
	}
	if options.AcceptTimestamps && !c.NoTimestamps && in.Set[c.created] && in.Set[c.updated] && Compare(in.Values[c.updated], in.Values[c.created]) < 0 {
		d.faults.Add(fault.At(pointer("updated_at"), problem.CodeMinimum, "updated_at must not be before created_at."))
	}
	from, to := c.AttributeColumns()
	for column := from; column < to; column++ {
		attribute := c.columns[column].Attribute
		if in.Set[column] || attribute.IsComputed() || options.Mode == Replace && !options.Writable.Has(column) {
			continue
		}
		in.Values[column], in.Set[column] = attribute.compiled.Default, true
		if attribute.Required && attribute.compiled.Default.IsNull() {
			d.faults.Add(fault.At(pointer(attribute.Name), problem.CodeRequired, "The attribute %s is required.", attribute.Name))
		}
	}
}
