package schema

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/plural-go/plural/internal/model"
)

var testSettings = []SettingDoc{{"addr", "Where to listen."}, {"log_format", "The form of the log."}}

func compileFileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(FileSchema(testSettings)))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("file.json", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("file.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// asEditorsRead turns YAML into what a JSON Schema is applied to.
func asEditorsRead(t *testing.T, text string) any {
	t.Helper()
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	plain, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	value, err = jsonschema.UnmarshalJSON(bytes.NewReader(plain))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestFileSchemaAccepts(t *testing.T) {
	compiled := compileFileSchema(t)
	for name, text := range map[string]string{
		"example":     string(exampleFile),
		"short forms": "{collections: {users: , posts: {attributes: , unique: a, index: [a, [b, c]], parent: users}, tags: {attributes: {post: {references: posts}, user_id: }}}, server: }",
		"access": "{collections: {users: {}}, access: {roles: {public: , editor: {users: [list, read]}, author: {users: {list: true, read: \"resource.id == auth.sub\", visible: [], writable: [a]}}}, " +
			"rates: {public: 10/s}, metrics: [editor], keys: {editor: [editor]}, tokens: {issuer: x, audience: y, algorithms: [ES256], clock_skew: 1m}}}",
		"versions": "{version: 3, deprecated: {'2': 2027-01-01, '1': 2026-12-31}, collections: {users: {attributes: {a: {type: string, until: 2}}}}}",
		"settings": "{collections: {users: {}}, server: {addr: x, log_format: 1}}",
	} {
		t.Run(name, func(t *testing.T) {
			if err := compiled.Validate(asEditorsRead(t, text)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestFileSchemaRejects(t *testing.T) {
	compiled := compileFileSchema(t)
	attribute := func(definition string) string {
		return "{collections: {users: {attributes: {a: " + definition + "}}}}"
	}
	collection := func(definition string) string { return "{collections: {users: " + definition + "}}" }
	for _, text := range []string{
		"{}",
		"[]",
		"{collections: {}}",
		"{collections: []}",
		"{collections: {users: {}}, colections: {}}",
		"{collections: {users: {}}, server: {port: 1}}",
		"{collections: {users: {}}, server: {addr: [x]}}",
		"{collections: {Users: {}}}",
		"{collections: {users-: {}}}",
		"{collections: {operations: {}}}",
		"{collections: {users: {}}, version: 0}",
		"{collections: {users: {}}, version: '1'}",
		"{collections: {users: {}}, version: 2, deprecated: [1]}",
		"{collections: {users: {}}, version: 2, deprecated: {'01': 2027-01-01}}",
		"{collections: {users: {}}, version: 2, deprecated: {'1': 2027}}",
		collection("[]"),
		collection("{atributes: {}}"),
		collection("{attributes: {Name: {type: string}}}"),
		collection("{attributes: {id: {type: string}}}"),
		collection("{required: name}"),
		collection("{required: [a, a]}"),
		collection("{unique: {a: b}}"),
		collection("{unique: [[]]}"),
		collection("{parent: {attribute: a}}"),
		collection("{parent: {collection: a, on_delete: never}}"),
		collection("{singular: Person}"),
		collection("{timestamps: sometimes}"),
		attribute("string"),
		attribute("{type: strin}"),
		attribute("{type: [string, 'null']}"),
		attribute("{type: string, format: datetime}"),
		attribute("{type: string, required: true}"),
		attribute("{type: string, nullable: true}"),
		attribute("{type: string, maxLength: 0}"),
		attribute("{type: string, minLength: -1}"),
		attribute("{type: string, minimum: 1}"),
		attribute("{type: integer, maxLength: 1}"),
		attribute("{type: integer, format: date}"),
		attribute("{type: integer, minimum: '1'}"),
		attribute("{type: number, multipleOf: 0}"),
		attribute("{type: string, format: decimal}"),
		attribute("{type: string, scale: 2}"),
		attribute("{type: integer, scale: 2}"),
		attribute("{type: string, format: decimal, scale: 19}"),
		attribute("{type: string, format: decimal, scale: -1}"),
		attribute("{type: string, format: decimal, scale: 2, maxLength: 5}"),
		attribute("{type: string, format: decimal, scale: 2, pattern: a}"),
		attribute("{type: string, format: date, minimum: 2}"),
		attribute("{type: number, format: decimal, scale: 2}"),
		attribute("{type: string, enum: []}"),
		attribute("{type: string, enum: [a, a]}"),
		attribute("{type: string, enum: [null]}"),
		attribute("{type: string, default: null}"),
		attribute("{type: object, unique: true}"),
		attribute("{type: object, additionalProperties: {type: string}}"),
		attribute("{type: object, properties: {b: {format: date}}}"),
		attribute("{type: array, items: {type: string, default: a}}"),
		attribute("{references: {collection: users, on_delete: never}}"),
		attribute("{type: string, until: 0}"),
		attribute("{type: object, properties: {b: {type: string, until: 1}}}"),
	} {
		value := asEditorsRead(t, text)
		if compiled.Validate(value) == nil {
			t.Errorf("accepted %s", text)
		}
		if _, err := Parse([]byte(text)); err == nil && text != "{collections: {users: {}}, server: {port: 1}}" {
			t.Errorf("Parse accepted %s", text)
		}
	}
}

func TestFileSchemaIsStable(t *testing.T) {
	if !bytes.Equal(FileSchema(testSettings), FileSchema(testSettings)) {
		t.Error("two calls give two documents")
	}
}

func TestFileSchemaDescribesEveryKey(t *testing.T) {
	for _, keys := range [][]model.Keyword{rootKeys, infoKeys, contactKeys, licenseKeys, collectionKeys, parentKeys, model.ReferenceKeywords, model.AttributeKeywords} {
		for _, k := range keys {
			if k.Description == "" || k.JSONSchema == nil {
				t.Errorf("%s has no description or no JSON Schema", k.Name)
			}
		}
	}
}
