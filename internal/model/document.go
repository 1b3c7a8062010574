package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// schemaDocument and what it holds are the whole declaration as JSON, in the
// words of the schema file. Constants stay as they were written, so that the
// order of an object's members is kept.
type schemaDocument struct {
	Collections []collectionDocument `json:"collections"`
}

type collectionDocument struct {
	Name         string              `json:"name"`
	Singular     string              `json:"singular"`
	Description  string              `json:"description,omitempty"`
	Attributes   []attributeDocument `json:"attributes,omitempty"`
	Unique       [][]string          `json:"unique,omitempty"`
	Index        [][]string          `json:"index,omitempty"`
	Parent       *parentDocument     `json:"parent,omitempty"`
	NoTimestamps bool                `json:"no_timestamps,omitempty"`
}

type parentDocument struct {
	Collection string   `json:"collection"`
	Attribute  string   `json:"attribute"`
	OnDelete   OnDelete `json:"on_delete"`
}

type referenceDocument struct {
	Collection string   `json:"collection"`
	OnDelete   OnDelete `json:"on_delete"`
}

type attributeDocument struct {
	Name             string              `json:"name,omitempty"`
	Type             Type                `json:"type"`
	Format           Format              `json:"format,omitempty"`
	Description      string              `json:"description,omitempty"`
	MinLength        int                 `json:"minLength,omitempty"`
	MaxLength        int                 `json:"maxLength,omitempty"`
	Pattern          string              `json:"pattern,omitempty"`
	Scale            int                 `json:"scale,omitempty"`
	Minimum          json.Number         `json:"minimum,omitempty"`
	Maximum          json.Number         `json:"maximum,omitempty"`
	ExclusiveMinimum json.Number         `json:"exclusiveMinimum,omitempty"`
	ExclusiveMaximum json.Number         `json:"exclusiveMaximum,omitempty"`
	MultipleOf       json.Number         `json:"multipleOf,omitempty"`
	Items            *attributeDocument  `json:"items,omitempty"`
	MinItems         int                 `json:"minItems,omitempty"`
	MaxItems         int                 `json:"maxItems,omitempty"`
	Properties       []attributeDocument `json:"properties,omitempty"`
	Closed           bool                `json:"closed,omitempty"`
	Enum             []json.RawMessage   `json:"enum,omitempty"`
	Default          json.RawMessage     `json:"default,omitempty"`
	Required         bool                `json:"required,omitempty"`
	Unique           bool                `json:"unique,omitempty"`
	Index            bool                `json:"index,omitempty"`
	References       *referenceDocument  `json:"references,omitempty"`
}

// Document is the whole declaration as JSON, the same for the same declaration.
// Left out are renamed_from, which tells how to come here from another schema and
// is no part of this one, and what is about requests and not about resources.
func (s *Schema) Document() []byte {
	var document schemaDocument
	for _, c := range s.collections {
		document.Collections = append(document.Collections, c.document())
	}
	text, err := Marshal(document)
	if err != nil {
		panic(err) // what is in a checked schema can be marshalled
	}
	return text
}

// Document is the declaration of the collection as JSON, likewise.
func (c *Collection) Document() []byte {
	text, err := Marshal(c.document())
	if err != nil {
		panic(err) // what is in a checked schema can be marshalled
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

// FromDocument reads what Document has written.
func FromDocument(text []byte) (*Schema, error) {
	var document schemaDocument
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields() // a newer version wrote what this one would lose
	if err := decoder.Decode(&document); err != nil {
		return nil, fmt.Errorf("a stored schema cannot be read: %w", err)
	}
	collections := make([]Collection, len(document.Collections))
	for i := range collections {
		collections[i] = document.Collections[i].declaration()
	}
	return newStored(collections)
}

func (c *Collection) document() collectionDocument {
	d := collectionDocument{
		Name: c.Name, Singular: c.Singular, Description: c.Description,
		Attributes: attributeDocuments(c.Attributes),
		Unique:     c.Unique, Index: c.Index, NoTimestamps: c.NoTimestamps,
	}
	if c.Parent != nil {
		d.Parent = &parentDocument{c.Parent.Collection, c.Parent.Attribute, c.Parent.OnDelete}
	}
	return d
}

func (d *collectionDocument) declaration() Collection {
	c := Collection{
		Name: d.Name, Singular: d.Singular, Description: d.Description,
		Attributes: attributeDeclarations(d.Attributes),
		Unique:     d.Unique, Index: d.Index, NoTimestamps: d.NoTimestamps,
	}
	if d.Parent != nil {
		c.Parent = &Parent{d.Parent.Collection, d.Parent.Attribute, d.Parent.OnDelete}
	}
	return c
}

func attributeDocuments(attributes []Attribute) []attributeDocument {
	var documents []attributeDocument
	for i := range attributes {
		documents = append(documents, attributes[i].document())
	}
	return documents
}

func attributeDeclarations(documents []attributeDocument) []Attribute {
	var attributes []Attribute
	for i := range documents {
		attributes = append(attributes, documents[i].declaration())
	}
	return attributes
}

func (a *Attribute) document() attributeDocument {
	d := attributeDocument{
		Name: a.Name, Type: a.Type, Format: a.Format, Description: a.Description,
		MinLength: a.MinLength, MaxLength: a.MaxLength, Pattern: a.Pattern, Scale: a.Scale,
		Minimum: a.Minimum, Maximum: a.Maximum, ExclusiveMinimum: a.ExclusiveMinimum, ExclusiveMaximum: a.ExclusiveMaximum,
		MultipleOf: a.MultipleOf, MinItems: a.MinItems, MaxItems: a.MaxItems,
		Properties: attributeDocuments(a.Properties), Closed: a.Closed,
		Required: a.Required, Unique: a.Unique, Index: a.Index,
	}
	if a.Items != nil {
		items := a.Items.document()
		d.Items = &items
	}
	for _, constant := range a.Enum {
		text, _ := Marshal(constant) // it was marshalled when it was checked
		d.Enum = append(d.Enum, text)
	}
	if a.Default != nil {
		d.Default, _ = Marshal(a.Default)
	}
	if a.References != nil {
		d.References = &referenceDocument{a.References.Collection, a.References.OnDelete}
	}
	return d
}

func (d *attributeDocument) declaration() Attribute {
	a := Attribute{
		Name: d.Name, Type: d.Type, Format: d.Format, Description: d.Description,
		MinLength: d.MinLength, MaxLength: d.MaxLength, Pattern: d.Pattern, Scale: d.Scale,
		Minimum: d.Minimum, Maximum: d.Maximum, ExclusiveMinimum: d.ExclusiveMinimum, ExclusiveMaximum: d.ExclusiveMaximum,
		MultipleOf: d.MultipleOf, MinItems: d.MinItems, MaxItems: d.MaxItems,
		Properties: attributeDeclarations(d.Properties), Closed: d.Closed,
		Required: d.Required, Unique: d.Unique, Index: d.Index,
	}
	if d.Items != nil {
		items := d.Items.declaration()
		a.Items = &items
	}
	for _, constant := range d.Enum {
		a.Enum = append(a.Enum, constant)
	}
	if d.Default != nil {
		a.Default = d.Default
	}
	if d.References != nil {
		a.References = &Reference{d.References.Collection, d.References.OnDelete}
	}
	return a
}
