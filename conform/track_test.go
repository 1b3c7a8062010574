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
	"time"
)

// toy is a server with one collection, that answers POST as it likes.
type toy struct {
	ids     []string // in the order of creation
	created func(t *toy, id string) string
	largest int      // limit, 0 for any
	written []string // paths that were written to, other than by POST
	whole   []string // writes to the collection, other than POST: method, query and body
	ranges  bool     // it answers PATCH of a range with what the filter selects
}

func (t *toy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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

func representation(id string) string { return encodeJSON(map[string]any{"id": id, "name": "Ada"}) }

func representations(ids []string) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = representation(id)
	}
	return "[" + strings.Join(texts, ",") + "]"
}

func (t *toy) run(test *testing.T, only ...string) *Report {
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
	for name, created := range map[string]func(*toy, string) string{
		"what was created": func(_ *toy, id string) string { return representation(id) },
		"an old resource":  func(*toy, string) string { return representation("old-1") },
		"dots":             func(*toy, string) string { return representation("..") },
		"an old with more": func(*toy, string) string { return representation("old-1?x=1") },
	} {
		t.Run(name, func(t *testing.T) {
			server := &toy{ids: []string{"old-1", "old-2"}, created: created}
			report := server.run(t, updates...)
			if !slices.Contains(server.ids, "old-1") || !slices.Contains(server.ids, "old-2") {
				t.Errorf("left are %q", server.ids)
			}
			for _, path := range server.written {
				if !strings.HasPrefix(path, "/things/new-") && !uuidForm.MatchString(strings.TrimPrefix(path, "/things/")) {
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
		server := &toy{ids: test.ids, ranges: test.ranges, created: func(_ *toy, id string) string { return representation(id) }}
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

// An answer with more resources than were sent says nothing of whose they are.
func TestNewIDs(t *testing.T) {
	for _, c := range []struct {
		sent, body, location string
		want                 []string
	}{
		{`{}`, `{"data":{"id":"a"}}`, "", []string{"a"}},
		{`{}`, `{"data":[{"id":"a"},{"id":"b"}]}`, "/things/a", nil},
		{`[{},{}]`, `{"data":[{"id":"a"},{"id":"b"}]}`, "", []string{"a", "b"}},
		{`[{}]`, `{"data":[{"id":"a"},{"id":"b"}]}`, "", nil},
		{`[]`, `{"data":[{"id":"a"}]}`, "", nil},
		{`{}`, ``, "http://conform.test/things/a", []string{"a"}},
		{`{}`, ``, "/others/a", nil},
	} {
		r := &reply{sent: c.sent, body: []byte(c.body), header: http.Header{"Location": {c.location}}}
		if got := r.newIDs("things"); !slices.Equal(got, c.want) {
			t.Errorf("%+v: got %q", c, got)
		}
	}
}

func TestResourcesWithUnsafeIDsAreNotDeleted(t *testing.T) {
	n, strange := 0, []string{".", "..", "a?b", "a/b", "a%2fb", "ä", "a b", "a#b"}
	server := &toy{}
	server.created = func(_ *toy, id string) string {
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

// An id that comes back from PATCH or PUT is removed too.
func TestIDsOfUpdatesAreTracked(t *testing.T) {
	s, err := newSuite(context.Background(), Options{BaseURL: "http://conform.test"})
	if err != nil {
		t.Fatal(err)
	}
	s.existing["things"] = map[string]bool{"old": true}
	for _, c := range []struct{ method, id string }{
		{"PATCH", "a"}, {"PATCH", "b"}, {"PATCH", "old"}, {"PUT", "c"}, {"PUT", "old"},
	} {
		s.observe("/things/a", &reply{method: c.method, status: 200, body: []byte(`{"data":` + representation(c.id) + `}`)})
	}
	if want := []place{{"things", "b"}, {"things", "a"}, {"things", "c"}}; !slices.Equal(s.tracked, want) {
		t.Errorf("got %v, want %v", s.tracked, want)
	}
}

func TestSmallLargestLimit(t *testing.T) {
	for _, largest := range []int{10, 1} {
		server := &toy{largest: largest, created: func(_ *toy, id string) string { return representation(id) }}
		report := server.run(t, "read.item")
		if report.Created != fixtureSize || len(server.ids) > 0 || report.Count(Passed) != 1 {
			t.Errorf("%d: got %+v, left %q", largest, report, server.ids)
		}
	}
}

// The clean-up gives up on a server that does not answer, and says what is left.
func TestCleanUpIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		time     time.Duration
		answer   roundTrip
		requests int
	}{
		"errors": {time.Hour, func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }, 2},
		"silence": {time.Millisecond, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			requests := 0
			s, err := newSuite(context.Background(), Options{BaseURL: "http://conform.test", Client: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				requests++
				return c.answer(r)
			})}})
			if err != nil {
				t.Fatal(err)
			}
			s.cleanUpTime = c.time
			s.tracked = []place{{"things", "1"}, {"things", "2"}, {"things", "3"}, {"things", "4"}}
			left := s.cleanUp(context.Background())
			// A deadline may have passed before the first request was sent.
			if want := []string{"/things/4", "/things/3", "/things/2", "/things/1"}; !slices.Equal(left, want) || requests > c.requests {
				t.Errorf("left %q after %d requests", left, requests)
			}
		})
	}
}

type timeout struct{}

func (timeout) Error() string   { return "no answer in time" }
func (timeout) Timeout() bool   { return true }
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
			inner := &toy{ids: []string{"a", "b"}}
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

// A collection of which the server says nothing is known by its sample.
func TestSampleOfAnUnlistedCollection(t *testing.T) {
	var sent []string
	client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"data":[]}`)
			return w.Result(), nil
		}
		body, _ := io.ReadAll(r.Body)
		sent = append(sent, r.URL.Path+" "+string(body))
		if len(sent) == 1 { // it insists on the value of the sample
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = io.WriteString(w, `{"errors":[{"source":{"pointer":"/code"}}]}`)
			return w.Result(), nil
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"data":{"id":"t1"}}`)
		return w.Result(), nil
	})}
	s, err := newSuite(context.Background(), Options{BaseURL: "http://conform.test", Client: client, Samples: map[string]json.RawMessage{"teams": json.RawMessage(`{"code":"x","size":[1]}`)}})
	if err != nil {
		t.Fatal(err)
	}
	s.tag = "a1b2c3"
	s.collection = collection{Name: "players", described: true, Attributes: []attribute{{Name: "team_id", References: "teams", required: true}}}
	s.catalog = []collection{s.collection}
	if err := s.assignSamples(); err != nil {
		t.Fatal(err)
	}
	members, err := s.members(s.collection, 1)
	if err != nil || encodeJSON(members) != `{"team_id":"t1"}` {
		t.Errorf("got %v, %v", members, err)
	}
	if want := []string{`/teams {"code":"x 07919a1b2c3","size":[1]}`, `/teams {"code":"x","size":[1]}`}; !slices.Equal(sent, want) {
		t.Errorf("sent %q", sent)
	}
}

func TestLongBodiesAreNotRead(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", len(r.URL.Path)))
	}))
	defer server.Close()
	s, err := newSuite(context.Background(), Options{BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer s.client.CloseIdleConnections()
	s.largestBody = 4
	if answer, err := s.send(context.Background(), "GET", "/abc", ""); err != nil || string(answer.body) != "xxxx" {
		t.Errorf("got %v, %v", answer, err)
	}
	_, err = s.send(context.Background(), "GET", "/abcd", "")
	if want := "GET " + server.URL + "/abcd: the body of the answer has more than 4 bytes"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
