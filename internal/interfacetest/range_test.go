package interfacetest

import (
	"fmt"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// TestRanges asks for ranges of every sign and size, and expects of each what
// the one rule says: the positions between offset and offset+limit that exist.
func TestRanges(t *testing.T) {
	const total = 12
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, total)
		for _, offset := range []int{0, 1, 5, 11, 12, 13, 100} {
			for _, limit := range []int{0, 1, -1, 3, -3, 11, 12, 13, -11, -12, -13, 100, -100} {
				start, end := min(offset, offset+limit), max(offset, offset+limit)
				query := fmt.Sprintf("offset=%d&limit=%d", offset, limit)
				want := from(max(start, 0), min(end, total))
				got := s.get("/users?" + query)
				got.expectPositions(t, query, want...)
				if got.total() != "12" {
					t.Errorf("%s: the total is %s", query, got.total())
				}
				// The same range among the active users, every second one.
				active := []int{}
				for i := max(start, 0); i < min(end, total/2); i++ {
					active = append(active, 2*i)
				}
				s.get("/users?filter[active]&"+query).expectPositions(t, query+" of the active", active...)
			}
		}
		for query, want := range map[string][]int{
			"":                                 from(0, 12),
			"limit=5":                          from(0, 5),
			"limit=-5":                         from(7, 12),
			"limit=-12":                        from(0, 12),
			"limit=-99":                        from(0, 12),
			"limit=0":                          {},
			"limit=-0":                         {},
			"l=007":                            from(0, 7),
			"o=3":                              from(3, 12),
			"o=00":                             from(0, 12),
			"offset=-0":                        from(0, 12),
			"limit=-2&filter[active]":          {8, 10},
			"limit=-2&sort=-id":                {1, 0},
			"limit=2&sort=-id":                 {11, 10},
			"limit=-2&filter[active]&sort=-id": {2, 0},
			"&limit=1&":                        {0},
		} {
			s.get("/users?"+query).expectPositions(t, query, want...)
		}
	})
}

// TestRangesBeyondInt64: numbers of any size are understood.
func TestRangesBeyondInt64(t *testing.T) {
	const max, beyond = "9223372036854775807", "99999999999999999999999999"
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 5)
		for _, huge := range []string{max, "9223372036854775808", beyond} {
			for query, want := range map[string][]int{
				"limit=" + huge:                                     from(0, 5),
				"limit=-" + huge:                                    from(0, 5),
				"offset=2&limit=" + huge:                            from(2, 5),
				"offset=2&limit=-" + huge:                           from(0, 2),
				"offset=" + huge:                                    {},
				"offset=" + huge + "&limit=" + huge:                 {},
				"offset=" + huge + "&limit=-1":                      {},
				"offset=" + huge + "&limit=-" + huge:                from(0, 5),
				"cursor=" + id(2) + "&limit=" + huge:                from(2, 5),
				"cursor=" + id(2) + "&limit=-" + huge:               from(0, 2),
				"filter[active]&limit=" + huge:                      {0, 2, 4},
				"filter[active]&limit=-" + huge:                     {0, 2, 4},
				"filter[active]&offset=1&limit=" + huge:             {2, 4},
				"filter[active]&offset=1&limit=-" + huge:            {0},
				"filter[active]&offset=" + huge:                     {},
				"sort=-id&limit=-" + huge:                           {4, 3, 2, 1, 0},
				"sort=-id&offset=1&limit=" + huge:                   {3, 2, 1, 0},
				"filter[active]&offset=" + huge + "&limit=-" + huge: {0, 2, 4},
			} {
				s.get("/users?"+query).expectPositions(t, query, want...)
			}
		}
	})
}

func TestRangeRefusals(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		for query, want := range map[string][]string{
			"limit=":                               {"invalid_parameter limit"},
			"limit":                                {"invalid_parameter limit"},
			"l=x":                                  {"invalid_parameter l"},
			"limit=1.0":                            {"invalid_parameter limit"},
			"limit=1e3":                            {"invalid_parameter limit"},
			"limit=%2B1":                           {"invalid_parameter limit"},
			"limit=+1":                             {"invalid_parameter limit"},
			"limit=--1":                            {"invalid_parameter limit"},
			"limit=-":                              {"invalid_parameter limit"},
			"limit=1%20":                           {"invalid_parameter limit"},
			"limit=0x10":                           {"invalid_parameter limit"},
			"limit=1_000":                          {"invalid_parameter limit"},
			"limit=%D9%A3":                         {"invalid_parameter limit"}, // an Arabic digit
			"offset=-1":                            {"invalid_parameter offset"},
			"o=-99999999999999999999":              {"invalid_parameter o"},
			"o=":                                   {"invalid_parameter o"},
			"o=x&l=y":                              {"invalid_parameter o", "invalid_parameter l"},
			"cursor=":                              {"invalid_parameter cursor"},
			"cursor=7":                             {"invalid_parameter cursor"},
			"cursor={" + id(0) + "}":               {"invalid_parameter cursor"},
			"cursor=" + id(9):                      {"unknown_cursor cursor"},
			"cursor=" + id(0) + "&offset=0":        {"conflicting_range cursor"},
			"o=0&cursor=" + id(0):                  {"conflicting_range cursor"},
			"limit=1&limit=1":                      {"duplicate_parameter limit"},
			"limit=1&l=1":                          {"duplicate_parameter l"},
			"o=1&offset=1":                         {"duplicate_parameter offset"},
			"cursor=" + id(0) + "&cursor=" + id(0): {"duplicate_parameter cursor"},
			"sort=id&sort=id":                      {"invalid_parameter sort"},
			"Limit=1":                              {"unknown_parameter Limit"},
			"page=2&nope&l=x":                      {"unknown_parameter page", "unknown_parameter nope", "invalid_parameter l"},
		} {
			s.expectRefusal(t, "GET", "/users?"+query, "", 400, want...)
		}
	})
}

// TestConfiguredLimits: the default, and a maximum that is said and never
// silently applied.
func TestConfiguredLimits(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 10)
		s.get("/users").expectPositions(t, "default", 0, 1, 2)
		s.get("/users?offset=8").expectPositions(t, "default from 8", 8, 9)
		s.get("/users?cursor="+id(4)).expectPositions(t, "default at a cursor", 4, 5, 6)
		s.get("/users?limit=5").expectPositions(t, "at the maximum", from(0, 5)...)
		s.get("/users?limit=-5").expectPositions(t, "at the maximum, backwards", from(5, 10)...)
		for _, refused := range []string{"limit=6", "limit=-6", "limit=99999999999999999999", "limit=-99999999999999999999"} {
			s.expectRefusal(t, "GET", "/users?"+refused, "", 400, "limit_too_large limit")
		}
		s.expectRefusal(t, "GET", "/users?l=6", "", 400, "limit_too_large l")
	}, func(c *plural.Config) { c.DefaultLimit, c.MaxLimit = 3, 5 })
}

// TestDefaultLimit is 100.
func TestDefaultLimit(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 101)
		s.get("/users").expectPositions(t, "default", from(0, 100)...)
		s.get("/users?limit=101").expectPositions(t, "more", from(0, 101)...)
	})
}
