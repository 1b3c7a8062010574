package model

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/suggest"
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

	// AcceptTimestamps: Create may set created_at and updated_at.
	AcceptTimestamps bool
}

// Input is one valid body: the values of the columns that are set. Create and
// Replace set every attribute. The patches may set created_at and updated_at, and
// PatchFound the id; the caller of Decode must check that they equal the stored values.
type Input struct {
	Values Record
	Set    []bool
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
		d.fail(problem.CodeNotAnObject, "The body must be a JSON object with the attributes%s, but is %s.", orArray(options.Mode), kindName(token.Kind()))
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
	d := newDecoder(representation, math.MaxInt) // it was let in once
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

// DecodeJSON reads and validates one value of the attribute.
func (a *Attribute) DecodeJSON(text []byte) (Value, error) {
	value, wrong := a.DecodeConstant(text)
	if wrong != nil {
		return Null, wrong
	}
	return value, nil
}

// DecodeConstant reads a value out of the schema itself: a default or a member
// of an enumeration.
func (a *Attribute) DecodeConstant(text []byte) (Value, *problem.Error) {
	return a.decode(text, maxConstantDepth)
}

func (a *Attribute) decode(text []byte, maxDepth int) (Value, *problem.Error) {
	d := newDecoder(text, maxDepth)
	defer d.release()
	value, err := d.attribute(a)
	if err == nil {
		err = d.end()
	}
	if err == nil {
		err = d.faults.Err()
	}
	if err != nil {
		return Null, fault.From(err)[0]
	}
	return value, nil
}

const maxConstantDepth = 64

// decoder reads one body. Its methods return an error only if the body is
// malformed, which ends decoding; invalid values are collected in faults.
type decoder struct {
	json     *jsontext.Decoder
	body     []byte
	maxDepth int
	faults   problem.Errors
	wrapped  bool // the body is wrapped in data: missing attributes are not reported
}

// parsers are used again: each has memory for the names in an object, by which it finds repeated ones.
var parsers = sync.Pool{New: func() any { return jsontext.NewDecoder(&noBody) }}

var noBody bytes.Buffer // never read

// newDecoder returns a decoder that must be released.
func newDecoder(body []byte, maxDepth int) *decoder {
	d := &decoder{json: parsers.Get().(*jsontext.Decoder), body: body, maxDepth: maxDepth}
	// A Buffer is read where it is. A Reader would be copied in small pieces.
	d.json.Reset(bytes.NewBuffer(body))
	return d
}

// release ends reading. What was read stays valid.
func (d *decoder) release() {
	d.json.Reset(&noBody)
	parsers.Put(d.json)
	d.json = nil
}

// fail reports that the value just read, or the object just entered, is invalid.
func (d *decoder) fail(code problem.Code, format string, args ...any) {
	pointer := ""
	if len(d.faults) < problem.MaxErrors { // an error beyond that is dropped, and its pointer may be long
		pointer = string(d.json.StackPointer())
	}
	d.faults.Add(fault.At(pointer, code, format, args...))
}

// faulty reports whether an error at a JSON Pointer was reported.
func (d *decoder) faulty(pointer string) bool {
	return slices.ContainsFunc(d.faults, func(f *problem.Error) bool { return f.Source.Pointer == pointer })
}

func (d *decoder) token() (jsontext.Token, error) {
	token, err := d.json.ReadToken()
	if err != nil {
		return token, d.malformed(err)
	}
	if d.json.StackDepth() > d.maxDepth {
		return token, fault.At(string(d.json.StackPointer()), problem.CodeTooDeep, "Objects and arrays can be nested at most %d levels deep.", d.maxDepth)
	}
	return token, nil
}

// end makes sure that nothing follows the value.
func (d *decoder) end() error {
	end := d.json.InputOffset()
	rest := bytes.TrimLeft(d.body[end:], " \t\r\n")
	if len(rest) == 0 {
		return nil
	}
	return d.at(int64(len(d.body)-len(rest)), "", "something follows the end of the JSON value")
}

func (d *decoder) malformed(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		if len(bytes.TrimSpace(d.body)) == 0 {
			return fault.New(problem.CodeMalformedJSON, "The body is empty. It must be a JSON object.")
		}
		return d.at(int64(len(d.body)), "", "the body ends in the middle of a value")
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return d.at(syntax.ByteOffset, string(syntax.JSONPointer), d.syntaxProblem(syntax))
	}
	return d.at(d.json.InputOffset(), "", err.Error())
}

// syntaxProblem explains common syntax errors.
func (d *decoder) syntaxProblem(syntax *jsontext.SyntacticError) string {
	rest := d.body[min(int(syntax.ByteOffset), len(d.body)):]
	afterComma := bytes.TrimLeft(bytes.TrimPrefix(rest, []byte(",")), " \t\r\n")
	text := strings.TrimPrefix(syntax.Err.Error(), "jsontext: ")
	switch {
	case bytes.HasPrefix(d.body, []byte("\xef\xbb\xbf")):
		return "the body starts with a byte order mark, which JSON does not have"
	case bytes.HasPrefix(rest, []byte(",")) && (bytes.HasPrefix(afterComma, []byte("}")) || bytes.HasPrefix(afterComma, []byte("]"))):
		return "the last item is followed by a comma, which JSON does not allow"
	case strings.Contains(text, "in literal"):
		return "names and strings stand in double quotes, and the only words without are true, false and null"
	}
	return text
}

func (d *decoder) at(offset int64, pointer, what string) *problem.Error {
	before := d.body[:min(int(offset), len(d.body))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fault.At(pointer, problem.CodeMalformedJSON, "Line %d, column %d: %s.", line, column, what)
}

// skip reads to the end of a value whose first token has been read.
func (d *decoder) skip(first jsontext.Token) error {
	if kind := first.Kind(); kind != '{' && kind != '[' {
		return nil
	}
	for depth := d.json.StackDepth(); d.json.StackDepth() >= depth; {
		if _, err := d.token(); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) array(c *Collection, options DecodeOptions) ([]Input, error) {
	inputs := []Input{}
	for d.json.PeekKind() != ']' {
		token, err := d.token()
		if err != nil {
			return nil, err
		}
		if len(inputs) == options.MaxItems {
			return nil, fault.New(problem.CodeTooManyItems, "An array can create at most %d resources at once.", options.MaxItems)
		}
		var in Input
		if token.Kind() == '{' {
			in, err = d.object(c, options)
		} else {
			d.fail(problem.CodeNotAnObject, "Each item must be a JSON object with the attributes, but this is %s.", kindName(token.Kind()))
			err = d.skip(token)
		}
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, in)
	}
	_, err := d.token()
	return inputs, err
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
		if column, ok := c.attributes[token.String()]; ok && (options.Writable.Has(column) || options.Visible.Has(column)) {
			in.Values[column], err = d.attribute(c.columns[column].Attribute)
			in.Set[column] = true
			if options.Mode == Create && !options.Writable.Has(column) {
				d.fail(problem.CodeReadOnly, "You may not set %s. Leave it out.", c.columns[column].Name)
			}
		} else {
			err = d.ownMember(c, token.String(), options, &in)
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
		if in.Set[column] || options.Mode == Replace && !options.Writable.Has(column) {
			continue
		}
		attribute := c.columns[column].Attribute
		in.Values[column], in.Set[column] = attribute.compiled.Default, true
		if attribute.Required && attribute.compiled.Default.IsNull() {
			d.faults.Add(fault.At(pointer(attribute.Name), problem.CodeRequired, "The attribute %s is required.", attribute.Name))
		}
	}
}

// ownMember reads a member that is not an attribute: id, type, a timestamp, or
// an unknown member.
func (d *decoder) ownMember(c *Collection, name string, options DecodeOptions, in *Input) error {
	token, err := d.token()
	if err != nil {
		return err
	}
	isText, text := token.Kind() == '"', ""
	if isText {
		text = token.String()
	}
	timestamp := NoColumn
	switch {
	case name == "created_at":
		timestamp = c.created
	case name == "updated_at":
		timestamp = c.updated
	}
	switch {
	case name == "id" && options.Mode == PatchRange:
		d.fail(problem.CodeReadOnly, "The ids of the resources of a range cannot change. Leave the id out.")
	case name == "id" && (options.Mode == Create || options.Mode == PatchFound):
		if id, ok := ParseID(text); ok {
			in.Values[IDColumn], in.Set[IDColumn] = IDValue(id), true
		} else if isText {
			d.fail(problem.CodeFormat, "An id must be a UUID such as 01936f2e-7d3c-7a4b-9c5d-0123456789ab.")
		} else {
			d.fail(problem.CodeType, "An id must be a string, but is %s.", kindName(token.Kind()))
		}
	case name == "id":
		if id, ok := ParseID(text); !ok || id != options.ID {
			d.fail(problem.CodeReadOnly, "The id of a resource cannot change. Leave it out, or give the one of the path.")
		}
	case name == "type":
		if text != c.Name {
			d.fail(problem.CodeReadOnly, "The type of a resource cannot change. Leave it out, or give %q.", c.Name)
		}
	case timestamp != NoColumn && options.Mode == Create && options.AcceptTimestamps:
		if when, wrong := parseDateTime(text); wrong != "" {
			d.fail(problem.CodeFormat, "Must be %s.", wrong)
		} else {
			in.Values[timestamp], in.Set[timestamp] = TimeValue(when), true
		}
	case timestamp != NoColumn && options.Mode == Create:
		d.fail(problem.CodeReadOnly, "%s is set by the server. Leave it out.", name)
	case timestamp != NoColumn:
		// PUT ignores timestamps, however old; of a PATCH, the caller of Decode compares them
		// with the stored ones.
		when, wrong := parseDateTime(text)
		if wrong != "" {
			d.fail(problem.CodeReadOnly, "%s is set by the server. Leave it out, or send back what was read.", name)
		} else if options.Mode.patches() {
			in.Values[timestamp], in.Set[timestamp] = TimeValue(when), true
		}
	case name == "data" && (token.Kind() == '{' || token.Kind() == '['):
		d.wrapped = true
		d.fail(problem.CodeWrapped, "Request bodies are not wrapped in \"data\". Send the attributes themselves.")
	case relationOf(c, name, options) != nil:
		d.fail(problem.CodeReadOnly, "%s is not an attribute: it comes from related resources of %s, and is changed there. Leave it out.", name, relationOf(c, name, options).To.Name)
	default:
		d.fail(problem.CodeUnknownAttribute, "The collection %s has no attribute of this name.%s", c.Name, nearestAttribute(c, name, options))
	}
	return d.skip(token)
}

// relationOf is the relation whose resources, or whose total, are embedded under a name, nil if there is
// none that the client knows.
func relationOf(c *Collection, name string, options DecodeOptions) *Relation {
	for _, relation := range c.relations {
		if name == relation.Name || name == relation.TotalName() && !relation.One {
			if options.Knows == nil || options.Knows(relation) {
				return relation
			}
		}
	}
	return nil
}

// nearestAttribute asks for the attribute that is nearest to a name, among those that the
// client may know.
func nearestAttribute(c *Collection, name string, options DecodeOptions) string {
	var names []string
	for i, column := range c.columns {
		if column.Attribute != nil && (options.Writable.Has(i) || options.Visible.Has(i)) {
			names = append(names, column.Name)
		}
	}
	if near := suggest.Nearest(name, names); near != "" {
		return " Did you mean " + near + "?"
	}
	return ""
}

func kindName(kind jsontext.Kind) string {
	switch kind {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	default:
		return "an array"
	}
}
