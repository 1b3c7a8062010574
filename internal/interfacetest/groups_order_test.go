package interfacetest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/plural-go/plural/schema"
)

// TestGroupsOrder: groups are sorted and kept by what is computed of them, and made by weeks and quarters.
func TestGroupsOrder(t *testing.T) {
	eachStore(t, groupsSchema(t), func(t *testing.T, s *server) {
		startTasks(s)
		one := func(by string, count int, rest string) string { return group("tasks", by, count, rest) }
		none := one(`{"state":null}`, 1, `,"sum":{"price":"1.05"}`)
		done := one(`{"state":"done"}`, 2, `,"sum":{"price":"5.00"}`)
		open := one(`{"state":"open"}`, 2, `,"sum":{"price":"9.90"}`)
		average := func(state string, count int, avg string) string {
			return one(`{"state":`+state+`}`, count, `,"avg":{"estimate":`+avg+`}`)
		}
		for query, want := range map[string][]string{
			"by=state&sum=price&sort=-sum.price":                               {open, done, none},
			"by=state&sum=price&sort=sum.price":                                {none, done, open},
			"by=state&sum=price&sort=-sum.price&limit=1":                       {open},
			"by=state&sum=price&sort=-sum.price&offset=1&limit=1":              {done},
			"by=state&sum=price&sort=-sum.price&limit=-1":                      {none},
			"by=state&sum=price&sort=-count,-sum.price":                        {open, done, none},
			"by=state&sum=price&having[sum.price][gte]=5":                      {done, open},
			"by=state&sum=price&having[sum.price][gt]=5.00":                    {open},
			"by=state&sum=price&having[sum.price][lt]=5":                       {none},
			"by=state&sum=price&having[sum.price][lte]=5":                      {none, done},
			"by=state&sum=price&having[sum.price]=5":                           {done},
			"by=state&sum=price&having[sum.price][eq]=5":                       {done},
			"by=state&sum=price&having[sum.price][ne]=5":                       {none, open},
			"by=state&sum=price&having[count][gte]=2":                          {done, open},
			"by=state&sum=price&having[count][gte]=2&having[sum.price][gt]=5":  {open},
			"by=state&sum=price&having[count][gte]=2&sort=-sum.price&offset=1": {done},
			"by=state&sum=price&having[count][gte]=2&limit=-1":                 {open},
			"by=state&sum=price&having[count][gt]=2":                           {},
			"sum=price&having[count][gte]=2":                                   {one(`{}`, 5, `,"sum":{"price":"15.95"}`)},
			"sum=price&having[count][lt]=2":                                    {},
			"sum=price&sort=sum.price":                                         {one(`{}`, 5, `,"sum":{"price":"15.95"}`)},
			"by=state&avg=estimate&sort=-avg.estimate":                         {average("null", 1, "7"), average(`"open"`, 2, "3.5"), average(`"done"`, 2, "-1")},
			"by=state&avg=estimate&having[avg.estimate][gte]=3.5":              {average("null", 1, "7"), average(`"open"`, 2, "3.5")},
			"by=state&avg=estimate&having[avg.estimate]=3.5":                   {average(`"open"`, 2, "3.5")},
			"by=state&min=ratio&sort=-min.ratio":                               {one(`{"state":"open"}`, 2, `,"min":{"ratio":0.5}`), one(`{"state":null}`, 1, `,"min":{"ratio":-2}`), one(`{"state":"done"}`, 2, `,"min":{"ratio":null}`)},
			"by=state&min=ratio&having[min.ratio][ne]=-2":                      {one(`{"state":"done"}`, 2, `,"min":{"ratio":null}`), one(`{"state":"open"}`, 2, `,"min":{"ratio":0.5}`)},
			"by=state&max=title&sort=-max.title&having[max.title][lt]=Q":       {one(`{"state":"open"}`, 2, `,"max":{"title":"Paint the wall"}`), one(`{"state":"done"}`, 2, `,"max":{"title":"Paint the \"roof\""}`)},
			"by=state&sum=ratio&sort=sum.ratio&having[sum.ratio][gt]=-3":       {one(`{"state":null}`, 1, `,"sum":{"ratio":-2}`), one(`{"state":"done"}`, 2, `,"sum":{"ratio":0}`), one(`{"state":"open"}`, 2, `,"sum":{"ratio":2}`)},
			"by=state&avg=ratio&sort=-avg.ratio":                               {one(`{"state":"open"}`, 2, `,"avg":{"ratio":1}`), one(`{"state":null}`, 1, `,"avg":{"ratio":-2}`), one(`{"state":"done"}`, 2, `,"avg":{"ratio":null}`)},
			"distinct=team_id,urgent,title&sum=estimate":                       {one(`{}`, 5, `,"sum":{"estimate":13},"distinct":{"team_id":2,"urgent":2,"title":5}`)},
			"by=state&distinct=team_id&sort=distinct.team_id":                  {one(`{"state":null}`, 1, `,"distinct":{"team_id":0}`), one(`{"state":"done"}`, 2, `,"distinct":{"team_id":1}`), one(`{"state":"open"}`, 2, `,"distinct":{"team_id":2}`)},
			"by=state&distinct=team_id&having[distinct.team_id][gt]=1":         {one(`{"state":"open"}`, 2, `,"distinct":{"team_id":2}`)},
			"by=due:quarter":                     {one(`{"due:quarter":null}`, 1, ``), one(`{"due:quarter":"2025-10-01"}`, 1, ``), one(`{"due:quarter":"2026-01-01"}`, 3, ``)},
			"by=due:week":                        {one(`{"due:week":null}`, 1, ``), one(`{"due:week":"2025-12-29"}`, 1, ``), one(`{"due:week":"2026-01-26"}`, 2, ``), one(`{"due:week":"2026-02-23"}`, 1, ``)},
			"by=started:quarter&filter[started]": {one(`{"started:quarter":"2026-01-01T00:00:00.000Z"}`, 4, ``)},
			"by=started:week&filter[started]&sort=-started:week": {one(`{"started:week":"2026-02-23T00:00:00.000Z"}`, 1, ``), one(`{"started:week":"2026-01-26T00:00:00.000Z"}`, 3, ``)},
			"by=team.name": {one(`{"team.name":null}`, 2, ``), one(`{"team.name":"Blue"}`, 1, ``), one(`{"team.name":"Red"}`, 2, ``)},
			"by=team.name,due:month&sort=-team.name&limit=2":                         {one(`{"team.name":"Red","due:month":"2025-12-01"}`, 1, ``), one(`{"team.name":"Red","due:month":"2026-01-01"}`, 1, ``)},
			"by=team.name&sum=price&sort=-sum.price":                                 {one(`{"team.name":"Red"}`, 2, `,"sum":{"price":"15.10"}`), one(`{"team.name":null}`, 2, `,"sum":{"price":"1.05"}`), one(`{"team.name":"Blue"}`, 1, `,"sum":{"price":"-0.20"}`)},
			"by=team.name&filter[team.budget]=1":                                     {one(`{"team.name":"Blue"}`, 1, ``)},
			"by=team.budget&limit=-1":                                                {one(`{"team.budget":9223372036854775807}`, 2, ``)},
			"by=state&sum=price&sort=-sum.price&limit=0":                             {},
			"by=state&sum=price&sort=-sum.price&filter[team.name]=Red&search=paint":  {one(`{"state":"open"}`, 1, `,"sum":{"price":"10.10"}`)},
			"by=team_id&having[count][gt]=1&sort=-team_id&filter[team.name]=Red":     {one(`{"team_id":"`+id(100)+`"}`, 2, ``)},
			"by=team_id&having[count]=2&having[count][lt]=9223372036854775807&l=-1":  {one(`{"team_id":"`+id(100)+`"}`, 2, ``)},
			"by=urgent&distinct=state&having[distinct.state]=1&having[count][lte]=1": {one(`{"urgent":false}`, 1, `,"distinct":{"state":1}`)},
		} {
			t.Run(query, func(t *testing.T) { s.get("/-/groups/tasks?"+query).expect(t, 200, data(want...)) })
		}
		for query, want := range map[string]string{"by=state&having[count][gte]=2": "2", "having[count]=5": "1", "having[count]=4": "0", "by=state&sum=price&sort=-sum.price&limit=1": "3", "by=team.name&limit=1": "3"} {
			answer := s.do("GET", "/-/groups/tasks?"+query, "", "Prefer", "count=exact")
			if got := answer.header.Get("X-Total-Count"); answer.status != 200 || got != want {
				t.Errorf("%s: %d, X-Total-Count is %q, want %s", query, answer.status, got, want)
			}
		}
		answer := s.get("/-/groups/tasks?by=team_id&sum=price&sort=-sum.price&having[count][gte]=1&include=team&limit=1")
		parameters := "by=team_id&sum=price&sort=-sum.price&having%5Bcount%5D%5Bgte%5D=1&include=team&"
		if got, want := answer.header.Get("Link"), `</-/groups/tasks?`+parameters+`limit=1>; rel="first", </-/groups/tasks?`+parameters+`offset=1&limit=1>; rel="next", </-/groups/tasks?`+parameters+`limit=-1>; rel="last"`; got != want {
			t.Errorf("Link\ngot  %s\nwant %s", got, want)
		}
	})
}

// TestGroupsInclude: a group by a reference has the resource that is referred to.
func TestGroupsInclude(t *testing.T) {
	eachStore(t, groupsSchema(t), func(t *testing.T, s *server) {
		startTasks(s)
		team := func(i int, name, budget string) string {
			return fmt.Sprintf(`{"id":"%s","type":"teams","name":"%s","budget":%s}`, id(i), name, budget)
		}
		one := func(team string, count int, rest string) string {
			return group("tasks", `{"team_id":`+team+`}`, count, rest)
		}
		red, blue := `"`+id(100)+`"`, `"`+id(101)+`"`
		for query, want := range map[string][]string{
			"by=team_id&include=team":                                     {one("null", 2, `,"team":null`), one(red, 2, `,"team":`+team(100, "Red", "9223372036854775807")), one(blue, 1, `,"team":`+team(101, "Blue", "1"))},
			"include=team&by=team_id&limit=-1":                            {one(blue, 1, `,"team":`+team(101, "Blue", "1"))},
			"by=team_id&include=team&fields[team]=name&sort=-team_id&l=1": {one(blue, 1, `,"team":{"id":`+blue+`,"type":"teams","name":"Blue"}`)},
			"by=team_id&max=price&sort=-max.price&limit=1&include=team":   {one(red, 2, `,"max":{"price":"10.10"},"team":`+team(100, "Red", "9223372036854775807"))},
			"by=team_id&include=team,team.tasks&include[team.tasks][limit]=1&fields[team.tasks]=title&having[count]=1": {
				one(blue, 1, `,"team":`+strings.TrimSuffix(team(101, "Blue", "1"), "}")+`,"tasks":[{"id":"`+id(1)+`","type":"tasks","title":"Paint the door"}]}`)},
		} {
			t.Run(query, func(t *testing.T) { s.get("/-/groups/tasks?"+query).expect(t, 200, data(want...)) })
		}
		if head := s.do("HEAD", "/-/groups/tasks?by=team_id&include=team", ""); head.status != 200 || head.body != "" {
			t.Errorf("HEAD: %d %s", head.status, head.body)
		}
	})
}

// TestManyGroupsInclude: more groups than are read together, in a response of many pieces, each with its resource.
func TestManyGroupsInclude(t *testing.T) {
	eachStore(t, groupsSchema(t), func(t *testing.T, s *server) {
		var want []string
		for start := 0; start < 1200; start += 600 {
			var teams, tasks []string
			for i := start; i < start+600; i++ {
				name := fmt.Sprintf("%d %s", i, strings.Repeat("x", 50))
				teams = append(teams, fmt.Sprintf(`{"id":"%s","name":"%s"}`, id(1000+i), name))
				tasks = append(tasks, fmt.Sprintf(`{"team_id":"%s"}`, id(1000+i)))
				want = append(want, group("tasks", `{"team_id":"`+id(1000+i)+`"}`, 1, fmt.Sprintf(`,"team":{"id":"%s","type":"teams","name":"%s"}`, id(1000+i), name)))
			}
			s.createAll("/teams", teams...)
			s.createAll("/tasks", tasks...)
		}
		s.get("/-/groups/tasks?by=team_id&include=team&fields[team]=name&limit=5000").expect(t, 200, data(want...))
		s.get("/-/groups/tasks?by=team_id&include=team&fields[team]=name&offset=3&limit=1100&having[count]=1").expect(t, 200, data(want[3:1103]...))
	})
}

func TestGroupsOrderRefusals(t *testing.T) {
	eachStore(t, groupsSchema(t), func(t *testing.T, s *server) {
		startTasks(s)
		for query, want := range map[string]string{
			"by=state&sort=sum.price":                            "invalid_parameter sort",
			"by=state&sum=price&sort=sum.estimate":               "invalid_parameter sort",
			"by=state&sum=price&sort=sum":                        "invalid_parameter sort",
			"sum=price&sort=sum.price,-sum.price":                "invalid_parameter sort",
			"distinct=":                                          "invalid_parameter distinct",
			"distinct=tags":                                      "invalid_parameter distinct",
			"distinct=type":                                      "invalid_parameter distinct",
			"distinct=team.name":                                 "invalid_parameter distinct",
			"distinct=title,title":                               "invalid_parameter distinct",
			"by=team":                                            "invalid_parameter by",
			"by=team.nope":                                       "invalid_parameter by",
			"by=team.type":                                       "invalid_parameter by",
			"by=team.tasks.title":                                "invalid_parameter by",
			"by=team.name:month":                                 "invalid_parameter by",
			"by=team.name,team.name":                             "invalid_parameter by",
			"by=count.tasks":                                     "invalid_parameter by",
			"by=due:day":                                         "invalid_parameter by",
			"having=1":                                           "unknown_parameter having",
			"having[count":                                       "unknown_parameter having[count",
			"having[]=1":                                         "unknown_parameter having[]",
			"having[title]=1":                                    "unknown_parameter having[title]",
			"having[sum.price][gte]=1":                           "unknown_parameter having[sum.price][gte]",
			"having[count][in]=1":                                "invalid_parameter having[count][in]",
			"having[count][null]=true":                           "invalid_parameter having[count][null]",
			"having[count][gte]":                                 "invalid_parameter having[count][gte]",
			"having[count][gte]=":                                "invalid_parameter having[count][gte]",
			"having[count][gte]=two":                             "invalid_parameter having[count][gte]",
			"sum=price&having[sum.price][gte]=1.005":             "invalid_parameter having[sum.price][gte]",
			"min=due&having[min.due][gte]=2026":                  "invalid_parameter having[min.due][gte]",
			"having[count][gte]=1&having[count][gte]=2":          "duplicate_parameter having[count][gte]",
			"include=team":                                       "invalid_parameter include",
			"by=team.name&include=team":                          "invalid_parameter include",
			"by=state&include=nope":                              "invalid_parameter include",
			"by=team_id&include=team,team":                       "invalid_parameter include",
			"by=team_id&fields[team]=name":                       "invalid_parameter fields[team]",
			"by=team_id&include=team&include[team][limit]=1":     "invalid_parameter include[team][limit]",
			"by=team_id&include=team&fields[team]=nope":          "invalid_parameter fields[team]",
			"by=team_id&include=team.tasks.team.tasks":           "too_many_values include",
			"by=state&sum=price&sort=-sum.price&cursor=" + id(0): "unknown_parameter cursor",
		} {
			s.expectRefusal(t, "GET", "/-/groups/tasks?"+query, "", 400, want)
		}
		for query, want := range map[string]string{
			"sum=price&having[sum.total]=1":  `Groups cannot be kept by "sum.total", but by count or sum.price.`,
			"having[sum.price][gte]=1":       `Groups cannot be kept by "sum.price", but by count. To ask for the value, add sum=price.`,
			"by=state&sort=-avg.price":       `Groups cannot be sorted by "avg.price", but by state or count, each with a minus before it to sort downwards. To ask for the value, add avg=price.`,
			"having[count][between]=1":       `Groups are kept by the operators eq, ne, lt, lte, gt or gte, and not by "between".`,
			"by=state&include=team":          `The relation "team" is included in groups by team_id: add it to by, as by=team_id.`,
			"by=count.steps":                 `A group key cannot be a number of related resources. Write filter[count.steps]=1 for those that have one number, and group by another field.`,
			"by=team.tasks.title":            `The relation tasks of teams leads to many resources, and a group key needs one value. Use fields, and relations to one resource.`,
			"by=started:fortnight&sum=price": `There is no unit "fortnight" of date-times. Write started:year, started:quarter, started:month, started:week, started:day or started:hour.`,
		} {
			if got := s.get("/-/groups/tasks?" + query).details(t); len(got) != 1 || got[0] != want {
				t.Errorf("%s\ngot  %q\nwant %q", query, got, want)
			}
		}
	})
}

// TestGroupsOfCallers: what a caller does not see of related resources is null in groups, and what is hidden is unknown.
func TestGroupsOfCallers(t *testing.T) {
	eachShop(t, func(t *testing.T, h *accessServer) {
		one := func(by string, count int, rest string) string { return group("orders", by, count, rest) }
		country := func(value string, count int) string { return one(`{"customer.country":`+value+`}`, count, "") }
		line := func(value string, count int) string {
			return group("lines", `{"order.customer.name":`+value+`}`, count, "")
		}
		customer := func(n, count int, rest string) string {
			return one(`{"customer_id":"`+id(n)+`"}`, count, `,"customer":`+rest)
		}
		ada := `{"id":"` + id(1) + `","type":"customers","name":"Ada"}`
		for _, c := range []struct {
			caller, path string
			want         []string
		}{
			{"clerk", "orders?by=customer.country", []string{country("null", 2), country(`"DE"`, 1), country(`"FR"`, 1)}},
			{"german", "orders?by=customer.country", []string{country("null", 3), country(`"DE"`, 1)}},
			{"clerk", "lines?by=order.customer.name&sort=-count", []string{line(`"Ada"`, 2), line(`"Bo"`, 1), line(`"Cy"`, 1)}},
			{"german", "lines?by=order.customer.name", []string{line("null", 1), line(`"Ada"`, 1)}},
			{"german", "orders?by=customer_id&include=customer&fields[customer]=name&filter[customer_id][null]=false",
				[]string{customer(1, 1, ada), customer(2, 1, "null"), customer(3, 1, "null")}},
			{"german", "orders?by=customer.country&having[count][lt]=2", []string{country(`"DE"`, 1)}},
		} {
			h.as(c.caller, "GET", "/-/groups/"+c.path, "").expect(t, 200, data(c.want...))
		}
		for _, c := range []struct{ caller, path, want string }{
			{"german", "orders?by=customer.secret", "invalid_parameter by"},
			{"german", "lines?by=product.price", "invalid_parameter by"},
			{"german", "lines?by=product.nope", "invalid_parameter by"},
			{"guest", "orders?by=customer.name", "invalid_parameter by"},
			{"guest", "orders?distinct=customer_id", "invalid_parameter distinct"},
			{"guest", "orders?sum=priority&having[sum.priority]=1", "invalid_parameter sum, unknown_parameter having[sum.priority]"},
			{"guest", "orders?by=state&include=customer", "invalid_parameter include"},
			{"german", "orders?by=customer_id&include=customer&fields[customer]=secret", "invalid_parameter fields[customer]"},
		} {
			h.as(c.caller, "GET", "/-/groups/"+c.path, "").expectErrors(t, 400, strings.Split(c.want, ", ")...)
		}
	})
}

// TestGroupsMember: a relation with the name of a member of groups cannot be included in them.
func TestGroupsMember(t *testing.T) {
	file, err := schema.Parse([]byte("collections:\n  teams:\n    attributes: {name: {type: string}}\n  tasks:\n    attributes:\n      team_id: {references: {collection: teams}, as: sum}\n"))
	if err != nil {
		t.Fatal(err)
	}
	eachStore(t, file.Schema, func(t *testing.T, s *server) {
		s.expectRefusal(t, "GET", "/-/groups/tasks?by=team_id&include=sum", "", 400, "invalid_parameter include")
	})
}

// TestGroupsOrderOutOfRange: groups that are sorted or kept by a sum are refused if that of any group is out of range, whatever
// the range.
func TestGroupsOrderOutOfRange(t *testing.T) {
	eachStore(t, groupsSchema(t), func(t *testing.T, s *server) {
		const most, least, digits = "9223372036854775807", "-9223372036854775808", "9999999999999999.99"
		const double = "1.7976931348623157e308"
		add := func(title, name string, values ...string) {
			for _, value := range values {
				s.createAll("/tasks", `{"title":"`+title+`","`+name+`":`+value+`}`)
			}
		}
		order := func(filter, name string) (titles []string) {
			for _, each := range s.get("/-/groups/tasks?by=title&" + filter + "&sum=" + name + "&sort=-sum." + name).groups(t) {
				titles = append(titles, each["by"].(map[string]any)["title"].(string))
			}
			return titles
		}
		add("a", "estimate", most, most, least, "1") // exceeds 64 bits on its way
		add("b", "estimate", "9223372036854775806")
		add("c", "estimate", least)
		add("d", "estimate", "-9223372036854775807", "-1")
		add("e", "estimate", "4294967296", "-1")
		add("f", "estimate", "4294967295")
		add("g", "estimate", "-4294967296")
		add("h", "estimate", "-1")
		if got := strings.Join(order("filter[estimate][null]=false", "estimate"), ""); got != "abefhgcd" {
			t.Errorf("integers: %s", got)
		}
		add("i", "price", `"`+digits+`"`)
		add("j", "price", `"9999999999999999.98"`)
		add("k", "price", `"-`+digits+`"`)
		if got := strings.Join(order("filter[price][null]=false", "price"), ""); got != "ijk" {
			t.Errorf("decimals: %s", got)
		}
		add("l", "ratio", double)
		add("m", "ratio", double, "-"+double, "5e-324")
		add("n", "ratio", "5e-324", "5e-324")
		add("o", "ratio", "-"+double)
		add("p", "ratio", "1e290", "1e290")
		if got := strings.Join(order("filter[ratio][null]=false", "ratio"), ""); got != "lpnmo" {
			t.Errorf("numbers: %s", got)
		}
		s.get("/-/groups/tasks?by=title&avg=ratio&sort=-avg.ratio&filter[title][in]=n,m").expect(t, 200, data(
			group("tasks", `{"title":"n"}`, 2, `,"avg":{"ratio":5e-324}`), group("tasks", `{"title":"m"}`, 3, `,"avg":{"ratio":0}`)))
		s.get("/-/groups/tasks?by=title&sum=ratio&having[sum.ratio][gte]="+double).expect(t, 200, data(group("tasks", `{"title":"l"}`, 1, `,"sum":{"ratio":1.7976931348623157e+308}`)))
		s.get("/-/groups/tasks?by=title&sum=estimate&having[sum.estimate]="+most).expect(t, 200, data(group("tasks", `{"title":"a"}`, 4, `,"sum":{"estimate":`+most+`}`)))

		add("x", "estimate", most, "1")
		add("y", "price", `"`+digits+`"`, `"0.01"`)
		add("z", "ratio", "1.7e308", "1.7e308")
		for _, kept := range []string{"sum=estimate&sort=sum.estimate", "sum=price&sort=-sum.price", "sum=ratio&sort=-sum.ratio", "avg=ratio&sort=avg.ratio",
			"sum=estimate&having[sum.estimate][lt]=0", "sum=price&having[sum.price]=1", "sum=ratio&having[sum.ratio][gt]=0", "avg=ratio&having[avg.ratio][gt]=0"} {
			for _, part := range []string{"", "&limit=1", "&limit=0", "&limit=-1", "&offset=50", "&offset=3&limit=2"} {
				for _, preference := range []string{"count=exact", ""} {
					s.do("GET", "/-/groups/tasks?by=title&"+kept+part, "", "Prefer", preference).expectErrors(t, 400, "out_of_range "+kept[:3])
				}
			}
			// Without the group, there is nothing to refuse.
			if got := s.get("/-/groups/tasks?by=title&filter[title][lt]=x&" + kept); got.status != 200 {
				t.Errorf("%s: %d %s", kept, got.status, got.body)
			}
		}
		// Averages of integers and decimals are in range.
		for _, name := range []string{"estimate", "price"} {
			if got := s.get("/-/groups/tasks?by=title&avg=" + name + "&sort=-avg." + name + "&having[avg." + name + "][gte]=0&limit=1"); got.status != 200 {
				t.Errorf("%s: %d %s", name, got.status, got.body)
			}
		}
	})
}

// TestGroupsAverages: groups are compared by the average that they show, to its last digit.
func TestGroupsAverages(t *testing.T) {
	eachStore(t, groupsSchema(t), func(t *testing.T, s *server) {
		for title, values := range map[string][]string{
			"third": {"1", "0", "0"}, "minus": {"-1", "0", "0"}, "sevenths": {"3", "0", "0", "0", "0", "0", "0"}, "large": {"9223372036854775807", "1", "2"}, "larger": {"9223372036854775807", "9223372036854775807", "9223372036854775805"},
			"lost": {"9007199254740993", "9007199254740992"}, "middle": {"4611686018427388416", "4611686018427388416", "4611686018427388417"},
		} {
			for _, value := range values {
				s.createAll("/tasks", fmt.Sprintf(`{"title":"%s","estimate":%s,"price":"%.2s"}`, title, value, value))
			}
		}
		for _, name := range []string{"estimate", "price"} {
			all := s.get("/-/groups/tasks?by=title&avg=" + name + "&sort=avg." + name).groups(t)
			before := -1e300
			for _, each := range all {
				shown := each["avg"].(map[string]any)[name].(float64)
				title := each["by"].(map[string]any)["title"].(string)
				if shown < before {
					t.Errorf("%s: %v after %v", title, shown, before)
				}
				before = shown
				for _, op := range []string{"eq", "gte", "lte"} {
					got := s.get(fmt.Sprintf("/-/groups/tasks?by=title&avg=%s&filter[title]=%s&having[avg.%s][%s]=%s", name, title, name, op, url.QueryEscape(fmt.Sprint(shown)))).groups(t)
					if len(got) != 1 {
						t.Errorf("%s: %v is not %s itself", title, shown, op)
					}
				}
			}
			if len(all) != 7 {
				t.Errorf("%d groups", len(all))
			}
		}
	})
}

// TestGroupsFirstWeek: the week in which the year 0 begins has no Monday that a date can be.
func TestGroupsFirstWeek(t *testing.T) {
	eachStore(t, groupsSchema(t), func(t *testing.T, s *server) {
		s.createAll("/tasks", `{"title":"a","due":"0000-01-01","started":"0000-01-02T23:59:59.999Z"}`, `{"title":"b","due":"0000-01-03","started":"0000-01-03T00:00:00Z"}`, `{"title":"c","due":"9999-12-31","started":"9999-12-31T00:00:00Z"}`)
		for name, end := range map[string]string{"due": "", "started": "T00:00:00.000Z"} {
			s.get("/-/groups/tasks?by="+name+":week").expectErrors(t, 400, "out_of_range by")
			for unit, first := range map[string][2]string{"week": {"0000-01-03", "9999-12-27"}, "quarter": {"0000-01-01", "9999-10-01"}} {
				key := name + ":" + unit
				s.get("/-/groups/tasks?by="+key+"&filter[title][gt]=a").expect(t, 200, data(
					group("tasks", `{"`+key+`":"`+first[0]+end+`"}`, 1, ``), group("tasks", `{"`+key+`":"`+first[1]+end+`"}`, 1, ``)))
			}
		}
	})
}

// groups are the groups of a response.
func (a answer) groups(t testing.TB) []map[string]any {
	t.Helper()
	var body struct{ Data []map[string]any }
	if err := json.Unmarshal([]byte(a.body), &body); err != nil || a.status != 200 {
		t.Errorf("no groups: %d %s", a.status, a.body)
	}
	return body.Data
}
