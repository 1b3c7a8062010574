package interfacetest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// TestAcceptedResponse: 202 has nothing but id and type, and leads to the operation.
func TestAcceptedResponse(t *testing.T) {
	eachGated(t, func(t *testing.T, s *server, g *gate) {
		for _, c := range []struct {
			method, path, body string
			before, after      string // the resource; none: it does not exist
		}{
			{"POST", "/people", named(1, "One"), "", person(1, "One")},
			{"PUT", "/people/" + id(1), `{"name":"Two"}`, person(1, "One"), person(1, "Two")},
			{"PATCH", "/people/" + id(1), `{"name":"Three"}`, person(1, "Two"), person(1, "Three")},
			{"DELETE", "/people/" + id(1), "", person(1, "Three"), ""},
		} {
			open := g.hold(1)
			accepted := s.do(c.method, c.path, c.body, "Prefer", "respond-async")
			accepted.expect(t, 202, `{"data":{"id":"`+id(1)+`","type":"people"}}`)
			made := accepted.operation(t)
			accepted.expectHeaders(t, "Location: /operations/"+made, "Preference-Applied: respond-async")
			g.await(1)
			s.get("/operations/"+made).expect(t, 200, one(operation(made, "running", c.method, 1, 1)))
			expectPerson(t, s, c.before)
			open()
			s.finished(made).expect(t, 200, one(operation(made, "succeeded", c.method, 1, 1)))
			expectPerson(t, s, c.after)
		}
		if got := s.get("/people").total(); got != "0" {
			t.Errorf("the total is %s", got)
		}
	})
}

func expectPerson(t *testing.T, s *server, want string) {
	t.Helper()
	got := s.get("/people/" + id(1))
	if want == "" {
		got.expectErrors(t, 404, "not_found")
		return
	}
	got.expect(t, 200, one(want))
}

// The id of what is created without one is known when it is accepted, and the
// values that are kept are those that were sent.
func TestAcceptedWithoutAnID(t *testing.T) {
	eachStore(t, teamSchema(t), func(t *testing.T, s *server) {
		accepted := s.do("POST", "/people", ` {"name":"\u00e9\ud834\udd1e\n","email":null}`, "Prefer", "Respond-Async")
		made := strings.Trim(accepted.member(t, "id"), `"`)
		accepted.expect(t, 202, `{"data":{"id":"`+made+`","type":"people"}}`)
		s.expectSuccess(t, accepted.operation(t))
		s.get("/people/"+made).expect(t, 200, `{"data":{"id":"`+made+`","type":"people","name":"é𝄞\n","email":null,"friend_id":null}}`)
	})
}

func TestAcceptedInASubCollection(t *testing.T) {
	eachStore(t, teamSchema(t), func(t *testing.T, s *server) {
		s.createAll("/people", named(1, "One"), named(2, "Two"))
		note := func(text string) string {
			return `{"id":"` + id(5) + `","type":"notes","text":` + text + `,"person_id":"` + id(1) + `"}`
		}
		path := "/people/" + id(1) + "/notes"
		accepted := s.do("POST", path, `{"id":"`+id(5)+`","text":"a"}`, "Prefer", "respond-async")
		accepted.expect(t, 202, `{"data":{"id":"`+id(5)+`","type":"notes"}}`)
		s.expectSuccess(t, accepted.operation(t))
		s.get(path).expect(t, 200, data(note(`"a"`)))
		s.expectSuccess(t, s.later("PATCH", path+"/"+id(5), `{"text":"b"}`))
		s.get(path).expect(t, 200, data(note(`"b"`)))
		s.expectSuccess(t, s.later("PUT", path+"/"+id(5), `{}`))
		s.get(path).expect(t, 200, data(note(`null`)))
		s.do("DELETE", "/people/"+id(2)+"/notes/"+id(5), "", "Prefer", "respond-async").expectErrors(t, 404, "not_found")
		s.expectSuccess(t, s.later("DELETE", path+"/"+id(5), ""))
		s.get(path).expect(t, 200, data())
	})
}

// TestAsyncCollections: a collection may be asynchronous for all writes or some.
func TestAsyncCollections(t *testing.T) {
	file, err := schema.Parse([]byte("collections:\n  snails: {timestamps: false, async: true}\n  crabs: {timestamps: false, async: [DELETE, POST]}\n  hares: {timestamps: false, async: false}\n"))
	if err != nil {
		t.Fatal(err)
	}
	eachStore(t, file.Schema, func(t *testing.T, s *server) {
		for _, c := range []struct {
			name string
			want string // statuses of POST, PUT, PATCH and DELETE
		}{{"snails", "202 202 202 202"}, {"crabs", "202 200 200 202"}, {"hares", "201 200 200 200"}} {
			item := "/" + c.name + "/" + id(1)
			var got []string
			for _, each := range []struct{ method, path, body string }{
				{"POST", "/" + c.name, `{"id":"` + id(1) + `"}`}, {"PUT", item, `{}`}, {"PATCH", item, `{}`}, {"DELETE", item, ""},
			} {
				answered := s.do(each.method, each.path, each.body)
				got = append(got, map[int]string{200: "200", 201: "201", 202: "202"}[answered.status])
				if answered.status == 202 {
					answered.expect(t, 202, `{"data":{"id":"`+id(1)+`","type":"`+c.name+`"}}`)
					s.expectSuccess(t, answered.operation(t))
					answered.expectHeaders(t, "Location: "+answered.header.Get("Location"), "Preference-Applied: respond-async")
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%s: got %v, want %s", c.name, got, c.want)
			}
		}
		waited := s.do("POST", "/snails", `{"id":"`+id(2)+`"}`, "Prefer", "wait=300")
		waited.expect(t, 201, `{"data":{"id":"`+id(2)+`","type":"snails"}}`)
		waited.expectHeaders(t, tagged, "Location: /snails/"+id(2), "Preference-Applied: respond-async, wait=300")
	})
}

// TestArraysAreSynchronous: an array is done at once, whatever is preferred.
func TestArraysAreSynchronous(t *testing.T) {
	snails := mustSchema(t, schema.Collection{Name: "snails", NoTimestamps: true, Async: model.WriteMethods()})
	eachStore(t, snails, func(t *testing.T, s *server) {
		for i, body := range []string{`[{"id":"` + id(0) + `"}]`, "\r\n\t [{\"id\":\"" + id(1) + "\"}]"} {
			created := s.do("POST", "/snails", body, "Prefer", "respond-async, wait=300")
			created.expect(t, 201, data(`{"id":"`+id(i)+`","type":"snails"}`))
			created.expectHeaders(t)
		}
		s.do("POST", "/snails", `[]`, "Prefer", "respond-async").expect(t, 201, `{"data":[]}`)
		s.do("POST", "/snails", `[{"nope":1}]`, "Prefer", "respond-async").expectErrors(t, 422, "unknown_attribute /0/nope")
		s.get("/operations").expect(t, 200, data())
	})
}

// TestWait: what is done in time is answered as if it were synchronous.
func TestWait(t *testing.T) {
	refuse := plural.Hook{Collection: "notes", Before: func(_ context.Context, change *plural.Change) error {
		if change.Verb == plural.Delete {
			return plural.Conflict("", "Notes stay.")
		}
		return nil
	}}
	eachStore(t, teamSchema(t), func(t *testing.T, s *server) {
		const prefer, applied = "respond-async, wait=300", "Preference-Applied: respond-async, wait=300"
		created := s.do("POST", "/people", named(1, "One"), "Prefer", prefer)
		created.expect(t, 201, one(person(1, "One")))
		created.expectHeaders(t, tagged, "Location: /people/"+id(1), applied)
		replaced := s.do("PUT", "/people/"+id(1), `{"name":"Two"}`, "Prefer", prefer, "If-Match", created.tag(t))
		replaced.expect(t, 200, one(person(1, "Two")))
		replaced.expectHeaders(t, tagged, applied)
		patched := s.do("PATCH", "/people/"+id(1), `{"name":"Three"}`, "Prefer", prefer)
		patched.expect(t, 200, one(person(1, "Three")))
		if got := s.get("/people/" + id(1)).tag(t); got != patched.tag(t) {
			t.Errorf("the ETag is %s, and was %s", got, patched.tag(t))
		}
		s.do("POST", "/people", `{}`, "Prefer", prefer).expectErrors(t, 422, "required /name")
		s.create("/notes", `{"id":"`+id(2)+`"}`)
		refused := s.do("DELETE", "/notes/"+id(2), "", "Prefer", prefer)
		refused.expectErrors(t, 409, "conflict")
		refused.expectHeaders(t, applied)
		deleted := s.do("DELETE", "/people/"+id(1), "", "Prefer", prefer)
		deleted.expect(t, 200, one(person(1, "Three")))
		deleted.expectHeaders(t, applied)
		if got := s.get("/operations?filter[status]=succeeded&limit=0", "Prefer", "count=exact").total(); got != "4" {
			t.Errorf("%s operations succeeded", got)
		}
	}, withHooks(refuse))
}

// TestWaitThatTimesOut: what is not done in time is answered by 202, and goes on.
func TestWaitThatTimesOut(t *testing.T) {
	eachGated(t, func(t *testing.T, s *server, g *gate) {
		for position, c := range []struct{ prefer, applied string }{
			{"respond-async, wait=3", "respond-async, wait=3"},
			{"respond-async; x=y, wait=0", "respond-async, wait=0"},
			{"wait=\"0\" , respond-async", "respond-async, wait=0"},
			{"respond-async, wait=x", "respond-async"},
			{"respond-async, wait", "respond-async"},
			{"respond-async, wait=-1", "respond-async"},
			{"respond-async, wait=1.5", "respond-async"},
			{"respond-async, wait=0, wait=30", "respond-async, wait=0"},
		} {
			open := g.hold(position)
			accepted := s.do("POST", "/people", named(position, "Late"), "Prefer", c.prefer)
			accepted.expect(t, 202, `{"data":{"id":"`+id(position)+`","type":"people"}}`)
			accepted.expectHeaders(t, "Location: "+accepted.header.Get("Location"), "Preference-Applied: "+c.applied)
			g.await(position)
			open()
			s.expectSuccess(t, accepted.operation(t))
		}
		// To wait is nothing that a synchronous answer knows of.
		created := s.do("POST", "/people", named(50, "Now"), "Prefer", "wait=5")
		created.expect(t, 201, one(person(50, "Now")))
		created.expectHeaders(t, tagged, "Location: /people/"+id(50))
	}, func(c *plural.Config) { c.ReadTimeout = 2 * time.Second }) // an answer may take longer than a request
}

// TestWaitEndsWithTheServer: those who wait do not keep it from stopping.
func TestWaitEndsWithTheServer(t *testing.T) {
	eachGated(t, func(t *testing.T, s *server, g *gate) {
		open := g.hold(1)
		answered := make(chan answer)
		go func() { answered <- s.do("POST", "/people", named(1, "One"), "Prefer", "respond-async, wait=300") }()
		g.await(1)
		stopped := make(chan error)
		go func() { stopped <- s.opened.Stop(context.Background()) }()
		accepted := <-answered
		accepted.expect(t, 202, `{"data":{"id":"`+id(1)+`","type":"people"}}`)
		open()
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		again := s.another()
		again.get("/operations/"+accepted.operation(t)).expect(t, 200, one(operation(accepted.operation(t), "succeeded", "POST", 1, 1)))
		again.get("/people").expect(t, 200, data(person(1, "One")))
	})
}
