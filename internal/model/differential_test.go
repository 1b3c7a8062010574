package model_test

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
)

// TestAgainstJSONSchema draws definitions and values: we and another
// implementation of JSON Schema both take a value, or both refuse it. The other
// one is given what Definition publishes, so that this is checked too.
//
// The values keep away from where we mean to differ: integers beyond int64,
// null for an attribute, and formats, which have tests of their own.
func TestAgainstJSONSchema(t *testing.T) {
	accepted, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		attribute := drawAttribute("x", 2).Draw(t, "attribute")
		s, err := compile.Schema(model.Collection{Name: "things", Attributes: []model.Attribute{attribute}})
		if err != nil {
			return // for example a minimum above the maximum
		}
		c := s.Collections()[0]
		other := compileOther(t, c.Attributes[0].Definition())
		for range 10 {
			kind := rapid.SampledFrom([]model.Type{attribute.Type, attribute.Type, ""}).Draw(t, "kind")
			text := drawJSON(kind, 3).Draw(t, "value")
			if text == "null" {
				continue
			}
			_, _, ours := c.Decode([]byte(`{"x":`+text+`}`), model.DecodeOptions{Mode: model.Patch, MaxDepth: 64})
			value, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(text)))
			if err != nil {
				t.Fatal(err)
			}
			theirs := other.Validate(value)
			if (ours == nil) != (theirs == nil) {
				t.Fatalf("%s\nof %s\nwe say %v\nthey say %v", text, c.Attributes[0].Definition(), ours, theirs)
			}
			if ours == nil {
				accepted++
			} else {
				refused++
			}
		}
	})
	// A generator that draws only one or the other would test nothing.
	if accepted < 50 || refused < 50 {
		t.Errorf("%d values were accepted and %d refused", accepted, refused)
	}
}

func compileOther(t *rapid.T, definition []byte) *jsonschema.Schema {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(definition))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("definition.json", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("definition.json")
	if err != nil {
		t.Fatalf("%s: %v", definition, err)
	}
	return compiled
}
