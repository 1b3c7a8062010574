package interfacetest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

func newID() string { return fmt.Sprintf("00000000-0000-7000-8000-%012x", rand.Uint64N(1<<48)) }

func isAsync(r *http.Request) bool { return strings.HasPrefix(r.Header.Get("Prefer"), "respond-async") }

func isOperation(r *http.Request) bool {
	return r.Method == "GET" && strings.HasPrefix(r.URL.Path, "/operations/")
}

// later changes answers that accept a write of some methods to be done later.
func later(methods string, change func(next serve, r *http.Request, body string, a *broken)) func(serve, *http.Request) *broken {
	return func(next serve, r *http.Request) *broken {
		body := take(r)
		give(r, body)
		a := next(r)
		if a.status == 202 && strings.Contains(methods, r.Method) {
			change(next, r, body, a)
		}
		return a
	}
}

// notLocated changes the Location of accepted writes, once they have taken effect: nobody can wait for what cannot be found, and
// it would change what other checks count.
func notLocated(change func(a *broken)) func(serve, *http.Request) *broken {
	return later("POST PUT PATCH DELETE", func(next serve, r *http.Request, _ string, a *broken) {
		read := again(r, "GET", a.header.Get("Location"), "")
		read.Header.Del("If-Match")
		for o := next(read); o.status == 200 && !strings.Contains(o.body, `"status":"succeeded"`) && !strings.Contains(o.body, `"status":"failed"`); o = next(read) {
			time.Sleep(time.Millisecond)
		}
		change(a)
	})
}

// operations changes operations as they are read.
func operations(change func(next serve, r *http.Request, a *broken)) func(serve, *http.Request) *broken {
	return func(next serve, r *http.Request) *broken {
		a := next(r)
		if isOperation(r) && a.status == 200 {
			change(next, r, a)
		}
		return a
	}
}

// instead has another request accepted, one that changes nothing, than the one that came.
func instead(method, as string) func(serve, *http.Request) *broken {
	return request(func(r *http.Request) {
		body := take(r)
		give(r, body)
		if isAsync(r) && r.Method == method && isOne(r) && !strings.Contains(body, "conform_unknown") {
			r.Method = as
			r.Header.Set("Content-Type", "application/json")
			give(r, "{}")
		}
	})
}

// resourceOf is the path of the resource that an operation is about.
func resourceOf(a *broken) string {
	var envelope struct {
		Data struct{ Resource struct{ ID, Type string } }
	}
	_ = json.Unmarshal([]byte(a.body), &envelope)
	return "/" + envelope.Data.Resource.Type + "/" + envelope.Data.Resource.ID
}

// promised are operations that exist only in a fault: they have failed, with
// what should have been said at once.
var promised memory

// unchecked accepts what should be refused at once with some status.
func unchecked(withErrors bool, statuses ...int) func(serve, *http.Request) *broken {
	return func(next serve, r *http.Request) *broken {
		if body, ok := promised.recall(r.URL.Path).(string); ok && r.Method == "GET" {
			return &broken{status: 200, header: http.Header{"Content-Type": {"application/json;charset=utf-8"}}, body: body}
		}
		a := next(r)
		for _, status := range statuses {
			if a.status != status || !isAsync(r) {
				continue
			}
			_, concerned, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/users"), "/")
			if concerned == "" {
				concerned = newID()
			}
			operation := "/operations/" + newID()
			errors := "null"
			if withErrors {
				errors = strings.TrimSuffix(strings.TrimPrefix(a.body, `{"errors":`), "}")
			}
			promised.note(operation, fmt.Sprintf(`{"data":{"id":%q,"type":"operations","status":"failed","method":%q,"resource":{"id":%q,"type":"users"},"errors":%s,"attempts":1}}`,
				strings.TrimPrefix(operation, "/operations/"), r.Method, concerned, errors))
			a.status, a.body = 202, fmt.Sprintf(`{"data":{"id":%q,"type":"users"}}`, concerned)
			a.header.Set("Location", operation)
			a.header.Set("Preference-Applied", "respond-async")
		}
		return a
	}
}

var earlier, pending, asked memory

var asyncFaults = []fault{
	{"202 with the full resource", later("POST PUT PATCH DELETE", func(_ serve, _ *http.Request, _ string, a *broken) {
		a.replace(`"type":"users"`, `"type":"users","name":"Ada"`)
	}), []string{"create.accepted", "async.accepted"}},
	{"PATCH cannot be done later", request(func(r *http.Request) {
		if r.Method == "PATCH" {
			r.Header.Del("Prefer")
		}
	}), []string{"async.accepted", "async.about-to-exist"}},
	{"202 without Location", notLocated(func(a *broken) { a.header.Del("Location") }), []string{"async.location"}},
	{"Location of the resource", notLocated(func(a *broken) {
		a.header.Set("Location", "/users/"+regexp.MustCompile(`"id":"([^"]*)"`).FindStringSubmatch(a.body)[1])
	}), []string{"async.location"}},
	{"no Preference-Applied", response("", func(_ *http.Request, a *broken) { a.header.Del("Preference-Applied") }), []string{"async.preference-applied"}},

	{"a POST has succeeded, and nothing is there", operations(func(next serve, r *http.Request, a *broken) {
		if strings.Contains(a.body, `"status":"succeeded","method":"POST"`) {
			next(again(r, "DELETE", resourceOf(a), ""))
		}
	}), []string{"async.create", "async.about-to-exist", "async.exactly-once", "async.once"}},
	{"a PATCH has succeeded, and nothing is changed", instead("PATCH", "PATCH"), []string{"async.patch", "async.order", "async.about-to-exist", "async.errors"}},
	{"a PUT has succeeded, and nothing is changed", instead("PUT", "PATCH"), []string{"async.put"}},
	{"a DELETE has succeeded, and nothing is gone", instead("DELETE", "PATCH"), []string{"async.delete"}},
	{"a POST is done twice", later("POST", func(next serve, r *http.Request, body string, _ *broken) {
		next(afresh(r, regexp.MustCompile(`"id":"[^"]*",`).ReplaceAllString(another(body), "")))
	}), []string{"async.exactly-once", "async.once"}},
	{"the first of several takes effect last", func(next serve, r *http.Request) *broken {
		body := take(r)
		give(r, body)
		a := next(r)
		if a.status == 202 && r.Method == "PATCH" {
			bodies, _ := earlier.recall(r.URL.Path).([]string)
			earlier.note(r.URL.Path, slices.Concat(bodies, []string{body})) // requests may come at the same time
		}
		if isOperation(r) {
			path := resourceOf(a)
			if bodies, _ := earlier.recall(path).([]string); len(bodies) > 1 && strings.Contains(a.body, `"succeeded"`) {
				next(again(r, "PATCH", path, bodies[0]))
			}
		}
		return a
	}, []string{"async.order"}},
	{"what is about to exist does not", func(next serve, r *http.Request) *broken {
		if isAsync(r) && r.Method == "PATCH" && pending.recall(r.URL.Path) != nil {
			r.URL.Path = "/users/" + newID()
		}
		a := next(r)
		if a.status == 202 && r.Method == "POST" {
			pending.note("/users/"+regexp.MustCompile(`"id":"([^"]*)"`).FindStringSubmatch(a.body)[1], true)
		}
		if isOperation(r) && strings.Contains(a.body, `"status":"succeeded"`) {
			pending.forget(resourceOf(a))
		}
		return a
	}, []string{"async.about-to-exist"}},

	{"what cannot be read is refused later", unchecked(true, 400, 415), []string{"async.checks-request"}},
	{"bodies are checked later", unchecked(true, 422), []string{"async.checks-body"}},
	{"existence is checked later", unchecked(true, 404), []string{"async.checks-existence"}},
	{"conflicts are found later", unchecked(true, 409), []string{"async.checks-conflict"}},
	{"conditions are checked later", unchecked(true, 412), []string{"async.checks-condition"}},
	{"what is refused later has no errors", unchecked(false, 404, 409, 422),
		[]string{"async.checks-body", "async.checks-existence", "async.checks-conflict"}},

	{"wait is ignored", given("Prefer", func(value string) string {
		return strings.TrimSuffix(value, ", wait=10")
	}), []string{"async.wait"}},
	{"arrays are accepted for later", func(next serve, r *http.Request) *broken {
		body := take(r)
		give(r, body)
		a := next(r)
		if strings.HasPrefix(body, "[") && isAsync(r) && a.status == 201 {
			a.status = 202
		}
		return a
	}, []string{"async.array"}},
	{"keys are ignored for what is done later", request(func(r *http.Request) {
		if isAsync(r) {
			r.Header.Del("Idempotency-Key")
		}
	}), []string{"async.once"}},

	{"methods of operations in small letters", operations(func(_ serve, _ *http.Request, a *broken) { a.replace(`"method":"POST"`, `"method":"post"`) }), []string{"async.operation"}},
	{"attempts are not counted", operations(func(_ serve, _ *http.Request, a *broken) { a.replace(`"attempts":\d+`, `"attempts":0`) }), []string{"async.operation"}},
	{"operations are queued first", operations(func(_ serve, r *http.Request, a *broken) {
		if asked.recall(r.URL.Path) == nil {
			asked.note(r.URL.Path, true)
			a.replace(`"status":"(pending|running|succeeded)"`, `"status":"queued"`)
		}
	}), []string{"async.status"}},
	{"errors are lost", operations(func(_ serve, _ *http.Request, a *broken) { a.replace(`"errors":\[.*\]`, `"errors":null`) }), []string{"async.errors"}},
	{"a failure is a success", operations(func(_ serve, _ *http.Request, a *broken) { a.replace(`"status":"failed"`, `"status":"succeeded"`) }), []string{"async.errors"}},
	{"operations can be removed", func(next serve, r *http.Request) *broken {
		a := next(r)
		if a.status == 405 && r.Method == "DELETE" && strings.HasPrefix(r.URL.Path, "/operations/") {
			a.status, a.body = 200, `{"data":{}}`
		}
		return a
	}, []string{"async.read-only"}},
	{"operations are not listed", request(func(r *http.Request) {
		if r.URL.Path == "/operations" && r.Method == "GET" && !strings.Contains(r.URL.RawQuery, "filter") {
			r.URL.RawQuery = "limit=0"
		}
	}), []string{"async.list"}},
	{"operations cannot be filtered by status", func(next serve, r *http.Request) *broken {
		r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "&filter[status]=failed", "", 1)
		return next(r)
	}, []string{"async.filter"}},
}
