package plural_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// A request all the way through the server, without the network: what Plural adds
// to net/http, with the log and the metrics of the command.
func BenchmarkRequests(b *testing.B) {
	server, err := plural.Open(b.Context(), plural.Config{
		Schema: schema.Example(), Database: "sqlite:" + filepath.Join(b.TempDir(), "test.db"),
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		b.Fatal(err)
	}
	defer server.Stop(b.Context())
	const id = "01936f2e-7d3c-7a4b-9c5d-%012x"
	body := &strings.Builder{}
	for i := range 1000 {
		fmt.Fprintf(body, `,{"id":"`+id+`","name":"User %d","email":"user%d@example.com","active":true}`, i, i, i)
	}
	created := httptest.NewRequest("POST", "/users", strings.NewReader("["+body.String()[1:]+"]"))
	created.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	if server.ServeHTTP(answer, created); answer.Code != http.StatusCreated {
		b.Fatal(answer.Body)
	}
	for _, path := range []string{"/users/" + fmt.Sprintf(id, 7), "/users?limit=30", "/users?filter[active]&limit=30", "/users?offset=900&limit=30"} {
		b.Run(path, func(b *testing.B) {
			b.ReportAllocs()
			asked := httptest.NewRequest("GET", path, nil)
			for b.Loop() {
				out := &discard{header: http.Header{}}
				if server.ServeHTTP(out, asked); out.status != http.StatusOK {
					b.Fatal(out.status)
				}
			}
		})
	}
}

// Creates by many at the same time, who share commits.
func BenchmarkCreates(b *testing.B) {
	server, err := plural.Open(b.Context(), plural.Config{
		Schema: schema.Example(), Database: "sqlite:" + filepath.Join(b.TempDir(), "test.db"),
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		b.Fatal(err)
	}
	defer server.Stop(b.Context())
	var serial atomic.Int64
	b.SetParallelism(64 / runtime.GOMAXPROCS(0))
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(loop *testing.PB) {
		for loop.Next() {
			body := fmt.Sprintf(`{"name":"Ada","email":"%d@example.com","active":true}`, serial.Add(1))
			asked := httptest.NewRequest("POST", "/users", strings.NewReader(body))
			asked.Header.Set("Content-Type", "application/json")
			out := &discard{header: http.Header{}}
			if server.ServeHTTP(out, asked); out.status != http.StatusCreated {
				b.Error(out.status)
			}
		}
	})
}

// discard takes an answer and keeps its status.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(status int)      { d.status = status }
