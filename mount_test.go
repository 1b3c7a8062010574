package plural_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/plural-go/plural"
)

// However a server is mounted, what it tells a client to go to is where it is.
func TestMountedUnderAPrefix(t *testing.T) {
	const id = "01936f2e-7d3c-7a4b-9c5d-0123456789ab"
	mux := func(pattern string, handler http.Handler) http.Handler {
		m := http.NewServeMux()
		m.Handle(pattern, handler)
		return m
	}
	for name, c := range map[string]struct {
		at, prefix string
		mount      func(http.Handler) http.Handler
	}{
		"nowhere":                           {"", "", func(h http.Handler) http.Handler { return h }},
		"by its own prefix":                 {"/api/v1", "/api/v1", func(h http.Handler) http.Handler { return mux("/api/v1/", h) }},
		"stripped":                          {"/api", "", func(h http.Handler) http.Handler { return mux("/api/", http.StripPrefix("/api", h)) }},
		"stripped, and known":               {"/api", "/api", func(h http.Handler) http.Handler { return mux("/api/", http.StripPrefix("/api", h)) }},
		"stripped, and a prefix of its own": {"/api/v1", "/v1", func(h http.Handler) http.Handler { return mux("/api/", http.StripPrefix("/api", h)) }},
		"stripped twice": {"/a/b%20c", "", func(h http.Handler) http.Handler {
			return mux("/a/", http.StripPrefix("/a", http.StripPrefix("/b c", h)))
		}},
		"with a name in it": {"/tenants/7", "", func(h http.Handler) http.Handler {
			return mux("/tenants/{tenant}/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				http.StripPrefix("/tenants/"+r.PathValue("tenant"), h).ServeHTTP(w, r)
			}))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			server, err := plural.Open(context.Background(), plural.Config{
				Database: "sqlite:" + filepath.Join(t.TempDir(), "test.db"), Logger: slog.New(slog.DiscardHandler), Prefix: c.prefix,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer server.Stop(context.Background())
			outer := httptest.NewServer(c.mount(server))
			defer outer.Close()
			ask := func(method, path, body, header string) string {
				r, err := http.NewRequest(method, outer.URL+path, strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Content-Type", "application/json")
				response, err := http.DefaultTransport.RoundTrip(r)
				if err != nil {
					t.Fatal(err)
				}
				defer response.Body.Close()
				return response.Status[:3] + " " + withoutPosition(response.Header.Get(header))
			}
			unknown := func(path string) string {
				response, err := http.Get(outer.URL + path)
				if err != nil {
					t.Fatal(err)
				}
				defer response.Body.Close()
				text := new(strings.Builder)
				response.Write(text)
				_, body, _ := strings.Cut(text.String(), "\r\n\r\n")
				return body
			}
			for _, each := range []struct{ got, want string }{
				{ask("POST", c.at+"/users", `{"id":"`+id+`","name":"Ada","email":"ada@example.com"}`, "Location"), "201 " + c.at + "/users/" + id},
				{ask("GET", c.at+"/users?limit=1", "", "Link"), `200 <` + c.at + `/users?since=POSITION>; rel="changes", <` + c.at + `/users?limit=1>; rel="first", <` + c.at + `/users?limit=-1>; rel="last"`},
				{ask("GET", c.at+"/users/"+id+"/posts?limit=1", "", "Link"),
					`200 <` + c.at + `/users/` + id + `/posts?since=POSITION>; rel="changes", <` + c.at + `/users/` + id + `/posts?limit=1>; rel="first", <` + c.at + `/users/` + id + `/posts?limit=-1>; rel="last"`},
				{ask("GET", c.at+"/user/"+id, "", "Content-Location"), "200 " + c.at + "/users/" + id},
				{ask("GET", c.at+"/users/?limit=1", "", "Location"), "308 " + c.at + "/users?limit=1"},
				{ask("GET", c.at+"/", "", "X-Total-Count"), "200 4"},
				{ask("GET", c.at+"/-/health", "", "Content-Type"), "200 application/json"},
				{ask("HEAD", c.at+"/.well-known/api-catalog", "", "Link"), "200 <" + c.at + `/.well-known/api-catalog>; rel="api-catalog"`},
				{unknown(c.at + "/.well-known/api-catalog"), `{"linkset":[{"anchor":"` + c.at + `/","service-desc":[{"href":"` + c.at + `/-/openapi.json","type":"application/json"}],"service-doc":[{"href":"` + c.at + `/-/docs","type":"text/html"}],"status":[{"href":"` + c.at + `/-/health","type":"application/json"}]}]}`},
				{unknown(c.at + "/nope"), `{"errors":[{"status":404,"code":"not_found","title":"Not found","detail":"Nothing is at this path. GET ` + c.at + `/ lists the collections."}]}`},
				{unknown(c.at + "/-/nope"), `{"errors":[{"status":404,"code":"not_found","title":"Not found","detail":"Nothing is at this path. GET ` + c.at + `/ lists the collections."}]}`},
			} {
				if each.got != each.want {
					t.Errorf("got  %s\nwant %s", each.got, each.want)
				}
			}
			if c.at != "" {
				if got := ask("GET", c.at+c.at+"/users", "", "Link"); got != "404 " {
					t.Errorf("below its own prefix: %s", got)
				}
			}
		})
	}
}

var anyPosition = regexp.MustCompile(`since=[A-Za-z0-9_-]+`)

// withoutPosition is a header without the position in the change log, which no test knows.
func withoutPosition(header string) string {
	return anyPosition.ReplaceAllString(header, "since=POSITION")
}

// A path that was not merely shortened says nothing of where the server is.
func TestRewrittenPaths(t *testing.T) {
	server, err := plural.Open(context.Background(), plural.Config{Database: "sqlite:" + filepath.Join(t.TempDir(), "test.db"), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop(context.Background())
	for _, c := range []struct{ sent, path, want string }{
		{"/people?limit=1", "/users", `200 </users?since=POSITION>; rel="changes", </users?limit=1>; rel="first", </users?limit=-1>; rel="last" `},
		{"//evil.example/users/", "/evil.example/users/", "308  /evil.example/users"},
		{"//evil.example/users/", "/users/", "308  /users"},
		{"http://host.example/api/users?limit=1", "/users", `200 </api/users?since=POSITION>; rel="changes", </api/users?limit=1>; rel="first", </api/users?limit=-1>; rel="last" `},
	} {
		r := httptest.NewRequest("GET", c.sent, nil)
		r.RequestURI, r.URL.Path, r.URL.RawPath = c.sent, c.path, ""
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		if got := http.StatusText(w.Code); got == "" || c.want != strings.Join([]string{w.Result().Status[:3], withoutPosition(w.Header().Get("Link")), w.Header().Get("Location")}, " ") {
			t.Errorf("%s as %s: %d %v", c.sent, c.path, w.Code, w.Header())
		}
	}
}
