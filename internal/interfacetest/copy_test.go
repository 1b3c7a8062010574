package interfacetest

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/pgtest"
)

// moved stops a server, in the time that a context leaves, and runs one on a copy of
// its database that is of the other kind.
func (s *server) moved(ctx context.Context) *server {
	s.t.Helper()
	stop(s.t, s.opened, ctx)
	var to string
	if strings.HasPrefix(s.config.Database, "sqlite:") {
		to = pgtest.URL(s.t)
	} else {
		to = "sqlite:" + filepath.Join(s.t.TempDir(), "moved.db")
	}
	copied, err := admin.Copy(context.Background(), s.config.Database, to, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if copied.Newer != 0 {
		s.t.Errorf("the source has given %d revisions meanwhile", copied.Newer)
	}
	return s.another(func(c *plural.Config) { c.Database = to })
}

// whole is all of an answer that is the same whenever it is given.
func (a answer) whole() string {
	var headers []string
	for name, values := range a.header {
		if name != "Date" && name != "X-Request-Id" {
			headers = append(headers, name+": "+strings.Join(values, ", "))
		}
	}
	slices.Sort(headers)
	text := fmt.Sprintf("%d\n%s\n\n%s", a.status, strings.Join(headers, "\n"), a.body)
	return everyTag.ReplaceAllString(anyPosition.ReplaceAllString(text, "since=POSITION"), "TAG")
}

// TestCopiedDatabaseGivesTheSameResponses: whoever has ids, keys, cursors and links of a server can go on with them on
// one whose database was copied. ETags and positions are those of a history, and a copy begins a new one.
func TestCopiedDatabaseGivesTheSameResponses(t *testing.T) {
	eachGated(t, func(t *testing.T, s *server, g *gate) {
		for i, name := range []string{"a", "é", "𝄞", "A", "\u2028", "b"} {
			s.create("/people", named(i, name))
		}
		minted := s.create("/people", `{"name":"minted","email":"m@example.com","friend_id":"`+id(1)+`"}`)
		s.create("/people/"+id(1)+"/notes", `{"text":"one"}`)
		s.create("/people/"+id(1)+"/notes", `{"text":"two"}`)
		s.create("/people/"+id(4)+"/notes", `{"text":"three"}`)
		stale := s.get("/people/" + id(2)).tag(t)
		s.do("PATCH", "/people/"+id(2), `{"name":"changed"}`)
		current := s.get("/people/" + id(2)).tag(t)
		deleted := []string{s.create("/people", `{"name":"gone"}`), id(3)}
		for _, each := range deleted {
			s.do("DELETE", "/people/"+each, "")
		}
		s.expectSuccess(t, s.later("POST", "/people", named(20, "later")))
		open := g.hold(21)
		failed := s.later("POST", "/people", named(21, "too late"))
		g.await(21)
		s.create("/people", named(21, "faster"))
		open()
		s.expectFailure(t, failed, s.do("POST", "/people", named(21, "too late")))

		type request struct {
			method, path, body string
			headers            []string
		}
		keyed := func(method, path, body, key string, more ...string) request {
			return request{method, path, body, append([]string{"Idempotency-Key", key}, more...)}
		}
		replays := []request{
			keyed("POST", "/people", `{"name":"keyed"}`, "1"),
			keyed("PATCH", "/people/"+id(5), `{"name":"keyed"}`, "2", "If-Match", stale),
			keyed("POST", "/people", `{"email":"m@example.com"}`, "3"),
			keyed("DELETE", "/people/"+id(5), "", "4", "Prefer", "respond-async"),
		}
		for _, r := range replays {
			s.do(r.method, r.path, r.body, r.headers...)
		}
		eventually(t, "everything is done", func() bool {
			return s.get("/operations?filter[status][in]=pending,running&limit=0", "Prefer", "count=exact").total() == "0"
		})
		requests := slices.Clone(replays)
		for _, path := range []string{
			"/", "/people", "/people/" + id(2), "/people/" + minted, "/people/" + deleted[0], "/person/" + id(2),
			"/people?limit=-2", "/people?offset=1&limit=2", "/people?sort=-name", "/people?sort=friend_id,name&limit=3",
			"/people?filter[name][contains]=" + "%C3%A9", "/people?filter[email][null]=false",
			"/people?cursor=" + deleted[0] + "&limit=-1", "/people?cursor=" + deleted[1] + "&limit=2", "/people?cursor=" + minted,
			"/people?cursor=" + id(77), "/people/" + id(1) + "/notes?limit=1", "/people/" + id(4) + "/notes", "/notes",
			"/operations", "/operations?limit=1", "/operations/" + failed, "/operations?filter[status]=failed",
		} {
			requests = append(requests, request{"GET", path, "", nil}, request{"HEAD", path, "", nil})
		}
		requests = append(requests,
			request{"GET", "/people/" + id(2), "", []string{"If-None-Match", stale}},
			request{"PATCH", "/people/" + id(2), `{"name":"lost update"}`, []string{"If-Match", stale}},
			request{"POST", "/people", `{"name":"another request"}`, []string{"Idempotency-Key", "1"}},
			request{"POST", "/people", named(2, "taken"), nil})
		var before []string
		for _, r := range requests {
			before = append(before, s.do(r.method, r.path, r.body, r.headers...).whole())
		}

		s = s.moved(context.Background())
		for i, r := range requests {
			if got := s.do(r.method, r.path, r.body, r.headers...).whole(); got != before[i] {
				t.Errorf("%s %s\ngot  %s\nwas %s", r.method, r.path, got, before[i])
			}
		}
		s.do("PATCH", "/people/"+id(2), `{"name":"lost update"}`, "If-Match", current).expectErrors(t, 412, "precondition_failed If-Match")
		updated := s.do("PATCH", "/people/"+id(2), `{"name":"condition kept"}`, "If-Match", s.get("/people/"+id(2)).tag(t))
		updated.expect(t, 200, one(person(2, "condition kept")))
		if got := updated.tag(t); slices.ContainsFunc(before, func(a string) bool { return strings.Contains(a, got) }) {
			t.Errorf("the ETag %s is not new", got)
		}
		if made := s.create("/people", `{"name":"next"}`); made <= minted || made <= deleted[0] {
			t.Errorf("the id %s is not behind %s and %s", made, minted, deleted[0])
		}
	})
}

// TestOperationsOfACopiedDatabase: what was accepted before a move is carried out after it, once
// and in its order.
func TestOperationsOfACopiedDatabase(t *testing.T) {
	eachGated(t, func(t *testing.T, s *server, g *gate) {
		g.hold(1)
		first := s.later("POST", "/people", named(1, "One"), "Idempotency-Key", "first")
		g.await(1)
		second := s.later("PATCH", "/people/"+id(1), `{"name":"Two"}`)
		third := s.later("POST", "/people/"+id(1)+"/notes", `{"id":"`+id(5)+`","text":"note"}`)
		s = s.moved(expired())
		s.expectSuccess(t, first, second, third)
		s.get("/people").expect(t, 200, data(person(1, "Two")))
		s.get("/people/"+id(1)+"/notes").expect(t, 200, data(`{"id":"`+id(5)+`","type":"notes","text":"note","person_id":"`+id(1)+`"}`))
		replayed := s.do("POST", "/people", named(1, "One"), "Idempotency-Key", "first")
		if replayed.status != 202 || replayed.operation(t) != first {
			t.Errorf("got %d %v", replayed.status, replayed.header)
		}
		s.get("/operations").expectTotal(t, "3")
	})
}
