package interfacetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/conform"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// A check that cannot fail is worthless. Each fault here is put in front of the
// real server, and must be caught by the checks that stand for it, and by no
// other.

// broken is an answer on its way through a fault.
type broken struct {
	status int
	header http.Header
	body   string

	stream *events           // of a stream, in place of the body
	edit   func(*event) bool // changes its events; false leaves one out
}

// serve answers a request; a fault calls it with the request as it is, or with
// another one, and changes what comes.
type serve func(*http.Request) *broken

// fault is one thing that a server does wrong.
type fault struct {
	name   string
	answer func(serve, *http.Request) *broken
	caught []string // the checks that fail
}

// faultGroup is faults that are tried with the same collection. There are many, so each is tried only
// with some checks: those of the topics that catch it, unless the group says which.
type faultGroup struct {
	faults     []fault
	collection string
	only, skip []string
	seed       int // users that are there before; the suite creates some of its own
}

// checks are the checks that a fault is tried with.
func (g faultGroup) checks(f fault) (only []string) {
	if g.only != nil {
		return g.only
	}
	for _, id := range f.caught {
		if topic, _, _ := strings.Cut(id, "."); !slices.Contains(only, topic) {
			only = append(only, topic)
		}
	}
	return only
}

var faultGroups = []faultGroup{
	{slices.Concat(representationFaults, rangeFaults, listFaults), "users", nil, others, 0},
	{slices.Concat(envelopeFaults, requestFaults), "users", nil, others, 0},
	{slices.Concat(writeFaults, childFaults), "users", nil, others, 0},
	{queryFaults, "users", []string{"query"}, nil, 0},
	{conditionFaults, "users", []string{"method.head", "create", "patch", "put", "delete", "etag", "condition", "once", "async.checks-condition"}, nil, 0},
	{onceFaults, "users", []string{"create", "patch", "put", "delete", "once", "async.once"}, nil, 0},
	{changeFaults, "users", []string{"link", "changes", "stream"}, nil, 0},
	{asyncFaults, "users", []string{"create", "patch", "put", "delete", "condition", "async"}, nil, 0},
	{postFaults, "posts", nil, others, 0},
	{sampleFaults, "samples", nil, others, 0},
	{includeFaults, "users", []string{"include", "filter.related"}, nil, 0},
	{fieldFaults, "users", []string{"fields", "filter.groups"}, nil, 0},
	{insideFaults, "rules", []string{"filter.inside", "filter.has", "filter.enum"}, nil, 0},
	{searchFaults, "samples", []string{"search", "groups.values", "filter.search"}, nil, 0},
	{longFaults, "users", []string{"link.walk-long"}, nil, 1002},
	{groupFaults, "users", []string{"groups"}, askingChecks, 0},
	{askingFaults, "users", askingChecks, nil, 0},
	{manyFaults, "users", []string{"upsert", "dryrun", "transaction", "many"}, nil, 0},
	{ruleFaults, "articles", []string{"rules"}, nil, 0},
}

// others are checks of other parts that belong to a topic of lists.
var others = append([]string{"link.changes", "filter.related", "filter.search", "filter.enum"}, askingChecks...)

func TestEveryFaultIsCaught(t *testing.T) {
	for _, group := range faultGroups {
		for _, f := range group.faults {
			t.Run(f.name, func(t *testing.T) {
				t.Parallel()
				expectCaught(t, checkBehind(t, conform.Options{Collection: group.collection, Only: group.checks(f), Skip: group.skip}, group.seed, f.answer), f.caught)
			})
		}
	}
}

// expectCaught compares the checks that failed.
func expectCaught(t *testing.T, report *conform.Report, want []string) {
	t.Helper()
	got, want := report.IDs(conform.Failed), slices.Clone(want)
	slices.Sort(got)
	slices.Sort(want)
	if slices.Equal(got, want) {
		return
	}
	for _, result := range report.Results {
		if f := result.Failure; f != nil {
			t.Logf("%s\n%s\nexpected %s\ngot      %s", result.ID, f.Request, f.Expected, f.Got)
		}
	}
	t.Errorf("caught by\n%q, and should be by\n%q", got, want)
}

// Behind the same door, without a fault, nothing fails.
func TestNoErrorIsNoFault(t *testing.T) {
	for _, collection := range []string{"users", "posts", "samples"} {
		for _, async := range []bool{false, true} {
			options := conform.Options{Collection: collection, Async: async}
			expectCaught(t, checkBehind(t, options, 0, nil), nil)
		}
	}
}

// Every check is known to be able to fail: some fault makes it.
func TestEveryCheckCanFail(t *testing.T) {
	caught := map[string]bool{}
	for _, group := range faultGroups {
		for _, f := range group.faults {
			for _, id := range f.caught {
				caught[id] = true
			}
		}
	}
	for _, c := range conform.Checks() {
		if !caught[c.ID] {
			t.Errorf("no fault makes %s fail", c.ID)
		}
		delete(caught, c.ID)
	}
	for id := range caught {
		t.Errorf("%s is no check", id)
	}
}

// checkBehind runs the suite on a server behind a fault. Seed is how many users it has.
func checkBehind(t *testing.T, options conform.Options, seed int, answer func(serve, *http.Request) *broken) *conform.Report {
	t.Helper()
	s := schema.Example()
	if (*model.Schema)(s).Collection(options.Collection) == nil {
		s = large(t)
	}
	if options.Collection == "articles" {
		s = parsed(t, ruledFile).Schema
	}
	options.BaseURL, options.Client = "http://conform.test", openBehind(t, s, answer)
	seedBehind(t, options, seed)
	report, err := conform.Run(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// seedBehind creates users, 1,000 at once.
func seedBehind(t *testing.T, options conform.Options, count int) {
	t.Helper()
	for from := 0; from < count; from += 1000 {
		var bodies []string
		for i := from; i < min(from+1000, count); i++ {
			bodies = append(bodies, fmt.Sprintf(`{"id":"%s","name":"User %d","email":"user%d@example.com"}`, id(i), i, i))
		}
		created, err := options.Client.Post(options.BaseURL+"/users", "application/json", strings.NewReader("["+strings.Join(bodies, ",")+"]"))
		if err != nil || created.StatusCode != http.StatusCreated {
			t.Fatal(created, err)
		}
	}
}

// openBehind gives the client of a server behind a fault, or behind none, which is checked
// then. They are in one process, without a network: there are many faults.
func openBehind(t *testing.T, s *schema.Schema, answer func(serve, *http.Request) *broken) *http.Client {
	t.Helper()
	config := plural.Config{Schema: s, Database: "sqlite:" + filepath.Join(t.TempDir(), "test.db"), Logger: slog.New(slog.DiscardHandler)}
	behind, err := plural.Open(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := behind.Stop(context.Background()); err != nil {
			t.Error("stopping:", err)
		}
	})
	through := front{answer: answer, behind: behind}
	if answer == nil {
		through.answer, through.checker = func(next serve, r *http.Request) *broken { return next(r) }, newChecker(t, config)
	}
	return &http.Client{Transport: through}
}

// front is the way of a request through a fault to the server.
type front struct {
	answer  func(serve, *http.Request) *broken
	behind  http.Handler
	checker *checker // nil: nobody listens
}

func (f front) RoundTrip(sent *http.Request) (*http.Response, error) {
	r := httptest.NewRequest(sent.Method, "/", sent.Body)
	r.URL, r.Header, r.ContentLength, r.Host = sent.URL, sent.Header, max(sent.ContentLength, 0), sent.URL.Host
	r.RequestURI = sent.URL.RequestURI()
	a := f.answer(func(r *http.Request) *broken {
		if strings.HasPrefix(r.Header.Get("Accept"), "text/event-stream") && r.Method == http.MethodGet {
			return f.stream(sent.Context(), r)
		}
		recorder, sent := httptest.NewRecorder(), &taken{ReadCloser: r.Body}
		r.Body = sent
		f.behind.ServeHTTP(recorder, r)
		a := &broken{status: recorder.Code, header: recorder.Result().Header, body: recorder.Body.String()}
		if f.checker != nil {
			f.checker.hears(&exchange{method: r.Method, target: r.URL, header: r.Header, body: sent.text(), status: a.status, answered: a.header, answer: []byte(a.body)})
		}
		return a
	}, r)
	if r.Method == http.MethodHead {
		a.body = ""
	}
	if a.stream != nil {
		return &http.Response{StatusCode: a.status, Header: a.header, Body: a.edited(sent.Context()), Request: sent}, nil
	}
	return &http.Response{StatusCode: a.status, Header: a.header, Body: io.NopCloser(strings.NewReader(a.body)), Request: sent}, nil
}

// stream opens a stream of the server.
func (f front) stream(ctx context.Context, r *http.Request) *broken {
	r = r.WithContext(ctx)
	from, to := io.Pipe()
	w := &streamWriter{header: http.Header{}, to: to, begun: make(chan int, 1)}
	go func() {
		defer func() {
			_ = recover() // http.ErrAbortHandler, when the client is gone
			w.WriteHeader(http.StatusOK)
			to.Close()
		}()
		f.behind.ServeHTTP(w, r)
	}()
	a := &broken{status: <-w.begun, header: w.header.Clone()}
	if a.header.Get("Content-Type") != "text/event-stream" {
		text, _ := io.ReadAll(from)
		a.body = string(text)
		return a
	}
	a.stream = &events{arrived: make(chan event)}
	go func() {
		defer close(a.stream.arrived)
		defer from.Close()
		a.stream.read(ctx, from)
	}()
	return a
}

// edited is the text of a stream with a fault.
func (a *broken) edited(ctx context.Context) io.ReadCloser {
	from, to := io.Pipe()
	go func() {
		defer to.Close()
		for each := range a.stream.arrived {
			if ctx.Err() == nil && (a.edit == nil || a.edit(&each)) {
				_, _ = fmt.Fprintf(to, "event: %s\nid: %s\ndata: %s\n\n", each.kind, each.id, each.data) // fails when the client is gone
			}
		}
	}()
	return from
}

// streamWriter is the ResponseWriter of a stream in this process.
type streamWriter struct {
	header http.Header
	to     io.Writer
	once   sync.Once
	begun  chan int
}

func (w *streamWriter) Header() http.Header { return w.header }

func (w *streamWriter) WriteHeader(status int) { w.once.Do(func() { w.begun <- status }) }

func (w *streamWriter) Write(p []byte) (int, error) { return w.to.Write(p) }

func (w *streamWriter) Flush() {}

// streamed changes the events of streams.
func streamed(edit func(*event) bool) func(serve, *http.Request) *broken {
	return func(next serve, r *http.Request) *broken {
		a := next(r)
		a.edit = edit
		return a
	}
}

// What follows is for writing faults down.

// response changes answers to successful requests of some methods ("" is all)
// on the collections.
func response(methods string, change func(*http.Request, *broken)) func(serve, *http.Request) *broken {
	return func(next serve, r *http.Request) *broken {
		a := next(r)
		if succeeded(a) && r.URL.Path != "/" && (methods == "" || strings.Contains(methods, r.Method)) {
			change(r, a)
		}
		return a
	}
}

// refusal changes failures.
func refusal(change func(*http.Request, *broken)) func(serve, *http.Request) *broken {
	return func(next serve, r *http.Request) *broken {
		a := next(r)
		if a.status >= 400 {
			change(r, a)
		}
		return a
	}
}

// request changes requests.
func request(change func(*http.Request)) func(serve, *http.Request) *broken {
	return func(next serve, r *http.Request) *broken {
		change(r)
		return next(r)
	}
}

// parameters changes the query. What it does not change stays as it was written.
func parameters(change func(name, value string) (string, bool)) func(serve, *http.Request) *broken {
	return request(func(r *http.Request) {
		var kept []string
		for piece := range strings.SplitSeq(r.URL.RawQuery, "&") {
			name, value, _ := strings.Cut(piece, "=")
			if changed, keep := change(name, value); keep && changed != value {
				kept = append(kept, name+"="+changed)
			} else if keep {
				kept = append(kept, piece)
			}
		}
		r.URL.RawQuery = strings.Join(kept, "&")
	})
}

func take(r *http.Request) string {
	body, _ := io.ReadAll(r.Body)
	return string(body)
}

func give(r *http.Request, body string) {
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
}

// again is another request of the same client.
func again(r *http.Request, method, target, body string) *http.Request {
	other := httptest.NewRequest(method, target, strings.NewReader(body))
	other.Header = r.Header.Clone()
	if body != "" {
		other.Header.Set("Content-Type", "application/json")
	} else {
		other.Header.Del("Content-Type")
	}
	return other
}

func succeeded(a *broken) bool { return a.status >= 200 && a.status < 300 }

func isOne(r *http.Request) bool   { return strings.Count(r.URL.Path, "/") == 2 }
func isUsers(r *http.Request) bool { return r.URL.Path == "/users" }

// items changes the elements of a list.
func items(a *broken, change func([]json.RawMessage) []json.RawMessage) {
	var envelope struct{ Data []json.RawMessage }
	if json.Unmarshal([]byte(a.body), &envelope) != nil || envelope.Data == nil {
		return
	}
	var text bytes.Buffer
	for i, item := range change(envelope.Data) {
		if i > 0 {
			text.WriteByte(',')
		}
		text.Write(item)
	}
	a.body = `{"data":[` + text.String() + `]}`
}
