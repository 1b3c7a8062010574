package interfacetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plural-go/plural/schema"
)

// TestRangeLargerThanOnePiece: a range that does not fit into the first piece
// of the answer is whole all the same, and its links are right, although they
// are sent before it was read.
func TestRangeLargerThanOnePiece(t *testing.T) {
	const total = 60 // of 4 KiB each: several pieces of 32 KiB
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		text := strings.Repeat(`x"é𝄞`, 512)
		bodies, want := make([]string, total), make([]string, total)
		for i := range total {
			escaped := strings.ReplaceAll(text, `"`, `\"`)
			bodies[i] = fmt.Sprintf(`{"id":"%s","title":"%02d","body":"%s"}`, id(i), i%10, escaped)
			want[i] = fmt.Sprintf(`{"id":"%s","type":"posts","title":"%02d","body":"%s","published_at":null,"user_id":null,"created_at":"TIME","updated_at":"TIME"}`, id(i), i%10, escaped)
		}
		s.createAll("/posts", bodies...)
		whole := s.get("/posts?limit=60")
		whole.expect(t, 200, data(want...))
		whole.expectHeaders(t, "Link: "+linkHeader("/posts", "first", "limit=60", "last", "limit=-60"), "X-Total-Count: 60")
		s.get("/posts?offset=5&limit=50").expect(t, 200, data(want[5:55]...))
		s.get("/posts?cursor="+id(55)+"&limit=-50").expect(t, 200, data(want[5:55]...))

		filter, sort := "filter%5Btitle%5D%5Bne%5D=03", "sort=-title"
		for _, test := range []struct {
			query, total string
			links        []string
		}{
			{"limit=50", "60", []string{"first", "limit=50", "next", "cursor=" + id(50) + "&limit=50", "last", "limit=-50"}},
			{"limit=-50", "60", []string{"first", "limit=50", "prev", "cursor=" + id(10) + "&limit=-50", "last", "limit=-50"}},
			{"cursor=" + id(5) + "&limit=50", "60", []string{"first", "limit=50", "prev", "cursor=" + id(5) + "&limit=-50", "next", "cursor=" + id(55) + "&limit=50", "last", "limit=-50"}},
			{"cursor=" + id(10) + "&limit=50", "60", []string{"first", "limit=50", "prev", "cursor=" + id(10) + "&limit=-50", "last", "limit=-50"}},
			{"cursor=" + id(55) + "&limit=-50", "60", []string{"first", "limit=50", "prev", "cursor=" + id(5) + "&limit=-50", "next", "cursor=" + id(55) + "&limit=50", "last", "limit=-50"}},
			{"offset=5&limit=50", "60", []string{"first", "limit=50", "prev", "offset=5&limit=-50", "next", "offset=55&limit=50", "last", "limit=-50"}},
			{"cursor=" + id(1) + "&limit=5000", "60", []string{"first", "limit=5000", "prev", "cursor=" + id(1) + "&limit=-5000", "last", "limit=-5000"}},
			{filter + "&limit=50", "", []string{"first", filter + "&limit=50", "next", filter + "&cursor=" + id(56) + "&limit=50", "last", filter + "&limit=-50"}},
			{filter + "&limit=54", "", []string{"first", filter + "&limit=54", "last", filter + "&limit=-54"}},
			{filter + "&offset=4&limit=40", "", []string{"first", filter + "&limit=40", "prev", filter + "&offset=4&limit=-40", "next", filter + "&offset=44&limit=40", "last", filter + "&limit=-40"}},
			{filter + "&cursor=" + id(3) + "&limit=40", "", []string{"first", filter + "&limit=40", "prev", filter + "&cursor=" + id(4) + "&limit=-40", "next", filter + "&cursor=" + id(48) + "&limit=40", "last", filter + "&limit=-40"}},
			// Titles are the last digits: 09 down to 02 take 48, and of 01 the
			// third is 21.
			{sort + "&limit=50", "60", []string{"first", sort + "&limit=50", "next", sort + "&cursor=" + id(21) + "&limit=50", "last", sort + "&limit=-50"}},
			{sort + "&offset=5&limit=50", "60", []string{"first", sort + "&limit=50", "prev", sort + "&offset=5&limit=-50", "next", sort + "&offset=55&limit=50", "last", sort + "&limit=-50"}},
		} {
			for _, method := range []string{"GET", "HEAD"} {
				expectList(t, s, method, "/posts", test.query, test.total, test.links)
			}
		}
		// The rest of a range comes from a second query: nothing is lost or
		// doubled where they meet.
		all := s.get("/posts?" + sort + "&limit=60").ids(t)
		for _, query := range []string{sort + "&limit=50", sort + "&limit=50&offset=0", sort + "&limit=50&filter[title][ne]=x"} {
			if got := s.get("/posts?" + query).ids(t); fmt.Sprint(got) != fmt.Sprint(all[:50]) {
				t.Errorf("%s\ngot  %v\nwant %v", query, got, all[:50])
			}
		}
	})
}

// TestRangeOfThousands: any limit is served. The next link of a filtered range of more than 1,000 is by offset.
func TestRangeOfThousands(t *testing.T) {
	const total = 2500
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		for start := 0; start < total; start += 500 {
			var bodies []string
			for i := start; i < start+500; i++ {
				bodies = append(bodies, `{"id":"`+id(i)+`","title":"`+[]string{"even", "odd"}[i%2]+`"}`)
			}
			s.createAll("/posts", bodies...)
		}
		list := s.get("/posts?limit=2000")
		list.expectPositions(t, "limit 2000", from(0, 2000)...)
		list.expectHeaders(t, "Link: "+linkHeader("/posts", "first", "limit=2000", "next", "cursor="+id(2000)+"&limit=2000", "last", "limit=-2000"), "X-Total-Count: 2500")
		s.get("/posts?limit=1000000").expectPositions(t, "limit 1000000", from(0, total)...)
		s.get("/posts?limit=-2400").expectPositions(t, "limit -2400", from(100, total)...)
		odd := []int{}
		for i := 1; i < 2400; i += 2 {
			odd = append(odd, i)
		}
		filtered := s.get("/posts?filter[title]=odd&limit=1200")
		filtered.expectPositions(t, "filtered", odd...)
		const query = "filter%5Btitle%5D=odd&"
		if got, want := filtered.otherLinks(t), linkHeader("/posts", "first", query+"limit=1200", "next", query+"offset=1200&limit=1200", "last", query+"limit=-1200"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		thousand := s.get("/posts?filter[title]=odd&limit=1000")
		thousand.expectPositions(t, "filtered, 1000", odd[:1000]...)
		if got := thousand.link(t, "next"); got != "/posts?filter%5Btitle%5D=odd&cursor="+id(2001)+"&limit=1000" {
			t.Errorf("next is %s", got)
		}
	})
}
