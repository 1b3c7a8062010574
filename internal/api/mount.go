package api

import (
	"net/http"
	"net/url"
	"strings"
)

// asMounted undoes http.StripPrefix, so that a Location is a path that the client can follow.
// It returns the API with that prefix, and the request as the client sent it.
func (a *API) asMounted(r *http.Request) (*API, *http.Request) {
	path := r.URL.EscapedPath()
	if rest, ok := strings.CutPrefix(r.RequestURI, path); ok && path != "" && (rest == "" || rest[0] == '?') {
		return a, r
	}
	sent, err := url.ParseRequestURI(r.RequestURI)
	if err != nil {
		return a, r
	}
	stripped, ok := strings.CutSuffix(sent.EscapedPath(), path)
	if !ok || !isPrefix(stripped) {
		return a, r // the path was changed in another way, or not at all
	}
	whole := *r
	whole.URL = new(*r.URL)
	whole.URL.Path, whole.URL.RawPath = sent.Path, sent.RawPath
	if stripped == a.Prefix {
		return a, &whole
	}
	mounted := *a
	mounted.Prefix = stripped + a.Prefix
	return &mounted, &whole
}

// isPrefix reports whether a text can be the prefix of a path.
func isPrefix(path string) bool {
	return strings.HasPrefix(path, "/") && !strings.HasSuffix(path, "/") && !strings.Contains(path, "//")
}
