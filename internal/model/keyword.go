package model

import "slices"

// Keyword is one key of a schema file: what it is called, where it belongs, and what
// editors are told about it.
type Keyword struct {
	Name        string
	Description string
	Shape       map[string]any // JSON Schema of its value

	// Keywords of attributes: the types they belong to (none: all), and whether
	// they are not for the values inside an attribute.
	Types          []Type
	OnlyAttributes bool

	// Keywords of attributes that belong to decimals too, only to them, or not to
	// them, although these are strings.
	Decimals, OnlyDecimals, NoDecimals bool

	// given reports whether an attribute has the keyword; nil: every one can have it.
	given func(a *Attribute) bool
}

// ReferenceKeywords are those of a reference to another collection.
var ReferenceKeywords = []Keyword{
	{Name: "collection", Shape: ReferenceShape("collectionName"),
		Description: "The collection that the attribute refers to."},
	{Name: "on_delete", Shape: OnDeleteShape,
		Description: "What becomes of the resource when the one it refers to is deleted: that cannot be (restrict), it is deleted too (cascade), or the attribute becomes null (set_null)."},
}

// AttributeKeywords are those of an attribute, and of a value inside one.
var AttributeKeywords = []Keyword{
	{Name: "type", Shape: map[string]any{"enum": Types},
		Description: "The type of the value. Nothing is converted: \"1\" is no integer. Any attribute that is not required can also be null."},
	{Name: "format", Shape: map[string]any{"enum": Formats}, Types: []Type{String},
		Description: "What the string must be. It is checked.",
		given:       func(a *Attribute) bool { return a.Format != "" }},
	{Name: "description", Shape: TextShape,
		Description: "What the attribute means. Shown in the documentation of the API."},
	{Name: "minLength", Shape: CountShape(0), Types: []Type{String}, NoDecimals: true,
		Description: "The least number of characters.",
		given:       func(a *Attribute) bool { return a.MinLength != 0 }},
	{Name: "maxLength", Shape: CountShape(1), Types: []Type{String}, NoDecimals: true,
		Description: "The greatest number of characters. Needed for unique and index, unless the format bounds it.",
		given:       func(a *Attribute) bool { return a.MaxLength != 0 }},
	{Name: "pattern", Shape: TextShape, Types: []Type{String}, NoDecimals: true,
		Description: "A regular expression in RE2 syntax that must match somewhere in the string; use ^ and $ to match all of it.",
		given:       func(a *Attribute) bool { return a.Pattern != "" }},
	{Name: "scale", Shape: map[string]any{"type": "integer", "minimum": 0, "maximum": MaxDecimalDigits}, Types: []Type{String}, Decimals: true, OnlyDecimals: true,
		Description: "How many digits a decimal has after the point, 2 for most money. All its digits together are at most 18.",
		given:       func(a *Attribute) bool { return a.Scale != 0 }},
	{Name: "enum", Shape: map[string]any{"type": "array", "minItems": 1, "uniqueItems": true, "items": NotNullShape},
		Description: "The only values allowed."},
	{Name: "minimum", Shape: NumberShape, Types: []Type{Integer, Number}, Decimals: true,
		Description: "The least value allowed.",
		given:       func(a *Attribute) bool { return a.Minimum != "" }},
	{Name: "maximum", Shape: NumberShape, Types: []Type{Integer, Number}, Decimals: true,
		Description: "The greatest value allowed.",
		given:       func(a *Attribute) bool { return a.Maximum != "" }},
	{Name: "exclusiveMinimum", Shape: NumberShape, Types: []Type{Integer, Number}, Decimals: true,
		Description: "Values must be greater than this.",
		given:       func(a *Attribute) bool { return a.ExclusiveMinimum != "" }},
	{Name: "exclusiveMaximum", Shape: NumberShape, Types: []Type{Integer, Number}, Decimals: true,
		Description: "Values must be less than this.",
		given:       func(a *Attribute) bool { return a.ExclusiveMaximum != "" }},
	{Name: "multipleOf", Shape: With(NumberShape, "exclusiveMinimum", 0), Types: []Type{Integer, Number}, Decimals: true,
		Description: "Values must be this number times an integer.",
		given:       func(a *Attribute) bool { return a.MultipleOf != "" }},
	{Name: "items", Shape: ReferenceShape("definition"), Types: []Type{Array},
		Description: "What each item of the array must be. Default: anything.",
		given:       func(a *Attribute) bool { return a.Items != nil }},
	{Name: "minItems", Shape: CountShape(0), Types: []Type{Array},
		Description: "The least number of items.",
		given:       func(a *Attribute) bool { return a.MinItems != 0 }},
	{Name: "maxItems", Shape: CountShape(1), Types: []Type{Array},
		Description: "The greatest number of items.",
		given:       func(a *Attribute) bool { return a.MaxItems != 0 }},
	{Name: "properties", Shape: OptionalShape(map[string]any{"additionalProperties": ReferenceShape("definition")}), Types: []Type{Object},
		Description: "The members of the object. Others are allowed too, unless additionalProperties is false.",
		given:       func(a *Attribute) bool { return a.Properties != nil }},
	{Name: "required", Shape: NamesShape, Types: []Type{Object},
		Description: "Members that the object must have. An attribute itself is required by the list of its collection."},
	{Name: "additionalProperties", Shape: With(FlagShape, "default", true), Types: []Type{Object},
		Description: "Whether the object can have members that are not in properties.",
		given:       func(a *Attribute) bool { return a.Closed }},
	{Name: "default", Shape: NotNullShape, OnlyAttributes: true,
		Description: "The value of the attribute when a new resource is sent without it.",
		given:       func(a *Attribute) bool { return a.Default != nil }},
	{Name: "unique", Shape: FlagShape, OnlyAttributes: true, Types: []Type{String, Integer, Number, Boolean},
		Description: "Whether no two resources can have the same value. A string then needs a maxLength, or a format that bounds it.",
		given:       func(a *Attribute) bool { return a.Unique }},
	{Name: "index", Shape: FlagShape, OnlyAttributes: true, Types: []Type{String, Integer, Number, Boolean},
		Description: "Whether there is an index, which makes filters and sorting fast. A string then needs a maxLength, or a format that bounds it.",
		given:       func(a *Attribute) bool { return a.Index }},
	{Name: "references", Shape: NameOrShape(ReferenceKeywords, "collection"), OnlyAttributes: true,
		Description: "The collection whose ids the attribute holds. Type and format can be left out.",
		given:       func(a *Attribute) bool { return a.References != nil }},
	{Name: "renamed_from", Shape: ReferenceShape("attributeName"), OnlyAttributes: true,
		Description: "The name that the attribute had before. A migration keeps its values then.",
		given:       func(a *Attribute) bool { return a.RenamedFrom != "" }},
}

// DefinitionKeywords are the keys of a value inside an attribute.
var DefinitionKeywords = slices.DeleteFunc(slices.Clone(AttributeKeywords), func(k Keyword) bool { return k.OnlyAttributes })

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
