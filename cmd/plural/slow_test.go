package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/plural-go/plural/internal/pgtest"
)

const slowSchema = `collections:
  tasks:
    attributes:
      title: {type: string, maxLength: 100}
      state: {type: string, enum: [open, done]}
      priority: {type: integer}
      done_on: {type: string, format: date}
    index: [title, [state, done_on], [title, -priority]]
  notes:
    attributes:
      task_id: {references: tasks, inverse: notes}
      rank: {type: integer}
      author_id: {references: tasks}
`

// TestDoctorSlow: what a server logs as slow, in either format, is what the doctor reads.
func TestDoctorSlow(t *testing.T) {
	for name, database := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeSchema(t, dir, slowSchema)
			url := database(t)
			var logs strings.Builder
			for _, format := range []string{"text", "json"} {
				p := serveIn(t, dir, "--slow-query=1ns", "--log-format="+format, "--database="+url)
				if format == "text" {
					post(t, p.base+"/tasks", `{"id":"01936f2e-7d3c-7a4b-9c5d-0123456789ab","title":"A"}`)
				}
				for _, query := range []string{
					"filter[state]=open&sort=-priority", "filter[state]=done&sort=-priority", // the same
					"filter[state]=open&sort=done_on", "filter[title]=A&filter[priority][gte]=3", "sort=priority,-title", "sort=title,-priority", "sort=-title,priority", "sort=priority,-count.notes", "sort=created_at", "",
					"filter[state]=done&sort=-created_at", "include=notes&include[notes][sort]=-rank&fields=title", "include=notes.author&sort=-done_on",
				} {
					get(t, p.base+"/tasks?"+query)
				}
				if err := p.stop(t, syscall.SIGTERM); err != nil {
					t.Fatalf("%v\n%s", err, p.log)
				}
				logs.WriteString("plural-1  | ")
				logs.WriteString(strings.ReplaceAll(p.log.String(), "\n", "\nplural-1  | "))
			}
			command := program(t, dir, "doctor", "--slow")
			command.Stdin = strings.NewReader(logs.String())
			out, err := command.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			got := map[string]string{}
			var list string

			for line := range strings.Lines(string(out)) {
				line = strings.TrimSuffix(line, "\n")
				switch {
				case !strings.HasPrefix(line, "  "):
					list, _, _ = strings.Cut(line, ": up to ")
					if !strings.HasSuffix(line, " ms, logged 2 times") {
						t.Errorf("got %s", line)
					}
				case strings.HasPrefix(line, "  plan: "):
					if len(line) < len("  plan: tasks") {
						t.Errorf("%s has no plan", list)
					}
				default:
					got[list] += line + "\n"
				}
			}
			const (
				none = "  No index of the schema helps: one serves filters of attributes for equal values, and sorts by attributes. Ask for smaller ranges, or filter by an indexed attribute.\n"
				rest = "  No index has the whole order: resources with the same values of %s are sorted by %s. If these are many, sort by attributes of the collection itself.\n"
				has  = "  The schema has an index for it: [%s]. Ask for smaller ranges, or use cursors instead of large offsets.\n"
			)
			want := map[string]string{
				"tasks": none,
				"tasks with filters state[eq] sorted by -priority":                            "  In the schema, add to tasks: index: [[state, priority]]\n",
				"tasks with filters state[eq] sorted by done_on":                              fmt.Sprintf(has, "state, done_on"),
				"tasks with filters title[eq], priority[gte]":                                 fmt.Sprintf(has, "title"),
				"tasks with filters state[eq] sorted by -created_at":                          fmt.Sprintf(has+rest, "state", "state", "-created_at"),
				"tasks sorted by priority, -title":                                            "  In the schema, add to tasks: index: [[priority, -title]]\n",
				"tasks sorted by title, -priority":                                            fmt.Sprintf(has, "title, -priority"),
				"tasks sorted by -title, priority":                                            fmt.Sprintf(has, "-title, priority"), // backwards
				"tasks sorted by priority, -count.notes":                                      "  In the schema, add to tasks: index: [priority]\n" + fmt.Sprintf(rest, "priority", "-count.notes"),
				"tasks sorted by created_at":                                                  none,
				"tasks sorted by -done_on":                                                    "  In the schema, add to tasks: index: [done_on]\n",
				"notes that tasks includes as notes with filters task_id[eq] sorted by -rank": "  In the schema, add to notes: index: [[task_id, rank]]\n",
				"notes that tasks includes as notes with filters task_id[eq]":                 "  The schema has an index for it: [task_id]. Include fewer resources: include[notes][limit].\n",
			}
			for list, text := range want {
				if got[list] != text {
					t.Errorf("%s: got %q, want %q", list, got[list], text)
				}
			}
			if len(got) != len(want) {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestDoctorSlowRefuses(t *testing.T) {
	dir := t.TempDir()
	writeSchema(t, dir, slowSchema)
	runs(t, dir, "time=x msg=request path=/tasks\n", false, "The log has no slow lists.\n", "doctor", "--slow")
	runs(t, dir, `time=x level=WARN msg="slow list" collection=old list=old relation="" piece=3 filter="" sort="" ms=1.5 sql="" plan="SCAN old" request_id=1`+"\n", false,
		"old: up to 2 ms for piece 3 of the response, logged once\n  plan: SCAN old\n  The schema has no such collection.\n", "doctor", "--slow")
	runs(t, dir, "", true, "plural: --slow changes nothing: leave out --repair\n", "doctor", "--slow", "--repair")
}
