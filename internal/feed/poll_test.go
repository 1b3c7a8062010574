package feed

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/problem"
)

// poll opens the changes of notes after the last one, as a caller sees them.
func (n *notes) poll(t *testing.T, by *auth.Permit) *Changes {
	t.Helper()
	of := query.Compare{Column: n.schema.Changes().Field(model.ChangeCollection).Column, Op: query.Equal, Value: model.TextValue("notes")}
	all, err := n.feed.Changes(context.Background(), LogRequest{Path: reads.Path{By: by}})
	if err != nil {
		t.Fatal(err)
	}
	request := LogRequest{Path: reads.Path{By: by}, Query: query.Query{Filter: of, Since: all.Link(), Range: query.Range{Limit: 100}}}
	c, err := n.feed.Changes(context.Background(), request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.EndWait)
	return c
}

// TestPollsWait: changes that do not concern those who poll neither wake them nor make them read from the database, and they
// are not looked at again. One that concerns them wakes them once.
func TestPollsWait(t *testing.T) {
	var caughtUp atomic.Int64
	options := func() Options {
		return Options{Metrics: Metrics{CaughtUp: func() { caughtUp.Add(1) }}}
	}
	eachDatabase(t, options, func(t *testing.T, n *notes) {
		const polls, writes = 30, 20
		n.mustDo(t, http.MethodPost, n.links, model.ID{15: 1}, map[string]any{"rank": 0})
		woken := make(chan error)
		var all []*Changes
		var wakes atomic.Int64
		for i := range polls {
			c := n.poll(t, n.permit("follower", "ada"))
			if found, err := c.Later(); found || err != nil {
				t.Fatal(found, err)
			}
			all = append(all, c)
			go func() {
				err := c.Wait(context.Background(), fmt.Sprint("caller ", i))
				wakes.Add(1)
				woken <- err
			}()
		}
		waitFor(t, func() bool {
			n.feed.mutex.Lock()
			defer n.feed.mutex.Unlock()
			return n.feed.attached == polls
		})
		before := caughtUp.Load()
		marker := n.begin(t, Shape{Path: reads.Path{Collection: n.links}}, "", "marker")
		take(t, marker, 2)
		for i := range writes {
			n.mustDo(t, http.MethodPatch, n.links, model.ID{15: 1}, map[string]any{"rank": i + 1})
			n.mustDo(t, http.MethodPost, n.notes, model.ID{14: 1, 15: byte(i)}, map[string]any{"owner": "eve"})
		}
		take(t, marker, writes)
		if got := wakes.Load(); got != 0 || caughtUp.Load() != before {
			t.Errorf("%d were woken, %d reads from the database", got, caughtUp.Load()-before)
		}
		n.mustDo(t, http.MethodPost, n.notes, model.ID{15: 1}, map[string]any{"owner": "ada"})
		for range polls {
			if err := <-woken; err != nil {
				t.Error(err)
			}
		}
		for _, c := range all {
			if got, want := c.End-c.looked, int64(1); got != want {
				t.Errorf("%d changes are looked at again, want %d", got, want)
			}
			if found, err := c.Later(); !found || err != nil {
				t.Error(found, err)
			}
			c.EndWait()
		}
		marker.Close()
		n.checkUnused(t)
		if open := len(n.feed.subscriptions); open != 0 {
			t.Errorf("%d subscriptions are left", open)
		}
	})
}

// TestPollsEnd: with the credentials, with a new schema or history, of which the caller finds out, and when the time is over. Those of
// one caller are limited.
func TestPollsEnd(t *testing.T) {
	var now atomic.Pointer[time.Time]
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now.Store(&start)
	n := openNotes(t, sqliteURL(t), Options{PerUser: 1, Now: func() time.Time { return *now.Load() }})
	n.run(t)
	expiring := n.policy.Permit(auth.Caller{ID: "token:ada", Role: "follower", Subject: "ada", Expires: start.Add(time.Minute)})
	c := n.poll(t, expiring)
	ended := make(chan error)
	wait := func() { go func() { ended <- c.Wait(context.Background(), "ada") }() }
	attached := func() bool {
		n.feed.mutex.Lock()
		defer n.feed.mutex.Unlock()
		return n.feed.attached == 1
	}
	wait()
	waitFor(t, attached)
	if err := n.poll(t, expiring).Wait(context.Background(), "ada"); !fault.Is(err, problem.CodeTooManyRequests) {
		t.Errorf("a second one: %v", err)
	}
	later := start.Add(time.Minute)
	now.Store(&later)
	n.feed.endOld()
	if err := <-ended; err != nil || c.followed != nil {
		t.Errorf("after the credentials: %v", err)
	}
	c = n.poll(t, n.permit("follower", "ada"))
	wait()
	waitFor(t, attached)
	n.feed.endAll(SchemaChanged, func(*Subscription) bool { return true })
	if err := <-ended; err != nil || c.followed != nil {
		t.Errorf("after the schema: %v", err)
	}
	n.mustDo(t, http.MethodPost, n.notes, model.ID{15: 1}, map[string]any{"owner": "eve"})
	short, cancel := context.WithCancel(context.Background())
	go func() { ended <- c.Wait(short, "ada") }()
	waitFor(t, func() bool {
		n.feed.mutex.Lock()
		defer n.feed.mutex.Unlock()
		return n.feed.attached == 1 && n.feed.chainedTo == n.feed.lastNumber && n.feed.lastNumber > 0
	})
	cancel()
	err := <-ended
	n.feed.mutex.Lock()
	defer n.feed.mutex.Unlock()
	if !errors.Is(err, context.Canceled) || c.End != n.feed.lastNumber || c.looked != c.End {
		t.Errorf("after the time: %v, looked at %d of %d", err, c.looked, n.feed.lastNumber)
	}
}
