package interfacetest

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/plural-go/plural/schema"
)

// change is a change of a user, as it is shown without access control.
func change(kind string, position int, previous, data string) string {
	return changeBy("null", kind, position, previous, data)
}

// TestChangesAreListed: every change, with the states before and after it, in the order of the log.
func TestChangesAreListed(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		s.get("/changes").expect(t, 200, data())
		seedUsers(s, 2)
		s.write("PATCH", "/users/"+id(0), `{"name":"Ada","active":false}`)
		s.write("PUT", "/users/"+id(0), `{"name":"Ada","email":"user0@example.com"}`)
		s.write("PATCH", "/users/"+id(0), `{"name":"Ada"}`, "Prefer", "respond-async, wait=300") // writes nothing, and the operation is no part of the log
		s.write("DELETE", "/users/"+id(0), "")
		want := []string{
			change("created", 0, "null", shown(0, "User 0", true)),
			change("created", 1, "null", shown(1, "User 1", false)),
			change("updated", 0, `{"name":"User 0","active":true}`, shown(0, "Ada", false)),
			change("updated", 0, `{"active":false}`, shown(0, "Ada", true)),
			change("deleted", 0, shown(0, "Ada", true), "null"),
		}
		all := s.get("/changes")
		all.expectSettled(t, 200, data(want...))
		ids := all.ids(t)
		for i, each := range ids {
			one := s.get("/changes/" + each)
			one.expectSettled(t, 200, `{"data":`+want[i]+`}`)
			one.expectHeaders(t, tagged)
			s.get("/changes/"+each, "If-None-Match", one.header.Get("ETag")).expect(t, 304, "")
			singular := s.get("/change/" + each)
			singular.expectSettled(t, 200, `{"data":`+want[i]+`}`)
			singular.expectHeaders(t, tagged, "Content-Location: /changes/"+each)
		}
		for _, c := range []struct {
			query, total string
			from, to     int
			links        []string
		}{
			{"limit=2", "5", 0, 2, []string{"first", "limit=2", "next", "cursor=" + ids[2] + "&limit=2", "last", "limit=-2"}},
			{"limit=0", "5", 0, 0, nil},
			{"limit=-2", "5", 3, 5, []string{"first", "limit=2", "prev", "cursor=" + ids[3] + "&limit=-2", "last", "limit=-2"}},
			{"limit=-9", "5", 0, 5, []string{"first", "limit=9", "last", "limit=-9"}},
			{"cursor=" + ids[1] + "&limit=3", "5", 1, 4, []string{"first", "limit=3", "prev", "cursor=" + ids[1] + "&limit=-3", "next", "cursor=" + ids[4] + "&limit=3", "last", "limit=-3"}},
			{"cursor=" + strings.ToUpper(ids[4]) + "&l=3", "5", 4, 5, []string{"first", "limit=3", "prev", "cursor=" + ids[4] + "&limit=-3", "last", "limit=-3"}},
			{"cursor=" + ids[2] + "&limit=-2", "5", 0, 2, []string{"first", "limit=2", "next", "cursor=" + ids[2] + "&limit=2", "last", "limit=-2"}},
			{"since=" + ids[1] + "&limit=2", "5", 2, 4, []string{"first", "limit=2", "next", "cursor=" + ids[4] + "&limit=2", "last", "limit=-2"}},
			{"since=" + ids[1] + "&limit=-1", "5", 1, 2, []string{"first", "limit=1", "prev", "cursor=" + ids[1] + "&limit=-1", "next", "cursor=" + ids[2] + "&limit=1", "last", "limit=-1"}},
			{"since=" + ids[4], "5", 5, 5, []string{"first", "limit=100", "last", "limit=-100"}},
			{"filter[kind]=updated", "", 2, 4, []string{"first", "filter%5Bkind%5D=updated&limit=100", "last", "filter%5Bkind%5D=updated&limit=-100"}},
			{"filter[resource.id]=" + id(1), "", 1, 2, []string{"first", "filter%5Bresource.id%5D=" + id(1) + "&limit=100", "last", "filter%5Bresource.id%5D=" + id(1) + "&limit=-100"}},
			{"filter[collection]=users&limit=-1", "5", 4, 5, []string{"first", "filter%5Bcollection%5D=users&limit=1", "prev", "filter%5Bcollection%5D=users&cursor=" + ids[4] + "&limit=-1", "last", "filter%5Bcollection%5D=users&limit=-1"}},
			{"filter[collection]=users&filter[resource.id]=" + id(1), "1", 1, 2, nil},
			{"filter[collection]=posts", "0", 0, 0, nil},
			{"filter[by][null]=true", "", 0, 5, nil},
			{"filter[by]=key:x", "", 0, 0, nil},
			{"filter[created_at][lt]=2000-01-01T00:00:00Z", "", 0, 0, nil},
			{"filter[kind][in]=created,deleted&cursor=" + ids[1] + "&limit=1", "", 1, 2, []string{"first", "filter%5Bkind%5D%5Bin%5D=created%2Cdeleted&limit=1", "prev", "filter%5Bkind%5D%5Bin%5D=created%2Cdeleted&cursor=" + ids[1] + "&limit=-1",
				"next", "filter%5Bkind%5D%5Bin%5D=created%2Cdeleted&cursor=" + ids[4] + "&limit=1", "last", "filter%5Bkind%5D%5Bin%5D=created%2Cdeleted&limit=-1"}},
		} {
			got := s.get("/changes?" + c.query)
			got.expectSettled(t, 200, data(want[c.from:c.to]...))
			if links := linkHeader("/changes", c.links...); c.links != nil && got.otherLinks(t) != links {
				t.Errorf("%s\ngot  %s\nwant %s", c.query, got.otherLinks(t), links)
			}
			if !changesLink.MatchString(got.header.Get("Link")) {
				t.Errorf("%s: no link to the changes: %s", c.query, got.header.Get("Link"))
			}
			if exact := s.get("/changes?"+c.query, "Prefer", "count=exact"); got.total() != "" || c.total != "" && exact.total() != c.total {
				t.Errorf("%s: the total is %q and exactly %q, want %q", c.query, got.total(), exact.total(), c.total)
			}
		}
		exact := s.get("/changes?filter[kind]=updated&limit=1", "Prefer", "count=exact")
		if exact.total() != "2" || exact.header.Get("Preference-Applied") != "count=exact" {
			t.Errorf("exact: %v", exact.header)
		}
		for query, want := range map[string]string{
			"offset=1": "unknown_parameter offset", "sort=kind": "unknown_parameter sort", "filter[revision]=1": "unknown_parameter filter[revision]", "filter[id]=" + ids[0]: "unknown_parameter filter[id]",
			"filter[type]=changes": "unknown_parameter filter[type]", "filter[resource.type]=users": "unknown_parameter filter[resource.type]", "page=2": "unknown_parameter page",
			"cursor=x": "invalid_parameter cursor", "cursor=" + id(0): "unknown_cursor cursor", "since=" + id(0): "invalid_parameter since", "since=x": "invalid_parameter since", "since=": "invalid_parameter since",
			"since=" + ids[0] + "&cursor=" + ids[0]: "conflicting_range cursor", "filter[resource.id]=x": "invalid_parameter filter[resource.id]",
			"filter[created_at]=soon": "invalid_parameter filter[created_at]", "filter[collection]=nothing": "invalid_parameter filter[collection]",
			"filter[collection]=operations": "invalid_parameter filter[collection]", "filter[kind][in]=created,x": "invalid_parameter filter[kind][in]", "limit=x": "invalid_parameter limit",
		} {
			s.get("/changes?"+query).expectErrors(t, 400, want)
		}
		s.get("/changes?filter[collection]=user").expect(t, 400, `{"errors":[{"status":400,"code":"invalid_parameter","title":"Invalid query parameter","detail":"There is no collection \"user\" (did you mean users?). Use users or posts.","source":{"parameter":"filter[collection]"}}]}`)
		s.get("/changes?filter[kind]=update", "Accept", "text/event-stream").expectErrors(t, 400, "invalid_parameter filter[kind]")
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
			refused := s.do(method, "/changes", "")
			refused.expectErrors(t, 405, "method_not_allowed")
			refused.expectHeaders(t, "Allow: GET, HEAD, QUERY, OPTIONS")
		}
		s.get("/changes/"+id(0)).expectErrors(t, 404, "not_found")
		s.get("/changes/x").expectErrors(t, 404, "not_found")
		s.get("/changes/"+ids[0]+"/changes").expectErrors(t, 404, "not_found")
		s.get("/operations/"+id(0)+"/changes").expectErrors(t, 404, "not_found")
		if head := s.do("HEAD", "/changes?limit=2", ""); head.status != 200 || head.body != "" || head.otherLinks(t) != linkHeader("/changes", "first", "limit=2", "next", "cursor="+ids[2]+"&limit=2", "last", "limit=-2") {
			t.Errorf("HEAD: %d %v", head.status, head.header)
		}
	})
}

// TestHistoryOfAResource: also after it was deleted, and below its parent.
func TestHistoryOfAResource(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 3)
		s.write("PATCH", "/users/"+id(1), `{"name":"Bo"}`)
		s.write("POST", "/users/"+id(0)+"/posts", `{"id":"`+id(10)+`","title":"Notes"}`)
		s.write("PATCH", "/posts/"+id(10), `{"title":"More"}`)
		want := []string{change("created", 1, "null", shown(1, "User 1", false)), change("updated", 1, `{"name":"User 1"}`, shown(1, "Bo", false))}
		got := s.get("/users/" + id(1) + "/changes")
		got.expectSettled(t, 200, data(want...))
		ids := got.ids(t)
		got.expectHeaders(t, "Link: "+linkHeader("/users/"+id(1)+"/changes", "first", "limit=100", "last", "limit=-100"))
		if exact := s.get("/users/"+id(1)+"/changes?limit=1", "Prefer", "count=exact"); exact.total() != "2" {
			t.Errorf("the total is %q", exact.total())
		}
		s.get("/users/"+id(1)+"/changes?limit=-1").expectSettled(t, 200, data(want[1]))
		s.get("/users/"+id(1)+"/changes?since="+ids[0]).expectSettled(t, 200, data(want[1]))
		s.get("/users/"+id(1)+"/changes?filter[kind]=created").expectSettled(t, 200, data(want[0]))
		if got := s.get("/users/"+id(1)+"/changes?limit=1").link(t, "next"); got != "/users/"+id(1)+"/changes?cursor="+ids[1]+"&limit=1" {
			t.Errorf("next is %s", got)
		}
		s.write("DELETE", "/users/"+id(1), "")
		s.get("/users/"+id(1)).expectErrors(t, 404, "not_found")
		s.get("/users/"+id(1)+"/changes").expectSettled(t, 200, data(append(want, change("deleted", 1, shown(1, "Bo", false), "null"))...))
		s.get("/users/"+id(9)+"/changes").expectErrors(t, 404, "not_found")

		canonical, below := s.get("/posts/"+id(10)+"/changes"), s.get("/users/"+id(0)+"/posts/"+id(10)+"/changes")
		if len(below.ids(t)) != 2 || below.body != canonical.body {
			t.Errorf("below its parent %s\nand by itself %s", below.body, canonical.body)
		}
		s.get("/users/"+id(2)+"/posts/"+id(10)+"/changes").expectErrors(t, 404, "not_found")
		s.get("/users/"+id(0)+"/posts/"+id(11)+"/changes").expectErrors(t, 404, "not_found")
		s.get("/users/"+id(0)+"/posts/"+id(10)+"/changes/x").expectErrors(t, 404, "not_found")
		s.get("/users/"+id(0)+"/posts/"+id(10)+"/nothing").expectErrors(t, 404, "not_found")
		s.get("/user/"+id(0)+"/changes").expectErrors(t, 404, "not_found")
		s.write("DELETE", "/posts/"+id(10), "")
		if below := s.get("/users/" + id(0) + "/posts/" + id(10) + "/changes"); len(below.ids(t)) != 3 {
			t.Errorf("after the deletion: %d %s", below.status, below.body)
		}
		refused := s.do("POST", "/users/"+id(0)+"/changes", "{}")
		refused.expectErrors(t, 405, "method_not_allowed")
		refused.expectHeaders(t, "Allow: GET, HEAD, QUERY, OPTIONS")
		if detail := s.get("/users/" + id(0) + "/chnages").body; !strings.Contains(detail, "Did you mean /users/"+id(0)+"/changes?") {
			t.Errorf("no hint: %s", detail)
		}
	})
}

// orphanFile: posts go with their author, and notes stay without one.
const orphanFile = `
collections:
  users:
    attributes: {name: {type: string}}
  posts:
    attributes: {title: {type: string}}
    parent: {collection: users, on_delete: cascade}
  notes:
    attributes: {title: {type: string}}
    parent: {collection: users, on_delete: set_null}
`

var changeKinds = regexp.MustCompile(`"kind":"([a-z]+)"`)

// TestHistoryWithoutParent: the history of a resource outlives its parent in its own collection. Below the parent
// it is not found any more, and the error says where it is.
func TestHistoryWithoutParent(t *testing.T) {
	file, err := schema.Parse([]byte(orphanFile))
	if err != nil {
		t.Fatal(err)
	}
	eachStore(t, file.Schema, func(t *testing.T, s *server) {
		s.write("POST", "/users", `{"id":"`+id(0)+`","name":"Ada"}`)
		kinds := map[string]string{"posts": "created updated deleted", "notes": "created updated updated"}
		for collection := range kinds {
			s.write("POST", "/users/"+id(0)+"/"+collection, `{"id":"`+id(1)+`","title":"a"}`)
			s.write("PATCH", "/"+collection+"/"+id(1), `{"title":"b"}`)
		}
		s.write("DELETE", "/users/"+id(0), "")
		for collection, want := range kinds {
			var got []string
			for _, each := range changeKinds.FindAllStringSubmatch(s.get("/"+collection+"/"+id(1)+"/changes").body, -1) {
				got = append(got, each[1])
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s: got %q", collection, got)
			}
			for _, accept := range []string{"application/json", "text/event-stream"} {
				s.get("/users/"+id(0)+"/"+collection+"/"+id(1)+"/changes", "Accept", accept).expect(t, 404, fmt.Sprintf(
					`{"errors":[{"status":404,"code":"not_found","title":"Not found","detail":"There is no resource %s here in users. Without its parent a resource has its history in its own collection: %s/%s/changes."}]}`,
					id(0), collection, id(1)))
				s.get("/"+collection+"/"+id(9)+"/changes", "Accept", accept).expectErrors(t, 404, "not_found")
			}
			stream := s.stream("/" + collection + "/" + id(1) + "/changes?filter[kind]=created")
			if next, ok := stream.next(); !ok || next.kind != "listed" {
				t.Errorf("%s: got %+v", collection, next)
			}
		}
	})
}

// TestLongPoll: an answer comes with the first change, or when the time is over.
func TestLongPoll(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		ids := s.get("/changes").ids(t)
		done := s.get("/changes?since="+ids[0], "Prefer", "wait=0")
		done.expect(t, 200, data())
		if got := done.header.Get("Preference-Applied"); got != "wait=0" {
			t.Errorf("Preference-Applied is %q", got)
		}
		if got := s.get("/changes", "Prefer", "wait=300").header.Get("Preference-Applied"); got != "" {
			t.Errorf("without a position, Preference-Applied is %q", got)
		}
		waiting := map[string]chan answer{}
		position := strings.TrimPrefix(s.get("/users").link(t, "changes"), "/users?since=")
		paths := []string{"/changes?since=" + ids[0], "/changes?cursor=" + ids[0], "/changes?since=" + position, "/changes?since=" + ids[0] + "&filter[kind]=deleted", "/users/" + id(0) + "/changes?since=" + ids[0]}
		for _, path := range paths {
			arrived := make(chan answer, 1)
			waiting[path] = arrived
			go func() { arrived <- s.get(path, "Prefer", "wait=1000") }()
		}
		s.write("POST", "/posts", `{}`) // of which only the streams of all changes tell
		s.write("PATCH", "/users/"+id(0), `{"name":"Ada"}`)
		s.write("DELETE", "/users/"+id(0), "")
		for path, arrived := range waiting {
			got := <-arrived
			if applied := got.header.Get("Preference-Applied"); got.status != 200 || applied != "wait=300" || len(got.ids(t)) == 0 {
				t.Errorf("%s: %d %q %s", path, got.status, applied, got.body)
			}
			if strings.Contains(path, "cursor=") && (len(got.ids(t)) < 2 || got.ids(t)[0] != ids[0]) {
				t.Errorf("a cursor is inclusive, and waits for one after it: %s", got.body)
			}
			if strings.Contains(path, "since=") && got.ids(t)[0] == ids[0] {
				t.Errorf("since is exclusive: %s", got.body)
			}
		}
		(<-func() chan answer {
			arrived := make(chan answer, 1)
			arrived <- s.get("/changes?since="+ids[0]+"&filter[kind]=deleted", "Prefer", "wait=300")
			return arrived
		}()).expectSettled(t, 200, data(change("deleted", 0, shown(0, "Ada", true), "null")))
	})
}

// TestLongListOfChanges: a range that does not fit into one piece is whole, and its links are right.
func TestLongListOfChanges(t *testing.T) {
	const total = 120
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		bodies := make([]string, total)
		for i := range bodies {
			bodies[i] = fmt.Sprintf(`{"id":"%s","title":"%d","body":"%s"}`, id(i), i, strings.Repeat("body ", 300))
		}
		s.createAll("/posts", bodies...)
		all := s.get("/changes?limit=1000").ids(t)
		if len(all) != total {
			t.Fatalf("there are %d changes", len(all))
		}
		for _, c := range []struct {
			query    string
			from, to int
			links    []string
		}{
			{"limit=110", 0, 110, []string{"first", "limit=110", "next", "cursor=" + all[110] + "&limit=110", "last", "limit=-110"}},
			{"limit=-110", 10, 120, []string{"first", "limit=110", "prev", "cursor=" + all[10] + "&limit=-110", "last", "limit=-110"}},
			{"cursor=" + all[5] + "&limit=110", 5, 115, []string{"first", "limit=110", "prev", "cursor=" + all[5] + "&limit=-110", "next", "cursor=" + all[115] + "&limit=110", "last", "limit=-110"}},
			{"limit=120", 0, 120, []string{"first", "limit=120", "last", "limit=-120"}},
			{"limit=5000", 0, 120, []string{"first", "limit=5000", "last", "limit=-5000"}},
		} {
			got := s.get("/changes?" + c.query)
			if fmt.Sprint(got.ids(t)) != fmt.Sprint(all[c.from:c.to]) {
				t.Errorf("%s: got %d changes", c.query, len(got.ids(t)))
			}
			if links := linkHeader("/changes", c.links...); got.otherLinks(t) != links {
				t.Errorf("%s\ngot  %s\nwant %s", c.query, got.otherLinks(t), links)
			}
			zipped := s.get("/changes?"+c.query, "Accept-Encoding", "gzip")
			if zipped.header.Get("Content-Encoding") != "gzip" || unzip(t, zipped.body) != got.body {
				t.Errorf("%s: not the same with gzip", c.query)
			}
		}
	})
}

// TestFollowPagesOfChanges: a client that follows the link to the changes misses nothing, also if
// pages are cut, and sees nothing twice.
func TestFollowPagesOfChanges(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 3)
		for i := range 4 {
			s.write("PATCH", "/users/"+id(1), fmt.Sprintf(`{"name":"Name %d"}`, i))
			s.write("PATCH", "/users/"+id(0), fmt.Sprintf(`{"name":"Name %d"}`, i))
		}
		all := s.get("/changes").ids(t)
		for _, start := range []string{"/changes?", "/changes?filter[kind]=updated&", "/changes?filter[resource.id]=" + id(1) + "&", "/users/" + id(1) + "/changes?", "/changes?since=" + all[1] + "&", "/changes?cursor=" + all[1] + "&"} {
			want := s.get(strings.TrimRight(start, "&?")).ids(t)
			var got []string
			path := start
			for range len(all) + 1 {
				page := s.get(path + "limit=2")
				got = append(got, page.ids(t)...)
				path = page.link(t, "changes") + "&"
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s\ngot  %v\nwant %v", start, got, want)
			}
		}
		for query, rest := range map[string]int{
			"limit=-2": 11, "cursor=" + all[5] + "&limit=-2": 5, "since=" + all[5] + "&limit=-2": 6, // behind the range
			"limit=0": 11, "cursor=" + all[5] + "&limit=0": 5, "since=" + all[5] + "&limit=0": 6,
		} {
			if got := s.get(s.get("/changes?"+query).link(t, "changes")).ids(t); fmt.Sprint(got) != fmt.Sprint(all[rest:]) {
				t.Errorf("%s: got %v, want %v", query, got, all[rest:])
			}
		}
	})
}

// TestFollowLongPagesOfChanges: a page whose end is not known when its links are sent.
func TestFollowLongPagesOfChanges(t *testing.T) {
	t.Parallel()
	const total, size = 2300, 1100
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		bodies := make([]string, total)
		for i := range bodies {
			bodies[i] = fmt.Sprintf(`{"id":"%s","title":"%d"}`, id(i), i)
		}
		for from := 0; from < total; from += 100 {
			s.createAll("/posts", bodies[from:from+100]...)
		}
		all := s.get("/changes?limit=5000").ids(t)
		var got []string
		path := "/changes?"
		for range 4 {
			page := s.get(fmt.Sprint(path, "limit=", size))
			got = append(got, page.ids(t)...)
			path = page.link(t, "changes") + "&"
		}
		if len(all) != total || fmt.Sprint(got) != fmt.Sprint(all) {
			t.Errorf("got %d of %d changes", len(got), len(all))
		}
	})
}
