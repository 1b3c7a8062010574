package model

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/problem"
)

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

// jsonNames is what errors call a value, by its kind in JSON.
var jsonNames = map[jsontext.Kind]string{
	'n': "null", 't': "a boolean", 'f': "a boolean", '"': "a string", '0': "a number", '{': "an object", '[': "an array",
}
