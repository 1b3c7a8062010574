package suite

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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

func startLater(t *testing.T, server *later) *Suite {
	t.Helper()
	listening := httptest.NewServer(server)
	t.Cleanup(listening.Close)
	s, err := NewSuite(context.Background(), Options{BaseURL: listening.URL, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	s.Collection = Collection{Name: "things"}
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
			accepted, err := s.send(s.Ctx, c.method, c.path, "{}")
			if err != nil {
				t.Fatal(err)
			}
			if len(s.unfinished) != 1 {
				t.Errorf("unfinished: %q", s.unfinished)
			}
			settled, err := s.settle(s.Ctx, c.path, accepted)
			if c.wrong != "" {
				if broken, ok := err.(*mistake); !ok || broken.expected != c.wrong {
					t.Errorf("got %v, want %s", err, c.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if settled.Status != c.status || string(settled.Body) != c.body || settled.request() != c.method+" "+s.Base+c.path+"\n{}" {
				t.Errorf("got %s to %s", settled.Summary(), settled.request())
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
	s.operationTimeout = 10 * time.Millisecond
	accepted, err := s.send(s.Ctx, http.MethodDelete, "/things/a", "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.await(s.Ctx, accepted)
	if broken, ok := err.(*mistake); !ok || broken.expected != "an operation that is finished within 10ms" {
		t.Errorf("got %v", err)
	}
	s.operationTimeout = 30 * time.Second
	if s.shortenTimeout(); s.operationTimeout != time.Second {
		t.Errorf("the next one has %s", s.operationTimeout)
	}
}

// A Location elsewhere is not followed: it would be told our headers.
func TestOperationOnAnotherHost(t *testing.T) {
	for _, location := range []string{"", "https://example.com/operations/o", "/things/a", "//example.com/operations/o"} {
		server := &later{operations: []string{operation("succeeded", "null")}, location: location}
		s := startLater(t, server)
		accepted, err := s.send(s.Ctx, http.MethodPatch, "/things/a", "{}")
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.await(s.Ctx, accepted)
		if broken, ok := err.(*mistake); !ok || broken.expected != "Location, the path of an operation" || broken.answer != accepted {
			t.Errorf("%q: got %v", location, err)
		}
		if server.asked > 0 || len(s.unfinished) > 0 {
			t.Errorf("%q was followed", location)
		}
	}
}
