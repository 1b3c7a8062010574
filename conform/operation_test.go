package conform

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// later is a server that does everything later, with operations as they are given,
// one for each time that one is asked for. The last one stays.
type later struct {
	operations []string
	location   string
	asked      int
}

func (l *later) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasPrefix(r.URL.Path, "/operations/"):
		at := min(l.asked, len(l.operations)-1)
		l.asked++
		_, _ = io.WriteString(w, `{"data":`+l.operations[at]+`}`)
	case r.Method == http.MethodGet && r.URL.Path == "/things":
		_, _ = io.WriteString(w, `{"data":[]}`)
	case r.Method == http.MethodGet:
		w.Header().Set("ETag", `"1"`)
		_, _ = io.WriteString(w, `{"data":{"id":"a","name":"Ada"}}`)
	default:
		w.Header().Set("Location", l.location)
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, `{"data":{"id":"a","type":"things"}}`)
	}
}

func startLater(t *testing.T, server *later) *suite {
	t.Helper()
	listening := httptest.NewServer(server)
	t.Cleanup(listening.Close)
	s, err := newSuite(context.Background(), Options{BaseURL: listening.URL, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	s.collection = collection{Name: "things"}
	return s
}

func operation(status, errors string) string {
	return fmt.Sprintf(`{"id":"o","type":"operations","status":%q,"errors":%s}`, status, errors)
}

// What comes of an accepted write stands for its answer.
func TestSettle(t *testing.T) {
	refused := `[{"status":409,"code":"conflict"}]`
	for name, c := range map[string]struct {
		method, path string
		operations   []string
		status       int
		body         string
		wrong        string // what is said of a server that does it wrong
	}{
		"created":          {"POST", "/things", []string{operation("pending", "null"), operation("running", "null"), operation("succeeded", "null")}, 201, `{"data":{"id":"a","name":"Ada"}}`, ""},
		"changed":          {"PATCH", "/things/a", []string{operation("succeeded", "null")}, 200, `{"data":{"id":"a","name":"Ada"}}`, ""},
		"deleted":          {"DELETE", "/things/a", []string{operation("succeeded", "null")}, 200, `{"data":{"id":"a","type":"things"}}`, ""},
		"failed":           {"PUT", "/things/a", []string{operation("failed", refused)}, 409, `{"errors":[{"code":"conflict","status":409}]}`, ""},
		"without errors":   {"PUT", "/things/a", []string{operation("failed", "[]")}, 0, "", "errors, the first with the status that the answer would have had"},
		"without a status": {"PUT", "/things/a", []string{`{"id":"o"}`}, 0, "", "the operation, with its status"},
	} {
		t.Run(name, func(t *testing.T) {
			s := startLater(t, &later{operations: c.operations, location: "/operations/o"})
			accepted, err := s.send(s.ctx, c.method, c.path, "{}")
			if err != nil {
				t.Fatal(err)
			}
			if len(s.unfinished) != 1 {
				t.Errorf("unfinished: %q", s.unfinished)
			}
			settled, err := s.settle(s.ctx, c.path, accepted)
			if c.wrong != "" {
				if broken, ok := err.(*mistake); !ok || broken.expected != c.wrong {
					t.Errorf("got %v, want %s", err, c.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if settled.status != c.status || string(settled.body) != c.body || settled.request() != c.method+" "+s.base+c.path+"\n{}" {
				t.Errorf("got %s to %s", settled.summary(), settled.request())
			}
			if len(s.unfinished) != 0 {
				t.Errorf("unfinished: %q", s.unfinished)
			}
		})
	}
}

// An operation that does not end is given up, and others after it sooner.
func TestOperationThatDoesNotEnd(t *testing.T) {
	s := startLater(t, &later{operations: []string{operation("pending", "null")}, location: "/operations/o"})
	s.patience = 10 * time.Millisecond
	accepted, err := s.send(s.ctx, http.MethodDelete, "/things/a", "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.await(s.ctx, accepted)
	if broken, ok := err.(*mistake); !ok || broken.expected != "an operation that is finished within 10ms" {
		t.Errorf("got %v", err)
	}
	s.patience = 30 * time.Second
	if s.hurry(); s.patience != time.Second {
		t.Errorf("the next one has %s", s.patience)
	}
}

// A Location elsewhere is not followed: it would be told our headers.
func TestOperationOnAnotherHost(t *testing.T) {
	for _, location := range []string{"", "https://example.com/operations/o", "/things/a", "//example.com/operations/o"} {
		server := &later{operations: []string{operation("succeeded", "null")}, location: location}
		s := startLater(t, server)
		accepted, err := s.send(s.ctx, http.MethodPatch, "/things/a", "{}")
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.await(s.ctx, accepted)
		if broken, ok := err.(*mistake); !ok || broken.expected != "Location, the path of an operation" || broken.answer != accepted {
			t.Errorf("%q: got %v", location, err)
		}
		if server.asked > 0 || len(s.unfinished) > 0 {
			t.Errorf("%q was followed", location)
		}
	}
}

// A server that answers with 202, and has no operations, breaks no rule of the
// seed: what cannot be seen is skipped.
func TestAcceptedWithoutOperations(t *testing.T) {
	server := httptest.NewServer(&later{})
	defer server.Close()
	for _, async := range []bool{false, true} {
		report, err := Run(context.Background(), Options{
			BaseURL: server.URL, Collection: "things", Sample: json.RawMessage(`{"name":"Ada"}`), SeedOnly: true, Async: async, Only: []string{"create", "patch", "put"},
		})
		if err != nil {
			t.Fatal(err)
		}
		passed := []string{"create.status", "create.accepted", "patch.status", "put.status"}
		if async {
			passed = []string{"create.accepted"}
		}
		if got := report.IDs(Passed); !slices.Equal(got, passed) || report.Count(Failed) > 0 {
			t.Errorf("passed: %q, failed: %q", got, report.IDs(Failed))
		}
	}
}

func TestReadOnlyAndAsync(t *testing.T) {
	_, err := Run(context.Background(), Options{BaseURL: "http://127.0.0.1:1", ReadOnly: true, Async: true})
	if err == nil || err.Error() != "a read-only run has nothing to do asynchronously" {
		t.Errorf("got %v", err)
	}
}

// Checks that look at no list do not need a long one.
func TestFixtureIsNoLargerThanNeeded(t *testing.T) {
	for _, c := range []struct {
		options Options
		want    int
	}{
		{Options{}, fixtureSize}, {Options{Only: []string{"range.zero-based"}}, fixtureSize}, {Options{Only: []string{"create", "etag"}}, smallFixture}, {Options{Async: true}, smallFixture},
	} {
		selected, err := selection(c.options)
		if err != nil {
			t.Fatal(err)
		}
		if got := sizeFor(selected); got != c.want {
			t.Errorf("%+v: got %d, want %d", c.options, got, c.want)
		}
	}
}
