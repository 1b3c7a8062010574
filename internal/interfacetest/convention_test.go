package interfacetest

import (
	"testing"

	"github.com/plural-go/plural/schema"
)

// The tests of this file hold the convention that the interface is made from,
// rule by rule and by the numbers of its own examples. A test is named after
// the section and the rule; docs/convention.md has the table.

const (
	ada     = `{"name":"Ada","email":"ada@example.com"}`
	adaData = `"type":"users","name":"Ada","email":"ada@example.com","active":true,"created_at":"TIME","updated_at":"TIME"`
)

// TestConventionResourceFields: the fields of a user.
func TestConventionResourceFields(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		created := s.create("/users", ada)
		if len(created) != 36 || created[14] != '7' {
			t.Errorf("the id %q is no UUID of version 7", created)
		}
		// Whole, and with the timestamps checked for their form: ISO 8601 in UTC.
		s.get("/users/"+created).expect(t, 200, `{"data":{"id":"`+created+`",`+adaData+`}}`)
	})
}

// TestConventionResourceRule1: every representation carries id and type.
func TestConventionResourceRule1(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		author := s.create("/users", ada)
		written := s.create("/users/"+author+"/posts", `{"title":"One"}`)
		for path, want := range map[string]string{
			"/users/" + author:                       `"` + author + `"` + `"users"`,
			"/posts/" + written:                      `"` + written + `"` + `"posts"`,
			"/users/" + author + "/posts/" + written: `"` + written + `"` + `"posts"`,
			"/user/" + author:                        `"` + author + `"` + `"users"`,
		} {
			read := s.get(path)
			if got := read.member(t, "id") + read.member(t, "type"); got != want {
				t.Errorf("%s has %s, want %s", path, got, want)
			}
		}
	})
}

// TestConventionResourceRule2: the type equals the name of the collection, in its
// plural form, wherever the resource is read.
func TestConventionResourceRule2(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		s.createAll("/users/"+id(0)+"/posts", `{"id":"`+id(0)+`","title":"One"}`)
		s.get("/users").expect(t, 200, data(user(0)))
		s.get("/posts").expect(t, 200, data(post(0, "One", quoted(id(0)))))
		s.get("/users/"+id(0)+"/posts").expect(t, 200, data(post(0, "One", quoted(id(0)))))
	})
}

// TestConventionResourceRule3: some representations omit created_at and updated_at,
// as the example of single-resource retrieval does: id, name, email and type.
func TestConventionResourceRule3(t *testing.T) {
	people := mustSchema(t, schema.Collection{Name: "users", NoTimestamps: true, Attributes: []schema.Attribute{
		{Name: "name", Type: schema.String}, {Name: "email", Type: schema.String, Format: schema.Email},
	}})
	eachStore(t, people, func(t *testing.T, s *server) {
		created := s.create("/users", ada)
		s.get("/users/"+created).expect(t, 200, `{"data":{"id":"`+created+`","type":"users","name":"Ada","email":"ada@example.com"}}`)
	})
}

// TestConventionOperations: the table of generic operations, row by row.
func TestConventionOperations(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		grace := `{"data":{"id":"` + id(1) + `","type":"users","name":"Grace","email":"g@example.com","active":true,"created_at":"TIME","updated_at":"TIME"}}`
		hopper := `{"data":{"id":"` + id(1) + `","type":"users","name":"Hopper","email":"g@example.com","active":true,"created_at":"TIME","updated_at":"TIME"}}`
		s.get("/users").expect(t, 200, data(user(0)))
		s.get("/users/"+id(0)).expect(t, 200, `{"data":`+user(0)+`}`)
		s.do("POST", "/users", `{"id":"`+id(1)+`","name":"Ada","email":"g@example.com","active":false}`).expect(t, 201,
			`{"data":{"id":"`+id(1)+`","type":"users","name":"Ada","email":"g@example.com","active":false,"created_at":"TIME","updated_at":"TIME"}}`)
		s.do("PUT", "/users/"+id(1), `{"name":"Grace","email":"g@example.com"}`).expect(t, 200, grace)
		s.do("PATCH", "/users/"+id(1), `{"name":"Hopper"}`).expect(t, 200, hopper)
		s.do("DELETE", "/users/"+id(1), "").expect(t, 200, hopper)
		s.get("/users").expect(t, 200, data(user(0)))
	})
}

// TestConventionOperationsRule1: PATCH is the update that leaves alone what it does
// not name; PUT is full.
func TestConventionOperationsRule1(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 2)
		s.do("PATCH", "/users/"+id(1), `{"name":"Grace"}`).expect(t, 200,
			`{"data":{"id":"`+id(1)+`","type":"users","name":"Grace","email":"user1@example.com","active":false,"created_at":"TIME","updated_at":"TIME"}}`)
		s.do("PUT", "/users/"+id(1), `{"name":"Grace"}`).expectErrors(t, 422, "required /email")
		s.do("PUT", "/users/"+id(1), `{"name":"Grace","email":"user1@example.com"}`).expect(t, 200,
			`{"data":{"id":"`+id(1)+`","type":"users","name":"Grace","email":"user1@example.com","active":true,"created_at":"TIME","updated_at":"TIME"}}`)
	})
}

// TestConventionOperationsRule2: a single resource can be read with a singular first
// segment; the convention is the plural.
func TestConventionOperationsRule2(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		s.get("/users/"+id(0)).expect(t, 200, `{"data":`+user(0)+`}`)
		singular := s.get("/user/" + id(0))
		singular.expect(t, 200, `{"data":`+user(0)+`}`)
		singular.expectHeaders(t, tagged, "Content-Location: /users/"+id(0))
		s.get("/user").expectErrors(t, 404, "not_found")
	})
}

// TestConventionOperationsRule3: there are sub-collections.
func TestConventionOperationsRule3(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 2)
		s.createAll("/users/"+id(0)+"/posts", `{"id":"`+id(0)+`","title":"One"}`, `{"id":"`+id(1)+`","title":"Two"}`)
		s.get("/users/"+id(0)+"/posts").expect(t, 200, data(post(0, "One", quoted(id(0))), post(1, "Two", quoted(id(0)))))
		s.get("/users/"+id(1)+"/posts").expect(t, 200, data())
	})
}

// TestConventionRequestContentType: a request with a body is application/json.
func TestConventionRequestContentType(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		for _, accepted := range []string{"application/json", "application/json;charset=utf-8", "application/json; charset=UTF-8", "Application/JSON"} {
			if got := s.do("POST", "/users", ada, "Content-Type", accepted); got.status != 201 {
				t.Errorf("%s: %d %s", accepted, got.status, got.body)
			}
		}
		for _, refused := range []string{"", "text/plain", "application/merge-patch+json", "application/json;charset=iso-8859-1", "application/json;version=1", "json"} {
			s.do("POST", "/users", ada, "Content-Type", refused).expectErrors(t, 415, "unsupported_media_type Content-Type")
		}
		s.get("/users?limit=0").expectHeaders(t, "X-Total-Count: 4")
	})
}

// TestConventionRequestPatchBody: the body of a PATCH is an object whose members are
// the attributes to change, not wrapped in data; the answer is the full resource.
func TestConventionRequestPatchBody(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		s.do("PATCH", "/users/"+id(0), `{"data":{"name":"Grace"}}`).expectErrors(t, 422, "wrapped /data")
		s.get("/users/"+id(0)).expect(t, 200, `{"data":`+user(0)+`}`)
		s.do("PATCH", "/users/"+id(0), `{"name":"Grace"}`).expect(t, 200,
			`{"data":{"id":"`+id(0)+`","type":"users","name":"Grace","email":"user0@example.com","active":true,"created_at":"TIME","updated_at":"TIME"}}`)
	})
}
