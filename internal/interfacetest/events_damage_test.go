package interfacetest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/plural-go/plural/schema"
)

// changeIDs lists the ids of the changes in an answer.
func (a answer) changeIDs(t testing.TB) (ids []string) {
	t.Helper()
	var envelope struct{ Data []struct{ ID string } }
	if err := json.Unmarshal([]byte(a.body), &envelope); err != nil || a.status != 200 {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	for _, each := range envelope.Data {
		ids = append(ids, each.ID)
	}
	return ids
}

// TestDamagedChange: a change that cannot be read, as it is damaged or a later version wrote it, is an error for those
// who ask for it. A stream of lists begins again with a snapshot. Everything else goes on.
func TestDamagedChange(t *testing.T) {
	const updates = "(SELECT min(revision) FROM _plural_changes WHERE kind = 'updated')"
	for name, damage := range map[string]string{
		"not JSON":       "UPDATE _plural_changes SET previous = '{\"5\":' WHERE revision = " + updates,
		"empty":          "UPDATE _plural_changes SET previous = '' WHERE revision = " + updates,
		"another type":   "UPDATE _plural_changes SET previous = '{\"7\":[]}' WHERE revision = " + updates,
		"no object":      "UPDATE _plural_changes SET previous = 'null' WHERE revision = " + updates,
		"a kind of then": "UPDATE _plural_changes SET kind = 'moved' WHERE revision = " + updates,
	} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, schema.Example(), func(t *testing.T, s *server) {
				seedUsers(s, 2)
				users, posts, log := s.stream("/users"), s.stream("/posts"), s.stream("/changes")
				position := users.expect(`listed {"data":`+shown(0, "User 0", true)+`}`, `listed {"data":`+shown(1, "User 1", false)+`}`, `synced {}`)
				posts.expect(`synced {}`)
				for range 2 {
					log.next() // listed
				}
				logPosition := log.expect(`synced {}`)
				users.close()
				log.close()
				s.write("PATCH", "/users/"+id(0), `{"name":"Ada"}`)
				s.write("PATCH", "/users/"+id(1), `{"name":"Bob"}`)
				ids := s.get("/changes").changeIDs(t)
				s.sql(damage)

				// Who asks for it, and only they, get an error that says how to go on.
				// What was before it is not known either.
				const detail = "The change %[1]s cannot be read: it, or a later change of its resource or of one that it refers to, is damaged or was written by a later version of the server. Changes after it can be read with since=%[1]s."
				for path, change := range map[string]string{
					"/changes": ids[0], "/changes?filter[collection]=users": ids[0], "/users/" + id(0) + "/changes": ids[0],
					"/changes?since=" + ids[0]: ids[2], "/changes?limit=-2": ids[2], "/changes/" + ids[2]: ids[2],
				} {
					got := s.get(path)
					got.expectErrors(t, 500, "internal")
					if !strings.Contains(got.body, fmt.Sprintf(detail, change)) {
						t.Errorf("%s: %s, and not %s", path, got.body, change)
					}
				}
				for _, last := range []string{"/changes?since=" + ids[2], "/changes?limit=-1", "/users/" + id(1) + "/changes?limit=-1", "/changes?filter[resource.id]=" + id(1) + "&since=" + ids[1]} {
					if got := s.get(last).changeIDs(t); len(got) != 1 || got[0] != ids[3] {
						t.Errorf("%s: %v, and not %s", last, got, ids[3])
					}
				}
				s.get("/changes?filter[collection]=posts").expect(t, 200, `{"data":[]}`)
				s.get("/changes", "Accept", "text/event-stream", "Last-Event-ID", logPosition).expectErrors(t, 500, "internal")

				// Streams of lists recover by themselves.
				now := []string{`listed {"data":` + shown(0, "Ada", true) + `}`, `listed {"data":` + shown(1, "Bob", false) + `}`, `synced {}`}
				resumed := s.stream("/users", "Last-Event-ID", position)
				resumed.expect(append([]string{`reset {}`}, now...)...)
				log = s.stream("/changes?since=" + s.changesPosition(t))
				s.write("PATCH", "/users/"+id(1), `{"name":"Bea"}`)
				resumed.expect("updated " + eventOf(shown(1, "Bea", false), `,"previous":{"name":"Bob"}`))
				s.write("POST", "/posts", `{"title":"Not a user"}`)
				if next, _ := posts.next(); next.kind != "created" {
					t.Errorf("the stream of another collection got %v", next)
				}
				for range 2 {
					if next, _ := log.next(); next.kind != "created" {
						t.Errorf("the stream of the change log got %v", next)
					}
				}
			})
		})
	}
}

// changesPosition is the position at the end of the change log.
func (s *server) changesPosition(t testing.TB) string {
	t.Helper()
	link, err := url.Parse(s.get("/changes?limit=0").link(t, "changes"))
	if err != nil {
		t.Fatal(err)
	}
	return link.Query().Get("since")
}

// TestChangeOfALaterVersion: streams that are open when it arrives.
func TestChangeOfALaterVersion(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 2)
		s.write("PATCH", "/users/"+id(1), `{"name":"Bob"}`)
		users, one, other, posts, log := s.stream("/users"), s.stream("/users/"+id(0)), s.stream("/users/"+id(1)), s.stream("/posts"), s.stream("/changes?since="+s.changesPosition(t))
		first, second := `listed {"data":`+shown(0, "User 0", true)+`}`, `listed {"data":`+shown(1, "Bob", false)+`}`
		users.expect(first, second, `synced {}`)
		one.expect(first, `synced {}`)
		other.expect(second, `synced {}`)
		posts.expect(`synced {}`)
		s.sql("INSERT INTO _plural_changes (collection, id, kind, at, caller, schema, previous)" +
			" SELECT collection, id, 'moved', at, caller, schema, '{}' FROM _plural_changes WHERE kind = 'updated'")
		users.expect(`reset {}`, first, second, `synced {}`)
		other.expect(`reset {}`, second, `synced {}`)
		if next, open := log.next(); open {
			t.Errorf("the stream of the change log goes on with %v", next)
		}
		s.write("PATCH", "/users/"+id(0), `{"name":"Ada"}`)
		s.write("POST", "/posts", `{"title":"Not a user"}`)
		updated := "updated " + eventOf(shown(0, "Ada", true), `,"previous":{"name":"User 0"}`)
		users.expect(updated)
		one.expect(updated)
		if next, _ := posts.next(); next.kind != "created" {
			t.Errorf("the stream of another collection got %v", next)
		}
	})
}

// TestLongPositions: what is too long for a position is refused as such, wherever it is sent.
func TestLongPositions(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		const detail = "This is not a position: it has %d characters, and a position has at most 8192. Send one that this server gave you, unchanged."
		for _, size := range []int{8193, 50_000} {
			long := strings.Repeat("A", size)
			for _, c := range []struct{ path, accept, header, place string }{
				{"/users?since=" + long, "text/event-stream", "", "since"},
				{"/users/" + id(0) + "?since=" + long, "text/event-stream", "", "since"},
				{"/changes?since=" + long, "text/event-stream", "", "since"},
				{"/changes?since=" + long, "application/json", "", "since"},
				{"/users/" + id(0) + "/changes?since=" + long, "application/json", "", "since"},
				{"/users", "text/event-stream", long, "Last-Event-ID"},
				{"/changes", "text/event-stream", long, "Last-Event-ID"},
			} {
				got := s.get(c.path, "Accept", c.accept, "Last-Event-ID", c.header)
				got.expectErrors(t, 400, "invalid_parameter "+c.place)
				if !strings.Contains(got.body, fmt.Sprintf(detail, size)) {
					t.Errorf("%.40s: %s", c.path, got.body)
				}
			}
		}
		s.get("/users", "Accept", "text/event-stream", "Last-Event-ID", strings.Repeat("A", 8192)).expectErrors(t, 400, "invalid_parameter Last-Event-ID")
	})
}
