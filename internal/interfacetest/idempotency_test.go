package interfacetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/problem"
)

// onceOnly sends a request twice with a key: the second time it is answered
// again, and nothing is done.
func (s *server) onceOnly(key, method, path, body string, headers ...string) answer {
	s.t.Helper()
	headers = append([]string{"Idempotency-Key", key}, headers...)
	first := s.do(method, path, body, headers...)
	if first.status == 202 {
		s.finished(first.operation(s.t))
	}
	state := s.state()
	s.do(method, path, body, headers...).expectReplay(s.t, first)
	if now := s.state(); now != state {
		s.t.Errorf("%s %s was done again:\n%s\n%s", method, path, state, now)
	}
	return first
}

// state is everything there is, but for how far operations have come.
func (s *server) state() string {
	return s.get("/people?limit=1000").body + s.get("/notes?limit=1000").body + s.get("/operations").total()
}

// TestIdempotencyKey: a request that comes again is answered again.
func TestIdempotencyKey(t *testing.T) {
	eachStore(t, teamSchema(t), func(t *testing.T, s *server) {
		created := s.onceOnly("create", "POST", "/people", `{"name":"Minted"}`)
		if created.status != 201 || created.header.Get("Location") == "" {
			t.Errorf("got %d %v", created.status, created.header)
		}
		tag := s.onceOnly("create 1", "POST", "/people", named(1, "One")).tag(t)
		path := "/people/" + id(1)
		s.onceOnly("patch", "PATCH", path, `{"name":"Two"}`, "If-Match", tag).expect(t, 200, one(person(1, "Two")))
		s.onceOnly("put", "PUT", path, `{"name":"Three"}`).expect(t, 200, one(person(1, "Three")))
		s.onceOnly("nothing", "PATCH", path, `{}`).expect(t, 200, one(person(1, "Three")))
		array := s.onceOnly("array", "POST", "/people", `[{"name":"A"},{"name":"B"}]`)
		if array.status != 201 || len(array.ids(t)) != 2 {
			t.Errorf("got %d %s", array.status, array.body)
		}
		s.onceOnly("empty", "POST", "/people", `[]`).expect(t, 201, data())
		child := s.onceOnly("child", "POST", path+"/notes", `{"id":"`+id(2)+`"}`)
		child.expect(t, 201, `{"data":{"id":"`+id(2)+`","type":"notes","text":null,"person_id":"`+id(1)+`"}}`)
		s.onceOnly("accept", "POST", "/people", `{"name":"Later"}`, "Prefer", "respond-async")
		waited := s.onceOnly("wait", "POST", "/people", `{"name":"Waited"}`, "Prefer", "respond-async, wait=300")
		if waited.status != 201 || waited.header.Get("Preference-Applied") != "respond-async, wait=300" || waited.tag(t) == "" {
			t.Errorf("got %d %v", waited.status, waited.header)
		}
		s.onceOnly("delete", "DELETE", path, "").expect(t, 200, one(person(1, "Three")))
		// An answer is given again as it was, whatever has become of the resource.
		s.do("PUT", path, `{"name":"Three"}`, "Idempotency-Key", "put").expect(t, 200, one(person(1, "Three")))
		s.do("PUT", path, `{"name":"Three"}`, "Idempotency-Key", "put again").expectErrors(t, 404, "not_found")
		// How the answer is wanted is no part of a request.
		s.do("POST", "/people", `{"name":"Minted"}`, "Idempotency-Key", "create", "Prefer", "respond-async", "Accept", "*/*").expectReplay(t, created)
		s.do("POST", "/people", `{"name":"Minted"}`, "Idempotency-Key", "create", "Content-Type", "application/json;charset=utf-8").expectReplay(t, created)
		// Upper-case ids are the same.
		s.do("PUT", "/people/"+strings.ToUpper(id(1)), `{"name":"Three"}`, "Idempotency-Key", "put").expect(t, 200, one(person(1, "Three")))
	})
}

// TestIdempotencyKeyOfRefusals: what no repetition would change is kept.
func TestIdempotencyKeyOfRefusals(t *testing.T) {
	refuse := plural.Hook{Collection: "notes", Before: func(_ context.Context, change *plural.Change) error {
		if change.Verb != plural.Delete && change.After.Get("text") == "no" {
			return plural.Invalid("/text", "No.")
		}
		return nil
	}}
	eachStore(t, teamSchema(t), func(t *testing.T, s *server) {
		s.create("/people", `{"id":"`+id(1)+`","name":"One","email":"one"}`)
		path := "/people/" + id(1)
		for i, c := range []struct {
			status             int
			method, path, body string
			headers            []string
		}{
			{404, "PATCH", "/people/" + id(9), `{}`, nil},
			{404, "DELETE", "/people/" + id(9), "", nil},
			{404, "PATCH", "/people/" + id(9), `{"nope":1}`, nil},
			{404, "POST", "/people/" + id(9) + "/notes", `{}`, nil},
			{409, "POST", "/people", named(1, "Again"), nil},
			{409, "POST", "/people", `[{"name":"x"},{"name":"y","email":"one"}]`, nil},
			{412, "PUT", path, `{"name":"x"}`, []string{"If-Match", `"x"`}},
			{412, "PUT", path, `{"name":1}`, []string{"If-Match", `"x"`}},
			{422, "POST", "/people", `{"name":1,"nope":2}`, nil},
			{422, "POST", "/people", `[{"name":"x"},{}]`, nil},
			{422, "POST", "/people", `"x"`, nil},
			{422, "PATCH", path, `{"friend_id":"` + id(9) + `"}`, nil},
			{422, "POST", "/notes", `{"text":"no"}`, nil},
		} {
			for _, prefer := range []string{"", "respond-async, wait=300"} {
				got := s.onceOnly(fmt.Sprint("key ", i, prefer), c.method, c.path, c.body, append([]string{"Prefer", prefer}, c.headers...)...)
				if got.status != c.status {
					t.Errorf("%s %s %s: got %d %s", c.method, c.path, c.body, got.status, got.body)
				}
			}
		}
		s.get("/people").expectTotal(t, "1")
		s.get("/notes").expectTotal(t, "0")
		// It is the first outcome that is kept, also when it would be another one now.
		missing := s.onceOnly("missing", "PATCH", "/people/"+id(2), `{"name":"Two"}`)
		s.create("/people", named(2, "New"))
		s.do("PATCH", "/people/"+id(2), `{"name":"Two"}`, "Idempotency-Key", "missing").expectReplay(t, missing)
	}, withHooks(refuse))
}

// TestIdempotencyKeyIsNotUsedUp: what is wrong with the sending, or with the
// server, says nothing of the request.
func TestIdempotencyKeyIsNotUsedUp(t *testing.T) {
	var away sync.Mutex
	failing := map[string]bool{}
	hook := plural.Hook{
		Collection: "notes",
		Before: func(_ context.Context, change *plural.Change) error {
			away.Lock()
			defer away.Unlock()
			if failing["before"] {
				return &problem.Error{Code: "unavailable", Detail: "Not now."}
			}
			return nil
		},
		Within: func(context.Context, *plural.Tx, *plural.Change) error {
			away.Lock()
			defer away.Unlock()
			if failing["within"] {
				panic("on purpose")
			}
			return nil
		},
	}
	fail := func(moment string, fails bool) {
		away.Lock()
		defer away.Unlock()
		failing[moment] = fails
	}
	eachStore(t, teamSchema(t), func(t *testing.T, s *server) {
		tag := s.do("POST", "/pages", `{"id":"`+id(1)+`"}`).tag(t)
		page := "/pages/" + id(1)
		for _, c := range []struct {
			status             int
			method, path, body string
			headers            []string
		}{
			{400, "POST", "/people", `{`, nil},
			{400, "PATCH", page, `{}`, []string{"If-Match", "x"}},
			{400, "POST", "/people?x=y", named(5, "x"), nil},
			{406, "POST", "/people", named(5, "x"), []string{"Accept", "text/html"}},
			{413, "POST", "/people", `{"name":"` + strings.Repeat("x", 2000) + `"}`, nil},
			{413, "POST", "/people", `[{},{},{},{}]`, nil},
			{415, "POST", "/people", named(5, "x"), []string{"Content-Type", "text/plain"}},
			{428, "PATCH", page, `{"text":"x"}`, nil},
			{404, "POST", "/nowhere", `{}`, nil},
			{405, "POST", page, `{}`, nil},
		} {
			for range 2 {
				got := s.do(c.method, c.path, c.body, append([]string{"Idempotency-Key", "one"}, c.headers...)...)
				if got.status != c.status || got.header.Get("Idempotency-Replayed") != "" {
					t.Errorf("%s %s %.50s: got %d %v %s", c.method, c.path, c.body, got.status, got.header, got.body)
				}
			}
		}
		for moment, status := range map[string]int{"before": 503, "within": 500} {
			fail(moment, true)
			for range 2 {
				if got := s.do("POST", "/notes", `{"id":"`+id(1)+`"}`, "Idempotency-Key", "one"); got.status != status || got.header.Get("Idempotency-Replayed") != "" {
					t.Errorf("%s: got %d %v %s", moment, got.status, got.header, got.body)
				}
			}
			fail(moment, false)
		}
		s.onceOnly("one", "PATCH", page, `{"text":"x"}`, "If-Match", tag).expect(t, 200, `{"data":{"id":"`+id(1)+`","type":"pages","text":"x"}}`)
		s.get("/notes").expect(t, 200, data())
	}, withHooks(hook), func(c *plural.Config) { c.MaxBody, c.MaxItems = 1000, 3 })
}

// TestIdempotencyKeyStandsForOneRequest: used for another, it is refused.
func TestIdempotencyKeyStandsForOneRequest(t *testing.T) {
	eachStore(t, teamSchema(t), func(t *testing.T, s *server) {
		s.createAll("/people", named(1, "One"), named(2, "Two"))
		s.createAll("/notes", `{"id":"`+id(3)+`","person_id":"`+id(1)+`"}`)
		path := "/people/" + id(1) + "/notes/" + id(3)
		first := s.onceOnly("key", "PATCH", path, `{"text":"a"}`, "If-Match", "*")
		state := s.state()
		for _, c := range []struct {
			method, path, body string
			headers            []string
		}{
			{"PUT", path, `{"text":"a"}`, []string{"If-Match", "*"}},
			{"DELETE", path, "", []string{"If-Match", "*"}},
			{"PATCH", "/notes/" + id(3), `{"text":"a"}`, []string{"If-Match", "*"}},
			{"PATCH", "/people/" + id(2) + "/notes/" + id(3), `{"text":"a"}`, []string{"If-Match", "*"}},
			{"PATCH", "/people/" + id(1), `{"text":"a"}`, []string{"If-Match", "*"}},
			{"PATCH", path, `{"text":"b"}`, []string{"If-Match", "*"}},
			{"PATCH", path, `{"text": "a"}`, []string{"If-Match", "*"}},
			{"PATCH", path, `{`, []string{"If-Match", "*"}},
			{"PATCH", path, `{"text":"a"}`, nil},
			{"PATCH", path, `{"text":"a"}`, []string{"If-Match", `"x"`}},
			{"PATCH", path, `{"text":"a"}`, []string{"If-Match", "*", "If-None-Match", `"x"`}},
			{"PATCH", path, `{"text":"a"}`, []string{"If-None-Match", "*"}},
			{"POST", "/people", `{"text":"a"}`, []string{"If-Match", "*", "Prefer", "respond-async"}},
		} {
			got := s.do(c.method, c.path, c.body, append([]string{"Idempotency-Key", "key"}, c.headers...)...)
			got.expectErrors(t, 422, "idempotency_key_reused Idempotency-Key")
		}
		if now := s.state(); now != state {
			t.Errorf("something was done:\n%s\n%s", state, now)
		}
		s.do("PATCH", path, `{"text":"a"}`, "If-Match", "*", "Idempotency-Key", "key").expectReplay(t, first)
	})
}

// TestMalformedIdempotencyKeys are refused, but where they mean nothing.
func TestMalformedIdempotencyKeys(t *testing.T) {
	eachStore(t, teamSchema(t), func(t *testing.T, s *server) {
		for _, key := range []string{strings.Repeat("x", 256), "é", "\xff", "a\tb"} {
			s.do("POST", "/people", named(1, "One"), "Idempotency-Key", key).expectErrors(t, 400, "malformed_request Idempotency-Key")
			s.get("/people", "Idempotency-Key", key).expect(t, 200, data())
		}
		raw := func(lines string) answer {
			return s.raw("POST /people HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 12\r\n" + lines + "\r\n{\"name\":\"x\"}")
		}
		for _, lines := range []string{"Idempotency-Key:\r\n", "Idempotency-Key: \r\n", "Idempotency-Key: a\r\nIdempotency-Key: a\r\n"} {
			raw(lines).expectErrors(t, 400, "malformed_request Idempotency-Key")
		}
		s.onceOnly(strings.Repeat("~", 255), "POST", "/people", named(1, "One")).expect(t, 201, one(person(1, "One")))
		s.onceOnly(`a "b", c; d`, "PATCH", "/people/"+id(1), `{}`).expect(t, 200, one(person(1, "One")))
		for range 2 { // a read is safe as it is
			got := s.get("/people/"+id(1), "Idempotency-Key", `a "b", c; d`)
			got.expect(t, 200, one(person(1, "One")))
			got.expectHeaders(t, tagged)
		}
	})
}

// TestIdempotencyRetention: an answer is given again until its time is over.
func TestIdempotencyRetention(t *testing.T) {
	eachStore(t, teamSchema(t), func(t *testing.T, s *server) {
		first := s.do("POST", "/people", named(1, "One"), "Idempotency-Key", "key")
		missing := s.do("DELETE", "/people/"+id(9), "", "Idempotency-Key", "missing")
		s = s.restart(context.Background(), func(c *plural.Config) { c.IdempotencyRetention = time.Hour })
		s.do("POST", "/people", named(1, "One"), "Idempotency-Key", "key").expectReplay(t, first)
		s.do("DELETE", "/people/"+id(9), "", "Idempotency-Key", "missing").expectReplay(t, missing)
		s = s.restart(context.Background(), func(c *plural.Config) { c.IdempotencyRetention = time.Nanosecond })
		eventually(t, "the answer is forgotten", func() bool {
			return s.do("POST", "/people", named(1, "One"), "Idempotency-Key", "key").status == 409
		})
	})
}
