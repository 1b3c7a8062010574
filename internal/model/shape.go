package model

import "maps"

// A shape is the JSON Schema of a value in a schema file.

// The shapes of values that several keywords share.
var (
	TextShape     = map[string]any{"type": "string"}
	FlagShape     = map[string]any{"type": "boolean"}
	NumberShape   = map[string]any{"type": "number"}
	NotNullShape  = map[string]any{"not": map[string]any{"type": "null"}}
	NamesShape    = map[string]any{"type": "array", "items": TextShape, "uniqueItems": true}
	OnDeleteShape = map[string]any{"enum": OnDeletes, "default": Restrict}
)

func ReferenceShape(definition string) map[string]any {
	return map[string]any{"$ref": "#/$defs/" + definition}
}

func CountShape(least int) map[string]any {
	return map[string]any{"type": "integer", "minimum": least}
}

// With copies a shape and changes one member of the copy.
func With(shape map[string]any, member string, value any) map[string]any {
	changed := maps.Clone(shape)
	changed[member] = value
	return changed
}

// Optionalshape makes an object that can also be left empty, as in "attributes:"
// with nothing behind it.
func OptionalShape(shape map[string]any) map[string]any {
	return With(shape, "type", []string{"object", "null"})
}

// Objectshape is a mapping of keys and no others.
func ObjectShape(keys []Keyword, required ...string) map[string]any {
	properties := map[string]any{}
	for _, k := range keys {
		// A description beside a $ref is fine in this version of JSON Schema.
		properties[k.Name] = With(k.Shape, "description", k.Description)
	}
	shape := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		shape["required"] = required
	}
	return shape
}

// Typedobjectshape is an object whose keys belong to certain values of its type.
func TypedObjectShape(keys []Keyword) map[string]any {
	belong := map[string]any{}
	isDecimal := map[string]any{"properties": map[string]any{"format": map[string]any{"const": Decimal}}, "required": []string{"format"}}
	for _, k := range keys {
		if k.Types == nil {
			continue
		}
		ofType := map[string]any{"properties": map[string]any{"type": map[string]any{"enum": k.Types}}}
		switch {
		case k.OnlyDecimals:
			belong[k.Name] = isDecimal
		case k.Decimals:
			belong[k.Name] = map[string]any{"anyOf": []any{ofType, isDecimal}}
		case k.NoDecimals:
			belong[k.Name] = With(ofType, "not", isDecimal)
		case k.Name == "format":
			belong[k.Name] = With(With(ofType, "if", isDecimal), "then", map[string]any{"required": []string{"scale"}})
		default:
			belong[k.Name] = ofType
		}
	}
	return With(ObjectShape(keys), "dependentSchemas", belong)
}

// Nameorshape is a mapping, or the one name that it needs.
func NameOrShape(keys []Keyword, required string) map[string]any {
	return map[string]any{"oneOf": []any{TextShape, ObjectShape(keys, required)}}
}

func NameShape(rule NameRule) map[string]any {
	shape := map[string]any{"type": "string", "pattern": rule.Pattern.String(), "maxLength": MaxName}
	if len(rule.Reserved) > 0 {
		shape["not"] = map[string]any{"enum": rule.Reserved}
	}
	return shape
}
