package interfacetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/schema"
)

// TestLongRangesAreFollowed: who follows next from a range of more than 1,000 sees everything once, in order, whether or not the
// end of the range was known when the headers were sent. A page beyond the end is empty and has no next.
func TestLongRangesAreFollowed(t *testing.T) {
	const total = 1210
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 2)
		for start := 0; start < total; start += total / 2 {
			var bodies []string
			for i := start; i < start+total/2; i++ {
				bodies = append(bodies, fmt.Sprintf(`{"id":"%s","title":"title %d","user_id":"%s"}`, id(i), i*7%total, id(1)))
			}
			s.createAll("/posts", bodies...)
		}
		for start := 0; start < total; start += total / 2 {
			var steps []string
			for i := start; i < start+total/2; i++ {
				steps = append(steps, step("PATCH", "/users/"+id(1), fmt.Sprintf(`{"name":"name %d"}`, i)))
			}
			if done := s.transaction(steps); done.status != 200 {
				t.Fatalf("%d %s", done.status, done.body)
			}
		}
		for _, each := range []struct {
			path, query string
			next        string // of the first page, "" if it is not the offset of its end
			pages       int
		}{
			{"/posts", "sort=title", "sort=title&offset=1001&limit=1001", 2},
			{"/posts", "sort=-title&offset=100", "sort=-title&offset=1101&limit=1001", 2},
			{"/posts", "filter[title][starts_with]=title", "filter%5Btitle%5D%5Bstarts_with%5D=title&offset=1001&limit=1001", 3}, // the last one is empty
			{"/posts", "filter[title][starts_with]=title&sort=-title&cursor=" + id(100), "filter%5Btitle%5D%5Bstarts_with%5D=title&sort=-title&offset=%d&limit=1001", 2},
			{"/users/" + id(1) + "/posts", "sort=user_id,-title", "sort=user_id%2C-title&offset=1001&limit=1001", 2},
			{"/users/" + id(1) + "/posts", "sort=title&cursor=" + id(1001), "", 1},
			{"/changes", "", "", 3},
			{"/changes", "filter[collection]=users", "", 2},
			{"/changes", "filter[resource.id]=" + id(1) + "&filter[collection]=users", "", 2},
			{"/users/" + id(1) + "/changes", "", "", 2},
		} {
			want, query := s.get(each.path+"?"+each.query+"&limit=100000").ids(t), each.query+"&limit=1001"
			page := s.get(each.path + "?" + query)
			got, pages := page.ids(t), 1
			if want := each.next; want != "" {
				if strings.Contains(want, "%d") {
					before := slices.Index(s.get("/posts?sort=-title&limit=100000").ids(t), id(100))
					want = strings.Replace(want, "%d", fmt.Sprint(before+1001), 1)
				}
				if link := page.link(t, "next"); link != each.path+"?"+want {
					t.Errorf("%s?%s: next is %s, want %s", each.path, query, link, want)
				}
			}
			for ; strings.Contains(page.header.Get("Link"), `rel="next"`) && pages < 10; pages++ {
				page = s.get(page.link(t, "next"))
				got = append(got, page.ids(t)...)
			}
			if !slices.Equal(got, want) || pages != each.pages {
				t.Errorf("%s?%s: %d resources on %d pages, want %d on %d", each.path, query, len(got), pages, len(want), each.pages)
			}
		}
		// Other changes of the log do not pass the filter: some of the first page come again.
		ids, seen := []string{}, map[string]bool{}
		page := s.get("/changes?filter[kind]=updated&limit=1001")
		for pages := 0; pages < 10; pages++ {
			for _, id := range page.ids(t) {
				if !seen[id] {
					ids, seen[id] = append(ids, id), true
				}
			}
			if !strings.Contains(page.header.Get("Link"), `rel="next"`) {
				break
			}
			page = s.get(page.link(t, "next"))
		}
		if want := s.get("/changes?filter[kind]=updated&limit=100000").ids(t); !slices.Equal(ids, want) {
			t.Errorf("got %d changes, want %d", len(ids), len(want))
		}
		if last := s.get("/posts?sort=title&limit=-1001"); strings.Contains(last.header.Get("Link"), `rel="next"`) {
			t.Errorf("the end: Link: %s", last.header.Get("Link"))
		}
		empty := s.get("/posts?filter[title][starts_with]=title&offset=2002&limit=1001")
		if len(empty.ids(t)) > 0 || strings.Contains(empty.header.Get("Link"), `rel="next"`) {
			t.Errorf("got %s, Link: %s", empty.body, empty.header.Get("Link"))
		}
	})
}
