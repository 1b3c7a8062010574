package interfacetest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// heard sends a request and gives it with its answer to whoever checks it.
func (s *server) heard(method, path, body string, headers ...string) *exchange {
	s.t.Helper()
	target, err := url.Parse(path)
	if err != nil {
		s.t.Fatal(err)
	}
	a := s.do(method, path, body, headers...)
	e := &exchange{method: method, target: target, header: http.Header{}, body: []byte(body), status: a.status, answered: a.header, answer: []byte(a.body)}
	for i := 0; i < len(headers); i += 2 {
		e.header.Set(headers[i], headers[i+1])
	}
	return e
}

// TestWrongDocumentsAreDetected breaks the document in every kind of way: what was right
// by it is not any more.
func TestWrongDocumentsAreDetected(t *testing.T) {
	s := start(t, schema.Example(), "sqlite:"+filepath.Join(t.TempDir(), "test.db"))
	created := s.heard("POST", "/users", `{"id":"`+id(1)+`","name":"Ada","email":"ada@example.com"}`, "Idempotency-Key", "one")
	list := s.heard("GET", "/users?limit=1&filter[active]&sort=-name", "", "Prefer", "count=exact")
	read := s.heard("GET", "/users/"+id(1), "")
	unchanged := s.heard("GET", "/users/"+id(1), "", "If-None-Match", read.answered.Get("Etag"))
	missing := s.heard("GET", "/users/"+id(2), "")
	invalid := s.heard("POST", "/users", `{"name":7}`)
	patched := s.heard("PATCH", "/users/"+id(1), `{"name":null}`)
	elsewhere := s.heard("GET", "/nowhere", "")

	remove := func(pointer, name string) func(*document) {
		return func(d *document) {
			if _, found := d.at(pointer)[name]; !found {
				t.Errorf("there is no %s at %s", name, pointer)
			}
			delete(d.at(pointer), name)
		}
	}
	set := func(pointer, name string, value any) func(*document) {
		return func(d *document) {
			if d.at(pointer) == nil {
				t.Errorf("there is nothing at %s", pointer)
				return
			}
			d.at(pointer)[name] = value
		}
	}
	for _, c := range []struct {
		name  string
		spoil func(*document)
		heard *exchange
		want  string // that a complaint begins with; empty: none
	}{
		{"nothing, created", func(*document) {}, created, ""},
		{"nothing, listed", func(*document) {}, list, ""},
		{"nothing, read", func(*document) {}, read, ""},
		{"nothing, unchanged", func(*document) {}, unchanged, ""},
		{"nothing, missing", func(*document) {}, missing, ""},
		{"nothing, invalid", func(*document) {}, invalid, ""},
		{"nothing, patched", func(*document) {}, patched, ""},
		{"nothing, elsewhere", func(*document) {}, elsewhere, ""},
		{"a path", remove("/paths", "/users"), list, "the status 200, where there is no operation"},
		{"an operation", remove("/paths/~1users", "post"), created, "the status 201, where there is no operation"},
		{"a status", remove("/paths/~1users/post/responses", "201"), created, "the body is not what is declared"},
		{"a status without a body", remove("/paths/~1users~1{id}/get/responses", "304"), unchanged, "the header Etag is not declared"},
		{"a header", remove("/components/responses/UserListResponse/headers", "Link"), list, "the header Link is not declared"},
		{"the type of a header", set("/components/headers/X-Total-Count/schema", "type", "boolean"), list, "the header X-Total-Count is not what is declared"},
		{"a header too many", set("/components/responses/UserResponse/headers", "X-Nope", map[string]any{"required": true, "schema": map[string]any{"type": "string"}}), read, "the header X-Nope is missing"},
		{"the content type", func(d *document) {
			content := d.at("/components/responses/UserResponse/content")
			content["text/plain"] = content["application/json"]
			delete(content, "application/json")
		}, read, "the content type is application/json, and not text/plain"},
		{"the type of an attribute", set("/components/schemas/User/properties/name", "type", "integer"), read, "the body is not what is declared"},
		{"an attribute", remove("/components/schemas/User/properties", "email"), list, "the body is not what is declared"},
		{"one attribute too many", set("/components/schemas/User", "required", []any{"nickname"}), read, "the body is not what is declared"},
		{"an attribute that can be sent", remove("/components/schemas/UserCreate/properties", "email"), created, "the body sent is not what is declared"},
		{"the type of what is sent", set("/components/schemas/UserCreate/properties/name", "type", "integer"), created, "the body sent is not what is declared"},
		{"a parameter", set("/components/parameters/limit", "name", "length"), list, "the parameter limit is not declared"},
		{"the type of a parameter", set("/components/parameters/limit/schema", "type", "boolean"), list, "the parameter limit is not what is declared"},
		{"a key to sort by", set("/components/parameters/users.sort/schema/items", "enum", []any{"id"}), list, "the parameter sort is not what is declared"},
		{"the form of a header that is sent", set("/components/parameters/Idempotency-Key/schema", "minLength", 10), created, "the header Idempotency-Key is not what is declared"},
		{"a code", func(d *document) {
			both := d.at("/components/responses/Error404OfGet/content/application~1json/schema/properties/errors/items")["allOf"].([]any)
			both[1].(map[string]any)["properties"].(map[string]any)["code"] = map[string]any{"enum": []any{"gone"}}
		}, missing, "the body is not what is declared"},
		{"what is required", func(d *document) {
			remove("/components/schemas/UserCreate", "required")(d)
			set("/components/schemas/UserCreate/properties/name", "type", "integer")(d)
		}, invalid, "refused as type, although the document allows it"},
		{"what can be null", set("/components/schemas/UserPatch/properties/name", "type", []any{"string", "null"}), patched, "refused as required, although the document allows it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := plural.OpenAPI(plural.Config{}, "")
			if err != nil {
				t.Fatal(err)
			}
			var root map[string]any
			decoder := json.NewDecoder(strings.NewReader(string(text)))
			decoder.UseNumber()
			if err := decoder.Decode(&root); err != nil {
				t.Fatal(err)
			}
			c.spoil(&document{root: root})
			complaints := newDocument(root, documentKind{}).checker(c.heard)
			if c.want == "" {
				if len(complaints) > 0 {
					t.Errorf("got %q", complaints)
				}
				return
			}
			for _, complaint := range complaints {
				if strings.HasPrefix(complaint, c.want) {
					return
				}
			}
			t.Errorf("got %q, want %q", complaints, c.want)
		})
	}
}

func TestOpenAPIDocument(t *testing.T) {
	eachStore(t, large(t), func(t *testing.T, s *server) {
		want, err := plural.OpenAPI(s.config, "")
		if err != nil {
			t.Fatal(err)
		}
		path := s.config.Prefix + "/-/openapi.json"
		first := s.get(path)
		if first.body != string(want) {
			t.Errorf("the server gives another document than OpenAPI: %.200s", first.body)
		}
		for name, value := range map[string]string{"Content-Type": "application/json", "Cache-Control": "private, no-cache", "Vary": "Accept-Encoding"} {
			if got := first.header.Get(name); got != value {
				t.Errorf("%s is %q", name, got)
			}
		}
		if head := s.do("HEAD", path, ""); head.status != 200 || head.header.Get("Etag") != first.header.Get("Etag") || head.header.Get("Content-Length") != first.header.Get("Content-Length") {
			t.Errorf("HEAD gets %d %v", head.status, head.header)
		}
		etag := first.header.Get("Etag")
		for condition, status := range map[string]int{etag: 304, `"other", ` + etag: 304, "*": 304, `"other"`: 200, "none": 400} {
			if a := s.get(path, "If-None-Match", condition); a.status != status {
				t.Errorf("If-None-Match: %s gets %d", condition, a.status)
			}
		}
		zipped := s.get(path, "Accept-Encoding", "gzip")
		if zipped.header.Get("Content-Encoding") != "gzip" || zipped.header.Get("Etag") == etag || len(zipped.body) > len(first.body)/5 {
			t.Errorf("got %d bytes, %v", len(zipped.body), zipped.header)
		}
		if a := s.get(path, "Accept-Encoding", "gzip", "If-None-Match", zipped.header.Get("Etag")); a.status != 304 || a.body != "" {
			t.Errorf("a compressed one that is known gets %d", a.status)
		}
		plain, err := plural.OpenAPI(s.config, "", plural.WithoutIncludes)
		if a := s.get(path + "?include=none"); err != nil || a.body != string(plain) || a.header.Get("Etag") == etag || a.body == first.body {
			t.Errorf("without includes, the server gives another document than OpenAPI, %v: %.200s", err, a.body)
		}
		for _, query := range []string{"include=posts", "include", "include=none&include=none"} {
			s.get(path+"?"+query).expectErrors(t, 400, "invalid_parameter include")
		}
		latest, err := plural.OpenAPI(s.config, "", plural.InOpenAPI32, plural.WithoutIncludes)
		if a := s.get(path + "?openapi=3.2&include=none"); err != nil || a.body != string(latest) || !strings.HasPrefix(a.body, `{"openapi":"3.2.0"`) {
			t.Errorf("of OpenAPI 3.2, the server gives another document, %v: %.200s", err, a.body)
		}
		if a := s.get(path + "?openapi=3.1"); a.body != first.body || a.header.Get("Etag") != etag {
			t.Errorf("of OpenAPI 3.1, the server gives another document: %.200s", a.body)
		}
		for _, query := range []string{"openapi=3.3", "openapi", "openapi=3.2&openapi=3.2"} {
			s.get(path+"?"+query).expect(t, 400, `{"errors":[{"status":400,"code":"invalid_parameter","title":"Invalid query parameter",`+
				`"detail":"There are documents of OpenAPI 3.1, which is the default, and 3.2. Send openapi=3.2, or leave it out.","source":{"parameter":"openapi"}}]}`)
		}
		s.do("POST", path, "{}").expectErrors(t, 405, "method_not_allowed")
		var document struct{ Servers []struct{ URL string } }
		if err := json.Unmarshal([]byte(first.body), &document); err != nil || len(document.Servers) != 1 || document.Servers[0].URL != "/api" {
			t.Errorf("the servers are %v, %v", document.Servers, err)
		}
	}, func(c *plural.Config) { c.Prefix = "/api" })
}

// TestOpenAPIDocumentOfCallers: each role has its own, which shows nothing of what is hidden
// from it.
func TestOpenAPIDocumentOfCallers(t *testing.T) {
	t.Parallel()
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open()
		h.key("janitor", "janitor", "")
		roles := map[string]string{"public": "public", "ada": "author", "bo": "author", "editor": "editor", "clerk": "clerk", "janitor": "janitor"}
		etags := map[string]string{}
		for caller, role := range roles {
			want, err := plural.OpenAPI(h.config, role)
			if err != nil {
				t.Fatal(err)
			}
			a := h.as(caller, "GET", "/-/openapi.json", "")
			if a.body != string(want) {
				t.Errorf("%s is given another document than that of %s: %d %.200s", caller, role, a.status, a.body)
			}
			if other, ok := etags[a.header.Get("Etag")]; ok && other != role {
				t.Errorf("%s and %s share an ETag", role, other)
			}
			etags[a.header.Get("Etag")] = role
		}
		for caller, hidden := range map[string][]string{
			"public":  {"email", "createUser", "updateUser", "deletePost", "UserCreate", "/-/metrics", "/operations\""},
			"ada":     {"email", "createUser", "deleteUser", "/-/metrics"},
			"clerk":   {"users", "notes", "email", "rank", "listPosts", "getPost", "/posts/{id}", "/-/metrics"},
			"janitor": {"notes", "listUsers", "createUser", "updateUser", "UserPatch"},
		} {
			text := h.as(caller, "GET", "/-/openapi.json", "").body
			for _, word := range hidden {
				if strings.Contains(text, word) {
					t.Errorf("the document of %s has %s", caller, word)
				}
			}
		}
		for caller, shown := range map[string][]string{
			"public": {`"listUsers"`, `"getPost"`, `"securitySchemes"`, `"security":[{},{"bearer":[]}]`},
			"ada":    {`"updateUser"`, `"createPost"`, `"listOperations"`, `"/users/{user_id}/posts"`},
			"editor": {`"email"`, `"deleteUser"`, `"/-/metrics"`},
			"clerk":  {`"createPost"`, `"user_id"`},
		} {
			text := h.as(caller, "GET", "/-/openapi.json", "").body
			for _, word := range shown {
				if !strings.Contains(text, word) {
					t.Errorf("the document of %s lacks %s", caller, word)
				}
			}
		}
		h.do("GET", "/-/openapi.json", "", "Authorization", "Bearer nobody").expectErrors(t, 401, "invalid_credentials Authorization")
	})
}
