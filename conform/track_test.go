package conform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/conform/internal/suite"
)

// fakeServer is a server with one collection, that answers POST as it likes.
type fakeServer struct {
	ids     []string // in the order of creation
	created func(t *fakeServer, id string) string
	largest int      // limit, 0 for any
	written []string // paths that were written to, other than by POST
	whole   []string // writes to the collection, other than POST: method, query and body
	ranges  bool     // it answers PATCH of a range with what the filter selects
}

func (t *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	collection, id, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	var offset, limit int
	_, _ = fmt.Sscan(r.FormValue("offset"), &offset)
	_, _ = fmt.Sscan(r.FormValue("limit"), &limit)
	at := slices.Index(t.ids, id)
	switch {
	case collection != "things" || r.Method == http.MethodGet && (id != "" && at < 0 || t.largest > 0 && limit > t.largest):
		w.WriteHeader(http.StatusNotFound)
	case id == "" && (r.Method == http.MethodPatch || r.Method == http.MethodDelete || r.Method == http.MethodPut):
		body, _ := io.ReadAll(r.Body)
		t.whole = append(t.whole, strings.TrimSpace(r.Method+" "+r.URL.RawQuery+" "+string(body)))
		all := t.ids
		if t.ranges {
			all = []string{r.URL.Query().Get("filter[id]")}
			w.Header().Set("X-Affected", "things=1")
		}
		_, _ = io.WriteString(w, `{"data":`+representations(all)+`}`)
	case r.Method == http.MethodPost && id == "":
		id = fmt.Sprintf("new-%d", len(t.ids))
		t.ids = append(t.ids, id)
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"data":`+t.created(t, id)+`}`)
	case r.Method == http.MethodGet && id == "":
		from := min(max(offset, 0), len(t.ids))
		to := len(t.ids)
		if limit > 0 {
			to = min(from+limit, to)
		}
		_, _ = io.WriteString(w, `{"data":`+representations(t.ids[from:to])+`}`)
	case r.Method == http.MethodGet:
		_, _ = io.WriteString(w, `{"data":`+representation(id)+`}`)
	case r.Method == http.MethodDelete && at >= 0:
		t.ids = slices.Delete(t.ids, at, at+1)
		fallthrough
	default:
		t.written = append(t.written, r.RequestURI)
	}
}

func representation(id string) string {
	return suite.EncodeJSON(map[string]any{"id": id, "name": "Ada"})
}

func representations(ids []string) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = representation(id)
	}
	return "[" + strings.Join(texts, ",") + "]"
}

func (t *fakeServer) run(test *testing.T, only ...string) *Report {
	test.Helper()
	server := httptest.NewServer(t)
	defer server.Close()
	report, err := Run(context.Background(), Options{
		BaseURL: server.URL, Collection: "things", Sample: json.RawMessage(`{"name":"Ada"}`), Only: only, Client: server.Client(),
	})
	if err != nil {
		test.Fatal(err)
	}
	return report
}

var updates = []string{"patch", "put", "delete", "create"}

// What was there before a run is neither changed nor deleted, whatever the
// server says that it has created.
func TestExistingResourcesAreNotChanged(t *testing.T) {
	for name, created := range map[string]func(*fakeServer, string) string{
		"what was created": func(_ *fakeServer, id string) string { return representation(id) },
		"an old resource":  func(*fakeServer, string) string { return representation("old-1") },
		"dots":             func(*fakeServer, string) string { return representation("..") },
		"an old with more": func(*fakeServer, string) string { return representation("old-1?x=1") },
	} {
		t.Run(name, func(t *testing.T) {
			server := &fakeServer{ids: []string{"old-1", "old-2"}, created: created}
			report := server.run(t, updates...)
			if !slices.Contains(server.ids, "old-1") || !slices.Contains(server.ids, "old-2") {
				t.Errorf("left are %q", server.ids)
			}
			for _, path := range server.written {
				if !strings.HasPrefix(path, "/things/new-") && !suite.UUIDForm.MatchString(strings.TrimPrefix(path, "/things/")) {
					t.Errorf("a write to %s", path)
				}
			}
			if name == "what was created" && (len(report.Leftovers) > 0 || len(server.ids) != 2) {
				t.Errorf("not removed: %q, reported %q", server.ids, report.Leftovers)
			}
		})
	}
}

// A server that ignores the filter of a range is never sent a change of it, and DELETE of a range is never
// sent where there are resources of others.
func TestWholeCollectionsAreNotChanged(t *testing.T) {
	for _, test := range []struct {
		ids    []string
		ranges bool
		patch  bool // a change was sent
		delete bool
	}{{[]string{"old-1"}, false, false, false}, {nil, false, false, false}, {[]string{"old-1"}, true, true, false}, {nil, true, true, true}} {
		server := &fakeServer{ids: test.ids, ranges: test.ranges, created: func(_ *fakeServer, id string) string { return representation(id) }}
		server.run(t, "many", "upsert", "dryrun", "transaction")
		patched, deleted := false, false
		for _, each := range server.whole {
			one := strings.HasPrefix(each, "PATCH filter[id]=new-") || strings.HasPrefix(each, "DELETE filter[id]=new-")
			isDry := strings.Contains(each, "&dry_run=true")
			patched = patched || strings.HasPrefix(each, "PATCH") && !strings.HasSuffix(each, "{}")
			deleted = deleted || strings.HasPrefix(each, "DELETE")
			if !one && each != "PATCH  {}" || strings.HasPrefix(each, "DELETE") && !isDry {
				t.Errorf("sent %s", each)
			}
		}
		if patched != test.patch || deleted != test.delete || len(server.whole) == 0 {
			t.Errorf("%+v: sent %q", test, server.whole)
		}
	}
}

func TestResourcesWithUnsafeIDsAreNotDeleted(t *testing.T) {
	n, strange := 0, []string{".", "..", "a?b", "a/b", "a%2fb", "ä", "a b", "a#b"}
	server := &fakeServer{}
	server.created = func(_ *fakeServer, id string) string {
		if n++; n <= len(strange) {
			return representation(strange[n-1])
		}
		return representation(id)
	}
	report := server.run(t, "read.collection")
	got := slices.Sorted(slices.Values(report.Leftovers))
	want := []string{}
	for _, id := range strange {
		want = append(want, "/things/"+id)
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("left behind %q, want %q", got, want)
	}
	for _, path := range server.written {
		if !strings.HasPrefix(path, "/things/new-") {
			t.Errorf("a write to %s", path)
		}
	}
	if len(server.written) != fixtureSize-len(strange) {
		t.Errorf("%d were removed: %q", len(server.written), server.written)
	}
}

func TestSmallLargestLimit(t *testing.T) {
	for _, largest := range []int{10, 1} {
		server := &fakeServer{largest: largest, created: func(_ *fakeServer, id string) string { return representation(id) }}
		report := server.run(t, "read.item")
		if report.Created != fixtureSize || len(server.ids) > 0 || report.Count(Passed) != 1 {
			t.Errorf("%d: got %+v, left %q", largest, report, server.ids)
		}
	}
}

type timeout struct{}

func (timeout) Error() string { return "no answer in time" }

func (timeout) Timeout() bool { return true }

func (timeout) Temporary() bool { return true }

// A server that stops answering does not hold up every check, and one that is gone
// fails none. One that breaks off requests which it does not like is checked to the end.
func TestRunEndsWithoutResponses(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	for name, c := range map[string]struct {
		failure error
		given   bool
	}{
		"silent":     {timeout{}, true},
		"gone":       {refused, true},
		"broken off": {&net.OpError{Op: "read", Err: errors.New("connection reset by peer")}, false},
		"no more":    {io.ErrUnexpectedEOF, false},
	} {
		t.Run(name, func(t *testing.T) {
			inner := &fakeServer{ids: []string{"a", "b"}}
			requests, failed := 0, 0
			client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				if requests++; requests > 10 {
					failed++
					return nil, c.failure
				}
				w := httptest.NewRecorder()
				inner.ServeHTTP(w, r)
				return w.Result(), nil
			})}
			report, err := Run(context.Background(), Options{BaseURL: "http://conform.test", Collection: "things", ReadOnly: true, Client: client})
			if !c.given {
				if err != nil || report.Count(Failed) < 10 {
					t.Errorf("got %v, %v", report, err)
				}
				return
			}
			want := "the run was given up after 3 requests in a row without an answer: "
			if report != nil || err == nil || !strings.HasPrefix(err.Error(), want) || !errors.Is(err, c.failure) || failed != 3 {
				t.Errorf("got %v, %v after %d requests", report, err, failed)
			}
		})
	}
}
