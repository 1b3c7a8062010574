package model

import (
	"bytes"
	"math"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/problem"
)

// Upsert is one body that creates a resource, or changes the one that it is found to be about:
// what it means in either case, or what is wrong with it then.
type Upsert struct {
	Create, Patch             Input
	CreateFaults, PatchFaults problem.Errors
}

// DecodeUpserts reads a body as Decode does with Create, also for the case that the resources
// exist.
func (c *Collection) DecodeUpserts(body []byte, options DecodeOptions) (upserts []Upsert, many bool, err error) {
	items, many, err := split(body, options)
	if err != nil {
		return nil, many, err
	}
	options.MaxDepth = math.MaxInt // it was checked
	for i, item := range items {
		pointer := ""
		if many {
			pointer = "/" + strconv.Itoa(i)
		}
		var one Upsert
		options.Mode = Create
		one.Create, one.CreateFaults = c.decodeItem(item, options, pointer)
		options.Mode = PatchFound
		one.Patch, one.PatchFaults = c.decodeItem(item, options, pointer)
		upserts = append(upserts, one)
	}
	return upserts, many, nil
}

// decodeItem reads one item of a body, which is valid JSON.
func (c *Collection) decodeItem(item []byte, options DecodeOptions, pointer string) (in Input, faults problem.Errors) {
	options.MaxItems = 0
	if item[0] != '{' {
		d := newDecoder(item, options.MaxDepth)
		defer d.release()
		token, _ := d.token()
		return in, problem.Errors{fault.At(pointer, problem.CodeNotAnObject, "Must be a JSON object with the attributes, but is %s.", jsonNames[token.Kind()])}
	}
	inputs, _, err := c.Decode(item, options)
	if len(inputs) > 0 {
		in = inputs[0]
	}
	if err != nil {
		for _, each := range fault.From(err) {
			each.Source.Pointer = pointer + each.Source.Pointer
			faults = append(faults, each)
		}
	}
	return in, faults
}

// split checks the syntax of a body and returns its items: those of an array, or the body itself.
func split(body []byte, options DecodeOptions) (items [][]byte, many bool, err error) {
	d := newDecoder(body, options.MaxDepth)
	defer d.release()
	switch kind := d.json.PeekKind(); kind {
	case '[':
		items, err = d.rawItems(options.MaxItems, "An array can create or change at most %d resources at once.")
		many = true
	default:
		var item []byte
		if item, err = d.raw(); err == nil && kind != '{' {
			err = fault.New(problem.CodeNotAnObject, "The body must be a JSON object with the attributes%s, but is %s.", orArray(Create), jsonNames[kind])
		}
		items = [][]byte{item}
	}
	if err == nil {
		err = d.end()
	}
	return items, many, err
}

// rawItems reads an array and returns the text of each item.
func (d *decoder) rawItems(most int, tooMany string) (items [][]byte, err error) {
	if _, err := d.token(); err != nil {
		return nil, err
	}
	err = d.items(most, tooMany, func() error {
		item, err := d.raw()
		items = append(items, item)
		return err
	})
	return items, err
}

// raw reads a value and returns its text.
func (d *decoder) raw() ([]byte, error) {
	start := d.json.InputOffset()
	first, err := d.token()
	if err == nil {
		err = d.skip(first)
	}
	if err != nil {
		return nil, err
	}
	return bytes.TrimLeft(d.body[start:d.json.InputOffset()], " \t\r\n,:"), nil
}

// Step is one write of a transaction.
type Step struct {
	Method, Path string
	Body         []byte  // nil: none
	IfMatch      *string // nil: none
}

// DecodeSteps reads the body of a transaction. Bodies of steps may be as deep as any other.
func DecodeSteps(body []byte, maxDepth, maxSteps int) ([]Step, error) {
	d := newDecoder(body, maxDepth+2)
	defer d.release()
	if kind := d.json.PeekKind(); kind != '[' {
		if _, err := d.raw(); err != nil {
			return nil, err
		}
		if err := d.end(); err != nil {
			return nil, err
		}
		return nil, fault.New(problem.CodeType, "The body of a transaction must be an array of steps, but is %s.", jsonNames[kind])
	}
	items, err := d.rawItems(maxSteps, "A transaction can have at most %d steps.")
	if err == nil {
		err = d.end()
	}
	if err != nil {
		return nil, err
	}
	var faults problem.Errors
	steps := make([]Step, len(items))
	for i, item := range items {
		faulty := steps[i].decode(item)
		for _, each := range faulty {
			each.Source.Pointer = "/" + strconv.Itoa(i) + each.Source.Pointer
			faults.Add(each)
		}
	}
	return steps, faults.Err()
}

// decode reads one step, which is valid JSON.
func (s *Step) decode(item []byte) (faults problem.Errors) {
	d := newDecoder(item, math.MaxInt)
	defer d.release()
	if token, _ := d.token(); token.Kind() != '{' {
		return problem.Errors{fault.At("", problem.CodeNotAnObject, "A step must be an object with method, path and body, but is %s.", jsonNames[token.Kind()])}
	}
	for d.json.PeekKind() != '}' {
		token, _ := d.token()
		name, kind := token.String(), d.json.PeekKind()
		value, _ := d.raw()
		switch {
		case name == "body":
			s.Body = value
			continue
		case name != "method" && name != "path" && name != "if_match":
			faults.Add(fault.At("/"+name, problem.CodeUnknownAttribute, "A step has no member of this name. It has method, path, body and if_match."))
			continue
		case kind != '"':
			faults.Add(fault.At("/"+name, problem.CodeType, "Must be a string, but is %s.", jsonNames[kind]))
			continue
		}
		unquoted, _ := jsontext.AppendUnquote(nil, value)
		text := string(unquoted)
		switch name {
		case "method":
			s.Method = text
		case "path":
			s.Path = text
		case "if_match":
			s.IfMatch = &text
		}
	}
	return append(faults, s.check(faults)...)
}

// check reports missing and refused members of a step. It reports no second fault for a member in known.
func (s *Step) check(known problem.Errors) (faults problem.Errors) {
	wrong := func(pointer string) bool {
		return slices.ContainsFunc(known, func(f *problem.Error) bool { return f.Source.Pointer == pointer })
	}
	switch {
	case wrong("/method"):
	case s.Method == "":
		faults.Add(fault.At("/method", problem.CodeRequired, "A step needs a method: POST, PUT, PATCH or DELETE."))
	case !slices.Contains(WriteMethods(), s.Method):
		faults.Add(fault.At("/method", problem.CodeEnum, "The method of a step must be POST, PUT, PATCH or DELETE, but is %s.", fault.Quote(s.Method)))
	case s.Method == "DELETE" && s.Body != nil:
		faults.Add(fault.At("/body", problem.CodeRefused, "DELETE has no body. Leave it out."))
	case s.Method != "DELETE" && s.Body == nil:
		faults.Add(fault.At("/body", problem.CodeRequired, "A step with %s needs a body: an object with the attributes.", s.Method))
	}
	if s.Path == "" && !wrong("/path") {
		faults.Add(fault.At("/path", problem.CodeRequired, "A step needs a path, such as /users."))
	}
	return faults
}
