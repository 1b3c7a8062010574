package interfacetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// linkTests are requests on 10 users with all their links and their total, for
// any path.
var linkTests = []struct {
	query string
	total string
	links []string
}{
	// Neither offset nor cursor: links by cursor.
	{"", "10", []string{"first", "limit=100", "last", "limit=-100"}},
	{"limit=4", "10", []string{"first", "limit=4", "next", "cursor=" + id(4) + "&limit=4", "last", "limit=-4"}},
	{"l=-4", "10", []string{"first", "limit=4", "prev", "cursor=" + id(6) + "&limit=-4", "last", "limit=-4"}},
	{"limit=10", "10", []string{"first", "limit=10", "last", "limit=-10"}},
	{"limit=-10", "10", []string{"first", "limit=10", "last", "limit=-10"}},
	{"limit=0", "10", nil},
	{"limit=0&offset=3", "10", nil},
	{"limit=0&cursor=" + id(3), "10", nil},
	{"limit=99999999999999999999", "10", []string{"first", "limit=9223372036854775807", "last", "limit=-9223372036854775807"}},
	// By cursor.
	{"cursor=" + id(0) + "&limit=4", "10", []string{"first", "limit=4", "next", "cursor=" + id(4) + "&limit=4", "last", "limit=-4"}},
	{"cursor=" + id(3) + "&limit=4", "10", []string{"first", "limit=4", "prev", "cursor=" + id(3) + "&limit=-4", "next", "cursor=" + id(7) + "&limit=4", "last", "limit=-4"}},
	{"cursor=" + id(6) + "&limit=4", "10", []string{"first", "limit=4", "prev", "cursor=" + id(6) + "&limit=-4", "last", "limit=-4"}},
	{"cursor=" + id(6) + "&limit=-4", "10", []string{"first", "limit=4", "prev", "cursor=" + id(2) + "&limit=-4", "next", "cursor=" + id(6) + "&limit=4", "last", "limit=-4"}},
	{"cursor=" + id(3) + "&limit=-4", "10", []string{"first", "limit=4", "next", "cursor=" + id(3) + "&limit=4", "last", "limit=-4"}},
	{"cursor=" + id(0) + "&limit=-4", "10", []string{"first", "limit=4", "next", "cursor=" + id(0) + "&limit=4", "last", "limit=-4"}},
	// By offset.
	{"offset=0&limit=4", "10", []string{"first", "limit=4", "next", "offset=4&limit=4", "last", "limit=-4"}},
	{"o=3&l=4", "10", []string{"first", "limit=4", "prev", "offset=3&limit=-4", "next", "offset=7&limit=4", "last", "limit=-4"}},
	{"offset=6&limit=4", "10", []string{"first", "limit=4", "prev", "offset=6&limit=-4", "last", "limit=-4"}},
	{"offset=8&limit=4", "10", []string{"first", "limit=4", "prev", "offset=8&limit=-4", "last", "limit=-4"}},
	{"offset=6&limit=-4", "10", []string{"first", "limit=4", "prev", "offset=2&limit=-4", "next", "offset=6&limit=4", "last", "limit=-4"}},
	{"offset=3&limit=-4", "10", []string{"first", "limit=4", "next", "offset=3&limit=4", "last", "limit=-4"}},
	{"offset=0&limit=-4", "10", []string{"first", "limit=4", "next", "offset=0&limit=4", "last", "limit=-4"}},
	{"offset=12&limit=-4", "10", []string{"first", "limit=4", "prev", "offset=8&limit=-4", "last", "limit=-4"}},
	{"offset=50&limit=4", "10", []string{"first", "limit=4", "prev", "offset=10&limit=-4", "last", "limit=-4"}},
	{"offset=50&limit=-4", "10", []string{"first", "limit=4", "prev", "offset=10&limit=-4", "last", "limit=-4"}},
	// Filtered: without a total. The active ones are 0, 2, 4, 6 and 8.
	{"filter[active]&limit=2", "", []string{"first", "filter%5Bactive%5D&limit=2", "next", "filter%5Bactive%5D&cursor=" + id(4) + "&limit=2", "last", "filter%5Bactive%5D&limit=-2"}},
	{"filter[active]&limit=-2", "", []string{"first", "filter%5Bactive%5D&limit=2", "prev", "filter%5Bactive%5D&cursor=" + id(6) + "&limit=-2", "last", "filter%5Bactive%5D&limit=-2"}},
	{"filter[active]=true&limit=5", "", []string{"first", "filter%5Bactive%5D=true&limit=5", "last", "filter%5Bactive%5D=true&limit=-5"}},
	{"limit=2&cursor=" + id(3) + "&filter[active]", "", []string{"first", "filter%5Bactive%5D&limit=2", "prev", "filter%5Bactive%5D&cursor=" + id(4) + "&limit=-2", "next", "filter%5Bactive%5D&cursor=" + id(8) + "&limit=2", "last", "filter%5Bactive%5D&limit=-2"}},
	{"limit=2&cursor=" + id(9) + "&filter[active]", "", []string{"first", "filter%5Bactive%5D&limit=2", "prev", "filter%5Bactive%5D&cursor=" + id(9) + "&limit=-2", "last", "filter%5Bactive%5D&limit=-2"}},
	{"offset=1&limit=2&filter[active]", "", []string{"first", "filter%5Bactive%5D&limit=2", "prev", "filter%5Bactive%5D&offset=1&limit=-2", "next", "filter%5Bactive%5D&offset=3&limit=2", "last", "filter%5Bactive%5D&limit=-2"}},
	{"offset=3&limit=2&filter[active]", "", []string{"first", "filter%5Bactive%5D&limit=2", "prev", "filter%5Bactive%5D&offset=3&limit=-2", "last", "filter%5Bactive%5D&limit=-2"}},
	{"offset=5&limit=-2&filter[active]", "", []string{"first", "filter%5Bactive%5D&limit=2", "prev", "filter%5Bactive%5D&offset=3&limit=-2", "last", "filter%5Bactive%5D&limit=-2"}},
	{"offset=4&limit=-2&filter[active]", "", []string{"first", "filter%5Bactive%5D&limit=2", "prev", "filter%5Bactive%5D&offset=2&limit=-2", "next", "filter%5Bactive%5D&offset=4&limit=2", "last", "filter%5Bactive%5D&limit=-2"}},
	{"offset=0&limit=-2&filter[active]", "", []string{"first", "filter%5Bactive%5D&limit=2", "next", "filter%5Bactive%5D&offset=0&limit=2", "last", "filter%5Bactive%5D&limit=-2"}},
	{"offset=50&limit=2&filter[active]", "", []string{"first", "filter%5Bactive%5D&limit=2", "prev", "filter%5Bactive%5D&offset=5&limit=-2", "last", "filter%5Bactive%5D&limit=-2"}},
	{"filter[name]=nobody&limit=2", "", []string{"first", "filter%5Bname%5D=nobody&limit=2", "last", "filter%5Bname%5D=nobody&limit=-2"}},
	{"offset=5&filter[name]=nobody&limit=2", "", []string{"first", "filter%5Bname%5D=nobody&limit=2", "last", "filter%5Bname%5D=nobody&limit=-2"}},
	// Sorted, and with what must be encoded.
	{"sort=-name&limit=2", "10", []string{"first", "sort=-name&limit=2", "next", "sort=-name&cursor=" + id(7) + "&limit=2", "last", "sort=-name&limit=-2"}},
	{"sort=-name&limit=2&cursor=" + id(7), "10", []string{"first", "sort=-name&limit=2", "prev", "sort=-name&cursor=" + id(7) + "&limit=-2", "next", "sort=-name&cursor=" + id(5) + "&limit=2", "last", "sort=-name&limit=-2"}},
	{"sort=-name&limit=-2&cursor=" + id(7), "10", []string{"first", "sort=-name&limit=2", "next", "sort=-name&cursor=" + id(7) + "&limit=2", "last", "sort=-name&limit=-2"}},
	{"sort=-name&limit=-2", "10", []string{"first", "sort=-name&limit=2", "prev", "sort=-name&cursor=" + id(1) + "&limit=-2", "last", "sort=-name&limit=-2"}},
	{"offset=2&sort=-name&limit=2", "10", []string{"first", "sort=-name&limit=2", "prev", "sort=-name&offset=2&limit=-2", "next", "sort=-name&offset=4&limit=2", "last", "sort=-name&limit=-2"}},
	{"filter[name][ne]=a%26b%3D%3Cc%3E+d&limit=9&filter[name]=User+1&filter[name]=User%202", "",
		[]string{"first", "filter%5Bname%5D%5Bne%5D=a%26b%3D%3Cc%3E+d&filter%5Bname%5D=User+1&filter%5Bname%5D=User+2&limit=9", "last", "filter%5Bname%5D%5Bne%5D=a%26b%3D%3Cc%3E+d&filter%5Bname%5D=User+1&filter%5Bname%5D=User+2&limit=-9"}},
}

func TestLinksAndTotals(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 10)
		for _, test := range linkTests {
			for _, method := range []string{"GET", "HEAD"} {
				expectList(t, s, method, "/users", test.query, test.total, test.links)
			}
		}
	})
}

// TestLinksAreFollowed walks forward and back, and sees every resource once.
func TestLinksAreFollowed(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 10)
		for _, query := range []string{"limit=3", "offset=0&limit=3", "sort=-name&limit=3", "filter[active]&limit=2", "offset=0&limit=2&filter[active]&sort=active,-name"} {
			all := s.get("/users?" + strings.NewReplacer("offset=0&", "", "limit=3", "limit=100", "limit=2", "limit=100").Replace(query)).ids(t)
			forward, page := []string{}, s.get("/users?"+query)
			for forward = append(forward, page.ids(t)...); strings.Contains(page.header.Get("Link"), `rel="next"`); forward = append(forward, page.ids(t)...) {
				page = s.get(page.link(t, "next"))
			}
			if fmt.Sprint(forward) != fmt.Sprint(all) {
				t.Errorf("%s: forward\ngot  %v\nwant %v", query, forward, all)
			}
			page = s.get(page.link(t, "last"))
			back := page.ids(t)
			for strings.Contains(page.header.Get("Link"), `rel="prev"`) {
				page = s.get(page.link(t, "prev"))
				back = append(page.ids(t), back...)
			}
			if fmt.Sprint(back) != fmt.Sprint(all) {
				t.Errorf("%s: back\ngot  %v\nwant %v", query, back, all)
			}
		}
	})
}

// TestPrefix: mounted under a path, everything that goes out carries it.
func TestPrefix(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		unmounted := *s
		s.base += "/api/v1"
		seedUsers(s, 10)
		for _, test := range linkTests[:4] {
			s.get("/users?"+test.query).expectHeaders(t, "Link: "+linkHeader("/api/v1/users", test.links...), "X-Total-Count: "+test.total)
		}
		created := s.do("POST", "/users/"+id(0)+"/posts", `{"id":"`+id(0)+`","title":"One"}`)
		created.expect(t, 201, `{"data":`+post(0, "One", quoted(id(0)))+`}`)
		created.expectHeaders(t, tagged, "Location: /api/v1/posts/"+id(0))
		s.get("/users/"+id(0)+"/posts?limit=1").expectHeaders(t, "Link: "+linkHeader("/api/v1/users/"+id(0)+"/posts", "first", "limit=1", "last", "limit=-1"), "X-Total-Count: 1")
		s.get("/user/"+id(0)).expectHeaders(t, tagged, "Content-Location: /api/v1/users/"+id(0))
		if got := s.get("/users/?limit=1"); got.status != 308 || got.header.Get("Location") != "/api/v1/users?limit=1" {
			t.Errorf("a slash at the end: %d to %q", got.status, got.header.Get("Location"))
		}
		if got := s.get(""); got.status != 200 || got.total() != "4" {
			t.Errorf("the root without a slash: %d %s", got.status, got.body)
		}
		if got := s.get("/-/health"); got.status != 200 {
			t.Errorf("health: %d", got.status)
		}
		for _, path := range []string{"/", "/users", "/api", "/api/v1users", "/api/v2/users", "/-/health"} {
			unmounted.expectRefusal(t, "GET", path, "", 404, "not_found")
		}
	}, func(c *plural.Config) { c.Prefix = "/api/v1" })
}

// TestPreferCount: the total of a filtered collection is counted when asked for.
func TestPreferCount(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		startPosts(s)
		links := "Link: " + linkHeader("/users", "first", "filter%5Bactive%5D&limit=1", "next", "filter%5Bactive%5D&cursor="+id(2)+"&limit=1", "last", "filter%5Bactive%5D&limit=-1")
		s.get("/users?filter[active]&limit=1").expectHeaders(t, links)
		s.get("/users?filter[active]&limit=1", "Prefer", "count=exact").expectHeaders(t, links, "Preference-Applied: count=exact", "X-Total-Count: 2")
		s.get("/users?filter[active]&limit=1", "Prefer", `return=minimal, Count = "exact"; x=1`).expectHeaders(t, links, "Preference-Applied: count=exact", "X-Total-Count: 2")
		s.get("/users?filter[active]&limit=1", "Prefer", "count=none").expectHeaders(t, links)
		s.get("/users?filter[active]&limit=0", "Prefer", "count=exact").expectHeaders(t, "Preference-Applied: count=exact", "X-Total-Count: 2")
		s.get("/users/"+id(0)+"/posts?filter[title]=Two&limit=0", "Prefer", "count=exact").expectHeaders(t, "Preference-Applied: count=exact", "X-Total-Count: 1")
		s.get("/users?limit=0", "Prefer", "count=exact").expectHeaders(t, "Preference-Applied: count=exact", "X-Total-Count: 3")
		exact := s.get("/users?filter[active]&offset=1&limit=1", "Prefer", "count=exact")
		exact.expectPositions(t, "exact, by offset", 2)
		exact.expectHeaders(t, "Link: "+linkHeader("/users", "first", "filter%5Bactive%5D&limit=1", "prev", "filter%5Bactive%5D&offset=1&limit=-1", "last", "filter%5Bactive%5D&limit=-1"),
			"Preference-Applied: count=exact", "X-Total-Count: 2")
	})
}
