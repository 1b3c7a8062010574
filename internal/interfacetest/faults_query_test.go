package interfacetest

import (
	"io"
	"net/http"
	"strings"
)

// ofQuery changes the answers to QUERY.
func ofQuery(change func(*http.Request, *broken)) func(serve, *http.Request) *broken {
	return func(next serve, r *http.Request) *broken {
		a := next(r)
		if r.Method == "QUERY" {
			change(r, a)
		}
		return a
	}
}

var queryFaults = []fault{
	{"QUERY is not there", func(next serve, r *http.Request) *broken {
		if r.Method == "QUERY" {
			r.Method = "CONFORM"
		}
		return next(r)
	}, []string{"query.same", "query.headers", "query.without-effect", "query.one-place", "query.media-type"}},
	{"QUERY ignores its body", func(next serve, r *http.Request) *broken {
		if r.Method == "QUERY" && r.Header.Get("Content-Type") == formType && r.URL.RawQuery == "" {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader("")), 0
		}
		return next(r)
	}, []string{"query.same"}},
	{"QUERY is a GET", func(next serve, r *http.Request) *broken {
		if r.Method == "QUERY" && r.Header.Get("Content-Type") == formType && r.URL.RawQuery == "" {
			text, _ := io.ReadAll(r.Body)
			r.Method, r.URL.RawQuery = "GET", string(text)
			r.Body, r.ContentLength = http.NoBody, 0
		}
		return next(r)
	}, []string{"query.headers", "query.without-effect"}},
	{"QUERY without a total", ofQuery(func(_ *http.Request, a *broken) { a.header.Del("X-Total-Count") }), []string{"query.headers"}},
	{"QUERY prefers its body", func(next serve, r *http.Request) *broken {
		if r.Method == "QUERY" {
			r.URL.RawQuery = ""
		}
		return next(r)
	}, []string{"query.one-place"}},
	{"QUERY takes any type", func(next serve, r *http.Request) *broken {
		if r.Method == "QUERY" && r.Header.Get("Content-Type") == "application/json" {
			r.Body, r.ContentLength = http.NoBody, 0
			r.Header.Del("Content-Type")
		}
		return next(r)
	}, []string{"query.media-type"}},
	{"415 of QUERY with Accept", ofQuery(func(_ *http.Request, a *broken) {
		if a.status == 415 {
			a.header.Del("Accept-Query")
			a.header.Set("Accept", formType)
		}
	}), []string{"query.media-type"}},
	{"lists without Accept-Query", response("GET", func(_ *http.Request, a *broken) { a.header.Del("Accept-Query") }), []string{"query.accept"}},
	{"OPTIONS without Accept-Query", func(next serve, r *http.Request) *broken {
		a := next(r)
		if r.Method == "OPTIONS" {
			a.header.Del("Accept-Query")
		}
		return a
	}, []string{"query.accept"}},
}
