package feed

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/problem"
)

func sqliteURL(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "test.db") }

func TestStreamsAreLimited(t *testing.T) {
	open := 0
	n := openNotes(t, sqliteURL(t), Options{Streams: 3, PerUser: 2, Metrics: Metrics{Subscribed: func(change int) { open += change }}})
	shape := Shape{Path: reads.Path{Collection: n.links}}
	subscribe := func(caller string) (*Subscription, error) {
		return n.feed.Subscribe(context.Background(), shape, "", caller)
	}
	refused := func(caller, want string) {
		t.Helper()
		_, err := subscribe(caller)
		if !fault.Is(err, problem.CodeTooManyRequests) || err.Error() != "too_many_requests: "+want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	var all []*Subscription
	for _, caller := range []string{"a", "a", "b"} {
		s, err := subscribe(caller)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
		if caller == "a" && len(all) == 2 {
			refused("a", "You have 2 open streams and long polls, which is the limit for one caller. Close one of them first.")
		}
	}
	refused("c", "3 streams and long polls are open, which is the limit of this server. Try again later.")
	if s, err := subscribe(""); err != nil {
		t.Error("the program itself:", err)
	} else {
		s.Close()
	}
	all[0].Close()
	all[0].Close() // counts once
	if s, err := subscribe("a"); err != nil {
		t.Error(err)
	} else {
		s.Close()
	}
	all[1].Close()
	all[2].Close()
	if open != 0 || len(n.feed.chains) != 0 || len(n.feed.callers) != 0 {
		t.Errorf("left over: %d streams, %d shapes, %d callers", open, len(n.feed.chains), len(n.feed.callers))
	}
}

// TestStreamsEnd: by age, with the credentials, when an API key is revoked, and when the server
// stops.
func TestStreamsEnd(t *testing.T) {
	var now atomic.Pointer[time.Time]
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now.Store(&start)
	revoked := ""
	n := openNotes(t, sqliteURL(t), Options{Now: func() time.Time { return *now.Load() },
		Revoked: func(_ context.Context, by *auth.Permit) error {
			if by.Caller.ID == revoked {
				return fault.New(problem.CodeInvalidCredentials, "revoked")
			}
			return nil
		}})
	subscribe := func(caller auth.Caller, quota string) *Subscription {
		caller.Role = "admin"
		s, err := n.feed.Subscribe(context.Background(), Shape{Path: reads.Path{Collection: n.links, By: n.policy.Permit(caller)}}, "", quota)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		take(t, s, 1)
		return s
	}
	ended := func(s *Subscription) Cause {
		if end := (*End)(nil); errors.As(context.Cause(s.life), &end) {
			return end.Cause
		}
		return ""
	}
	key, token := subscribe(auth.Caller{ID: "key:a"}, "k"), subscribe(auth.Caller{ID: "token:b", Expires: start.Add(5 * time.Minute)}, "t")
	old, program := subscribe(auth.Caller{ID: "token:c", Expires: start.Add(time.Hour)}, "o"), subscribe(auth.Caller{ID: "program:d"}, "")
	at := func(after time.Duration) {
		moved := start.Add(after)
		now.Store(&moved)
		n.feed.endOld()
		n.feed.endInvalid(context.Background())
	}
	check := func(when string, want ...Cause) {
		t.Helper()
		for i, s := range []*Subscription{key, token, old, program} {
			if got := ended(s); got != want[i] {
				t.Errorf("%s: stream %d has ended by %q, want %q", when, i, got, want[i])
			}
		}
	}
	at(4 * time.Minute)
	check("after 4 min", "", "", "", "")
	at(5 * time.Minute)
	check("after 5 min", "", Expired, "", "")
	revoked = "key:a"
	at(6 * time.Minute)
	check("after 6 min", Revoked, Expired, "", "")
	at(33*time.Minute + time.Second)
	check("after 33 min", Revoked, Expired, Aged, "")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	n.feed.Run(ctx)
	check("after the end", Revoked, Expired, Aged, Shutdown)
	var end *End
	if _, err := program.Next(context.Background()); !errors.As(err, &end) || end.Cause != Shutdown {
		t.Error(err)
	}
	if _, err := n.feed.Subscribe(context.Background(), Shape{Path: reads.Path{Collection: n.links}}, "", "x"); !errors.As(err, &end) || end.Cause != Shutdown {
		t.Error(err)
	}
}

// TestFallingBehind: a subscriber whose events are not kept reads from the database, and then
// follows again. Nobody else notices.
func TestFallingBehind(t *testing.T) {
	var mutex sync.Mutex
	caughtUp, most := 0, int64(0)
	options := func() Options {
		return Options{Kept: 2000, Metrics: Metrics{
			CaughtUp: func() {
				mutex.Lock()
				defer mutex.Unlock()
				caughtUp++
			},
			KeptBytes: func(bytes int64) { most = max(most, bytes) },
		}}
	}
	eachDatabase(t, options, func(t *testing.T, n *notes) {
		shape := Shape{Path: reads.Path{Collection: n.links}}
		fast, slow := n.subscribe(t, shape, ""), n.subscribe(t, shape, "")
		take(t, fast, 1)
		take(t, slow, 1)
		const count = 50
		n.mustDo(t, http.MethodPost, n.links, model.ID{15: 1}, map[string]any{"rank": 0})
		seen := take(t, fast, 1)
		for i := 1; i < count; i++ {
			n.mustDo(t, http.MethodPatch, n.links, model.ID{15: 1}, map[string]any{"rank": i})
			seen = append(seen, take(t, fast, 1)...)
		}
		mutex.Lock()
		before := caughtUp
		mutex.Unlock()
		for i, event := range take(t, slow, count) {
			if string(event.Data) != string(seen[i].Data) || event.Position != seen[i].Position {
				t.Fatalf("event %d: %s, and of the other %s", i, event.Data, seen[i].Data)
			}
		}
		mutex.Lock()
		if caughtUp == before || most > 2000 {
			t.Errorf("%d reads from the database, at most %d bytes kept", caughtUp-before, most)
		}
		mutex.Unlock()
		n.mustDo(t, http.MethodDelete, n.links, model.ID{15: 1}, nil)
		a, b := take(t, fast, 1), take(t, slow, 1)
		if a[0].Kind != Deleted || &a[0].Data[0] != &b[0].Data[0] {
			t.Error("the two do not share the last event")
		}
		if n.feed.keptBytes != 0 {
			t.Errorf("%d bytes are kept although everybody has read them", n.feed.keptBytes)
		}
	})
}

// TestNobodyFollows: without subscribers nothing is read.
func TestNobodyFollows(t *testing.T) {
	eachDatabase(t, func() Options { return Options{} }, func(t *testing.T, n *notes) {
		n.mustDo(t, http.MethodPost, n.links, model.ID{15: 1}, map[string]any{"rank": 1})
		waitFor(t, func() bool {
			n.feed.mutex.Lock()
			defer n.feed.mutex.Unlock()
			if n.feed.readTo != 0 {
				t.Fatalf("the log was read up to %d", n.feed.readTo)
			}
			return n.feed.lastNumber > 0
		})
	})
}
