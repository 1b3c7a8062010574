package interfacetest

import (
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

func TestCreateOne(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		created := s.do("POST", "/users", `{"id":"`+id(0)+`","name":"User 0","email":"user0@example.com"}`)
		created.expect(t, 201, `{"data":`+user(0)+`}`)
		created.expectHeaders(t, tagged, "Location: /users/"+id(0))
		if created.member(t, "created_at") != created.member(t, "updated_at") {
			t.Errorf("created at another time than updated: %s", created.body)
		}
		if read := s.get("/users/" + id(0)); read.body != created.body {
			t.Errorf("got  %s\nwant %s", read.body, created.body)
		}
	})
}

// TestCreateMintsAscendingIDs: creation order is the order of the collection.
func TestCreateMintsAscendingIDs(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		var want []string
		for range 20 {
			created := s.do("POST", "/posts", `{}`)
			minted := strings.Trim(created.member(t, "id"), `"`)
			if created.header.Get("Location") != "/posts/"+minted {
				t.Errorf("Location is %q, the id %s", created.header.Get("Location"), minted)
			}
			want = append(want, minted)
		}
		want = append(want, s.do("POST", "/posts", `[{},{},{}]`).ids(t)...)
		if got := s.get("/posts").ids(t); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("got  %v\nwant %v", got, want)
		}
		for i := range want[1:] {
			if want[i] >= want[i+1] {
				t.Errorf("%s was minted before %s", want[i], want[i+1])
			}
		}
	})
}

func TestCreateWithOwnID(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		for _, own := range []string{
			"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
			"f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "919108f7-52d1-4320-9bac-f847db4148a8", "019093bf-1cdc-7d22-a0f5-1b2c3d4e5f60",
		} {
			created := s.do("POST", "/posts", `{"id":"`+own+`"}`)
			created.expect(t, 201, `{"data":{"id":"`+own+`","type":"posts","title":null,"body":null,"published_at":null,"user_id":null,"created_at":"TIME","updated_at":"TIME"}}`)
			created.expectHeaders(t, tagged, "Location: /posts/"+own)
		}
		upper := "ABCDEFAB-CDEF-4ABC-8DEF-ABCDEFABCDEF"
		created := s.do("POST", "/posts", `{"id":"`+upper+`","type":"posts"}`)
		created.expectHeaders(t, tagged, "Location: /posts/"+strings.ToLower(upper))
		s.get("/posts/"+upper).expect(t, 200, created.timeless())
		s.do("POST", "/posts", `{"id":"`+strings.ToLower(upper)+`"}`).expectErrors(t, 409, "id_exists /id")
		for value, want := range map[string]string{
			`"{00000000-0000-7000-8000-000000000001}"`:        "format /id",
			`"00000000000070008000000000000001"`:              "format /id",
			`"urn:uuid:00000000-0000-7000-8000-000000000001"`: "format /id",
			`" 00000000-0000-7000-8000-000000000001"`:         "format /id",
			`"00000000-0000-7000-8000-00000000000g"`:          "format /id",
			`""`:                                              "format /id",
			`1`:                                               "type /id",
			`null`:                                            "type /id",
			`{}`:                                              "type /id",
			`[]`:                                              "type /id",
		} {
			s.expectRefusal(t, "POST", "/posts", `{"id":`+value+`}`, 422, want)
		}
	})
}

func TestCreateMany(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		empty := s.do("POST", "/users", `[]`)
		empty.expect(t, 201, `{"data":[]}`)
		empty.expectHeaders(t)
		// In the order given, which need not be the order of the collection.
		created := s.do("POST", "/users", `[{"id":"`+id(2)+`","name":"User 2","email":"user2@example.com"},{"id":"`+id(1)+`","name":"User 1","email":"user1@example.com","active":false}]`)
		created.expect(t, 201, data(user(2), user(1)))
		created.expectHeaders(t)
		s.get("/users").expect(t, 200, data(user(1), user(2)))
	})
}

// TestCreateManyIsAllOrNone: whatever is wrong with one item, none is created.
func TestCreateManyIsAllOrNone(t *testing.T) {
	good := `{"id":"` + id(7) + `","name":"A","email":"a@example.com"}`
	tests := []struct {
		body   string
		status int
		want   []string
	}{
		{`[` + good + `,{"name":"B"}]`, 422, []string{"required /1/email"}},
		{`[{},` + good + `,{"name":1,"email":"x","nope":true}]`, 422, []string{"required /0/name", "required /0/email", "type /2/name", "format /2/email", "unknown_attribute /2/nope"}},
		{`[` + good + `,1,"x",null,[],{}]`, 422, []string{"not_an_object /1", "not_an_object /2", "not_an_object /3", "not_an_object /4", "required /5/name", "required /5/email"}},
		{`[` + good + `,` + good + `]`, 409, []string{"id_exists /1/id"}},
		{`[` + good + `,{"id":"` + id(0) + `","name":"B","email":"b@example.com"}]`, 409, []string{"id_exists /1/id"}},
		{`[{"id":"` + id(0) + `","name":"B","email":"b@example.com"},` + good + `,{"id":"` + id(1) + `","name":"B","email":"b@example.com"}]`, 409, []string{"id_exists /0/id", "id_exists /2/id"}},
		{`[` + good + `,{"data":{"name":"B"}},{}]`, 422, []string{"wrapped /1/data", "required /2/name", "required /2/email"}},
		{`[` + good + `,{]`, 400, []string{"malformed_json /1"}},
	}
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 2)
		for _, test := range tests {
			s.expectRefusal(t, "POST", "/users", test.body, test.status, test.want...)
		}
		list := s.get("/users")
		list.expect(t, 200, data(user(0), user(1)))
		if list.total() != "2" {
			t.Errorf("the total is %s", list.total())
		}
	})
}

func TestCreateTooMany(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		items := strings.Repeat(`{},`, 1000)
		s.do("POST", "/posts", `[`+items+`{}]`).expectErrors(t, 413, "too_many_items")
		if got := s.do("POST", "/posts", `[`+strings.TrimSuffix(items, ",")+`]`); got.status != 201 || len(got.ids(t)) != 1000 {
			t.Errorf("1,000 items: %d", got.status)
		}
		if total := s.get("/posts?limit=0").total(); total != "1000" {
			t.Errorf("the total is %s", total)
		}
	})
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		s.do("POST", "/posts", `[{},{},{}]`).expectErrors(t, 413, "too_many_items")
		s.createAll("/posts", `{}`, `{}`)
	}, func(c *plural.Config) { c.MaxItems = 2 })
}

// TestCreateRefusals: bodies that no POST takes, with all that is wrong.
func TestCreateRefusals(t *testing.T) {
	tests := []struct {
		body string
		want []string
	}{
		{`{}`, []string{"required /name", "required /email"}},
		{`{"name":null,"email":null}`, []string{"required /name", "required /email"}},
		{`{"name":"A","email":"a@example.com","active":"true"}`, []string{"type /active"}},
		{`{"name":"A","email":"a@example.com","active":1}`, []string{"type /active"}},
		{`{"name":["A"],"email":{"a":1}}`, []string{"type /name", "type /email"}},
		{`{"Name":"A","email":"a@example.com"}`, []string{"unknown_attribute /Name", "required /name"}},
		{`{"name":"A","email":"a@example.com","é/~":1}`, []string{"unknown_attribute /é~1~0"}},
		{`{"email":"nobody","age":7,"active":"yes"}`, []string{"format /email", "unknown_attribute /age", "type /active", "required /name"}},
		{`{"data":{"name":"A","email":"a@example.com"}}`, []string{"wrapped /data"}},
		{`{"data":[]}`, []string{"wrapped /data"}},
		{`{"data":1,"name":"A","email":"a@example.com"}`, []string{"unknown_attribute /data"}},
		{`{"type":"posts","name":"A","email":"a@example.com"}`, []string{"read_only /type"}},
		{`{"type":null,"name":"A","email":"a@example.com"}`, []string{"read_only /type"}},
		{`{"created_at":"2026-11-14T09:30:00.123Z","updated_at":null,"name":"A","email":"a@example.com"}`, []string{"read_only /created_at", "read_only /updated_at"}},
		{`null`, []string{"not_an_object"}},
		{`"text"`, []string{"not_an_object"}},
		{`1`, []string{"not_an_object"}},
		{`true`, []string{"not_an_object"}},
	}
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		for _, test := range tests {
			s.expectRefusal(t, "POST", "/users", test.body, 422, test.want...)
		}
		s.get("/users").expect(t, 200, data())
	})
}

// TestErrorBody holds one error to the letter, as section 7 of the interface
// shows it.
func TestErrorBody(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		s.do("POST", "/users", `{"name":"A"}`).expect(t, 422,
			`{"errors":[{"status":422,"code":"required","title":"Required attribute","detail":"The attribute email is required.","source":{"pointer":"/email"}}]}`)
		s.get("/users?o=x").expect(t, 400,
			`{"errors":[{"status":400,"code":"invalid_parameter","title":"Invalid query parameter","detail":"Must be an integer that is not negative, such as 30.","source":{"parameter":"o"}}]}`)
		s.get("/users", "Accept", "text/html").expect(t, 406,
			`{"errors":[{"status":406,"code":"not_acceptable","title":"Not acceptable","detail":"Responses are JSON in UTF-8. Send Accept: application/json.","source":{"header":"Accept"}}]}`)
		s.get("/users/"+id(5)).expect(t, 404,
			`{"errors":[{"status":404,"code":"not_found","title":"Not found","detail":"There is no resource `+id(5)+` here in users."}]}`)
	})
}
