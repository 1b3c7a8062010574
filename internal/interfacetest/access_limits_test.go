package interfacetest

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// isLate reports whether a number of seconds is the one that it was when the test began, or
// fewer by what has passed since, on a machine that is busy.
func isLate(text string, seconds int) bool {
	got, err := strconv.Atoi(text)
	return err == nil && got <= seconds && got > seconds-600
}

// TestRateOfAnAddress: an address has so many requests, wherever they lead, and is told
// how many are left.
func TestRateOfAnAddress(t *testing.T) {
	s := start(t, schema.Example(), "sqlite:"+filepath.Join(t.TempDir(), "test.db"), func(c *plural.Config) {
		c.RateLimit = schema.Rate{Requests: 3, Per: time.Hour}
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	from := func(address, path string) answer { return s.get(path, "X-Forwarded-For", address) }
	for i, path := range []string{"/users", "/nothing", "/users?nope"} {
		a := from("192.0.2.1", path)
		left, seconds, _ := strings.Cut(a.header.Get("RateLimit"), ";t=")
		if want := fmt.Sprintf(`"address";r=%d`, 2-i); left != want || !isLate(seconds, 1200) || a.header.Get("RateLimit-Policy") != `"address";q=3;w=3600` {
			t.Errorf("%s: got %q and %q, want %s;t=%d", path, a.header.Get("RateLimit"), a.header.Get("RateLimit-Policy"), want, 1200)
		}
	}
	refused := from("192.0.2.1", "/users")
	refused.expectErrors(t, 429, "too_many_requests")
	if got := refused.header.Get("Retry-After"); !isLate(got, 1200) || refused.header.Get("RateLimit") != `"address";r=0;t=`+got {
		t.Errorf("Retry-After is %q, RateLimit %q", got, refused.header.Get("RateLimit"))
	}
	if a := from("192.0.2.1", "/-/health"); a.status != 200 {
		t.Errorf("who watches gets %d", a.status)
	}
	// Others are not concerned; who lies about where it comes from is, as only the last
	// address is told by somebody who is trusted.
	if a := from("192.0.2.1, 192.0.2.2", "/users"); a.status != 200 {
		t.Errorf("another address gets %d", a.status)
	}
	if a := from("192.0.2.9, 192.0.2.1", "/users"); a.status != 429 {
		t.Errorf("a made-up address gets %d", a.status)
	}
	for _, lie := range []string{"192.0.2.9\t, 192.0.2.1:4711", "nonsense, ::ffff:192.0.2.1", "192.0.2.1, 127.0.0.9", "192.0.2.1,127.0.0.9, [::ffff:127.0.0.8]:1"} {
		if a := from(lie, "/users"); a.status != 429 {
			t.Errorf("%s gets %d", lie, a.status)
		}
	}
	for i, nobody := range []string{"", "nonsense", "192.0.2.1, nonsense", "192.0.2.1, ,"} { // who it is cannot be told: the proxy
		if a := from(nobody, "/users"); (a.status == 429) != (i == 3) {
			t.Errorf("%q gets %d", nobody, a.status)
		}
	}
	for i := range 4 { // one block of IPv6 is one client
		if a := from(fmt.Sprintf("2001:db8::%d", i), "/users"); (a.status == 429) != (i == 3) {
			t.Errorf("%d of a block gets %d", i, a.status)
		}
	}
}

// TestForwardedForIsNotTrusted: without proxies that are trusted, anybody can write
// anything there.
func TestForwardedForIsNotTrusted(t *testing.T) {
	s := start(t, schema.Example(), "sqlite:"+filepath.Join(t.TempDir(), "test.db"), func(c *plural.Config) { c.RateLimit = schema.Rate{Requests: 2, Per: time.Hour} })
	for i := range 3 {
		if a := s.get("/users", "X-Forwarded-For", fmt.Sprintf("192.0.2.%d", i)); (a.status == 429) != (i == 2) {
			t.Errorf("request %d gets %d", i, a.status)
		}
	}
}

// TestRatesOfCallers: callers are counted by themselves, at the rate of their role.
func TestRatesOfCallers(t *testing.T) {
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open(func(c *plural.Config) {
			c.Access.Rates = map[string]schema.Rate{"author": {Requests: 2, Per: time.Hour}, "public": {Requests: 1, Per: time.Hour}}
		})
		for i, want := range [][]int{{200, 200, 200, 200}, {429, 200, 200, 200}, {429, 429, 429, 200}} {
			for j, caller := range []string{"public", "ada", "bo", "editor"} {
				if a := h.as(caller, "GET", "/posts", ""); a.status != want[j] {
					t.Errorf("%s gets %d for request %d", caller, a.status, i)
				}
			}
		}
	})
}

// TestRatesOfWrongCredentials: they are counted by their address, and right ones are not
// refused for them.
func TestRatesOfWrongCredentials(t *testing.T) {
	eachAccessServer(t, func(t *testing.T, open opener) {
		for name, rates := range map[string]map[string]schema.Rate{
			"public": {"author": {Requests: 50, Per: time.Hour}, "public": {Requests: 2, Per: time.Hour}},
			"none":   {"author": {Requests: 2, Per: time.Hour}, "editor": {Requests: 1, Per: time.Hour}},
		} {
			h := open(func(c *plural.Config) { c.Access.Rates = rates })
			wrong := []string{"Bearer plural_0000000000000000_" + strings.Repeat("0", 64), "Bearer x", "Basic eDp5", "Bearer eyJhbGciOiJub25lIn0.e30."}
			for i, credentials := range wrong {
				want := 401
				if i >= 2 {
					want = 429
				}
				a := h.get("/posts", "Authorization", credentials)
				if a.status != want || want == 429 && a.header.Get("Retry-After") == "" {
					t.Errorf("%s: request %d with %s gets %d, want %d", name, i, credentials, a.status, want)
				}
			}
			if a := h.as("ada", "GET", "/posts", ""); a.status != 200 {
				t.Errorf("%s: right credentials get %d", name, a.status)
			}
		}
	})
}

// TestRequestsInFlight: more than so many are refused, and who watches over the server is
// answered all the same.
func TestRequestsInFlight(t *testing.T) {
	s := start(t, schema.Example(), "sqlite:"+filepath.Join(t.TempDir(), "test.db"), func(c *plural.Config) { c.MaxRequests = 1 })
	slow, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	fmt.Fprint(slow, "POST /users HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n")
	if _, err := io.ReadFull(slow, make([]byte, len("HTTP/1.1 100"))); err != nil { // its body is being read
		t.Fatal(err)
	}
	refused := s.get("/users")
	refused.expectErrors(t, 503, "overloaded")
	if refused.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	if a := s.get("/-/health"); a.status != 200 {
		t.Errorf("who watches gets %d", a.status)
	}
}

// TestQueriesThatTakeTooLong are ended, with a code of their own.
func TestQueriesThatTakeTooLong(t *testing.T) {
	made := mustSchema(t, schema.Collection{Name: "texts", Attributes: []schema.Attribute{{Name: "text", Type: schema.String}}})
	eachStore(t, made, func(t *testing.T, s *server) {
		row := `{"text":"` + strings.Repeat("ab", 2000) + `"}`
		bodies := make([]string, 1000) // 4 MB, each character of which is compared several times
		for i := range bodies {
			bodies[i] = row
		}
		s.createAll("/texts", bodies...)
		const search = "/texts?filter[text][contains]=abababababababba"
		s.get(search).expect(t, 200, `{"data":[]}`)
		hasty := s.another(func(c *plural.Config) { c.QueryTimeout = time.Millisecond })
		var refused answer
		eventually(t, "the query is cancelled", func() bool { // PostgreSQL ignores a cancel request that comes before the statement
			refused = hasty.get(search)
			return refused.status != 200
		})
		refused.expectErrors(t, 503, "too_expensive")
		if refused.header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
	}, func(c *plural.Config) { c.MaxBody = 16 << 20 })
}

// TestCrossOrigin: pages of origins that are allowed can use the API, and others cannot.
func TestCrossOrigin(t *testing.T) {
	s := start(t, schema.Example(), "sqlite:"+filepath.Join(t.TempDir(), "test.db"), func(c *plural.Config) { c.AllowedOrigins = []string{"https://app.example.com"} })
	preflight := s.do("OPTIONS", "/users", "", "Origin", "https://app.example.com", "Access-Control-Request-Method", "POST")
	if preflight.status != 204 {
		t.Errorf("got %d", preflight.status)
	}
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin": "https://app.example.com", "Access-Control-Allow-Methods": "GET, HEAD, QUERY, POST, PATCH, DELETE, OPTIONS", "Vary": "Origin", "Access-Control-Max-Age": "600",
		"Access-Control-Allow-Headers": "*, API-Version, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, Prefer, X-Request-Id", "Access-Control-Allow-Credentials": "",
	} {
		if got := preflight.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for origin, want := range map[string]string{"https://app.example.com": "https://app.example.com", "https://app.example.com.evil.example": "", "": "", "null": ""} {
		for _, path := range []string{"/users", "/nothing"} {
			a := s.get(path, "Origin", origin)
			if got := a.header.Get("Access-Control-Allow-Origin"); got != want || a.header["Vary"][0] != "Origin" {
				t.Errorf("%s from %q: %q, Vary %q", path, origin, got, a.header.Get("Vary"))
			}
		}
	}
}

// TestTLS: HTTP/2 over TLS, with a certificate that is read again when it changes, and
// stays in use when the new one is broken.
func TestTLS(t *testing.T) {
	var logged log
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certificate(t, 1, certFile, keyFile)
	s := start(t, schema.Example(), "sqlite:"+filepath.Join(dir, "test.db"), func(c *plural.Config) { c.CertFile, c.KeyFile = certFile, keyFile }, logged.keep)
	serial := func() int64 {
		transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true, DisableKeepAlives: true}
		response, err := (&http.Client{Transport: checked{transport}}).Get("https://" + strings.TrimPrefix(s.base, "http://") + "/users")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if response.ProtoMajor != 2 || response.StatusCode != 200 {
			t.Errorf("got %s %s", response.Proto, response.Status)
		}
		return response.TLS.PeerCertificates[0].SerialNumber.Int64()
	}
	until := func(want int64) {
		t.Helper()
		eventually(t, fmt.Sprint("the certificate is number ", want), func() bool { return serial() == want })
	}
	until(1)
	certificate(t, 2, certFile, keyFile)
	until(2)
	if err := os.WriteFile(certFile, []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the broken certificate is looked at", func() bool {
		if got := serial(); got != 2 {
			t.Fatalf("the certificate is number %d", got)
		}
		return len(logged.find(t, "the new certificate cannot be used; the old one remains in use")) > 0
	})
	if _, err := plural.Open(t.Context(), plural.Config{CertFile: "x"}); err == nil {
		t.Error("a certificate without a key is accepted")
	}
}
