package interfacetest

import (
	"net/http"
	"regexp"
	"strings"
)

var childFaults = []fault{
	{"a sub-collection is the whole collection", func(next serve, r *http.Request) *broken {
		if r.Method == "GET" && strings.HasSuffix(r.URL.Path, "/posts") && r.URL.RawQuery == "" {
			a := next(r)
			if succeeded(a) {
				return next(again(r, "GET", "/posts", ""))
			}
			return a
		}
		return next(r)
	}, []string{"child.list"}},
	{"ranges of children are ignored", func(next serve, r *http.Request) *broken {
		if strings.HasSuffix(r.URL.Path, "/posts") && strings.Contains(r.URL.RawQuery, "offset") {
			r.URL.RawQuery = ""
		}
		return next(r)
	}, []string{"child.range"}},
	{"the total of all children", response("GET", func(r *http.Request, a *broken) {
		if strings.HasSuffix(r.URL.Path, "/posts") {
			a.header.Set("X-Total-Count", "1000")
		}
	}), []string{"child.total"}},
	{"the parent of the path is ignored", func(next serve, r *http.Request) *broken {
		a := next(r)
		if strings.HasPrefix(r.URL.Path, "/posts/") && r.Method == "GET" {
			a.replace(`"user_id":"[^"]*"`, `"user_id":null`)
		}
		return a
	}, []string{"child.create", "child.read", "child.update"}},
	{"Location below the parent", response("POST", func(r *http.Request, a *broken) {
		if location := a.header.Get("Location"); strings.HasPrefix(location, "/posts/") {
			a.header.Set("Location", strings.TrimSuffix(r.URL.Path, "/posts")+location)
		}
	}), []string{"child.location"}},
	{"children have no path below their parent", func(next serve, r *http.Request) *broken {
		if r.Method == "GET" && strings.Count(r.URL.Path, "/") == 4 {
			r.URL.Path = "/nowhere"
		}
		return next(r)
	}, []string{"child.read", "child.move"}},
	{"an unknown parent has no children", func(next serve, r *http.Request) *broken {
		a := next(r)
		if a.status == 404 && r.Method == "GET" && strings.HasSuffix(r.URL.Path, "/posts") {
			a.status, a.body = 200, `{"data":[]}`
		}
		return a
	}, []string{"child.unknown-parent"}},
	{"any parent will do", func(next serve, r *http.Request) *broken {
		a := next(r)
		if a.status == 404 && r.Method == "GET" && strings.Count(r.URL.Path, "/") == 4 {
			return next(again(r, "GET", r.URL.Path[strings.LastIndex(r.URL.Path, "/posts/"):], ""))
		}
		return a
	}, []string{"child.other-parent", "child.move"}},
	{"the parent of the body is ignored", func(next serve, r *http.Request) *broken {
		if r.Method == "POST" && strings.HasSuffix(r.URL.Path, "/posts") {
			give(r, regexp.MustCompile(`,"user_id":"[^"]*"`).ReplaceAllString(take(r), ""))
		}
		return next(r)
	}, []string{"child.parent-mismatch"}},
	{"a child cannot be moved", accepted("PATCH", `^\{"user_id":"[^"]*"\}$`, "{}"), []string{"child.move"}},
	{"DELETE below the parent is 405", func(next serve, r *http.Request) *broken {
		if r.Method == "DELETE" && strings.Count(r.URL.Path, "/") == 4 {
			r.URL.Path = "/"
		}
		return next(r)
	}, []string{"child.update", "child.other-parent"}},
	{"any cursor will do", func(next serve, r *http.Request) *broken {
		a := next(r)
		if a.status == 400 && strings.HasSuffix(r.URL.Path, "/posts") {
			r.URL.RawQuery = ""
			return next(r)
		}
		return a
	}, []string{"child.cursor"}},
}
