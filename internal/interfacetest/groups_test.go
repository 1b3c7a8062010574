package interfacetest

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

const groupsFile = `
collections:
  teams:
    timestamps: false
    attributes: {name: {type: string}, budget: {type: integer}}
    label: name
  tasks:
    attributes:
      title: {type: string}
      state: {type: string, enum: [open, done, late]}
      team_id: {references: {collection: teams, on_delete: set_null}, inverse: tasks}
      urgent: {type: boolean}
      estimate: {type: integer}
      price: {type: string, format: decimal, scale: 2}
      ratio: {type: number}
      due: {type: string, format: date}
      started: {type: string, format: date-time}
      tags: {type: array, items: {type: string}}
    search: [title]
`

func groupsSchema(t testing.TB) *schema.Schema {
	t.Helper()
	file, err := schema.Parse([]byte(groupsFile))
	if err != nil {
		t.Fatal(err)
	}
	return file.Schema
}

// startTasks creates tasks at the positions from 0.
func startTasks(s *server) {
	s.t.Helper()
	s.createAll("/teams", `{"id":"`+id(100)+`","name":"Red","budget":9223372036854775807}`, `{"id":"`+id(101)+`","name":"Blue","budget":1}`)
	for i, task := range []string{
		`"title":"Paint the wall","state":"open","team_id":"` + id(100) + `","urgent":true,"estimate":3,"price":"10.10","ratio":0.5,"due":"2026-01-31","started":"2026-01-31T23:59:59.999Z"`,
		`"title":"Paint the door","state":"open","team_id":"` + id(101) + `","urgent":false,"estimate":4,"price":"-0.20","ratio":1.5,"due":"2026-02-01","started":"2026-02-01T01:30:00+01:00"`,
		`"title":"Mow","state":"done","team_id":"` + id(100) + `","urgent":true,"estimate":-1,"price":"5","due":"2025-12-31","started":"2026-02-01T00:45:00Z"`,
		`"title":"Paint the \"roof\"","state":"done","estimate":null,"price":null`,
		`"title":"Sweep","state":null,"urgent":null,"estimate":7,"price":"1.05","ratio":-2,"due":"2026-02-28","started":"2026-02-28T12:00:00Z"`,
	} {
		s.createAll("/tasks", fmt.Sprintf(`{"id":"%s",%s}`, id(i), task))
	}
}

// group is the representation of a group of a collection. Rest follows the count.
func group(collection, by string, count int, rest string) string {
	namespace, _ := model.ParseID("0c5e3a91-7d42-4f0b-b86a-1de49257cf38")
	return fmt.Sprintf(`{"id":"%s","type":"groups","by":%s,"count":%d%s}`, model.NamedID(namespace, []byte(collection+by)), by, count, rest)
}

func TestGroups(t *testing.T) {
	eachStore(t, groupsSchema(t), func(t *testing.T, s *server) {
		startTasks(s)
		one := func(by string, count int, rest string) string { return group("tasks", by, count, rest) }
		red, blue := `"`+id(100)+`"`, `"`+id(101)+`"`
		for query, want := range map[string][]string{
			"":                                    {one(`{}`, 5, ``)},
			"filter[state]=late":                  {one(`{}`, 0, ``)},
			"offset=1":                            {},
			"limit=0":                             {},
			"limit=-1":                            {one(`{}`, 5, ``)},
			"by=state":                            {one(`{"state":null}`, 1, ``), one(`{"state":"done"}`, 2, ``), one(`{"state":"open"}`, 2, ``)},
			"by=state&sort=-state":                {one(`{"state":"open"}`, 2, ``), one(`{"state":"done"}`, 2, ``), one(`{"state":null}`, 1, ``)},
			"by=state&sort=-count":                {one(`{"state":"done"}`, 2, ``), one(`{"state":"open"}`, 2, ``), one(`{"state":null}`, 1, ``)},
			"by=state&sort=count,-state":          {one(`{"state":null}`, 1, ``), one(`{"state":"open"}`, 2, ``), one(`{"state":"done"}`, 2, ``)},
			"by=state&limit=1":                    {one(`{"state":null}`, 1, ``)},
			"by=state&limit=-1":                   {one(`{"state":"open"}`, 2, ``)},
			"by=state&offset=1&limit=1":           {one(`{"state":"done"}`, 2, ``)},
			"by=state&o=2&l=-5":                   {one(`{"state":null}`, 1, ``), one(`{"state":"done"}`, 2, ``)},
			"by=state&offset=9":                   {},
			"by=state&filter[estimate][gt]=3":     {one(`{"state":null}`, 1, ``), one(`{"state":"open"}`, 1, ``)},
			"by=state&filter[state]=late":         {},
			"by=state&search=paint":               {one(`{"state":"done"}`, 1, ``), one(`{"state":"open"}`, 2, ``)},
			"by=state&filter[team.name]=Red":      {one(`{"state":"done"}`, 1, ``), one(`{"state":"open"}`, 1, ``)},
			"by=urgent":                           {one(`{"urgent":null}`, 2, ``), one(`{"urgent":false}`, 1, ``), one(`{"urgent":true}`, 2, ``)},
			"by=title&filter[state]=done":         {one(`{"title":"Mow"}`, 1, ``), one(`{"title":"Paint the \"roof\""}`, 1, ``)},
			"by=state,team_id&filter[state]=open": {one(`{"state":"open","team_id":`+red+`}`, 1, ``), one(`{"state":"open","team_id":`+blue+`}`, 1, ``)},
			"by=state&by=urgent&filter[state]":    {one(`{"state":"done","urgent":null}`, 1, ``), one(`{"state":"done","urgent":true}`, 1, ``), one(`{"state":"open","urgent":false}`, 1, ``), one(`{"state":"open","urgent":true}`, 1, ``)},
			"by=estimate&limit=2":                 {one(`{"estimate":null}`, 1, ``), one(`{"estimate":-1}`, 1, ``)},
			"by=price&limit=2":                    {one(`{"price":null}`, 1, ``), one(`{"price":"-0.20"}`, 1, ``)},
			"by=ratio&limit=2":                    {one(`{"ratio":null}`, 2, ``), one(`{"ratio":-2}`, 1, ``)},
			"by=id&limit=1":                       {one(`{"id":"`+id(0)+`"}`, 1, ``)},
			"by=due&limit=2":                      {one(`{"due":null}`, 1, ``), one(`{"due":"2025-12-31"}`, 1, ``)},
			"by=due:month":                        {one(`{"due:month":null}`, 1, ``), one(`{"due:month":"2025-12-01"}`, 1, ``), one(`{"due:month":"2026-01-01"}`, 1, ``), one(`{"due:month":"2026-02-01"}`, 2, ``)},
			"by=due:year&sort=-due:year&limit=1":  {one(`{"due:year":"2026-01-01"}`, 3, ``)},
			"by=started:year":                     {one(`{"started:year":null}`, 1, ``), one(`{"started:year":"2026-01-01T00:00:00.000Z"}`, 4, ``)},
			"by=started:month&filter[started]":    {one(`{"started:month":"2026-01-01T00:00:00.000Z"}`, 1, ``), one(`{"started:month":"2026-02-01T00:00:00.000Z"}`, 3, ``)},
			"by=started:day&filter[started]":      {one(`{"started:day":"2026-01-31T00:00:00.000Z"}`, 1, ``), one(`{"started:day":"2026-02-01T00:00:00.000Z"}`, 2, ``), one(`{"started:day":"2026-02-28T00:00:00.000Z"}`, 1, ``)},
			"by=started:hour,started:month&limit=2&offset=1": {
				one(`{"started:hour":"2026-01-31T23:00:00.000Z","started:month":"2026-01-01T00:00:00.000Z"}`, 1, ``),
				one(`{"started:hour":"2026-02-01T00:00:00.000Z","started:month":"2026-02-01T00:00:00.000Z"}`, 2, ``)},
			"sum=estimate,price,ratio": {one(`{}`, 5, `,"sum":{"estimate":13,"price":"15.95","ratio":0}`)},
			"avg=estimate,price&sum=ratio&sum=estimate&min=title&max=title,due": {one(`{}`, 5,
				`,"sum":{"ratio":0,"estimate":13},"avg":{"estimate":3.25,"price":3.9875},"min":{"title":"Mow"},"max":{"title":"Sweep","due":"2026-02-28"}`)},
			"min=estimate,price,ratio,started&max=estimate,price,ratio,started": {one(`{}`, 5,
				`,"min":{"estimate":-1,"price":"-0.20","ratio":-2,"started":"2026-01-31T23:59:59.999Z"},"max":{"estimate":7,"price":"10.10","ratio":1.5,"started":"2026-02-28T12:00:00.000Z"}`)},
			"sum=estimate,price,ratio&avg=estimate,price,ratio&min=estimate,due&filter[state]=late": {one(`{}`, 0,
				`,"sum":{"estimate":0,"price":"0.00","ratio":0},"avg":{"estimate":null,"price":null,"ratio":null},"min":{"estimate":null,"due":null}`)},
			"by=state&avg=ratio&sum=price": {one(`{"state":null}`, 1, `,"sum":{"price":"1.05"},"avg":{"ratio":-2}`),
				one(`{"state":"done"}`, 2, `,"sum":{"price":"5.00"},"avg":{"ratio":null}`), one(`{"state":"open"}`, 2, `,"sum":{"price":"9.90"},"avg":{"ratio":1}`)},
		} {
			t.Run(query, func(t *testing.T) { s.get("/-/groups/tasks?"+query).expect(t, 200, data(want...)) })
		}
		s.get("/-/groups/teams?avg=budget").expect(t, 200, data(group("teams", "{}", 2, `,"avg":{"budget":4611686018427388000}`)))
		s.get("/-/groups/operations?by=status").expect(t, 200, data())
	})
}

// TestGroupsHeaders: links by offset, totals on request.
func TestGroupsHeaders(t *testing.T) {
	eachStore(t, groupsSchema(t), func(t *testing.T, s *server) {
		startTasks(s)
		link := func(query, rel string) string { return `</-/groups/tasks?` + query + `>; rel="` + rel + `"` }
		for query, want := range map[string][]string{
			"by=state&limit=1":           {link("by=state&limit=1", "first"), link("by=state&offset=1&limit=1", "next"), link("by=state&limit=-1", "last")},
			"by=state&offset=1&limit=1":  {link("by=state&limit=1", "first"), link("by=state&offset=1&limit=-1", "prev"), link("by=state&offset=2&limit=1", "next"), link("by=state&limit=-1", "last")},
			"by=state&limit=-1":          {link("by=state&limit=1", "first"), link("by=state&offset=2&limit=-1", "prev"), link("by=state&limit=-1", "last")},
			"by=state&offset=9&limit=2":  {link("by=state&limit=2", "first"), link("by=state&offset=3&limit=-2", "prev"), link("by=state&limit=-2", "last")},
			"by=state&offset=0&limit=-2": {link("by=state&limit=2", "first"), link("by=state&offset=0&limit=2", "next"), link("by=state&limit=-2", "last")},
			"by=state&limit=0":           nil,
			"sort=-count&by=state&sum=price&filter[state]=open&search=paint": {
				link("sort=-count&by=state&sum=price&filter%5Bstate%5D=open&search=paint&limit=100", "first"),
				link("sort=-count&by=state&sum=price&filter%5Bstate%5D=open&search=paint&limit=-100", "last")},
			"by=state&offset=99999999999999999999&limit=2": {link("by=state&limit=2", "first"), link("by=state&offset=3&limit=-2", "prev"), link("by=state&limit=-2", "last")},
		} {
			answer := s.get("/-/groups/tasks?" + query)
			if got := answer.header.Get("Link"); answer.status != 200 || got != strings.Join(want, ", ") {
				t.Errorf("%s: %d\ngot  %s\nwant %s", query, answer.status, got, strings.Join(want, ", "))
			}
			if got := answer.header.Get("X-Total-Count"); got != "" {
				t.Errorf("%s: X-Total-Count is %s", query, got)
			}
		}
		for query, want := range map[string]string{"by=state": "3", "by=state&limit=1&offset=2": "3", "": "1", "filter[state]=late": "1", "by=state&filter[state]=late": "0"} {
			answer := s.do("GET", "/-/groups/tasks?"+query, "", "Prefer", "count=exact")
			if got := answer.header.Get("X-Total-Count"); answer.status != 200 || got != want || answer.header.Get("Preference-Applied") != "count=exact" {
				t.Errorf("%s: %d, X-Total-Count is %q, want %s", query, answer.status, got, want)
			}
		}
		head := s.do("HEAD", "/-/groups/tasks?by=state", "")
		if head.status != 200 || head.body != "" {
			t.Errorf("HEAD: %d %s", head.status, head.body)
		}
		if options := s.do("OPTIONS", "/-/groups/tasks", ""); options.status != 204 || options.header.Get("Allow") != "GET, HEAD, QUERY, OPTIONS" {
			t.Errorf("OPTIONS: %d %v", options.status, options.header)
		}
		s.do("POST", "/-/groups/tasks", "{}").expectErrors(t, 405, "method_not_allowed")
		if slash := s.do("GET", "/-/groups/tasks/", ""); slash.status != 308 || slash.header.Get("Location") != "/-/groups/tasks" {
			t.Errorf("a trailing slash: %d %v", slash.status, slash.header)
		}
	})
}

func TestGroupsRefusals(t *testing.T) {
	eachStore(t, groupsSchema(t), func(t *testing.T, s *server) {
		startTasks(s)
		for query, want := range map[string]string{
			"by=":                   "invalid_parameter by",
			"by":                    "invalid_parameter by",
			"sum=":                  "invalid_parameter sum",
			"by=nope":               "invalid_parameter by",
			"by=type":               "invalid_parameter by",
			"by=tags":               "invalid_parameter by",
			"by=state,state":        "invalid_parameter by",
			"by=state:month":        "invalid_parameter by",
			"by=started:fortnight":  "invalid_parameter by",
			"by=started:":           "invalid_parameter by",
			"by=due:hour":           "invalid_parameter by",
			"by=due:day":            "invalid_parameter by",
			"sum=title":             "invalid_parameter sum",
			"sum=due":               "invalid_parameter sum",
			"avg=urgent":            "invalid_parameter avg",
			"min=urgent":            "invalid_parameter min",
			"max=team_id":           "invalid_parameter max",
			"max=tags":              "invalid_parameter max",
			"sum=estimate,estimate": "invalid_parameter sum",
			"by=state&sort=title":   "invalid_parameter sort",
			"sort=state":            "invalid_parameter sort",
			"sort=count,-count":     "invalid_parameter sort",
			"sort=":                 "invalid_parameter sort",
			"cursor=" + id(0):       "unknown_parameter cursor",
			"since=x":               "unknown_parameter since",
			"limit=x":               "invalid_parameter limit",
			"offset=-1":             "invalid_parameter offset",
			"offset=1&o=2":          "duplicate_parameter o",
			"group=state":           "unknown_parameter group",
			"fields=title":          "unknown_parameter fields",
			"dry_run=true":          "unknown_parameter dry_run",
			"filter[nope]=1":        "unknown_parameter filter[nope]",
		} {
			s.expectRefusal(t, "GET", "/-/groups/tasks?"+query, "", 400, want)
		}
		s.expectRefusal(t, "GET", "/-/groups/tusks", "", 404, "not_found")
		s.expectRefusal(t, "GET", "/-/groups/changes", "", 404, "not_found")
		s.expectRefusal(t, "GET", "/-/groups", "", 404, "not_found")
		s.expectRefusal(t, "GET", "/-/groups/tasks/x", "", 404, "not_found")
		// Limits, from both sides.
		by := "id,title,state,team_id,urgent,estimate,price,ratio"
		if got := s.get("/-/groups/tasks?by=" + by); got.status != 200 {
			t.Errorf("8 keys: %d %s", got.status, got.body)
		}
		s.expectRefusal(t, "GET", "/-/groups/tasks?by="+by+",due", "", 400, "too_many_values by")
		values := "sum=estimate,price,ratio&avg=estimate,price,ratio&min=estimate,price,ratio,due,started&max=estimate,price,ratio,due,started"
		if got := s.get("/-/groups/tasks?" + values); got.status != 200 {
			t.Errorf("16 values: %d %s", got.status, got.body)
		}
		s.expectRefusal(t, "GET", "/-/groups/tasks?"+values+",title", "", 400, "too_many_values max")
	})
}

// TestGroupsOutOfRange: a sum is exact, or an error, at both ends of its range.
func TestGroupsOutOfRange(t *testing.T) {
	eachStore(t, groupsSchema(t), func(t *testing.T, s *server) {
		const most, least = "9223372036854775807", "-9223372036854775808"
		const digits = "9999999999999999.99"
		add := func(title, rest string) { s.createAll("/tasks", `{"title":"`+title+`",`+rest+`}`) }
		for _, n := range []string{most, most, least, "1"} { // exceeds 64 bits on its way
			add("within", `"estimate":`+n)
		}
		for _, n := range []string{most, "1"} {
			add("above", `"estimate":`+n)
		}
		for _, n := range []string{least, "-1"} {
			add("below", `"estimate":`+n)
		}
		add("largest", `"price":"`+digits+`"`)
		for _, price := range []string{digits, "0.01"} {
			add("too large", `"price":"`+price+`"`)
		}
		for _, ratio := range []string{"1.7e308", "1.7e308"} {
			add("infinite", `"ratio":`+ratio)
		}
		get := func(title, query string) answer {
			return s.get("/-/groups/tasks?filter[title]=" + url.QueryEscape(title) + "&" + query)
		}
		get("within", "sum=estimate").expect(t, 200, data(group("tasks", "{}", 4, `,"sum":{"estimate":`+most+`}`)))
		get("largest", "sum=price").expect(t, 200, data(group("tasks", "{}", 1, `,"sum":{"price":"`+digits+`"}`)))
		get("above", "avg=estimate").expect(t, 200, data(group("tasks", "{}", 2, `,"avg":{"estimate":4611686018427388000}`)))
		get("too large", "avg=price").expect(t, 200, data(group("tasks", "{}", 2, `,"avg":{"price":5000000000000000}`)))
		for query, titles := range map[string][]string{"sum=estimate": {"above", "below"}, "sum=price": {"too large"}, "sum=ratio": {"infinite"}, "avg=ratio": {"infinite"}} {
			for _, title := range titles {
				get(title, query).expectErrors(t, 400, "out_of_range "+query[:3])
				// Whatever the group: only those of the range count.
				s.get("/-/groups/tasks?by=title&"+query).expectErrors(t, 400, "out_of_range "+query[:3])
			}
		}
		s.get("/-/groups/tasks?by=title&limit=1&offset=3&sum=price").expect(t, 200, data(group("tasks", `{"title":"largest"}`, 1, `,"sum":{"price":"`+digits+`"}`)))
	})
}

// TestSumsOutOfRange: which of several sums is named is the same on each database: that of the first group, and the
// first that is shown there. A group outside the range does not count.
func TestSumsOutOfRange(t *testing.T) {
	eachStore(t, groupsSchema(t), func(t *testing.T, s *server) {
		for _, task := range []string{
			`"title":"a","ratio":1.7e308`, `"title":"a","ratio":-1.7e308`, `"title":"a","ratio":1.5e308`,
			`"title":"b","ratio":1e308,"estimate":9223372036854775807`, `"title":"b","ratio":1e308,"estimate":1`,
			`"title":"c","ratio":1e308,"price":"9999999999999999.99"`, `"title":"c","ratio":1e308,"price":"0.01"`,
			`"title":"d","ratio":5e-324`, `"title":"d","ratio":5e-324`,
		} {
			s.createAll("/tasks", "{"+task+"}")
		}
		named := func(field, kind string) string {
			return "The sum of the field \"" + field + "\" does not fit into " + kind + " for some group. Filter, or group by more fields, so that the groups are smaller."
		}
		for query, want := range map[string]string{
			"sum=ratio,estimate":          named("ratio", "a double"),
			"sum=estimate,ratio":          named("estimate", "64 bits"),
			"avg=ratio&sum=estimate":      named("estimate", "64 bits"),
			"sum=price,ratio&offset=2":    named("price", "18 digits"),
			"sum=price,ratio":             named("ratio", "a double"),
			"sum=price&sort=-title":       named("price", "18 digits"),
			"sum=ratio,price&sort=-title": named("ratio", "a double"),
		} {
			got := s.get("/-/groups/tasks?by=title&" + query)
			if got.expectErrors(t, 400, "out_of_range sum"); !slices.Equal(got.details(t), []string{want}) {
				t.Errorf("%s\ngot  %q\nwant %q", query, got.details(t), want)
			}
		}
		s.get("/-/groups/tasks?by=title&sum=ratio&avg=ratio&limit=1").expect(t, 200, data(group("tasks", `{"title":"a"}`, 3, `,"sum":{"ratio":1.5e+308},"avg":{"ratio":5e+307}`)))
		s.get("/-/groups/tasks?by=title&sum=ratio&limit=-1").expect(t, 200, data(group("tasks", `{"title":"d"}`, 2, `,"sum":{"ratio":1e-323}`)))
	})
}

// TestLongGroups: a response of many pieces. A value that is out of range in the last group is an error
// of the whole response.
func TestLongGroups(t *testing.T) {
	eachStore(t, groupsSchema(t), func(t *testing.T, s *server) {
		var want []string
		long := strings.Repeat("x", 300)
		for start := 0; start < 400; start += 100 {
			var bodies []string
			for i := start; i < start+100; i++ {
				bodies = append(bodies, fmt.Sprintf(`{"title":"%03d%s","estimate":%d}`, i, long, i))
				want = append(want, group("tasks", fmt.Sprintf(`{"title":"%03d%s"}`, i, long), 1, fmt.Sprintf(`,"sum":{"estimate":%d}`, i)))
			}
			s.createAll("/tasks", bodies...)
		}
		all := s.get("/-/groups/tasks?by=title&sum=estimate&limit=400")
		all.expect(t, 200, data(want...))
		if got := all.header.Get("Link"); strings.Contains(got, "next") || strings.Contains(got, "prev") {
			t.Error("of all groups:", got)
		}
		some := s.get("/-/groups/tasks?by=title&sum=estimate&offset=10&limit=380")
		some.expect(t, 200, data(want[10:390]...))
		if got := some.header.Get("Link"); !strings.Contains(got, "offset=390&limit=380>; rel=\"next\"") || !strings.Contains(got, "offset=10&limit=-380>; rel=\"prev\"") {
			t.Error("of some groups:", got)
		}
		s.createAll("/tasks", `{"title":"999","estimate":9223372036854775807}`, `{"title":"999","estimate":1}`)
		for _, method := range []string{"GET", "HEAD"} {
			if got := s.do(method, "/-/groups/tasks?by=title&sum=estimate&limit=500", ""); got.status != 400 {
				t.Errorf("%s: %d %.200s", method, got.status, got.body)
			}
		}
		s.get("/-/groups/tasks?by=title&sum=estimate&limit=400").expect(t, 200, data(want...))
	})
}

// TestGroupsHaveNoStream: a client that accepts only event streams is told so, as elsewhere.
func TestGroupsHaveNoStream(t *testing.T) {
	eachStore(t, groupsSchema(t), func(t *testing.T, s *server) {
		for _, accept := range []string{"text/event-stream", "text/html"} {
			s.do("GET", "/-/groups/tasks", "", "Accept", accept).expectErrors(t, 406, "not_acceptable Accept")
		}
		s.do("GET", "/-/groups/tasks", "", "Accept", "text/event-stream, application/json;q=0.5").expect(t, 200, data(group("tasks", "{}", 0, "")))
	})
}

// TestIncludeTwice: a relation is given once, as a field is. A path through it may come in addition.
func TestIncludeTwice(t *testing.T) {
	eachStore(t, groupsSchema(t), func(t *testing.T, s *server) {
		for _, query := range []string{"include=team,team", "include=team&include=team", "include=team,team.tasks,team.tasks"} {
			s.get("/tasks?"+query).expectErrors(t, 400, "invalid_parameter include")
		}
		for _, query := range []string{"include=team,team.tasks", "include=team.tasks,team", "include=team&include=team.tasks"} {
			s.get("/tasks?"+query).expect(t, 200, data())
		}
	})
}
