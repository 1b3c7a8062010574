package interfacetest

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/problem"
)

// A write through the server would wait for the transaction that it is made in, until its time is
// up on SQLite. It is refused, and the transaction goes on.
func TestWritesThroughTheServerInATransactionAreRefused(t *testing.T) {
	var opened *plural.Server
	wrong := func(ctx context.Context) error {
		entries := of[Entry](t, opened)
		nothing := func(context.Context, *plural.Tx) error { return nil }
		for name, write := range map[string]func() error{
			"Create":      func() error { _, err := entries.Create(ctx, Entry{Line: "x"}); return err },
			"CreateMany":  func() error { _, err := entries.CreateMany(ctx, []Entry{{Line: "x"}}); return err },
			"Update":      func() error { _, err := entries.Update(ctx, id(1), map[string]any{"line": 3}); return err },
			"Replace":     func() error { _, err := entries.Replace(ctx, id(1), Entry{}); return err },
			"Delete":      func() error { _, err := entries.Delete(ctx, id(1)); return err },
			"Transaction": func() error { return opened.Transaction(ctx, nothing) },
		} {
			const want = "conflict: A write through the server would wait for the open transaction: use the *plural.Tx of this function instead."
			if err := write(); !errors.Is(err, plural.ErrInTransaction) || err.Error() != want {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, prefer := range []string{"", "respond-async"} {
			r := httptest.NewRequestWithContext(ctx, "POST", "/entries", strings.NewReader(`{"line":"x"}`))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Prefer", prefer)
			w := httptest.NewRecorder()
			if opened.ServeHTTP(w, r); w.Code != 409 || !strings.Contains(w.Body.String(), "use the *plural.Tx of this function instead") {
				t.Errorf("a request: %d %s", w.Code, w.Body)
			}
		}
		_, err := entries.List(ctx) // reading waits for nobody
		return err
	}
	hook := plural.Hook{Collection: "people", Timeout: time.Hour, Within: func(ctx context.Context, tx *plural.Tx, _ *plural.Change) error {
		if err := wrong(ctx); err != nil {
			return err
		}
		_, err := tx.Create("entries", map[string]any{"line": "through tx"})
		return err
	}}
	eachStore(t, journalSchema(t), func(t *testing.T, s *server) {
		opened = s.opened
		s.create("/people", `{"name":"Ada"}`)
		if err := s.opened.Transaction(context.Background(), func(ctx context.Context, _ *plural.Tx) error { return wrong(ctx) }); err != nil {
			t.Error(err)
		}
		if got := s.lines(); got != "through tx" {
			t.Errorf("got %s", got)
		}
	}, withHooks(hook), patient)
}

// A hook ahead of the transaction knows the id of what is created, which it keeps.
func TestBeforeHasTheIDOfWhatIsCreated(t *testing.T) {
	var mutex sync.Mutex
	var seen []string
	hook := plural.Hook{Collection: "people", On: []plural.Verb{plural.Create}, Before: func(_ context.Context, change *plural.Change) error {
		mutex.Lock()
		defer mutex.Unlock()
		if change.ID != change.After.ID() {
			t.Errorf("%q and %q", change.ID, change.After.ID())
		}
		seen = append(seen, change.ID)
		return nil
	}}
	eachStore(t, journalSchema(t), func(t *testing.T, s *server) {
		seen = nil
		first := s.create("/people", `{"name":"a"}`)
		brought := s.create("/people", `{"id":"`+id(1)+`","name":"b"}`)
		many := s.do("POST", "/people", `[{"name":"c"},{"name":"d"}]`).ids(t)
		keyed := s.do("POST", "/people", `{"name":"e"}`, "Idempotency-Key", "k")
		typed, err := of[Person](t, s.opened).Create(context.Background(), Person{Name: "f"})
		if err != nil || keyed.status != 201 {
			t.Fatal(err, keyed.body)
		}
		want := append([]string{first, brought}, append(many, seen[4], typed.ID)...)
		if fmt.Sprint(seen) != fmt.Sprint(want) || !strings.Contains(keyed.body, seen[4]) {
			t.Errorf("got  %v\nwant %v", seen, want)
		}
		if after := s.create("/entries", `{}`); after <= typed.ID || first >= many[0] || many[0] >= many[1] {
			t.Errorf("ids do not increase: %v, %s", seen, after)
		}
	}, withHooks(hook))
}

// What a transaction writes is there as a whole or not at all, with the checks and hooks of requests.
func TestTransaction(t *testing.T) {
	var mutex sync.Mutex
	var ran []string
	note := func(moment string, change *plural.Change) {
		mutex.Lock()
		defer mutex.Unlock()
		ran = append(ran, moment+" "+change.After.Get("name").(string))
	}
	hook := plural.Hook{
		Collection: "people", On: []plural.Verb{plural.Create}, Timeout: time.Hour,
		Before: func(_ context.Context, change *plural.Change) error {
			note("before", change)
			if change.After.Get("name") == "Nobody" {
				return plural.Invalid("/name", "Everybody is somebody.")
			}
			return change.After.Set("slug", "set")
		},
		Within: func(_ context.Context, tx *plural.Tx, change *plural.Change) error {
			note("within", change)
			_, err := tx.Create("entries", map[string]any{"line": change.After.Get("name")})
			return err
		},
		After: func(_ context.Context, change *plural.Change) { note("after", change) },
	}
	eachStore(t, journalSchema(t), func(t *testing.T, s *server) {
		ctx, people, entries := context.Background(), of[Person](t, s.opened), of[Entry](t, s.opened)
		mine := errors.New("mine")
		err := s.opened.Transaction(ctx, func(ctx context.Context, tx *plural.Tx) error {
			if _, err := people.In(tx).Create(ctx, Person{Name: "lost"}); err != nil {
				return err
			}
			if total, err := people.In(tx).Total(ctx); total != 1 || err != nil {
				t.Errorf("within: %d, %v", total, err)
			}
			return mine
		})
		if err != mine {
			t.Errorf("got %v", err)
		}
		ran = nil
		var ada Person
		err = s.opened.Transaction(ctx, func(ctx context.Context, tx *plural.Tx) error {
			ran = nil // it may run again
			created, err := people.In(tx).Create(ctx, Person{Name: "Ada"})
			if err != nil {
				return err
			}
			_, err = people.In(tx).Create(ctx, Person{Name: "Nobody"})
			var refused *problem.Error
			if !errors.As(err, &refused) || refused.Code != "refused" {
				t.Errorf("got %v", err)
			}
			if _, err := tx.Update("people", created.ID, map[string]any{"name": 3}); !strings.HasPrefix(fmt.Sprint(err), "type at /name: ") {
				t.Errorf("an invalid change of what is not committed: %v", err)
			}
			if _, err := entries.In(tx).Create(ctx, Entry{Line: "of Ada", PersonID: &created.ID}); err != nil {
				return err
			}
			ada, err = people.In(tx).Update(ctx, created.ID, map[string]any{"name": "Ada L."}, plural.IfMatch(created.ETag))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(ran, ", "); got != "before Ada, within Ada, before Nobody, after Ada" {
			t.Errorf("ran %s", got)
		}
		s.get("/people").expect(t, 200, `{"data":[{"id":"`+ada.ID+`","type":"people","name":"Ada L.","slug":"set"}]}`)
		if got := s.get("/people/" + ada.ID).header.Get("ETag"); got != ada.ETag {
			t.Errorf("the ETag is %s, and was %s in the transaction", got, ada.ETag)
		}
		if got := s.lines(); got != "Ada; of Ada" {
			t.Errorf("the journal is %s", got)
		}
		if err := s.opened.Transaction(ctx, func(context.Context, *plural.Tx) error { panic("on purpose") }); err == nil || !strings.HasPrefix(err.Error(), "panic in the function of a transaction: on purpose\n") {
			t.Errorf("got %v", err)
		}
		ended, cancel := context.WithCancel(ctx)
		err = s.opened.Transaction(ended, func(ctx context.Context, tx *plural.Tx) error {
			_, err := tx.Create("entries", map[string]any{"line": "late"})
			cancel()
			<-ctx.Done()
			return errors.Join(err, ctx.Err())
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if _, err := entries.Create(ctx, Entry{Line: "still there"}); err != nil {
			t.Error(err)
		}
		if got := s.lines(); got != "Ada; of Ada; still there" {
			t.Errorf("the journal is %s", got)
		}
	}, withHooks(hook), patient)
}

// Transactions that read and then write what they have read do not lose each other's changes.
func TestTransactionsAreIsolated(t *testing.T) {
	eachStore(t, journalSchema(t), func(t *testing.T, s *server) {
		ctx, people := context.Background(), of[Person](t, s.opened)
		counter, err := people.Create(ctx, Person{Name: "0"})
		if err != nil {
			t.Fatal(err)
		}
		const writers, each = 4, 10
		var all sync.WaitGroup
		for range writers {
			all.Go(func() {
				for range each {
					err := s.opened.Transaction(ctx, func(ctx context.Context, tx *plural.Tx) error {
						read, err := people.In(tx).Get(ctx, counter.ID)
						if err != nil {
							return err
						}
						var n int
						if _, err := fmt.Sscan(read.Name, &n); err != nil {
							return err
						}
						_, err = people.In(tx).Update(ctx, counter.ID, map[string]any{"name": fmt.Sprint(n + 1)})
						return err
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if got, err := people.Get(ctx, counter.ID); err != nil || got.Name != fmt.Sprint(writers*each) {
			t.Errorf("got %s, %v", got.Name, err)
		}
	}, patient)
}
