package interfacetest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/internal/pgtest"
)

// TestIdempotencyKeyInFlight: the second request does not wait for the first.
func TestIdempotencyKeyInFlight(t *testing.T) {
	eachGated(t, func(t *testing.T, s *server, g *gate) {
		for position, prefer := range []string{"", "respond-async, wait=300"} {
			open := g.hold(position)
			key := fmt.Sprint("key", position)
			answered := make(chan answer)
			go func() {
				answered <- s.do("POST", "/people", named(position, "One"), "Idempotency-Key", key, "Prefer", prefer)
			}()
			g.await(position)
			for _, body := range []string{named(position, "One"), named(position, "Other")} {
				s.do("POST", "/people", body, "Idempotency-Key", key, "Prefer", prefer).expectErrors(t, 409, "idempotency_key_in_use Idempotency-Key")
			}
			s.create("/people", named(50+position, "Free"))
			open()
			first := <-answered
			first.expect(t, 201, one(person(position, "One")))
			s.do("POST", "/people", named(position, "One"), "Idempotency-Key", key, "Prefer", prefer).expectReplay(t, first)
			s.do("POST", "/people", named(position, "Other"), "Idempotency-Key", key).expectErrors(t, 422, "idempotency_key_reused Idempotency-Key")
		}
	})
}

// TestManyRequestsWithOneKey: whoever comes first, the effect is one.
func TestManyRequestsWithOneKey(t *testing.T) {
	eachStore(t, teamSchema(t), func(t *testing.T, s *server) {
		for round, prefer := range []string{"", "respond-async", "respond-async, wait=300"} {
			sendAtOnce(t, []*server{s}, fmt.Sprint("key", round), prefer)
			s.get("/people").expectTotal(t, fmt.Sprint(round+1))
		}
	})
}

// Two servers know nothing of each other but what is stored.
func TestOneKeyOnTwoServers(t *testing.T) {
	s := start(t, teamSchema(t), pgtest.URL(t))
	other := s.another()
	for round := range 6 {
		sendAtOnce(t, []*server{s, other}, fmt.Sprint("key", round), []string{"", "respond-async"}[round%2])
		s.get("/people").expectTotal(t, fmt.Sprint(round+1))
	}
}

// sendAtOnce sends one request many times at once, and compares all that is answered.
func sendAtOnce(t *testing.T, servers []*server, key, prefer string) {
	t.Helper()
	const clients = 16
	answers := make([]answer, clients)
	send := func(s *server) answer {
		return s.do("POST", "/people", `{"name":"Storm"}`, "Idempotency-Key", key, "Prefer", prefer)
	}
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			for {
				answers[i] = send(servers[i%len(servers)])
				if answers[i].status != 409 {
					return
				}
			}
		})
	}
	all.Wait()
	first := 0
	for i := range answers {
		if answers[i].header.Get("Idempotency-Replayed") == "" {
			first = i
		}
	}
	for i := range answers {
		if i != first {
			answers[i].expectReplay(t, answers[first])
		}
	}
	if answers[first].status == 202 {
		servers[0].expectSuccess(t, answers[first].operation(t))
	}
	if status := answers[first].status; status != 201 && status != 202 {
		t.Errorf("got %d %s", status, answers[first].body)
	}
}

// TestReplaysAcrossRestarts: the answer is as durable as its effect, and hooks
// that ran do not run again.
func TestReplaysAcrossRestarts(t *testing.T) {
	var calls atomic.Int64
	hook := plural.Hook{
		Collection: "people",
		Before: func(_ context.Context, change *plural.Change) error {
			calls.Add(1)
			if change.After.Get("name") == "No" {
				return plural.Conflict("/name", "No.")
			}
			return nil
		},
		Within: func(context.Context, *plural.Tx, *plural.Change) error { calls.Add(100); return nil },
		After:  func(context.Context, *plural.Change) { calls.Add(10000) },
	}
	eachStore(t, teamSchema(t), func(t *testing.T, s *server) {
		calls.Store(0)
		send := func() (all []answer) {
			for _, body := range []string{named(1, "One"), named(2, "No"), `[` + named(3, "Three") + `]`} {
				all = append(all, s.do("POST", "/people", body, "Idempotency-Key", body))
			}
			return all
		}
		first := send()
		ran := calls.Load()
		if ran != 20203 {
			t.Errorf("the hooks ran %d times", ran)
		}
		for range 2 {
			for i, again := range send() {
				again.expectReplay(t, first[i])
			}
			s = s.restart(context.Background())
		}
		s.get("/people").expect(t, 200, data(person(1, "One"), person(3, "Three")))
		if got := calls.Load(); got != ran {
			t.Errorf("the hooks ran %d times, and then %d", ran, got)
		}
	}, withHooks(hook))
}

// TestRefusedWritesLeaveNothing but their answer.
func TestRefusedWritesLeaveNothing(t *testing.T) {
	var after atomic.Int64
	hook := plural.Hook{
		Collection: "people",
		Within: func(_ context.Context, tx *plural.Tx, change *plural.Change) error {
			_, err := tx.Create("notes", map[string]any{"text": "left behind"})
			return err
		},
		After: func(context.Context, *plural.Change) { after.Add(1) },
	}
	eachStore(t, teamSchema(t), func(t *testing.T, s *server) {
		after.Store(0)
		s.create("/people", `{"id":"`+id(1)+`","name":"One","email":"one"}`)
		refused := s.onceOnly("key", "POST", "/people", `[`+named(2, "Two")+`,{"name":"Three","email":"one"}]`)
		refused.expectErrors(t, 409, "not_unique /1/email")
		s.do("POST", "/people", `{"name":"Four","email":"one"}`, "Prefer", "respond-async", "Idempotency-Key", "later").expectErrors(t, 409, "not_unique /email")
		s.get("/people").expect(t, 200, data(`{"id":"`+id(1)+`","type":"people","name":"One","email":"one","friend_id":null}`))
		s.get("/people").expectTotal(t, "1")
		s.get("/notes").expectTotal(t, "1")
		s.get("/operations").expectTotal(t, "0")
		if got := after.Load(); got != 1 {
			t.Errorf("hooks ran after %d commits", got)
		}
	}, withHooks(hook))
}
