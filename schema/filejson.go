package schema

import (
	"encoding/json"
	"maps"
)

// SettingDoc documents a setting that the file can have under "server".
type SettingDoc struct {
	Name, Description string
}

// FileSchema is the JSON Schema (2020-12) of a schema file, for editors that
// complete and check YAML. What it cannot say, such as that a reference leads
// to a collection that exists, is left to Parse.
func FileSchema(settings []SettingDoc) []byte {
	document := objectShape(rootKeys, "collections")
	document["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	document["title"] = "Plural schema file"
	document["$defs"] = map[string]any{
		"collections": map[string]any{
			"type": "object", "minProperties": 1,
			"propertyNames":        referenceShape("collectionName"),
			"additionalProperties": referenceShape("collection"),
		},
		"collectionName": nameShape(collectionName),
		"attributeName":  nameShape(attributeName),
		"collection":     optionalShape(objectShape(collectionKeys)),
		"attribute":      optionalShape(typedObjectShape(attributeKeys)),
		"definition":     with(typedObjectShape(definitionKeys), "required", []string{"type"}),
		"access":         optionalShape(objectShape(accessKeys)),
		"role":           optionalShape(map[string]any{"additionalProperties": referenceShape("grant")}),
		"grant": map[string]any{"oneOf": []any{
			map[string]any{"type": "array", "uniqueItems": true, "items": map[string]any{"enum": AccessVerbs()}},
			objectShape(grantKeys),
		}},
		"server": serverShape(settings),
	}
	text, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		panic(err) // maps of strings, numbers and booleans only
	}
	return append(text, '\n')
}

// The shapes of values that several keys share.
var (
	textShape     = map[string]any{"type": "string"}
	flagShape     = map[string]any{"type": "boolean"}
	decimalShape  = map[string]any{"type": "number"}
	notNullShape  = map[string]any{"not": map[string]any{"type": "null"}}
	namesShape    = map[string]any{"type": "array", "items": textShape, "uniqueItems": true}
	ruleShape     = map[string]any{"type": []string{"boolean", "string"}}
	onDeleteShape = map[string]any{"enum": onDeletes, "default": Restrict}

	groupListShape = map[string]any{"oneOf": []any{
		textShape,
		map[string]any{"type": "array", "uniqueItems": true, "items": map[string]any{"oneOf": []any{textShape, with(namesShape, "minItems", 1)}}},
	}}
)

func referenceShape(definition string) map[string]any {
	return map[string]any{"$ref": "#/$defs/" + definition}
}

func countShape(least int) map[string]any {
	return map[string]any{"type": "integer", "minimum": least}
}

// with copies a shape and changes one member of the copy.
func with(shape map[string]any, member string, value any) map[string]any {
	changed := maps.Clone(shape)
	changed[member] = value
	return changed
}

// optionalShape makes an object that can also be left empty, as in "attributes:"
// with nothing behind it.
func optionalShape(shape map[string]any) map[string]any {
	return with(shape, "type", []string{"object", "null"})
}

// objectShape is a mapping of keys and no others.
func objectShape(keys []key, required ...string) map[string]any {
	properties := map[string]any{}
	for _, k := range keys {
		// A description beside a $ref is fine in this version of JSON Schema.
		properties[k.name] = with(k.shape, "description", k.description)
	}
	shape := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		shape["required"] = required
	}
	return shape
}

// typedObjectShape is an object whose keys belong to certain values of its type.
func typedObjectShape(keys []key) map[string]any {
	belong := map[string]any{}
	isDecimal := map[string]any{"properties": map[string]any{"format": map[string]any{"const": Decimal}}, "required": []string{"format"}}
	for _, k := range keys {
		if k.types == nil {
			continue
		}
		ofType := map[string]any{"properties": map[string]any{"type": map[string]any{"enum": k.types}}}
		switch {
		case k.onlyDecimals:
			belong[k.name] = isDecimal
		case k.decimals:
			belong[k.name] = map[string]any{"anyOf": []any{ofType, isDecimal}}
		case k.noDecimals:
			belong[k.name] = with(ofType, "not", isDecimal)
		case k.name == "format":
			belong[k.name] = with(with(ofType, "if", isDecimal), "then", map[string]any{"required": []string{"scale"}})
		default:
			belong[k.name] = ofType
		}
	}
	return with(objectShape(keys), "dependentSchemas", belong)
}

// nameOrShape is a mapping, or the one name that it needs.
func nameOrShape(keys []key, required string) map[string]any {
	return map[string]any{"oneOf": []any{textShape, objectShape(keys, required)}}
}

func nameShape(rule nameRule) map[string]any {
	shape := map[string]any{"type": "string", "pattern": rule.pattern.String(), "maxLength": maxName}
	if len(rule.reserved) > 0 {
		shape["not"] = map[string]any{"enum": rule.reserved}
	}
	return shape
}

func serverShape(settings []SettingDoc) map[string]any {
	properties := map[string]any{}
	for _, s := range settings {
		properties[s.Name] = map[string]any{"type": []string{"string", "number", "boolean"}, "description": s.Description}
	}
	return optionalShape(map[string]any{"properties": properties, "additionalProperties": false})
}
