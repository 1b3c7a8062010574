package model_test

import (
	"encoding/json"
	"testing"

	"github.com/plural-go/plural/internal/model"
)

func TestDefinition(t *testing.T) {
	tests := []struct {
		name      string
		attribute model.Attribute
		want      string
	}{
		{"nothing but a type", model.Attribute{Type: model.Boolean}, `{"type":"boolean"}`},
		{"a string", model.Attribute{Type: model.String, Format: model.Email, Description: `say "hi"`, MinLength: 1, MaxLength: 9, Pattern: `^\d`, Enum: []any{"1@b", "2@b"}, Default: "1@b"},
			`{"type":"string","format":"email","description":"say \"hi\"","minLength":1,"maxLength":9,"pattern":"^\\d","enum":["1@b","2@b"],"default":"1@b"}`},
		{"a number", model.Attribute{Type: model.Number, Minimum: "0.10", ExclusiveMinimum: "-1", Maximum: "1e2", ExclusiveMaximum: "200", MultipleOf: "0.05"},
			`{"type":"number","minimum":0.10,"exclusiveMinimum":-1,"maximum":1e2,"exclusiveMaximum":200,"multipleOf":0.05}`},
		{"an array", model.Attribute{Type: model.Array, MinItems: 1, MaxItems: 2, Items: &model.Attribute{Type: model.Array, Items: &model.Attribute{Type: model.Integer}}},
			`{"type":"array","minItems":1,"maxItems":2,"items":{"type":"array","items":{"type":"integer"}}}`},
		{"an object", model.Attribute{Type: model.Object, Closed: true, Properties: []model.Attribute{{Name: "b", Type: model.String, Required: true}, {Name: "a", Type: model.Integer}, {Name: "\n", Type: model.Integer, Required: true}}},
			`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"integer"},"\n":{"type":"integer"}},"required":["b","\n"],"additionalProperties":false}`},
		{"what JSON Schema does not know", model.Attribute{Name: "x", Type: model.String, Format: model.UUID, Required: true, Unique: true, Index: true, References: &model.Reference{Collection: "users"}},
			`{"type":"string","format":"uuid"}`},
		{"a default that is false", model.Attribute{Type: model.Boolean, Default: false}, `{"type":"boolean","default":false}`},
		{"raw constants", model.Attribute{Type: model.Object, Default: json.RawMessage(`{"b":1,"a":2}`)}, `{"type":"object","default":{"b":1,"a":2}}`},
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
	c := mustNew(model.Collection{Name: "posts", Parent: &model.Parent{Collection: "users"}, Attributes: []model.Attribute{
		{Name: "title", Type: model.String, Required: true},
		{Name: "state", Type: model.String, Enum: []any{"draft", "done"}, Default: "draft", Transitions: map[string][]string{"draft": {"done"}}},
		{Name: "author", Type: model.String, WriteOnce: true},
		{Name: "creator", Type: model.String, Computed: model.Rule{Text: "auth.sub"}, When: model.WhenCreate},
		{Name: "total", Type: model.Integer, Computed: model.Rule{Text: "resource.secret"}},
		{Name: "secret", Type: model.Integer},
		// No object may have a member twice, so the second required is put another way.
		{Name: "place", Type: model.Object, Properties: []model.Attribute{{Name: "country", Type: model.String, Required: true}}},
	}}, model.Collection{Name: "users"})
	want := `[{"name":"title","required":true,"type":"string"},` +
		`{"name":"state","required":true,"transitions":{"draft":["done"],"done":[]},"initial":["draft"],"type":"string","enum":["draft","done"],"default":"draft"},` +
		`{"name":"author","required":false,"write_once":true,"type":"string"},` +
		`{"name":"creator","required":false,"computed":"auth.sub","when":"create","type":"string"},` +
		`{"name":"total","required":false,"computed":null,"type":"integer"},` +
		`{"name":"secret","required":false,"type":"integer"},` +
		`{"name":"place","required":false,"type":"object","properties":{"country":{"type":"string"}},"allOf":[{"required":["country"]}]},` +
		`{"name":"user_id","required":false,"references":"users","type":"string","format":"uuid"}]`
	if got := string(c.Describe(nil, func(rule model.Rule) bool { return rule.Text == "auth.sub" })); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
