package interfacetest

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plural-go/plural"
)

// Person is a resource of the collection people of journalSchema.
type Person struct {
	_    struct{} `plural:"name=people"`
	ID   string   `json:"id"`
	Name string   `json:"name" plural:"required"`
	Slug *string  `json:"slug"`
	ETag string   `json:"-" plural:"etag"`
}

// Entry is a resource of the collection entries of journalSchema.
type Entry struct {
	ID       string  `json:"id"`
	Line     string  `json:"line"`
	PersonID *string `json:"person_id"`
}

// From the moment that Stop is called nothing begins any more, and what has begun comes to its end,
// with what its hooks call.
func TestNothingBeginsAfterStop(t *testing.T) {
	entered, release, inner := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	var opened *plural.Server
	hook := plural.Hook{Collection: "people", Timeout: time.Hour, Before: func(ctx context.Context, change *plural.Change) error {
		if change.After.Get("name") == "first" {
			close(entered)
			<-release
			_, err := of[Entry](t, opened).Create(ctx, Entry{Line: "inner"})
			inner <- err
		}
		return nil
	}}
	eachStore(t, journalSchema(t), func(t *testing.T, s *server) {
		entered, release, opened = make(chan struct{}), make(chan struct{}), s.opened
		people := of[Person](t, s.opened)
		first := make(chan error, 1)
		go func() {
			_, err := people.Create(context.Background(), Person{Name: "first"})
			first <- err
		}()
		<-entered

		var refused atomic.Bool // somebody was refused, so that Stop was called
		var late atomic.Int64   // calls that began after that, and were not refused
		enough := make(chan struct{})
		var callers sync.WaitGroup
		for i := range 16 {
			callers.Go(func() {
				call := func() error { _, err := people.Create(context.Background(), Person{Name: "more"}); return err }
				switch i % 4 {
				case 1:
					call = func() error { _, err := people.List(context.Background()); return err }
				case 2:
					call = func() error {
						return s.opened.Transaction(context.Background(), func(context.Context, *plural.Tx) error { return nil })
					}
				case 3:
					call = func() error { return requested(t, s.opened) }
				}
				for calls := 0; ; calls++ {
					before := refused.Load()
					err := call()
					switch {
					case errors.Is(err, plural.ErrStopped):
						refused.Store(true)
					case err != nil:
						t.Error(err)
						return
					case before:
						late.Add(1)
					}
					select {
					case <-enough:
						return
					default:
					}
				}
			})
		}
		stopped := make(chan error, 1)
		go func() { stopped <- s.opened.Stop(context.Background()) }()
		for !refused.Load() {
			if err := requested(t, s.opened); errors.Is(err, plural.ErrStopped) {
				refused.Store(true)
			}
		}
		for range 100 { // while the first call is under way
			if _, err := people.Get(context.Background(), id(1)); !errors.Is(err, plural.ErrStopped) {
				t.Fatalf("a call after Stop: %v", err)
			}
		}
		select {
		case err := <-stopped:
			t.Errorf("stopped during a call: %v", err)
		default:
		}
		close(release)
		if err := <-inner; err != nil {
			t.Errorf("what the hook of the call under way called: %v", err)
		}
		if err := <-first; err != nil {
			t.Errorf("the call under way: %v", err)
		}
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		close(enough)
		callers.Wait()
		if late.Load() > 0 {
			t.Errorf("%d calls began after Stop", late.Load())
		}
	}, withHooks(hook), patient)
}

// requested sends a request to a mounted server. A refusal must be that of a server that stops.
func requested(t *testing.T, mounted http.Handler) error {
	r := httptest.NewRequest("POST", "/entries", strings.NewReader(`{"line":"more"}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	mounted.ServeHTTP(w, r)
	if w.Code == http.StatusCreated {
		return nil
	}
	want := `{"errors":[{"status":503,"code":"unavailable","title":"Not available at the moment","detail":"The server is shutting down. Try again later."}]}`
	if w.Code != 503 || w.Body.String() != want || w.Header().Get("Retry-After") != "5" || w.Header().Get("Connection") != "close" {
		t.Errorf("got %d %v %s", w.Code, w.Header(), w.Body)
	}
	return plural.ErrStopped
}
