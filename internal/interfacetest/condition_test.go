package interfacetest

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/plural-go/plural/schema"
)

// newUser is a body that creates a user.
func newUser(position int) string {
	return fmt.Sprintf(`{"id":"%s","name":"User %d","email":"user%d@example.com"}`, id(position), position, position)
}

// tag is the ETag of an answer, which must have one.
func (a answer) tag(t testing.TB) string {
	t.Helper()
	tag := a.header.Get("ETag")
	if !etags.MatchString(tag) {
		t.Fatalf("the ETag is %q of %d %s", tag, a.status, a.body)
	}
	return tag
}

func TestETagFollowsTheRepresentation(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		created := s.do("POST", "/users", newUser(1))
		tag := created.tag(t)
		for _, path := range []string{"/users/" + id(1), "/user/" + id(1)} {
			for _, method := range []string{"GET", "HEAD"} {
				if got := s.do(method, path, "").tag(t); got != tag {
					t.Errorf("%s %s: the ETag is %s, and was %s", method, path, got, tag)
				}
			}
		}
		if got := s.do("PATCH", "/users/"+id(1), `{}`).tag(t); got != tag {
			t.Errorf("a patch of nothing made %s of %s", got, tag)
		}
		patched := s.do("PATCH", "/users/"+id(1), `{"name":"Other"}`).tag(t)
		replaced := s.do("PUT", "/users/"+id(1), newUser(1)).tag(t)
		if patched == tag || replaced == tag || patched == replaced {
			t.Errorf("three states have the ETags %s, %s and %s", tag, patched, replaced)
		}
		if got := s.get("/users/" + id(1)).tag(t); got != replaced {
			t.Errorf("the ETag is %s, and was %s", got, replaced)
		}
		for _, untagged := range []answer{
			s.get("/users"), s.get("/"), s.do("POST", "/users", "["+newUser(2)+"]"), s.get("/users/" + id(9)), s.do("DELETE", "/users/"+id(1), ""),
		} {
			if tag := untagged.header.Get("ETag"); tag != "" {
				t.Errorf("%d %s has the ETag %s", untagged.status, untagged.body, tag)
			}
		}
		again := s.do("POST", "/users", newUser(1)).tag(t)
		if again == tag {
			t.Errorf("a resource that was deleted and created again has its first ETag, %s", tag)
		}
	})
}

func TestIfNoneMatch(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		created := s.do("POST", "/users", newUser(1))
		tag := created.tag(t)
		for _, c := range []struct {
			given     string
			unchanged bool
		}{
			{tag, true}, {"W/" + tag, true}, {"*", true}, {" * ", true}, {`"x", ` + tag, true}, {`"x",,W/` + tag + ",", true},
			{`"x"`, false}, {`W/"x"`, false}, {`"x", "y"`, false}, {`"é"`, false},
		} {
			got := s.get("/users/"+id(1), "If-None-Match", c.given)
			if !c.unchanged {
				got.expect(t, 200, created.timeless())
				continue
			}
			if got.status != 304 || got.body != "" || got.header.Get("ETag") != tag || got.header.Get("Content-Type") != "" || got.header.Get("Content-Length") != "" {
				t.Errorf("If-None-Match: %s: got %d %v %s", c.given, got.status, got.header, got.body)
			}
		}
		singular := s.get("/user/"+id(1), "If-None-Match", tag)
		if singular.status != 304 || singular.header.Get("Content-Location") != "/users/"+id(1) {
			t.Errorf("got %d %v", singular.status, singular.header)
		}
		if got := s.do("HEAD", "/users/"+id(1), "", "If-None-Match", tag); got.status != 304 {
			t.Errorf("HEAD: got %d", got.status)
		}
		s.get("/users/"+id(1), "If-None-Match", `"a b"`).expectErrors(t, 400, "malformed_request If-None-Match")
		s.get("/users/"+id(2), "If-None-Match", "*").expectErrors(t, 404, "not_found")
		s.get("/users/"+id(1), "If-Match", `"x"`).expectErrors(t, 412, "precondition_failed If-Match")
		s.get("/users/"+id(1), "If-Match", tag).expect(t, 200, created.timeless())
		if got := s.get("/users", "If-None-Match", "*"); got.status != 304 || got.body != "" {
			t.Errorf("a collection: got %d %s", got.status, got.body)
		}
		s.get("/users", "If-None-Match", tag).expect(t, 200, data(created.timeless()[len(`{"data":`):len(created.timeless())-1]))
		s.get("/users", "If-Match", tag).expectErrors(t, 412, "precondition_failed If-Match")
		s.get("/users", "If-Match", "nonsense").expectErrors(t, 400, "malformed_request If-Match")
		// On a write it rules out states too.
		s.do("PATCH", "/users/"+id(1), `{"name":"No"}`, "If-None-Match", "*").expectErrors(t, 412, "precondition_failed If-None-Match")
		s.do("POST", "/users", newUser(2), "If-None-Match", "*").expectErrors(t, 412, "precondition_failed If-None-Match")
		s.do("POST", "/users", newUser(2), "If-Match", tag).expectErrors(t, 412, "precondition_failed If-Match")
		if got := s.do("POST", "/users", newUser(2), "If-Match", "*"); got.status != 201 {
			t.Errorf("got %d %s", got.status, got.body)
		}
	})
}

// TestConditionsOfLists: a request is checked before its condition.
func TestConditionsOfLists(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		s.do("POST", "/users", newUser(1))
		known, unknown := "/users/"+id(1), "/users/"+id(9)
		for _, list := range []string{"/users", known + "/posts", "/-/groups/users", "/changes", known + "/changes"} {
			for _, method := range []string{"GET", "HEAD"} {
				if got := s.do(method, list, "", "If-None-Match", "*"); got.status != 304 || got.body != "" {
					t.Errorf("%s %s: got %d %s", method, list, got.status, got.body)
				}
			}
			s.get(list, "If-Match", `"x"`).expectErrors(t, 412, "precondition_failed If-Match")
			for _, condition := range [][]string{{"If-None-Match", "*"}, {"If-Match", `"x"`}} {
				s.get(list+"?nope=1", condition...).expectErrors(t, 400, "unknown_parameter nope")
			}
			s.get(list+"?nope=1", "If-Match", "nonsense").expectErrors(t, 400, "malformed_request If-Match")
		}
		for _, condition := range [][]string{{"If-None-Match", "*"}, {"If-Match", `"x"`}} {
			s.get(unknown+"/posts", condition...).expectErrors(t, 404, "not_found")
			s.get(unknown+"/changes", condition...).expectErrors(t, 404, "not_found")
			s.get("/users?cursor="+id(9), condition...).expectErrors(t, 400, "unknown_cursor cursor")
		}
	})
}

func TestIfMatch(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		old := s.do("POST", "/users", newUser(1)).tag(t)
		tag := s.do("PATCH", "/users/"+id(1), `{"name":"Second"}`, "If-Match", old).tag(t)
		for _, given := range []string{old, "W/" + tag, `"x"`, `"x", W/` + tag} {
			for method, body := range map[string]string{"PATCH": `{"name":"No"}`, "PUT": newUser(1), "DELETE": ""} {
				s.do(method, "/users/"+id(1), body, "If-Match", given).expectErrors(t, 412, "precondition_failed If-Match")
			}
		}
		for _, given := range []string{`x`, `"a b"`, `"x`, `"x" "y"`, `"x";"y"`, `*,"x"`, `w/"x"`, `,`, "\"a\tb\""} {
			s.do("DELETE", "/users/"+id(1), "", "If-Match", given).expectErrors(t, 400, "malformed_request If-Match")
		}
		// What is missing comes first, and an old state before what is wrong with a body.
		s.do("DELETE", "/users/"+id(2), "", "If-Match", tag).expectErrors(t, 404, "not_found")
		s.do("PATCH", "/users/"+id(2), `{"nope":1}`, "If-Match", tag).expectErrors(t, 404, "not_found")
		s.do("PATCH", "/users/"+id(1), `{"nope":1}`, "If-Match", old).expectErrors(t, 412, "precondition_failed If-Match")
		s.do("PATCH", "/users/"+id(1), `{"nope":1}`, "If-Match", tag).expectErrors(t, 422, "unknown_attribute /nope")
		s.get("/users/"+id(1)).expect(t, 200, `{"data":{"id":"`+id(1)+`","type":"users","name":"Second","email":"user1@example.com","active":true,"created_at":"TIME","updated_at":"TIME"}}`)
		third := s.do("PUT", "/users/"+id(1), newUser(1), "If-Match", `"x", `+tag).tag(t)
		s.do("PATCH", "/users/"+id(1), `{"name":"Fourth"}`, "If-Match", "*").tag(t)
		s.do("DELETE", "/users/"+id(1), "", "If-Match", third).expectErrors(t, 412, "precondition_failed If-Match")
		last := s.get("/users/" + id(1)).tag(t)
		if got := s.do("DELETE", "/users/"+id(1), "", "If-Match", last); got.status != 200 {
			t.Errorf("got %d %s", got.status, got.body)
		}
	})
}

func TestIfMatchLetsOneOfManyThrough(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		tag := s.do("POST", "/users", newUser(1)).tag(t)
		const writers = 16
		statuses := make([]int, writers)
		var all sync.WaitGroup
		for i := range writers {
			all.Go(func() {
				statuses[i] = s.do("PATCH", "/users/"+id(1), fmt.Sprintf(`{"name":"Writer %d"}`, i), "If-Match", tag).status
			})
		}
		all.Wait()
		counts := map[int]int{}
		for _, status := range statuses {
			counts[status]++
		}
		if counts[200] != 1 || counts[412] != writers-1 {
			t.Errorf("got %v", counts)
		}
	})
}

func TestRequireIfMatch(t *testing.T) {
	careful := mustSchema(t, schema.Collection{Name: "pages", RequireIfMatch: true, Attributes: []schema.Attribute{{Name: "text", Type: schema.String}}})
	eachStore(t, careful, func(t *testing.T, s *server) {
		tag := s.do("POST", "/pages", `{"id":"`+id(1)+`","text":"a"}`).tag(t)
		for method, body := range map[string]string{"PATCH": `{"text":"b"}`, "PUT": `{"text":"b"}`, "DELETE": ""} {
			s.do(method, "/pages/"+id(1), body).expectErrors(t, 428, "precondition_required If-Match")
			s.do(method, "/pages/"+id(2), body).expectErrors(t, 404, "not_found")
		}
		s.do("PATCH", "/pages/"+id(1), `{"text":1}`).expectErrors(t, 428, "precondition_required If-Match")
		tag = s.do("PATCH", "/pages/"+id(1), `{"text":"b"}`, "If-Match", tag).tag(t)
		s.do("PUT", "/pages/"+id(1), `{"text":"c"}`, "If-Match", "*").tag(t)
		s.do("DELETE", "/pages/"+id(1), "", "If-Match", tag).expectErrors(t, 412, "precondition_failed If-Match")
	})
}

// A migration that leads to another representation, or away and back again,
// leaves no ETag as it was; one that does not touch a collection leaves its own.
func TestETagsAcrossMigrations(t *testing.T) {
	database := "sqlite:" + filepath.Join(t.TempDir(), "test.db")
	pages := schema.Collection{Name: "pages", Attributes: []schema.Attribute{{Name: "text", Type: schema.String}}}
	more := schema.Collection{Name: "pages", Attributes: []schema.Attribute{{Name: "text", Type: schema.String}, {Name: "more", Type: schema.String}}}
	notes := schema.Collection{Name: "notes", Attributes: []schema.Attribute{{Name: "text", Type: schema.String}}}
	state := func(collections ...schema.Collection) (page, note string) {
		t.Run("", func(t *testing.T) {
			s := start(t, mustSchema(t, collections...), database)
			if s.get("/pages/"+id(1)).status == 404 {
				s.create("/pages", `{"id":"`+id(1)+`"}`)
				s.create("/notes", `{"id":"`+id(1)+`"}`)
			}
			page, note = s.get("/pages/"+id(1)).tag(t), s.get("/notes/"+id(1)).tag(t)
		})
		return page, note
	}
	page, note := state(pages, notes)
	wider, other := state(more, notes)
	if page == wider {
		t.Errorf("the ETag %s means two representations", page)
	}
	if note != other {
		t.Errorf("an unrelated migration made %s of %s", other, note)
	}
	if again, same := state(more, notes); again != wider || same != note {
		t.Errorf("a restart made %s and %s of %s and %s", again, same, wider, note)
	}
}
