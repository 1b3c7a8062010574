package schema_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// TestSearchIsDeclared: file, Go code, struct and stored schema declare the same.
func TestSearchIsDeclared(t *testing.T) {
	type Book struct {
		_     struct{} `plural:"search=title|body,label=name"`
		Title *string  `json:"title"`
		Body  *string  `json:"body"`
		Name  *string  `json:"name"`
	}
	ofStruct, err := schema.Of[Book]()
	if err != nil {
		t.Fatal(err)
	}
	text := func(name string) schema.Attribute { return schema.Attribute{Name: name, Type: schema.String} }
	inGo := schema.Collection{Name: "books", NoTimestamps: true, Attributes: []schema.Attribute{text("title"), text("body"), text("name")}, Search: []string{"title", "body"}, Label: "name"}
	file, err := schema.Parse([]byte(`
collections:
  books:
    timestamps: false
    attributes: {title: {type: string}, body: {type: string}, name: {type: string}}
    search: [title, body]
    label: name
`))
	if err != nil {
		t.Fatal(err)
	}
	want := (*model.Schema)(file.Schema)
	for name, c := range map[string]schema.Collection{"struct": ofStruct, "Go": inGo} {
		s, err := schema.New(c)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := (*model.Schema)(s).Document(); !bytes.Equal(got, want.Document()) {
			t.Errorf("%s: got %s, want %s", name, got, want.Document())
		}
	}
	stored, err := compile.Stored(want.Document())
	if err != nil {
		t.Fatal(err)
	}
	if got := stored.Collection("books").SearchNames(nil); !slices.Equal(got, []string{"title", "body", "name"}) {
		t.Errorf("got %q", got)
	}
}
