package interfacetest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/plural-go/plural"
	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/schema"
)

const hungSchema = `
collections:
  tasks:
    attributes:
      title: {type: string}
  notes:
    attributes:
      text: {type: string}
    parent: tasks
  others:
    attributes:
      name: {type: string}
access:
  roles:
    admin:
      tasks: [list, read, create, update, delete, changes]
      notes: [list, read, create, update, delete, changes]
      others: [list, read, create, update, delete, changes]
  keys: {admin: [admin]}
`

// hungTables are all tables that requests read, except for that of others.
var hungTables = []string{"tasks", "notes", "operations", "_plural_changes", "_plural_totals", "_plural_keys", "_plural_answers"}

// hang makes every query of tables hang that finds a row, on PostgreSQL until release.
func (s *server) hang() (release func()) {
	s.t.Helper()
	if strings.HasPrefix(s.config.Database, "sqlite:") {
		for _, table := range hungTables {
			// A query that never ends, and needs no memory.
			s.sql("PRAGMA legacy_alter_table = ON; ALTER TABLE " + table + " RENAME TO " + table + "_real; " +
				"INSERT INTO sqlite_sequence SELECT '" + table + "', seq FROM sqlite_sequence WHERE name = '" + table + "_real'; " +
				"CREATE VIEW " + table + " AS SELECT * FROM " + table + "_real WHERE (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n) > 0")
		}
		return func() {}
	}
	c, err := pgx.Connect(s.t.Context(), s.config.Database)
	if err != nil {
		s.t.Fatal(err)
	}
	release = func() { c.Close(context.Background()) }
	s.t.Cleanup(release)
	if _, err := c.Exec(s.t.Context(), "BEGIN; LOCK TABLE "+strings.Join(hungTables, ", ")+" IN ACCESS EXCLUSIVE MODE"); err != nil {
		s.t.Fatal(err)
	}
	return release
}

// hungRequest is a request whose first query of the database hangs.
type hungRequest struct {
	method, path, body string
	header             [2]string
}

// hungRequests are requests for each path that the OpenAPI document has with GET, except for those that read nothing and those of
// others, and requests that read before they write. A new path is one of them by itself.
func (s *server) hungRequests(secret string) (all []hungRequest) {
	s.t.Helper()
	task := s.create("/tasks", `{"title":"a"}`)
	note := s.create("/tasks/"+task+"/notes", `{"text":"a"}`)
	s.later("PATCH", "/tasks/"+task, `{"title":"b"}`)
	operation, change := s.get("/operations").ids(s.t)[0], s.get("/changes").ids(s.t)[0]
	eventually(s.t, "the operation is finished", func() bool { return len(s.get("/operations?filter[status]=succeeded").ids(s.t)) == 1 })
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(s.get("/-/openapi.json").body), &document); err != nil {
		s.t.Fatal(err)
	}
	ids := strings.NewReplacer("{task_id}", task, "/notes/{id}", "/notes/"+note, "/note/{id}", "/note/"+note, "/tasks/{id}", "/tasks/"+task, "/task/{id}", "/task/"+task,
		"/operations/{id}", "/operations/"+operation, "/operation/{id}", "/operation/"+operation, "/changes/{id}", "/changes/"+change, "/change/{id}", "/change/"+change, "{prefix}", strings.Split(secret, "_")[1])
	for pattern, methods := range document.Paths {
		readsNothing := slices.Contains([]string{"/-/health", "/-/ready", "/-/metrics", "/.well-known/api-catalog", "/-/openapi.json", "/-/me"}, pattern)
		if methods["get"] == nil || readsNothing || strings.Contains(pattern, "other") {
			continue
		}
		path := ids.Replace(pattern)
		if strings.Contains(path, "{") {
			s.t.Fatalf("what hangs at %s?", pattern)
		}
		all = append(all, hungRequest{method: "GET", path: path}, hungRequest{method: "HEAD", path: path})
	}
	return append(all,
		hungRequest{method: "GET", path: "/tasks/" + task + "?include=notes"},
		hungRequest{method: "GET", path: "/tasks?filter[title]=b"},
		hungRequest{method: "GET", path: "/tasks", header: [2]string{"Accept", "text/event-stream"}},
		hungRequest{method: "GET", path: "/tasks/" + task, header: [2]string{"Accept", "text/event-stream"}},
		hungRequest{method: "GET", path: "/-/me", header: [2]string{"Authorization", "Bearer " + secret}}, // before the caller is known
		hungRequest{method: "PATCH", path: "/tasks/" + task, body: `{"title":7}`},
		hungRequest{method: "PATCH", path: "/tasks?filter[title]=b", body: `{"title":"c"}`},
		hungRequest{method: "DELETE", path: "/tasks?filter[title]=b"},
		hungRequest{method: "POST", path: "/others", body: `{"name":"a"}`, header: [2]string{"Idempotency-Key", "used"}})
}

// mounted is a server that a program has mounted, which says who calls. It counts the requests.
type mounted struct {
	*httptest.Server
	t       *testing.T
	arrived atomic.Int64 // requests
	inside  atomic.Int64 // those that have no response yet
}

func (s *server) mount(t *testing.T) *mounted {
	m := &mounted{t: t}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.inside.Add(1)
		m.arrived.Add(1)
		defer m.inside.Add(-1)
		ctx := r.Context()
		if caller := r.Header.Get("X-Caller"); caller != "" {
			ctx = plural.WithCaller(ctx, plural.Principal{Subject: caller, Roles: []string{"admin"}})
		}
		s.opened.ServeHTTP(w, r.WithContext(ctx))
	}))
	t.Cleanup(m.Close)
	return m
}

// send sends a request of a caller, and returns the status and the body. Zero: the client has left.
func (m *mounted) send(ctx context.Context, caller string, request hungRequest) (status int, body string) {
	r, err := http.NewRequestWithContext(ctx, request.method, m.URL+request.path, strings.NewReader(request.body))
	if err != nil {
		m.t.Error(err)
		return 0, ""
	}
	switch {
	case request.header[0] == "Idempotency-Key":
		r.Header.Set("X-Caller", "writer") // who has sent it before
	case request.header[0] != "Authorization":
		r.Header.Set("X-Caller", caller)
	}
	if request.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if request.header[0] != "" {
		r.Header.Set(request.header[0], request.header[1])
	}
	response, err := m.Client().Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(text)
}

// TestReadsThatHang: every read has a time limit, ends when its client has left and when the server stops, and
// takes a place of its caller: others are served, and the server is ready.
func TestReadsThatHang(t *testing.T) {
	file, err := schema.Parse([]byte(hungSchema))
	if err != nil {
		t.Fatal(err)
	}
	eachStore(t, file.Schema, func(t *testing.T, s *server) {
		secret, err := admin.CreateKey(t.Context(), s.config.Database, admin.Key{Name: "x", Role: "admin"})
		if err != nil {
			t.Fatal(err)
		}
		other := s.create("/others", `{"name":"a"}`)
		requests := s.hungRequests(secret)
		access := func(c *plural.Config) {
			c.Access, c.QueryTimeout = file.Access, -1
			keepAll(c)
		}
		patient := s.another(access)
		limit := 50 * time.Millisecond
		if !strings.HasPrefix(s.config.Database, "sqlite:") {
			limit = time.Second // PostgreSQL ignores a cancellation that comes before the statement
		}
		hasty := s.another(access, func(c *plural.Config) { c.QueryTimeout = limit })
		m := patient.mount(t)
		if status, body := m.send(t.Context(), "", requests[len(requests)-1]); status != 201 {
			t.Fatal(status, body)
		}
		release := s.hang()
		// Queries that never end would keep the processors that Go uses from everything else for 10 ms each.
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(128))

		limited, all := hasty.mount(t), sync.WaitGroup{}
		for i, request := range requests {
			all.Go(func() {
				status, body := limited.send(t.Context(), fmt.Sprint(i), request)
				if status != 503 || request.method != "HEAD" && !strings.Contains(body, `"code":"too_expensive"`) {
					t.Errorf("%s %s %s: got %d %s", request.method, request.path, request.header, status, body)
				}
			})
		}
		all.Wait()

		left, leave := context.WithCancel(t.Context())
		reads := int64(0)
		for i, request := range requests {
			if request.method == "GET" || request.method == "HEAD" {
				reads++
				all.Go(func() { m.send(left, fmt.Sprint(i), request) })
			}
		}
		eventually(t, "all requests are there", func() bool { return m.arrived.Load() == 1+reads })
		leave()
		all.Wait()
		eventually(t, "no request is left when its client is", func() bool { return m.inside.Load() == 0 })

		for range 2 {
			for _, request := range requests {
				all.Go(func() {
					if status, body := m.send(t.Context(), "eve", request); status != 503 && (request.method != "POST" || status != 409) { // its key is in use
						t.Errorf("%s %s %s when the server stops: got %d %s", request.method, request.path, request.header, status, body)
					}
				})
			}
		}
		eventually(t, "all requests of one caller are there", func() bool { return m.arrived.Load() == 1+reads+2*int64(len(requests)) })
		if status, body := m.send(t.Context(), "ada", hungRequest{method: "GET", path: "/others/" + other}); status != 200 {
			t.Errorf("another caller: got %d %s", status, body)
		}
		eventually(t, "the server is ready", func() bool {
			status, _ := m.send(t.Context(), "", hungRequest{method: "GET", path: "/-/ready"})
			return status == 200
		})
		now, end := context.WithCancel(t.Context())
		end()
		var stopping sync.WaitGroup
		stopping.Go(func() { stop(t, patient.opened, now) })
		all.Wait()
		release() // writes of the server itself, such as those that merge totals, hang as well
		stopping.Wait()
	}, keepAll)
}

// keepAll lets the server remove nothing that is old: that would hang, too.
func keepAll(c *plural.Config) {
	c.ChangeRetention, c.IdempotencyRetention, c.OperationRetention = -1, -1, -1
}
