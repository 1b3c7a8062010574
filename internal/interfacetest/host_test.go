package interfacetest

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// hosts are those of requests, and whether a server without access takes them.
var hosts = map[string]bool{
	"localhost": true, "localhost:8080": true, "LOCALHOST:1": true, "localhost.": true, "app.localhost:3000": true,
	"127.0.0.1": true, "127.0.0.1:8080": true, "127.8.9.10:1": true, "[::1]": true, "[::1]:8080": true, "[::ffff:127.0.0.1]:80": true,
	"example.com": false, "example.com:8080": false, "localhost.example.com": false, "127.0.0.1.example.com": false, "notlocalhost": false,
	"0.0.0.0:8080": false, "[::]:8080": false, "10.0.0.1": false, "192.168.1.1:8080": false, "[fe80::1]": false, "127.1": false, "2130706433": false,
}

// sentTo asks for the users with a Host, and an Origin unless it is empty.
func (s *server) sentTo(host, origin, method string) int {
	s.t.Helper()
	r, err := http.NewRequest(method, s.base+"/users", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Host = host
	if origin != "" {
		r.Header.Set("Origin", origin)
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		s.t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

// TestHostIsChecked: a server that asks nobody who they are takes requests to this machine only.
func TestHostIsChecked(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		open := s
		if s.config.Database[:6] != "sqlite" { // which one server has at a time
			open = s.another(func(c *plural.Config) { c.Open = true })
		}
		for host, local := range hosts {
			want := map[bool]int{true: 200, false: 421}[local]
			if got := s.sentTo(host, "", "GET"); got != want {
				t.Errorf("Host %s: got %d, want %d", host, got, want)
			}
			if got := s.sentTo("localhost", "http://"+host, "GET"); got != want {
				t.Errorf("Origin http://%s: got %d, want %d", host, got, want)
			}
			if got := s.sentTo(host, "", "OPTIONS"); local != (got == 204) || !local != (got == 421) {
				t.Errorf("OPTIONS, Host %s: got %d", host, got)
			}
			if open != s {
				if got := open.sentTo(host, "http://"+host, "GET"); got != 200 {
					t.Errorf("an open server, Host %s: got %d", host, got)
				}
			}
		}
		if got := s.sentTo("localhost", "null", "GET"); got != 421 {
			t.Errorf("Origin null: got %d", got)
		}
		s.get("/users", "Origin", "https://example.com").expect(t, 421, `{"errors":[{"status":421,"code":"misdirected","title":"The request is not for this server","detail":"This server has no access rules, `+
			`so it accepts requests from pages of localhost and loopback addresses only, but the Origin is \"https://example.com\". Add the origin to allowed_origins, or declare access in the schema file.","source":{"header":"Origin"}}]}`)

		// Mounted in another program, it is up to that.
		for _, host := range []string{"example.com", "localhost"} {
			r, w := httptest.NewRequest("GET", "/users", nil), httptest.NewRecorder()
			r.Host = host
			r.Header.Set("Origin", "https://example.com")
			s.opened.ServeHTTP(w, r)
			if w.Code != 200 {
				t.Errorf("mounted, Host %s: got %d", host, w.Code)
			}
		}
	})
}

// TestHostsOfServersWithAccess: whoever has access rules may be called anything.
func TestHostsOfServersWithAccess(t *testing.T) {
	access := &schema.Access{Roles: []schema.Role{{Name: schema.PublicRole, Grants: []schema.Grant{{Collection: "users", Verbs: []schema.AccessVerb{schema.MayRead, schema.MayList}}}}}}
	s := start(t, schema.Example(), "sqlite:"+filepath.Join(t.TempDir(), "test.db"), func(c *plural.Config) { c.Access = access })
	if got := s.sentTo("example.com", "https://example.com", "GET"); got != 200 {
		t.Errorf("got %d", got)
	}
	allowed := start(t, schema.Example(), "sqlite:"+filepath.Join(t.TempDir(), "test.db"), func(c *plural.Config) { c.AllowedOrigins = []string{"https://app.example.com"} })
	for origin, want := range map[string]int{"https://app.example.com": 200, "https://example.com": 421, "http://localhost:3000": 200} {
		if got := allowed.sentTo("localhost", origin, "GET"); got != want {
			t.Errorf("%s: got %d, want %d", origin, got, want)
		}
	}
}

// TestHeadersForBrowsers: no answer is guessed at, and a server with TLS is not used without.
func TestHeadersForBrowsers(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certificate(t, 1, certFile, keyFile)
	plain := start(t, schema.Example(), "sqlite:"+filepath.Join(dir, "plain.db"), func(c *plural.Config) { c.Open = true })
	secure := start(t, schema.Example(), "sqlite:"+filepath.Join(dir, "secure.db"), func(c *plural.Config) { c.Open, c.CertFile, c.KeyFile = true, certFile, keyFile })
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	for _, c := range []struct{ base, host, want string }{
		{plain.base, "example.com", ""}, {"https" + secure.base[4:], "example.com", "max-age=31536000"}, {"https" + secure.base[4:], "localhost", ""},
	} {
		for _, path := range []string{"/", "/users", "/users/", "/nothing", "/-/health", "/-/metrics", "/-/openapi.json", "/-/explorer"} {
			r, err := http.NewRequest("GET", c.base+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = c.host
			response, err := transport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if sniff, security := response.Header["X-Content-Type-Options"], response.Header.Get("Strict-Transport-Security"); len(sniff) != 1 || sniff[0] != "nosniff" || security != c.want {
				t.Errorf("%s of %s: %q, %q", path, c.host, sniff, security)
			}
		}
	}
}
