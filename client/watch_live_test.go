package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/internal/loopback"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/params"
)

// TestWatchLive: each kind of change, as a server tells it, with a filter.
func TestWatchLive(t *testing.T) {
	eachStore(t, func(t *testing.T, url string) {
		ctx := t.Context()
		users := client.Of[User](connect(t, url), "users")
		ada := must(users.Create(ctx, User{Name: "Ada", Email: "ada@example.com"}))(t)
		must(users.Create(ctx, User{Name: "Zoe", Email: "zoe@example.com"}))(t)
		update := func(name string) { must(users.Update(ctx, ada.ID, map[string]any{"name": name}))(t) }
		var seen []string
		for event, err := range users.Watch(ctx, params.Where("name").StartsWith("A")) {
			if err != nil {
				t.Fatal(err)
			}
			if event.Kind == client.EventBookmark {
				continue
			}
			seen = append(seen, fmt.Sprintf("%s %s %s", event.Kind, event.Resource.Name, event.Previous["name"]))
			if hasPosition := event.Kind != client.EventListed; hasPosition != (event.Position != "") {
				t.Errorf("the position of %s is %q", event.Kind, event.Position)
			}
			switch event.Kind {
			case client.EventSynced:
				must(users.Create(ctx, User{Name: "Alan", Email: "alan@example.com"}))(t)
			case client.EventCreated:
				if event.Change == nil || !event.Change.At.Equal(event.Resource.CreatedAt) || event.Change.Revision < 1 {
					t.Errorf("got %+v of %+v", event.Change, event.Resource)
				}
				update("Augusta")
			case client.EventUpdated:
				update("Byron")
			case client.EventLeft:
				if event.ID != ada.ID {
					t.Errorf("got %+v", event)
				}
				update("Ada")
			case client.EventEntered:
				must(users.Delete(ctx, ada.ID))(t)
			}
			if event.Kind == client.EventDeleted {
				break
			}
		}
		want := []string{"listed Ada ", "synced  ", "created Alan ", `updated Augusta "Ada"`, "left  ", "entered Ada ", "deleted Ada "}
		if !slices.Equal(seen, want) {
			t.Errorf("got  %q\nwant %q", seen, want)
		}
	})
}

// TestWatchLiveCuts: a connection that is cut again and again, anywhere. A watch gives every change once.
func TestWatchLiveCuts(t *testing.T) {
	eachStore(t, func(t *testing.T, server string) {
		ctx := t.Context()
		var connections atomic.Int64
		_, url := between(t, server, func(w http.ResponseWriter, r *http.Request, forward func(http.ResponseWriter)) {
			if r.Header.Get("Accept") == "text/event-stream" {
				// Enough for the snapshot, and then some bytes more with every connection.
				forward(&cutWriter{ResponseWriter: w, left: 400 + 37*connections.Add(1)})
				return
			}
			forward(w)
		})
		posts := client.Of[Post](connect(t, url), "posts")
		const changes = 40
		var want, got []string
		for event, err := range posts.Watch(ctx) {
			switch {
			case err != nil:
				t.Fatal(err)
			case event.Kind == client.EventSynced:
				for i := range changes {
					want = append(want, fmt.Sprint("post ", i))
					must(posts.Create(ctx, Post{Title: want[i]}))(t)
				}
			case event.Kind == client.EventCreated:
				got = append(got, event.Resource.Title)
			case event.Kind != client.EventBookmark:
				t.Fatalf("got %+v", event)
			}
			if len(got) == changes {
				break
			}
		}
		if !slices.Equal(got, want) || connections.Load() < 5 {
			t.Errorf("of %d connections: got %q", connections.Load(), got)
		}
	})
}

// cutWriter breaks a connection behind so many bytes.
type cutWriter struct {
	http.ResponseWriter
	left int64
}

func (w *cutWriter) Write(p []byte) (int, error) {
	if int64(len(p)) > w.left {
		w.ResponseWriter.Write(p[:w.left])
		http.NewResponseController(w.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	w.left -= int64(len(p))
	return w.ResponseWriter.Write(p)
}

func (w *cutWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// TestWatchLiveRestart: the server is stopped and another one takes its place, of the same database
// at the same address. Nothing is lost or given twice, also of what was written meanwhile.
func TestWatchLiveRestart(t *testing.T) {
	for name, database := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) {
			ctx, url := t.Context(), database(t)
			node := start(t, url, loopback.Address())
			address := node.Listener.Addr().String()
			users := client.Of[User](connect(t, "http://"+address), "users")
			var seen []string
			for event, err := range users.Watch(ctx) {
				if err != nil {
					t.Fatal(err)
				}
				if event.Kind == client.EventBookmark {
					continue
				}
				seen = append(seen, string(event.Kind)+" "+event.Resource.Name)
				switch {
				case event.Kind == client.EventSynced:
					must(users.Create(ctx, User{Name: "Ada", Email: "ada@example.com"}))(t)
				case event.Resource.Name == "Ada":
					node.stop()
					other := start(t, url, loopback.Address())
					must(client.Of[User](connect(t, other.URL), "users").Create(ctx, User{Name: "Bob", Email: "bob@example.com"}))(t)
					other.stop()
					node = start(t, url, address)
					must(users.Create(ctx, User{Name: "Eve", Email: "eve@example.com"}))(t)
				}
				if event.Resource.Name == "Eve" {
					break
				}
			}
			node.stop()
			if want := []string{"synced ", "created Ada", "created Bob", "created Eve"}; !slices.Equal(seen, want) {
				t.Errorf("got %q", seen)
			}
		})
	}
}

// node is a server that can be stopped before the test ends.
type node struct {
	*httptest.Server
	stop func()
}

func start(t *testing.T, database, address string) *node {
	t.Helper()
	server := open(t, database)
	listener := must(net.Listen("tcp", address))(t)
	over := httptest.NewUnstartedServer(server)
	over.Listener.Close()
	over.Listener = listener
	over.Start()
	stopped := false
	stop := func() {
		if stopped {
			return
		}
		stopped = true
		if err := server.Stop(context.Background()); err != nil { // which ends the streams
			t.Error("stopping:", err)
		}
		over.Close()
	}
	t.Cleanup(stop)
	return &node{over, stop}
}

// TestWatchLiveStarts: from a position, from now on, one resource, a sub-collection, the change log, and refusals.
func TestWatchLiveStarts(t *testing.T) {
	eachStore(t, func(t *testing.T, url string) {
		ctx := t.Context()
		c := connect(t, url)
		users := client.Of[User](c, "users")
		ada := must(users.Create(ctx, User{Name: "Ada", Email: "ada@example.com"}))(t)
		long := params.Where("name").Not(strings.Repeat("x", 3000)) // no link has room for it
		for _, given := range [][]params.Param{{}, {params.Where("active").Is(true)}, {long}} {
			now := must(taken(users.Watch(ctx, append(given, params.FromNow())...), 1))(t)
			if len(now) != 1 || now[0].Kind != client.EventSynced || now[0].Position == "" {
				t.Fatalf("got %+v", now)
			}
			bob := must(users.Create(ctx, User{Name: "Bob", Email: "bob@example.com"}))(t)
			since := must(taken(users.Watch(ctx, append(given, params.Since(now[0].Position))...), 1))(t)
			if len(since) != 1 || since[0].Kind != client.EventCreated || since[0].ID != bob.ID {
				t.Errorf("got %+v", since)
			}
			must(users.Delete(ctx, bob.ID))(t)
		}

		posts := client.Of[Post](c, "posts").Under("users", ada.ID)
		for event, err := range posts.Watch(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			if event.Kind == client.EventSynced {
				must(posts.Create(ctx, Post{Title: "Notes"}))(t)
			}
			if event.Kind == client.EventCreated {
				must(posts.Delete(ctx, event.ID))(t)
			}
			if event.Kind == client.EventDeleted {
				break
			}
		}

		log := must(taken(client.Of[json.RawMessage](c, "changes").Watch(ctx), 1))(t)
		if len(log) != 1 || log[0].Kind != client.EventListed || !strings.Contains(string(log[0].Resource), `"resource":{"id":"`+ada.ID+`"`) {
			t.Errorf("got %+v", log)
		}

		var kinds []client.EventKind
		for event, err := range users.WatchOne(ctx, ada.ID) {
			if err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, event.Kind)
			if event.Kind == client.EventSynced {
				must(users.Delete(ctx, ada.ID))(t)
			}
		}
		if want := []client.EventKind{client.EventListed, client.EventSynced, client.EventDeleted}; !slices.Equal(kinds, want) {
			t.Errorf("got %q", kinds)
		}
		if _, err := taken(users.WatchOne(ctx, ada.ID), 1); !client.IsNotFound(err) {
			t.Errorf("got %v", err)
		}
		if _, err := taken(users.Watch(ctx, params.Where("nickname").Is("x")), 1); err == nil || !strings.Contains(err.Error(), "400") {
			t.Errorf("got %v", err)
		}
		if _, err := taken(client.Of[User](c, "operations").Watch(ctx), 1); err == nil || !strings.Contains(err.Error(), "406") {
			t.Errorf("got %v", err)
		}
	})
}
