package plural_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// inBubble runs a test on a clock that moves only when everybody waits.
func inBubble(t *testing.T, test func(t *testing.T, server *plural.Server), hooks ...plural.Hook) {
	synctest.Test(t, func(t *testing.T) {
		server := openLibraryIn(t.TempDir(), hooks...)
		defer server.Stop(context.Background())
		test(t, server)
	})
}

func TestStopWaitsForCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		entered, release := make(chan struct{}), make(chan struct{})
		server, end := openLibrary(plural.Hook{Collection: "authors", Before: func(context.Context, *plural.Change) error {
			close(entered)
			<-release
			return nil
		}})
		authors := of[Author](server)
		created, stopped := make(chan error, 1), make(chan struct{})
		go func() {
			_, err := authors.Create(context.Background(), Author{Name: "Ada"})
			created <- err
		}()
		<-entered
		go func() {
			end()
			close(stopped)
		}()
		synctest.Wait()
		select {
		case <-stopped:
			t.Error("stopped during a call")
		default:
		}
		close(release)
		if err := <-created; err != nil {
			t.Errorf("the call that was accepted: %v", err)
		}
		<-stopped
	})
}

// Operations that were begun come to their end too, with all that their hooks do.
func TestHooksOfOperationsCallWhileTheServerStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		entered, release, called := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		var server *plural.Server
		server = openLibraryIn(t.TempDir(), plural.Hook{Collection: "authors", After: func(ctx context.Context, change *plural.Change) {
			close(entered)
			<-release
			_, err := of[Author](server).Get(ctx, change.ID)
			called <- err
		}})
		r := httptest.NewRequest("POST", "/authors", strings.NewReader(`{"name":"Ada"}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Prefer", "respond-async")
		w := httptest.NewRecorder()
		if server.ServeHTTP(w, r); w.Code != 202 {
			t.Fatalf("got %d %s", w.Code, w.Body)
		}
		<-entered
		stopped := make(chan error)
		go func() { stopped <- server.Stop(context.Background()) }()
		synctest.Wait()
		close(release)
		if err := <-called; err != nil {
			t.Error(err)
		}
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
}

func TestCallsAfterStopAreRefused(t *testing.T) {
	server, end := openLibrary()
	authors := of[Author](server)
	end()
	ctx, id := context.Background(), "01936f2e-7d3c-7a4b-9c5d-0123456789ab"
	for name, call := range map[string]func() error{
		"Create":     func() error { _, err := authors.Create(ctx, Author{Name: "Ada"}); return err },
		"CreateMany": func() error { _, err := authors.CreateMany(ctx, []Author{{Name: "Ada"}}); return err },
		"Get":        func() error { _, err := authors.Get(ctx, id); return err },
		"Replace":    func() error { _, err := authors.Replace(ctx, id, Author{Name: "Ada"}); return err },
		"Update":     func() error { _, err := authors.Update(ctx, id, nil); return err },
		"Delete":     func() error { _, err := authors.Delete(ctx, id); return err },
		"Total":      func() error { _, err := authors.Total(ctx); return err },
		"All": func() (last error) {
			for _, err := range authors.All(ctx) {
				last = err
			}
			return last
		},
	} {
		if err := call(); err == nil || err.Error() != "unavailable: The server is shutting down. Try again later." {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A loop that is in the middle when Stop has waited long enough ends there.
func TestStopBreaksOffALoop(t *testing.T) {
	inBubble(t, func(t *testing.T, server *plural.Server) {
		ctx := context.Background()
		authors := of[Author](server)
		if _, err := authors.CreateMany(ctx, []Author{{Name: "a"}, {Name: "b"}, {Name: "c"}}); err != nil {
			t.Fatal(err)
		}
		var seen []string
		var last error
		for author, err := range authors.All(ctx) {
			if last = err; err != nil {
				break
			}
			if seen = append(seen, author.Name); len(seen) == 1 {
				given, cancel := context.WithCancel(ctx)
				cancel()
				go server.Stop(given)
				synctest.Wait()
			}
		}
		if strings.Join(seen, " ") != "a" || last == nil || last.Error() != "unavailable: The server is shutting down. Try again later." {
			t.Errorf("saw %v, and then %v", seen, last)
		}
	})
}

// Loops within loops take a connection each. When there are no more, the next one
// says so after a while, and single resources can still be read.
func TestNestedLoopsUseAConnectionEach(t *testing.T) {
	inBubble(t, func(t *testing.T, server *plural.Server) {
		ctx := context.Background()
		authors := of[Author](server)
		ada, err := authors.Create(ctx, Author{Name: "Ada"})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		var nest func(depth int) (int, error)
		nest = func(depth int) (int, error) {
			for _, err := range authors.All(ctx) {
				if err != nil {
					if _, other := authors.Get(ctx, ada.ID); other != nil {
						t.Error(other)
					}
					return depth, err
				}
				return nest(depth + 1)
			}
			return depth, nil
		}
		depth, err := nest(0)
		var busy *problem.Error
		if depth != 96 || !errors.As(err, &busy) || busy.Code != "unavailable" || time.Since(began) != db.MaxWait {
			t.Errorf("after %s, %d loops deep: %v", time.Since(began), depth, err)
		}
	})
}

// A hook that is quick by itself is slow a thousand times over: there is a limit
// to what all of them take, at each of the three moments.
func TestHooksOfARequestHaveATotalTime(t *testing.T) {
	const each, most = 4 * time.Second, 30 * time.Second
	values := make([]Author, 1000)
	for i := range values {
		values[i].Name = strings.Repeat("x", i/50) + string(rune('a'+i%50))
	}
	slow := func(ran *atomic.Int64) {
		ran.Add(1)
		time.Sleep(each)
	}
	for moment, hook := range map[string]func(ran *atomic.Int64) plural.Hook{
		"before": func(ran *atomic.Int64) plural.Hook {
			return plural.Hook{Before: func(context.Context, *plural.Change) error { slow(ran); return nil }}
		},
		"within": func(ran *atomic.Int64) plural.Hook {
			return plural.Hook{Within: func(context.Context, *plural.Tx, *plural.Change) error { slow(ran); return nil }}
		},
		"after": func(ran *atomic.Int64) plural.Hook {
			return plural.Hook{After: func(context.Context, *plural.Change) { slow(ran) }}
		},
	} {
		t.Run(moment, func(t *testing.T) {
			var ran atomic.Int64
			made := hook(&ran)
			made.Collection = "authors"
			inBubble(t, func(t *testing.T, server *plural.Server) {
				ctx, began := context.Background(), time.Now()
				authors := of[Author](server)
				_, err := authors.CreateMany(ctx, values)
				if took := time.Since(began); took != most {
					t.Errorf("it took %s", took)
				}
				if ran.Load() != 8 {
					t.Errorf("%d hooks ran", ran.Load())
				}
				total, wrong := authors.Total(ctx)
				if wrong != nil {
					t.Fatal(wrong)
				}
				want := "hook_timeout: A hook of this server took too long. Try again later. (the hooks of a request took longer than 30s)"
				if moment == "after" { // when nothing can be undone
					if err != nil || total != 1000 {
						t.Errorf("%d were created, %v", total, err)
					}
				} else if err == nil || err.Error() != want || total != 0 {
					t.Errorf("%d were created, %v", total, err)
				}
				time.Sleep(each) // the last hook comes to its end
			}, made)
		})
	}
}

// What a hook calls for, the client has not asked for.
func TestErrorsOfCallsAreNotThoseOfTheRequest(t *testing.T) {
	var server *plural.Server
	server, end := openLibrary(plural.Hook{Collection: "authors", Before: func(ctx context.Context, _ *plural.Change) error {
		_, err := of[Book](server).Get(ctx, "01936f2e-7d3c-7a4b-9c5d-0123456789ab")
		return err
	}})
	defer end()
	r := httptest.NewRequest("POST", "/authors", strings.NewReader(`{"name":"Ada"}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	server.ServeHTTP(w, r)
	want := `{"errors":[{"status":500,"code":"internal","title":"Internal error","detail":"The server failed to answer this request. The log has the reason under this request id."}]}`
	if w.Code != 500 || w.Body.String() != want {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

// TestWatchEndsWithASchemaThatCannotBeRead: it does not subscribe again and again.
func TestWatchEndsWithASchemaThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		server := openLibraryIn(dir)
		defer server.Stop(context.Background())
		var got []string
		for event, err := range server.Watch(context.Background(), "authors") {
			if err != nil {
				got = append(got, err.Error())
				continue
			}
			got = append(got, string(event.Kind))
			reviews, err := schema.Of[Review]()
			must(err)
			declared, err := schema.New(reviews)
			must(err)
			_, err = admin.Migrate(context.Background(), "sqlite:"+filepath.Join(dir, "library.db"), declared, admin.MigrateOptions{AllowLoss: true})
			must(err)
		}
		want := []string{"synced", "unavailable: The schema of the database has changed since the server was started. Restart the server with that schema."}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// Review is the only resource of another schema.
type Review struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// TestBookmarks: every fourth heartbeat is a bookmark, and no minute passes without one.
func TestBookmarks(t *testing.T) {
	for heartbeat, want := range map[time.Duration]string{
		10 * time.Second: "10s:, 20s:, 30s:, 40s bookmark, 50s:, 1m0s:, 1m10s:, 1m20s bookmark, 1m30s:, 1m40s:, 1m50s:, 2m0s bookmark",
		15 * time.Second: "15s:, 30s:, 45s:, 1m0s bookmark, 1m15s:, 1m30s:, 1m45s:, 2m0s bookmark",
		25 * time.Second: "25s:, 50s bookmark, 1m15s:, 1m40s bookmark, 2m5s:",
		time.Minute:      "1m0s bookmark, 2m0s bookmark",
		90 * time.Second: "1m0s bookmark, 2m0s bookmark",
	} {
		synctest.Test(t, func(t *testing.T) {
			authors, err := schema.Of[Author]()
			must(err)
			declared, err := schema.New(authors)
			must(err)
			server, err := plural.Open(context.Background(), plural.Config{
				Schema: declared, Database: "sqlite:" + filepath.Join(t.TempDir(), "library.db"), Logger: slog.New(slog.DiscardHandler), StreamHeartbeat: heartbeat,
			})
			must(err)
			defer server.Stop(context.Background())
			ctx, cancel := context.WithTimeout(context.Background(), 129*time.Second)
			defer cancel()
			r := httptest.NewRequest("GET", "/authors", nil).WithContext(ctx)
			r.Header.Set("Accept", "text/event-stream")
			w := &timedWriter{ResponseRecorder: httptest.NewRecorder(), began: time.Now()}
			server.ServeHTTP(w, r)
			if got := strings.Join(w.pieces, ", "); got != "0s synced, "+want {
				t.Errorf("with %s\ngot  %s\nwant 0s synced, %s", heartbeat, got, want)
			}
		})
	}
}

// timedWriter notes when each piece of a stream was written, and the name of its event.
type timedWriter struct {
	*httptest.ResponseRecorder
	began  time.Time
	pieces []string
}

func (w *timedWriter) Write(piece []byte) (int, error) {
	line, _, _ := strings.Cut(string(piece), "\n")
	w.pieces = append(w.pieces, time.Since(w.began).String()+strings.TrimPrefix(line, "event:"))
	return len(piece), nil
}
