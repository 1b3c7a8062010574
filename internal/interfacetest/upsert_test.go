package interfacetest

import (
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// TestUpsert creates, or changes as by PATCH.
func TestUpsert(t *testing.T) {
	eachStore(t, members(t), func(t *testing.T, s *server) {
		made := s.do("POST", "/accounts?on_conflict=email", `{"id":"`+id(0)+`","email":"a@x","name":"A"}`)
		made.expect(t, 201, `{"data":`+memberAt(0, `"a@x"`, "A", "true")+`}`)
		made.expectHeaders(t, "Location: /accounts/"+id(0), tagged)
		s.do("PATCH", "/accounts/"+id(0), `{"active":false}`)
		// Only what is sent is changed: there are no defaults, and nothing is required.
		changed := s.do("POST", "/accounts?on_conflict=email", `{"email":"a@x","name":"B"}`)
		changed.expect(t, 200, `{"data":`+memberAt(0, `"a@x"`, "B", "false")+`}`)
		changed.expectHeaders(t, tagged)
		s.do("POST", "/accounts?on_conflict=email", `{"email":"a@x","active":null,"id":"`+id(0)+`","type":"accounts"}`).expect(t, 200, `{"data":`+memberAt(0, `"a@x"`, "B", "null")+`}`)
		// Equal values write nothing.
		tag := s.get("/accounts/" + id(0)).header.Get("ETag")
		if again := s.do("POST", "/accounts?on_conflict=email", `{"email":"a@x"}`); again.header.Get("ETag") != tag {
			t.Errorf("ETag %s became %s", tag, again.header.Get("ETag"))
		}
		s.do("POST", "/accounts?on_conflict=id", `{"id":"`+id(0)+`","name":"C"}`).expect(t, 200, `{"data":`+memberAt(0, `"a@x"`, "C", "null")+`}`)
		s.do("POST", "/accounts?on_conflict=id", `{"id":"`+id(1)+`","name":"D"}`).expect(t, 201, `{"data":`+memberAt(1, "null", "D", "true")+`}`)
		s.do("POST", "/accounts?on_conflict=team,number", `{"team":"t","number":1,"name":"E","email":"e@x"}`).expectHeaders(t, "Location: "+s.get("/accounts?filter[name]=E").location(t, "/accounts/"), tagged)
		if got := s.do("POST", "/accounts?on_conflict=team,number", `{"team":"t","number":1,"name":"F"}`); got.status != 200 || got.member(t, "email") != `"e@x"` || got.member(t, "name") != `"F"` {
			t.Errorf("%d %s", got.status, got.body)
		}
		if total := s.get("/accounts").total(); total != "3" {
			t.Errorf("total %s", total)
		}
	})
}

// TestUpsertArrays: 201 if all were created, else 200, in the order of the array.
func TestUpsertArrays(t *testing.T) {
	eachStore(t, members(t), func(t *testing.T, s *server) {
		path := "/accounts?on_conflict=email"
		s.do("POST", path, `[]`).expect(t, 201, data())
		s.do("POST", path, `[{"id":"`+id(0)+`","email":"a","name":"A"},{"id":"`+id(1)+`","email":"b","name":"B"}]`).expect(t, 201, data(memberAt(0, `"a"`, "A", "true"), memberAt(1, `"b"`, "B", "true")))
		mixed := s.do("POST", path, `[{"id":"`+id(2)+`","email":"c","name":"C"},{"email":"b","name":"B2"},{"email":"a","active":false},{"id":"`+id(3)+`","email":"d","name":"D"}]`)
		mixed.expect(t, 200, data(memberAt(2, `"c"`, "C", "true"), memberAt(1, `"b"`, "B2", "true"), memberAt(0, `"a"`, "A", "false"), memberAt(3, `"d"`, "D", "true")))
		mixed.expectHeaders(t)
		// References to each other, in either direction.
		s.do("POST", path, `[{"email":"a","other_id":"`+id(4)+`"},{"id":"`+id(4)+`","email":"e","name":"E","other_id":"`+id(0)+`"}]`).expectPositions(t, "each other", 0, 4)
		s.get("/accounts").expectPositions(t, "all", 0, 1, 2, 3, 4)
	})
}

// TestUpsertsAreRefused: nothing happens then.
func TestUpsertsAreRefused(t *testing.T) {
	eachStore(t, members(t), func(t *testing.T, s *server) {
		s.createAll("/accounts", `{"id":"`+id(0)+`","email":"a","name":"A"}`, `{"id":"`+id(1)+`","email":"b","name":"B","team":"t","number":1}`)
		before := s.get("/accounts")
		for _, test := range []struct {
			query, body string
			status      int
			want        string
		}{
			{"on_conflict=name", `{}`, 400, "invalid_parameter on_conflict"},
			{"on_conflict=nope", `{}`, 400, "invalid_parameter on_conflict"},
			{"on_conflict=", `{}`, 400, "invalid_parameter on_conflict"},
			{"on_conflict=team", `{}`, 400, "invalid_parameter on_conflict"},
			{"on_conflict=team,team", `{}`, 400, "invalid_parameter on_conflict"},
			{"on_conflict=type", `{}`, 400, "invalid_parameter on_conflict"},
			{"on_conflict=email&on_conflict=email", `{}`, 400, "duplicate_parameter on_conflict"},
			{"filter[name]=A", `{"name":"X"}`, 400, "unknown_parameter filter[name]"},
			{"on_conflict=email", `{"name":"X"}`, 422, "required /email"},
			{"on_conflict=email", `{"email":null,"name":"X"}`, 422, "required /email"},
			{"on_conflict=team,number", `[{"team":"t","name":"X"},{"team":null,"number":null,"name":"X"}]`, 422, "required /0/number, required /1/team, required /1/number"},
			{"on_conflict=id", `{"name":"X"}`, 422, "required /id"},
			{"on_conflict=email", `{"email":1,"name":"X"}`, 422, "type /email"},
			{"on_conflict=email", `{"email":"new"}`, 422, "required /name"},
			{"on_conflict=email", `{"email":"a","name":null}`, 422, "required /name"},
			{"on_conflict=email", `{"email":"a","nope":1}`, 422, "unknown_attribute /nope"},
			{"on_conflict=email", `[{"email":"a","name":"X"},{"email":"new"},1,{"email":"b","number":"x"}]`, 422, "required /1/name, not_an_object /2, type /3/number"},
			{"on_conflict=email", `{"email":"a","id":"` + id(1) + `"}`, 422, "read_only /id"},
			{"on_conflict=email", `{"email":"a","id":"` + id(1) + `","name":1,"other_id":"` + id(9) + `"}`, 422, "type /name, read_only /id, unknown_reference /other_id"},
			{"on_conflict=email", `{"email":"a","id":"` + id(0) + `","name":1}`, 422, "type /name"},
			{"on_conflict=email", `{"email":"a","id":1,"name":1}`, 422, "type /id, type /name"},
			{"on_conflict=email", `{"email":"a","created_at":"2001-02-03T04:05:06.789Z"}`, 422, "unknown_attribute /created_at"},
			{"on_conflict=email", `{"email":"a","other_id":"` + id(9) + `"}`, 422, "unknown_reference /other_id"},
			{"on_conflict=email", `[{"email":"new","name":"X","other_id":"` + id(9) + `"}]`, 422, "unknown_reference /0/other_id"},
			// All errors, in the order of the array: what is created and what exists, values and references.
			{"on_conflict=email", `[{"email":"n1","name":"X","other_id":"` + id(8) + `"},{"email":"a","other_id":"` + id(9) + `"},{"email":"n2","name":"Y","other_id":"` + id(8) + `"},{"email":"b","other_id":"` + id(9) + `"}]`,
				422, "unknown_reference /0/other_id, unknown_reference /1/other_id, unknown_reference /2/other_id, unknown_reference /3/other_id"},
			{"on_conflict=email", `[{"email":"a","other_id":"` + id(9) + `"},{"email":"n1","other_id":"` + id(8) + `"},{"email":"b","number":"x","id":"` + id(0) + `"},{"email":"n2","name":"Y","other_id":"` + id(8) + `"}]`,
				422, "unknown_reference /0/other_id, required /1/name, unknown_reference /1/other_id, type /2/number, read_only /2/id, unknown_reference /3/other_id"},
			{"on_conflict=email", `[{"email":"b","id":"` + id(0) + `","other_id":"` + id(9) + `"},{"email":"n1"}]`, 422, "read_only /0/id, unknown_reference /0/other_id, required /1/name"},
			{"on_conflict=email", `[{"email":"new","name":"X"},{"email":"a"},{"email":"new","name":"Y"},{"email":"a"}]`, 409, "not_unique /2/email, not_unique /3/email"},
			{"on_conflict=email", `[{"name":"X"},{"email":"new"},{"email":"a","number":"x"},{"email":"b","other_id":"` + id(9) + `"},{"name":1,"other_id":"` + id(8) + `"}]`,
				422, "required /0/email, required /1/name, type /2/number, unknown_reference /3/other_id, required /4/email, type /4/name, unknown_reference /4/other_id"},
			// What has no values of the group may still be created: it may refer to itself, and others to it.
			{"on_conflict=email", `[{"name":"X","id":"` + id(7) + `","other_id":"` + id(7) + `"},{"email":"new","name":"Y","other_id":"` + id(7) + `"}]`, 422, "required /0/email"},
			{"on_conflict=email", `{"name":"X","id":"x","other_id":"` + id(7) + `"}`, 422, "required /email, format /id, unknown_reference /other_id"},
			// All conflicts, in the order of the array.
			{"on_conflict=email", `[{"email":"n1","name":"X","team":"t","number":1},{"email":"a","team":"t","number":1},{"email":"n2","name":"Y","id":"` + id(0) + `"}]`,
				409, "not_unique /0/team, not_unique /1/team, id_exists /2/id"},
			{"on_conflict=email", `[{"email":"n1","name":"X","id":"` + id(1) + `"},{"email":"b","team":"u"},{"email":"n2","name":"Y","team":"u","number":1},{"email":"a","team":"u","number":1}]`,
				409, "id_exists /0/id, not_unique /2/team, not_unique /3/team"},
			{"on_conflict=email", `{"email":"a","team":"t","number":1}`, 409, "not_unique /team"},
			{"on_conflict=email", `{"email":"new","name":"X","team":"t","number":1}`, 409, "not_unique /team"},
			{"on_conflict=email", `{"email":"new","name":"X","id":"` + id(0) + `"}`, 409, "id_exists /id"},
			{"on_conflict=email", `1`, 422, "not_an_object"},
			{"on_conflict=email", `{"data":{"email":"a"}}`, 422, "required /email, wrapped /data"},
			{"on_conflict=email", `{"email":"a"`, 400, "malformed_json"},
			{"on_conflict=email", `[` + strings.Repeat(`{"email":"a"},`, 5) + `{"email":"a"}]`, 413, "too_many_items"},
		} {
			s.expectRefusal(t, "POST", "/accounts?"+test.query, test.body, test.status, test.want)
		}
		s.transaction([]string{`{"method":"POST","path":"/accounts?on_conflict=email","body":{"name":1}}`}).expectErrors(t, 422, "required /0/body/email, type /0/body/name")
		s.do("POST", "/accounts?on_conflict=email", `{"email":"a"}`, "If-Match", `"x"`).expectErrors(t, 412, "precondition_failed If-Match")
		if after := s.get("/accounts"); after.body != before.body {
			t.Errorf("got  %s\nwant %s", after.body, before.body)
		}
	}, func(c *plural.Config) { c.MaxItems = 5 })
}

// TestUpsertChildren: the owner must have the same parent.
func TestUpsertChildren(t *testing.T) {
	eachStore(t, members(t), func(t *testing.T, s *server) {
		s.createAll("/teams", `{"id":"`+id(0)+`"}`, `{"id":"`+id(1)+`"}`)
		path := "/teams/" + id(0) + "/players?on_conflict=shirt"
		player := func(name string) string {
			return `{"data":{"id":"` + id(5) + `","type":"players","shirt":"7","name":"` + name + `","team_id":"` + id(0) + `"}}`
		}
		s.do("POST", path, `{"id":"`+id(5)+`","shirt":"7","name":"A"}`).expect(t, 201, player("A"))
		s.do("POST", path, `{"shirt":"7","name":"B"}`).expect(t, 200, player("B"))
		s.do("POST", path, `{"shirt":"7","team_id":"`+id(0)+`"}`).expect(t, 200, player("B"))
		s.do("POST", path, `{"shirt":"7","team_id":"`+id(1)+`"}`).expectErrors(t, 422, "parent_mismatch /team_id")
		s.do("POST", "/teams/"+id(1)+"/players?on_conflict=shirt", `{"shirt":"7","name":"C"}`).expectErrors(t, 409, "not_unique /shirt")
		s.do("POST", "/teams/"+id(9)+"/players?on_conflict=shirt", `{"shirt":"7","name":"C"}`).expectErrors(t, 404, "not_found")
		s.do("POST", "/players?on_conflict=shirt", `{"shirt":"7","team_id":"`+id(1)+`"}`).expect(t, 200, strings.Replace(player("B"), id(0), id(1), 1))
	})
}

// TestRequiredIfMatchOfMany: where If-Match is required, a range cannot be changed, nor a resource
// by an upsert, and a step of a transaction needs if_match.
func TestRequiredIfMatchOfMany(t *testing.T) {
	strict := mustSchema(t,
		schema.Collection{Name: "notes", NoTimestamps: true, RequireIfMatch: true, Attributes: []schema.Attribute{{Name: "key", Type: schema.String, MaxLength: 50, Unique: true}}},
		schema.Collection{Name: "topics", NoTimestamps: true, Attributes: []schema.Attribute{{Name: "name", Type: schema.String}}},
		schema.Collection{Name: "remarks", NoTimestamps: true, RequireIfMatch: true, Parent: &schema.Parent{Collection: "topics"}, Attributes: []schema.Attribute{{Name: "text", Type: schema.String}}},
	)
	eachStore(t, strict, func(t *testing.T, s *server) {
		s.do("POST", "/notes?on_conflict=key", `{"id":"`+id(0)+`","key":"a"}`).expect(t, 201, `{"data":{"id":"`+id(0)+`","type":"notes","key":"a"}}`)
		s.do("POST", "/notes?on_conflict=key", `{"key":"a"}`).expectErrors(t, 428, "precondition_required")
		s.do("POST", "/notes?on_conflict=key", `[{"key":"b"},{"key":"a"}]`).expectErrors(t, 428, "precondition_required /1")
		s.do("PATCH", "/notes?limit=1", `{"key":"c"}`).expectErrors(t, 428, "precondition_required If-Match")
		s.do("DELETE", "/notes?limit=1", "").expectErrors(t, 428, "precondition_required If-Match")
		// The body and the number of resources are checked later.
		s.do("PATCH", "/notes?limit=1", `{"key":1}`).expectErrors(t, 428, "precondition_required If-Match")
		s.do("PATCH", "/notes?limit=1", `[]`).expectErrors(t, 428, "precondition_required If-Match")
		s.createAll("/notes", `{"key":"b"}`, `{"key":"c"}`)
		s.do("PATCH", "/notes?limit=3", `{"key":"c"}`).expectErrors(t, 428, "precondition_required If-Match")
		s.do("DELETE", "/notes?limit=3&dry_run=true", "").expectErrors(t, 428, "precondition_required If-Match")
		s.do("DELETE", "/notes?cursor="+id(9), "").expectErrors(t, 400, "unknown_cursor cursor")
		step := `{"method":"PATCH","path":"/notes/` + id(0) + `","body":{"key":"z"}`
		s.do("POST", "/-/transaction", `[`+step+`}]`).expectErrors(t, 428, "precondition_required /0/if_match")
		tag := strings.ReplaceAll(s.get("/notes/"+id(0)).header.Get("ETag"), `"`, `\"`)
		s.do("POST", "/-/transaction", `[`+step+`,"if_match":"`+tag+`"}]`).expect(t, 200, data(`{"id":"`+id(0)+`","type":"notes","key":"z"}`))
		s.do("POST", "/-/transaction", `[`+step+`,"if_match":"`+tag+`"}]`).expectErrors(t, 412, "precondition_failed /0/if_match")
		s.do("POST", "/-/transaction", `[`+step+`,"if_match":"x"}]`).expectErrors(t, 400, "malformed_request /0/if_match")
		// A missing parent comes first.
		s.createAll("/topics", `{"id":"`+id(1)+`"}`)
		for parent, want := range map[int][]any{1: {428, "precondition_required If-Match"}, 9: {404, "not_found"}} {
			path := "/topics/" + id(parent) + "/remarks?limit=1"
			for _, body := range []string{`{"text":"a"}`, `{"text":1}`} {
				s.do("PATCH", path, body).expectErrors(t, want[0].(int), want[1].(string))
			}
			s.do("DELETE", path, "").expectErrors(t, want[0].(int), want[1].(string))
		}
	}, func(c *plural.Config) { c.MaxItems = 2 })
}
