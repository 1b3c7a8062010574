package interfacetest

import (
	"testing"

	"github.com/plural-go/plural/schema"
)

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

// TestNamesReservedInSQL runs every operation over names that mean
// something in SQL.
func TestNamesReservedInSQL(t *testing.T) {
	thing := func(position int, rest string) string {
		return `{"id":"` + id(position) + `","type":"sqlite_things",` + rest + `}`
	}
	eachStore(t, large(t), func(t *testing.T, s *server) {
		first := `"xmin":1,"order":2,"select":true,"rowid":3,"group":"g","data":{"data":{}}`
		s.do("POST", "/sqlite_things", `{"id":"`+id(0)+`",`+first+`}`).expect(t, 201, `{"data":`+thing(0, first)+`}`)
		s.do("POST", "/sqlite_things", `{"order":2,"rowid":3,"group":"g"}`).expectErrors(t, 409, "not_unique /order", "not_unique /rowid")
		second := `"xmin":-1,"order":2,"select":null,"rowid":null,"group":"h","data":null`
		s.do("POST", "/sqlite_things", `{"id":"`+id(1)+`",`+second+`}`).expect(t, 201, `{"data":`+thing(1, second)+`}`)
		s.get("/sqlite_things?sort=xmin").expect(t, 200, data(thing(1, second), thing(0, first)))
		s.get("/sqlite_things?filter[select]&filter[order]=2&filter[group][gte]=g&filter[rowid][null]=false&filter[xmin][lt]=5&filter[data]").expect(t, 200, data(thing(0, first)))
		s.get("/sqlite_thing/"+id(1)).expect(t, 200, `{"data":`+thing(1, second)+`}`)
		s.do("PATCH", "/sqlite_things/"+id(1), `{"group":"g"}`).expectErrors(t, 409, "not_unique /order")
		changed := `"xmin":0,"order":2,"select":null,"rowid":null,"group":"h","data":{"x":[1]}`
		s.do("PATCH", "/sqlite_things/"+id(1), `{"xmin":0,"data":{"x":[1]}}`).expect(t, 200, `{"data":`+thing(1, changed)+`}`)

		groups := "/user-groups/" + id(0) + "/members"
		s.createAll("/user-groups", with(0), with(1))
		member := `{"id":"` + id(0) + `","type":"members","name":"A","thing_id":"` + id(0) + `","user_group_id":"` + id(0) + `","created_at":"TIME","updated_at":"TIME"}`
		s.do("POST", groups, `{"id":"`+id(0)+`","name":"A","thing_id":"`+id(0)+`"}`).expect(t, 201, `{"data":`+member+`}`)
		s.do("POST", groups, `{"name":"A"}`).expectErrors(t, 409, "not_unique /user_group_id")
		s.do("POST", "/user-groups/"+id(1)+"/members", `{"id":"`+id(1)+`","name":"A"}`)
		list := s.get(groups)
		list.expect(t, 200, data(member))
		list.expectHeaders(t, "Link: "+linkHeader(groups, "first", "limit=100", "last", "limit=-100"), "X-Total-Count: 1")
		s.get("/user-group/"+id(0)).expectHeaders(t, tagged, "Content-Location: /user-groups/"+id(0))
		s.do("DELETE", "/sqlite_things/"+id(0), "").expect(t, 200, `{"data":`+thing(0, first)+`}`)
		s.get("/members?filter[thing_id][null]=true").expectPositions(t, "after the thing has gone", 0, 1)
		s.do("DELETE", "/user-groups/"+id(0), "")
		s.get("/members").expectPositions(t, "after the group has gone", 1)
	})
}
