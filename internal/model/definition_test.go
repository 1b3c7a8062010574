package model

import (
	"encoding/json"
	"testing"
)

func TestDefinition(t *testing.T) {
	tests := []struct {
		name      string
		attribute Attribute
		want      string
	}{
		{"nothing but a type", Attribute{Type: Boolean}, `{"type":"boolean"}`},
		{"a string", Attribute{Type: String, Format: Email, Description: `say "hi"`, MinLength: 1, MaxLength: 9, Pattern: `^\d`, Enum: []any{"1@b", "2@b"}, Default: "1@b"},
			`{"type":"string","format":"email","description":"say \"hi\"","minLength":1,"maxLength":9,"pattern":"^\\d","enum":["1@b","2@b"],"default":"1@b"}`},
		{"a number", Attribute{Type: Number, Minimum: "0.10", ExclusiveMinimum: "-1", Maximum: "1e2", ExclusiveMaximum: "200", MultipleOf: "0.05"},
			`{"type":"number","minimum":0.10,"exclusiveMinimum":-1,"maximum":1e2,"exclusiveMaximum":200,"multipleOf":0.05}`},
		{"an array", Attribute{Type: Array, MinItems: 1, MaxItems: 2, Items: &Attribute{Type: Array, Items: &Attribute{Type: Integer}}},
			`{"type":"array","minItems":1,"maxItems":2,"items":{"type":"array","items":{"type":"integer"}}}`},
		{"an object", Attribute{Type: Object, Closed: true, Properties: []Attribute{{Name: "b", Type: String, Required: true}, {Name: "a", Type: Integer}, {Name: "\n", Type: Integer, Required: true}}},
			`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"integer"},"\n":{"type":"integer"}},"required":["b","\n"],"additionalProperties":false}`},
		{"what JSON Schema does not know", Attribute{Name: "x", Type: String, Format: UUID, Required: true, Unique: true, Index: true, References: &Reference{Collection: "users"}},
			`{"type":"string","format":"uuid"}`},
		{"a default that is false", Attribute{Type: Boolean, Default: false}, `{"type":"boolean","default":false}`},
		{"raw constants", Attribute{Type: Object, Default: json.RawMessage(`{"b":1,"a":2}`)}, `{"type":"object","default":{"b":1,"a":2}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := string(test.attribute.Definition())
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if !json.Valid([]byte(got)) {
				t.Error("that is no JSON")
			}
		})
	}
}

func TestDescribe(t *testing.T) {
	c := mustNew(Collection{Name: "posts", Parent: &Parent{Collection: "users"}, Attributes: []Attribute{
		{Name: "title", Type: String, Required: true},
		// No object may have a member twice, so the second required is put another way.
		{Name: "place", Type: Object, Properties: []Attribute{{Name: "country", Type: String, Required: true}}},
	}}, Collection{Name: "users"})
	want := `[{"name":"title","required":true,"type":"string"},` +
		`{"name":"place","required":false,"type":"object","properties":{"country":{"type":"string"}},"allOf":[{"required":["country"]}]},` +
		`{"name":"user_id","required":false,"references":"users","type":"string","format":"uuid"}]`
	if got := string(c.Describe()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
