package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/explorer"
	"github.com/plural-go/plural/internal/headers"
)

// webPages are the web pages below /-/. Each has paths of its own.
var webPages = []string{"explorer", "docs"}

// webPagePolicy is their Content-Security-Policy. All content comes from this server, and no site can put a page into a frame.
const webPagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'self'; form-action 'none'; frame-ancestors 'none'"

// webPageTarget finds a page, or one of its files, by the segments after /-/.
func webPageTarget(segments []string) *target {
	name := segments[0]
	t := &target{kind: systemPath, pattern: "/-/" + name, system: name}
	if !t.isWebPage() {
		return nil
	}
	rest := strings.Join(segments[1:], "/")
	if f := explorer.Find(name, rest); f != nil && rest != "index.html" {
		t.file = f
		return t
	}
	if rest == "" || segments[1] != "assets" {
		return t
	}
	return nil
}

// serve replies with a page or a file. They contain no data, so they need no credentials.
func (a *API) serve(r *http.Request, t *target) (*reply, error) {
	f, caching := t.file, "public, max-age=31536000, immutable"
	if f == nil {
		f = explorer.Document(t.system, a.Prefix+"/-/"+t.system, a.Schema.Versions().Newest)
	}
	if !f.Fixed {
		caching = "no-cache" // cached, but revalidated
	}
	head := http.Header{
		"Cache-Control":                {caching},
		"Content-Security-Policy":      {webPagePolicy},
		"Content-Type":                 {f.Type},
		"Cross-Origin-Opener-Policy":   {"same-origin"},
		"Cross-Origin-Resource-Policy": {"same-origin"},
		"Permissions-Policy":           {"camera=(), geolocation=(), microphone=(), payment=(), usb=()"},
		"Referrer-Policy":              {"no-referrer"},
	}
	body, etag := f.Body, `"`+f.ETag+`"`
	if f.Zipped != nil {
		head.Set("Vary", "Accept-Encoding")
		if headers.AcceptsGzip(r.Header) {
			body, etag = f.Zipped, `"`+f.ETag+`-gzip"`
			head.Set("Content-Encoding", "gzip")
		}
	}
	head.Set("ETag", etag)
	condition, err := headers.ParseCondition(nil, r.Header.Values("If-None-Match"))
	if err != nil {
		return nil, err
	}
	if unchanged, _ := condition.AllowsReading(etag); unchanged {
		head.Del("Content-Type")
		head.Del("Content-Encoding")
		return &reply{status: http.StatusNotModified, header: head}, nil
	}
	return &reply{status: http.StatusOK, header: head, body: body}, nil
}

// redirectToExplorer redirects browsers from the list of collections, and from /-, to the explorer.
func (a *API) redirectToExplorer(r *http.Request, out *response) *reply {
	out.Header().Add("Vary", "Accept")
	if !prefersPage(r) {
		return nil
	}
	return &reply{status: http.StatusSeeOther, header: header("Location", a.Prefix+"/-/explorer")}
}

// prefersPage reports whether a client prefers a web page to JSON, as browsers do.
func prefersPage(r *http.Request) bool {
	return headers.Quality(r.Header, "text/html") > headers.Quality(r.Header, "application/json")
}

// isWebPage reports whether the target is a page, which needs no credentials.
func (t *target) isWebPage() bool { return slices.Contains(webPages, t.system) }
