package interfacetest

import (
	"fmt"
	"testing"
)

// TestDryRun answers as the write would, and changes nothing.
func TestDryRun(t *testing.T) {
	eachStore(t, family(t), func(t *testing.T, s *server) {
		person := func(position int, name string) string {
			return fmt.Sprintf(`{"id":"%s","type":"people","name":%s,"boss_id":null}`, id(position), name)
		}
		s.createAll("/people", `{"id":"`+id(0)+`","name":"A"}`, `{"id":"`+id(1)+`","name":"B"}`)
		for i := range 3 {
			s.createAll("/people/"+id(0)+"/cats", `{"id":"`+id(10+i)+`"}`)
			s.createAll("/toys", `{"id":"`+id(20+2*i)+`","cat_id":"`+id(10+i)+`"}`, `{"id":"`+id(21+2*i)+`","cat_id":"`+id(10+i)+`"}`)
		}
		state := func() string {
			return s.get("/people").body + s.get("/cats").body + s.get("/toys").body + s.get("/changes").body
		}
		before := state()
		for _, test := range []struct {
			method, path, body string
			status             int
			want, affected     string
		}{
			{"POST", "/people", `{"id":"` + id(2) + `","name":"C"}`, 201, `{"data":` + person(2, `"C"`) + `}`, "people=1"},
			{"POST", "/people", `[{"id":"` + id(2) + `"},{"id":"` + id(3) + `"}]`, 201, data(person(2, "null"), person(3, "null")), "people=2"},
			{"PATCH", "/people/" + id(1), `{"name":"X"}`, 200, `{"data":` + person(1, `"X"`) + `}`, "people=1"},
			{"PATCH", "/people/" + id(1), `{"name":"B"}`, 200, `{"data":` + person(1, `"B"`) + `}`, "people=0"},
			{"PUT", "/people/" + id(1), `{}`, 200, `{"data":` + person(1, "null") + `}`, "people=1"},
			{"DELETE", "/people/" + id(0), "", 200, `{"data":` + person(0, `"A"`) + `}`, "people=1, cats=3, toys=6"},
			{"DELETE", "/people?limit=9", "", 200, data(person(0, `"A"`), person(1, `"B"`)), "people=2, cats=3, toys=6"},
			{"DELETE", "/people?filter[name]=nobody", "", 200, data(), "people=0"},
			{"PATCH", "/people?filter[name]=A", `{"name":"X"}`, 200, data(person(0, `"X"`)), "people=1"},
			{"POST", "/people?on_conflict=id", `{"id":"` + id(0) + `","name":"X"}`, 200, `{"data":` + person(0, `"X"`) + `}`, "people=1"},
			{"POST", "/-/transaction", "[" + step("DELETE", "/cats/"+id(10), "") + "," + step("PATCH", "/people/"+id(0), `{"name":"A"}`) + "]", 200,
				data(`{"id":"`+id(10)+`","type":"cats","name":null,"person_id":"`+id(0)+`"}`, person(0, `"A"`)), "cats=1, toys=2, people=0"},
		} {
			query := "?dry_run=true"
			if len(test.path) > 7 && test.path[7] == '?' {
				query = "&dry_run=true"
			}
			got := s.do(test.method, test.path+query, test.body)
			got.expect(t, test.status, test.want)
			got.expectHeaders(t, "X-Affected: "+test.affected)
			if after := state(); after != before {
				t.Fatalf("%s %s has changed something", test.method, test.path)
			}
		}
		s.do("DELETE", "/people/"+id(9)+"?dry_run=true", "").expectErrors(t, 404, "not_found")
		s.do("POST", "/people?dry_run=true", `{"name":1}`).expectErrors(t, 422, "type /name")
		s.do("PATCH", "/people/"+id(0)+"?dry_run=true", `{}`, "If-Match", `"x"`).expectErrors(t, 412, "precondition_failed If-Match")
		s.do("PATCH", "/people/"+id(0)+"?dry_run", `{}`).expectErrors(t, 400, "invalid_parameter dry_run")
		s.do("PATCH", "/people/"+id(0)+"?dry_run=true&dry_run=true", `{}`).expectErrors(t, 400, "duplicate_parameter dry_run")
		s.get("/people/"+id(0)+"?dry_run=true").expectErrors(t, 400, "unknown_parameter dry_run")
		s.get("/people?dry_run=true").expectErrors(t, 400, "unknown_parameter dry_run")
		// It is never asynchronous, and false is as if it were not there.
		s.do("PATCH", "/people/"+id(0)+"?dry_run=true", `{"name":"X"}`, "Prefer", "respond-async").expectHeaders(t, "X-Affected: people=1")
		s.do("PATCH", "/people/"+id(0)+"?dry_run=false", `{"name":"X"}`, "Idempotency-Key", "k").expectHeaders(t, tagged)
	})
}
