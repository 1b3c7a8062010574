package interfacetest

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
)

// accepted gives the server another body when one looks so, as a server would
// see it that reads the body more kindly.
func accepted(methods, pattern, with string) func(serve, *http.Request) *broken {
	form := regexp.MustCompile(pattern)
	return func(next serve, r *http.Request) *broken {
		body := take(r)
		if strings.Contains(methods, r.Method) {
			body = form.ReplaceAllString(body, with)
		}
		give(r, body)
		return next(r)
	}
}

var writeFaults = []fault{
	{"POST is 200", response("POST", func(_ *http.Request, a *broken) { a.status = 200 }), []string{"create.status", "create.array"}},
	{"POST answers with the id alone", response("POST", func(_ *http.Request, a *broken) { a.replace(`("type":"users"),[^{}]*`, `$1`) }), []string{"create.full"}},
	{"text is trimmed", accepted("POST PUT", `"name":"name `, `"name":"`), []string{"create.values", "put.updates"}},
	{"no Location", response("POST", func(_ *http.Request, a *broken) { a.header.Del("Location") }), []string{"create.location", "child.location"}},
	{"Location of the collection", response("POST", func(r *http.Request, a *broken) {
		if isUsers(r) {
			a.header.Set("Location", "/users")
		}
	}), []string{"create.location"}},
	{"no defaults", func(next serve, r *http.Request) *broken {
		body := take(r)
		if isUsers(r) && r.Method == "POST" && strings.HasPrefix(body, "{") && !strings.Contains(body, `"active"`) {
			body = strings.Replace(body, "{", `{"active":null,`, 1)
		}
		give(r, body)
		return next(r)
	}, []string{"create.default"}},
	{"required attributes are optional", func(next serve, r *http.Request) *broken {
		body := take(r)
		if isUsers(r) && r.Method == "POST" && strings.HasPrefix(body, `{"active"`) {
			body = strings.Replace(body, `"name":null`, `"name":""`, 1)
			if !strings.Contains(body, `"name"`) {
				body = strings.Replace(body, "{", `{"name":"",`, 1)
			}
		}
		give(r, body)
		return next(r)
	}, []string{"create.required"}},
	{"ids of clients are ignored", accepted("POST", `"id":"[^"]*",`, ""), []string{"create.own-id", "create.existing-id", "create.array", "create.array-same-id"}},
	{"an id that exists is replaced", func(next serve, r *http.Request) *broken {
		body := take(r)
		give(r, body)
		a := next(r)
		var given struct{ ID string }
		if a.status == 409 && json.Unmarshal([]byte(body), &given) == nil {
			return next(again(r, "PUT", "/users/"+given.ID, body))
		}
		return a
	}, []string{"create.existing-id"}},
	{"arrays in the order of ids", response("POST", func(_ *http.Request, a *broken) {
		items(a, func(all []json.RawMessage) []json.RawMessage {
			for i := range len(all) / 2 {
				all[i], all[len(all)-1-i] = all[len(all)-1-i], all[i]
			}
			return all
		})
	}), []string{"create.array"}},
	{"an array of one becomes an object", response("POST", func(_ *http.Request, a *broken) {
		if a.count() == 1 {
			a.replace(`^\{"data":\[(.*)\]\}$`, `{"data":$1}`)
		}
	}), []string{"create.array-of-one"}},
	{"what is valid in an array is created", func(next serve, r *http.Request) *broken {
		body := take(r)
		give(r, body)
		a := next(r)
		var all []json.RawMessage
		if a.status == 422 && r.Method == "POST" && json.Unmarshal([]byte(body), &all) == nil {
			for _, each := range all {
				next(again(r, "POST", "/users", string(each)))
			}
		}
		return a
	}, []string{"create.array-all-or-none"}},
	{"one id twice creates the first", func(next serve, r *http.Request) *broken {
		body := take(r)
		give(r, body)
		a := next(r)
		var all []json.RawMessage
		if a.status == 409 && json.Unmarshal([]byte(body), &all) == nil {
			next(again(r, "POST", "/users", string(all[0])))
		}
		return a
	}, []string{"create.array-same-id"}},
	{"timestamps of clients are ignored", accepted("POST", `"(created_at|updated_at)":"[^"]*",`, ""), []string{"create.read-only"}},

	{"PATCH is 204", response("PATCH", func(_ *http.Request, a *broken) { a.status, a.body = 204, "" }), []string{
		"patch.status", "patch.full", "patch.no-op", "patch.updated-at", "envelope.writes", "child.update",
	}},
	{"PATCH does nothing", accepted("PATCH", `^\{"(name|email)":"[^"]*"\}$`, "{}"), []string{"patch.changes", "patch.updated-at"}},
	{"PATCH replaces", func(next serve, r *http.Request) *broken {
		body := take(r)
		give(r, body)
		a := next(r)
		if r.Method == "PATCH" && isOne(r) && succeeded(a) && strings.HasPrefix(body, `{"name"`) {
			next(again(r, "PATCH", r.URL.Path, `{"email":"none@example.com","active":null}`))
		}
		return a
	}, []string{"patch.partial", "patch.full", "patch.no-op", "etag.written"}},
	{"PATCH answers with the change", response("PATCH", func(_ *http.Request, a *broken) { a.replace(`"email":"[^"]*","active":[a-z]*,`, ``) }), []string{"patch.full"}},
	{"null in PATCH is ignored", accepted("PATCH", `"active":null`, ""), []string{"patch.null"}},
	{"null clears what is required", accepted("PATCH", `"name":null`, `"name":""`), []string{"patch.null-required"}},
	{"updated_at moves without a change", func(next serve, r *http.Request) *broken {
		a := next(r)
		if r.Method == "PATCH" && isOne(r) && succeeded(a) {
			touch(next, r, a)
		}
		return a
	}, []string{"patch.no-op", "patch.read-only", "etag.no-op", "etag.written"}},
	{"updated_at stays", response("PATCH", func(_ *http.Request, a *broken) {
		a.replace(`"updated_at":"[^"]*"`, `"updated_at":"2001-01-01T00:00:00.000Z"`)
	}),
		[]string{"patch.updated-at", "patch.no-op"}},
	{"PATCH of nothing is 200", func(next serve, r *http.Request) *broken {
		a := next(r)
		if r.Method == "PATCH" && a.status == 404 && isOne(r) {
			a.status, a.body = 200, `{"data":{}}`
		}
		return a
	}, []string{"patch.unknown-id"}},
	{"read-only members of PATCH are ignored", accepted("PATCH", `^\{"(id|type|created_at|updated_at)":"[^"]*"\}$`, "{}"), []string{"patch.read-only"}},

	{"PUT is 201", response("PUT", func(_ *http.Request, a *broken) { a.status = 201 }), []string{"put.status", "put.no-op", "child.update"}},
	{"PUT leaves what it does not name", func(next serve, r *http.Request) *broken {
		if r.Method == "PUT" && isOne(r) {
			body := take(r)
			give(r, body)
			if !strings.Contains(body, `"active"`) {
				r.Method = "PATCH"
			}
		}
		return next(r)
	}, []string{"put.replaces"}},
	{"PUT answers with the id alone", response("PUT", func(_ *http.Request, a *broken) { a.replace(`("type":"users"),[^{}]*`, `$1`) }), []string{"put.full", "put.read-back"}},
	{"PUT creates", func(next serve, r *http.Request) *broken {
		body := ""
		if r.Method == "PUT" {
			body = take(r)
			give(r, body)
		}
		a := next(r)
		if a.status == 404 && r.Method == "PUT" && isOne(r) {
			return next(again(r, "POST", "/users", strings.Replace(body, "{", `{"id":"`+strings.TrimPrefix(r.URL.Path, "/users/")+`",`, 1)))
		}
		return a
	}, []string{"put.never-creates"}},
	{"updated_at moves with PUT without a change", func(next serve, r *http.Request) *broken {
		a := next(r)
		if r.Method == "PUT" && isOne(r) && succeeded(a) {
			touch(next, r, a)
		}
		return a
	}, []string{"put.no-op", "etag.no-op", "etag.written"}},
	{"timestamps of PUT are refused", accepted("PUT", `"created_at":"[^"]*"`, `"created_at":1`), []string{"put.read-back"}},
	{"an id or type of PUT is ignored", accepted("PUT", `"(id|type)":"[^"]*",|,"type":"[^"]*"`, ""), []string{"put.read-only"}},

	{"DELETE is 204", response("DELETE", func(_ *http.Request, a *broken) { a.status, a.body = 204, "" }), []string{"delete.answer", "child.update"}},
	{"DELETE marks as deleted", func(next serve, r *http.Request) *broken {
		if r.Method == "DELETE" && isOne(r) && strings.HasPrefix(r.URL.Path, "/users/") {
			r.Method = "GET"
		}
		return next(r)
	}, []string{"delete.gone", "delete.twice", "cursor.deleted", "etag.deleted"}},
	{"a second DELETE is 200", func(next serve, r *http.Request) *broken {
		a := next(r)
		if r.Method == "DELETE" && a.status == 404 && isOne(r) {
			a.status, a.body = 200, `{"data":null}`
		}
		return a
	}, []string{"delete.twice", "delete.unknown-id"}},

	{"any content type is JSON", func(next serve, r *http.Request) *broken {
		if r.ContentLength > 0 {
			r.Header.Set("Content-Type", "application/json")
		}
		return next(r)
	}, []string{"body.content-type"}},
	{"415 without Accept", refusal(func(_ *http.Request, a *broken) { a.header.Del("Accept"); a.header.Del("Accept-Patch") }), []string{"body.content-type-accept"}},
	{"a charset is refused", func(next serve, r *http.Request) *broken {
		if strings.Contains(r.Header.Get("Content-Type"), "charset") {
			r.Header.Set("Content-Type", "text/plain")
		}
		return next(r)
	}, []string{"body.charset"}},
	{"a comma at the end is accepted", accepted("POST", `,\}$`, `}`), []string{"body.malformed"}},
	{"members twice are accepted", accepted("POST", `("name":"[^"]*"),"name":"[^"]*"\}$`, `$1}`), []string{"body.duplicate-member"}},
	{"trailing data is accepted", accepted("POST", `\}(\{\}| x)$`, `}`), []string{"body.trailing-data"}},
	{"half a surrogate pair is accepted", accepted("POST", `\\ud800`, `?`), []string{"body.lone-surrogate"}},
	{"invalid UTF-8 is accepted", func(next serve, r *http.Request) *broken {
		if r.Method == "POST" {
			give(r, strings.ToValidUTF8(take(r), "?"))
		}
		return next(r)
	}, []string{"body.invalid-utf8"}},
	{"a byte order mark is accepted", accepted("POST", "^\ufeff", ""), []string{"body.byte-order-mark"}},
	{"U+0000 is accepted", accepted("POST", `\\u0000`, ""), []string{"body.null-character"}},
	{"Unicode is normalised", accepted("POST", "e\u0301", "\u00e9"), []string{"body.unicode"}},
	{"other JSON is accepted", accepted("POST PATCH PUT", `^("conform"|1|null|true|\[1\])$`, "[]"), []string{"body.not-an-object"}},
	{"wrapped bodies are accepted", accepted("POST PATCH", `^\{"data":(.*)\}$`, `$1`), []string{"body.wrapped"}},
	{"unknown attributes are ignored", accepted("POST PUT PATCH", `"(conform_unknown|conform_other|conform/~)":1,?`, ""), []string{"body.unknown-attribute"}},
	{"unknown attributes of PATCH are ignored", accepted("PATCH", `"conform_unknown":1`, ""), []string{"body.unknown-attribute"}},
	{"names in any case", accepted("PATCH", `"NAME"`, `"name"`), []string{"body.exact-names"}},
	{"numbers become text", accepted("PATCH", `"name":1`, `"name":"1"`), []string{"body.types"}},
}

// touch moves updated_at on, and nothing else: by two changes, the second back.
func touch(next serve, r *http.Request, a *broken) {
	type envelope struct {
		Data struct {
			Name      json.RawMessage
			UpdatedAt string `json:"updated_at"`
		}
	}
	var before, after envelope
	_ = json.Unmarshal([]byte(a.body), &before)
	for after = before; after.Data.UpdatedAt == before.Data.UpdatedAt; { // it counts milliseconds
		next(again(r, "PATCH", r.URL.Path, `{"name":"touched"}`))
		back := next(again(r, "PATCH", r.URL.Path, `{"name":`+string(before.Data.Name)+`}`))
		if !succeeded(back) {
			return
		}
		_ = json.Unmarshal([]byte(back.body), &after)
	}
}
