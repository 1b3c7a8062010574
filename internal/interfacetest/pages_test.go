package interfacetest

import (
	"maps"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

func startPages(t *testing.T, s *schema.Schema, change ...func(*plural.Config)) *server {
	return start(t, s, "sqlite:"+filepath.Join(t.TempDir(), "test.db"), change...)
}

// pageHeaders are those that every page and each of its files has.
func pageHeaders(caching, content string) http.Header {
	return http.Header{
		"Cache-Control": {caching},
		"Content-Security-Policy": {"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
			"base-uri 'self'; form-action 'none'; frame-ancestors 'none'"},
		"Content-Type":                 {content},
		"Cross-Origin-Opener-Policy":   {"same-origin"},
		"Cross-Origin-Resource-Policy": {"same-origin"},
		"Permissions-Policy":           {"camera=(), geolocation=(), microphone=(), payment=(), usb=()"},
		"Referrer-Policy":              {"no-referrer"},
		"X-Content-Type-Options":       {"nosniff"},
	}
}

// expectPage compares all headers of an answer but those of every one.
func (a answer) expectPage(t *testing.T, path string, status int, want http.Header) {
	t.Helper()
	got := maps.Clone(a.header)
	for _, name := range []string{"Date", "X-Request-Id", "Content-Length", "Etag"} {
		if got.Get(name) == "" && (name != "Content-Length" || status == http.StatusOK) {
			t.Errorf("%s has no %s", path, name)
		}
		got.Del(name)
	}
	if a.status != status || !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%s:\n got %d %v\nwant %d %v", path, a.status, got, status, want)
	}
}

// The pages are documents whose scripts and styles are files of their own, which can be
// kept for good; browsers are told to load nothing else.
func TestPages(t *testing.T) {
	s := startPages(t, schema.Example())
	for page, deep := range map[string][]string{"/-/explorer": {"/users", "/users/" + id(1) + "/posts?sort=title&offset=5", "/a/b/c"}, "/-/docs": {"/users", "/Server"}} {
		document := s.get(page)
		document.expectPage(t, page, 200, pageHeaders("no-cache", "text/html; charset=utf-8"))
		if !strings.Contains(document.body, `<base href="`+page+`/" />`) {
			t.Errorf("%s does not say where it is:\n%s", page, document.body)
		}
		if strings.Contains(document.body, "<style") || strings.Contains(document.body, "style=") || regexp.MustCompile(`<script[^>]*>[^<]`).MatchString(document.body) {
			t.Errorf("%s has a script or a style within it:\n%s", page, document.body)
		}
		for _, path := range deep {
			if got := s.get(page + path); got.body != document.body || got.status != 200 {
				t.Errorf("%s is %d, and not the page", page+path, got.status)
			}
		}
		again := s.get(page, "If-None-Match", document.header.Get("Etag"))
		unchanged := pageHeaders("no-cache", "")
		unchanged.Del("Content-Type")
		again.expectPage(t, page, 304, unchanged)

		files := regexp.MustCompile(`(?:src|href)="\./(assets/[^"]+)"`).FindAllStringSubmatch(document.body, -1)
		// An icon, a style sheet, and a script; of the reference two, the first of which requests the document.
		if want := map[string]int{"/-/explorer": 3, "/-/docs": 4}[page]; len(files) != want {
			t.Errorf("%s has %d files, not %d: %v", page, len(files), want, files)
		}
		compressed := len(document.body)
		for _, file := range files {
			path := page + "/" + file[1]
			content := map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}[filepath.Ext(path)]
			want := pageHeaders("public, max-age=31536000, immutable", content)
			plain := s.get(path)
			if content != "image/svg+xml" { // which is too short to be compressed
				want.Set("Vary", "Accept-Encoding")
			}
			plain.expectPage(t, path, 200, want)
			if content == "image/svg+xml" {
				continue
			}
			zipped := s.get(path, "Accept-Encoding", "gzip, br")
			compressed += len(zipped.body)
			want.Set("Content-Encoding", "gzip")
			zipped.expectPage(t, path, 200, want)
			if unzip(t, zipped.body) != plain.body || len(zipped.body) > len(plain.body)/2 || zipped.header.Get("Etag") == plain.header.Get("Etag") {
				t.Errorf("%s is not the same in gzip: %d bytes of %d", path, len(zipped.body), len(plain.body))
			}
			if head := s.do("HEAD", path, ""); head.body != "" || head.header.Get("Content-Length") != plain.header.Get("Content-Length") {
				t.Errorf("HEAD %s: %v %q", path, head.header, head.body)
			}
		}
		if most := map[string]int{"/-/explorer": 250 << 10, "/-/docs": 80 << 10}[page]; compressed > most {
			t.Errorf("%s has %d bytes, compressed; at most %d load fast", page, compressed, most)
		}
	}
	for _, path := range []string{"/-/docs/assets/nothing.js", "/-/explorer/assets/nothing.js", "/-/explorer/assets", "/-/nothing", "/-/explorers"} {
		s.get(path).expectErrors(t, 404, "not_found")
	}
	if got := s.get("/-/explorer/index.html"); got.body != s.get("/-/explorer").body {
		t.Error("the document of the explorer has two forms")
	}
	if got := s.get("/-/explorer/?sort=name"); got.status != 308 || got.header.Get("Location") != "/-/explorer?sort=name" {
		t.Errorf("with a slash at its end: %d %v", got.status, got.header)
	}
	s.do("POST", "/-/explorer", `{}`).expectErrors(t, 405, "method_not_allowed")
}

// A browser wants a page, and a program the collections.
func TestBrowsersAreSentToTheExplorer(t *testing.T) {
	s := startPages(t, schema.Example())
	for _, accept := range []string{
		"text/html", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/*", "TEXT/HTML;q=0.5, application/json;q=0.4", "text/html, application/json;q=0",
	} {
		for _, method := range []string{"GET", "HEAD"} {
			for _, path := range []string{"/", "/-"} {
				if got := s.do(method, path, "", "Accept", accept); got.status != 303 || got.header.Get("Location") != "/-/explorer" || got.header.Get("Vary") != "Accept" || got.body != "" {
					t.Errorf("%s %s with %s: %d %v", method, path, accept, got.status, got.header)
				}
			}
		}
	}
	collections := s.get("/")
	for _, accept := range []string{"", "*/*", "application/json", "application/json, text/html", "application/json, */*;q=0.9", "text/html;q=0.4, */*;q=0.8", "text/html;q=0, */*", "text/html;q=0.5, application/json;q=0.9"} {
		if got := s.get("/", "Accept", accept); got.status != 200 || got.body != collections.body || got.header.Get("Vary") != "Accept" {
			t.Errorf("with %s: %d %v", accept, got.status, got.header)
		}
		nothing := s.get("/-", "Accept", accept)
		nothing.expectErrors(t, 404, "not_found")
		if vary := nothing.header.Get("Vary"); vary != "Accept" {
			t.Errorf("Vary is %q", vary)
		}
	}
	if got := s.get("/-/", "Accept", "text/html"); got.status != 308 || got.header.Get("Location") != "/-" {
		t.Errorf("with a slash at its end: %d %v", got.status, got.header)
	}
	s.do("POST", "/-", `{}`, "Accept", "text/html").expectErrors(t, 404, "not_found")
	s.get("/", "Accept", "image/png").expectErrors(t, 406, "not_acceptable Accept")
	s.get("/users", "Accept", "text/html").expectErrors(t, 406, "not_acceptable Accept")
}

// The pages hold no data: they are for everybody, so that people can sign in there.
func TestPagesWithAccess(t *testing.T) {
	file := policySchema(t)
	s := startPages(t, file.Schema, func(c *plural.Config) { c.Access = file.Access })
	for _, path := range []string{"/-/explorer", "/-/explorer/users", "/-/docs"} {
		for _, credential := range []string{"", "Bearer nonsense"} {
			s.get(path, "Authorization", credential).expectPage(t, path, 200, pageHeaders("no-cache", "text/html; charset=utf-8"))
		}
	}
	if got := s.get("/", "Accept", "text/html", "Authorization", "Bearer nonsense"); got.status != 303 {
		t.Errorf("a browser with wrong credentials: %d", got.status)
	}
	s.get("/-/explored").expectErrors(t, 404, "not_found")
}

// Below a prefix, the page and where it is sent to are there.
func TestPagesBelowAPrefix(t *testing.T) {
	s := startPages(t, schema.Example(), func(c *plural.Config) { c.Prefix = "/a&b" })
	at := "/a&b"
	for _, path := range []string{"/", "/-"} {
		if got := s.get(at+path, "Accept", "text/html"); got.status != 303 || got.header.Get("Location") != at+"/-/explorer" {
			t.Errorf("a browser at %s: %d %v", path, got.status, got.header)
		}
	}
	if got := s.get(at + "/-/explorer/users"); got.status != 200 || !strings.Contains(got.body, `<base href="/a&amp;b/-/explorer/" />`) {
		t.Errorf("%d:\n%s", got.status, got.body)
	}
}
