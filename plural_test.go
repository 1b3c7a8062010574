package plural_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// A schema in Go code, served without a port of its own.
func ExampleOpen() {
	books, err := schema.New(schema.Collection{
		Name: "books",
		Attributes: []schema.Attribute{
			{Name: "title", Type: schema.String, Required: true},
			{Name: "pages", Type: schema.Integer, Minimum: "1"},
		},
		NoTimestamps: true,
	})
	if err != nil {
		panic(err)
	}
	dir, _ := os.MkdirTemp("", "plural")
	defer os.RemoveAll(dir)
	server, err := plural.Open(context.Background(), plural.Config{
		Schema: books, Database: "sqlite:" + filepath.Join(dir, "books.db"), Prefix: "/api", Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		panic(err)
	}
	defer server.Stop(context.Background())

	r := httptest.NewRequest("POST", "/api/books", strings.NewReader(`{"id":"01936f2e-7d3c-7a4b-9c5d-0123456789ab","title":"Middlemarch"}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	server.ServeHTTP(w, r)
	fmt.Println(w.Code, w.Header().Get("Location"))
	fmt.Println(w.Body)
	// Output:
	// 201 /api/books/01936f2e-7d3c-7a4b-9c5d-0123456789ab
	// {"data":{"id":"01936f2e-7d3c-7a4b-9c5d-0123456789ab","type":"books","title":"Middlemarch","pages":null}}
}

func TestOpenReportsAllInvalidSettings(t *testing.T) {
	_, err := plural.Open(context.Background(), plural.Config{MaxBody: -1, IdleTimeout: -time.Second, Prefix: "api/"})
	want := `MaxBody must not be negative, but is -1
IdleTimeout must not be negative, but is -1s
the Prefix must be a path such as /api/v1, but is "api/"`
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// TestInvalidOriginsAndProxies: what would never be met is a mistake, and says so.
func TestInvalidOriginsAndProxies(t *testing.T) {
	for _, origin := range []string{"https://app.example.com/", "https://*.example.com", "app.example.com", "null", "", "HTTPS://app.example.com", "https://a@app.example.com"} {
		_, err := plural.Open(t.Context(), plural.Config{AllowedOrigins: []string{"*", "https://app.example.com", "http://localhost:3000", origin}})
		want := fmt.Sprintf("an allowed origin must be * or as browsers send it, such as https://app.example.com, without a path or a slash at its end, but is %q", origin)
		if err == nil || err.Error() != want {
			t.Errorf("got %v", err)
		}
	}
	_, err := plural.Open(t.Context(), plural.Config{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::ffff:10.0.0.1/128")}})
	if want := "a trusted proxy must be an address or a block of addresses, and of IPv4 as in 10.0.0.0/8, but is ::ffff:10.0.0.1/128"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestStartAndStop(t *testing.T) {
	server, err := plural.Open(context.Background(), plural.Config{Database: "sqlite:" + filepath.Join(t.TempDir(), "test.db"), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	addr, err := server.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := server.Start("127.0.0.1:0"); err == nil {
		t.Error("started twice")
	}
	// The database has two seconds to respond, which a busy machine may exceed.
	for deadline := time.Now().Add(5 * time.Minute); ; {
		response, err := http.Get("http://" + addr.String() + "/-/ready")
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode == 200 {
			break
		}
		if response.StatusCode != 503 || time.Now().After(deadline) {
			t.Fatal(response)
		}
	}
	for range 2 {
		if err := server.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}
	if _, err := server.Start("127.0.0.1:0"); err == nil {
		t.Error("started after it was stopped")
	}
	// A handler that outlives its server says so instead of failing.
	for path, want := range map[string]int{"/-/health": 200, "/-/ready": 503} {
		w := httptest.NewRecorder()
		if server.ServeHTTP(w, httptest.NewRequest("GET", path, nil)); w.Code != want {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

func TestReadsAfterStopAreRefused(t *testing.T) {
	server, err := plural.Open(context.Background(), plural.Config{Database: "sqlite:" + filepath.Join(t.TempDir(), "test.db"), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, r := range []*http.Request{
		httptest.NewRequest("GET", "/users", nil),
		httptest.NewRequest("DELETE", "/users/01936f2e-7d3c-7a4b-9c5d-0123456789ab", nil),
	} {
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		want := `{"errors":[{"status":503,"code":"unavailable","title":"Not available at the moment","detail":"The server is shutting down. Try again later."}]}`
		if w.Code != 503 || w.Body.String() != want || w.Header().Get("Retry-After") != "5" {
			t.Errorf("%s: %d %v %s", r.Method, w.Code, w.Header(), w.Body)
		}
	}
}

// Stop does not wait for ever for a client that takes its time, whether the
// server has an address of its own or is mounted in another one.
func TestStopBreaksOffWhatTakesTooLong(t *testing.T) {
	t.Parallel()
	for _, mounted := range []bool{true, false} {
		t.Run(fmt.Sprint("mounted ", mounted), func(t *testing.T) {
			t.Parallel()
			server, err := plural.Open(context.Background(), plural.Config{
				Database: "sqlite:" + filepath.Join(t.TempDir(), "test.db"), Logger: slog.New(slog.DiscardHandler), WriteTimeout: 5 * time.Second,
			})
			if err != nil {
				t.Fatal(err)
			}
			base := ""
			if mounted {
				outer := httptest.NewServer(server)
				defer outer.Close()
				base = outer.URL
			} else {
				addr, err := server.Start("127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				base = "http://" + addr.String()
			}
			createMuch(t, base)
			response, err := http.Get(base + "/users?limit=1000000")
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close() // which is never read
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			if err := server.Stop(ctx); err == nil {
				t.Error("stopped as if the answer had been sent")
			}
		})
	}
}

// createMuch creates 11 MB of users: more than the buffers between a server and
// a client hold.
func createMuch(t *testing.T, base string) {
	t.Helper()
	item := `{"name":"` + strings.Repeat("x", 1000) + `","email":"ada@example.com"}`
	for range 12 {
		response, err := http.Post(base+"/users", "application/json", strings.NewReader("["+strings.Repeat(item+",", 899)+item+"]"))
		if err != nil || response.StatusCode != 201 {
			t.Fatal(response, err)
		}
		response.Body.Close()
	}
}

// A list is sent as it is read: while its client takes nothing, the server holds
// a piece of it, and not all.
func TestListIsNeverHeldInMemory(t *testing.T) {
	server, err := plural.Open(context.Background(), plural.Config{
		Database: "sqlite:" + filepath.Join(t.TempDir(), "test.db"), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop(context.Background())
	outer := httptest.NewServer(server)
	defer outer.Close()
	createMuch(t, outer.URL)

	heap := func() uint64 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	before := heap()
	response, err := http.Get(outer.URL + "/users?limit=1000000")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if after := heap(); after > before+8<<20 {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
}

// Requests may come while the server is stopped: each is answered, one way or the
// other.
func TestStopUnderRequests(t *testing.T) {
	server, err := plural.Open(context.Background(), plural.Config{
		Database: "sqlite:" + filepath.Join(t.TempDir(), "test.db"), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	stopped := make(chan struct{})
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for {
				w := httptest.NewRecorder()
				server.ServeHTTP(w, httptest.NewRequest("GET", "/users", nil))
				if w.Code != 200 && w.Code != 503 {
					t.Errorf("%d %s", w.Code, w.Body)
				}
				select {
				case <-stopped:
					return
				default:
				}
			}
		})
	}
	if err := server.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	close(stopped)
	clients.Wait()
}
