package interfacetest

import (
	"testing"

	"github.com/plural-go/plural/schema"
)

// TestReplace: what is left out goes to its default, else to null.
func TestReplace(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 2)
		replaced := s.do("PUT", "/users/"+id(1), `{"name":"Grace","email":"g@example.com"}`)
		want := `{"data":{"id":"` + id(1) + `","type":"users","name":"Grace","email":"g@example.com","active":true,"created_at":"TIME","updated_at":"TIME"}}`
		replaced.expect(t, 200, want)
		replaced.expectHeaders(t, tagged)
		s.get("/users/"+id(1)).expect(t, 200, want)
		// A null that is given is no value left out.
		s.do("PUT", "/users/"+id(1), `{"name":"Grace","email":"g@example.com","active":null}`).expect(t, 200,
			`{"data":{"id":"`+id(1)+`","type":"users","name":"Grace","email":"g@example.com","active":null,"created_at":"TIME","updated_at":"TIME"}}`)
		s.createAll("/posts", `{"id":"`+id(0)+`","title":"One","body":"Text","published_at":"2026-11-14T09:30:00Z","user_id":"`+id(1)+`"}`)
		s.do("PUT", "/posts/"+id(0), `{"title":"Two"}`).expect(t, 200, `{"data":`+post(0, "Two", "null")+`}`)
		s.get("/users/"+id(0)).expect(t, 200, `{"data":`+user(0)+`}`)
	})
}

// TestReplaceNeverCreates also holds for ids that are free.
func TestReplaceNeverCreates(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		s.do("PUT", "/users/"+id(0), ada).expectErrors(t, 404, "not_found")
		s.do("PATCH", "/users/"+id(0), ada).expectErrors(t, 404, "not_found")
		s.get("/users").expect(t, 200, data())
	})
}

// TestReadOnlyMembers: id and type are taken when equal; timestamps without
// effect in PUT, and when equal in PATCH.
func TestReadOnlyMembers(t *testing.T) {
	const stale = `"created_at":"2001-02-03T04:05:06.789Z","updated_at":"2001-02-03T05:05:06.789+01:00"`
	rest := `"name":"User 0","email":"user0@example.com"`
	tests := []struct {
		method, body string
		want         []string // none: taken, and nothing changes
	}{
		{"PUT", `{"id":"` + id(0) + `","type":"users",` + rest + `}`, nil},
		{"PUT", `{` + stale + `,` + rest + `}`, nil},
		{"PATCH", `{"id":"` + id(0) + `","type":"users"}`, nil},
		{"PUT", `{"id":"` + id(1) + `",` + rest + `}`, []string{"read_only /id"}},
		{"PUT", `{"id":null,"type":"user",` + rest + `}`, []string{"read_only /id", "read_only /type"}},
		{"PUT", `{"created_at":"yesterday","updated_at":null,` + rest + `}`, []string{"read_only /created_at", "read_only /updated_at"}},
		{"PUT", `{"created_at":1}`, []string{"read_only /created_at", "required /name", "required /email"}},
		{"PATCH", `{"id":"` + id(1) + `"}`, []string{"read_only /id"}},
		{"PATCH", `{"id":0,"type":["users"]}`, []string{"read_only /id", "read_only /type"}},
		{"PATCH", `{` + stale + `}`, []string{"read_only /created_at", "read_only /updated_at"}},
		{"PATCH", `{"updated_at":"soon","name":null}`, []string{"read_only /updated_at", "required /name"}},
	}
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 2)
		before := s.get("/users/" + id(0))
		for _, test := range tests {
			if test.want != nil {
				s.expectRefusal(t, test.method, "/users/"+id(0), test.body, 422, test.want...)
			} else if got := s.do(test.method, "/users/"+id(0), test.body); got.status != 200 || got.body != before.body {
				t.Errorf("%s %s: got %d %s", test.method, test.body, got.status, got.body)
			}
		}
		// What was read can be sent back, by either method.
		for _, method := range []string{"PUT", "PATCH"} {
			if got := s.do(method, "/users/"+id(0), whole(before)); got.status != 200 || got.body != before.body {
				t.Errorf("%s of what was read: got %d %s", method, got.status, got.body)
			}
		}
		if after := s.get("/users/" + id(0)); after.body != before.body {
			t.Errorf("got  %s\nwant %s", after.body, before.body)
		}
	})
}

// TestReadOnlyWithoutTimestamps: where there are no timestamps, their names are
// unknown.
func TestReadOnlyWithoutTimestamps(t *testing.T) {
	plain := mustSchema(t, schema.Collection{Name: "marks", NoTimestamps: true, Attributes: []schema.Attribute{{Name: "text", Type: schema.String}}})
	eachStore(t, plain, func(t *testing.T, s *server) {
		s.createAll("/marks", `{"id":"`+id(0)+`"}`)
		for _, method := range []string{"PUT", "PATCH"} {
			s.expectRefusal(t, method, "/marks/"+id(0), `{"created_at":"2001-02-03T04:05:06.789Z"}`, 422, "unknown_attribute /created_at")
		}
		s.do("PATCH", "/marks/"+id(0), `{"text":"x"}`).expect(t, 200, `{"data":{"id":"`+id(0)+`","type":"marks","text":"x"}}`)
		s.get("/marks?sort=created_at").expectErrors(t, 400, "invalid_parameter sort")
		s.get("/marks?filter[updated_at]").expectErrors(t, 400, "unknown_parameter filter[updated_at]")
	})
}

// TestUpdatedAt: a write that changes nothing leaves updated_at, and one that
// does moves it, while created_at stays.
func TestUpdatedAt(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		before := s.get("/users/" + id(0))
		last := before
		// The clock has milliseconds: the first changes may fall into the one
		// of the creation.
		for names := []string{"B", "C"}; last.member(t, "updated_at") == before.member(t, "updated_at"); names[0], names[1] = names[1], names[0] {
			last = s.do("PATCH", "/users/"+id(0), `{"name":"`+names[0]+`"}`)
		}
		if last.member(t, "created_at") != before.member(t, "created_at") || last.member(t, "updated_at") < before.member(t, "updated_at") {
			t.Errorf("before %s\nafter  %s", before.body, last.body)
		}
		name := last.member(t, "name")
		for _, same := range []struct{ method, body string }{
			{"PATCH", `{}`}, {"PATCH", `{"name":` + name + `}`}, {"PATCH", `{"active":true,"email":"user0@example.com"}`},
			{"PUT", `{"name":` + name + `,"email":"user0@example.com"}`}, {"PUT", whole(last)}, {"PATCH", whole(last)},
		} {
			if got := s.do(same.method, "/users/"+id(0), same.body); got.status != 200 || got.body != last.body {
				t.Errorf("%s %s: got %d %s\nwant %s", same.method, same.body, got.status, got.body, last.body)
			}
		}
	})
}

// TestPatch: each member replaces its attribute whole, and null clears it.
func TestPatch(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		s.createAll("/posts", `{"id":"`+id(0)+`","title":"One","body":"Text","published_at":"2026-11-14T10:30:00+01:00","user_id":"`+id(0)+`"}`)
		patched := s.do("PATCH", "/posts/"+id(0), `{"title":"Two"}`)
		patched.expect(t, 200, `{"data":{"id":"`+id(0)+`","type":"posts","title":"Two","body":"Text","published_at":"2026-11-14T09:30:00.000Z","user_id":"`+id(0)+`","created_at":"TIME","updated_at":"TIME"}}`)
		patched.expectHeaders(t, tagged)
		s.do("PATCH", "/posts/"+id(0), `{"body":null,"published_at":null,"user_id":null}`).expect(t, 200, `{"data":`+post(0, "Two", "null")+`}`)
		// A default is never applied by PATCH: null clears the attribute.
		s.do("PATCH", "/users/"+id(0), `{"active":null}`).expect(t, 200,
			`{"data":{"id":"`+id(0)+`","type":"users","name":"User 0","email":"user0@example.com","active":null,"created_at":"TIME","updated_at":"TIME"}}`)
	})
}

func TestUpdateRefusals(t *testing.T) {
	tests := []struct {
		method, body string
		status       int
		want         []string
	}{
		{"PUT", `{}`, 422, []string{"required /name", "required /email"}},
		{"PUT", `{"name":"A","email":"x","nope":1,"active":0}`, 422, []string{"format /email", "unknown_attribute /nope", "type /active"}},
		{"PUT", `[]`, 422, []string{"not_an_object"}},
		{"PUT", `[{}]`, 422, []string{"not_an_object"}},
		{"PUT", `{"data":{}}`, 422, []string{"wrapped /data"}},
		{"PUT", ``, 400, []string{"malformed_json"}},
		{"PATCH", `{"name":null,"email":null}`, 422, []string{"required /name", "required /email"}},
		{"PATCH", `{"name":1,"nope":{"deep":[1]},"active":"x"}`, 422, []string{"type /name", "unknown_attribute /nope", "type /active"}},
		{"PATCH", `[{"op":"replace","path":"/name","value":"x"}]`, 422, []string{"not_an_object"}},
		{"PATCH", `null`, 422, []string{"not_an_object"}},
		{"PATCH", `{"data":{"name":"A"}}`, 422, []string{"wrapped /data"}},
		{"PATCH", `{"name":"A"`, 400, []string{"malformed_json"}},
	}
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		before := s.get("/users/" + id(0))
		for _, test := range tests {
			s.do(test.method, "/users/"+id(0), test.body, "Content-Type", "application/json").expectErrors(t, test.status, test.want...)
		}
		if after := s.get("/users/" + id(0)); after.body != before.body {
			t.Errorf("got  %s\nwant %s", after.body, before.body)
		}
	})
}

// TestDelete answers with the resource as it last was, and once only.
func TestDelete(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 3)
		before := s.get("/users/" + id(1))
		deleted := s.do("DELETE", "/users/"+id(1), "")
		if deleted.body != before.body {
			t.Errorf("got  %s\nwant %s", deleted.body, before.body)
		}
		deleted.expect(t, 200, `{"data":`+user(1)+`}`)
		deleted.expectHeaders(t)
		s.do("DELETE", "/users/"+id(1), "").expectErrors(t, 404, "not_found")
		for _, method := range []string{"GET", "PUT", "PATCH"} {
			body := ""
			if method != "GET" {
				body = ada
			}
			s.expectRefusal(t, method, "/users/"+id(1), body, 404, "not_found")
		}
		list := s.get("/users")
		list.expect(t, 200, data(user(0), user(2)))
		if list.total() != "2" {
			t.Errorf("the total is %s", list.total())
		}
		s.do("DELETE", "/users/"+id(0), "{}").expectErrors(t, 400, "unexpected_body")
		s.do("DELETE", "/users/"+id(0)+"?force=1", "").expectErrors(t, 400, "unknown_parameter force")
		s.do("DELETE", "/users", "").expectErrors(t, 400, "filter_required")
		s.get("/users/"+id(0)).expect(t, 200, `{"data":`+user(0)+`}`)
		// The id is free again.
		s.do("POST", "/users", `{"id":"`+id(1)+`","name":"User 1","email":"user1@example.com","active":false}`).expect(t, 201, `{"data":`+user(1)+`}`)
	})
}
