package interfacetest

import (
	"strconv"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

const hiddenProjects = `
collections:
  projects:
    attributes:
      open: {type: boolean}
  issues:
    attributes:
      n: {type: integer}
      title: {type: string}
    unique: [[project_id, n]]
    parent: {collection: projects, on_delete: cascade}
access:
  roles:
    admin:
      projects: [list, read, create, update, delete]
      issues: [list, read, create, update, delete]
    user:
      projects: {list: true, read: resource.open}
      issues: {list: true, read: resource.project.open == true, create: true, update: true}
    ruled:
      projects: {list: true, read: resource.open}
      issues: {list: true, read: resource.project.open == true, create: resource.project.open == true, update: true}
`

// TestUpsertUnderAHiddenParent: the answer to an upsert does not depend on resources under a parent that
// the caller may not see. It is that of a POST without on_conflict.
func TestUpsertUnderAHiddenParent(t *testing.T) {
	for name, database := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) {
			file, err := schema.Parse([]byte(hiddenProjects))
			if err != nil {
				t.Fatal(err)
			}
			h := &accessServer{start(t, file.Schema, database(t), func(c *plural.Config) { c.Access = file.Access }), map[string]string{}, ""}
			for _, role := range []string{"admin", "user", "ruled"} {
				h.key(role, role, "")
			}
			if made := h.as("admin", "POST", "/projects", `[{"id":"`+id(1)+`","open":false},{"id":"`+id(2)+`","open":true}]`); made.status != 201 {
				t.Fatal(made.body)
			}
			if made := h.as("admin", "POST", "/issues", `[{"id":"`+id(11)+`","project_id":"`+id(1)+`","n":1},{"id":"`+id(12)+`","project_id":"`+id(2)+`","n":1}]`); made.status != 201 {
				t.Fatal(made.body)
			}
			issue := func(project, n string) string { return `{"project_id":"` + project + `","n":` + n + `}` }
			upsert := "/issues?on_conflict=project_id,n"
			requests := []struct{ path, body, want string }{
				{"/issues", issue(id(1), "N"), "422 unknown_reference /project_id"},
				{upsert, issue(id(1), "N"), "422 unknown_reference /project_id"},
				{upsert + "&dry_run=true", issue(id(1), "N"), "422 unknown_reference /project_id"},
				{upsert, "[" + issue(id(2), "1") + "," + issue(id(1), "N") + "]", "422 unknown_reference /1/project_id"},
				{upsert, "[" + issue(id(1), "N") + "," + issue(id(1), "3") + "]", "422 unknown_reference /0/project_id, unknown_reference /1/project_id"},
				{"/projects/" + id(1) + "/issues?on_conflict=project_id,n", `{"n":N}`, "404 not_found"},
				{"/-/transaction", "[" + step("POST", upsert, issue(id(1), "N")) + "]", "422 unknown_reference /0/body/project_id"},
				// Another parent in an upsert by id.
				{"/issues?on_conflict=id", `{"id":"ID","project_id":"` + id(1) + `","n":5}`, "422 unknown_reference /project_id"},
			}
			for _, r := range requests {
				for _, caller := range []string{"user", "ruled"} { // no rule is evaluated before the references
					status, errors, _ := strings.Cut(r.want, " ")
					for _, values := range [][]string{{"N", "1", "ID", id(11)}, {"N", "2", "ID", id(99)}} { // the first exist
						a := h.as(caller, "POST", r.path, strings.NewReplacer(values...).Replace(r.body))
						if got := a.errorText(t); strconv.Itoa(a.status) != status || got != errors {
							t.Errorf("%s, %v: %s %s\ngot  %d %s\nwant %s", caller, values, r.path, r.body, a.status, got, r.want)
						}
					}
				}
			}
			h.as("user", "POST", upsert, `[{"project_id":"`+id(2)+`","n":1,"title":"new"}]`).expectPositions(t, "seen", 12)
		})
	}
}
