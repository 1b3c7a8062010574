package interfacetest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/internal/pgtest"
)

// versionHeaders are the headers of a response that are about versions, without the moment since which a version is deprecated.
func (a answer) versionHeaders(t testing.TB) string {
	t.Helper()
	list := a.header.Get("API-Version")
	if since := a.header.Get("Deprecation"); since != "" {
		var seconds int64
		if _, err := fmt.Sscanf(since, "@%d", &seconds); err != nil || time.Since(time.Unix(seconds, 0)).Abs() > time.Hour {
			t.Errorf("Deprecation: %s", since)
		}
		list += " deprecated"
	}
	if sunset := a.header.Get("Sunset"); sunset != "" {
		list += " until " + sunset
	}
	if slices.Contains(a.header.Values("Vary"), "API-Version") {
		list += " varies"
	}
	return list
}

const (
	newest     = "3 varies"
	second     = "2 varies"
	deprecated = "1 deprecated until Fri, 01 Jan 2027 00:00:00 GMT varies"
)

// TestVersionOfRequests: the header chooses the version, the newest is used without it, and what depends on the schema says which it was.
func TestVersionOfRequests(t *testing.T) {
	eachVersioned(t, func(t *testing.T, s *server) {
		for _, c := range []struct {
			request, version string
			status           int
			want             string // see versionHeaders
		}{
			{"GET /customers", "", 200, newest},
			{"GET /customers", "3", 200, newest},
			{"HEAD /customers", "2", 200, second},
			{"GET /clients", "1", 200, deprecated},
			{"GET /clients/" + id(1), "1", 200, deprecated},
			{"GET /client/" + id(1), "1", 200, deprecated},
			{"GET /client/" + id(1), "2", 404, second},
			{"GET /clients", "", 404, newest},
			{"GET /clients", "2", 404, second},
			{"GET /customers", "1", 404, deprecated},
			{"GET /customers/" + id(9), "2", 404, second},
			{"GET /customers?filter[vip]", "2", 400, second},
			{"PUT /clients", "1", 405, deprecated},
			{"OPTIONS /clients", "1", 204, deprecated},
			{"OPTIONS /labels/" + id(1), "2", 204, second},
			{"GET /-/groups/clients", "1", 200, deprecated},
			{"GET /-/groups/clients", "2", 404, second},
			{"GET /", "1", 200, deprecated},
			{"GET /-/me", "1", 200, deprecated},
			{"GET /changes", "1", 200, deprecated},
			{"GET /operations", "2", 200, second},
			{"GET /-/openapi.json", "2", 200, second},
			{"GET /customers/", "2", 308, ""},
			{"GET /-/health", "2", 200, ""},
			{"GET /-/health", "9", 200, ""},
			{"GET /-/ready", "9", 200, ""},
			{"GET /-/metrics", "9", 200, ""},
			{"GET /-/docs", "9", 200, ""},
			{"OPTIONS /-/health", "9", 204, ""},
		} {
			method, path, _ := strings.Cut(c.request, " ")
			a := s.do(method, path, "", "API-Version", c.version)
			if got := a.versionHeaders(t); a.status != c.status || got != c.want {
				t.Errorf("%s of version %q: %d %q, want %d %q\n%s", c.request, c.version, a.status, got, c.status, c.want, a.body)
			}
		}
		tag := s.version(1).get("/clients/" + id(1)).header.Get("ETag")
		if a := s.version(1).get("/clients/"+id(1), "If-None-Match", tag); a.status != 304 || a.versionHeaders(t) != deprecated {
			t.Errorf("not modified: %d %q", a.status, a.versionHeaders(t))
		}
		if a := s.get("/", "Accept", "text/html", "API-Version", "1"); a.status != 303 || a.versionHeaders(t) != "" {
			t.Errorf("to the explorer: %d %q", a.status, a.versionHeaders(t))
		}
		stream := s.stream("/clients", "API-Version", "1")
		if got := (answer{header: stream.header}).versionHeaders(t); got != deprecated {
			t.Errorf("a stream has %q", got)
		}
	})
}

// TestUnknownVersions: what names no version that is served is refused, with those that are.
func TestUnknownVersions(t *testing.T) {
	eachVersioned(t, func(t *testing.T, s *server) {
		for _, given := range [][]string{{"0"}, {"4"}, {"02"}, {"+2"}, {"-1"}, {"2.0"}, {"x"}, {""}, {" "}, {"2", "2"}, {"1", "3"}, {"99999999999999999999"}} {
			r, err := http.NewRequest("GET", s.base+"/customers", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header["Api-Version"] = given
			a := s.answerTo(r)
			a.expect(t, 400, `{"errors":[{"status":400,"code":"unknown_version","title":"Unknown version of the interface","detail":"There is no version \"`+
				strings.TrimSpace(strings.Join(given, ", "))+`\". The versions that are served are 1, 2 and 3.","source":{"header":"API-Version"}}]}`)
			if got := a.versionHeaders(t); got != " varies" {
				t.Errorf("%q: %q", given, got)
			}
		}
	})
}

// TestNoVersions: a schema without versions serves none.
func TestNoVersions(t *testing.T) {
	eachStore(t, parsed(t, "collections: {things: {attributes: {name: {type: string}}}}").Schema, func(t *testing.T, s *server) {
		s.get("/things", "API-Version", "1").expect(t, 400, `{"errors":[{"status":400,"code":"unknown_version","title":"Unknown version of the interface",`+
			`"detail":"The interface of this server has no versions. Leave API-Version out.","source":{"header":"API-Version"}}]}`)
		for _, path := range []string{"/things", "/", "/-/me", "/nothing"} {
			if a := s.get(path); a.versionHeaders(t) != "" || a.header.Get("API-Versions") != "" || strings.Contains(a.body, "api_version") {
				t.Errorf("%s: %v %s", path, a.header, a.body)
			}
		}
	})
}

// TestListOfVersions: GET / lists the versions that are served.
func TestListOfVersions(t *testing.T) {
	eachVersioned(t, func(t *testing.T, s *server) {
		for _, version := range []int{1, 2, 3} {
			a := s.version(version).get("/")
			since := s.version(1).get("/").header.Get("Deprecation")
			if got, want := a.header.Get("API-Versions"), "1;deprecation="+since+";sunset=@1798761600, 2, 3"; a.status != 200 || got != want || since == "" {
				t.Errorf("%d: %q, want %q", a.status, got, want)
			}
		}
	})
}

// TestVersionsThatEnded: a version that cannot be derived any more is 410, with the reasons if there is no access control.
func TestVersionsThatEnded(t *testing.T) {
	files := []string{
		"version: 1\ncollections: {people: {attributes: {name: {type: string}, age: {type: integer}}}}",
		"version: 2\ncollections: {people: {attributes: {name: {type: string}, years: {type: string, renamed_from: age}}}}",
		"version: 3\ncollections: {people: {attributes: {years: {type: string}}}}",
		"version: 4\ncollections: {people: {attributes: {years: {type: string}, size: {type: integer}}}}",
	}
	access := "\naccess: {roles: {public: {people: {list: true, read: true}}}}"
	for name, database := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) {
			url := database(t)
			s := startVersioned(t, url, files, func(*server, int) {})
			const served = "The versions that are served are 3 and 4."
			for version, detail := range map[int]string{
				1: "Version 1 has ended: people.age becomes string instead of integer. " + served,
				2: "Version 2 has ended: people.name is removed. " + served,
			} {
				a := s.version(version).get("/people")
				a.expect(t, 410, fmt.Sprintf(`{"errors":[{"status":410,"code":"version_gone","title":"The version of the interface has ended","detail":%q,"source":{"header":"API-Version"}}]}`, detail))
				if got := a.versionHeaders(t); got != " varies" {
					t.Errorf("%q", got)
				}
			}
			s.version(3).get("/people").expect(t, 200, `{"data":[]}`)
			s.version(5).get("/people").expectErrors(t, 400, "unknown_version API-Version")
			file := parsed(t, files[3]+access)
			s = s.restart(t.Context(), func(c *plural.Config) { c.Access = file.Access })
			s.version(2).get("/people").expect(t, 410, `{"errors":[{"status":410,"code":"version_gone","title":"The version of the interface has ended","detail":"Version 2 has ended. `+served+`","source":{"header":"API-Version"}}]}`)
		})
	}
}

// TestPropertiesOfVersions: parameters of a version know the properties of an object that it declares, and no later ones.
func TestPropertiesOfVersions(t *testing.T) {
	eachDatabase(t, func(t *testing.T, database string) {
		s := startVersioned(t, database, []string{
			"version: 1\ncollections: {people: {attributes: {prefs: {type: object, properties: {theme: {type: string}}}}}}",
			"version: 2\ncollections: {people: {attributes: {options: {type: object, properties: {theme: {type: string}, tz: {type: string}}, renamed_from: prefs}}}}",
		}, func(s *server, _ int) {
			s.createAll("/people", fmt.Sprintf(`{"id":"%s","prefs":{"theme":"dark"}}`, id(1)))
		})
		s.get("/people?filter[options.tz][null]=true&sort=options.tz&fields=id").expect(t, 200, `{"data":[{"id":"`+id(1)+`","type":"people"}]}`)
		first := s.version(1)
		first.get("/people?filter[prefs.theme]=dark&sort=prefs.theme&fields=id").expect(t, 200, `{"data":[{"id":"`+id(1)+`","type":"people"}]}`)
		first.get("/people?filter[prefs.tz]=UTC&sort=prefs.tz").expectErrors(t, 400, "unknown_parameter filter[prefs.tz]", "invalid_parameter sort")
		first.get("/-/groups/people?by=prefs.tz").expectErrors(t, 400, "invalid_parameter by")
	})
}

// TestPreflightOfVersions: a browser asks without the version and without credentials whether it may send a request.
func TestPreflightOfVersions(t *testing.T) {
	eachVersioned(t, func(t *testing.T, s *server) {
		for _, c := range []struct{ path, method, version, allow string }{
			{"/clients/" + id(1), "PATCH", deprecated, "GET, HEAD, QUERY, PUT, PATCH, DELETE, OPTIONS"},
			{"/labels", "POST", second, "GET, HEAD, QUERY, POST, PATCH, DELETE, OPTIONS"},
			{"/customers", "POST", newest, "GET, HEAD, QUERY, POST, PATCH, DELETE, OPTIONS"},
			{"/clients/" + id(1), "POST", newest, ""},
			{"/nothing", "POST", newest, ""},
		} {
			a := s.do("OPTIONS", c.path, "", "Origin", "https://app.example", "Access-Control-Request-Method", c.method, "Access-Control-Request-Headers", "api-version")
			if got := a.versionHeaders(t); got != c.version || a.header.Get("Access-Control-Allow-Methods") != c.allow || (a.status == 204) != (c.allow != "") {
				t.Errorf("%v: %d %q %v", c, a.status, got, a.header)
			}
			if c.allow != "" && !strings.Contains(a.header.Get("Access-Control-Allow-Headers"), "API-Version") {
				t.Errorf("%v: %v", c, a.header)
			}
		}
		exposed := s.get("/customers", "Origin", "https://app.example").header.Get("Access-Control-Expose-Headers")
		for _, name := range []string{"API-Version", "API-Versions", "Deprecation", "Sunset"} {
			if !slices.Contains(strings.Split(exposed, ", "), name) {
				t.Errorf("%s is not in %s", name, exposed)
			}
		}
	}, func(c *plural.Config) { c.AllowedOrigins = []string{"https://app.example"} })
}

// TestVersionIsInTheFingerprint: a key of one version is another request in another version, also if the paths are equal.
func TestVersionIsInTheFingerprint(t *testing.T) {
	eachVersioned(t, func(t *testing.T, s *server) {
		body := fmt.Sprintf(`{"id":"%s","code":"k"}`, id(31))
		send := func(s *server) answer { return s.do("POST", "/orders", body, "Idempotency-Key", "k") }
		first := send(s.version(2))
		if again := send(s.version(2)); first.status != 201 || again.body != first.body || again.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%d %s, then %v %s", first.status, first.body, again.header, again.body)
		}
		for _, other := range []*server{s, s.version(1), s.version(3)} {
			send(other).expectErrors(t, 422, "idempotency_key_reused Idempotency-Key")
		}
		steps := func(s *server) answer {
			return s.transaction([]string{fmt.Sprintf(`{"method":"PATCH","path":"/orders/%s","body":{"code":"l"}}`, id(31))}, "Idempotency-Key", "t")
		}
		if a := steps(s.version(2)); a.status != 200 {
			t.Errorf("%d %s", a.status, a.body)
		}
		steps(s).expectErrors(t, 422, "idempotency_key_reused Idempotency-Key")
	})
}
