package api

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/feed"
	"github.com/plural-go/plural/internal/limit"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/observe"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// newAPI makes an API on the example, with a log to look at.
func newAPI(t *testing.T, ready func(context.Context) error) (*API, *strings.Builder) {
	t.Helper()
	example := (*model.Schema)(schema.Example())
	st, err := store.Open(context.Background(), "sqlite:"+filepath.Join(t.TempDir(), "test.db"), example)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	log := &strings.Builder{}
	resources := resource.New(st)
	resources.BodyLimits, resources.Memory = resource.BodyLimits{Depth: 64, Items: 1000}, limit.NewWriteBudget(8<<20)
	return New(Config{
		Schema: example, Resources: resources, Feed: feed.New(st, feed.Options{}), Observer: observe.New(slog.New(slog.NewTextHandler(log, nil))),
		QueryLimits: query.Limits{DefaultLimit: 100}, MaxBody: 1 << 20, MaxBodies: 8 << 20, Ready: ready, Draining: context.Background(), Stopping: context.Background(), Abandoned: context.Background(),
		ListFound: func(context.Context, observe.Origin, reads.ListPart) {},
	}), log
}

func TestPanicIsAnsweredInTheEnvelope(t *testing.T) {
	a, log := newAPI(t, func(context.Context) error { panic("on purpose") })
	w := httptest.NewRecorder()
	a.ServeHTTP(w, httptest.NewRequest("GET", "/-/ready", nil))
	want := `{"errors":[{"status":500,"code":"internal","title":"Internal error","detail":"The server failed to answer this request. The log has the reason under this request id."}]}`
	if w.Code != 500 || w.Body.String() != want || w.Header().Get("Content-Type") != contentType || w.Header().Get("X-Request-Id") == "" {
		t.Errorf("got %d %v %s", w.Code, w.Header(), w.Body)
	}
	if !strings.Contains(log.String(), "on purpose") || !strings.Contains(log.String(), "api_test.go") {
		t.Errorf("the log does not tell: %s", log)
	}
}

// The list stops in the middle; what has been sent must not look complete, also
// when it is compressed.
func TestBrokenStreamIsNotTakenForComplete(t *testing.T) {
	for name, left := range map[string]int{"identity": 100 << 10, "gzip": 5 << 10} {
		t.Run(name, func(t *testing.T) { breakStream(t, name, left) })
	}
}

func breakStream(t *testing.T, encoding string, left int) {
	a, log := newAPI(t, nil)
	createLongUsers(t, a)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.ServeHTTP(&breakingWriter{ResponseWriter: w, left: left}, r)
	}))
	client := http.Client{Transport: &http.Transport{DisableCompression: encoding != "gzip"}}
	response, err := client.Get(server.URL + "/users?limit=1000")
	if err != nil {
		t.Fatal(err)
	}
	if response.Uncompressed != (encoding == "gzip") {
		t.Errorf("compressed: %t", response.Uncompressed)
	}
	_, err = io.ReadAll(response.Body)
	response.Body.Close()
	server.Close() // the log is ours again when the handler has returned
	if err == nil {
		t.Error("read to its end as if it were complete")
	}
	if !strings.Contains(log.String(), "response aborted") {
		t.Errorf("the log does not tell: %s", log)
	}
}

// A panic after the first piece of a long list was read closes the list: the database could not be closed otherwise.
func TestPanicWithALongList(t *testing.T) {
	a, _ := newAPI(t, nil)
	createLongUsers(t, a)
	a.ListFound = func(context.Context, observe.Origin, reads.ListPart) { panic("on purpose") }
	w := httptest.NewRecorder()
	if a.ServeHTTP(w, httptest.NewRequest("GET", "/users?limit=1000", nil)); w.Code != 500 {
		t.Error(w.Code, w.Body)
	}
}

// createLongUsers creates more than fits into the first piece of a list.
func createLongUsers(t *testing.T, a *API) {
	t.Helper()
	body := `[` + strings.TrimSuffix(strings.Repeat(`{"name":"`+strings.Repeat("x", 900)+`","email":"ada@example.com"},`, 1000), ",") + `]`
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", "/users", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if a.ServeHTTP(w, r); w.Code != 201 {
		t.Fatal(w.Code, w.Body)
	}
}

// breakingWriter fails after some bytes.
type breakingWriter struct {
	http.ResponseWriter
	left int
}

func (w *breakingWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errors.New("broken on purpose")
	}
	return w.ResponseWriter.Write(p)
}

func (w *breakingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func TestReadiness(t *testing.T) {
	var down error
	a, _ := newAPI(t, func(context.Context) error { return down })
	clock := time.Unix(0, 0)
	a.ready.now = func() time.Time { return clock }
	for _, c := range []struct {
		path string
		err  error
		want string
	}{
		{"/-/health", nil, `200 {"status":"ok"}`},
		{"/-/ready", nil, `200 {"status":"ready"}`},
		{"/-/health", errors.New("down"), `200 {"status":"ok"}`},
		{"/-/ready", errors.New("down"), `503 {"status":"unavailable"}`},
		{"/-/ready", &problem.Error{Code: problem.CodeUnavailable, Detail: "It is away.", Cause: errors.New("a secret")}, `503 {"status":"unavailable","detail":"It is away."}`},
	} {
		down = c.err
		clock = clock.Add(readyFor) // what was found before is no longer believed
		w := httptest.NewRecorder()
		a.ServeHTTP(w, httptest.NewRequest("GET", c.path, nil))
		if got := w.Result().Status[:4] + w.Body.String(); got != c.want {
			t.Errorf("%s with %v: got %s", c.path, c.err, got)
		}
	}
}

func TestMetricsCountByRoute(t *testing.T) {
	a, _ := newAPI(t, nil)
	for _, path := range []string{"/users", "/users/00000000-0000-7000-8000-000000000001", "/nowhere", "/users/"} {
		a.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil))
	}
	a.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("BREW", "/users", nil))
	w := httptest.NewRecorder()
	a.ServeHTTP(w, httptest.NewRequest("GET", "/-/metrics", nil))
	for _, line := range []string{
		`plural_request_duration_seconds_count{method="GET",route="/users",status="200"} 1`,
		`plural_request_duration_seconds_count{method="GET",route="/users/{id}",status="404"} 1`,
		`plural_request_duration_seconds_count{method="GET",route="unknown",status="404"} 1`,
		`plural_request_duration_seconds_count{method="GET",route="redirect",status="308"} 1`,
		`plural_request_duration_seconds_count{method="other",route="/users",status="405"} 1`,
		`plural_requests_in_flight 1`,
	} {
		if !strings.Contains(w.Body.String(), line+"\n") {
			t.Errorf("no %s in\n%s", line, w.Body)
		}
	}
}

func TestAcceptable(t *testing.T) {
	for accept, want := range map[string]bool{
		"application/json":               true,
		"application/json;charset=utf-8": true,
		"APPLICATION/JSON":               true,
		"*/*":                            true,
		"application/*":                  true,
		"text/html,application/xhtml+xml,*/*;q=0.8":   true,
		"text/html, application/json;q=0.1":           true,
		"text/html":                                   false,
		"application/vnd.api+json":                    false,
		"application/json;q=0":                        false,
		"application/json;q=0, */*":                   false,
		"application/*;q=0, application/json;q=0.001": true,
		"text/*;q=1, nonsense;;;":                     false,
		"":                                            true,
		"application/json;q=abc":                      true,
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept", accept)
		if got := acceptable(r) == nil; got != want {
			t.Errorf("%q: %v", accept, got)
		}
	}
	if err := acceptable(httptest.NewRequest("GET", "/", nil)); err != nil {
		t.Errorf("without Accept: %v", err)
	}
}

func TestRequestIDIsKeptWhenSane(t *testing.T) {
	for id, kept := range map[string]bool{
		"abc-123": true, strings.Repeat("x", 128): true, "a/b+c=": true,
		"": false, strings.Repeat("x", 129): false, "a b": false, "a\"b": false, "é": false, "a\tb": false,
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("X-Request-Id", id)
		got := requestID(r)
		if (got == id) != kept || len(got) == 0 {
			t.Errorf("%q became %q", id, got)
		}
	}
}

func TestRefusalsOfNetHTTPAreRecognised(t *testing.T) {
	const plain = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
	for answer, want := range map[string]int{
		"HTTP/1.1 400 Bad Request" + plain + "400 Bad Request":                                                         400,
		"HTTP/1.1 431 Request Header Fields Too Large" + plain + "431":                                                 431,
		"HTTP/1.1 501 Not Implemented" + plain + "Unsupported transfer encoding":                                       501,
		"HTTP/1.1 505 HTTP Version Not Supported: x" + plain + "505":                                                   505,
		"HTTP/1.1 418 I'm a teapot" + plain:                                                                            400,
		"HTTP/1.1 417 Expectation Failed\r\nConnection: close\r\nContent-Length: 0\r\n\r\n":                            417,
		"HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\nContent-Type: application/json;charset=utf-8\r\n\r\n{}":      0,
		"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8; version=0.0.4\r\nConnection: close\r\n\r\nmetric": 0,
		`HTTP/1.1 417HTTP/1.1 417 Expectation Failed","body":` + "null}\r\n0\r\n":                                      0, // a title, at the start of a piece
		"HTTP/1.1 ": 0,
		"":          0,
	} {
		got := 0
		if refusal := refusalFor([]byte(answer)); refusal != nil {
			got = refusal.Status()
		}
		if got != want {
			t.Errorf("%q: %d", answer, got)
		}
	}
}
