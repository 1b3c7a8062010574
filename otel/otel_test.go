package otel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/internal/otlptest"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/otel"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// node is a server with traces.
type node struct {
	*plural.Server
	t      *testing.T
	log    *safeBuffer
	traces *otel.Traces
	stop   func()
}

// safeBuffer is a log that several goroutines write.
type safeBuffer struct {
	mutex sync.Mutex
	bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.Buffer.Write(p)
}

func (b *safeBuffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.Buffer.String()
}

// newNode starts a server with the traces of the environment. Stop sends the last spans.
func newNode(t *testing.T, config plural.Config) *node {
	t.Helper()
	n := &node{t: t, log: &safeBuffer{}}
	config.Logger = slog.New(slog.NewTextHandler(n.log, nil))
	if config.Schema == nil {
		config.Schema = schema.Example()
	}
	var err error
	if n.traces, err = otel.FromEnvironment(t.Context(), config.Logger); err != nil {
		t.Fatal(err)
	}
	config.Tracer = n.traces.Tracer()
	if n.Server, err = plural.Open(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	n.stop = sync.OnceFunc(func() {
		if err := n.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		if err := n.traces.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(n.stop)
	return n
}

// do sends a request, with headers as name: value, and returns the response.
func (n *node) do(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	n.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, each := range headers {
		name, value, _ := strings.Cut(each, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	n.ServeHTTP(w, r)
	return w
}

const (
	parentSpan = "00f067aa0ba902b7"
	ada        = "01936f2e-7d3c-7a4b-9c5d-000000000001"
	newAda     = `{"id":"` + ada + `","name":"Ada","email":"ada@example.com"}`
)

// traceOf is the n-th trace of a test, and its traceparent, which is sampled.
func traceOf(n int) (id, header string) {
	id = fmt.Sprintf("0af7651916cd43dd8448eb211c8031%02x", n)
	return id, "traceparent: 00-" + id + "-" + parentSpan + "-01"
}

func eachDatabase(t *testing.T, test func(t *testing.T, kind, url string)) {
	for kind, url := range pgtest.Databases() {
		t.Run(kind, func(t *testing.T) { test(t, kind, url(t)) })
	}
}

func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("%s:\ngot\n%s\nwant\n%s", what, got, want)
	}
}

// operation is the trace of a write that was accepted for later.
const operation = `
  server POST /users
    client SELECT _plural_queue
    client SELECT users
    client SELECT _plural_queue
    internal hook within create users
      client SELECT users
    client INSERT users
    client INSERT operations
    client SELECT _plural_queue
    client INSERT _plural_queue
    internal commit
    consumer operation POST users
      internal hook before create users
      client UPDATE _plural_queue
      internal hook within create users
        client SELECT users
      client INSERT users
      client SELECT operations
      client BATCH INSERT _plural_changes
      client UPDATE _plural_queue
      client DELETE _plural_followers
      client DELETE _plural_queue
      internal commit
      internal hook after create users`

// TestTraces compares whole traces: of a read, of a write with hooks, of a transaction, and of an operation with the request that was
// accepted.
func TestTraces(t *testing.T) {
	eachDatabase(t, func(t *testing.T, kind, url string) {
		c := otlptest.New(t)
		finished := make(chan bool)
		n := newNode(t, plural.Config{Database: url, Hooks: []plural.Hook{{
			Collection: "users", On: []plural.Verb{plural.Create},
			Before: func(context.Context, *plural.Change) error { return nil },
			Within: func(ctx context.Context, tx *plural.Tx, change *plural.Change) error {
				_, err := tx.Get("users", ada)
				if fault := (&problem.Error{}); errors.As(err, &fault) && fault.Code == problem.CodeNotFound {
					err = nil
				}
				return err
			},
			After: func(_ context.Context, change *plural.Change) {
				if change.After.Get("name") == "Later" {
					close(finished)
				}
			},
		}}})
		point := map[string]string{"sqlite": "sqlite_sequence", "postgres": "_plural_ticks"}[kind] // what says which changes a snapshot has
		requests := []struct{ method, path, body, prefer, want string }{
			{"POST", "/users", newAda, "", `
  server POST /users
    internal hook before create users
    internal hook within create users
      client SELECT users
    client INSERT users
    internal commit
    internal hook after create users`},
			{"GET", "/users/" + ada, "", "", `
  server GET /users/{id}
    client SELECT users`},
			{"GET", "/users?filter[name]=Ada&limit=2", "", "", `
  server GET /users
    client SELECT ` + point + `
    client SELECT users`},
			{"POST", "/-/transaction", `[{"method":"PATCH","path":"/users/` + ada + `","body":{"name":"Ada L"}},{"method":"DELETE","path":"/users/` + ada + `"}]`, "", `
  server POST /-/transaction
    client SELECT users
    client BATCH INSERT _plural_changes
    client SELECT users
    client SELECT posts
    client SELECT
    client INSERT _plural_changes
    client DELETE users
    internal commit`},
			{"POST", "/users", `{"name":"Later","email":"later@example.com"}`, "respond-async", operation},
			{"POST", "/users", `{"name":"Now","email":"now@example.com"}`, "respond-async, wait=600", operation},
			{"POST", "/users", `{"name":1}`, "", `
  server POST /users`},
			{"GET", "/nothing/here", "", "", `
  server GET`},
			{"PROPFIND", "/users", "", "", `
  server HTTP /users`},
			{"GET", "/-/health", "", "", ""},
			{"GET", "/-/ready", "", "", ""},
			{"GET", "/-/metrics", "", "", ""},
		}
		for i, each := range requests {
			_, header := traceOf(i)
			if w := n.do(each.method, each.path, each.body, header, "Prefer: "+each.prefer); w.Code >= 500 {
				t.Fatal(w.Body)
			}
		}
		<-finished
		n.stop()
		var traces []string // of these requests, and of no work of the server
		for i, each := range requests {
			id, _ := traceOf(i)
			if each.want != "" {
				traces = append(traces, id)
			}
			// The ids that were made are marked from time to time, with whatever is written then.
			got := strings.ReplaceAll(c.Tree(id), "    client UPDATE _plural_meta\n", "")
			if each.want != "" {
				each.want = "[" + parentSpan + "]" + each.want
			}
			expect(t, each.method+" "+each.path, got, each.want)
		}
		if got := c.Traces(); !slices.Equal(got, traces) {
			t.Errorf("there are the traces %v, want %v", got, traces)
		}
	})
}
