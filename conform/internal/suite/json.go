package suite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Resource is a representation: its members, and their order.
type Resource struct {
	Members map[string]any
	Order   []string
}

// UnmarshalJSON reads an object. Numbers stay as they are written.
func (r *Resource) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return fmt.Errorf("no object: %s", text)
	}
	*r = Resource{Members: map[string]any{}}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		var value any
		if err := decoder.Decode(&value); err != nil {
			return err
		}
		r.Members[name.(string)] = value
		r.Order = append(r.Order, name.(string))
	}
	return nil
}

// ID is the id in lower case, so that only one check depends on its case.
func (r Resource) ID() string { return strings.ToLower(r.Text("id")) }

func (r Resource) Text(name string) string {
	text, _ := r.Members[name].(string)
	return text
}

func (r Resource) Has(name string) bool {
	_, has := r.Members[name]
	return has
}

// EqualJSON compares values; a number equals another of the same value,
// however it is written.
func EqualJSON(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		other, ok := b.(json.Number)
		x, okX := rational(a)
		y, okY := rational(other)
		return ok && okX && okY && x.Cmp(y) == 0
	case map[string]any:
		other, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, other, EqualJSON)
	case []any:
		other, ok := b.([]any)
		return ok && slices.EqualFunc(a, other, EqualJSON)
	default:
		return a == b
	}
}

// DecodeJSON reads a value that is known to be valid JSON.
func DecodeJSON(text []byte) (value any) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return nil
	}
	return value
}

// EncodeJSON writes a value without escaping what HTML would need escaped.
func EncodeJSON(value any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // only values of JSON are ever given
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// DuplicateMember is the name of a member that an object in the document has
// twice, "" if there is none.
func DuplicateMember(document []byte) string {
	var syntax *jsontext.SyntacticError
	_, err := jsontext.NewDecoder(bytes.NewReader(document), jsontext.AllowInvalidUTF8(true)).ReadValue()
	if errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &syntax) {
		return syntax.JSONPointer.LastToken()
	}
	return ""
}
