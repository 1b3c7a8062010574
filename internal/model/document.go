package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// schemaDocument is the whole declaration as JSON, in the words of the schema file.
type schemaDocument struct {
	Versions
	Collections []Collection `json:"collections"`
}

// Document is the whole declaration as JSON, the same for the same declaration.
// Left out are renamed_from, which tells how to come here from another schema and
// is no part of this one, and what is about requests and not about resources.
func (s *Schema) Document() []byte {
	document := schemaDocument{Versions: s.versions}
	for _, c := range s.collections {
		document.Collections = append(document.Collections, *c)
	}
	return MustMarshal(document)
}

// Document is the declaration of the collection as JSON, likewise.
func (c *Collection) Document() []byte { return MustMarshal(c) }

// Marshal is json.Marshal without the escapes that are for HTML.
func Marshal(value any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// DecodeExactly reads JSON without rounding its numbers.
func DecodeExactly(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// MustMarshal is Marshal for what can always be marshalled: the values of a checked schema, and our own types.
func MustMarshal(value any) json.RawMessage {
	text, err := Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}

// EachDocument goes through the collections in what Schema.Document has written:
// their names, and what Collection.Document wrote of each.
func EachDocument(text []byte, visit func(name, document string)) error {
	var document struct {
		Collections []json.RawMessage `json:"collections"`
	}
	err := json.Unmarshal(text, &document)
	for _, each := range document.Collections {
		var c struct {
			Name string `json:"name"`
		}
		if err = errors.Join(err, json.Unmarshal(each, &c)); err == nil {
			visit(c.Name, string(each))
		}
	}
	return err
}

// ReadDocument reads the declaration that Document has written.
func ReadDocument(text []byte) ([]Collection, Versions, error) {
	var document schemaDocument
	if err := decodeStrictly(text, &document); err != nil {
		return nil, Versions{}, fmt.Errorf("a stored schema cannot be read: %w", err)
	}
	return document.Collections, document.Versions, nil
}

// UnmarshalJSON reads an attribute of a stored schema. Constants stay as they were
// written, so that the order of an object's members is kept.
func (a *Attribute) UnmarshalJSON(text []byte) error {
	type plain Attribute // without this method
	document := struct {
		*plain
		Enum    []json.RawMessage `json:"enum"`
		Default json.RawMessage   `json:"default"`
	}{plain: (*plain)(a)}
	if err := decodeStrictly(text, &document); err != nil {
		return err
	}
	for _, constant := range document.Enum {
		a.Enum = append(a.Enum, constant)
	}
	if document.Default != nil {
		a.Default = document.Default
	}
	return nil
}

// decodeStrictly refuses unknown members: a newer version wrote what this one would lose.
func decodeStrictly(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}
