package schema

import (
	"encoding/json"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
)

// SettingDoc documents a setting that the file can have under "server".
type SettingDoc struct {
	Name, Description string
}

// FileSchema is the JSON Schema (2020-12) of a schema file, for editors that
// complete and check YAML. What it cannot say, such as that a reference leads
// to a collection that exists, is left to Parse.
func FileSchema(settings []SettingDoc) []byte {
	document := model.ObjectSchema(rootKeys, "collections")
	document["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	document["title"] = "Plural schema file"
	document["$defs"] = map[string]any{
		"collections": map[string]any{
			"type": "object", "minProperties": 1,
			"propertyNames":        model.ReferenceSchema("collectionName"),
			"additionalProperties": model.ReferenceSchema("collection"),
		},
		"collectionName": compile.CollectionNames.JSONSchema(),
		"attributeName":  compile.AttributeNames.JSONSchema(),
		"collection":     model.OptionalSchema(model.ObjectSchema(collectionKeys)),
		"attribute":      model.OptionalSchema(model.TypedObjectSchema(model.AttributeKeywords)),
		"definition":     model.With(model.TypedObjectSchema(model.DefinitionKeywords), "required", []string{"type"}),
		"access":         model.OptionalSchema(model.ObjectSchema(accessKeys)),
		"role":           model.OptionalSchema(map[string]any{"additionalProperties": model.ReferenceSchema("grant")}),
		"grant": map[string]any{"oneOf": []any{
			map[string]any{"type": "array", "uniqueItems": true, "items": map[string]any{"enum": AccessVerbs()}},
			model.ObjectSchema(grantKeys),
		}},
		"server": serverSchema(settings),
	}
	text, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		panic(err) // maps of strings, numbers and booleans only
	}
	return append(text, '\n')
}

func serverSchema(settings []SettingDoc) map[string]any {
	properties := map[string]any{}
	for _, s := range settings {
		properties[s.Name] = map[string]any{"type": []string{"string", "number", "boolean"}, "description": s.Description}
	}
	return model.OptionalSchema(map[string]any{"properties": properties, "additionalProperties": false})
}
