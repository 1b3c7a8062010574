package suite

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

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
		r := &Reply{sent: c.sent, Body: []byte(c.body), Header: http.Header{"Location": {c.location}}}
		if got := r.newIDs("things"); !slices.Equal(got, c.want) {
			t.Errorf("%+v: got %q", c, got)
		}
	}
}

// An id that comes back from PATCH or PUT is removed too.
func TestIDsOfUpdatesAreTracked(t *testing.T) {
	s, err := NewSuite(context.Background(), Options{BaseURL: "http://conform.test"})
	if err != nil {
		t.Fatal(err)
	}
	s.existing["things"] = map[string]bool{"old": true}
	for _, c := range []struct{ method, id string }{
		{"PATCH", "a"}, {"PATCH", "b"}, {"PATCH", "old"}, {"PUT", "c"}, {"PUT", "old"},
	} {
		s.observe("/things/a", &Reply{Method: c.method, Status: 200, Body: []byte(`{"data":{"id":"` + c.id + `"}}`)})
	}
	if want := []place{{"things", "b"}, {"things", "a"}, {"things", "c"}}; !slices.Equal(s.tracked, want) {
		t.Errorf("got %v, want %v", s.tracked, want)
	}
}

func TestLongBodiesAreNotRead(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", len(r.URL.Path)))
	}))
	defer server.Close()
	s, err := NewSuite(context.Background(), Options{BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.largestBody = 4
	if answer, err := s.send(context.Background(), "GET", "/abc", ""); err != nil || string(answer.Body) != "xxxx" {
		t.Errorf("got %v, %v", answer, err)
	}
	_, err = s.send(context.Background(), "GET", "/abcd", "")
	if want := "GET " + server.URL + "/abcd: the body of the answer has more than 4 bytes"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
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
			s, err := NewSuite(context.Background(), Options{BaseURL: "http://conform.test", Client: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				requests++
				return c.answer(r)
			})}})
			if err != nil {
				t.Fatal(err)
			}
			s.cleanUpTime = c.time
			s.tracked = []place{{"things", "1"}, {"things", "2"}, {"things", "3"}, {"things", "4"}}
			left := s.CleanUp(context.Background())
			// A deadline may have passed before the first request was sent.
			if want := []string{"/things/4", "/things/3", "/things/2", "/things/1"}; !slices.Equal(left, want) || requests > c.requests {
				t.Errorf("left %q after %d requests", left, requests)
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
	s, err := NewSuite(context.Background(), Options{BaseURL: "http://conform.test", Client: client, Samples: map[string]json.RawMessage{"teams": json.RawMessage(`{"code":"x","size":[1]}`)}})
	if err != nil {
		t.Fatal(err)
	}
	s.Tag = "a1b2c3"
	s.Collection = Collection{Name: "players", Described: true, Attributes: []Attribute{{Name: "team_id", References: "teams", Required: true}}}
	s.Catalog = []Collection{s.Collection}
	if err := s.assignSamples(); err != nil {
		t.Fatal(err)
	}
	members, err := s.Members(s.Collection)
	if err != nil || EncodeJSON(members) != `{"team_id":"t1"}` {
		t.Errorf("got %v, %v", members, err)
	}
	if want := []string{`/teams {"code":"x 05831a1b2c3","size":[1]}`, `/teams {"code":"x","size":[1]}`}; !slices.Equal(sent, want) {
		t.Errorf("sent %q", sent)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Every request has the given headers, also that of a stream, and Host, which net/http takes from another place.
func TestGivenHeaders(t *testing.T) {
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, strings.Join([]string{r.Method, r.Host, r.URL.Path, r.Header.Get("X-Given"), r.Header.Get("Accept"), r.Header.Get("Content-Type")}, " "))
		w.WriteHeader(http.StatusNotAcceptable)
	}))
	defer server.Close()
	s, err := NewSuite(context.Background(), Options{BaseURL: server.URL, Headers: http.Header{"host": {"api.test"}, "x-given": {"yes"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.exchange(context.Background(), "POST", "/things", "{}"); err != nil {
		t.Fatal(err)
	}
	end := s.Execute(Check{Run: func(p *Probe) { p.Stream(server.URL + "/things") }})
	if want := (outcome{Skipped: "not supported: the server has no event streams"}); end != want {
		t.Errorf("got %+v", end)
	}
	if want := []string{"POST api.test /things yes  application/json", "GET api.test /things yes text/event-stream "}; !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// A check is skipped on a server without what it needs, and a failure names the request as it was sent.
func TestNeedsOfChecks(t *testing.T) {
	s, err := NewSuite(context.Background(), Options{BaseURL: "http://conform.test/api", Client: &http.Client{Transport: refusing{}}})
	if err != nil {
		t.Fatal(err)
	}
	s.Reference = make([]Resource, 4)
	for _, c := range []struct {
		check Check
		async support
		want  outcome
	}{
		{Check{Needs: 5}, undecided, outcome{Skipped: "the collection has 4 resources, and 5 are needed"}},
		{Check{Needs: 4}, undecided, outcome{}},
		{Check{NeedsAsync: true}, unsupported, outcome{Skipped: notSupported}},
		{Check{NeedsAsync: true}, supported, outcome{}},
	} {
		s.async = c.async
		c.check.Run = func(*Probe) {}
		if got := s.Execute(c.check); got != c.want {
			t.Errorf("%+v: got %+v", c.check, got)
		}
	}
	end := s.Execute(Check{Run: func(p *Probe) { p.Get("http://conform.test/api/things") }})
	if want := (failure{"GET http://conform.test/api/things", "an answer", `Get "http://conform.test/api/things": no network`}); end.Failure == nil || *end.Failure != want {
		t.Errorf("got %+v", end.Failure)
	}
}

type refusing struct{}

func (refusing) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("no network")
}
