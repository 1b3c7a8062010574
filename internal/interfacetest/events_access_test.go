package interfacetest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/schema"
)

// auditFile: auditors see everything and its history, readers only what is published and no
// email, with and without its history.
const auditFile = `
collections:
  users:
    attributes:
      name: {type: string, maxLength: 100}
      email: {type: string, maxLength: 100}
      published: {type: boolean, default: true}
access:
  roles:
    auditor: {users: [list, read, create, update, delete, changes]}
    follower: {users: {list: true, read: resource.published, changes: true, visible: [name, published]}}
    reader: {users: {list: true, read: resource.published, visible: [name, published]}}
    writer: {users: [create]}
`

// audited is a user as an auditor sees it, and seen as others do.
func audited(position int, name, email string, published bool) string {
	return fmt.Sprintf(`{"id":"%s","type":"users","name":"%s","email":"%s","published":%t,"created_at":"TIME","updated_at":"TIME"}`, id(position), name, email, published)
}

func seen(position int, name string, published bool) string {
	return fmt.Sprintf(`{"id":"%s","type":"users","name":"%s","published":%t,"created_at":"TIME","updated_at":"TIME"}`, id(position), name, published)
}

// audit makes changes of which some roles see less than others.
func (h *accessServer) audit() {
	h.t.Helper()
	for _, write := range [][3]string{
		{"POST", "/users", `[{"id":"` + id(0) + `","name":"A","email":"a"},{"id":"` + id(1) + `","name":"B","email":"b","published":false}]`},
		{"PATCH", "/users/" + id(0), `{"email":"secret"}`},
		{"PATCH", "/users/" + id(1), `{"name":"Hidden"}`},
		{"PATCH", "/users/" + id(0), `{"name":"AA","email":"aa"}`},
		{"PATCH", "/users/" + id(1), `{"published":true}`},
		{"PATCH", "/users/" + id(0), `{"published":false,"name":"Left"}`},
		{"DELETE", "/users/" + id(0), ""},
		{"DELETE", "/users/" + id(1), ""},
	} {
		if got := h.as("auditor", write[0], write[1], write[2]); got.status > 201 {
			h.t.Fatalf("%s %s: %d %s", write[0], write[1], got.status, got.body)
		}
	}
}

// TestChangesFollowAccess: a caller is told of a change if the row before or after it was visible, with visible
// attributes only.
func TestChangesFollowAccess(t *testing.T) {
	t.Parallel()
	eachAudit(t, func(t *testing.T, h *accessServer) {
		h.audit()
		key := strings.TrimPrefix(h.keys["auditor"], "Bearer ")
		by := quoted("key:" + strings.Split(key, "_")[1])
		all := h.as("auditor", "GET", "/changes", "", "Prefer", "count=exact")
		all.expectSettled(t, 200, data(
			changeBy(by, "created", 0, "null", audited(0, "A", "a", true)),
			changeBy(by, "created", 1, "null", audited(1, "B", "b", false)),
			changeBy(by, "updated", 0, `{"email":"a"}`, audited(0, "A", "secret", true)),
			changeBy(by, "updated", 1, `{"name":"B"}`, audited(1, "Hidden", "b", false)),
			changeBy(by, "updated", 0, `{"name":"A","email":"secret"}`, audited(0, "AA", "aa", true)),
			changeBy(by, "updated", 1, `{"published":false}`, audited(1, "Hidden", "b", true)),
			changeBy(by, "updated", 0, `{"name":"AA","published":true}`, audited(0, "Left", "aa", false)),
			changeBy(by, "deleted", 0, audited(0, "Left", "aa", false), "null"),
			changeBy(by, "deleted", 1, audited(1, "Hidden", "b", true), "null")))
		if all.total() != "9" {
			t.Errorf("the total is %q", all.total())
		}
		some := h.as("follower", "GET", "/changes", "", "Prefer", "count=exact")
		want := []string{
			changeBy(by, "created", 0, "null", seen(0, "A", true)),
			changeBy(by, "updated", 0, `{"name":"A"}`, seen(0, "AA", true)),
			changeBy(by, "updated", 1, "null", seen(1, "Hidden", true)),
			changeBy(by, "updated", 0, seen(0, "AA", true), "null"),
			changeBy(by, "deleted", 1, seen(1, "Hidden", true), "null"),
		}
		some.expectSettled(t, 200, data(want...))
		if some.total() != "" || some.header.Get("Preference-Applied") != "" {
			t.Errorf("a total tells of what is hidden: %v", some.header)
		}
		ids := some.ids(t)
		page := h.as("follower", "GET", "/changes?limit=1&cursor="+ids[1], "")
		page.expectSettled(t, 200, data(want[1]))
		if got, links := page.otherLinks(t), linkHeader("/changes", "first", "limit=1", "prev", "cursor="+ids[1]+"&limit=-1", "next", "cursor="+ids[2]+"&limit=1", "last", "limit=-1"); got != links {
			t.Errorf("got  %s\nwant %s", got, links)
		}
		h.as("follower", "GET", "/changes?limit=-2", "").expectSettled(t, 200, data(want[3:]...))
		hidden := all.ids(t)[3]
		h.as("follower", "GET", "/changes/"+hidden, "").expectErrors(t, 404, "not_found")
		h.as("follower", "GET", "/changes/"+ids[1], "").expectSettled(t, 200, `{"data":`+want[1]+`}`)
		h.as("follower", "GET", "/users/"+id(0)+"/changes", "").expectSettled(t, 200, data(want[0], want[1], want[3]))
		h.as("follower", "GET", "/users/"+id(1)+"/changes", "").expectSettled(t, 200, data(want[2], want[4]))
		h.as("auditor", "POST", "/users", `{"id":"`+id(2)+`","name":"C","published":false}`)
		h.as("follower", "GET", "/users/"+id(2)+"/changes", "").expectErrors(t, 404, "not_found")
		for _, path := range []string{"/changes", "/changes/" + ids[0], "/users/" + id(0) + "/changes"} {
			for _, accept := range []string{"application/json", "text/event-stream"} {
				if accept == "text/event-stream" && strings.HasPrefix(path, "/changes/") {
					continue
				}
				h.as("reader", "GET", path, "", "Accept", accept).expectErrors(t, 403, "forbidden")
				h.as("writer", "GET", path, "", "Accept", accept).expectErrors(t, 403, "forbidden")
				h.get(path, "Accept", accept).expectErrors(t, 401, "unauthenticated")
			}
		}
		for caller, want := range map[string]bool{"auditor": true, "follower": true, "reader": false, "public": false} {
			if got := strings.Contains(h.as(caller, "GET", "/", "").body, `"name":"changes"`); got != want {
				t.Errorf("%s knows of the changes: %t", caller, got)
			}
		}
	})
}

// TestStreamsFollowAccess: they need list, and read of one resource. Who made a change is told with the verb changes only.
func TestStreamsFollowAccess(t *testing.T) {
	eachAudit(t, func(t *testing.T, h *accessServer) {
		follower, reader := h.stream("/users", "Authorization", h.keys["follower"]), h.stream("/users", "Authorization", h.keys["reader"])
		log := h.stream("/changes", "Authorization", h.keys["follower"])
		if got := reader.header.Values("Vary"); fmt.Sprint(got) != "[Authorization Accept]" {
			t.Errorf("Vary is %q", got)
		}
		for _, each := range []*events{follower, reader, log} {
			each.expect(`synced {}`)
		}
		h.audit()
		by := quoted("key:" + strings.Split(strings.TrimPrefix(h.keys["auditor"], "Bearer "), "_")[1])
		for e, name := range map[*events]string{follower: by, reader: "null"} {
			told := func(data, previous string) string {
				return strings.Replace(eventOf(data, previous), `"by":null`, `"by":`+name, 1)
			}
			e.expect(
				"created "+told(seen(0, "A", true), ""),
				"updated "+told(seen(0, "AA", true), `,"previous":{"name":"A"}`),
				"entered "+told(seen(1, "Hidden", true), ""),
				`left {"data":`+identity(0)+`}`,
				"deleted "+told(seen(1, "Hidden", true), ""))
		}
		log.expect(
			`created {"data":`+changeBy(by, "created", 0, "null", seen(0, "A", true))+`}`,
			`created {"data":`+changeBy(by, "updated", 0, `{"name":"A"}`, seen(0, "AA", true))+`}`,
			`created {"data":`+changeBy(by, "updated", 1, "null", seen(1, "Hidden", true))+`}`,
			`created {"data":`+changeBy(by, "updated", 0, seen(0, "AA", true), "null")+`}`,
			`created {"data":`+changeBy(by, "deleted", 1, seen(1, "Hidden", true), "null")+`}`)
		h.as("reader", "GET", "/users?filter[email]=x", "", "Accept", "text/event-stream").expectErrors(t, 400, "unknown_parameter filter[email]")
		h.as("writer", "GET", "/users", "", "Accept", "text/event-stream").expectErrors(t, 403, "forbidden")
		h.get("/users", "Accept", "text/event-stream").expectErrors(t, 401, "unauthenticated")
	})
}

// TestRevokedKeyEndsStreams: of that key only.
func TestRevokedKeyEndsStreams(t *testing.T) {
	eachAudit(t, func(t *testing.T, h *accessServer) {
		mine, other := h.stream("/users", "Authorization", h.keys["reader"]), h.stream("/users", "Authorization", h.keys["follower"])
		mine.expect(`synced {}`)
		other.expect(`synced {}`)
		prefix := strings.Split(strings.TrimPrefix(h.keys["reader"], "Bearer "), "_")[1]
		if _, err := admin.RevokeKey(context.Background(), h.config.Database, prefix); err != nil {
			t.Fatal(err)
		}
		mine.expectEnd()
		h.as("reader", "GET", "/users", "", "Accept", "text/event-stream").expectErrors(t, 401, "invalid_credentials Authorization")
		h.as("auditor", "POST", "/users", `{"id":"`+id(0)+`","name":"A"}`)
		if next, ok := other.next(); !ok || next.kind != "created" {
			t.Errorf("got %+v", next)
		}
	})
}

// TestRemovedChanges: what the log no longer has is 410 in JSON, and a reset of a stream.
func TestRemovedChanges(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		s.write("PATCH", "/users/"+id(0), `{"name":"Ada"}`)
		ids := s.get("/changes").ids(t)
		link := s.get("/users").link(t, "changes")
		position := strings.TrimPrefix(link, "/users?since=")
		s.write("POST", "/posts", `{"id":"`+id(10)+`"}`)
		s.write("DELETE", "/posts/"+id(10), "")
		later := s.restart(context.Background(), func(c *plural.Config) { c.ChangeRetention = time.Millisecond })
		eventually(t, "the log is removed", func() bool { return len(later.get("/changes").ids(t)) == 0 })
		for query, parameter := range map[string]string{"cursor=" + ids[0]: "cursor", "cursor=" + ids[1]: "cursor", "since=" + ids[0]: "since", "since=" + position: "since"} {
			for _, path := range []string{"/changes", "/users/" + id(0) + "/changes"} {
				later.get(path+"?"+query).expectErrors(t, 410, "position_gone "+parameter)
			}
		}
		later.get("/changes/"+ids[0]).expectErrors(t, 404, "not_found")
		later.stream(link).expect(`reset {}`, `listed {"data":`+shown(0, "Ada", true)+`}`, `synced {}`)
		history := later.get("/users/" + id(0) + "/changes")
		history.expect(t, 200, data())
		if since := history.header.Get("X-History-Since"); !moments.MatchString(`"at":"` + since + `"`) {
			t.Errorf("X-History-Since is %q", since)
		}
		later.get("/posts/"+id(10)+"/changes").expectErrors(t, 404, "not_found")
		if since := later.get("/changes").header.Get("X-History-Since"); since != "" {
			t.Errorf("the log as a whole has X-History-Since: %q", since)
		}
	})
}
