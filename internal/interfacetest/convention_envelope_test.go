package interfacetest

import (
	"encoding/json"
	"testing"

	"github.com/plural-go/plural/schema"
)

// TestConventionEnvelopeRule1: every response body is a JSON object.
func TestConventionEnvelopeRule1(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		requests := []struct{ method, path, body string }{
			{"GET", "/", ""}, {"GET", "/users", ""}, {"GET", "/users/" + id(0), ""},
			{"POST", "/users", ada}, {"POST", "/users", "[" + ada + "]"}, {"POST", "/users", "[]"},
			{"PUT", "/users/" + id(0), ada}, {"PATCH", "/users/" + id(0), "{}"}, {"DELETE", "/users/" + id(0), ""},
			{"GET", "/nowhere", ""}, {"GET", "/users?nope", ""}, {"POST", "/users", "{"}, {"POST", "/users", "{}"}, {"PUT", "/users", ada},
		}
		for _, r := range requests {
			got := s.do(r.method, r.path, r.body)
			var object map[string]json.RawMessage
			if err := json.Unmarshal([]byte(got.body), &object); err != nil {
				t.Errorf("%s %s: %v: %s", r.method, r.path, err, got.body)
				continue
			}
			_, hasData := object["data"]
			_, hasErrors := object["errors"]
			if len(object) != 1 || hasData != (got.status < 300) || hasErrors != (got.status >= 400) {
				t.Errorf("%s %s: %d %s", r.method, r.path, got.status, got.body)
			}
		}
	})
}

// TestConventionEnvelopeRule2: resource objects are under the member data, and it is
// the only one.
func TestConventionEnvelopeRule2(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		s.get("/users/"+id(0)).expect(t, 200, `{"data":`+user(0)+`}`)
		s.get("/users").expect(t, 200, `{"data":[`+user(0)+`]}`)
	})
}

// TestConventionEnvelopeRule3: for a single resource, data is an object.
func TestConventionEnvelopeRule3(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		whole := `{"data":` + user(0) + `}`
		s.get("/users/"+id(0)).expect(t, 200, whole)
		s.do("PATCH", "/users/"+id(0), `{}`).expect(t, 200, whole)
		s.do("PUT", "/users/"+id(0), `{"name":"User 0","email":"user0@example.com"}`).expect(t, 200, whole)
		s.do("DELETE", "/users/"+id(0), "").expect(t, 200, whole)
		s.do("POST", "/users", `{"id":"`+id(0)+`","name":"User 0","email":"user0@example.com"}`).expect(t, 201, whole)
	})
}

// TestConventionEnvelopeRule4: for a collection, data is an array, even when it holds
// exactly one element.
func TestConventionEnvelopeRule4(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		s.get("/users").expect(t, 200, `{"data":[]}`)
		s.do("POST", "/users", `[{"id":"`+id(0)+`","name":"User 0","email":"user0@example.com"}]`).expect(t, 201, data(user(0)))
		s.get("/users").expect(t, 200, data(user(0)))
		seed := `{"id":"` + id(1) + `","name":"User 1","email":"user1@example.com","active":false}`
		s.do("POST", "/users", seed)
		s.get("/users").expect(t, 200, data(user(0), user(1)))
		s.get("/users?limit=1").expect(t, 200, data(user(0)))
	})
}

// TestConventionEnvelopeRule5: the content type, to the letter.
func TestConventionEnvelopeRule5(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		requests := []struct{ method, path, body string }{
			{"GET", "/", ""}, {"HEAD", "/", ""}, {"GET", "/users", ""}, {"HEAD", "/users", ""}, {"GET", "/users/" + id(0), ""}, {"HEAD", "/users/" + id(0), ""},
			{"POST", "/users", ada}, {"PUT", "/users/" + id(0), ada}, {"PATCH", "/users/" + id(0), "{}"}, {"DELETE", "/users/" + id(0), ""},
			{"GET", "/nowhere", ""}, {"HEAD", "/nowhere", ""}, {"GET", "/users?nope", ""}, {"POST", "/users", "{"}, {"DELETE", "/users", ""},
		}
		for _, r := range requests {
			got := s.do(r.method, r.path, r.body).header["Content-Type"]
			if len(got) != 1 || got[0] != "application/json;charset=utf-8" {
				t.Errorf("%s %s: Content-Type is %q", r.method, r.path, got)
			}
		}
	})
}

// TestConventionStatus200: the full resource with all attributes, also after PATCH.
func TestConventionStatus200(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		s.createAll("/posts", `{"id":"`+id(0)+`"}`)
		s.get("/posts/"+id(0)).expect(t, 200,
			`{"data":{"id":"`+id(0)+`","type":"posts","title":null,"body":null,"published_at":null,"user_id":null,"created_at":"TIME","updated_at":"TIME"}}`)
		s.do("PATCH", "/posts/"+id(0), `{"body":"Text"}`).expect(t, 200,
			`{"data":{"id":"`+id(0)+`","type":"posts","title":null,"body":"Text","published_at":null,"user_id":null,"created_at":"TIME","updated_at":"TIME"}}`)
		s.do("PUT", "/posts/"+id(0), `{"title":"Title"}`).expect(t, 200, `{"data":`+post(0, "Title", "null")+`}`)
	})
}

// TestConventionStatus201: a creation answers with the full resource too, defaults
// and nulls included.
func TestConventionStatus201(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		s.do("POST", "/posts", `{"id":"`+id(0)+`","title":"One"}`).expect(t, 201, `{"data":`+post(0, "One", "null")+`}`)
		s.do("POST", "/users", `{"id":"`+id(0)+`","name":"User 0","email":"user0@example.com"}`).expect(t, 201, `{"data":`+user(0)+`}`)
	})
}

// TestConventionPaginationRule1: offset and a positive limit give a range of limit
// resources from the offset's position.
func TestConventionPaginationRule1(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 50)
		s.get("/users?offset=10&limit=5").expectPositions(t, "offset 10 limit 5", from(10, 15)...)
		s.get("/users?offset=0&limit=1").expectPositions(t, "offset 0 limit 1", 0)
	})
}

// TestConventionPaginationRule2: a negative limit counts backwards. With offset 39
// and limit -25, 25 resources are returned, starting at position 14.
func TestConventionPaginationRule2(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 50)
		s.get("/users?offset=39&limit=-25").expectPositions(t, "offset 39 limit -25", from(14, 39)...)
	})
}

// TestConventionPaginationRule3: with cursor and limit 30, 30 resources are returned,
// starting at the resource with the given identifier.
func TestConventionPaginationRule3(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 50)
		s.get("/users?cursor="+id(7)+"&limit=30").expectPositions(t, "cursor at 7, limit 30", from(7, 37)...)
	})
}

// TestConventionPaginationRule4: a limit beyond what is available gives all that is
// available in the range, without error. With offset 5 and limit -20, 5
// resources are returned.
func TestConventionPaginationRule4(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 50)
		s.get("/users?offset=5&limit=-20").expectPositions(t, "offset 5 limit -20", from(0, 5)...)
		s.get("/users?offset=45&limit=20").expectPositions(t, "offset 45 limit 20", from(45, 50)...)
		s.get("/users?limit=1000000").expectPositions(t, "limit 1000000", from(0, 50)...)
		s.get("/users?cursor="+id(45)+"&limit=30").expectPositions(t, "cursor at 45, limit 30", from(45, 50)...)
		s.createAll("/users/"+id(0)+"/posts", `{"id":"`+id(0)+`"}`, `{"id":"`+id(1)+`"}`)
		s.get("/users/"+id(0)+"/posts?limit=20").expectPositions(t, "sub-collection, limit 20", 0, 1)
	})
}

// TestConventionPaginationRule5: the long and the short names are interchangeable.
func TestConventionPaginationRule5(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 50)
		for _, query := range []string{"offset=39&limit=-25", "o=39&l=-25", "o=39&limit=-25", "offset=39&l=-25", "l=-25&o=39"} {
			s.get("/users?"+query).expectPositions(t, query, from(14, 39)...)
		}
	})
}

// TestConventionFilter: filter[field] restricts the collection; the example selects
// the active users.
func TestConventionFilter(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 6)
		for _, query := range []string{"filter[active]", "filter[active]=true", "filter[active]=", "filter%5Bactive%5D"} {
			s.get("/users?"+query).expect(t, 200, data(user(0), user(2), user(4)))
		}
		s.get("/users?filter[active]=false").expect(t, 200, data(user(1), user(3), user(5)))
	})
}
