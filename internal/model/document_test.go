package model_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
)

// TestDocumentRoundTrip draws schemas: what is read from a document is the same
// declaration, and gives the same document.
func TestDocumentRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		versions := model.Versions{Newest: rapid.IntRange(0, 3).Draw(t, "version")}
		if versions.Newest > 1 {
			versions.Deprecated = map[int]string{1: "2027-01-01"}
		}
		s, err := compile.Versioned(versions, drawCollections(t)...)
		if err != nil {
			return // for example a minimum above the maximum
		}
		text := s.Document()
		again, err := compile.Stored(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if got := again.Document(); string(got) != string(text) {
			t.Fatalf("got  %s\nwant %s", got, text)
		}
		if got := again.Versions(); !reflect.DeepEqual(got, versions) {
			t.Fatalf("got the versions %v, want %v", got, versions)
		}
		all := func(model.Rule) bool { return true }
		for i, c := range s.Collections() {
			if got, want := again.Collections()[i].Describe(nil, all), c.Describe(nil, all); string(got) != string(want) {
				t.Fatalf("got  %s\nwant %s", got, want)
			}
		}
	})
}

func drawCollections(t *rapid.T) []model.Collection {
	users := model.Collection{Name: "users", Description: rapid.SampledFrom([]string{"", "People <&>"}).Draw(t, "description")}
	for _, name := range []string{"a", "b", "c"} {
		a := drawAttribute(name, 2).Draw(t, name)
		a.Required = rapid.Bool().Draw(t, "required")
		if len(a.Enum) > 0 && rapid.Bool().Draw(t, "default") {
			a.Default = a.Enum[0]
		}
		if a.Type != model.Object && a.Type != model.Array {
			a.Unique, a.Index = rapid.Bool().Draw(t, "unique"), rapid.Bool().Draw(t, "index")
		}
		users.Attributes = append(users.Attributes, a)
	}
	posts := model.Collection{
		Name: "posts", NoTimestamps: rapid.Bool().Draw(t, "timestamps"),
		Parent: &model.Parent{Collection: "users", OnDelete: rapid.SampledFrom(append(model.OnDeletes, "")).Draw(t, "on_delete")},
		Index:  [][]string{{"user_id"}},
	}
	return []model.Collection{users, posts}
}

func TestDocument(t *testing.T) {
	s, err := compile.Schema(
		model.Collection{Name: "shops", RenamedFrom: "stores", Attributes: []model.Attribute{
			{Name: "size", RenamedFrom: "area", Type: model.Object, Default: map[string]any{"b": 1, "a": 2}, Properties: []model.Attribute{{Name: "a", Type: model.Integer, Minimum: "1.50", Required: true}}},
			{Name: "state", Type: model.String, Enum: []any{"<open>", "closed"}, Default: "<open>", Unique: true},
		}},
		model.Collection{Name: "goods", Singular: "good", NoTimestamps: true, Parent: &model.Parent{Collection: "shops"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"collections":[{"name":"shops","singular":"shop","attributes":[` +
		`{"name":"size","type":"object","properties":[{"name":"a","type":"integer","minimum":1.50,"required":true}],"default":{"a":2,"b":1}},` +
		`{"name":"state","type":"string","enum":["<open>","closed"],"default":"<open>","unique":true}]},` +
		`{"name":"goods","singular":"good","attributes":[{"name":"shop_id","type":"string","format":"uuid","references":{"collection":"shops","on_delete":"restrict"}}],` +
		`"parent":{"collection":"shops","attribute":"shop_id","on_delete":"restrict"},"no_timestamps":true}]}`
	if got := string(s.Document()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestDocumentWithVersions(t *testing.T) {
	s, err := compile.Versioned(model.Versions{Newest: 3, Deprecated: map[int]string{2: "2027-01-01", 1: "2026-06-30"}},
		model.Collection{Name: "shops", Attributes: []model.Attribute{{Name: "fax", Type: model.String, Until: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"version":3,"deprecated":{"1":"2026-06-30","2":"2027-01-01"},"collections":[{"name":"shops","singular":"shop","attributes":[{"name":"fax","type":"string","until":2}]}]}`
	if got := string(s.Document()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := s.Collection("shops").Shows(), (model.ColumnSet{true, false, true, true, true}); !slices.Equal(got, want) {
		t.Errorf("the newest version shows %v, want %v", got, want)
	}
}

// TestDocumentHasEverything: every field of a declaration has a name in the document, or is
// known not to be a part of it.
func TestDocumentHasEverything(t *testing.T) {
	left := map[string]bool{}
	for _, declared := range []reflect.Type{reflect.TypeFor[model.Collection](), reflect.TypeFor[model.Attribute](), reflect.TypeFor[model.Parent](), reflect.TypeFor[model.Reference]()} {
		for i := range declared.NumField() {
			field := declared.Field(i)
			switch name, _, _ := strings.Cut(field.Tag.Get("json"), ","); {
			case name == "-":
				left[declared.Name()+"."+field.Name] = true
			case name == "" && field.IsExported():
				t.Errorf("%s.%s has no json tag", declared, field.Name)
			}
		}
	}
	want := map[string]bool{"Attribute.RenamedFrom": true, "Collection.RenamedFrom": true, "Collection.RequireIfMatch": true, "Collection.Async": true,
		"Parent.As": true, "Parent.Inverse": true} // which the attribute of the parent has
	if !maps.Equal(left, want) {
		t.Errorf("left out are %v, want %v", left, want)
	}
}

func TestFromDocumentRefuses(t *testing.T) {
	for _, text := range []string{``, `{}`, `[]`, `{"collections":[{"name":"users","colour":"red"}]}`,
		`{"collections":[{"name":"users","attributes":[{"name":"a","type":"array","items":{"type":"string","colour":"red"}}]}]}`, `{"collections":[{"name":"Users"}]}`} {
		if s, err := compile.Stored([]byte(text)); s != nil || err == nil {
			t.Errorf("%s: got %v, %v", text, s, err)
		}
	}
}
