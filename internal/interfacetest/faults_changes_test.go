package interfacetest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

var changeFaults = []fault{
	{"no link to the changes", linked(`<[^>]*>; rel="changes"(, )?`, ""), []string{"link.changes"}},
	{"the link to the changes without a position", linked(`since=[^>]*(>; rel="changes")`, "$1"), []string{"link.changes"}},
	{"the link to the changes with a range", linked(`(>; rel="changes")`, "&limit=1$1"), []string{"link.changes"}},
	{"pages for limit=0", response("GET", func(r *http.Request, a *broken) {
		if query(r, "limit") == "0" && isUsers(r) {
			a.header.Set("Link", `</users?limit=0>; rel="first"`)
		}
	}), []string{"link.limit-zero"}},
	{"the newest change first", response("GET", func(r *http.Request, a *broken) {
		if r.URL.Path == "/changes" {
			items(a, func(all []json.RawMessage) []json.RawMessage { slices.Reverse(all); return all })
		}
	}), []string{"changes.list"}},
	{"changes without former values", response("GET", func(r *http.Request, a *broken) {
		if strings.HasSuffix(r.URL.Path, "/changes") {
			a.replace(`"previous":\{[^{}]*\}`, `"previous":null`)
		}
	}), []string{"changes.list", "changes.history"}},
	{"no history of what was deleted", func(next serve, r *http.Request) *broken {
		if path, isHistory := strings.CutSuffix(r.URL.Path, "/changes"); isHistory && path != "" {
			if current := next(again(r, "GET", path, "")); !succeeded(current) {
				return current
			}
		}
		return next(r)
	}, []string{"changes.history"}},
	{"the history of all", func(next serve, r *http.Request) *broken {
		if path, isHistory := strings.CutSuffix(r.URL.Path, "/changes"); isHistory && path != "" {
			r.URL.Path = "/changes"
		}
		return next(r)
	}, []string{"changes.history"}},
	{"a snapshot as new resources", streamed(func(e *event) bool {
		if e.kind == "listed" {
			e.kind = "created"
		}
		return true
	}), []string{"stream.snapshot"}},
	{"no events of updates", streamed(func(e *event) bool { return e.kind != "updated" }), []string{"stream.follow"}},
	{"deletions as updates", streamed(func(e *event) bool {
		if e.kind == "deleted" {
			e.kind = "updated"
		}
		return true
	}), []string{"stream.follow"}},
	{"Last-Event-ID is ignored", request(func(r *http.Request) { r.Header.Del("Last-Event-ID") }), []string{"stream.resume"}},
	{"the first event after since is lost", func(next serve, r *http.Request) *broken {
		isResumed := strings.HasPrefix(r.URL.RawQuery, "since=")
		a := next(r)
		if isResumed {
			first := true
			a.edit = func(*event) bool { was := first; first = false; return !was }
		}
		return a
	}, []string{"stream.resume"}},
}
