package interfacetest

import (
	"net/http"
	"strings"
	"sync"
)

// memory is what a fault remembers of what it has seen, by ids and keys that no
// other run has.
type memory struct{ kept sync.Map }

func (m *memory) note(key string, value any) { m.kept.Store(key, value) }

func (m *memory) forget(key string) { m.kept.Delete(key) }

func (m *memory) recall(key string) any {
	value, _ := m.kept.Load(key)
	return value
}

// given changes the value of a request header; "" takes it away.
func given(name string, change func(value string) string) func(serve, *http.Request) *broken {
	return request(func(r *http.Request) {
		value := r.Header.Get(name)
		if r.Header.Del(name); value != "" && change(value) != "" {
			r.Header.Set(name, change(value))
		}
	})
}

// dropped is the value of a header, or nothing if that fits.
func dropped(fits func(value string) bool) func(string) string {
	return func(value string) string {
		if fits(value) {
			return ""
		}
		return value
	}
}

func always(string) bool { return true }

// isMalformed is what the suite sends for a list of tags.
func isMalformed(value string) bool {
	return value == "conform" || value == `"conform` || value == `"a" "b"`
}

var firstTags, gone memory

var conditionFaults = []fault{
	{"no ETag", response("", func(_ *http.Request, a *broken) { a.header.Del("ETag") }), []string{"etag.present"}},
	{"another ETag by HEAD", response("HEAD", func(_ *http.Request, a *broken) { a.header.Set("ETag", `"head"`) }), []string{"etag.same-everywhere", "method.head"}},
	{"no ETag after writes", response("POST PUT PATCH", func(_ *http.Request, a *broken) { a.header.Del("ETag") }), []string{"etag.written"}},
	{"an ETag of what is gone", response("DELETE", func(_ *http.Request, a *broken) { a.header.Set("ETag", `"gone"`) }), []string{"etag.deleted"}},
	{"what is created anew has its first ETag", func(next serve, r *http.Request) *broken {
		a := next(r)
		if r.Method == "DELETE" && succeeded(a) {
			gone.note(r.URL.Path, true)
		}
		if r.Method != "GET" || a.status != 200 || !isOne(r) {
			return a
		}
		if firstTags.recall(r.URL.Path) == nil {
			firstTags.note(r.URL.Path, a.header.Get("ETag"))
		}
		if gone.recall(r.URL.Path) != nil {
			a.header.Set("ETag", firstTags.recall(r.URL.Path).(string))
		}
		return a
	}, []string{"etag.changes"}},

	{"If-None-Match is ignored", given("If-None-Match", dropped(always)),
		[]string{"condition.not-modified", "condition.not-modified-any", "condition.not-modified-list", "condition.malformed"}},
	{"304 with a content type", func(next serve, r *http.Request) *broken {
		a := next(r)
		if a.status == 304 {
			a.header.Set("Content-Type", "application/json;charset=utf-8")
		}
		return a
	}, []string{"condition.not-modified-form"}},
	{"304 without an ETag", func(next serve, r *http.Request) *broken {
		a := next(r)
		if a.status == 304 {
			a.header.Del("ETag")
		}
		return a
	}, []string{"condition.not-modified-form"}},
	{"If-None-Match: * is ignored", given("If-None-Match", dropped(func(value string) bool { return value == "*" })), []string{"condition.not-modified-any"}},
	{"If-None-Match takes one tag", given("If-None-Match", dropped(func(value string) bool { return strings.Contains(value, ",") })), []string{"condition.not-modified-list"}},
	{"weak tags are other tags", given("If-None-Match", dropped(func(value string) bool { return strings.HasPrefix(value, `W/"`) })), []string{"condition.not-modified-list"}},
	{"any tag is the tag", given("If-None-Match", func(value string) string {
		if value == `"conform"` {
			return "*"
		}
		return value
	}), []string{"condition.modified"}},
	{"a malformed If-None-Match is ignored", given("If-None-Match", dropped(isMalformed)), []string{"condition.malformed"}},

	{"If-Match is ignored", given("If-Match", dropped(always)),
		[]string{"condition.stale", "condition.weak", "condition.match-malformed", "condition.first", "async.checks-condition"}},
	{"If-Match takes one tag", given("If-Match", func(value string) string {
		if strings.Contains(value, ",") {
			return `"none"`
		}
		return value
	}), []string{"condition.match"}},
	{"If-Match: * never matches", given("If-Match", func(value string) string {
		if value == "*" {
			return `"none"`
		}
		return value
	}), []string{"condition.match-any"}},
	{"weak tags match", given("If-Match", func(value string) string { return strings.TrimPrefix(value, "W/") }), []string{"condition.weak"}},
	{"a malformed If-Match is ignored", given("If-Match", dropped(isMalformed)), []string{"condition.match-malformed"}},
	{"412 for what is not there", func(next serve, r *http.Request) *broken {
		a := next(r)
		if a.status == 404 && r.Header.Get("If-Match") != "" {
			a.status = 412
			a.replace(`"status":404`, `"status":412`)
		}
		return a
	}, []string{"condition.unknown-id"}},
	{"bodies come before conditions", func(next serve, r *http.Request) *broken {
		body := take(r)
		if give(r, body); strings.Contains(body, "conform_unknown") {
			r.Header.Del("If-Match")
		}
		return next(r)
	}, []string{"condition.first"}},
	{"412 is said, and yet it is done", func(next serve, r *http.Request) *broken {
		body := take(r)
		give(r, body)
		a := next(r)
		if a.status == 412 && r.Method == "PATCH" {
			anyway := again(r, "PATCH", r.URL.Path, body)
			anyway.Header.Del("If-Match")
			anyway.Header.Del("Prefer")
			next(anyway)
		}
		return a
	}, []string{"condition.stale", "condition.weak", "async.checks-condition"}},
}

// replayed calls change with answers that were given before.
func replayed(change func(next serve, r *http.Request, body string, a *broken) *broken) func(serve, *http.Request) *broken {
	return func(next serve, r *http.Request) *broken {
		body := take(r)
		give(r, body)
		a := next(r)
		if a.header.Get("Idempotency-Replayed") == "" {
			return a
		}
		return change(next, r, body, a)
	}
}

// afresh is the request once more, as if it came for the first time.
func afresh(r *http.Request, body string) *http.Request {
	once := again(r, r.Method, r.URL.Path, body)
	once.Header.Del("Idempotency-Key")
	once.Header.Del("Prefer")
	return once
}

// forgotten answers anew what was answered with a status before.
func forgotten(status int) func(serve, *http.Request) *broken {
	return replayed(func(next serve, r *http.Request, body string, a *broken) *broken {
		if a.status == status {
			return next(afresh(r, body))
		}
		return a
	})
}

// another is a body with values of its own, where they have to be.
func another(body string) string {
	return strings.NewReplacer(`"name":"`, `"name":"again `, `"email":"`, `"email":"again-`).Replace(body)
}

var malformedOnce memory

var onceFaults = []fault{
	{"keys are ignored", given("Idempotency-Key", dropped(always)), []string{
		"once.replay", "once.replay-of-changes", "once.marked", "once.effect", "once.other-request",
		"once.kept-404", "once.kept-409", "once.kept-412", "once.kept-422", "once.array", "once.malformed", "async.once",
	}},
	{"a replay without its Location", replayed(func(_ serve, _ *http.Request, _ string, a *broken) *broken {
		a.header.Del("Location")
		return a
	}), []string{"once.replay", "async.once"}},
	{"a replay is not marked", replayed(func(_ serve, _ *http.Request, _ string, a *broken) *broken {
		a.header.Del("Idempotency-Replayed")
		return a
	}), []string{"once.marked"}},
	{"a replay is done again", replayed(func(next serve, r *http.Request, body string, a *broken) *broken {
		next(afresh(r, another(body)))
		return a
	}), []string{"once.effect", "once.array", "async.once"}},
	{"a PATCH is done again", replayed(func(next serve, r *http.Request, body string, a *broken) *broken {
		if r.Method == "PATCH" {
			next(afresh(r, body))
		}
		return a
	}), []string{"once.effect"}},
	{"a replay shows what is there now", replayed(func(next serve, r *http.Request, _ string, a *broken) *broken {
		if now := next(again(r, "GET", r.URL.Path, "")); r.Method == "PATCH" && a.status == 200 && now.status == 200 {
			a.body = now.body
		}
		return a
	}), []string{"once.replay-of-changes"}},
	{"a key stands for any request", func(next serve, r *http.Request) *broken {
		body := take(r)
		give(r, body)
		a := next(r)
		if a.status == 422 && strings.Contains(a.body, "Idempotency-Key") {
			return next(afresh(r, body))
		}
		return a
	}, []string{"once.other-request"}},
	{"404 is not kept", forgotten(404), []string{"once.kept-404"}},
	{"409 is not kept", forgotten(409), []string{"once.kept-409"}},
	{"412 is not kept", forgotten(412), []string{"once.kept-412"}},
	{"422 is not kept", forgotten(422), []string{"once.kept-422"}},
	{"400 is kept", func(next serve, r *http.Request) *broken {
		key := r.Header.Get("Idempotency-Key")
		if kept, ok := malformedOnce.recall(key).(string); ok && key != "" {
			return &broken{status: 400, header: http.Header{"Content-Type": {"application/json;charset=utf-8"}}, body: kept}
		}
		a := next(r)
		if a.status == 400 && key != "" {
			malformedOnce.note(key, a.body)
		}
		return a
	}, []string{"once.not-kept"}},
	{"a long key is cut", given("Idempotency-Key", func(value string) string { return value[:min(len(value), 255)] }), []string{"once.malformed"}},
}
