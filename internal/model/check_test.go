package model

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

// TestNewProblems is about declarations in Go; those that a file can make as
// well are in testdata/problems.
func TestNewProblems(t *testing.T) {
	text := func(name string) Attribute { return Attribute{Name: name, Type: String} }
	deep := &Attribute{Type: String}
	for range maxDefinitionDepth {
		deep = &Attribute{Type: Array, Items: deep}
	}
	tests := []struct {
		name     string
		declared []Collection
		want     []string
	}{
		{"nothing", nil, []string{
			"collections: there must be at least one collection, for example users with the attribute name",
		}},
		{"no names", []Collection{{Attributes: []Attribute{{Type: String}}}}, []string{
			`collections.0: "" cannot be the name of a collection: use a lower-case letter, then lower-case letters, digits, _ and (not at the end) -`,
			`collections.0.attributes.0: "" cannot be the name of an attribute: use a lower-case letter, then lower-case letters, digits and _`,
		}},
		{"twice", []Collection{{Name: "users", Attributes: []Attribute{text("a"), text("a")}}, {Name: "users"}}, []string{
			"collections.users.attributes.a: the attribute a is declared twice: remove one of them, or rename it",
			"collections.users: the collection users is declared twice: remove one of them, or rename it",
		}},
		{"properties twice", []Collection{{Name: "users", Attributes: []Attribute{{Name: "a", Type: Object, Properties: []Attribute{text("b"), text("b")}}}}}, []string{
			"collections.users.attributes.a.properties.b: the property b is declared twice: remove one of them, or rename it",
		}},
		{"negative counts", []Collection{{Name: "users", Attributes: []Attribute{
			{Name: "a", Type: String, MinLength: -1}, {Name: "b", Type: String, MaxLength: -1, Unique: true}, {Name: "c", Type: Array, MinItems: -1}, {Name: "d", Type: Array, MaxItems: -1},
		}}}, []string{
			"collections.users.attributes.a.minLength: minLength cannot be negative",
			"collections.users.attributes.b.maxLength: maxLength must be 1 or more",
			"collections.users.attributes.c.minItems: minItems cannot be negative",
			"collections.users.attributes.d.maxItems: maxItems must be 1 or more",
		}},
		{"bounds that are no numbers", []Collection{{Name: "users", Attributes: []Attribute{
			{Name: "a", Type: Integer, Minimum: "one", Maximum: "0x10"}, {Name: "b", Type: Number, ExclusiveMinimum: "NaN", ExclusiveMaximum: "1/2", MultipleOf: json.Number("1" + strings.Repeat("0", 400))},
		}}}, []string{
			"collections.users.attributes.a.minimum: minimum must be a decimal number such as 10 or 0.5, but is one",
			"collections.users.attributes.a.maximum: maximum must be a decimal number such as 10 or 0.5, but is 0x10",
			"collections.users.attributes.b.exclusiveMinimum: exclusiveMinimum must be a decimal number such as 10 or 0.5, but is NaN",
			"collections.users.attributes.b.exclusiveMaximum: exclusiveMaximum must be a decimal number such as 10 or 0.5, but is 1/2",
			"collections.users.attributes.b.multipleOf: multipleOf must be a decimal number such as 10 or 0.5, but is 1" + strings.Repeat("0", 400),
		}},
		{"constants", []Collection{{Name: "users", Attributes: []Attribute{
			{Name: "a", Type: Number, Default: math.NaN()},
			{Name: "b", Type: String, Default: json.RawMessage("null")},
			{Name: "c", Type: Object, Default: json.RawMessage(`{"a":1,"a":2}`)},
			{Name: "d", Type: Integer, Enum: []any{1, int8(1), json.Number("2"), uint(3), 4.0, 4.5}},
		}}}, []string{
			"collections.users.attributes.a.default: the default cannot be written as JSON: json: unsupported value: NaN",
			"collections.users.attributes.b.default: the default cannot be null: remove it, as every attribute that is not required can be null and is null by default",
			`collections.users.attributes.c.default: the default at /a is not valid: Line 1, column 8: duplicate object member name`,
			"collections.users.attributes.d.enum.1: this value is listed twice: remove one of them",
			"collections.users.attributes.d.enum.5: this value must be an integer, but has a fraction",
		}},
		{"depth", []Collection{{Name: "users", Attributes: []Attribute{{Name: "a", Type: Array, Items: deep}}}}, []string{
			"collections.users.attributes.a" + strings.Repeat(".items", maxDefinitionDepth) + ": definitions can be nested at most 32 levels deep",
		}},
		{"groups", []Collection{{Name: "users", Attributes: []Attribute{text("a"), {Name: "e", Type: String, Enum: []any{strings.Repeat("x", 2601)}}}, Unique: [][]string{{"a"}, {}, {"e"}}, Index: [][]string{make([]string, 33)}}}, []string{
			"collections.users.attributes.a.maxLength: a is in unique and needs a maxLength of at most 650, as an index has room for 2600 bytes and a character can take 4",
			"collections.users.unique.1: name at least one attribute",
			"collections.users.unique.2: the values of this group take up to 2601 bytes, but an index has room for 2600: remove an attribute",
			"collections.users.index.0: a group can have at most 31 attributes, but this one has 33",
		}},
		{"groups of formats", []Collection{{Name: "users", Attributes: []Attribute{
			text("a"), {Name: "mail", Type: String, Format: Email}, {Name: "short", Type: String, Format: Email, MaxLength: 100}, {Name: "day", Type: String, Format: Date}, {Name: "link", Type: String, Format: URI, MaxLength: 500},
		}, Unique: [][]string{{"mail"}, {"short", "mail", "day"}, {"a", "mail"}, {"mail", "short", "link", "day"}}}}, []string{
			"collections.users.attributes.a.maxLength: a is in unique and needs a maxLength of at most 586, as an index has room for 2600 bytes and a character can take 4",
		}},
		{"parent without a collection", []Collection{{Name: "users", Parent: &Parent{}}}, []string{
			"collections.users.parent.collection: name a collection: users",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := New(test.declared...)
			if got != nil || err == nil {
				t.Fatalf("got %v and %v", got, err)
			}
			if want := strings.Join(test.want, "\n"); err.Error() != want {
				t.Errorf("got\n%v\nwant\n%v", err, want)
			}
		})
	}
}

// TestNewCompletes compares what was declared with what it became.
func TestNewCompletes(t *testing.T) {
	declared := func() []Collection {
		return []Collection{
			{Name: "people"},
			{Name: "user-groups"},
			{Name: "posts", Parent: &Parent{Collection: "people"}, Unique: [][]string{{"person_id"}}},
			{Name: "members", Parent: &Parent{Collection: "user-groups", OnDelete: Cascade}, Attributes: []Attribute{
				{Name: "user_group_id", Required: true},
				{Name: "sponsor", References: &Reference{Collection: "people"}},
				{Name: "level", Type: Integer, Unique: true},
			}},
			{Name: "notes", Parent: &Parent{Collection: "people", Attribute: "author"}, Attributes: []Attribute{
				{Name: "author", References: &Reference{Collection: "people", OnDelete: SetNull}},
			}},
			{Name: "comments", Parent: &Parent{Collection: "comments"}},
			{Name: "sheep", Singular: "one-sheep", NoTimestamps: true},
		}
	}
	given := declared()
	s, err := New(given...)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(given, declared()) {
		t.Errorf("New changed its arguments: %+v", given)
	}
	reference := func(name, collection string, onDelete OnDelete, required bool) Attribute {
		return Attribute{Name: name, Type: String, Format: UUID, Required: required, References: &Reference{collection, onDelete}}
	}
	want := []Collection{
		{Name: "people", Singular: "person"},
		{Name: "user-groups", Singular: "user-group"},
		{Name: "posts", Singular: "post", Parent: &Parent{Collection: "people", Attribute: "person_id", OnDelete: Restrict}, Unique: [][]string{{"person_id"}}, Attributes: []Attribute{
			reference("person_id", "people", Restrict, false),
		}},
		{Name: "members", Singular: "member", Parent: &Parent{Collection: "user-groups", Attribute: "user_group_id", OnDelete: Cascade}, Attributes: []Attribute{
			reference("user_group_id", "user-groups", Cascade, true),
			reference("sponsor", "people", Restrict, false),
			{Name: "level", Type: Integer, Unique: true},
		}},
		{Name: "notes", Singular: "note", Parent: &Parent{Collection: "people", Attribute: "author", OnDelete: SetNull}, Attributes: []Attribute{
			reference("author", "people", SetNull, false),
		}},
		{Name: "comments", Singular: "comment", Parent: &Parent{Collection: "comments", Attribute: "comment_id", OnDelete: Restrict}, Attributes: []Attribute{
			reference("comment_id", "comments", Restrict, false),
		}},
		{Name: "sheep", Singular: "one-sheep", NoTimestamps: true},
	}
	if got := declarations(s); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	again, err := New(declarations(s)...)
	if err != nil {
		t.Fatal(err)
	}
	if got := declarations(again); !reflect.DeepEqual(got, want) {
		t.Errorf("completed again, it became\n%+v", got)
	}
}

// declarations are the collections of a schema without what was compiled.
func declarations(s *Schema) []Collection {
	var collections []Collection
	for _, c := range s.Collections() {
		collections = append(collections, *c)
	}
	return cloneAll(collections)
}

// TestNewOfCompiled makes sure that compiled collections can be declared again.
func TestNewOfCompiled(t *testing.T) {
	first, err := New(
		Collection{Name: "users", Attributes: []Attribute{{Name: "name", Type: String, Required: true}}},
		Collection{Name: "posts", Parent: &Parent{Collection: "users", OnDelete: SetNull}, Attributes: []Attribute{{Name: "title", Type: String}}},
	)
	if err != nil {
		t.Fatal(err)
	}
	again, err := New(*first.Collections()[0], *first.Collections()[1])
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range again.Collections() {
		if got, want := c.Columns(), first.Collections()[i].Columns(); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestTooManyAttributes(t *testing.T) {
	c := Collection{Name: "things"}
	for i := range maxAttributes + 1 {
		c.Attributes = append(c.Attributes, Attribute{Name: fmt.Sprintf("a%d", i), Type: String})
	}
	_, err := New(c)
	want := "collections.things.attributes: there are 1001 attributes, and no database holds so many: declare at most 1000, and put the rest into objects"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	c.Attributes = c.Attributes[1:]
	if _, err := New(c); err != nil {
		t.Error(err)
	}
}

func TestReservedSingular(t *testing.T) {
	_, err := New(Collection{Name: "surgeries", Singular: "operation"})
	if want := "collections.surgeries.singular: the singular operation is reserved: add singular: with another name"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}
