package interfacetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// TestUpdateRange: PATCH changes what GET lists with the same query, and answers with all of it.
func TestUpdateRange(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 5)
		changed := s.do("PATCH", "/users?filter[active]=true&sort=-id", `{"name":"X"}`)
		changed.expect(t, 200, data(renamed(4, "X"), renamed(2, "X"), renamed(0, "X")))
		changed.expectHeaders(t)
		s.get("/users").expect(t, 200, data(renamed(0, "X"), user(1), renamed(2, "X"), user(3), renamed(4, "X")))
		// Ranges of every kind.
		for query, want := range map[string][]int{
			"limit=2": {0, 1}, "limit=-2": {3, 4}, "offset=3": {3, 4}, "o=4&l=-2": {2, 3}, "cursor=" + id(3): {3, 4},
			"cursor=" + id(3) + "&limit=-2": {1, 2}, "limit=0": {}, "offset=9": {}, "limit=-9000": {0, 1, 2, 3, 4},
			"offset=2000&limit=-3000": {0, 1, 2, 3, 4}, "offset=2000&limit=-1997": {3, 4}, "offset=2000&limit=-1990": {}, "offset=2&limit=-3000": {0, 1}, "offset=3&limit=9223372036854775807": {3, 4},
			"filter[active]=true&offset=2000&limit=-3000": {0, 2, 4}, "offset=9223372036854775807&limit=-9223372036854775808": {0, 1, 2, 3, 4},
			"filter[name]=nobody": {}, "sort=-email&limit=1&filter[id][in]=" + id(1) + "," + id(3): {3},
		} {
			s.do("PATCH", "/users?"+query, `{"name":"Y"}`).expectPositions(t, query, want...)
			listed := s.get("/users?filter[name]=Y")
			listed.expectPositions(t, "after "+query, want...)
			s.do("PATCH", "/users?filter[name]=Y", `{"name":"Z"}`).expectPositions(t, "back from "+query, want...)
		}
		s.do("PATCH", "/users?sort=-id&offset=2000&limit=-1997", `{"name":"Y"}`).expectPositions(t, "sorted", 1, 0)
	})
}

// TestUpdateRangeOfEqualValues writes nothing.
func TestUpdateRangeOfEqualValues(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 3)
		before := s.get("/users")
		s.do("PATCH", "/users?limit=9", `{}`).expect(t, 200, before.timeless())
		s.do("PATCH", "/users?filter[active]", `{"active":true}`).expect(t, 200, data(user(0), user(2)))
		if after := s.get("/users"); after.body != before.body {
			t.Errorf("got  %s\nwant %s", after.body, before.body)
		}
	})
}

// TestDeleteRange answers with the resources as they last were.
func TestDeleteRange(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 5)
		deleted := s.do("DELETE", "/users?filter[active]=true&limit=2", "")
		deleted.expect(t, 200, data(user(0), user(2)))
		deleted.expectHeaders(t)
		rest := s.get("/users")
		rest.expect(t, 200, data(user(1), user(3), user(4)))
		if rest.total() != "3" {
			t.Errorf("total %s", rest.total())
		}
		s.do("DELETE", "/users?offset=2000&limit=-3000", "").expectPositions(t, "all", 1, 3, 4)
		s.get("/users").expect(t, 200, data())
	})
}

// TestRangesAreRefused: nothing happens then.
func TestRangesAreRefused(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 4)
		before := s.get("/users")
		for _, test := range []struct {
			method, query, body string
			status              int
			want                string
		}{
			{"PATCH", "", `{"name":"X"}`, 400, "filter_required"},
			{"DELETE", "", "", 400, "filter_required"},
			{"DELETE", "?sort=name", "", 400, "filter_required"},
			{"DELETE", "?dry_run=true", "", 400, "filter_required"},
			{"DELETE", "?filter[nope]=1", "", 400, "unknown_parameter filter[nope]"},
			{"DELETE", "?on_conflict=email&limit=1", "", 400, "unknown_parameter on_conflict"},
			{"DELETE", "?cursor=" + id(1) + "&offset=1", "", 400, "conflicting_range cursor"},
			{"DELETE", "?cursor=" + id(9), "", 400, "unknown_cursor cursor"},
			{"DELETE", "?limit=1&since=x", "", 400, "unknown_parameter since"},
			{"DELETE", "?limit=1&include=posts", "", 400, "unknown_parameter include"},
			{"PATCH", "?limit=1&fields=name", `{}`, 400, "unknown_parameter fields"},
			{"DELETE", "?limit=1&dry_run=maybe", "", 400, "invalid_parameter dry_run"},
			{"PATCH", "?limit=1", `{"name":null,"nope":1}`, 422, "required /name, unknown_attribute /nope"},
			{"PATCH", "?limit=1", `[]`, 422, "not_an_object"},
			{"PATCH", "?limit=0", `1`, 422, "not_an_object"},
			{"PATCH", "?limit=1", `{"id":"` + id(0) + `"}`, 422, "read_only /id"},
			{"PATCH", "?limit=1", `{"created_at":"2001-02-03T04:05:06.789Z"}`, 422, "read_only /created_at"},
		} {
			s.expectRefusal(t, test.method, "/users"+test.query, test.body, test.status, test.want)
		}
		s.createAll("/posts", `{"title":"A"}`)
		s.do("PATCH", "/posts?limit=1", `{"title":1,"user_id":"`+id(9)+`"}`).expectErrors(t, 422, "type /title, unknown_reference /user_id")
		s.do("PATCH", "/posts?limit=1", `{"title":1,"user_id":"`+id(0)+`"}`).expectErrors(t, 422, "type /title")
		s.do("PATCH", "/posts?limit=1", `{"title":1,"user_id":"x"}`).expectErrors(t, 422, "type /title, format /user_id")
		for _, header := range []string{"If-Match", "If-None-Match"} {
			s.do("DELETE", "/users?limit=1", "", header, "*").expectErrors(t, 400, "malformed_request "+header)
		}
		s.do("DELETE", "/users?limit=1", "", "If-None-Match", "*", "If-Match", "*").expectErrors(t, 400, "malformed_request If-Match")
		if after := s.get("/users"); after.body != before.body {
			t.Errorf("got  %s\nwant %s", after.body, before.body)
		}
	})
}

// TestRangeLimits: as many as are allowed, and one more.
func TestRangeLimits(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		for i := range 7 {
			s.createAll("/users", fmt.Sprintf(`{"id":"%s","name":"User %d","email":"user%d@example.com","active":%t}`, id(i), i, i, i != 0))
		}
		for _, query := range []string{"filter[active]=true", "limit=6", "limit=-6", "offset=1", "cursor=" + id(1), "cursor=" + id(1) + "&limit=100", "filter[active]=true&limit=6", "offset=7&limit=-6", "offset=20&limit=-19", "filter[active]=true&offset=20&limit=-30"} {
			for _, method := range []string{"PATCH", "DELETE"} {
				body := map[string]string{"PATCH": `{"name":"X"}`}[method]
				refused := s.do(method, "/users?"+query, body)
				refused.expectErrors(t, 413, "too_many_items")
				if !strings.Contains(refused.body, "The range has 6 resources, but one request can change at most 5.") {
					t.Errorf("%s: %s", query, refused.body)
				}
			}
		}
		s.get("/users?filter[name]=X").expect(t, 200, data())
		s.do("PATCH", "/users?offset=20&limit=-18", `{"name":"X"}`).expectPositions(t, "five", 2, 3, 4, 5, 6)
		s.do("PATCH", "/users?limit=-5", `{"name":"X"}`).expectPositions(t, "five", 2, 3, 4, 5, 6)
		s.do("DELETE", "/users?filter[name]=X", "").expectPositions(t, "five", 2, 3, 4, 5, 6)
	}, func(c *plural.Config) { c.MaxItems = 5 })
}

// TestRestrictWithinARange: references from what is deleted in the same request do not count.
func TestRestrictWithinARange(t *testing.T) {
	eachStore(t, family(t), func(t *testing.T, s *server) {
		s.createAll("/people", `{"id":"`+id(0)+`"}`, `{"id":"`+id(1)+`","boss_id":"`+id(0)+`"}`, `{"id":"`+id(2)+`","boss_id":"`+id(1)+`"}`, `{"id":"`+id(3)+`","boss_id":"`+id(3)+`"}`)
		s.do("DELETE", "/people?limit=2", "").expectErrors(t, 409, "referenced")
		s.do("DELETE", "/people?limit=1", "").expectErrors(t, 409, "referenced")
		s.do("DELETE", "/people?sort=-id&limit=9", "").expectPositions(t, "all", 3, 2, 1, 0)
		s.get("/people").expect(t, 200, data())
	})
}

// TestRangesOfSubCollections concern the children of one parent only.
func TestRangesOfSubCollections(t *testing.T) {
	eachStore(t, family(t), func(t *testing.T, s *server) {
		s.createAll("/people", `{"id":"`+id(0)+`"}`, `{"id":"`+id(1)+`"}`)
		for i := range 4 {
			s.createAll("/people/"+id(i%2)+"/cats", `{"id":"`+id(10+i)+`","name":"Tom"}`)
		}
		path := "/people/" + id(0) + "/cats"
		s.do("DELETE", path, "").expectErrors(t, 400, "filter_required")
		s.do("PATCH", path+"?filter[name]=Tom", `{"name":"Tim"}`).expectPositions(t, "children", 10, 12)
		s.get("/cats?filter[name]=Tim").expectPositions(t, "all", 10, 12)
		// A child can be moved.
		s.do("PATCH", path+"?limit=1", `{"person_id":"`+id(1)+`"}`).expectPositions(t, "moved", 10)
		if a, b := s.get(path).total(), s.get("/people/"+id(1)+"/cats").total(); a != "1" || b != "3" {
			t.Errorf("totals %s and %s", a, b)
		}
		s.do("DELETE", "/people/"+id(1)+"/cats?filter[name]=Tom", "").expectPositions(t, "children", 11, 13)
		s.do("DELETE", "/people/"+id(9)+"/cats?limit=1", "").expectErrors(t, 404, "not_found")
		s.do("PATCH", "/people/"+id(9)+"/cats?limit=1", `{"nope":1}`).expectErrors(t, 404, "not_found")
		s.do("PATCH", path+"?limit=9", `{"person_id":"`+id(8)+`"}`).expectErrors(t, 422, "unknown_reference /person_id")
		s.do("PATCH", path+"?limit=9", `{"person_id":"`+id(8)+`","name":1}`).expectErrors(t, 422, "type /name, unknown_reference /person_id")
	})
}

// TestRangesBySearch: a search selects a range, and what is written is found by its new words.
func TestRangesBySearch(t *testing.T) {
	notes := mustSchema(t, schema.Collection{Name: "notes", NoTimestamps: true, Search: []string{"text"}, Attributes: []schema.Attribute{{Name: "text", Type: schema.String}, {Name: "done", Type: schema.Boolean}}})
	eachStore(t, notes, func(t *testing.T, s *server) {
		for i, text := range []string{"Ada Lovelace", "Grace Hopper", "ada again"} {
			s.createAll("/notes", fmt.Sprintf(`{"id":"%s","text":"%s"}`, id(i), text))
		}
		s.do("PATCH", "/notes?search=ADA", `{"text":"Charles Babbage"}`).expectPositions(t, "by search", 0, 2)
		s.get("/notes?search=ada").expectPositions(t, "old words")
		s.get("/notes?search=charles").expectPositions(t, "new words", 0, 2)
		s.do("POST", "/notes?on_conflict=id", `[{"id":"`+id(0)+`","text":"Ada"},{"id":"`+id(3)+`","text":"Ada too"}]`).expectPositions(t, "upsert", 0, 3)
		s.do("DELETE", "/notes?search=ada&dry_run=true", "").expectPositions(t, "dry run", 0, 3)
		s.do("DELETE", "/notes?search=ada", "").expectPositions(t, "deleted", 0, 3)
		s.get("/notes?search=ada").expectPositions(t, "deleted words")
	})
}
