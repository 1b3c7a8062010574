package interfacetest

import (
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// allowed is what each kind of path takes.
var allowed = map[string]string{
	"/":                                   "GET, HEAD, QUERY, OPTIONS",
	"/users":                              "GET, HEAD, QUERY, POST, PATCH, DELETE, OPTIONS",
	"/users/" + id(0):                     "GET, HEAD, QUERY, PUT, PATCH, DELETE, OPTIONS",
	"/users/" + id(0) + "/posts":          "GET, HEAD, QUERY, POST, PATCH, DELETE, OPTIONS",
	"/users/" + id(0) + "/posts/" + id(0): "GET, HEAD, QUERY, PUT, PATCH, DELETE, OPTIONS",
	"/user/" + id(0):                      "GET, HEAD, QUERY, OPTIONS",
	"/-/health":                           "GET, HEAD, OPTIONS",
	"/-/ready":                            "GET, HEAD, OPTIONS",
	"/-/metrics":                          "GET, HEAD, OPTIONS",
	"/-/transaction":                      "POST, OPTIONS",
}

func TestMethods(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		startPosts(s)
		before := s.get("/users").body + s.get("/posts").body
		for path, allow := range allowed {
			options := s.do("OPTIONS", path, "")
			if options.status != 204 || options.body != "" || options.header.Get("Allow") != allow || options.header.Get("X-Request-Id") == "" {
				t.Errorf("OPTIONS %s: %d %v %s", path, options.status, options.header, options.body)
			}
			for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "get", "Get", "QUERY", "query"} {
				if strings.Contains(", "+allow+",", ", "+method+",") {
					continue
				}
				refused := s.do(method, path, "{}")
				refused.expectErrors(t, 405, "method_not_allowed")
				refused.expectHeaders(t, "Allow: "+allow)
			}
		}
		if after := s.get("/users").body + s.get("/posts").body; after != before {
			t.Errorf("got  %s\nwant %s", after, before)
		}
	})
}

func TestUnknownPaths(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		startPosts(s)
		for _, path := range []string{
			"/nope", "/Users", "/users%00", "/users%2F" + id(0), "/users/nope", "/users/" + id(0) + "/nope", "/users/" + id(0) + "/posts/" + id(0) + "/x",
			"//users", "/users//" + id(0), "/users//", "//", "/./users", "/../users", "/users/..", "/operation", "/collections", "/-", "/-/nope", "/-/health/x",
			"/" + strings.Repeat("x", 5000), "/%F0%9D%84%9E", "/%ff", "/*", "/users,posts", "/user", "/_plural_meta", "/_plural_changes",
		} {
			for _, method := range []string{"GET", "QUERY", "POST", "DELETE", "OPTIONS", "NOPE"} {
				s.expectRefusal(t, method, path, "", 404, "not_found")
			}
		}
	})
}

// TestTrailingSlash: 308 without a body, and the query is kept.
func TestTrailingSlash(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		for path, want := range map[string]string{
			"/users/":                           "/users",
			"/users/?limit=1&filter[active]":    "/users?limit=1&filter[active]",
			"/users/" + id(0) + "/":             "/users/" + id(0),
			"/users/" + id(0) + "/posts/?o=%31": "/users/" + id(0) + "/posts?o=%31",
			"/user/" + id(0) + "/":              "/user/" + id(0),
		} {
			for _, method := range []string{"GET", "HEAD", "QUERY", "POST", "DELETE"} {
				got := s.do(method, path, "")
				if got.status != 308 || got.header.Get("Location") != want || got.body != "" || got.header.Get("Content-Length") != "0" || got.header.Get("X-Request-Id") == "" {
					t.Errorf("%s %s: %d %v %q", method, path, got.status, got.header, got.body)
				}
			}
		}
		// No redirection leads to another host.
		for _, path := range []string{"//example.com/", "///example.com/", "/%2Fexample.com/", "/%5Cexample.com/", `/\example.com/`, "/./example.com/"} {
			got := s.get(path)
			if location := got.header.Get("Location"); got.status != 404 && (got.status != 308 || len(location) < 2 || location[0] != '/' || strings.ContainsAny(location[1:2], `/\`)) {
				t.Errorf("%s: %d to %q", path, got.status, location)
			}
		}
	})
}

func TestNegotiation(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		for _, accept := range []string{
			"application/json", "*/*", "application/*", "text/html, application/json;q=0.1", "text/html,*/*;q=0.8", "application/json;charset=utf-8", "application/*;q=0, application/json", "APPLICATION/JSON",
		} {
			s.get("/users", "Accept", accept).expect(t, 200, data(user(0)))
		}
		for _, accept := range []string{"text/html", "application/xml", "application/json;q=0", "*/*;q=0", "application/json;q=0, */*", "application/vnd.api+json", "nonsense", "image/*"} {
			s.get("/users", "Accept", accept).expectErrors(t, 406, "not_acceptable Accept")
			s.do("DELETE", "/users/"+id(0), "", "Accept", accept).expectErrors(t, 406, "not_acceptable Accept")
			s.do("POST", "/users", ada, "Accept", accept).expectErrors(t, 406, "not_acceptable Accept")
		}
		for _, method := range []string{"POST", "PUT", "PATCH"} {
			path, want := "/users/"+id(0), []string{"Accept: application/json"}
			if method == "POST" {
				path = "/users"
			}
			if method == "PATCH" {
				want = append(want, "Accept-Patch: application/json")
			}
			for _, contentType := range []string{"", "text/json", "application/json-patch+json", "application/x-www-form-urlencoded", "application/json; charset=latin1", "application/json; boundary=x", ";", "application/json, application/json"} {
				refused := s.do(method, path, ada, "Content-Type", contentType)
				refused.expectErrors(t, 415, "unsupported_media_type Content-Type")
				refused.expectHeaders(t, want...)
			}
			s.do(method, path, ada, "Content-Encoding", "gzip").expectErrors(t, 415, "unsupported_media_type Content-Encoding")
		}
		s.get("/users").expect(t, 200, data(user(0)))
		s.do("GET", "/users", "{}").expectErrors(t, 400, "unexpected_body")
		s.do("GET", "/users/"+id(0), "x", "Content-Type", "text/plain").expectErrors(t, 400, "unexpected_body")
	})
}

// TestRequestID: a sane one is kept, on every kind of answer.
func TestRequestID(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		for _, sane := range []string{"a", "7f3c-11:22/33.44_55", strings.Repeat("x", 128), "{curly}~!"} {
			for _, path := range []string{"/users", "/nope", "/users/", "/-/health"} {
				if got := s.get(path, "X-Request-Id", sane).header["X-Request-Id"]; len(got) != 1 || got[0] != sane {
					t.Errorf("%s: %q became %q", path, sane, got)
				}
			}
		}
		seen := map[string]bool{}
		for _, insane := range []string{"", "with space", "tab\there", `"quoted"`, `back\slash`, strings.Repeat("x", 129), "é"} {
			got := s.get("/users", "X-Request-Id", insane).header.Get("X-Request-Id")
			if got == insane || len(got) != 32 || seen[got] {
				t.Errorf("%q became %q", insane, got)
			}
			seen[got] = true
		}
	})
}

func TestBodyLimits(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		body := func(size int) string {
			const frame = `{"body":""}`
			return `{"body":"` + strings.Repeat("x", size-len(frame)) + `"}`
		}
		if got := s.do("POST", "/posts", body(1<<20)); got.status != 201 {
			t.Errorf("1 MiB: %d", got.status)
		}
		for _, size := range []int{1<<20 + 1, 2 << 20} {
			s.do("POST", "/posts", body(size)).expectErrors(t, 413, "body_too_large")
			s.doChunked("POST", "/posts", body(size)).expectErrors(t, 413, "body_too_large")
		}
		if total := s.get("/posts?limit=0").total(); total != "1" {
			t.Errorf("the total is %s", total)
		}
	})
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		s.do("POST", "/posts", `{"title":"12345"}`).expectErrors(t, 413, "body_too_large")
		s.createAll("/posts", `{"title":"1"}`)
	}, func(c *plural.Config) { c.MaxBody = 16 })
}

// TestSystemPaths: what is not part of the resource interface has its own types.
func TestSystemPaths(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		for want, got := range map[string]answer{`{"status":"ok"}`: s.get("/-/health"), `{"status":"ready"}`: s.awaitReady()} {
			if got.status != 200 || got.body != want || got.header.Get("Content-Type") != "application/json" || got.header.Get("X-Request-Id") == "" {
				t.Errorf("got %d %v %s, want %s", got.status, got.header, got.body, want)
			}
		}
		s.get("/users/" + id(0))
		metrics := s.get("/-/metrics")
		if metrics.status != 200 || !strings.HasPrefix(metrics.header.Get("Content-Type"), "text/plain") ||
			!strings.Contains(metrics.body, `plural_request_duration_seconds_count{method="GET",route="/users/{id}",status="404"} 1`) {
			t.Errorf("%d %v\n%s", metrics.status, metrics.header, metrics.body)
		}
	})
}
