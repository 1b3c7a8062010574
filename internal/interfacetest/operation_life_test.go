package interfacetest

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/internal/pgtest"
)

// TestBacklog: there is an end to what is accepted, and none to what is done at once.
func TestBacklog(t *testing.T) {
	eachGated(t, func(t *testing.T, s *server, g *gate) {
		s.create("/people", named(9, "Nine"))
		var opens []func()
		var operations []string
		for i := range 3 {
			opens = append(opens, g.hold(i))
			operations = append(operations, s.later("POST", "/people", named(i, "Waiting")))
		}
		for _, headers := range [][]string{{"Prefer", "respond-async"}, {"Prefer", "respond-async, wait=300"}, {"Prefer", "respond-async", "Idempotency-Key", "full"}} {
			refused := s.do("POST", "/people", named(3, "Late"), headers...)
			refused.expectErrors(t, 503, "backlog_full")
			refused.expectHeaders(t, "Retry-After: 5")
		}
		s.do("PATCH", "/people/"+id(9), `{"name":"Quick"}`).expect(t, 200, one(person(9, "Quick")))
		s.get("/operations").expectTotal(t, "3")
		g.await(1)
		opens[1]()
		s.expectSuccess(t, operations[1])
		// The key was not used up.
		s.expectSuccess(t, s.later("POST", "/people", named(3, "Late"), "Idempotency-Key", "full"))
		opens[0]()
		opens[2]()
		s.expectSuccess(t, operations...)
		s.get("/people").expect(t, 200, data(person(0, "Waiting"), person(1, "Waiting"), person(2, "Waiting"), person(3, "Late"), person(9, "Quick")))
	}, func(c *plural.Config) { c.MaxOperations = 3 })
}

// TestRetention: finished operations are forgotten after their time, and no others.
func TestRetention(t *testing.T) {
	eachGated(t, func(t *testing.T, s *server, g *gate) {
		s.expectSuccess(t, s.later("POST", "/people", named(1, "One")))
		failed := s.later("PATCH", "/people/"+id(1), `{"name":"Old"}`, "If-Match", s.get("/people/"+id(1)).tag(t))
		s.finished(failed)
		g.hold(2)
		unfinished := s.later("POST", "/people", named(2, "Two"))
		g.await(2)
		g.hold(2)
		s = s.restart(expired(), func(c *plural.Config) { c.OperationRetention = time.Hour })
		s.get("/operations").expectTotal(t, "3")
		g.await(2)
		g.hold(2)
		s = s.restart(expired(), func(c *plural.Config) { c.OperationRetention = time.Nanosecond })
		g.await(2) // it changes no more
		eventually(t, "the finished operations are forgotten", func() bool { return s.get("/operations").total() == "1" })
		if got := s.get("/operations").ids(t); len(got) != 1 || got[0] != unfinished {
			t.Errorf("%v are left", got)
		}
		s.get("/operations/"+failed).expectErrors(t, 404, "not_found")
		s.get("/operations?cursor="+failed).expect(t, 200, s.get("/operations").timeless()) // it keeps its place, as everything does
	})
}

// expired is a context that leaves no time to stop: operations that are held up are given up.
func expired() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// TestRestart: what was accepted is done once, whatever it was in the middle of.
func TestRestart(t *testing.T) {
	var mutex sync.Mutex
	effects := map[string]int{}
	note := func(c *plural.Config) {
		effects = map[string]int{}
		c.Hooks = append(c.Hooks, plural.Hook{Collection: "people", Timeout: hung, After: func(_ context.Context, change *plural.Change) {
			mutex.Lock()
			defer mutex.Unlock()
			effects[change.ID+" "+string(change.Verb)]++
		}})
		c.Workers = 2
	}
	eachGated(t, func(t *testing.T, s *server, g *gate) {
		g.hold(1)
		first := s.later("POST", "/people", named(1, "One"), "Idempotency-Key", "first")
		g.await(1)
		g.hold(2)
		second := s.later("POST", "/people", named(2, "Two"))
		g.await(2)
		// These are pending: one waits for the first, the other for a worker.
		third := s.later("PATCH", "/people/"+id(1), `{"name":"Changed"}`)
		fourth := s.later("POST", "/people", named(4, "Four"))
		s = s.restart(expired())
		s.expectSuccess(t, first, second, third, fourth)
		s.get("/operations").expect(t, 200, data(
			operation(first, "succeeded", "POST", 1, 2), operation(second, "succeeded", "POST", 2, 2),
			operation(third, "succeeded", "PATCH", 1, 1), operation(fourth, "succeeded", "POST", 4, 1)))
		s.get("/people").expect(t, 200, data(person(1, "Changed"), person(2, "Two"), person(4, "Four")))
		replayed := s.do("POST", "/people", named(1, "One"), "Idempotency-Key", "first")
		if replayed.status != 202 || replayed.operation(t) != first {
			t.Errorf("got %d %v", replayed.status, replayed.header)
		}
		s = s.restart(context.Background())
		s.get("/operations").expectTotal(t, "4")
		mutex.Lock()
		defer mutex.Unlock()
		want := map[string]int{id(1) + " create": 1, id(1) + " update": 1, id(2) + " create": 1, id(4) + " create": 1}
		if fmt.Sprint(effects) != fmt.Sprint(want) {
			t.Errorf("the effects were %v", effects)
		}
	}, note)
}

// TestGracefulStop: what was begun is finished, and not begun again by the next.
func TestGracefulStop(t *testing.T) {
	eachGated(t, func(t *testing.T, s *server, g *gate) {
		open := g.hold(1)
		begun := s.later("POST", "/people", named(1, "One"))
		g.await(1)
		waiting := s.later("POST", "/people", named(2, "Two"))
		stopped := make(chan error)
		go func() { stopped <- s.opened.Stop(context.Background()) }()
		eventually(t, "the server refuses requests", func() bool {
			_, err := client.Get(s.base + "/people")
			return err != nil
		})
		select {
		case err := <-stopped:
			t.Fatal("it stopped in the middle of an operation:", err)
		default:
		}
		open()
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		s = s.another()
		s.expectSuccess(t, waiting)
		s.get("/operations").expect(t, 200, data(operation(begun, "succeeded", "POST", 1, 1), operation(waiting, "succeeded", "POST", 2, 1)))
		s.get("/people").expect(t, 200, data(person(1, "One"), person(2, "Two")))
	}, func(c *plural.Config) { c.Workers = 1 })
}

// TestTwoServersShareTheWork of one database, and do nothing twice.
func TestTwoServersShareTheWork(t *testing.T) {
	const count = 60
	s := start(t, teamSchema(t), pgtest.URL(t))
	other := s.another()
	servers := []*server{s, other}
	var clients sync.WaitGroup
	for n := range 2 {
		clients.Go(func() {
			for i := range count / 2 {
				position := 2*i + n
				servers[i%2].later("POST", "/people", named(position, "New"))
				servers[(i+1)%2].later("PATCH", "/people/"+id(position), `{"name":"Changed"}`)
				servers[i%2].later("PATCH", "/people/"+id(position), fmt.Sprintf(`{"name":"Last %d"}`, position))
			}
		})
	}
	clients.Wait()
	eventually(t, "all operations are finished", func() bool {
		return s.get("/operations?filter[status]=succeeded&limit=0", "Prefer", "count=exact").total() == fmt.Sprint(3*count)
	})
	var want []string
	for i := range count {
		want = append(want, person(i, fmt.Sprintf("Last %d", i)))
	}
	other.get("/people").expect(t, 200, data(want...))
}

// TestHooksOfOperations: Before runs where the work is done, Within in the
// dry run too, and After once, ahead of an answer that is waited for.
func TestHooksOfOperations(t *testing.T) {
	var mutex sync.Mutex
	var calls []string
	note := func(call string, change *plural.Change) {
		mutex.Lock()
		defer mutex.Unlock()
		calls = append(calls, fmt.Sprintf("%s %s %v %s", call, change.Verb, change.After.Get("name"), change.ID))
	}
	hook := plural.Hook{
		Collection: "people", On: []plural.Verb{plural.Create},
		Before: func(_ context.Context, change *plural.Change) error {
			note("before", change)
			return change.After.Set("name", "Renamed")
		},
		Within: func(_ context.Context, tx *plural.Tx, change *plural.Change) error {
			note("within", change)
			_, err := tx.Create("notes", map[string]any{"text": change.After.Get("name")})
			return err
		},
		After: func(_ context.Context, change *plural.Change) { note("after", change) },
	}
	eachStore(t, teamSchema(t), func(t *testing.T, s *server) {
		mutex.Lock()
		calls = nil
		mutex.Unlock()
		s.do("POST", "/people", named(1, "One"), "Prefer", "respond-async, wait=300").expect(t, 201, one(person(1, "Renamed")))
		mutex.Lock()
		defer mutex.Unlock()
		want := []string{"within create One " + id(1), "before create One " + id(1), "within create Renamed " + id(1), "after create Renamed " + id(1)}
		if got := strings.Join(calls, ", "); got != strings.Join(want, ", ") {
			t.Errorf("got  %s\nwant %s", got, strings.Join(want, ", "))
		}
		notes := s.get("/notes")
		notes.expectTotal(t, "1") // nothing remains of the dry run
		if !strings.Contains(notes.body, `"text":"Renamed"`) {
			t.Errorf("got %s", notes.body)
		}
	}, withHooks(hook))
}

// TestOperationsUnderAPrefix: every Location carries it.
func TestOperationsUnderAPrefix(t *testing.T) {
	s := start(t, teamSchema(t), "sqlite:"+filepath.Join(t.TempDir(), "test.db"), func(c *plural.Config) { c.Prefix = "/api" })
	accepted := s.do("POST", "/api/people", named(1, "One"), "Prefer", "respond-async")
	location := accepted.header.Get("Location")
	accepted.expectHeaders(t, "Location: "+location, "Preference-Applied: respond-async")
	if !strings.HasPrefix(location, "/api/operations/") {
		t.Errorf("the Location is %s", location)
	}
	eventually(t, "it is done", func() bool { return s.get(location).member(t, "status") == `"succeeded"` })
	waited := s.do("POST", "/api/people", named(2, "Two"), "Prefer", "respond-async, wait=300")
	waited.expectHeaders(t, tagged, "Location: /api/people/"+id(2), "Preference-Applied: respond-async, wait=300")
}

// TestShareOfTheQueue: a caller cannot fill the queue, so that others get in; those without credentials are one caller.
func TestShareOfTheQueue(t *testing.T) {
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open(withRoles(t, `
    public:
      users: [create]
`), func(c *plural.Config) { c.MaxOperations, c.Workers = 5, -1 })
		h.key("other", "editor", "")
		later := func(caller, name string) answer {
			t.Helper()
			return h.as(caller, "POST", "/users", `{"name":"`+name+`"}`, "Prefer", "respond-async")
		}
		accept := func(caller string, times int) {
			t.Helper()
			for range times {
				if a := later(caller, "One"); a.status != 202 {
					t.Errorf("%s: got %d %s", caller, a.status, a.body)
				}
			}
		}
		refuse := func(caller string) {
			t.Helper()
			refused := later(caller, "Late")
			refused.expect(t, 429, `{"errors":[{"status":429,"code":"too_many_requests","title":"Too many requests","detail":"3 of your operations are pending, and a caller may have no more. Try again later."}]}`)
			refused.expectHeaders(t, "Retry-After: 5", "Vary: Authorization")
		}
		accept("editor", 3)
		refuse("editor")
		accept("other", 1)
		accept("public", 1)
		later("other", "Late").expectErrors(t, 503, "backlog_full")
		if done := h.as("editor", "POST", "/users", `{"name":"Now"}`); done.status != 201 {
			t.Errorf("a synchronous write: got %d %s", done.status, done.body)
		}
	})
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open(withRoles(t, `
    public:
      users: [create]
`), func(c *plural.Config) { c.MaxOperations, c.MaxOperationsPerCaller, c.Workers = 5, 1, -1 })
		later := func() answer {
			return h.as("public", "POST", "/users", `{"name":"One"}`, "Prefer", "respond-async")
		}
		later()
		later().expectErrors(t, 429, "too_many_requests")
	})
}
