// Package model is the compiled form of a schema: it lays out columns, and reads,
// validates and writes one resource. Package compile makes it, from what package
// schema declares.
package model

import (
	"encoding/json"
	"slices"
)

// Type is a JSON Schema type.
type Type string

// The types an attribute can have.
const (
	String  Type = "string"
	Integer Type = "integer" // int64, exact
	Number  Type = "number"  // double
	Boolean Type = "boolean"
	Object  Type = "object"
	Array   Type = "array"
)

// Format is a JSON Schema format of a string. It is asserted, not a hint.
type Format string

// The formats a string can have.
const (
	Email    Format = "email"
	URI      Format = "uri"
	UUID     Format = "uuid"
	Date     Format = "date"
	DateTime Format = "date-time"
	Decimal  Format = "decimal" // a number in a string, exact; see Attribute.Scale
)

// Markdown is the only ContentMediaType that is known. It does not restrict the values.
const Markdown = "text/markdown"

// OnDelete says what becomes of a resource when the one it refers to is deleted.
type OnDelete string

// The choices of OnDelete. The zero value means Restrict.
const (
	Restrict OnDelete = "restrict" // the deletion is refused with 409
	Cascade  OnDelete = "cascade"  // the referring resource is deleted too
	SetNull  OnDelete = "set_null" // the referring attribute becomes null
)

// What a schema can choose from.
var (
	Types     = []Type{String, Integer, Number, Boolean, Object, Array}
	Formats   = []Format{Email, URI, UUID, Date, DateTime, Decimal}
	OnDeletes = []OnDelete{Restrict, Cascade, SetNull}
)

func IsType(t Type) bool { return slices.Contains(Types, t) }

// Attribute declares one attribute of a collection, or, in Items and
// Properties, the type of a nested value. Package schema documents the fields.
// The JSON names are those of stored schemas.
type Attribute struct {
	Name        string `json:"name,omitempty"`
	Type        Type   `json:"type"`
	Format      Format `json:"format,omitempty"`
	Description string `json:"description,omitempty"`

	// Strings.
	MinLength        int    `json:"minLength,omitempty"`
	MaxLength        int    `json:"maxLength,omitempty"`
	Pattern          string `json:"pattern,omitempty"`
	ContentMediaType string `json:"contentMediaType,omitempty"`
	Scale            int    `json:"scale,omitempty"` // of a decimal

	// Numbers and decimals.
	Minimum          json.Number `json:"minimum,omitempty"`
	Maximum          json.Number `json:"maximum,omitempty"`
	ExclusiveMinimum json.Number `json:"exclusiveMinimum,omitempty"`
	ExclusiveMaximum json.Number `json:"exclusiveMaximum,omitempty"`
	MultipleOf       json.Number `json:"multipleOf,omitempty"`

	// Arrays.
	Items    *Attribute `json:"items,omitempty"`
	MinItems int        `json:"minItems,omitempty"`
	MaxItems int        `json:"maxItems,omitempty"`

	// Objects.
	Properties []Attribute `json:"properties,omitempty"`
	Closed     bool        `json:"closed,omitempty"`

	Enum     []any `json:"enum,omitempty"`
	Default  any   `json:"default,omitempty"`
	Required bool  `json:"required,omitempty"`
	Unique   bool  `json:"unique,omitempty"`
	Index    bool  `json:"index,omitempty"`

	References *Reference `json:"references,omitempty"`
	As         string     `json:"as,omitempty"`
	Inverse    string     `json:"inverse,omitempty"`

	// Rules: the transitions of a lifecycle and its first states, the expression that computes the value, and whether
	// only a create sets it.
	Transitions map[string][]string `json:"transitions,omitzero"`
	Initial     []string            `json:"initial,omitempty"`
	Computed    Rule                `json:"computed,omitzero"`
	When        string              `json:"when,omitempty"` // WhenCreate, or empty: by every write
	WriteOnce   bool                `json:"write_once,omitempty"`

	// Until is the last version of the interface that has the attribute; 0: the newest has it.
	Until int `json:"until,omitempty"`

	RenamedFrom string `json:"-"`

	compiled  Constraints
	inVersion *Attribute // see InVersion
}

// Reference points to another collection.
type Reference struct {
	Collection string   `json:"collection"`
	OnDelete   OnDelete `json:"on_delete"`
}

// Parent makes a collection a sub-collection of another one.
type Parent struct {
	Collection string   `json:"collection"`
	Attribute  string   `json:"attribute"`
	OnDelete   OnDelete `json:"on_delete"`
	As         string   `json:"-"`
	Inverse    string   `json:"-"`
}

// Collection declares a collection of resources. Package schema documents the fields.
type Collection struct {
	Name        string      `json:"name"`     // plural, [a-z][a-z0-9_-]*
	Singular    string      `json:"singular"` // default: derived from Name by the rules of English
	Description string      `json:"description,omitempty"`
	Attributes  []Attribute `json:"attributes,omitempty"`

	Unique [][]string `json:"unique,omitempty"`
	Index  [][]string `json:"index,omitempty"`
	Search []string   `json:"search,omitempty"`
	Label  string     `json:"label,omitempty"`

	Parent       *Parent `json:"parent,omitempty"`
	NoTimestamps bool    `json:"no_timestamps,omitempty"` // without created_at and updated_at
	Checks       []Check `json:"checks,omitempty"`

	RequireIfMatch bool     `json:"-"`
	Async          []string `json:"-"`

	RenamedFrom string `json:"-"`

	layout
}

// AttributeNames lists the names of the attributes, in the order of the schema.
func (c *Collection) AttributeNames() []string { return namesOf(c.Attributes) }

// Declared finds a declared attribute by name, or returns nil.
func (c *Collection) Declared(name string) *Attribute { return attributeNamed(c.Attributes, name) }

func namesOf(attributes []Attribute) []string {
	names := make([]string, len(attributes))
	for i := range attributes {
		names[i] = attributes[i].Name
	}
	return names
}

func attributeNamed(attributes []Attribute, name string) *Attribute {
	for i := range attributes {
		if attributes[i].Name == name {
			return &attributes[i]
		}
	}
	return nil
}

// WriteMethods lists the methods that change resources.
func WriteMethods() []string { return []string{"POST", "PUT", "PATCH", "DELETE"} }

// Schema is a checked and compiled set of collections. It does not change.
type Schema struct {
	versions    Versions
	base        *Schema // of a view: see view.go
	collections []*Collection
	byName      map[string]*Collection
	bySingular  map[string]*Collection
	operations  *Collection
	changes     *Collection
	warnings    []string
}

// Versions is what a schema declares of the versions of its interface.
type Versions struct {
	Newest     int            `json:"version,omitempty"`    // 0: the interface has no versions
	Deprecated map[int]string `json:"deprecated,omitempty"` // the date on which each deprecated version ends
}

// Versions is the version of the interface that the schema declares, and the earlier ones that are deprecated.
func (s *Schema) Versions() Versions { return s.versions }

// Collections lists the collections that are declared, in that order.
func (s *Schema) Collections() []*Collection { return s.collections }

// Collection finds a collection by its name, or returns nil. The operations are
// one too.
func (s *Schema) Collection(name string) *Collection { return s.byName[name] }

// Singular finds a collection by the singular of its name, or returns nil.
func (s *Schema) Singular(name string) *Collection { return s.bySingular[name] }
