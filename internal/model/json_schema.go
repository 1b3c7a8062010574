package model

import "maps"

// The functions and variables of this file are JSON Schemas of values in a schema file. Editors
// use them. They are not the schema that a file declares, which is the type Schema.

// JSON Schemas of values that several keywords share.
var (
	TextSchema     = map[string]any{"type": "string"}
	FlagSchema     = map[string]any{"type": "boolean"}
	NumberSchema   = map[string]any{"type": "number"}
	NotNullSchema  = map[string]any{"not": map[string]any{"type": "null"}}
	NamesSchema    = map[string]any{"type": "array", "items": TextSchema, "uniqueItems": true}
	OnDeleteSchema = map[string]any{"enum": OnDeletes, "default": Restrict}
)

// ReferenceSchema refers to a definition of the same document.
func ReferenceSchema(definition string) map[string]any {
	return map[string]any{"$ref": "#/$defs/" + definition}
}

// CountSchema is an integer with a minimum.
func CountSchema(least int) map[string]any {
	return map[string]any{"type": "integer", "minimum": least}
}

// With copies a JSON Schema and changes one member of the copy.
func With(schema map[string]any, member string, value any) map[string]any {
	changed := maps.Clone(schema)
	changed[member] = value
	return changed
}

// OptionalSchema makes an object that can also be left empty, as in "attributes:" without a
// value.
func OptionalSchema(schema map[string]any) map[string]any {
	return With(schema, "type", []string{"object", "null"})
}

// ObjectSchema is a mapping of these keys and no others.
func ObjectSchema(keys []Keyword, required ...string) map[string]any {
	properties := map[string]any{}
	for _, k := range keys {
		// A description beside a $ref is fine in this version of JSON Schema.
		properties[k.Name] = With(k.JSONSchema, "description", k.Description)
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// TypedObjectSchema is ObjectSchema for keys that are only allowed with certain values of
// "type".
func TypedObjectSchema(keys []Keyword) map[string]any {
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
	return With(ObjectSchema(keys), "dependentSchemas", belong)
}

// NameOrSchema is a mapping, or only the value of its required key.
func NameOrSchema(keys []Keyword, required string) map[string]any {
	return map[string]any{"oneOf": []any{TextSchema, ObjectSchema(keys, required)}}
}
