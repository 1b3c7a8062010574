package interfacetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plural-go/plural/schema"
)

// shown is the representation of a user.
func shown(position int, name string, active bool) string {
	return fmt.Sprintf(`{"id":"%s","type":"users","name":"%s","email":"user%d@example.com","active":%t,"created_at":"TIME","updated_at":"TIME"}`, id(position), name, position, active)
}

// startSamples creates samples of every type: the first without any value, the
// others with values that ascend. The texts of 5 and 6 are in another order by
// code point than by UTF-16.
func startSamples(s *server) {
	s.t.Helper()
	s.createAll("/samples",
		`{"id":"`+id(0)+`"}`,
		`{"id":"`+id(1)+`","text":"","email":"a@example.com","uri":"a:1","uuid":"`+id(1)+`","date":"2025-12-31","moment":"2025-12-31T23:59:59.999Z","integer":-9007199254740993,"number":-1.5,"boolean":false,"object":{},"array":[]}`,
		`{"id":"`+id(2)+`","text":"B","email":"b@example.com","uri":"b:1","uuid":"`+id(2)+`","date":"2026-01-01","moment":"2026-01-01T00:00:00Z","integer":-1,"number":-1e-7,"boolean":false,"object":{"a":1},"array":[1]}`,
		`{"id":"`+id(3)+`","text":"a","email":"c@example.com","uri":"c:1","uuid":"`+id(3)+`","date":"2026-01-02","moment":"2026-01-01T00:00:00.001Z","integer":0,"number":0,"boolean":false,"object":{},"array":[]}`,
		`{"id":"`+id(4)+`","text":"a,b\\c%_","email":"d@example.com","uri":"d:1","uuid":"`+id(4)+`","date":"2026-02-01","moment":"2026-01-01T01:00:00Z","integer":1,"number":0.1,"boolean":true,"object":{},"array":[]}`,
		`{"id":"`+id(5)+`","text":"～","email":"e@example.com","uri":"e:1","uuid":"`+id(5)+`","date":"2027-01-01","moment":"2026-02-01T00:00:00Z","integer":9007199254740992,"number":1.5,"boolean":true,"object":{},"array":[]}`,
		`{"id":"`+id(6)+`","text":"𝄞","email":"f@example.com","uri":"f:1","uuid":"`+id(6)+`","date":"9999-12-31","moment":"9999-12-31T00:00:00Z","integer":9007199254740993,"number":1e300,"boolean":true,"object":{},"array":[]}`)
}

// journalSchema is people with notes, and a journal that hooks write to.
func journalSchema(t *testing.T) *schema.Schema {
	t.Helper()
	s, err := schema.New(
		schema.Collection{Name: "people", NoTimestamps: true, Attributes: []schema.Attribute{{Name: "name", Type: schema.String, Required: true}, {Name: "slug", Type: schema.String}}},
		schema.Collection{Name: "notes", NoTimestamps: true, Parent: &schema.Parent{Collection: "people", OnDelete: schema.Cascade}, Attributes: []schema.Attribute{{Name: "text", Type: schema.String}}},
		schema.Collection{Name: "tasks", NoTimestamps: true, Parent: &schema.Parent{Collection: "people", OnDelete: schema.SetNull}},
		schema.Collection{Name: "entries", NoTimestamps: true, Attributes: []schema.Attribute{{Name: "line", Type: schema.String}, {Name: "person_id", References: &schema.Reference{Collection: "people", OnDelete: schema.SetNull}}}},
	)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// bookshelf has people, who may have a boss; books, with an author and an editor; and comments on books.
func bookshelf(t testing.TB) *schema.Schema {
	reference := func(name, as, inverse string) schema.Attribute {
		return schema.Attribute{Name: name, References: &schema.Reference{Collection: "people"}, As: as, Inverse: inverse}
	}
	return mustSchema(t,
		schema.Collection{Name: "people", Singular: "person", NoTimestamps: true, Attributes: []schema.Attribute{
			{Name: "name", Type: schema.String}, reference("boss_id", "", "reports"),
		}},
		schema.Collection{Name: "books", NoTimestamps: true, Attributes: []schema.Attribute{
			{Name: "title", Type: schema.String}, {Name: "price", Type: schema.Integer},
			reference("author_id", "", "books"), reference("edited_by", "editor", ""), reference("owner", "", ""), // the last has no name of its own
		}},
		schema.Collection{Name: "comments", NoTimestamps: true, Attributes: []schema.Attribute{
			{Name: "text", Type: schema.String}, {Name: "stars", Type: schema.Integer}, reference("person_id", "", ""),
		}, Parent: &schema.Parent{Collection: "books"}},
	)
}

func book(n int, author, editor string) string {
	return fmt.Sprintf(`{"id":"%s","type":"books","title":"B%d","price":%d,"author_id":%s,"edited_by":%s,"owner":null}`, id(n), n, n, author, editor)
}

// embedding adds members to a representation.
func embedding(representation string, members ...string) string {
	return strings.TrimSuffix(representation, "}") + "," + strings.Join(members, ",") + "}"
}

// What startBookshelf stores.
var (
	p1, p2, p3 = writer(1, "null"), writer(2, quoted(id(1))), writer(3, "null")
	b11        = book(11, quoted(id(1)), quoted(id(2)))
	b12        = book(12, quoted(id(1)), "null")
	b13        = book(13, "null", quoted(id(3)))
	c21        = comment(21, 0, quoted(id(11)), quoted(id(1)))
	c22        = comment(22, 2, quoted(id(11)), quoted(id(2)))
	c23        = comment(23, 4, quoted(id(11)), quoted(id(1)))
	c24        = comment(24, 1, quoted(id(11)), quoted(id(2)))
	c25        = comment(25, 3, quoted(id(11)), quoted(id(1)))
	c26        = comment(26, 3, quoted(id(12)), "null")
)

func startBookshelf(s *server) {
	s.t.Helper()
	s.createAll("/people", p1, p2, p3)
	s.createAll("/books", b11, b12, b13)
	s.createAll("/comments", c21, c22, c23, c24, c25, c26)
}

// large is a schema with every type, format and constraint, and with names
// that databases would rather keep for themselves.
func large(t *testing.T) *schema.Schema {
	text := func(name string) schema.Attribute { return schema.Attribute{Name: name, Type: schema.String} }
	format := func(name string, format schema.Format) schema.Attribute {
		return schema.Attribute{Name: name, Type: schema.String, Format: format}
	}
	return mustSchema(t,
		schema.Collection{Name: "samples", Search: []string{"text"}, Attributes: []schema.Attribute{
			text("text"), format("email", schema.Email), format("uri", schema.URI), format("uuid", schema.UUID),
			format("date", schema.Date), format("moment", schema.DateTime),
			{Name: "integer", Type: schema.Integer}, {Name: "number", Type: schema.Number}, {Name: "boolean", Type: schema.Boolean},
			{Name: "object", Type: schema.Object}, {Name: "array", Type: schema.Array},
		}},
		schema.Collection{Name: "rules", NoTimestamps: true, Attributes: []schema.Attribute{
			{Name: "word", Type: schema.String, MinLength: 2, MaxLength: 4},
			{Name: "code", Type: schema.String, Pattern: "^[A-Z]+[0-9]*$"},
			{Name: "color", Type: schema.String, Enum: []any{"red", "green", "blue"}, Default: "green"},
			{Name: "dozen", Type: schema.Integer, Minimum: "-12", ExclusiveMaximum: "12", MultipleOf: "3"},
			{Name: "share", Type: schema.Number, ExclusiveMinimum: "0", Maximum: "1", MultipleOf: "0.1"},
			{Name: "level", Type: schema.Integer, Enum: []any{1, 2, 3}},
			{Name: "tags", Type: schema.Array, MinItems: 1, MaxItems: 3, Items: &schema.Attribute{Type: schema.String, MaxLength: 3}},
			{Name: "address", Type: schema.Object, Closed: true, Properties: []schema.Attribute{
				{Name: "street", Type: schema.String},
				{Name: "number", Type: schema.Integer, Minimum: "1"},
				{Name: "country", Type: schema.String, Required: true, MinLength: 2, MaxLength: 2},
				{Name: "since", Type: schema.String, Format: schema.DateTime},
			}},
			{Name: "notes", Type: schema.Object, Default: map[string]any{"a": []any{}}},
		}},
		schema.Collection{Name: "sqlite_things", Singular: "sqlite_thing", NoTimestamps: true, Unique: [][]string{{"order", "group"}}, Index: [][]string{{"select", "xmin"}},
			Attributes: []schema.Attribute{
				{Name: "xmin", Type: schema.Integer}, {Name: "order", Type: schema.Integer}, {Name: "select", Type: schema.Boolean},
				{Name: "rowid", Type: schema.Integer, Unique: true}, {Name: "group", Type: schema.String, MaxLength: 20}, {Name: "data", Type: schema.Object},
			}},
		schema.Collection{Name: "user-groups"},
		schema.Collection{Name: "members", Parent: &schema.Parent{Collection: "user-groups", OnDelete: schema.Cascade}, Attributes: []schema.Attribute{
			{Name: "name", Type: schema.String, MaxLength: 50, Required: true},
			reference("thing_id", "sqlite_things", schema.SetNull),
		}, Unique: [][]string{{"user_group_id", "name"}}},
	)
}

// reference declares an attribute that refers to a collection.
func reference(name, collection string, onDelete schema.OnDelete) schema.Attribute {
	return schema.Attribute{Name: name, References: &schema.Reference{Collection: collection, OnDelete: onDelete}}
}

// startPosts gives user 0 the posts 0 and 2, user 1 the post 1, and nobody the
// post 3.
func startPosts(s *server) {
	s.t.Helper()
	seedUsers(s, 3)
	s.createAll("/posts",
		`{"id":"`+id(0)+`","title":"Zero","user_id":"`+id(0)+`"}`,
		`{"id":"`+id(1)+`","title":"One","user_id":"`+id(1)+`"}`,
		`{"id":"`+id(2)+`","title":"Two","user_id":"`+id(0)+`"}`,
		`{"id":"`+id(3)+`","title":"Three"}`)
}

// step is a step with a body, or without one if it is empty.
func step(method, path, body string) string {
	if body != "" {
		body = `,"body":` + body
	}
	return fmt.Sprintf(`{"method":"%s","path":"%s"%s}`, method, path, body)
}

// members has a unique attribute and a unique group.
func members(t testing.TB) *schema.Schema {
	return mustSchema(t,
		schema.Collection{Name: "teams", NoTimestamps: true, Attributes: []schema.Attribute{{Name: "name", Type: schema.String}}},
		schema.Collection{
			Name: "accounts", NoTimestamps: true, Unique: [][]string{{"team", "number"}},
			Attributes: []schema.Attribute{
				{Name: "email", Type: schema.String, MaxLength: 50, Unique: true}, {Name: "name", Type: schema.String, Required: true},
				{Name: "team", Type: schema.String, MaxLength: 50}, {Name: "number", Type: schema.Integer}, {Name: "active", Type: schema.Boolean, Default: true},
				{Name: "other_id", Type: schema.String, Format: schema.UUID, References: &schema.Reference{Collection: "accounts"}},
			},
		},
		schema.Collection{Name: "players", NoTimestamps: true, Parent: &schema.Parent{Collection: "teams"}, Attributes: []schema.Attribute{
			{Name: "shirt", Type: schema.String, MaxLength: 50, Unique: true}, {Name: "name", Type: schema.String, Required: true},
		}},
	)
}

// memberAt is the representation of an account.
func memberAt(position int, email, name, active string) string {
	return fmt.Sprintf(`{"id":"%s","type":"accounts","email":%s,"name":"%s","team":null,"number":null,"active":%s,"other_id":null}`, id(position), email, name, active)
}

// renamed is a user of seedUsers with another name.
func renamed(position int, name string) string {
	return strings.Replace(user(position), fmt.Sprintf("User %d", position), name, 1)
}

// family has references of every kind.
func family(t testing.TB) *schema.Schema {
	refers := func(to string, on schema.OnDelete) *schema.Reference {
		return &schema.Reference{Collection: to, OnDelete: on}
	}
	return mustSchema(t,
		schema.Collection{Name: "people", Singular: "person", NoTimestamps: true, Attributes: []schema.Attribute{
			{Name: "name", Type: schema.String}, {Name: "boss_id", Type: schema.String, Format: schema.UUID, References: refers("people", schema.Restrict)},
		}},
		schema.Collection{Name: "cats", NoTimestamps: true, Parent: &schema.Parent{Collection: "people", OnDelete: schema.Cascade}, Attributes: []schema.Attribute{{Name: "name", Type: schema.String}}},
		schema.Collection{Name: "toys", NoTimestamps: true, Attributes: []schema.Attribute{
			{Name: "cat_id", Type: schema.String, Format: schema.UUID, References: refers("cats", schema.SetNull)},
		}},
	)
}
