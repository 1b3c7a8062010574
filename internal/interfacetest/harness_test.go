package interfacetest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/schema"
)

func TestMain(m *testing.M) {
	if resource.MaxManyBytes != 64<<20 {
		fmt.Fprintln(os.Stderr, "docs/interface.md says that a request changes at most 64 MiB")
		os.Exit(1)
	}
	resource.MaxManyBytes = 24 << 20 // so that tests need fewer bytes to exceed it
	os.Exit(pgtest.Run(m))
}

// server is a running server with a client's view of it.
type server struct {
	t       testing.TB
	base    string
	opened  *plural.Server
	config  plural.Config
	checker *checker
}

// eachStore runs a test against a fresh server on each database. The change is
// applied to its configuration.
func eachStore(t *testing.T, s *schema.Schema, test func(*testing.T, *server), change ...func(*plural.Config)) {
	t.Helper()
	databases := pgtest.Databases()
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			test(t, start(t, s, database(t), change...))
		})
	}
}

// start runs a server until the end of the test.
func start(t testing.TB, declared *schema.Schema, database string, change ...func(*plural.Config)) *server {
	t.Helper()
	config := plural.Config{Schema: declared, Database: database, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))}
	for _, apply := range change {
		apply(&config)
	}
	opened, err := plural.Open(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, opened, context.Background()) })
	addr, err := opened.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, base: "http://" + addr.String(), opened: opened, config: config, checker: newChecker(t, config)}
	checkers.Store(addr.String(), s.checker)
	t.Cleanup(func() { checkers.Delete(addr.String()) })
	return s
}

// restart stops a server, in the time that a context leaves, and runs another one
// on its database. The change is applied to its configuration.
func (s *server) restart(ctx context.Context, change ...func(*plural.Config)) *server {
	s.t.Helper()
	stop(s.t, s.opened, ctx)
	return s.another(change...)
}

// stop stops a server, which may say that it was left no time: its connections may be in use for a moment
// after their last answer was read. It says the same again when it is stopped a second time.
func stop(t testing.TB, opened *plural.Server, ctx context.Context) {
	t.Helper()
	if err := opened.Stop(ctx); err != nil && err.Error() != context.Canceled.Error() {
		t.Error("stopping:", err)
	}
}

// another runs one more server on the same database.
func (s *server) another(change ...func(*plural.Config)) *server {
	s.t.Helper()
	asBefore := func(c *plural.Config) { *c = s.config }
	return start(s.t, s.config.Schema, s.config.Database, append([]func(*plural.Config){asBefore}, change...)...)
}

// answer is a response that has been read.
type answer struct {
	status int
	header http.Header
	body   string
}

// client follows no redirections and adds nothing to a request. What it hears is checked.
var client = &http.Client{
	Transport:     checked{&http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64}},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// do sends a request. A body makes it application/json; headers are pairs of
// name and value, and an empty value removes one.
func (s *server) do(method, path, body string, headers ...string) answer {
	s.t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r, err := http.NewRequest(method, s.base+path, reader)
	if err != nil {
		s.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	response, err := client.Do(r)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer{status: response.StatusCode, header: response.Header, body: string(text)}
}

func (s *server) get(path string, headers ...string) answer {
	s.t.Helper()
	return s.do("GET", path, "", headers...)
}

// awaitReady waits until the server is ready. The database has two seconds to respond, which a busy machine may exceed.
func (s *server) awaitReady() (ready answer) {
	s.t.Helper()
	eventually(s.t, "the server is ready", func() bool {
		ready = s.get("/-/ready")
		return ready.status == 200
	})
	return ready
}

// create posts a body and returns the id of the new resource.
func (s *server) create(path, body string) string {
	s.t.Helper()
	created := s.do("POST", path, body)
	if created.status != 201 {
		s.t.Fatalf("POST %s %s: %d %s", path, body, created.status, created.body)
	}
	var envelope struct{ Data struct{ ID string } }
	if err := json.Unmarshal([]byte(created.body), &envelope); err != nil {
		s.t.Fatal(err)
	}
	return envelope.Data.ID
}

// ids lists the ids of a collection's answer, in order.
func (a answer) ids(t testing.TB) []string {
	t.Helper()
	var envelope struct{ Data []struct{ ID string } }
	if err := json.Unmarshal([]byte(a.body), &envelope); err != nil {
		t.Fatalf("%v: %d %s", err, a.status, a.body)
	}
	ids := []string{}
	for _, resource := range envelope.Data {
		ids = append(ids, resource.ID)
	}
	return ids
}

var timestamps = regexp.MustCompile(`"(created_at|updated_at)":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`)

// timeless is the body with its timestamps, checked for their form, taken out.
func (a answer) timeless() string { return timestamps.ReplaceAllString(a.body, `"$1":"TIME"`) }

// expect compares the status and the whole body without its timestamps.
func (a answer) expect(t testing.TB, status int, body string) {
	t.Helper()
	if a.status != status || a.timeless() != body {
		t.Errorf("got  %d %s\nwant %d %s", a.status, a.timeless(), status, body)
	}
}

// faults is the errors, each as "code place".
func (a answer) faults(t interface{ Errorf(string, ...any) }) (faults []string) {
	var envelope struct {
		Errors []struct {
			Status              int
			Code, Title, Detail string
			Source              struct{ Pointer, Parameter, Header string }
		}
	}
	decoder := json.NewDecoder(strings.NewReader(a.body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&envelope); err != nil {
		t.Errorf("%v: %d %s", err, a.status, a.body)
	}
	for _, e := range envelope.Errors {
		if e.Status != a.status || e.Title == "" || e.Detail == "" {
			t.Errorf("an error without title or detail, or of another status than %d: %+v", a.status, e)
		}
		faults = append(faults, strings.TrimSpace(e.Code+" "+e.Source.Pointer+e.Source.Parameter+e.Source.Header))
	}
	return faults
}

// expectErrors compares the status and the errors, each as "code place".
func (a answer) expectErrors(t testing.TB, status int, want ...string) {
	t.Helper()
	if got := a.faults(t); a.status != status || strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("got  %d %s\nwant %d %s\nbody %s", a.status, strings.Join(got, ", "), status, strings.Join(want, ", "), a.body)
	}
	if got := a.header.Get("Content-Type"); got != "application/json;charset=utf-8" {
		t.Errorf("Content-Type is %q", got)
	}
	if a.header.Get("X-Request-Id") == "" {
		t.Error("no X-Request-Id")
	}
}
