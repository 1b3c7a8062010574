package plural_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/internal/terminal"
	"github.com/plural-go/plural/schema"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// A request all the way through the server, without the network: what Plural adds
// to net/http, with the log and the metrics of the command. It reports the processor time of this
// process, without that of PostgreSQL.
func BenchmarkRequests(b *testing.B) {
	for name, database := range pgtest.Databases() {
		server, err := plural.Open(b.Context(), plural.Config{
			Schema: schema.Example(), Database: database(b), Logger: slog.New(slog.NewTextHandler(terminal.Visibly{Out: io.Discard}, nil)),
		})
		if err != nil {
			b.Fatal(err)
		}
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
		for kind, path := range map[string]string{
			"get": "/users/" + fmt.Sprintf(id, 7), "list": "/users?limit=30", "filter": "/users?filter[active]&limit=30", "offset": "/users?offset=900&limit=30",
		} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				b.ReportAllocs()
				asked := httptest.NewRequest("GET", path, nil)
				before := processorTime(b)
				for range b.N {
					out := &discard{header: http.Header{}}
					if server.ServeHTTP(out, asked); out.status != http.StatusOK {
						b.Fatal(out.status)
					}
				}
				b.ReportMetric(float64((processorTime(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
			})
		}
		if err := server.Stop(b.Context()); err != nil {
			b.Error(err)
		}
	}
}

// Creates and updates by many at the same time, who share commits. It reports the processor time of this
// process, without that of PostgreSQL.
func BenchmarkWrites(b *testing.B) {
	for name, database := range pgtest.Databases() {
		server, err := plural.Open(b.Context(), plural.Config{
			Schema: schema.Example(), Database: database(b), Logger: slog.New(slog.NewTextHandler(terminal.Visibly{Out: io.Discard}, nil)),
		})
		if err != nil {
			b.Fatal(err)
		}
		var serial atomic.Int64
		const id, known = "01936f2e-7d3c-7a4b-9c5d-%012x", 1000
		write := func(b *testing.B, method, path, body string, want int) {
			asked := httptest.NewRequest(method, path, strings.NewReader(body))
			asked.Header.Set("Content-Type", "application/json")
			out := &discard{header: http.Header{}}
			if server.ServeHTTP(out, asked); out.status != want {
				b.Error(out.status)
			}
		}
		for i := range known {
			write(b, "POST", "/users", fmt.Sprintf(`{"id":"`+id+`","name":"Ada","email":"ada@example.com"}`, i), http.StatusCreated)
		}
		for _, kind := range []struct {
			name  string
			write func(b *testing.B, n int64)
		}{
			{"create", func(b *testing.B, n int64) {
				write(b, "POST", "/users", fmt.Sprintf(`{"name":"Ada","email":"%d@example.com","active":true}`, n), http.StatusCreated)
			}},
			{"patch", func(b *testing.B, n int64) {
				write(b, "PATCH", "/users/"+fmt.Sprintf(id, n%known), fmt.Sprintf(`{"name":"Ada %d"}`, n), http.StatusOK)
			}},
		} {
			b.Run(name+"/"+kind.name, func(b *testing.B) {
				b.SetParallelism(64 / runtime.GOMAXPROCS(0))
				b.ReportAllocs()
				before := processorTime(b)
				b.RunParallel(func(loop *testing.PB) {
					for loop.Next() {
						kind.write(b, serial.Add(1))
					}
				})
				b.ReportMetric(float64((processorTime(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
			})
		}
		if err := server.Stop(b.Context()); err != nil {
			b.Error(err)
		}
	}
}

func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// discard takes an answer and keeps its status.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(status int)      { d.status = status }
