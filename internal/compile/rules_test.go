package compile

import (
	"bytes"
	"testing"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/rules"
)

// TestStoredRulesMayBeOld: a stored schema can be read whose expressions this version does not know. It has no rules then.
func TestStoredRulesMayBeOld(t *testing.T) {
	declared := func(rule string) model.Collection {
		return model.Collection{
			Name: "things", Attributes: []model.Attribute{{Name: "a", Type: model.Integer}, {Name: "b", Type: model.Integer, Computed: model.Rule{Text: "resource.a + 1"}}},
			Checks: []model.Check{{Rule: model.Rule{Text: rule}, Message: "m"}},
		}
	}
	s, err := Schema(declared("resource.a > 1"))
	if err != nil {
		t.Fatal(err)
	}
	document := s.Document()
	for rule, has := range map[string]bool{"resource.a > 1": true, "resource.a.old()": false} {
		stored, err := Stored(bytes.Replace(document, []byte("resource.a > 1"), []byte(rule), 1))
		if err != nil {
			t.Fatal(err)
		}
		if set := rules.Of(stored.Collection("things")); (set != nil) != has {
			t.Errorf("with %s, the rules are %v", rule, set)
		}
		if _, err := Schema(declared(rule)); (err == nil) != has {
			t.Errorf("with %s: %v", rule, err)
		}
	}
}
