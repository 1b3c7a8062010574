package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"slices"

	"github.com/plural-go/plural/problem"
)

// Keyword is one key of a schema file. For a keyword of an attribute it is the whole
// declaration: the file, struct tags, checks of a schema, JSON Schema, OpenAPI, migrations
// and docs/schema.md follow it. How a value is checked is in validate.go.
type Keyword struct {
	Name        string
	Description string         // for editors and docs/schema.md
	JSONSchema  map[string]any // of its value, for editors

	// Field returns the address of the value in an attribute, whose type says how it is
	// read and written. Nil: the keyword has no field of its own. If Negated, the field
	// is the opposite of the keyword.
	Field   func(a *Attribute) any
	Negated bool

	// Types lists the types that the keyword belongs to (none: all). Decimals are strings,
	// but some keywords belong to decimals too, only to them, or not to them.
	Types                              []Type
	Decimals, OnlyDecimals, NoDecimals bool

	OnlyAttributes bool // not for the values inside an attribute
	Rule           bool // of the data: GET / and OpenAPI describe it beside the JSON Schema

	// Member orders the keywords of a JSON Schema. 0: no part of one.
	Member int
	// Sentence describes the requirement in OpenAPI, with its value for %v, where JSON
	// Schema cannot express it.
	Sentence string
	// Code is the error of a value that the keyword refuses.
	Code problem.Code

	// tighter reports whether the keyword refuses values that it did not refuse before.
	// Nil: it refuses none, or depends on the values inside; see Tightened.
	tighter func(k Keyword, now, before *Attribute) bool
}

// ReferenceKeywords are those of a reference to another collection.
var ReferenceKeywords = []Keyword{
	{Name: "collection", JSONSchema: ReferenceSchema("collectionName"),
		Description: "The collection that the attribute refers to."},
	{Name: "on_delete", JSONSchema: OnDeleteSchema,
		Description: "What becomes of the resource when the one it refers to is deleted: that cannot be (restrict), it is deleted too (cascade), or the attribute becomes null (set_null)."},
}

// AttributeKeywords are those of an attribute, and of a value inside one.
var AttributeKeywords = []Keyword{
	{Name: "type", Member: 1, JSONSchema: map[string]any{"enum": Types}, Code: problem.CodeType,
		Field:       func(a *Attribute) any { return &a.Type },
		Description: "One type, not a list: an attribute that is not required can also be null. Required, except for references. Nothing is converted: \"1\" is not an integer.",
		tighter: func(_ Keyword, now, before *Attribute) bool {
			return now.Type != before.Type && !(now.Type == Number && before.Type == Integer)
		}},
	{Name: "format", Member: 2, JSONSchema: map[string]any{"enum": Formats}, Types: []Type{String}, Code: problem.CodeFormat,
		Field:       func(a *Attribute) any { return &a.Format },
		Description: "The form of the string. It is checked.",
		tighter:     changed},
	{Name: "description", Member: 4, JSONSchema: TextSchema,
		Field:       func(a *Attribute) any { return &a.Description },
		Description: "The meaning of the attribute, for people."},
	{Name: "minLength", Member: 5, JSONSchema: CountSchema(0), Types: []Type{String}, NoDecimals: true, Code: problem.CodeMinLength,
		Field:       func(a *Attribute) any { return &a.MinLength },
		Description: "The minimum number of characters.",
		tighter:     raised},
	{Name: "maxLength", Member: 6, JSONSchema: CountSchema(1), Types: []Type{String}, NoDecimals: true, Code: problem.CodeMaxLength,
		Field:       func(a *Attribute) any { return &a.MaxLength },
		Description: "The maximum number of characters, 1 or more. Required for unique and index, unless the format bounds the length.",
		tighter:     lowered},
	{Name: "pattern", Member: 7, JSONSchema: TextSchema, Types: []Type{String}, NoDecimals: true, Code: problem.CodePattern,
		Field:       func(a *Attribute) any { return &a.Pattern },
		Description: "A regular expression in RE2 syntax that must match somewhere in the string; use ^ and $ to match all of it.",
		Sentence:    "Must match the RE2 pattern `%v`.",
		tighter:     changed},
	{Name: "contentMediaType", Member: 21, JSONSchema: map[string]any{"enum": []string{Markdown}}, Types: []Type{String}, NoDecimals: true,
		Field:       func(a *Attribute) any { return &a.ContentMediaType },
		Description: "What the text is: the explorer highlights and renders it. The values are not checked."},
	{Name: "scale", Member: 3, JSONSchema: map[string]any{"type": "integer", "minimum": 0, "maximum": MaxDecimalDigits}, Types: []Type{String}, Decimals: true, OnlyDecimals: true,
		Field:       func(a *Attribute) any { return &a.Scale },
		Description: "The number of fraction digits of a decimal, 2 for most money. Required for a decimal. All its digits together are at most 18.",
		Sentence:    fmt.Sprintf("A number as a string, with at most %d digits, of which at most %%v are after the point.", MaxDecimalDigits),
		tighter:     func(_ Keyword, now, before *Attribute) bool { return now.Scale != before.Scale }},
	{Name: "enum", Member: 19, JSONSchema: map[string]any{"type": "array", "minItems": 1, "uniqueItems": true, "items": NotNullSchema}, Code: problem.CodeEnum,
		Field:       func(a *Attribute) any { return &a.Enum },
		Description: "A list of the allowed values. Objects are compared including the order of their members.",
		tighter: func(_ Keyword, now, before *Attribute) bool {
			refused := func(value Value) bool { return !slices.Contains(now.compiled.Enum, value) }
			return len(now.compiled.Enum) > 0 && (len(before.compiled.Enum) == 0 || slices.ContainsFunc(before.compiled.Enum, refused))
		}},
	{Name: "minimum", Member: 8, JSONSchema: NumberSchema, Types: []Type{Integer, Number}, Decimals: true, Code: problem.CodeMinimum,
		Field:       func(a *Attribute) any { return &a.Minimum },
		Description: "The minimum value.",
		Sentence:    "Must be at least %v.",
		tighter:     raised},
	{Name: "maximum", Member: 10, JSONSchema: NumberSchema, Types: []Type{Integer, Number}, Decimals: true, Code: problem.CodeMaximum,
		Field:       func(a *Attribute) any { return &a.Maximum },
		Description: "The maximum value.",
		Sentence:    "Must be at most %v.",
		tighter:     lowered},
	{Name: "exclusiveMinimum", Member: 9, JSONSchema: NumberSchema, Types: []Type{Integer, Number}, Decimals: true, Code: problem.CodeMinimum,
		Field:       func(a *Attribute) any { return &a.ExclusiveMinimum },
		Description: "Values must be greater than this.",
		Sentence:    "Must be more than %v.",
		tighter:     raised},
	{Name: "exclusiveMaximum", Member: 11, JSONSchema: NumberSchema, Types: []Type{Integer, Number}, Decimals: true, Code: problem.CodeMaximum,
		Field:       func(a *Attribute) any { return &a.ExclusiveMaximum },
		Description: "Values must be less than this.",
		Sentence:    "Must be less than %v.",
		tighter:     lowered},
	{Name: "multipleOf", Member: 12, JSONSchema: With(NumberSchema, "exclusiveMinimum", 0), Types: []Type{Integer, Number}, Decimals: true, Code: problem.CodeMultipleOf,
		Field:       func(a *Attribute) any { return &a.MultipleOf },
		Description: "Values must be an integer multiple of this, which is greater than 0.",
		Sentence:    "Must be a multiple of %v.",
		tighter:     changed},
	{Name: "items", Member: 15, JSONSchema: ReferenceSchema("definition"), Types: []Type{Array},
		Field:       func(a *Attribute) any { return &a.Items },
		Description: "The schema of each item. Default: anything."},
	{Name: "minItems", Member: 13, JSONSchema: CountSchema(0), Types: []Type{Array}, Code: problem.CodeMinItems,
		Field:       func(a *Attribute) any { return &a.MinItems },
		Description: "The minimum number of items.",
		tighter:     raised},
	{Name: "maxItems", Member: 14, JSONSchema: CountSchema(1), Types: []Type{Array}, Code: problem.CodeMaxItems,
		Field:       func(a *Attribute) any { return &a.MaxItems },
		Description: "The maximum number of items, 1 or more.",
		tighter:     lowered},
	{Name: "properties", Member: 16, JSONSchema: OptionalSchema(map[string]any{"additionalProperties": ReferenceSchema("definition")}), Types: []Type{Object},
		Field:       func(a *Attribute) any { return &a.Properties },
		Description: "The schemas of the members of the object."},
	{Name: "required", Member: 17, JSONSchema: NamesSchema, Types: []Type{Object},
		Description: "A list of members that the object must have. An attribute itself is required by the list of its collection."},
	{Name: "additionalProperties", Member: 18, JSONSchema: With(FlagSchema, "default", true), Types: []Type{Object},
		Field:       func(a *Attribute) any { return &a.Closed },
		Negated:     true,
		Description: "Whether the object can have members that are not in properties. Default: true.",
		tighter:     changed},
	{Name: "default", Member: 20, JSONSchema: NotNullSchema, OnlyAttributes: true,
		Field:       func(a *Attribute) any { return &a.Default },
		Description: "The value if a create, or a PUT, does not have the attribute. A reference has no default."},
	{Name: "unique", JSONSchema: FlagSchema, OnlyAttributes: true, Types: []Type{String, Integer, Number, Boolean},
		Field:       func(a *Attribute) any { return &a.Unique },
		Description: "Whether no two resources can have the same value. A string needs a bounded length."},
	{Name: "index", JSONSchema: FlagSchema, OnlyAttributes: true, Types: []Type{String, Integer, Number, Boolean, Array},
		Field:       func(a *Attribute) any { return &a.Index },
		Description: "Whether there is an index, for filters and sorts. A string needs a bounded length. The index of an array is one of its items, for has and has_all."},
	{Name: "references", JSONSchema: NameOrSchema(ReferenceKeywords, "collection"), OnlyAttributes: true,
		Field:       func(a *Attribute) any { return &a.References },
		Description: "The collection whose ids the attribute holds. Type and format can be left out."},
	{Name: "as", JSONSchema: ReferenceSchema("attributeName"), OnlyAttributes: true,
		Field:       func(a *Attribute) any { return &a.As },
		Description: "For a reference: the name of the relation. Default: the name of the attribute without _id."},
	{Name: "inverse", JSONSchema: ReferenceSchema("attributeName"), OnlyAttributes: true,
		Field:       func(a *Attribute) any { return &a.Inverse },
		Description: "For a reference: the name of the relation in the other direction. Default: none; for a parent, the name of the collection."},
	{Name: "transitions", JSONSchema: map[string]any{"type": "object", "additionalProperties": NamesSchema}, OnlyAttributes: true, Rule: true, Types: []Type{String},
		Field:       func(a *Attribute) any { return &a.Transitions },
		Description: "The lifecycle of an attribute with an enum: the states that each state may change to, such as {draft: [published]}. A state without an entry leads nowhere."},
	{Name: "initial", JSONSchema: NamesSchema, OnlyAttributes: true, Rule: true, Types: []Type{String},
		Field:       func(a *Attribute) any { return &a.Initial },
		Description: "The states that a new resource may have. Default: the default of the attribute, or else any state."},
	{Name: "computed", JSONSchema: TextSchema, OnlyAttributes: true, Rule: true, Types: []Type{String, Integer, Number, Boolean},
		Field:       func(a *Attribute) any { return &a.Computed },
		Description: "The expression in CEL by which the server sets the value, such as resource.price * resource.quantity."},
	{Name: "when", JSONSchema: map[string]any{"enum": []string{WhenCreate}}, OnlyAttributes: true, Rule: true,
		Field:       func(a *Attribute) any { return &a.When },
		Description: "The value is computed only by the create. Default: by every write."},
	{Name: "write_once", JSONSchema: FlagSchema, OnlyAttributes: true, Rule: true,
		Field:       func(a *Attribute) any { return &a.WriteOnce },
		Description: "Whether only a create sets the value."},
	{Name: "until", JSONSchema: CountSchema(1), OnlyAttributes: true,
		Field:       func(a *Attribute) any { return &a.Until },
		Description: "The last version that has the attribute, before the newest one. It stays stored."},
	{Name: "renamed_from", JSONSchema: ReferenceSchema("attributeName"), OnlyAttributes: true,
		Field:       func(a *Attribute) any { return &a.RenamedFrom },
		Description: "The previous name of the attribute. A migration then keeps its values."},
}

// DefinitionKeywords are the keys of a value inside an attribute.
var DefinitionKeywords = slices.DeleteFunc(slices.Clone(AttributeKeywords), func(k Keyword) bool { return k.OnlyAttributes })

// SchemaKeywords are the members of a JSON Schema, in their order.
var SchemaKeywords = slices.SortedFunc(slices.Values(
	slices.DeleteFunc(slices.Clone(AttributeKeywords), func(k Keyword) bool { return k.Member == 0 }),
), func(a, b Keyword) int { return cmp.Compare(a.Member, b.Member) })

// RuleKeywords are those of the rules of the data.
var RuleKeywords = slices.DeleteFunc(slices.Clone(AttributeKeywords), func(k Keyword) bool { return !k.Rule })

// Value is the value that an attribute gives to the keyword.
func (k Keyword) Value(a *Attribute) any {
	value := reflect.ValueOf(k.Field(a)).Elem().Interface()
	if k.Negated {
		return !value.(bool)
	}
	return value
}

// Given reports whether an attribute has the keyword. A decimal always has a scale, which can be 0.
func (k Keyword) Given(a *Attribute) bool {
	if k.Field == nil {
		return false
	}
	return !reflect.ValueOf(k.Field(a)).Elem().IsZero() || k.OnlyDecimals && a.Type == String && a.Format == Decimal
}

// raised compares lower bounds.
func raised(k Keyword, now, before *Attribute) bool {
	return k.Given(now) && (!k.Given(before) || k.compare(now, before) > 0)
}

// lowered compares upper bounds.
func lowered(k Keyword, now, before *Attribute) bool {
	return k.Given(now) && (!k.Given(before) || k.compare(now, before) < 0)
}

// changed compares constraints of which none is known to be weaker than another.
func changed(k Keyword, now, before *Attribute) bool {
	return k.Given(now) && (!k.Given(before) || k.compare(now, before) != 0)
}

// compare orders the values of a keyword that two attributes have: counts and numbers by
// size; other values are only equal or not.
func (k Keyword) compare(a, b *Attribute) int {
	x, y := k.Value(a), k.Value(b)
	switch x := x.(type) {
	case int:
		return cmp.Compare(x, y.(int))
	case json.Number:
		first, _ := new(big.Rat).SetString(x.String()) // both were checked
		second, _ := new(big.Rat).SetString(y.(json.Number).String())
		return first.Cmp(second)
	}
	if reflect.DeepEqual(x, y) {
		return 0
	}
	return 1
}

func FindKeyword(keys []Keyword, name string) *Keyword {
	for i := range keys {
		if keys[i].Name == name {
			return &keys[i]
		}
	}
	return nil
}

func KeywordNames(keys []Keyword) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Name
	}
	return names
}
