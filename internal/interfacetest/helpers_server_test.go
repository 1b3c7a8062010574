package interfacetest

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

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
	headers []string // of all requests of do; pairs of name and value
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
	t.Cleanup(func() {
		checkers.Delete(addr.String())
		s.checker.checkVersions(s.base)
	})
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
	headers = append(s.headers[:len(s.headers):len(s.headers)], headers...)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	return s.answerTo(r)
}

// answerTo sends a request.
func (s *server) answerTo(r *http.Request) answer {
	s.t.Helper()
	response, err := client.Do(r)
	if err != nil {
		s.t.Fatalf("%s %s: %v", r.Method, r.URL, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", r.Method, r.URL, err)
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

// withRoles has the server know these roles, and the editor who fills it.
func withRoles(t *testing.T, roles string) func(*plural.Config) {
	t.Helper()
	before, _, _ := strings.Cut(policyFile, "    public:\n")
	file, err := schema.Parse([]byte(before + roles + "    editor:\n      users: [list, read, create, update, delete]\n      posts: [list, read, create, update, delete]\n      notes: [list, read, create, update, delete]\n"))
	if err != nil {
		t.Fatal(err)
	}
	return func(c *plural.Config) { c.Access = file.Access }
}

// certificate writes a new certificate with a number into files.
func certificate(t *testing.T, number int64, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(number), Subject: pkix.Name{CommonName: "localhost"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(time.Duration(number) * time.Minute) // file systems may not tell moments apart
		if err := os.Chtimes(file, when, when); err != nil {
			t.Fatal(err)
		}
	}
}

// sql changes the database behind the back of the server.
func (s *server) sql(statement string) {
	s.t.Helper()
	var err error
	if file, ok := strings.CutPrefix(s.config.Database, "sqlite:"); ok {
		var c *sqlite.Conn
		if c, err = sqlite.OpenConn(file, sqlite.OpenReadWrite); err == nil {
			if err = sqlitex.ExecuteTransient(c, "PRAGMA busy_timeout = 60000", nil); err == nil {
				err = sqlitex.ExecuteScript(c, statement, nil)
			}
			err = errors.Join(err, c.Close())
		}
	} else {
		var c *pgx.Conn
		if c, err = pgx.Connect(s.t.Context(), s.config.Database); err == nil {
			_, err = c.Exec(s.t.Context(), statement)
			err = errors.Join(err, c.Close(s.t.Context()))
		}
	}
	if err != nil {
		s.t.Fatalf("%s: %v", statement, err)
	}
}

// withHooks adds hooks to the configuration of a server. Those without a Timeout have all the time that they need.
func withHooks(hooks ...plural.Hook) func(*plural.Config) {
	return func(c *plural.Config) {
		c.Hooks = slices.Clone(hooks)
		for i := range c.Hooks {
			c.Hooks[i].Timeout = cmp.Or(c.Hooks[i].Timeout, hung)
		}
		c.MaxHookTime = cmp.Or(c.MaxHookTime, hung)
	}
}

// withKeys lets editors manage the keys of editors, authors and clerks, and authors those of clerks.
func withKeys(c *plural.Config) {
	c.Access.Keys = map[string][]string{"editor": {"editor", "author", "clerk"}, "author": {"clerk"}}
}

// of gives typed access to a collection that the server has.
func of[T any](t testing.TB, s *plural.Server) *plural.Collection[T] {
	t.Helper()
	collection, err := plural.Of[T](s)
	if err != nil {
		t.Fatal(err)
	}
	return collection
}

// patient has nothing fail because a machine is busy.
func patient(c *plural.Config) { c.MaxHookTime, c.ShutdownTimeout = time.Hour, time.Hour }

// together calls a function several times at the same time, and returns the results.
func together[R any](count int, call func(i int) R) []R {
	results := make([]R, count)
	var ready, done sync.WaitGroup
	ready.Add(count)
	for i := range count {
		done.Go(func() {
			ready.Done()
			ready.Wait()
			results[i] = call(i)
		})
	}
	done.Wait()
	return results
}

// doChunked sends a body without saying how long it is.
func (s *server) doChunked(method, path, body string) answer {
	s.t.Helper()
	r, err := http.NewRequest(method, s.base+path, io.MultiReader(strings.NewReader(body)))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	return s.answerTo(r)
}

// transaction posts steps.
func (s *server) transaction(steps []string, headers ...string) answer {
	s.t.Helper()
	return s.do("POST", "/-/transaction", "["+strings.Join(steps, ",")+"]", headers...)
}
