// Package schema declares what a server serves: collections of resources, their
// attributes and what is valid, and who may do what.
//
// A schema comes from a YAML file (Parse), from Go code (New), or from the
// structs of a program (Of, then New). All go through the same checks.
package schema

import (
	"encoding/json"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
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

// OnDelete says what becomes of a resource when the one it refers to is deleted.
type OnDelete string

// The choices of OnDelete. The zero value means Restrict.
const (
	Restrict OnDelete = "restrict" // the deletion is refused with 409
	Cascade  OnDelete = "cascade"  // the referring resource is deleted too
	SetNull  OnDelete = "set_null" // the referring attribute becomes null
)

// The declarations are declared twice: here, where go doc shows their fields, and in model,
// which cannot import this package. Their exported fields have the same names.

// Attribute declares one attribute of a collection, or, in Items and
// Properties, the type of a nested value. The zero value of a constraint
// means that there is none.
type Attribute struct {
	Name        string
	Type        Type
	Format      Format
	Description string

	// Strings. Lengths count code points. Pattern is a regular expression in
	// RE2 syntax that must match somewhere in the string.
	MinLength, MaxLength int
	Pattern              string
	// ContentMediaType is empty or "text/markdown": what the text is, for people and tools.
	// It does not restrict the values.
	ContentMediaType string

	// Scale is how many digits a decimal has after the point: 2 for most money.
	// All its digits together are at most 18.
	Scale int

	// Numbers and decimals. Decimal text, so that large integers and decimals are exact.
	Minimum, Maximum                   json.Number
	ExclusiveMinimum, ExclusiveMaximum json.Number
	MultipleOf                         json.Number

	// Arrays.
	Items              *Attribute
	MinItems, MaxItems int

	// Objects. Members that are not declared are allowed unless Closed
	// (additionalProperties: false).
	Properties []Attribute
	Closed     bool

	// Enum and Default are plain Go values as encoding/json would marshal
	// them: string, bool, any integer or float, json.Number, []any,
	// map[string]any, json.RawMessage.
	Enum    []any
	Default any

	// Required: must have a value other than null. A default provides one.
	Required bool

	// Unique and Index are shorthands for a group of one in Collection.
	Unique, Index bool

	// References makes the attribute the id of a resource of another
	// collection. Type and Format may be left out.
	References *Reference
	// As names the relation to the resource that the attribute refers to; default: the name of
	// the attribute without _id. Inverse names the relation in the other direction, from that
	// resource to those that refer to it; default: none, or for a parent the name of the collection.
	As, Inverse string

	// Transitions declares a lifecycle of a string with an enum: the states that each state may change to. A state
	// without an entry leads nowhere. Initial lists the states of new resources; default: the default of the
	// attribute, or else any state.
	Transitions map[string][]string
	Initial     []string

	// Computed is the expression by which the server sets the value at every write, or, if When is "create", only
	// when the resource is created. Clients do not set it.
	Computed Rule
	When     string

	// WriteOnce: the value is set when the resource is created, and does not change after that.
	WriteOnce bool

	// Until is the last version of the interface that has the attribute. It stays stored, and later versions do not
	// show it. 0: the newest version has it.
	Until int

	// RenamedFrom is the name that the attribute had before. A migration keeps
	// its values then; it means nothing once that is done.
	RenamedFrom string
}

// Reference points to another collection.
type Reference struct {
	Collection string
	OnDelete   OnDelete
}

// Parent makes a collection a sub-collection of another one.
type Parent struct {
	Collection string
	// Attribute holds the parent's id. Default: the singular of the parent
	// with "_id" appended. It is added to the attributes if it is not among them.
	Attribute string
	OnDelete  OnDelete
	// As and Inverse are those of the attribute.
	As, Inverse string
}

// Collection declares a collection of resources.
type Collection struct {
	Name        string // plural, [a-z][a-z0-9_-]*
	Singular    string // default: derived from Name by the rules of English
	Description string
	Attributes  []Attribute

	// Unique lists attributes, or groups of them, whose values no two
	// resources share. Null is never equal to null here.
	Unique [][]string
	// Index lists attributes, or groups of them, to index for filters and sorting.
	Index [][]string

	// Search lists attributes with text whose words the parameter search finds. Label is the one that
	// names a resource to people, which is always among them.
	Search []string
	Label  string

	Parent       *Parent
	NoTimestamps bool // without created_at and updated_at

	// Checks must hold for every resource that is stored.
	Checks []Check

	// RequireIfMatch refuses changes of a resource that do not say, by If-Match,
	// which state of it they are about.
	RequireIfMatch bool
	// Async lists the methods that are always answered before they are done:
	// POST, PUT, PATCH, DELETE.
	Async []string

	// RenamedFrom is the name that the collection had before. A migration keeps
	// its resources then; it means nothing once that is done.
	RenamedFrom string
}

// Check is a rule that every state of a resource must meet.
type Check struct {
	Rule    Rule
	Message string // for clients, if the rule does not hold
	// Attribute is the one that the error points at; empty: none.
	Attribute string
}

// Schema is a checked set of collections, for plural.Config. It does not change.
type Schema model.Schema

// New checks collections that were declared in Go code. All mistakes are reported
// at once, as Problems. The arguments are not changed.
func New(collections ...Collection) (*Schema, error) {
	return Versioned(Versions{}, collections...)
}

// Versions declares the versions of the interface.
type Versions struct {
	// Newest is the number of the version that the collections declare, from 1. It never decreases.
	Newest int
	// Deprecated is the date on which each deprecated version ends, such as 2: "2027-01-01".
	Deprecated map[int]string
}

// Versioned is New for an interface with versions: clients of earlier ones see what they declared.
func Versioned(versions Versions, collections ...Collection) (*Schema, error) {
	declared := make([]model.Collection, len(collections))
	for i := range collections {
		declared[i] = copyDeclaration[model.Collection](collections[i])
	}
	compiled, err := compile.Versioned(copyDeclaration[model.Versions](versions), declared...)
	if err != nil {
		return nil, problemsOf(err)
	}
	return (*Schema)(compiled), nil
}
