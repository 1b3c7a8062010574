package interfacetest

import (
	"strings"
	"testing"

	"github.com/plural-go/plural/schema"
)

func TestRead(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 2)
		read := s.get("/users/" + id(1))
		read.expect(t, 200, `{"data":`+user(1)+`}`)
		read.expectHeaders(t, tagged)
		s.get("/users/"+id(9)).expectErrors(t, 404, "not_found")
		s.get("/posts/"+id(1)).expectErrors(t, 404, "not_found")
		s.get("/users/"+id(1)+"?limit=1").expectErrors(t, 400, "unknown_parameter limit")
	})
}

// TestReadUpperCaseID: upper case is accepted in a path, other forms are not.
func TestReadUpperCaseID(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		own := "abcdefab-cdef-4abc-8def-abcdefabcdef"
		s.createAll("/posts", `{"id":"`+own+`"}`)
		whole := s.get("/posts/" + own)
		s.get("/posts/"+strings.ToUpper(own)).expect(t, 200, whole.timeless())
		s.get("/posts/"+strings.ReplaceAll(own, "a", "%61")).expect(t, 200, whole.timeless())
		for _, form := range []string{"{" + own + "}", strings.ReplaceAll(own, "-", ""), "urn:uuid:" + own, own + "0", own[1:], own + "%00", "%20" + own, "1", "me"} {
			s.expectRefusal(t, "GET", "/posts/"+form, "", 404, "not_found")
		}
	})
}

// TestHead: as GET, without the body.
func TestHead(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 5)
		s.createAll("/users/"+id(0)+"/posts", `{"id":"`+id(0)+`"}`)
		for _, path := range []string{
			"/", "/users", "/users?limit=2", "/users?offset=1&limit=2", "/users?cursor=" + id(3) + "&limit=2", "/users?limit=-2", "/users?limit=0",
			"/users?filter[active]&limit=2", "/users?sort=-name&limit=2", "/users?offset=1&limit=2&filter[active]", "/users?offset=99&filter[active]",
			"/users/" + id(0), "/user/" + id(0), "/users/" + id(0) + "/posts", "/users/" + id(0) + "/posts/" + id(0),
			"/nowhere", "/users/" + id(9), "/users?nope", "/users/" + id(9) + "/posts",
		} {
			get, head := s.get(path), s.do("HEAD", path, "")
			if head.status != get.status || head.body != "" {
				t.Errorf("HEAD %s: %d %q, and GET %d", path, head.status, head.body, get.status)
			}
			for _, name := range []string{"Content-Type", "X-Total-Count", "Link", "Content-Location", "Allow"} {
				// Positions advance on PostgreSQL with every transaction, also with those that change nothing here.
				got, want := anyPosition.ReplaceAllString(head.header.Get(name), "since=POSITION"), anyPosition.ReplaceAllString(get.header.Get(name), "since=POSITION")
				if got != want {
					t.Errorf("HEAD %s: %s is %q, and for GET %q", path, name, got, want)
				}
			}
			if head.header.Get("X-Request-Id") == "" {
				t.Errorf("HEAD %s: no X-Request-Id", path)
			}
		}
	})
}

// TestSingular: GET and HEAD only, with the canonical path beside.
func TestSingular(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		s.createAll("/users/"+id(0)+"/posts", `{"id":"`+id(0)+`","title":"One"}`)
		read := s.get("/post/" + id(0))
		read.expect(t, 200, `{"data":`+post(0, "One", quoted(id(0)))+`}`)
		read.expectHeaders(t, tagged, "Content-Location: /posts/"+id(0))
		s.do("HEAD", "/user/"+id(0), "").expectHeaders(t, tagged, "Content-Location: /users/"+id(0))
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
			refused := s.do(method, "/user/"+id(0), "{}")
			refused.expectErrors(t, 405, "method_not_allowed")
			refused.expectHeaders(t, "Allow: GET, HEAD, QUERY, OPTIONS")
		}
		for _, path := range []string{"/user", "/user/" + id(9), "/user/x", "/user/" + id(0) + "/posts", "/users/" + id(0) + "/post/" + id(0)} {
			s.expectRefusal(t, "GET", path, "", 404, "not_found")
		}
		s.get("/users/"+id(0)).expect(t, 200, `{"data":`+user(0)+`}`)
	})
}

// TestRoot: the collections are resources themselves.
func TestRoot(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 3)
		s.createAll("/posts", `{}`)
		// The ids are version 5 UUIDs of the names, the same on every server.
		root := s.get("/")
		root.expect(t, 200, data(
			`{"id":"`+rootID(t, root, 0)+`","type":"collections","name":"users","singular":"user","total":3,"attributes":[`+
				`{"name":"name","required":true,"type":"string"},{"name":"email","required":true,"type":"string","format":"email"},`+
				`{"name":"active","required":false,"type":"boolean","default":true}],"relations":[{"name":"posts","collection":"posts","many":true,"attribute":"user_id"}]}`,
			`{"id":"`+rootID(t, root, 1)+`","type":"collections","name":"posts","singular":"post","total":1,"attributes":[`+
				`{"name":"title","required":false,"type":"string"},{"name":"body","required":false,"type":"string"},`+
				`{"name":"published_at","required":false,"type":"string","format":"date-time"},`+
				`{"name":"user_id","required":false,"references":"users","type":"string","format":"uuid"}],"relations":[{"name":"user","collection":"users","many":false,"attribute":"user_id"}]}`,
			`{"id":"`+rootID(t, root, 2)+`","type":"collections","name":"operations","singular":"operation","total":0,"attributes":[`+
				`{"name":"status","required":true,"type":"string","description":"How far it has come.","maxLength":16,"enum":["pending","running","succeeded","failed"]},`+
				`{"name":"method","required":true,"type":"string","description":"The method of the request.","maxLength":16,"enum":["POST","PUT","PATCH","DELETE"]},`+
				`{"name":"resource","required":true,"type":"object","description":"The resource that it is about.",`+
				`"properties":{"id":{"type":"string","format":"uuid"},"type":{"type":"string"}},"allOf":[{"required":["id","type"]}],"additionalProperties":false},`+
				`{"name":"errors","required":false,"type":"array","description":"Why it failed: the errors that the request would have been answered with."},`+
				`{"name":"attempts","required":true,"type":"integer","description":"How often it was tried.","minimum":0}],"relations":[]}`,
			`{"id":"`+rootID(t, root, 3)+`","type":"collections","name":"changes","singular":"change","total":null,"attributes":[`+
				`{"name":"kind","required":true,"type":"string","description":"What happened to the resource.","maxLength":16,"enum":["created","updated","deleted"]},`+
				`{"name":"resource","required":true,"type":"object","description":"The resource that was changed.",`+
				`"properties":{"id":{"type":"string","format":"uuid"},"type":{"type":"string"}},"allOf":[{"required":["id","type"]}],"additionalProperties":false},`+
				`{"name":"revision","required":true,"type":"integer","description":"The revision of the resource after the change.","minimum":1},`+
				`{"name":"by","required":false,"type":"string","description":"The caller who made the change; null if there is no access control."},`+
				`{"name":"previous","required":false,"type":"object","description":"The former values of the changed attributes, or the whole resource as it last was if it was deleted or is hidden; null if it did not exist or was hidden before."},`+
				`{"name":"data","required":false,"type":"object","description":"The resource after the change; null if it was deleted or is hidden."}],"relations":[]}`))
		root.expectHeaders(t, "X-Total-Count: 4")
		s.get("/?limit=1").expectErrors(t, 400, "unknown_parameter limit")
		refused := s.do("POST", "/", "{}")
		refused.expectErrors(t, 405, "method_not_allowed")
		refused.expectHeaders(t, "Allow: GET, HEAD, QUERY, OPTIONS")
	})
}

func rootID(t *testing.T, root answer, position int) string {
	t.Helper()
	ids := root.ids(t)
	if position >= len(ids) || len(ids[position]) != 36 || ids[position][14] != '5' || !strings.ContainsRune("89ab", rune(ids[position][19])) {
		t.Fatalf("no UUID of version 5 at %d: %s", position, root.body)
	}
	return ids[position]
}
