package compile

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/model"
)

// TestNewProblems is about declarations in Go; those that a file can make as
// well are in testdata/problems.
func TestNewProblems(t *testing.T) {
	text := func(name string) model.Attribute { return model.Attribute{Name: name, Type: model.String} }
	deep := &model.Attribute{Type: model.String}
	for range maxDefinitionDepth {
		deep = &model.Attribute{Type: model.Array, Items: deep}
	}
	tests := []struct {
		name     string
		declared []model.Collection
		want     []string
	}{
		{"nothing", nil, []string{
			"collections: there must be at least one collection, for example users with the attribute name",
		}},
		{"no names", []model.Collection{{Attributes: []model.Attribute{{Type: model.String}}}}, []string{
			`collections.0: "" cannot be the name of a collection: use a lower-case letter, then lower-case letters, digits, _ and (not at the end) -`,
			`collections.0.attributes.0: "" cannot be the name of an attribute: use a lower-case letter, then lower-case letters, digits and _`,
		}},
		{"twice", []model.Collection{{Name: "users", Attributes: []model.Attribute{text("a"), text("a")}}, {Name: "users"}}, []string{
			"collections.users.attributes.a: the attribute a is declared twice: remove one of them, or rename it",
			"collections.users: the collection users is declared twice: remove one of them, or rename it",
		}},
		{"properties twice", []model.Collection{{Name: "users", Attributes: []model.Attribute{{Name: "a", Type: model.Object, Properties: []model.Attribute{text("b"), text("b")}}}}}, []string{
			"collections.users.attributes.a.properties.b: the property b is declared twice: remove one of them, or rename it",
		}},
		{"negative counts", []model.Collection{{Name: "users", Attributes: []model.Attribute{
			{Name: "a", Type: model.String, MinLength: -1}, {Name: "b", Type: model.String, MaxLength: -1, Unique: true}, {Name: "c", Type: model.Array, MinItems: -1}, {Name: "d", Type: model.Array, MaxItems: -1},
		}}}, []string{
			"collections.users.attributes.a.minLength: minLength cannot be negative",
			"collections.users.attributes.b.maxLength: maxLength must be 1 or more",
			"collections.users.attributes.c.minItems: minItems cannot be negative",
			"collections.users.attributes.d.maxItems: maxItems must be 1 or more",
		}},
		{"media types", []model.Collection{{Name: "users", Attributes: []model.Attribute{
			{Name: "a", Type: model.String, ContentMediaType: model.Markdown}, {Name: "b", Type: model.String, ContentMediaType: "text/html"}, {Name: "c", Type: model.Integer, ContentMediaType: model.Markdown},
		}}}, []string{
			`collections.users.attributes.b.contentMediaType: contentMediaType must be text/markdown, but is "text/html": leave it out for other texts`,
			"collections.users.attributes.c.contentMediaType: contentMediaType belongs to strings, and this is an integer: remove it, or change the type",
		}},
		{"markdown is no type and no format", []model.Collection{{Name: "users", Attributes: []model.Attribute{
			{Name: "a", Type: "markdown"}, {Name: "b", Type: model.String, Format: "Markdown"}, {Name: "c", Type: model.String, Format: "text/markdown"},
		}}}, []string{
			`collections.users.attributes.a.type: type must be string, integer, number, boolean, object or array, but is "markdown": write type: string and contentMediaType: text/markdown`,
			`collections.users.attributes.b.format: format must be email, uri, uuid, date, date-time or decimal, but is "Markdown": write contentMediaType: text/markdown, without a format`,
			`collections.users.attributes.c.format: format must be email, uri, uuid, date, date-time or decimal, but is "text/markdown": write contentMediaType: text/markdown, without a format`,
		}},
		{"bounds that are no numbers", []model.Collection{{Name: "users", Attributes: []model.Attribute{
			{Name: "a", Type: model.Integer, Minimum: "one", Maximum: "0x10"}, {Name: "b", Type: model.Number, ExclusiveMinimum: "NaN", ExclusiveMaximum: "1/2", MultipleOf: json.Number("1" + strings.Repeat("0", 400))},
		}}}, []string{
			"collections.users.attributes.a.minimum: minimum must be a decimal number such as 10 or 0.5, but is one",
			"collections.users.attributes.a.maximum: maximum must be a decimal number such as 10 or 0.5, but is 0x10",
			"collections.users.attributes.b.exclusiveMinimum: exclusiveMinimum must be a decimal number such as 10 or 0.5, but is NaN",
			"collections.users.attributes.b.exclusiveMaximum: exclusiveMaximum must be a decimal number such as 10 or 0.5, but is 1/2",
			"collections.users.attributes.b.multipleOf: multipleOf must be a decimal number such as 10 or 0.5, but is 1" + strings.Repeat("0", 400),
		}},
		{"constants", []model.Collection{{Name: "users", Attributes: []model.Attribute{
			{Name: "a", Type: model.Number, Default: math.NaN()},
			{Name: "b", Type: model.String, Default: json.RawMessage("null")},
			{Name: "c", Type: model.Object, Default: json.RawMessage(`{"a":1,"a":2}`)},
			{Name: "d", Type: model.Integer, Enum: []any{1, int8(1), json.Number("2"), uint(3), 4.0, 4.5}},
		}}}, []string{
			"collections.users.attributes.a.default: the default cannot be written as JSON: json: unsupported value: NaN",
			"collections.users.attributes.b.default: the default cannot be null: remove it, as every attribute that is not required can be null and is null by default",
			`collections.users.attributes.c.default: the default at /a is not valid: Line 1, column 8: duplicate object member name`,
			"collections.users.attributes.d.enum.1: this value is listed twice: remove one of them",
			"collections.users.attributes.d.enum.5: this value must be an integer, but has a fraction",
		}},
		{"depth", []model.Collection{{Name: "users", Attributes: []model.Attribute{{Name: "a", Type: model.Array, Items: deep}}}}, []string{
			"collections.users.attributes.a" + strings.Repeat(".items", maxDefinitionDepth) + ": definitions can be nested at most 32 levels deep",
		}},
		{"groups", []model.Collection{{Name: "users", Attributes: []model.Attribute{text("a"), {Name: "e", Type: model.String, Enum: []any{strings.Repeat("x", 2601)}}}, Unique: [][]string{{"a"}, {}, {"e"}}, Index: [][]string{make([]string, 33)}}}, []string{
			"collections.users.attributes.a.maxLength: a is in unique and needs a maxLength of at most 650, as an index has room for 2600 bytes and a character can take 4",
			"collections.users.unique.1: name at least one attribute",
			"collections.users.unique.2: the values of this group take up to 2601 bytes, but an index has room for 2600: remove an attribute",
			"collections.users.index.0: a group can have at most 31 attributes, but this one has 33",
		}},
		{"directions of indexes", []model.Collection{{Name: "users", Attributes: []model.Attribute{{Name: "a", Type: model.Integer}, {Name: "b", Type: model.Integer}, {Name: "t", Type: model.Array, Items: &model.Attribute{Type: model.String}}},
			Unique: [][]string{{"-a"}}, Index: [][]string{{"-a", "b"}, {"-nope"}, {"a", "-a"}, {"-t"}, {"--a"}, {"-a", "b"}}}}, []string{
			`collections.users.unique.0.0: users has no attribute "-a" (did you mean a?)`,
			`collections.users.index.1.0: users has no attribute "nope"`,
			"collections.users.index.2.1: a is twice in this group: remove one of them",
			"collections.users.index.3.0: t is an array, whose index has no order: list it without the minus",
			`collections.users.index.4.0: users has no attribute "-a" (did you mean a?)`,
			"collections.users.index.5: this is listed twice: remove one of them",
		}},
		{"groups of formats", []model.Collection{{Name: "users", Attributes: []model.Attribute{
			text("a"), {Name: "mail", Type: model.String, Format: model.Email}, {Name: "short", Type: model.String, Format: model.Email, MaxLength: 100}, {Name: "day", Type: model.String, Format: model.Date}, {Name: "link", Type: model.String, Format: model.URI, MaxLength: 500},
		}, Unique: [][]string{{"mail"}, {"short", "mail", "day"}, {"a", "mail"}, {"mail", "short", "link", "day"}}}}, []string{
			"collections.users.attributes.a.maxLength: a is in unique and needs a maxLength of at most 586, as an index has room for 2600 bytes and a character can take 4",
		}},
		{"parent without a collection", []model.Collection{{Name: "users", Parent: &model.Parent{}}}, []string{
			"collections.users.parent.collection: name a collection: users",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := Schema(test.declared...)
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
// TestVersions is about declarations in Go; those that a file can make as well are in testdata/problems.
func TestVersions(t *testing.T) {
	text := func(name string, until int) model.Attribute {
		return model.Attribute{Name: name, Type: model.String, MaxLength: 9, Until: until}
	}
	tests := []struct {
		name           string
		versions       model.Versions
		unique         [][]string
		attributes     []model.Attribute
		problems, warn []string
	}{
		{"negative", model.Versions{Newest: -1, Deprecated: map[int]string{9: "x"}}, nil, []model.Attribute{text("a", 1)}, []string{"version: version must be 1 or more, but is -1"}, nil},
		{"negative until", model.Versions{Newest: 2}, nil, []model.Attribute{text("a", -1), text("b", 1)}, []string{"collections.users.attributes.a.until: until must be 1 or more, but is -1"}, nil},
		{"deprecated", model.Versions{Newest: 2, Deprecated: map[int]string{1: "", 2: "2027-01-01"}}, nil, nil, []string{
			`deprecated.1: the date on which version 1 ends must be written as 2027-01-01, but is ""`,
			"deprecated.2: the newest version is 2, and only versions before it can be deprecated: remove 2",
		}, nil},
		{"valid", model.Versions{Newest: 2, Deprecated: map[int]string{1: "2027-01-01"}}, [][]string{{"a"}, {"b", "c"}}, []model.Attribute{text("a", 1), text("b", 0), text("c", 0)}, nil, nil},
		{"a unique group", model.Versions{Newest: 2}, [][]string{{"a", "b"}}, []model.Attribute{text("a", 1), text("b", 0)}, nil, []string{
			"users: a and b are unique together, but the newest version does not have a: what its clients create is null there, and equals nothing: give a a default, or declare another group",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var problems []string
			s, err := Versioned(test.versions, model.Collection{Name: "users", Attributes: test.attributes, Unique: test.unique})
			if err != nil {
				problems = strings.Split(err.Error(), "\n")
			} else if got := s.Warnings(); !slices.Equal(got, test.warn) {
				t.Errorf("warnings\n%q\nwant\n%q", got, test.warn)
			}
			if !slices.Equal(problems, test.problems) {
				t.Errorf("got\n%q\nwant\n%q", problems, test.problems)
			}
		})
	}
}

func TestNewCompletes(t *testing.T) {
	s, err := Schema(
		model.Collection{Name: "people"},
		model.Collection{Name: "user-groups"},
		model.Collection{Name: "posts", Parent: &model.Parent{Collection: "people"}, Unique: [][]string{{"person_id"}}},
		model.Collection{Name: "members", Parent: &model.Parent{Collection: "user-groups", OnDelete: model.Cascade}, Attributes: []model.Attribute{
			{Name: "user_group_id", Required: true},
			{Name: "sponsor", References: &model.Reference{Collection: "people"}},
			{Name: "level", Type: model.Integer, Unique: true},
		}},
		model.Collection{Name: "notes", Parent: &model.Parent{Collection: "people", Attribute: "author"}, Attributes: []model.Attribute{
			{Name: "author", References: &model.Reference{Collection: "people", OnDelete: model.SetNull}},
		}},
		model.Collection{Name: "comments", Parent: &model.Parent{Collection: "comments"}},
		model.Collection{Name: "sheep", Singular: "one-sheep", NoTimestamps: true},
	)
	if err != nil {
		t.Fatal(err)
	}
	reference := func(name, collection string, onDelete model.OnDelete, required bool) model.Attribute {
		return model.Attribute{Name: name, Type: model.String, Format: model.UUID, Required: required, References: &model.Reference{Collection: collection, OnDelete: onDelete}}
	}
	want := []model.Collection{
		{Name: "people", Singular: "person"},
		{Name: "user-groups", Singular: "user-group"},
		{Name: "posts", Singular: "post", Parent: &model.Parent{Collection: "people", Attribute: "person_id", OnDelete: model.Restrict}, Unique: [][]string{{"person_id"}}, Attributes: []model.Attribute{
			reference("person_id", "people", model.Restrict, false),
		}},
		{Name: "members", Singular: "member", Parent: &model.Parent{Collection: "user-groups", Attribute: "user_group_id", OnDelete: model.Cascade}, Attributes: []model.Attribute{
			reference("user_group_id", "user-groups", model.Cascade, true),
			reference("sponsor", "people", model.Restrict, false),
			{Name: "level", Type: model.Integer, Unique: true},
		}},
		{Name: "notes", Singular: "note", Parent: &model.Parent{Collection: "people", Attribute: "author", OnDelete: model.SetNull}, Attributes: []model.Attribute{
			reference("author", "people", model.SetNull, false),
		}},
		{Name: "comments", Singular: "comment", Parent: &model.Parent{Collection: "comments", Attribute: "comment_id", OnDelete: model.Restrict}, Attributes: []model.Attribute{
			reference("comment_id", "comments", model.Restrict, false),
		}},
		{Name: "sheep", Singular: "one-sheep", NoTimestamps: true},
	}
	if got := declarations(t, s); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	again, err := Schema(declarations(t, s)...)
	if err != nil {
		t.Fatal(err)
	}
	if got := declarations(t, again); !reflect.DeepEqual(got, want) {
		t.Errorf("completed again, it became\n%+v", got)
	}
}

// declarations are the collections of a schema without what was compiled.
func declarations(t *testing.T, s *model.Schema) []model.Collection {
	t.Helper()
	collections, _, err := model.ReadDocument(s.Document())
	if err != nil {
		t.Fatal(err)
	}
	return collections
}

func TestTooManyAttributes(t *testing.T) {
	c := model.Collection{Name: "things"}
	for i := range maxAttributes + 1 {
		c.Attributes = append(c.Attributes, model.Attribute{Name: fmt.Sprintf("a%d", i), Type: model.String})
	}
	_, err := Schema(c)
	want := "collections.things.attributes: there are 1001 attributes, and no database holds so many: declare at most 1000, and put the rest into objects"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	c.Attributes = c.Attributes[1:]
	if _, err := Schema(c); err != nil {
		t.Error(err)
	}
}

func TestReservedSingular(t *testing.T) {
	_, err := Schema(model.Collection{Name: "surgeries", Singular: "operation"})
	if want := "collections.surgeries.singular: the singular operation is reserved: add singular: with another name"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}
