package interfacetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// TestSlowLists: a list that takes long is logged once for each shape, with its statement and its plan, and without any value.
func TestSlowLists(t *testing.T) {
	file, err := schema.Parse([]byte(`
collections:
  projects:
    attributes:
      name: {type: string}
  tasks:
    parent: projects
    attributes:
      state: {type: string, maxLength: 50}
      priority: {type: integer}
      address:
        type: object
        properties: {city: {type: string}}
    search: [state]
`))
	if err != nil {
		t.Fatal(err)
	}
	logged := &log{}
	eachStore(t, file.Schema, func(t *testing.T, s *server) {
		const project = "00000000-0000-7000-8000-000000000001"
		s.do("POST", "/projects", `{"id":"`+project+`","name":"A"}`)
		logged.find(t, "") // forget what was before
		for _, path := range []string{
			"/tasks?filter[state]=sekret&sort=-priority&limit=2",
			"/tasks?filter[state]=sekret2&sort=-priority&offset=3", // the same shape
			"/projects/" + project + "/tasks?filter[state][ne]=sekret",
			"/tasks?filter[any][0][state]=sekret&filter[any][1][priority][gt]=7654321&filter[address.city]=sekret&sort=priority,state",
			"/tasks?search=sekret&filter[project.name]=sekret&filter[state][in]=sekret,sekret2",
		} {
			if a := s.get(path); a.status != 200 {
				t.Fatalf("%s: %d %s", path, a.status, a.body)
			}
		}
		logged.mutex.Lock()
		if text := logged.text.String(); strings.Contains(text, "sekret") || strings.Contains(text, "7654321") {
			t.Errorf("the log has values:\n%s", text)
		}
		logged.mutex.Unlock()
		var got []string
		for _, line := range logged.find(t, "slow list") {
			got = append(got, line["level"].(string)+" "+line["collection"].(string)+"?"+line["filter"].(string)+"?"+line["sort"].(string))
			sql, plan := line["sql"].(string), line["plan"].(string)
			if !strings.Contains(sql, ` FROM "tasks"`) || !strings.Contains(plan, "tasks") || line["ms"].(float64) <= 0 || line["request_id"] == "" {
				t.Errorf("got %v", line)
			}
			if strings.HasPrefix(plan, "QUERY PLAN") || strings.Contains(plan, "unknown") {
				t.Errorf("got the plan %s", plan)
			}
		}
		want := []string{
			"WARN tasks?state[eq]?-priority",
			"WARN tasks?project_id[eq],not state[eq]?",
			"WARN tasks?address.city[eq],any?priority,state",
			"WARN tasks?project,state[in],search?",
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}, logged.keep, func(c *plural.Config) {
		c.SlowQuery, c.QueryTimeout = time.Nanosecond, 30*hung // a thirtieth is for the plan
	})
	eachStore(t, file.Schema, func(t *testing.T, s *server) {
		s.get("/tasks")
		if got := logged.find(t, "slow list"); len(got) > 0 {
			t.Errorf("got %v, want none", got)
		}
	}, logged.keep, func(c *plural.Config) { c.SlowQuery = -1 })
}

// TestSlowPieces: each piece of a list counts, and each relation that it includes, by itself: the line names it, and has its
// statement.
func TestSlowPieces(t *testing.T) {
	file, err := schema.Parse([]byte(`
collections:
  projects:
    attributes:
      name: {type: string}
      rank: {type: integer, index: true}
  tasks:
    parent: projects
    attributes:
      state: {type: string, maxLength: 50}
      priority: {type: integer}
  remarks:
    attributes:
      task_id: {references: tasks, inverse: remarks}
`))
	if err != nil {
		t.Fatal(err)
	}
	logged := &log{}
	eachStore(t, file.Schema, func(t *testing.T, s *server) {
		var bodies []string
		for i := range 60 { // of 1 KiB: three pieces
			bodies = append(bodies, fmt.Sprintf(`{"id":"%s","name":"%s","rank":%d}`, id(i), strings.Repeat("sekret", 170), i))
		}
		s.createAll("/projects", bodies...)
		s.createAll("/tasks", `{"project_id":"`+id(1)+`","state":"sekret","priority":1}`, `{"project_id":"`+id(59)+`","state":"sekret","priority":1}`)
		logged.find(t, "") // forget what was before
		const path = "/projects?sort=-rank&include=tasks.remarks&include[tasks][sort]=-priority,state&include[tasks][filter][state]=sekret"
		if a := s.get(path); a.status != 200 || len(a.ids(t)) != 60 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		var got []string
		for _, line := range logged.find(t, "slow list") {
			got = append(got, fmt.Sprint(line["list"], "?", line["relation"], "?", line["piece"], ": ", line["collection"], "?", line["filter"], "?", line["sort"]))
			sql, plan := line["sql"].(string), line["plan"].(string)
			if !strings.Contains(sql, ` FROM "`+line["collection"].(string)+`"`) || strings.Contains(sql+plan, "sekret") || strings.Contains(plan, "unknown") || plan == "" || line["ms"].(float64) <= 0 {
				t.Errorf("got %v", line)
			}
			if piece := line["piece"].(float64); line["relation"] == "" && strings.Contains(sql, `"rank" < `) != (piece > 1) {
				t.Errorf("the statement of piece %v is %s", piece, sql)
			}
		}
		want := []string{
			"projects?tasks?1: tasks?project_id[eq],state[eq]?-priority,state",
			"projects?tasks.remarks?1: remarks?task_id[eq]?",
			"projects??1: projects??-rank",
			"projects?tasks?2: tasks?project_id[eq],state[eq]?-priority,state",
			"projects??2: projects??-rank",
			"projects?tasks.remarks?3: remarks?task_id[eq]?", // the second piece has no tasks
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}, logged.keep, func(c *plural.Config) {
		c.SlowQuery, c.QueryTimeout = time.Nanosecond, 30*hung
	})
}
