package interfacetest

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

const formType = "application/x-www-form-urlencoded"

// query sends a QUERY that has the parameters of a path as its body.
func (s *server) query(path string, headers ...string) answer {
	s.t.Helper()
	path, parameters, _ := strings.Cut(path, "?")
	if parameters != "" {
		headers = append([]string{"Content-Type", formType}, headers...)
	}
	return s.do("QUERY", path, parameters, headers...)
}

// expectSameByQuery sends a QUERY for a request that was answered, if it is a GET without conditions, and compares the whole responses.
func (s *server) expectSameByQuery(t interface {
	Helper()
	Errorf(format string, args ...any)
}, method, path string, got answer, headers ...string) {
	t.Helper()
	for i := 0; i < len(headers); i += 2 {
		if (headers[i] == "If-Match" || headers[i] == "If-None-Match") && headers[i+1] != "" {
			return
		}
	}
	if method != "GET" {
		return
	}
	queried := s.query(path, headers...)
	want := maps.Clone(got.header)
	for _, name := range []string{"Date", "X-Request-Id", "Link", "Etag"} {
		delete(want, name)
	}
	delete(queried.header, "Date")
	delete(queried.header, "X-Request-Id")
	if queried.status != got.status || queried.body != got.body || fmt.Sprint(queried.header) != fmt.Sprint(want) {
		t.Errorf("QUERY %s\ngot  %d %v %s\nwant %d %v %s", path, queried.status, queried.header, queried.body, got.status, want, got.body)
	}
}

// TestQuery: every kind of path answers a QUERY as a GET, without Link and ETag, and lists say what the body can be.
func TestQuery(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		startPosts(s)
		one, history := "/users/"+id(0), "/users/"+id(0)+"/changes"
		lists := []string{
			"/", "/users", "/users?limit=1", "/users?o=1&l=-1&sort=-name", "/users?cursor=" + id(1), "/users?filter[active]", "/users?filter[name]=Ada&filter[name]=Bo",
			"/users?filter[name][in]=Ada,Bo%2CC&include=posts&include[posts][limit]=1&fields=name", "/users?limit=0", "/posts?filter[any][0][title]=a&filter[any][1][body][null]=true",
			one + "/posts", one + "/posts?limit=1", "/changes", "/changes?filter[collection]=users&limit=-2", history, history + "?limit=1", "/operations",
			"/-/groups/users?by=active", "/-/groups/posts", "/users?", "/users?&&",
		}
		for _, path := range lists {
			got := s.get(path)
			s.expectSameByQuery(t, "GET", path, got)
			s.expectSameByQuery(t, "GET", path, s.get(path, "Prefer", "count=exact"), "Prefer", "count=exact")
			if got.status != 200 || got.header.Get("Accept-Query") != formType {
				t.Errorf("%s: %d %v", path, got.status, got.header)
			}
			path, _, _ = strings.Cut(path, "?")
			s.do("OPTIONS", path, "").expectOptions(t, true)
		}
		change := s.get("/changes?limit=1").ids(t)[0]
		for _, path := range []string{
			one, one + "?fields=name", one + "?include=posts", one + "/posts/" + id(10), "/user/" + id(0), "/changes/" + change, history + "/" + change, "/users/" + id(99),
		} {
			got := s.get(path)
			s.expectSameByQuery(t, "GET", path, got)
			if got.header["Accept-Query"] != nil {
				t.Errorf("%s is no list: %v", path, got.header)
			}
			path, _, _ = strings.Cut(path, "?")
			if got.status == 200 {
				s.do("OPTIONS", path, "").expectOptions(t, true)
			}
		}
		for _, path := range []string{
			"/users?nope=1&limit=x", "/users?limit=1&limit=2", "/users?filter[nope]=1", "/users?a;b", "/users?filter[name]=%zz", "/users?since=1", "/?limit=1", one + "?limit=1",
			"/changes?offset=1", "/-/groups/users?by=nope", "/users/" + id(99) + "/posts", "/nothing?limit=1", "/changes/" + change + "?limit=1",
		} {
			s.expectSameByQuery(t, "GET", path, s.get(path))
		}
		for _, path := range []string{"/-/health", "/-/metrics", "/-/transaction"} {
			s.do("OPTIONS", path, "").expectOptions(t, false)
		}
		s.expectSameByQuery(t, "GET", "/users", s.get("/users", "Accept", "text/plain"), "Accept", "text/plain")
		s.expectSameByQuery(t, "GET", "/", s.get("/", "Accept", "text/html"), "Accept", "text/html")
		s.expectSameByQuery(t, "GET", "/users?limit=1000", s.get("/users?limit=1000", "Accept-Encoding", "gzip"), "Accept-Encoding", "gzip")
	})
}

// expectOptions checks that a reply to OPTIONS says whether there is a QUERY.
func (a answer) expectOptions(t testing.TB, query bool) {
	t.Helper()
	allowed := strings.Contains(a.header.Get("Allow"), "QUERY")
	if a.status != 204 || allowed != query || (a.header.Get("Accept-Query") == formType) != query {
		t.Errorf("OPTIONS: %d %v", a.status, a.header)
	}
}

// TestQueryWithoutEffect: conditions and Idempotency-Key do not change the response to a QUERY.
func TestQueryWithoutEffect(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 2)
		one := "/users/" + id(0)
		etag := s.get(one).header.Get("ETag")
		for _, path := range []string{one, "/users", "/changes?limit=1", "/-/groups/users"} {
			want := s.query(path)
			for _, headers := range [][]string{{"If-None-Match", etag}, {"If-None-Match", "*"}, {"If-Match", `"other"`}, {"If-Match", "malformed"}, {"Idempotency-Key", "k"}, {"Idempotency-Key", strings.Repeat("k", 300)}} {
				got := s.query(path, headers...)
				if got.status != 200 || got.body != want.body || got.header["Etag"] != nil || got.header["Idempotency-Replayed"] != nil {
					t.Errorf("%s with %v: %d %v %s", path, headers, got.status, got.header, got.body)
				}
			}
		}
	})
}

func TestQueryRefusals(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 3)
		unsupported := func(came string) string {
			return `{"errors":[{"status":415,"code":"unsupported_media_type","title":"Unsupported media type","detail":"The body must be parameters as in a URL, in UTF-8, but ` + came +
				`. Send Content-Type: application/x-www-form-urlencoded.","source":{"header":"Content-Type"}}]}`
		}
		for _, c := range []struct {
			path, body, media string
			status            int
			want              string
		}{
			{"/users", "", "", 200, data(user(0), user(1), user(2))},
			{"/users?limit=1", "", "", 200, data(user(0))},
			{"/users", "", formType, 200, data(user(0), user(1), user(2))},
			{"/users", "limit=1", formType + "; charset=UTF-8", 200, data(user(0))},
			{"/users", "sort=-name&limit=1", formType, 200, data(user(2))},
			{"/users?limit=1", "sort=name", formType, 400, `{"errors":[{"status":400,"code":"malformed_query","title":"The query string is malformed","detail":"The URL and the body both have parameters. Send all of them in the body."}]}`},
			{"/users", "limit=1", "", 415, unsupported("the request has no Content-Type")},
			{"/users", `{"limit":1}`, "application/json", 415, unsupported(`the Content-Type is \"application/json\"`)},
			{"/users", "", "application/json", 415, unsupported(`the Content-Type is \"application/json\"`)},
			{"/users", "limit=1", formType + ";charset=latin1", 415, unsupported(`the Content-Type is \"application/x-www-form-urlencoded;charset=latin1\"`)},
			{"/users", strings.Repeat("&", 1<<20), formType, 200, data(user(0), user(1), user(2))},
			{"/users", strings.Repeat("&", 1<<20+1), formType, 413, `{"errors":[{"status":413,"code":"body_too_large","title":"The body is too large","detail":"The body is too large. Send at most 1048576 bytes."}]}`},
		} {
			got := s.do("QUERY", c.path, c.body, "Content-Type", c.media)
			got.expectSettled(t, c.status, c.want)
			refused := c.status == 415
			if (got.header.Get("Accept-Query") == formType) != (refused || c.status == 200) || got.header["Accept"] != nil {
				t.Errorf("%+.100v: %v", c, got.header)
			}
		}
		s.do("QUERY", "/users", "limit=1", "Content-Type", formType, "Content-Encoding", "gzip").expectErrors(t, 415, "unsupported_media_type Content-Encoding")
	}, func(c *plural.Config) { c.MaxBody = 16 << 20 })
}

// TestQueryInASmallBody: a server that takes smaller bodies takes no larger ones of QUERY.
func TestQueryInASmallBody(t *testing.T) {
	s := start(t, schema.Example(), "sqlite:"+t.TempDir()+"/test.db", func(c *plural.Config) { c.MaxBody = 1 << 10 })
	s.do("QUERY", "/users", strings.Repeat("&", 1<<10), "Content-Type", formType).expect(t, 200, data())
	s.do("QUERY", "/users", strings.Repeat("&", 1<<10+1), "Content-Type", formType).expectErrors(t, 413, "body_too_large")
}

// TestLongQuery: 10,000 values, wherever a filter has values.
func TestLongQuery(t *testing.T) {
	file := parsed(t, `
collections:
  tasks:
    attributes:
      name: {type: string, maxLength: 40, index: true}
      rank: {type: integer}
      tags: {type: array, items: {type: string}, index: true}
      box: {type: object, properties: {city: {type: string}}}
      owner_id: {references: {collection: owners}, inverse: tasks}
  owners:
    attributes:
      name: {type: string}
`)
	eachStore(t, file.Schema, func(t *testing.T, s *server) {
		s.createAll("/owners", `{"id":"`+id(0)+`","name":"v0"}`, `{"id":"`+id(1)+`","name":"w"}`)
		var bodies []string
		for i := range 20 {
			bodies = append(bodies, fmt.Sprintf(`{"id":"%s","name":"v%d","rank":%d,"tags":["v%d","x"],"box":{"city":"v%d"},"owner_id":"%s"}`, id(i), i*1000, i, i*1000, i*1000, id(i%2)))
		}
		s.createAll("/tasks", bodies...)
		values := func(format string, count int) string {
			all := make([]string, count)
			for i := range all {
				all[i] = fmt.Sprintf(format, i)
			}
			return strings.Join(all, ",")
		}
		const most = 10_000
		names := values("v%d", most)
		for _, c := range []struct {
			parameters string
			want       []int
		}{
			{"filter[name][in]=" + names, from(0, 10)},
			{"filter[name][not_in]=" + names, from(10, 20)},
			{"filter[name][in]=" + names + "&sort=-rank&cursor=" + id(5) + "&limit=3", []int{5, 4, 3}},
			{"filter[name][in]=" + names + "&offset=8&limit=5", []int{8, 9}},
			{strings.ReplaceAll("filter[name]="+names, ",", "&filter[name]="), from(0, 10)},
			{"filter[rank][in]=" + values("%d", most), from(0, 20)},
			{"filter[id][in]=" + values("00000000-0000-7000-8000-%012d", most), from(0, 20)},
			{"filter[tags][has]=" + strings.ReplaceAll(names, ",", "&filter[tags][has]="), from(0, 10)},
			{"filter[tags][has_all]=" + names, nil},
			{"filter[box.city][in]=" + names, from(0, 10)},
			{"filter[owner.name][in]=" + names, []int{0, 2, 4, 6, 8, 10, 12, 14, 16, 18}},
			{"filter[any][0][name][in]=" + values("v%d", most/2) + "&filter[any][1][box.city][in]=" + values("v%d", most/2), from(0, 5)},
		} {
			got := s.do("QUERY", "/tasks", c.parameters, "Content-Type", formType, "Prefer", "count=exact")
			got.expectPositions(t, fmt.Sprintf("%.60s", c.parameters), append([]int{}, c.want...)...)
		}
		s.do("QUERY", "/-/groups/tasks", "filter[name][in]="+names+"&sum=rank", "Content-Type", formType).expectSettled(t, 200,
			`{"data":[{"id":"`+s.get("/-/groups/tasks").ids(t)[0]+`","type":"groups","by":{},"count":10,"sum":{"rank":45}}]}`)
		changes := s.do("QUERY", "/changes", "filter[kind]=created&limit=5&filter[resource.id][in]="+values("00000000-0000-7000-8000-%012d", most-1), "Content-Type", formType)
		if len(changes.ids(t)) != 5 {
			t.Errorf("%d %s", changes.status, changes.body)
		}
		included := s.do("QUERY", "/owners/"+id(1), "include=tasks&fields[tasks]=name&include[tasks][filter][name][in]="+values("v%d", most), "Content-Type", formType)
		if included.status != 200 || strings.Count(included.body, `"type":"tasks"`) != 5 {
			t.Errorf("%d %s", included.status, included.body)
		}
		tooMany := func(detail string) string {
			return `{"errors":[{"status":400,"code":"too_many_values","title":"Too many filter values or sort keys","detail":"` + detail + `","source":{"parameter":"filter[rank][in]"}}]}`
		}
		s.do("QUERY", "/tasks", "filter[rank][in]="+values("%d", most+1), "Content-Type", formType).expectSettled(t, 400, tooMany("At most 10000 filter values can be given."))
		s.get("/tasks?filter[rank][in]="+values("%d", 1001)).expectSettled(t, 400, tooMany("At most 1000 filter values can be given. A QUERY can have 10000."))
		s.do("DELETE", "/tasks?filter[rank][in]="+values("%d", 1001), "").expectSettled(t, 400, tooMany("At most 1000 filter values can be given."))
	})
}

// TestQueryStream: the parameters of a stream are the body, and Last-Event-ID continues it.
func TestQueryStream(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 3)
		e := openStreamOf(t, client, "QUERY", s.base+"/users", "filter[active]&fields=name")
		short := func(position int, name string) string {
			return fmt.Sprintf(`{"id":"%s","type":"users","name":"%s"}`, id(position), name)
		}
		position := e.expect(`listed {"data":`+short(0, "User 0")+`}`, `listed {"data":`+short(2, "User 2")+`}`, "synced {}")
		s.do("PATCH", "/users/"+id(1), `{"name":"B"}`)
		s.do("PATCH", "/users/"+id(2), `{"name":"C"}`)
		want := "updated " + eventOf(short(2, "C"), `,"previous":{"name":"User 2"}`)
		e.expect(want)
		e.close()
		again := openStreamOf(t, client, "QUERY", s.base+"/users", "filter[active]&fields=name", "Last-Event-ID", position)
		again.expect(want)
		s.query("/operations", "Accept", "text/event-stream").expectErrors(t, 406, "not_acceptable Accept")
		s.query("/users?limit=1", "Accept", "text/event-stream").expectErrors(t, 400, "unknown_parameter limit")
	})
}

// TestQueryWaits: a long poll by QUERY waits for a change.
func TestQueryWaits(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		last := s.get("/changes?limit=-1").ids(t)[0]
		found := make(chan answer, 1)
		go func() { found <- s.query("/changes?limit=5&since="+last, "Prefer", "wait=300") }()
		s.awaitMetric("plural_streams 1")
		s.do("PATCH", "/users/"+id(0), `{"name":"B"}`)
		select {
		case got := <-found:
			if got.status != 200 || len(got.ids(t)) != 1 || got.header.Get("Preference-Applied") != "wait=300" || got.header["Link"] != nil {
				t.Errorf("%d %v %s", got.status, got.header, got.body)
			}
		case <-time.After(hung):
			t.Fatal("the QUERY still waits")
		}
	})
}

// TestQueryAccess: a QUERY needs and shows what a GET does. Nobody else can make the server read a body.
func TestQueryAccess(t *testing.T) {
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open()
		h.fill(true, "example.com")
		for _, caller := range callers {
			for _, path := range []string{"/", "/users", "/posts?filter[title][starts_with]=P", "/users/" + id(adaAt), "/users/" + id(adaAt) + "/posts", "/changes", "/users/" + id(adaAt) + "/changes", "/-/groups/posts?by=user_id", "/operations", "/post/" + id(11)} {
				h.expectSameByQuery(t, "GET", path, h.as(caller, "GET", path, ""), "Authorization", h.keys[caller])
			}
		}
		got := h.do("QUERY", "/users", "limit=1", "Content-Type", "text/plain", "Authorization", "Bearer wrong")
		got.expectErrors(t, 401, "invalid_credentials Authorization")
	})
}

// TestQueryRates: a QUERY counts as a GET.
func TestQueryRates(t *testing.T) {
	s := start(t, schema.Example(), "sqlite:"+t.TempDir()+"/test.db", func(c *plural.Config) { c.RateLimit = schema.Rate{Requests: 2, Per: time.Hour} })
	for i, want := range []int{200, 200, 429} {
		got := s.query("/users?limit=1")
		left, _, _ := strings.Cut(got.header.Get("RateLimit"), ";t=")
		if got.status != want || left != fmt.Sprintf(`"address";r=%d`, max(1-i, 0)) || got.header.Get("RateLimit-Policy") != `"address";q=2;w=3600` {
			t.Errorf("request %d: %d %v", i, got.status, got.header)
		}
	}
}

// TestQueryIsObserved: metrics have the method, and a browser may send it.
func TestQueryIsObserved(t *testing.T) {
	s := start(t, schema.Example(), "sqlite:"+t.TempDir()+"/test.db", func(c *plural.Config) { c.AllowedOrigins = []string{"https://app.example.com"} })
	s.query("/users?limit=1").expect(t, 200, data())
	s.awaitMetric(`plural_request_duration_seconds_count{method="QUERY",route="/users",status="200"} 1`)
	preflight := s.do("OPTIONS", "/users", "", "Origin", "https://app.example.com", "Access-Control-Request-Method", "QUERY", "Access-Control-Request-Headers", "content-type")
	if preflight.status != http.StatusNoContent || !strings.Contains(preflight.header.Get("Access-Control-Allow-Methods"), "QUERY") || !strings.Contains(preflight.header.Get("Access-Control-Allow-Headers"), "Content-Type") {
		t.Errorf("%d %v", preflight.status, preflight.header)
	}
	if exposed := s.query("/users", "Origin", "https://app.example.com").header.Get("Access-Control-Expose-Headers"); !strings.Contains(exposed, "Accept-Query") {
		t.Errorf("exposed are %s", exposed)
	}
}
