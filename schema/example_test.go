package schema

import (
	"reflect"
	"testing"

	"github.com/plural-go/plural/internal/model"
)

func TestExample(t *testing.T) {
	want, err := New(
		Collection{Name: "users", Description: "People who write.", Attributes: []Attribute{
			{Name: "name", Type: String, Required: true},
			{Name: "email", Type: String, Format: Email, Required: true},
			{Name: "active", Type: Boolean, Default: true},
		}},
		Collection{Name: "posts", Description: "What they have written.", Parent: &Parent{Collection: "users", OnDelete: SetNull}, Attributes: []Attribute{
			{Name: "title", Type: String},
			{Name: "body", Type: String},
			{Name: "published_at", Type: String, Format: DateTime},
			{Name: "user_id", References: &Reference{Collection: "users", OnDelete: SetNull}},
		}},
	)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := declarations(Example()), declarations(want); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestNewChangesNoArguments: what a declaration leaves out is derived in a copy.
func TestNewChangesNoArguments(t *testing.T) {
	declared := func() []Collection {
		return []Collection{
			{Name: "people", Attributes: []Attribute{{Name: "address", Type: Object, Properties: []Attribute{{Name: "city", Type: String}}}}},
			{Name: "notes", Parent: &Parent{Collection: "people", Attribute: "author"}, Attributes: []Attribute{
				{Name: "author", References: &Reference{Collection: "people", OnDelete: SetNull}},
			}},
			{Name: "posts", Parent: &Parent{Collection: "people"}, Unique: [][]string{{"person_id"}}},
		}
	}
	given := declared()
	if _, err := New(given...); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(given, declared()) {
		t.Errorf("they became %+v", given)
	}
}

// declarations are the collections of a schema, as they are stored.
func declarations(s *Schema) string { return string((*model.Schema)(s).Document()) }
