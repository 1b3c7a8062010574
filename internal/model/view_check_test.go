package model_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

// viewOf is the first collection of a view that pairs attributes by their order. A version without attributes at the end of
// the stored ones does not have them.
func viewOf(t interface{ Fatal(...any) }, version, stored model.Collection) *model.Collection {
	was, err := compile.Versioned(model.Versions{Newest: 1}, version)
	if err != nil {
		t.Fatal(err)
	}
	s, err := compile.Versioned(model.Versions{Newest: 2}, stored)
	if err != nil {
		t.Fatal(err)
	}
	declared := was.Collections()[0]
	return s.View(was.Versions(), func(c *model.Collection) model.Shown {
		shown := model.Shown{Collection: declared, Attributes: make([]*model.Attribute, len(c.Attributes))}
		for i := range declared.Attributes {
			shown.Attributes[i] = &declared.Attributes[i]
		}
		return shown
	}).Collections()[0]
}

// recordOf is a record with the values of a JSON object, in the names of what is stored.
func recordOf(t *testing.T, c *model.Collection, object string) model.Record {
	t.Helper()
	if object == "" {
		return nil
	}
	inputs, _, err := c.Base().Decode([]byte(object), model.DecodeOptions{Mode: model.Create, MaxDepth: 9})
	if err != nil {
		t.Fatal(err)
	}
	return inputs[0].Values
}

func TestCheckVersion(t *testing.T) {
	size := func(most json.Number, required bool, more ...model.Attribute) model.Attribute {
		return model.Attribute{Name: "size", Type: model.Object, Closed: true, Properties: append([]model.Attribute{
			{Name: "width", Type: model.Integer, Maximum: most}, {Name: "depth", Type: model.Integer, Required: required}}, more...)}
	}
	tags := func(values ...any) model.Attribute {
		return model.Attribute{Name: "tags", Type: model.Array, Items: &model.Attribute{Type: model.String, Enum: values}}
	}
	text := func(name string, most int, required bool) model.Attribute {
		return model.Attribute{Name: name, Type: model.String, MaxLength: most, Required: required}
	}
	state := func(name string, initial any, values ...any) model.Attribute {
		return model.Attribute{Name: name, Type: model.String, Enum: values, Default: initial}
	}
	price := func(most json.Number) model.Attribute {
		return model.Attribute{Name: "price", Type: model.String, Format: model.Decimal, Scale: 2, Maximum: most}
	}
	c := viewOf(t,
		model.Collection{Name: "users", Attributes: []model.Attribute{
			text("name", 3, true), state("state", "new", "new", "old"), size("9", true), tags("a", "b"), price("9.50"), text("code", 9, true)}},
		model.Collection{Name: "people", Singular: "human", Attributes: []model.Attribute{
			text("title", 5, false), state("phase", "lost", "new", "old", "lost", "gone"), size("99", false, text("name", 0, false)), tags("a", "b", "c"), price("99.99"),
			{Name: "key", Type: model.String, Default: "none", Required: true}, text("added", 0, false)}},
	)
	const complete = `"title": "Ada"`
	tests := []struct{ name, before, after, want string }{
		{"create", "", `{` + complete + `}`, ""},
		{"create without what is required", "", `{}`, `required at /name: The attribute name is required and cannot be null.`},
		{"too long", "", `{"title": "Adam"}`, `max_length at /name: Must be at most 3 characters long, but has 4.`},
		{"a value that the version does not know", "", `{` + complete + `, "phase": "gone"}`, `enum at /state: Must be one of "new", "old".`},
		{"the default", `{` + complete + `, "phase": "new"}`, `{` + complete + `, "phase": "lost"}`, ""},
		{"what is stored", `{"title": "Adam", "phase": "gone", "price": "10.00"}`, `{"title": "Adam", "phase": "gone", "price": "10.00"}`, ""},
		{"null is stored", `{}`, `{"price": "1.00"}`, ""},
		{"null instead", `{` + complete + `}`, `{}`, `required at /name: The attribute name is required and cannot be null.`},
		{"a decimal", `{` + complete + `}`, `{` + complete + `, "price": "9.51"}`, `maximum at /price: Must be at most 9.50.`},
		{"an attribute that the version does not have", "", `{` + complete + `, "added": "xyz"}`, ""},
		{"inside an object", "", `{` + complete + `, "size": {"width": 10, "name": "x"}}`,
			`maximum at /size/width: Must be at most 9.; unknown_attribute at /size/name: No member of this name is allowed here.; required at /size/depth: The member "depth" is required.`},
		{"stored inside an object", `{` + complete + `, "size": {"width": 10, "name": "x"}}`, `{` + complete + `, "size": {"name": "x", "width": 10, "depth": 1}}`, ""},
		{"changed inside an object", `{` + complete + `, "size": {"width": 10, "name": "x"}}`, `{` + complete + `, "size": {"width": 11, "name": "x"}}`,
			`maximum at /size/width: Must be at most 9.`},
		{"inside an array", `{` + complete + `, "tags": ["a", "c"]}`, `{` + complete + `, "tags": ["b", "c", "c"]}`, `enum at /tags/2: Must be one of "a", "b".`},
		{"another order", `{` + complete + `, "tags": ["a", "c"]}`, `{` + complete + `, "tags": ["c", "a"]}`, `enum at /tags/0: Must be one of "a", "b".`},
		{"several", "", `{"title": "Adam", "phase": "gone"}`, `max_length at /name: Must be at most 3 characters long, but has 4.; enum at /state: Must be one of "new", "old".`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			before, after := recordOf(t, c, test.before), recordOf(t, c, test.after)
			for _, each := range c.CheckVersion(before, after, nil) {
				got = append(got, fmt.Sprintf("%s at %s: %s", each.Code, each.Source.Pointer, each.Detail))
			}
			if got := strings.Join(got, "; "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if got := c.Base().CheckVersion(before, after, nil); got != nil {
				t.Errorf("what is stored has other declarations: %v", got)
			}
		})
	}
}

// TestCheckVersionIsDecode: of a create, a version refuses what it refused as the newest one, with the same words.
func TestCheckVersionIsDecode(t *testing.T) {
	refused := 0
	rapid.Check(t, func(t *rapid.T) {
		a := drawAttribute("x", 2).Draw(t, "attribute")
		a.Required = rapid.Bool().Draw(t, "required")
		version := model.Collection{Name: "users", Attributes: []model.Attribute{a}}
		was, err := compile.Schema(version)
		if err != nil {
			return // for example a minimum above the maximum
		}
		c := viewOf(t, version, model.Collection{Name: "users", Attributes: []model.Attribute{loosened(a)}})
		body := []byte(`{"x":` + drawJSON(a.Type, 2).Draw(t, "value") + `}`)
		inputs, _, err := c.Base().Decode(body, model.DecodeOptions{Mode: model.Create, MaxDepth: 9})
		if err != nil {
			return // of another type, or not well-formed
		}
		_, _, err = was.Collections()[0].Decode(body, model.DecodeOptions{Mode: model.Create, MaxDepth: 9})
		var want problem.Errors
		errors.As(err, &want)
		got := c.CheckVersion(nil, inputs[0].Values, nil)
		if !slices.EqualFunc(got, want, func(a, b *problem.Error) bool { return a.Error() == b.Error() && a.Source == b.Source }) {
			t.Fatalf("%s: got %v, want %v", body, got, want)
		}
		if len(want) > 0 {
			refused++
		}
		if got := c.CheckVersion(inputs[0].Values, inputs[0].Values, nil); got != nil {
			t.Fatalf("%s is stored and refused: %v", body, got)
		}
	})
	if refused == 0 {
		t.Errorf("no value was refused")
	}
}

// loosened is a definition that accepts everything of the same kind.
func loosened(a model.Attribute) model.Attribute {
	return model.Attribute{Name: a.Name, Type: a.Type}
}

// TestInVersion: a view declares what its version and the stored schema accept, as far as one of them refuses more.
func TestInVersion(t *testing.T) {
	declared, stored, both := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		was, now := drawAttribute("x", 1).Draw(t, "was"), drawAttribute("x", 1).Draw(t, "now")
		now.Type = was.Type
		version, err := compile.Schema(model.Collection{Name: "users", Attributes: []model.Attribute{was}})
		if err != nil {
			return // for example a minimum above the maximum
		}
		if _, err := compile.Schema(model.Collection{Name: "users", Attributes: []model.Attribute{now}}); err != nil {
			return // for example a keyword of another type
		}
		c := viewOf(t, model.Collection{Name: "users", Attributes: []model.Attribute{was}}, model.Collection{Name: "users", Attributes: []model.Attribute{now}})
		accepts := func(a *model.Attribute, value []byte) bool {
			_, err := a.DecodeJSON(value)
			return err == nil
		}
		for range 30 {
			value := []byte(drawJSON(was.Type, 2).Draw(t, "value"))
			before, after, in := accepts(version.Collections()[0].Declared("x"), value), accepts(c.Base().Declared("x"), value), accepts(c.Declared("x").InVersion(), value)
			if in && !before || before && after && !in {
				t.Fatalf("%s: %t in the version, %t as stored, %t in the view", value, before, after, in)
			}
			switch {
			case before && !after && !in:
				stored++
			case !before && after:
				declared++
			case in:
				both++
			}
		}
	})
	if declared == 0 || stored == 0 || both == 0 {
		t.Errorf("%d values were refused by the version, %d as they are stored, and %d accepted", declared, stored, both)
	}
}

func TestDescribeInVersion(t *testing.T) {
	text := func(name string, least, most int, required bool) model.Attribute {
		return model.Attribute{Name: name, Type: model.String, MinLength: least, MaxLength: most, Required: required}
	}
	state := func(name string, initial any, values ...any) model.Attribute {
		return model.Attribute{Name: name, Type: model.String, Enum: values, Default: initial}
	}
	number := func(name string, most json.Number) model.Attribute {
		return model.Attribute{Name: name, Type: model.Number, ExclusiveMaximum: most}
	}
	object := func(name string, isClosed bool, members ...string) model.Attribute {
		a := model.Attribute{Name: name, Type: model.Object, Closed: isClosed}
		for _, member := range members {
			a.Properties = append(a.Properties, number(member, ""))
		}
		return a
	}
	c := viewOf(t,
		model.Collection{Name: "users", Attributes: []model.Attribute{text("name", 2, 5, true), text("email", 0, 9, false), state("state", "new", "new", "old"), number("age", "9.5"), object("size", false, "width")}},
		model.Collection{Name: "people", Attributes: []model.Attribute{text("title", 1, 4, false), text("mail", 0, 9, true), state("phase", "lost", "new", "old", "lost"), number("years", "5"), object("measures", true, "width", "depth"), text("more", 0, 0, false)}},
	)
	want := `[{"name":"name","required":true,"type":"string","minLength":2,"maxLength":4},` +
		`{"name":"email","required":true,"type":"string","maxLength":9},` +
		`{"name":"state","required":false,"type":"string","enum":["new","old"],"default":"lost"},` +
		`{"name":"age","required":false,"type":"number","exclusiveMaximum":5},` +
		`{"name":"size","required":false,"type":"object","properties":{"width":{"type":"number"}}}]`
	if got := string(c.Describe(c.Shows(), func(model.Rule) bool { return true })); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for name, values := range map[string][2]string{"age": {"4.9", "5"}, "name": {`"abcd"`, `"abcde"`}, "size": {`{"depth": 1}`, `{"width": "1"}`}} {
		a := c.Declared(name).InVersion()
		if _, err := a.DecodeJSON([]byte(values[0])); err != nil {
			t.Errorf("%s: %v", values[0], err)
		}
		if _, err := a.DecodeJSON([]byte(values[1])); err == nil {
			t.Errorf("%s is accepted as %s", values[1], name)
		}
	}
}
