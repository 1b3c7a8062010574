package interfacetest

import (
	"net/http"
	"regexp"
	"strings"
)

var (
	noUUID    = regexp.MustCompile(`^/users/[^/]*$`)
	canonical = regexp.MustCompile(`^/users/[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)
)

var requestFaults = []fault{
	{"unknown parameters are ignored", parameters(func(name, value string) (string, bool) { return value, !strings.HasPrefix(name, "conform") }),
		[]string{"parameter.unknown"}},
	{"parameters of one resource are ignored", func(next serve, r *http.Request) *broken {
		if canonical.MatchString(r.URL.Path) && r.URL.RawQuery == "limit=1" {
			r.URL.RawQuery = ""
		}
		return next(r)
	}, []string{"parameter.unknown-on-item"}},
	{"the last of two parameters", rewritten(`^(limit=1|offset=2)&(limit=1|offset=2)$`, "$2"), []string{"parameter.twice"}},
	{"the long name beats the short one", rewritten(`^(limit=1&l=1|o=1&offset=1)$`, ""), []string{"parameter.both-names"}},
	{"broken encoding is ignored", tolerant(`%zz|%$|%FF|%00`), []string{"parameter.encoding"}},
	{"a semicolon separates", rewritten(";", "&"), []string{"parameter.semicolon"}},

	{"no list of collections' types", func(next serve, r *http.Request) *broken {
		a := next(r)
		if r.URL.Path == "/" {
			a.replace(`"type":"collections"`, `"type":"collection"`)
		}
		return a
	}, []string{"path.root"}},
	{"an unknown id is an empty answer", func(next serve, r *http.Request) *broken {
		a := next(r)
		if a.status == 404 && (r.Method == "GET" || r.Method == "HEAD") && canonical.MatchString(r.URL.Path) {
			a.status, a.body = 200, `{"data":null}`
		}
		return a
	}, []string{"path.unknown-id", "delete.gone"}},
	{"an id that is no UUID is 400", func(next serve, r *http.Request) *broken {
		a := next(r)
		if a.status == 404 && noUUID.MatchString(r.URL.Path) && !canonical.MatchString(r.URL.Path) {
			a.status = 400
			a.replace(`"status":404`, `"status":400`)
		}
		return a
	}, []string{"path.not-a-uuid"}},
	{"an id in upper case is unknown", func(next serve, r *http.Request) *broken {
		if canonical.MatchString(r.URL.Path) && strings.ToLower(r.URL.Path) != r.URL.Path {
			r.URL.Path = "/users/" + id(7)
		}
		return next(r)
	}, []string{"path.upper-case-id"}},
	{"an unknown path is 400", func(next serve, r *http.Request) *broken {
		a := next(r)
		if a.status == 404 && strings.HasPrefix(r.URL.Path, "/users-") {
			a.status = 400
			a.replace(`"status":404`, `"status":400`)
		}
		return a
	}, []string{"path.unknown"}},
	{"a slash at the end is 404", func(next serve, r *http.Request) *broken {
		if len(r.URL.Path) > 1 && strings.HasSuffix(r.URL.Path, "/") {
			r.URL.Path = "/nowhere"
		}
		return next(r)
	}, []string{"path.trailing-slash"}},
	{"a slash at the end loses the query", func(next serve, r *http.Request) *broken {
		if strings.HasSuffix(r.URL.Path, "/") {
			r.URL.RawQuery = ""
		}
		return next(r)
	}, []string{"path.trailing-slash"}},
	{"no singular", func(next serve, r *http.Request) *broken {
		if strings.HasPrefix(r.URL.Path, "/user/") && r.Method == "GET" {
			r.URL.Path = "/nowhere"
		}
		return next(r)
	}, []string{"path.singular"}},
	{"no Content-Location", response("GET", func(_ *http.Request, a *broken) { a.header.Del("Content-Location") }), []string{"path.singular-location"}},
	{"the singular takes writes", func(next serve, r *http.Request) *broken {
		if strings.HasPrefix(r.URL.Path, "/user/") && r.Method != "GET" {
			r.URL.Path = strings.Replace(r.URL.Path, "/user/", "/users/", 1)
		}
		return next(r)
	}, []string{"method.singular"}},
	{"Accept is ignored", request(func(r *http.Request) { r.Header.Del("Accept") }), []string{"path.accept"}},
	{"Accept must be exact", request(func(r *http.Request) {
		if accept := r.Header.Get("Accept"); strings.Contains(accept, "*") {
			r.Header.Set("Accept", "text/plain")
		}
	}), []string{"path.accept-json"}},

	{"HEAD without headers", response("HEAD", func(_ *http.Request, a *broken) { a.header.Del("Link"); a.header.Del("X-Total-Count") }), []string{"method.head"}},
	{"HEAD is 405", func(next serve, r *http.Request) *broken {
		a := next(r)
		if r.Method == "HEAD" {
			a.status = 405
		}
		return a
	}, []string{"method.head"}},
	{"OPTIONS is 200", func(next serve, r *http.Request) *broken {
		a := next(r)
		if r.Method == "OPTIONS" {
			a.status = 200
		}
		return a
	}, []string{"method.options"}},
	{"405 without Allow", refusal(func(_ *http.Request, a *broken) { a.header.Del("Allow") }), []string{"method.allow"}},
	{"a wrong method is 404", refusal(func(_ *http.Request, a *broken) {
		if a.status == 405 {
			a.status = 404
			a.replace(`"status":405`, `"status":404`)
		}
	}), []string{"method.not-allowed", "method.singular"}},
}
