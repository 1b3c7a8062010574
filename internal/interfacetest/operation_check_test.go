package interfacetest

import (
	"context"
	"testing"

	"github.com/plural-go/plural"
)

// TestInvalidOperationsAreRefusedAtOnce: what is wrong with a request is answered as if it were
// synchronous, and nothing is accepted.
func TestInvalidOperationsAreRefusedAtOnce(t *testing.T) {
	eachStore(t, teamSchema(t), func(t *testing.T, s *server) {
		s.createAll("/people", named(1, "One"), `{"id":"`+id(2)+`","name":"Two","email":"two"}`)
		s.create("/notes", `{"id":"`+id(3)+`","person_id":"`+id(1)+`"}`)
		s.create("/pages", `{"id":"`+id(4)+`"}`)
		one, note, page := "/people/"+id(1), "/people/"+id(1)+"/notes/"+id(3), "/pages/"+id(4)
		for _, c := range []struct {
			status             int
			method, path, body string
			headers            []string
		}{
			{400, "POST", "/people", `{"name":`, nil},
			{400, "POST", "/people?limit=1", `{"name":"x"}`, nil},
			{400, "PATCH", one, `{}`, []string{"If-Match", "x"}},
			{400, "DELETE", one, "{}", nil},
			{404, "PUT", "/people/" + id(9), `{"name":"x"}`, nil},
			{404, "PATCH", "/people/" + id(9), `{"nope":1}`, nil},
			{404, "DELETE", "/people/" + id(9), "", nil},
			{404, "POST", "/people/" + id(9) + "/notes", `{}`, nil},
			{404, "PATCH", "/people/" + id(2) + "/notes/" + id(3), `{}`, nil},
			{404, "PATCH", "/people/" + id(2) + "/notes/" + id(3), `{"nope":1}`, nil},
			{404, "PUT", "/people/" + id(2) + "/notes/" + id(3), `{"text":1}`, nil},
			{404, "DELETE", "/people/" + id(2) + "/notes/" + id(3), "", nil},
			{405, "PUT", "/people", `{}`, nil},
			{406, "POST", "/people", `{"name":"x"}`, []string{"Accept", "text/html"}},
			{409, "POST", "/people", named(1, "x"), nil},
			{409, "POST", "/people", `{"name":"x","email":"two"}`, nil},
			{409, "PATCH", one, `{"email":"two"}`, nil},
			{412, "PATCH", one, `{"name":"x"}`, []string{"If-Match", `"x"`}},
			{412, "DELETE", one, "", []string{"If-None-Match", `*`}},
			{412, "POST", "/people", `{"name":"x"}`, []string{"If-Match", `"x"`}},
			{415, "PATCH", one, `{"name":"x"}`, []string{"Content-Type", "text/plain"}},
			{422, "POST", "/people", `{"name":1,"nope":2,"friend_id":"` + id(9) + `"}`, nil},
			{422, "POST", "/people", `{"data":{"name":"x"}}`, nil},
			{422, "POST", "/people", `"x"`, nil},
			{422, "PUT", one, `{}`, nil},
			{422, "PATCH", one, `{"friend_id":"` + id(9) + `"}`, nil},
			{422, "PATCH", note, `{"person_id":"` + id(9) + `"}`, nil},
			{428, "PATCH", page, `{"text":"x"}`, nil},
			{428, "DELETE", page, "", nil},
		} {
			want := s.do(c.method, c.path, c.body, c.headers...)
			for _, prefer := range []string{"respond-async", "respond-async, wait=300"} {
				got := s.do(c.method, c.path, c.body, append([]string{"Prefer", prefer}, c.headers...)...)
				if want.status != c.status || got.status != c.status || got.body != want.body {
					t.Errorf("%s %s %s:\ngot  %d %s\nwant %d %s", c.method, c.path, c.body, got.status, got.body, want.status, want.body)
				}
				if got.header.Get("Location") != "" || got.header.Get("Preference-Applied") != "" {
					t.Errorf("%s %s: %v", c.method, c.path, got.header)
				}
			}
		}
		s.get("/operations").expect(t, 200, data())
	})
}

// TestOperationsThatBecomeInvalid: what has become wrong meanwhile is kept as the
// errors that a synchronous request gets.
func TestOperationsThatBecomeInvalid(t *testing.T) {
	eachGated(t, func(t *testing.T, s *server, g *gate) {
		position := 0
		// fail has an operation accepted and held up, changes something, lets it
		// go on and compares it with the same request sent then.
		fail := func(method, path, body string, status int, headers []string, meanwhile func()) {
			t.Helper()
			open := g.hold(position)
			accepted := s.later(method, path, body, headers...)
			g.await(position)
			meanwhile()
			open()
			ended := s.finished(accepted)
			refused := s.do(method, path, body, headers...)
			if refused.status != status {
				t.Errorf("%s %s: got %d %s", method, path, refused.status, refused.body)
			}
			s.expectFailure(t, accepted, refused)
			if got := ended.member(t, "attempts"); got != "1" {
				t.Errorf("%s %s was tried %s times", method, path, got)
			}
		}
		seed := func() string {
			position++
			s.create("/people", named(position, "Old"))
			return "/people/" + id(position)
		}
		remove := func(path string) func() {
			return func() { s.do("DELETE", path, "").expect(t, 200, one(person(position, "Old"))) }
		}
		path := seed()
		fail("PATCH", path, `{"name":"x"}`, 404, nil, remove(path))
		path = seed()
		fail("DELETE", path, "", 404, nil, remove(path))
		path = seed()
		tag := s.get(path).tag(t)
		fail("PUT", path, `{"name":"x"}`, 412, []string{"If-Match", tag}, func() { s.do("PATCH", path, `{"name":"New"}`) })
		path = seed()
		fail("PATCH", path, `{"email":"taken"}`, 409, nil, func() { s.create("/people", `{"name":"x","email":"taken"}`) })
		path = seed()
		friend := path
		path = seed()
		fail("PATCH", path, `{"friend_id":"`+friend[len("/people/"):]+`"}`, 422, nil, func() { s.do("DELETE", friend, "") })
		position++
		fail("POST", "/people", named(position, "x"), 409, nil, func() { s.create("/people", named(position, "First")) })
		s.get("/people/"+id(position)).expect(t, 200, one(person(position, "First")))
	})
}

// TestRefusedByAHook: a hook ahead of the transaction is asked when the
// operation is carried out, one within it at once as well.
func TestRefusedByAHook(t *testing.T) {
	hooks := withHooks(plural.Hook{
		Collection: "people",
		Before: func(_ context.Context, change *plural.Change) error {
			if change.After.Get("name") == "before" {
				return plural.Invalid("/name", "Too early.")
			}
			return nil
		},
		Within: func(_ context.Context, _ *plural.Tx, change *plural.Change) error {
			if change.After.Get("name") == "within" {
				return plural.Conflict("/name", "Too late.")
			}
			return nil
		},
	})
	eachStore(t, teamSchema(t), func(t *testing.T, s *server) {
		s.expectFailure(t, s.later("POST", "/people", named(1, "before")), s.do("POST", "/people", named(1, "before")))
		s.do("POST", "/people", named(1, "within"), "Prefer", "respond-async").expect(t, 409, s.do("POST", "/people", named(1, "within")).body)
		s.do("POST", "/people", named(1, "before"), "Prefer", "respond-async, wait=300").expect(t, 422, s.do("POST", "/people", named(1, "before")).body)
		s.get("/people").expect(t, 200, data())
		if got := s.get("/operations").total(); got != "2" {
			t.Errorf("there are %s operations", got)
		}
	}, hooks)
}

// TestOperationsMayRelyOnAcceptedCreates: further operations may rely on what is going to
// be created, and on nothing else.
func TestOperationsMayRelyOnAcceptedCreates(t *testing.T) {
	eachGated(t, func(t *testing.T, s *server, g *gate) {
		async := []string{"Prefer", "respond-async"}
		open := g.hold(1)
		accepted := []string{s.later("POST", "/people", `{"id":"`+id(1)+`","name":"One","email":"one"}`)}
		g.await(1)
		for _, c := range []struct{ method, path, body string }{
			{"PATCH", "/people/" + id(1), `{"name":"Two"}`},
			{"PUT", "/people/" + id(1), `{"name":"Three","email":"three"}`},
			{"PATCH", "/people/" + id(1), `{"friend_id":"` + id(1) + `"}`}, // its own
			{"POST", "/people", `{"id":"` + id(2) + `","name":"Friend","friend_id":"` + id(1) + `"}`},
			{"POST", "/people/" + id(1) + "/notes", `{"id":"` + id(3) + `"}`},
			{"POST", "/notes", `{"id":"` + id(4) + `","person_id":"` + id(2) + `"}`},
			{"PATCH", "/people/" + id(1) + "/notes/" + id(3), `{"text":"a"}`},
			{"PUT", "/notes/" + id(4), `{"person_id":"` + id(1) + `"}`},
			{"PATCH", "/people/" + id(1) + "/notes/" + id(4), `{"text":"b"}`},
			{"DELETE", "/people/" + id(1) + "/notes/" + id(3), ""},
			{"POST", "/notes", `{"id":"` + id(3) + `","text":"again"}`},
			{"PATCH", "/people/" + id(1), `{"email":"last"}`},
		} {
			accepted = append(accepted, s.later(c.method, c.path, c.body))
		}
		// A synchronous request sees what there is.
		s.do("PATCH", "/people/"+id(1), `{}`).expectErrors(t, 404, "not_found")
		s.do("POST", "/people/"+id(1)+"/notes", `{}`).expectErrors(t, 404, "not_found")
		s.do("POST", "/notes", `{"person_id":"`+id(1)+`"}`).expectErrors(t, 422, "unknown_reference /person_id")
		s.get("/people/"+id(1)+"/notes").expectErrors(t, 404, "not_found")
		// What would be wrong by then is wrong now.
		s.do("POST", "/people", named(1, "Twice"), async...).expectErrors(t, 409, "id_exists /id")
		s.do("PATCH", "/people/"+id(1), `{"nope":1}`, async...).expectErrors(t, 422, "unknown_attribute /nope")
		s.do("PATCH", "/people/"+id(1), `{}`, "Prefer", "respond-async", "If-Match", `"x"`).expectErrors(t, 412, "precondition_failed If-Match")
		s.do("PATCH", "/people/"+id(1)+"/notes/"+id(3), `{}`, async...).expectErrors(t, 404, "not_found")
		s.do("PATCH", "/people/"+id(2)+"/notes/"+id(4), `{}`, async...).expectErrors(t, 404, "not_found")
		open()
		s.expectSuccess(t, accepted...)
		s.get("/people").expect(t, 200, data(
			`{"id":"`+id(1)+`","type":"people","name":"Three","email":"last","friend_id":"`+id(1)+`"}`,
			`{"id":"`+id(2)+`","type":"people","name":"Friend","email":null,"friend_id":"`+id(1)+`"}`))
		s.get("/notes").expect(t, 200, data(
			`{"id":"`+id(3)+`","type":"notes","text":"again","person_id":null}`, `{"id":"`+id(4)+`","type":"notes","text":"b","person_id":"`+id(1)+`"}`))
	})
}

// TestOperationsFailWithTheCreateTheyRelyOn: an operation that was to create something fails, and
// with it all that relied on it; what is to be deleted does not exist after that.
func TestOperationsFailWithTheCreateTheyRelyOn(t *testing.T) {
	eachGated(t, func(t *testing.T, s *server, g *gate) {
		open := g.hold(1)
		first := s.later("POST", "/people", `{"id":"`+id(1)+`","name":"One","email":"one"}`)
		g.await(1)
		second := s.later("PATCH", "/people/"+id(1), `{"name":"Two"}`)
		third := s.later("POST", "/people/"+id(1)+"/notes", `{"id":"`+id(3)+`"}`)
		fourth := s.later("POST", "/people", `{"id":"`+id(2)+`","name":"Friend","friend_id":"`+id(1)+`"}`)
		s.create("/people", `{"id":"`+id(9)+`","name":"Quick","email":"one"}`)
		open()
		s.expectFailure(t, first, s.do("POST", "/people", `{"id":"`+id(1)+`","name":"One","email":"one"}`))
		s.expectFailure(t, second, s.do("PATCH", "/people/"+id(1), `{"name":"Two"}`))
		s.expectFailure(t, third, s.do("POST", "/people/"+id(1)+"/notes", `{"id":"`+id(3)+`"}`))
		s.expectFailure(t, fourth, s.do("POST", "/people", `{"id":"`+id(2)+`","name":"Friend","friend_id":"`+id(1)+`"}`))
		if got := s.get("/people").total() + s.get("/notes").total(); got != "10" {
			t.Errorf("the totals are %s", got)
		}

		open = g.hold(5)
		accepted := []string{s.later("POST", "/people", named(5, "Short"))}
		g.await(5)
		accepted = append(accepted, s.later("DELETE", "/people/"+id(5), ""))
		s.do("PATCH", "/people/"+id(5), `{}`, "Prefer", "respond-async").expectErrors(t, 404, "not_found")
		s.do("DELETE", "/people/"+id(5), "", "Prefer", "respond-async").expectErrors(t, 404, "not_found")
		accepted = append(accepted, s.later("POST", "/people", named(5, "Back")))
		accepted = append(accepted, s.later("PATCH", "/people/"+id(5), `{"email":"back"}`))
		open()
		s.expectSuccess(t, accepted...)
		s.get("/people/"+id(5)).expect(t, 200, `{"data":{"id":"`+id(5)+`","type":"people","name":"Back","email":"back","friend_id":null}}`)
	})
}

// A condition that holds when an operation is accepted has to hold again when
// it is carried out, also for those behind it.
func TestConditionsOfOperations(t *testing.T) {
	eachGated(t, func(t *testing.T, s *server, g *gate) {
		s.create("/people", named(1, "One"))
		tag := s.get("/people/" + id(1)).tag(t)
		open := g.hold(1)
		// What is no tag of ours, and not even UTF-8, may stand beside one that is.
		first := s.later("PATCH", "/people/"+id(1), `{"name":"Two"}`, "If-Match", "\"\xe9\", "+tag+", W/\"\xff\"")
		g.await(1)
		second := s.later("PATCH", "/people/"+id(1), `{"name":"Three"}`, "If-Match", tag)
		third := s.later("PATCH", "/people/"+id(1), `{"email":"one"}`, "If-Match", "*", "If-None-Match", `"y"`)
		open()
		s.expectSuccess(t, first)
		s.finished(third)
		s.expectSuccess(t, third)
		got := s.finished(second)
		if got.member(t, "status") != `"failed"` {
			t.Errorf("got %s", got.body)
		}
		answer{status: 412, header: got.header, body: `{"errors":` + got.member(t, "errors") + `}`}.expectErrors(t, 412, "precondition_failed If-Match")
		s.get("/people/"+id(1)).expect(t, 200, `{"data":{"id":"`+id(1)+`","type":"people","name":"Two","email":"one","friend_id":null}}`)
	})
}
