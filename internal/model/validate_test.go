package model_test

import (
	"testing"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
)

// TestViolations has every way in which the value of an attribute x can be
// wrong, with the place and the detail that the client is told.
func TestViolations(t *testing.T) {
	closed := model.Attribute{Type: model.Object, Closed: true, Properties: []model.Attribute{{Name: "a", Type: model.String, Required: true}, {Name: "b", Type: model.Array, Items: &model.Attribute{Type: model.Integer, Minimum: "1"}}}}
	pairs := model.Attribute{Type: model.Array, MinItems: 2, MaxItems: 3, Items: &model.Attribute{Type: model.Boolean}}
	tests := []struct {
		attribute model.Attribute
		value     string
		want      string // code, place and detail, one on each line; empty: valid
	}{
		{model.Attribute{Type: model.String}, `1`, "type at /x: Must be a string, but is a number."},
		{model.Attribute{Type: model.String}, `{"a":[]}`, "type at /x: Must be a string, but is an object."},
		{model.Attribute{Type: model.Integer}, `"1"`, "type at /x: Must be an integer, but is a string."},
		{model.Attribute{Type: model.Integer}, `1.5`, "type at /x: Must be an integer, but has a fraction."},
		{model.Attribute{Type: model.Integer}, `1e19`, "out_of_range at /x: Must be between -9223372036854775808 and 9223372036854775807."},
		{model.Attribute{Type: model.Integer}, `-9223372036854775808.0`, ""},
		{model.Attribute{Type: model.Number}, `true`, "type at /x: Must be a number, but is a boolean."},
		{model.Attribute{Type: model.Number}, `1e309`, "out_of_range at /x: Must be a number that a double can hold."},
		{model.Attribute{Type: model.Boolean}, `0`, "type at /x: Must be a boolean, but is a number."},
		{model.Attribute{Type: model.Boolean}, `[true]`, "type at /x: Must be a boolean, but is an array."},
		{model.Attribute{Type: model.Object}, `[]`, "type at /x: Must be an object, but is an array."},
		{model.Attribute{Type: model.Object}, `"{}"`, "type at /x: Must be an object, but is a string."},
		{model.Attribute{Type: model.Array}, `{}`, "type at /x: Must be an array, but is an object."},
		{model.Attribute{Type: model.Array}, `false`, "type at /x: Must be an array, but is a boolean."},

		{model.Attribute{Type: model.String}, `"a\u0000"`, "null_character at /x: Strings can hold any character but U+0000."},
		{model.Attribute{Type: model.String, MinLength: 2}, `"𝄞"`, "min_length at /x: Must be at least 2 characters long, but has 1."},
		{model.Attribute{Type: model.String, MaxLength: 2}, `"aé𝄞"`, "max_length at /x: Must be at most 2 characters long, but has 3."},
		{model.Attribute{Type: model.String, MinLength: 2, MaxLength: 2}, `"é𝄞"`, ""},
		{model.Attribute{Type: model.String, Pattern: "^[a-z]+$"}, `"a1"`, "pattern at /x: Must match the pattern ^[a-z]+$."},
		{model.Attribute{Type: model.String, Pattern: "b"}, `"abc"`, ""},
		{model.Attribute{Type: model.String, Format: model.Email}, `"a"`, "format at /x: Must be an email address such as ada@example.com."},
		{model.Attribute{Type: model.String, Format: model.URI}, `"a"`, "format at /x: Must be an absolute URI such as https://example.com/a."},
		{model.Attribute{Type: model.String, Format: model.UUID}, `"a"`, "format at /x: Must be a UUID such as 01936f2e-7d3c-7a4b-9c5d-0123456789ab."},
		{model.Attribute{Type: model.String, Format: model.Date}, `"a"`, "format at /x: Must be a date such as 2026-11-14."},
		{model.Attribute{Type: model.String, Format: model.DateTime}, `"a"`, "format at /x: Must be a date-time such as 2026-11-14T09:30:00.123Z."},
		{model.Attribute{Type: model.String, Format: model.DateTime}, `"2026-11-14T09:30:00.1234Z"`, "format at /x: Must be a date-time such as 2026-11-14T09:30:00.123Z with at most three digits of a second's fraction."},
		{model.Attribute{Type: model.String, Format: model.Email, MinLength: 5, Pattern: "^b"}, `"a"`, "min_length at /x: Must be at least 5 characters long, but has 1.\n" +
			"pattern at /x: Must match the pattern ^b.\nformat at /x: Must be an email address such as ada@example.com."},

		{model.Attribute{Type: model.String, Enum: []any{"a", `"`}}, `"b"`, `enum at /x: Must be one of "a", "\"".`},
		{model.Attribute{Type: model.Integer, Enum: []any{1, 2}}, `3`, "enum at /x: Must be one of 1, 2."},
		{model.Attribute{Type: model.Integer, Enum: []any{1, 2}}, `2.0`, ""},
		{model.Attribute{Type: model.Number, Enum: []any{0.5}}, `5e-1`, ""},
		{model.Attribute{Type: model.Array, Enum: []any{[]any{1}}}, `[2]`, "enum at /x: Must be one of [1]."},
		{model.Attribute{Type: model.Array, Enum: []any{[]any{1}}}, `[ 1.0 ]`, ""},
		{model.Attribute{Type: model.String, Format: model.DateTime, Enum: []any{"2026-11-14T09:30:00Z"}}, `"2026-11-14T10:30:00+01:00"`, ""},

		{model.Attribute{Type: model.Integer, Minimum: "1"}, `0`, "minimum at /x: Must be at least 1."},
		{model.Attribute{Type: model.Integer, Minimum: "1"}, `1`, ""},
		{model.Attribute{Type: model.Integer, Minimum: "0.5", ExclusiveMinimum: "0"}, `0`, "minimum at /x: Must be at least 0.5 and more than 0."},
		{model.Attribute{Type: model.Integer, ExclusiveMaximum: "1"}, `1`, "maximum at /x: Must be less than 1."},
		{model.Attribute{Type: model.Integer, Maximum: "9223372036854775806"}, `9223372036854775807`, "maximum at /x: Must be at most 9223372036854775806."},
		{model.Attribute{Type: model.Number, Maximum: "0.1"}, `0.1`, ""},
		{model.Attribute{Type: model.Number, Maximum: "0.1"}, `0.10000000000000002`, "maximum at /x: Must be at most 0.1."},
		{model.Attribute{Type: model.Number, ExclusiveMinimum: "0"}, `-0.0`, "minimum at /x: Must be more than 0."},
		{model.Attribute{Type: model.Integer, MultipleOf: "3"}, `-7`, "multiple_of at /x: Must be a multiple of 3."},
		{model.Attribute{Type: model.Integer, MultipleOf: "3"}, `-9`, ""},
		{model.Attribute{Type: model.Number, MultipleOf: "0.1"}, `0.3`, ""},
		{model.Attribute{Type: model.Number, MultipleOf: "0.1"}, `0.35`, "multiple_of at /x: Must be a multiple of 0.1."},
		{model.Attribute{Type: model.Integer, Minimum: "5", MultipleOf: "2"}, `3`, "minimum at /x: Must be at least 5.\nmultiple_of at /x: Must be a multiple of 2."},

		{pairs, `[true]`, "min_items at /x: Must have at least 2 items, but has 1."},
		{pairs, `[true,false,true,true]`, "max_items at /x: Must have at most 3 items, but has 4."},
		{pairs, `[true,null]`, "type at /x/1: Must be a boolean, but is null."},
		{closed, `{"a":"","c":{"d":1}}`, "unknown_attribute at /x/c: No member of this name is allowed here."},
		{closed, `{"a":"","b":[1,0,"x"]}`, "minimum at /x/b/1: Must be at least 1.\ntype at /x/b/2: Must be an integer, but is a string."},
		{closed, `{"b":[]}`, `required at /x/a: The member "a" is required.`},
		{closed, `{"a":null}`, "type at /x/a: Must be a string, but is null."},
		{closed, `{"a":"\u0000"}`, "null_character at /x/a: Strings can hold any character but U+0000."},
		{model.Attribute{Type: model.Object}, `{"a/b":[{"\u0000":1}]}`, "null_character at /x/a~1b/0/\x00: Strings can hold any character but U+0000."},
		{model.Attribute{Type: model.Object}, `{"a":[1e999]}`, "out_of_range at /x/a/0: Must be a number that a double can hold."},
	}
	for _, test := range tests {
		t.Run(test.value, func(t *testing.T) {
			test.attribute.Name = "x"
			c := mustNew(model.Collection{Name: "things", Attributes: []model.Attribute{test.attribute}})
			_, _, err := c.Decode([]byte(`{"x":`+test.value+`}`), options(model.Patch))
			got := ""
			if err != nil {
				for i, f := range fault.From(err) {
					if i > 0 {
						got += "\n"
					}
					got += f.Error()
				}
			}
			if got != test.want {
				t.Errorf("%s\ngot  %s\nwant %s", test.value, got, test.want)
			}
		})
	}
}
