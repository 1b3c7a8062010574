package interfacetest

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

func identity(position int) string { return `{"id":"` + id(position) + `","type":"users"}` }

// write sends a write that must succeed.
func (s *server) write(method, path, body string, headers ...string) {
	s.t.Helper()
	if got := s.do(method, path, body, headers...); got.status > 201 {
		s.t.Fatalf("%s %s: %d %s", method, path, got.status, got.body)
	}
}

// TestStreamOfList: the snapshot, then all that changes, with what begins and ceases to match the filter.
func TestStreamOfList(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 3)
		all, active := s.stream("/users"), s.stream("/users?filter[active]")
		for name, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no", "Vary": "Accept", "Content-Encoding": "", "Content-Length": ""} {
			if got := all.header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		all.expect(`listed {"data":`+shown(0, "User 0", true)+`}`, `listed {"data":`+shown(1, "User 1", false)+`}`, `listed {"data":`+shown(2, "User 2", true)+`}`, `synced {}`)
		active.expect(`listed {"data":`+shown(0, "User 0", true)+`}`, `listed {"data":`+shown(2, "User 2", true)+`}`, `synced {}`)

		s.write("POST", "/users", `{"id":"`+id(3)+`","name":"User 3","email":"user3@example.com","active":false}`)
		s.write("PATCH", "/users/"+id(0), `{"name":"Ada"}`)
		s.write("PATCH", "/users/"+id(0), `{"name":"Ada"}`) // writes nothing
		s.write("PATCH", "/users/"+id(1), `{"active":true}`)
		s.write("PATCH", "/users/"+id(0), `{"active":false}`)
		s.write("POST", "/posts", `{"title":"Not a user"}`)
		s.write("DELETE", "/users/"+id(2), "")
		s.write("DELETE", "/users/"+id(0), "")
		s.write("POST", "/users", `{"id":"`+id(4)+`","name":"User 4","email":"user4@example.com"}`)
		all.expect(
			"created "+eventOf(shown(3, "User 3", false), ""),
			"updated "+eventOf(shown(0, "Ada", true), `,"previous":{"name":"User 0"}`),
			"updated "+eventOf(shown(1, "User 1", true), `,"previous":{"active":false}`),
			"updated "+eventOf(shown(0, "Ada", false), `,"previous":{"active":true}`),
			"deleted "+eventOf(shown(2, "User 2", true), ""),
			"deleted "+eventOf(shown(0, "Ada", false), ""),
			"created "+eventOf(shown(4, "User 4", true), ""))
		active.expect(
			"updated "+eventOf(shown(0, "Ada", true), `,"previous":{"name":"User 0"}`),
			"entered "+eventOf(shown(1, "User 1", true), ""),
			`left {"data":`+identity(0)+`}`,
			"deleted "+eventOf(shown(2, "User 2", true), ""),
			"created "+eventOf(shown(4, "User 4", true), ""))
	})
}

// TestStreamIsResumed: by Last-Event-ID, by since, and from the position of a list, on any server.
func TestStreamIsResumed(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		first := s.stream("/users")
		synced := first.expect(`listed {"data":`+shown(0, "User 0", true)+`}`, `synced {}`)
		listed := s.get("/users?filter[active]=true&sort=-name&limit=5").link(t, "changes")
		s.write("PATCH", "/users/"+id(0), `{"name":"One"}`)
		one := "updated " + eventOf(shown(0, "One", true), `,"previous":{"name":"User 0"}`)
		position := first.expect(one)
		first.close()
		s.write("PATCH", "/users/"+id(0), `{"name":"Two"}`)
		two := "updated " + eventOf(shown(0, "Two", true), `,"previous":{"name":"One"}`)

		s.stream("/users?since="+synced).expect(one, two)
		s.stream("/users", "Last-Event-ID", position).expect(two)
		s.stream("/users?since="+synced, "Last-Event-ID", position).expect(two) // EventSource keeps the URL
		s.stream(listed).expect(one, two)
		other := s.another()
		other.stream("/users", "Last-Event-ID", position).expect(two)

		// The positions of another list are no positions of this one, but are no mistake either.
		s.stream("/users?filter[active]&since="+position).expect(`reset {}`, `listed {"data":`+shown(0, "Two", true)+`}`, `synced {}`)
		// What differs in a letter is none at all.
		for _, c := range []struct {
			path, header, want string
		}{
			{"/users?since=x", "", "invalid_parameter since"},
			{"/users/" + id(0) + "?since=" + position[1:], "", "invalid_parameter since"},
			{"/users", "x", "invalid_parameter Last-Event-ID"},
			{"/users?since=", "", "invalid_parameter since"},
			{"/users?since=a&since=b", "", "duplicate_parameter since"},
			{"/users/" + id(0) + "?since=a&since=b", "", "duplicate_parameter since"},
			{"/users/" + id(0) + "?limit=1", "", "unknown_parameter limit"},
			{"/users?offset=1&limit=1&sort=name&cursor=" + id(0), "", "unknown_parameter offset, unknown_parameter limit, unknown_parameter sort, unknown_parameter cursor"},
			{"/users?o=1&l=2", "", "unknown_parameter o, unknown_parameter l"},
			{"/users?filter[nope]=1", "", "unknown_parameter filter[nope]"},
			{"/changes?limit=1", "", "unknown_parameter limit"},
		} {
			s.get(c.path, "Accept", "text/event-stream", "Last-Event-ID", c.header).expectErrors(t, 400, strings.Split(c.want, ", ")...)
		}
	})
}

// TestStreamOfOne ends when its resource is deleted, and begins only if there is one.
func TestStreamOfOne(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 2)
		one := s.stream("/users/" + id(0))
		singular := s.stream("/user/" + id(0))
		if got := singular.header.Get("Content-Location"); got != "/users/"+id(0) {
			t.Errorf("Content-Location is %q", got)
		}
		position := one.expect(`listed {"data":`+shown(0, "User 0", true)+`}`, `synced {}`)
		singular.expect(`listed {"data":`+shown(0, "User 0", true)+`}`, `synced {}`)
		s.write("PATCH", "/users/"+id(1), `{"name":"Nobody"}`)
		s.write("PATCH", "/users/"+id(0), `{"name":"Ada"}`)
		s.write("DELETE", "/users/"+id(0), "")
		updated, deleted := "updated "+eventOf(shown(0, "Ada", true), `,"previous":{"name":"User 0"}`), "deleted "+eventOf(shown(0, "Ada", true), "")
		for _, each := range []*events{one, singular, s.stream("/users/"+id(0), "Last-Event-ID", position)} {
			each.expect(updated, deleted)
			each.expectEnd()
		}
		s.get("/users/"+id(0), "Accept", "text/event-stream").expectErrors(t, 404, "not_found")
	})
}

// TestStreamOfChildren follows the children of one parent. The stream ends when the parent is gone.
func TestStreamOfChildren(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 2)
		children := s.stream("/users/" + id(0) + "/posts")
		children.expect(`synced {}`)
		written := func(position int, title, owner string) string {
			return fmt.Sprintf(`{"id":"%s","type":"posts","title":"%s","body":null,"published_at":null,"user_id":%s,"created_at":"TIME","updated_at":"TIME"}`, id(position), title, owner)
		}
		s.write("POST", "/users/"+id(0)+"/posts", `{"id":"`+id(10)+`","title":"Mine"}`)
		s.write("POST", "/users/"+id(1)+"/posts", `{"id":"`+id(11)+`","title":"Other"}`)
		s.write("PATCH", "/posts/"+id(11), `{"user_id":"`+id(0)+`"}`)
		s.write("PATCH", "/posts/"+id(10), `{"user_id":"`+id(1)+`"}`)
		position := children.expect(
			"created "+eventOf(written(10, "Mine", quoted(id(0))), ""),
			"entered "+eventOf(written(11, "Other", quoted(id(0))), ""),
			`left {"data":{"id":"`+id(10)+`","type":"posts"}}`)
		child := s.stream("/users/" + id(0) + "/posts/" + id(11))
		s.get("/users/"+id(5)+"/posts", "Accept", "text/event-stream").expectErrors(t, 404, "not_found")
		s.get("/users/"+id(0)+"/posts/"+id(10), "Accept", "text/event-stream").expectErrors(t, 404, "not_found")
		childPosition := child.expect(`listed {"data":`+written(11, "Other", quoted(id(0)))+`}`, `synced {}`)
		s.write("POST", "/users/"+id(0)+"/posts", `{"id":"`+id(12)+`","title":"Last"}`)
		s.write("DELETE", "/posts/"+id(11), "")
		s.write("DELETE", "/users/"+id(0), "") // which leaves the last post without a parent
		// A client that was not connected meanwhile gets what the others got.
		path := "/users/" + id(0) + "/posts"
		created, deleted := "created "+eventOf(written(12, "Last", quoted(id(0))), ""), "deleted "+eventOf(written(11, "Other", quoted(id(0))), "")
		left := `left {"data":{"id":"` + id(12) + `","type":"posts"}}`
		for _, each := range []*events{children, s.stream(path, "Last-Event-ID", position)} {
			last := each.expect(created, deleted, left)
			each.expectEnd()
			s.get(path, "Accept", "text/event-stream", "Last-Event-ID", last).expectErrors(t, 404, "not_found")
		}
		for _, each := range []*events{child, s.stream(path+"/"+id(11), "Last-Event-ID", childPosition)} {
			last := each.expect(deleted)
			each.expectEnd()
			s.get(path+"/"+id(11), "Accept", "text/event-stream", "Last-Event-ID", last).expectErrors(t, 404, "not_found")
		}
		s.get(path, "Accept", "text/event-stream").expectErrors(t, 404, "not_found")
	})
}

// TestStreamOfChanges is the change log as a stream.
func TestStreamOfChanges(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		all := s.stream("/changes")
		deleted := s.stream("/changes?filter[kind]=deleted&filter[collection]=users")
		history := s.stream("/users/" + id(0) + "/changes")
		created := change("created", 0, "null", shown(0, "User 0", true))
		all.expect(`listed {"data":`+created+`}`, `synced {}`)
		history.expect(`listed {"data":`+created+`}`, `synced {}`)
		deleted.expect(`synced {}`)
		s.write("PATCH", "/users/"+id(0), `{"name":"Ada"}`)
		s.write("DELETE", "/users/"+id(0), "")
		updated, gone := change("updated", 0, `{"name":"User 0"}`, shown(0, "Ada", true)), change("deleted", 0, shown(0, "Ada", true), "null")
		all.expect(`created {"data":`+updated+`}`, `created {"data":`+gone+`}`)
		history.expect(`created {"data":`+updated+`}`, `created {"data":`+gone+`}`)
		deleted.expect(`created {"data":` + gone + `}`)
		// The position of a list of changes is one of the stream with the same filters.
		link := s.get("/changes?filter[kind]=deleted&limit=1").link(t, "changes")
		seedUsers(s, 1)
		s.write("DELETE", "/users/"+id(0), "")
		s.stream(link).expect(`created {"data":` + change("deleted", 0, shown(0, "User 0", true), "null") + `}`)
	})
}

// TestNoStream: what has none says so, in JSON.
func TestNoStream(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		changeID := s.get("/changes").ids(t)[0]
		for _, path := range []string{"/", "/operations", "/operations/" + id(1), "/changes/" + changeID, "/change/" + changeID} {
			s.get(path, "Accept", "text/event-stream").expectErrors(t, 406, "not_acceptable Accept")
		}
		s.do("POST", "/users", "{}", "Accept", "text/event-stream").expectErrors(t, 406, "not_acceptable Accept")
		s.get("/users/"+id(7), "Accept", "text/event-stream").expectErrors(t, 404, "not_found")
		s.get("/users", "Accept", "text/*").expectErrors(t, 406, "not_acceptable Accept")
		// A stream is sent only to those who name it and prefer it.
		for accept, want := range map[string]string{
			"*/*": "application/json;charset=utf-8", "text/event-stream, application/json": "application/json;charset=utf-8",
			"text/event-stream;q=0.4, application/json;q=0.5": "application/json;charset=utf-8", "text/event-stream, */*;q=0.1": "text/event-stream",
		} {
			got := s.do("HEAD", "/users", "", "Accept", accept)
			if got.status != 200 || got.header.Get("Content-Type") != want {
				t.Errorf("%s: %d %s", accept, got.status, got.header.Get("Content-Type"))
			}
		}
		for _, path := range []string{"/users", "/users/" + id(0), "/changes"} {
			if path != "/changes" {
				s.get(path+"?since=x").expectErrors(t, 400, "unknown_parameter since")
			}
			if got := s.get(path + "?since=x").body; path != "/changes" && !strings.Contains(got, "Accept: text/event-stream") {
				t.Errorf("%s does not name the header: %s", path, got)
			}
		}
	})
}

// TestWhatDependsOnAccept: caches must know where there is a stream beside JSON.
func TestWhatDependsOnAccept(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		changeID := s.get("/changes").ids(t)[0]
		for path, want := range map[string]string{
			"/users": "[Accept]", "/users/" + id(0): "[Accept]", "/user/" + id(0): "[Accept]", "/users/" + id(0) + "/posts": "[Accept]", "/users/" + id(0) + "/changes": "[Accept]",
			"/changes": "[Accept]", "/": "[Accept]", "/operations": "[]", "/changes/" + changeID: "[]",
		} {
			for _, method := range []string{"GET", "HEAD"} {
				if got := fmt.Sprint(s.do(method, path, "").header["Vary"]); got != want {
					t.Errorf("%s %s: Vary is %s, want %s", method, path, got, want)
				}
			}
		}
	})
}

// TestHeartbeat: a stream without events sends comments, and every fourth time its position.
func TestHeartbeat(t *testing.T) {
	beat := func(c *plural.Config) { c.StreamHeartbeat = 10 * time.Millisecond }
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		e := s.stream("/users?filter[active]=false")
		e.quiet = false
		e.expect(`synced {}`)
		comments, position := 0, ""
		for position == "" {
			next, ok := e.next()
			switch {
			case !ok:
				t.Fatal("the stream has ended")
			case next.kind == ":":
				comments++
			case next.kind == "bookmark" && next.data == "{}" && next.id != "":
				position = next.id
			default:
				t.Fatalf("got %+v", next)
			}
		}
		if comments != 3 {
			t.Errorf("%d comments before the bookmark", comments)
		}
		s.write("PATCH", "/users/"+id(0), `{"active":false}`)
		s.stream("/users?filter[active]=false&since=" + position).expect("entered " + eventOf(shown(0, "User 0", false), ""))
	}, beat)
}

// TestStopEndsStreams: at once, with a hint, and the next server goes on from there.
func TestStopEndsStreams(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		e := s.stream("/users")
		position := e.expect(`listed {"data":`+shown(0, "User 0", true)+`}`, `synced {}`)
		waiting := make(chan answer)
		go func() { waiting <- s.get("/changes?since="+position, "Prefer", "wait=300") }()
		// The stream, the one that waits, and this one.
		eventually(t, "a request waits", func() bool { return strings.Contains(s.get("/-/metrics").body, "\nplural_requests_in_flight 3\n") })
		if err := s.opened.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		e.expectEnd()
		(<-waiting).expect(t, 200, `{"data":[]}`)
		next := s.another()
		next.write("PATCH", "/users/"+id(0), `{"name":"Ada"}`)
		next.stream("/users", "Last-Event-ID", position).expect("updated " + eventOf(shown(0, "Ada", true), `,"previous":{"name":"User 0"}`))
	})
}

// TestStreamsAreNotRequests: they have a limit of their own.
func TestStreamsAreNotRequests(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		one, two := s.stream("/users"), s.stream("/users")
		one.expect(`synced {}`)
		two.expect(`synced {}`)
		s.get("/users", "Accept", "text/event-stream").expectErrors(t, 429, "too_many_requests")
		seedUsers(s, 1) // one request of an address at a time
		one.expect("created " + eventOf(shown(0, "User 0", true), ""))
		one.close()
		eventually(t, "a stream ends", func() bool { return s.do("HEAD", "/users", "", "Accept", "text/event-stream").status == 200 })
	}, func(c *plural.Config) { c.MaxRequests, c.MaxStreamsPerCaller = 2, 2 })
}

// TestStreamsOutliveTimeouts: the time for a request and for a write does not end a stream, over HTTP/1 and HTTP/2.
func TestStreamsOutliveTimeouts(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certificate(t, 1, certFile, keyFile)
	for protocol, scheme := range map[int]string{1: "http://", 2: "https://"} {
		t.Run(fmt.Sprint("HTTP/", protocol), func(t *testing.T) {
			t.Parallel()
			s := start(t, schema.Example(), "sqlite:"+filepath.Join(t.TempDir(), "test.db"), func(c *plural.Config) {
				c.WriteTimeout, c.ReadTimeout, c.StreamHeartbeat = 2*time.Second, 2*time.Second, 3*time.Second
				if protocol == 2 {
					c.CertFile, c.KeyFile = certFile, keyFile
				}
			})
			transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}
			over := &http.Client{Transport: transport}
			var e *events
			eventually(t, "the stream is open", func() bool { // the handshake of a busy machine may exceed ReadTimeout
				var err error
				e, err = tryStream(t, over, scheme+strings.TrimPrefix(s.base, "http://")+"/users")
				return err == nil
			})
			if e.protocol != protocol {
				t.Fatalf("the protocol is HTTP/%d", e.protocol)
			}
			e.expect(`synced {}`)
			e.quiet = false
			if next, ok := e.next(); !ok || next.kind != ":" {
				t.Fatalf("got %+v", next)
			}
			if err := s.opened.Stop(context.Background()); err != nil {
				t.Error(err)
			}
			e.expectEnd()
		})
	}
}
