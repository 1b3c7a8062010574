package interfacetest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// manyIDs is a filter by so many ids, of which the first are users.
func manyIDs(count int) string {
	ids := make([]string, count)
	for i := range ids {
		ids[i] = id(i)
	}
	return "filter%5Bid%5D%5Bin%5D=" + strings.Join(ids, "%2C")
}

// longest is the length of the longest header of an answer, its name included.
func (a answer) longest() (name string, size int) {
	for each, values := range a.header {
		if total := len(each) + len(strings.Join(values, ", ")); total > size {
			name, size = each, total
		}
	}
	return name, size
}

// expectShortHeaders checks that no header repeats more than 2 KiB of the request.
func (a answer) expectShortHeaders(t *testing.T, what string) {
	t.Helper()
	if name, size := a.longest(); size > 2<<10+len(name) {
		t.Errorf("%s: %s has %d bytes", what, name, size)
	}
}

// A Link header has at most 2 KiB: what does not fit is left out, next at last.
func TestLinksAreBounded(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 40)
		for _, c := range []struct {
			ids   int
			links func(filter string) []string
		}{
			{3, func(f string) []string {
				return []string{"first", f + "&limit=1", "prev", f + "&cursor=" + id(1) + "&limit=-1", "next", f + "&cursor=" + id(2) + "&limit=1", "last", f + "&limit=-1"}
			}},
			{20, func(f string) []string {
				return []string{"prev", f + "&cursor=" + id(1) + "&limit=-1", "next", f + "&cursor=" + id(2) + "&limit=1"}
			}},
			{30, func(f string) []string { return []string{"next", f + "&cursor=" + id(2) + "&limit=1"} }},
			{210, nil},
			{1000, nil},
		} {
			filter := manyIDs(c.ids)
			for _, method := range []string{"GET", "HEAD"} {
				got := s.do(method, "/users?"+filter+"&cursor="+id(1)+"&limit=1", "")
				what := fmt.Sprint(method, " by ", c.ids, " ids")
				if got.status != 200 {
					t.Errorf("%s: %d %s", what, got.status, got.body)
				}
				want := ""
				if c.links != nil {
					want = linkHeader("/users", c.links(filter)...)
				}
				if hasChanges := strings.Contains(got.header.Get("Link"), `rel="changes"`); hasChanges != (c.ids == 3) { // it is left out first
					t.Errorf("%s: a link to the changes: %t", what, hasChanges)
				}
				if link := got.otherLinks(t); link != want {
					t.Errorf("%s: got  %s\nwant %s", what, link, want)
				}
				if _, exists := got.header["Link"]; exists && want == "" {
					t.Errorf("%s: an empty Link header", what)
				}
				got.expectShortHeaders(t, what)
			}
		}
		// Without a link, a client goes on from the last id, which comes again.
		filter := manyIDs(1000)
		s.get("/users?"+filter+"&limit=20").expectPositions(t, "first page", from(0, 20)...)
		s.get("/users?"+filter+"&limit=21&cursor="+id(19)).expectPositions(t, "second page", from(19, 40)...)
	})
}

// Whatever a request holds, no header of its answer repeats more than 2 KiB of it.
func TestHeadersDoNotRepeatLongRequests(t *testing.T) {
	access := func(c *plural.Config) { c.AllowedOrigins = []string{"*"} }
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		long := strings.Repeat("x", 4000)
		notFound := fmt.Sprintf(`{"errors":[{"status":404,"code":"not_found","title":"Not found","detail":%q}]}`,
			"Paths have no trailing slash, and this request is too long to be redirected. Send it without the slash.")
		for _, c := range []struct {
			method, path string
			status       int
			body         string
			header       http.Header
		}{
			{"GET", "/users/?filter%5Bname%5D=" + long, 404, notFound, nil},
			{"POST", "/users/?" + long, 404, notFound, nil},
			{"GET", "/" + long + "/", 404, notFound, nil},
			{"GET", "/users/?filter%5Bname%5D=x", 308, "", http.Header{"Location": {"/users?filter%5Bname%5D=x"}}},
			{"GET", "/users?filter%5Bname%5D=" + long, 200, data(), nil},
			{"GET", "/users?" + long, 400, "", nil},
			{"GET", "/" + long, 404, "", nil},
			{"GET", "/user/" + id(0) + "?" + long, 400, "", nil},
			{"OPTIONS", "/users?" + long, 204, "", nil},
			{"POST", "/users?" + long, 415, "", nil},
		} {
			got := s.do(c.method, c.path, "", "Origin", "https://"+long+".example", "X-Request-Id", long, "Access-Control-Request-Method", long,
				"Access-Control-Request-Headers", long, "Prefer", "count="+long+", respond-async, wait="+strings.Repeat("9", 3000), "Idempotency-Key", long, "If-None-Match", `"`+long+`"`)
			what := c.method + " " + c.path[:min(len(c.path), 40)]
			if got.status != c.status || c.body != "" && got.body != c.body {
				t.Errorf("%s: %d %s", what, got.status, got.body)
			}
			for name, values := range c.header {
				if got.header.Get(name) != values[0] {
					t.Errorf("%s: %s is %s", what, name, got.header.Get(name))
				}
			}
			got.expectShortHeaders(t, what)
			if origin := got.header.Get("Access-Control-Allow-Origin"); origin != "*" {
				t.Errorf("%s: the allowed origin is %.80s", what, origin)
			}
		}
	}, access)
}
