package interfacetest

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// trackerFile: members see and change the issues of their projects, and the comments on these, by rules
// through references.
const trackerFile = `
collections:
  projects:
    timestamps: false
    attributes:
      name: {type: string, maxLength: 100}
      owner_id: {type: string, maxLength: 100}
  issues:
    timestamps: false
    attributes:
      title: {type: string, maxLength: 100}
      project_id: {references: {collection: projects, on_delete: set_null}, inverse: issues}
  comments:
    timestamps: false
    attributes:
      text: {type: string}
      issue_id: {references: {collection: issues, on_delete: cascade}, inverse: comments}
access:
  roles:
    admin:
      projects: [list, read, create, update, delete]
      issues: [list, read, create, update, delete]
      comments: [list, read, create, update, delete]
    member:
      projects: {list: true, read: true}
      issues:
        list: true
        read: resource.project.owner_id == auth.sub
        create: resource.project.owner_id == auth.sub
        update: resource.project.owner_id == auth.sub
        delete: resource.project.owner_id == auth.sub
        changes: true
      comments: {list: true, read: resource.issue.project.owner_id == auth.sub, create: resource.issue.project.owner_id == auth.sub, update: true}
`

// eachTracker opens a tracker on each database: project 1 of ada, 2 of bo; issues 10 and 11 of 1, 12 of 2,
// 13 of none; a comment on each issue, 10 further.
func eachTracker(t *testing.T, test func(t *testing.T, h *accessServer)) {
	file, err := schema.Parse([]byte(trackerFile))
	if err != nil {
		t.Fatal(err)
	}
	eachStore(t, file.Schema, func(t *testing.T, s *server) {
		h := &accessServer{server: s, keys: map[string]string{"": ""}}
		h.key("admin", "admin", "")
		h.key("ada", "member", "ada")
		h.key("bo", "member", "bo")
		h.must("POST", "/projects", `[{"id":"`+id(1)+`","name":"A","owner_id":"ada"},{"id":"`+id(2)+`","name":"B","owner_id":"bo"}]`)
		h.must("POST", "/issues", `[`+issue(10, 1)+`,`+issue(11, 1)+`,`+issue(12, 2)+`,`+issue(13, 0)+`]`)
		for n := 10; n < 14; n++ {
			h.must("POST", "/comments", fmt.Sprintf(`{"id":"%s","text":"c","issue_id":"%s"}`, id(n+10), id(n)))
		}
		test(t, h)
	}, func(c *plural.Config) { c.Access = file.Access })
}

func issue(n, project int) string {
	return fmt.Sprintf(`{"id":"%s","title":"I%d","project_id":%s}`, id(n), n, idOrNull(project))
}

// issueOf is the representation of an issue.
func issueOf(n, project int) string {
	return fmt.Sprintf(`{"id":"%s","type":"issues","title":"I%d","project_id":%s}`, id(n), n, idOrNull(project))
}

func TestRulesThroughReferences(t *testing.T) {
	eachTracker(t, func(t *testing.T, h *accessServer) {
		for caller, want := range map[string][4][]int{
			"ada": {{10, 11}, {20, 21}, {11}, {10}}, "bo": {{12}, {22}, {12}, {}}, "admin": {{10, 11, 12, 13}, {20, 21, 22, 23}, {11, 12, 13}, {10}},
		} {
			h.as(caller, "GET", "/issues", "").expectPositions(t, caller, want[0]...)
			h.as(caller, "GET", "/comments", "").expectPositions(t, caller, want[1]...)
			h.as(caller, "GET", "/issues?filter[title][ne]=I10&sort=title", "").expectPositions(t, caller, want[2]...)
			h.as(caller, "GET", "/issues?filter[title]=I10", "").expectPositions(t, caller, want[3]...)
		}
		if a := h.as("ada", "GET", "/issues", "", "Prefer", "count=exact"); a.total() != "2" {
			t.Errorf("the total is %s", a.total())
		}
		if a := h.as("ada", "GET", "/issues", ""); a.total() != "" {
			t.Errorf("a total without being asked for: %s", a.total())
		}
		// What is included is ruled as well.
		commented := func(n int) string {
			return fmt.Sprintf(`{"id":"%s","type":"comments","text":"c","issue_id":"%s"}`, id(n+10), id(n))
		}
		with := func(n, project int) string {
			return issueOf(n, project)[:len(issueOf(n, project))-1] + `,"comments":[` + commented(n) + `]}`
		}
		project := func(n int, name, owner, issues string) string {
			return fmt.Sprintf(`{"id":"%s","type":"projects","name":"%s","owner_id":"%s","issues":[%s]}`, id(n), name, owner, issues)
		}
		h.as("ada", "GET", "/projects?include=issues.comments", "").expect(t, 200, data(project(1, "A", "ada", with(10, 1)+","+with(11, 1)), project(2, "B", "bo", "")))
		h.as("bo", "GET", "/projects?include=issues,issues.comments", "").expect(t, 200, data(project(1, "A", "ada", ""), project(2, "B", "bo", with(12, 2))))
		for _, each := range []struct {
			caller, method, path, body string
			want                       int
		}{
			{"ada", "GET", "/issues/" + id(10), "", 200}, {"bo", "GET", "/issues/" + id(10), "", 404}, {"ada", "GET", "/issues/" + id(13), "", 404},
			{"ada", "GET", "/comments/" + id(20), "", 200}, {"ada", "GET", "/comments/" + id(22), "", 404},
			{"ada", "GET", "/issues?cursor=" + id(12), "", 400}, {"ada", "GET", "/issues?cursor=" + id(11), "", 200},
			{"ada", "POST", "/issues", issue(30, 1), 201}, {"ada", "POST", "/issues", issue(31, 2), 403}, {"ada", "POST", "/issues", issue(32, 0), 403},
			{"ada", "POST", "/issues", `[` + issue(33, 1) + `,` + issue(34, 2) + `]`, 403},
			{"ada", "POST", "/comments", fmt.Sprintf(`{"issue_id":"%s"}`, id(10)), 201}, {"ada", "POST", "/comments", fmt.Sprintf(`{"issue_id":"%s"}`, id(12)), 422},
			{"ada", "PATCH", "/issues/" + id(10), `{"title":"X"}`, 200}, {"bo", "PATCH", "/issues/" + id(10), `{"title":"X"}`, 404},
			{"ada", "PATCH", "/issues/" + id(10), `{"project_id":"` + id(2) + `"}`, 403}, {"ada", "PATCH", "/issues/" + id(10), `{"project_id":null}`, 403},
			{"bo", "DELETE", "/issues/" + id(10), "", 404}, {"ada", "DELETE", "/issues/" + id(11), "", 200},
			{"ada", "GET", "/issues?cursor=" + id(11), "", 200}, {"bo", "GET", "/issues?cursor=" + id(11), "", 400}, // deleted
		} {
			if a := h.as(each.caller, each.method, each.path, each.body); a.status != each.want {
				t.Errorf("%s: %s %s %s: %d %s, want %d", each.caller, each.method, each.path, each.body, a.status, a.body, each.want)
			}
		}
		// Another owner.
		h.must("PATCH", "/projects/"+id(1), `{"owner_id":"bo"}`)
		h.as("ada", "GET", "/issues", "").expectPositions(t, "ada")
		h.as("ada", "GET", "/comments", "").expectPositions(t, "ada")
		h.as("bo", "GET", "/issues?limit=2", "").expectPositions(t, "bo", 10, 12)
		if a := h.as("ada", "GET", "/issues?cursor="+id(11), ""); a.status != 400 {
			t.Errorf("a deleted issue of another one's project: %d %s", a.status, a.body)
		}
	})
}

// TestStreamsOfRulesThroughReferences: what a rule reads in another resource decides who is told, and a
// change of it begins the stream again.
func TestStreamsOfRulesThroughReferences(t *testing.T) {
	eachTracker(t, func(t *testing.T, h *accessServer) {
		listed := func(n, project int) string { return `listed {"data":` + issueOf(n, project) + `}` }
		of := func(caller, path string) *events { return h.stream(path, "Authorization", h.keys[caller]) }
		ada, bo := of("ada", "/issues"), of("bo", "/issues")
		ada.expect(listed(10, 1), listed(11, 1), `synced {}`)
		bo.expect(listed(12, 2), `synced {}`)
		comments := of("ada", "/comments")
		commented := func(n int) string {
			return fmt.Sprintf(`listed {"data":{"id":"%s","type":"comments","text":"c","issue_id":"%s"}}`, id(n), id(n-10))
		}
		comments.expect(commented(20), commented(21), `synced {}`)
		// An issue that moves leaves one and enters the other. The name of a project does not matter.
		h.must("PATCH", "/projects/"+id(1), `{"name":"AA"}`)
		h.must("PATCH", "/issues/"+id(11), `{"project_id":"`+id(2)+`"}`)
		ada.expect(`left {"data":{"id":"` + id(11) + `","type":"issues"}}`)
		if next, ok := bo.next(); !ok || next.kind != "entered" {
			t.Errorf("bo is told %+v", next)
		}
		// A comment does not change, but what its rule reads does.
		comments.expect(`reset {}`, commented(20), `synced {}`)
		// The project changes its owner.
		h.must("PATCH", "/projects/"+id(1), `{"owner_id":"bo"}`)
		ada.expect(`reset {}`, `synced {}`)
		bo.expect(`reset {}`, listed(10, 1), listed(11, 2), listed(12, 2), `synced {}`)
		comments.expect(`reset {}`, `synced {}`)
		// One more project is nobody's loss, and its deletion leaves the issue without one.
		h.must("POST", "/projects", `{"id":"`+id(3)+`","owner_id":"ada"}`)
		h.must("POST", "/issues", issue(14, 3))
		if next, ok := ada.next(); !ok || next.kind != "created" {
			t.Errorf("ada is told %+v", next)
		}
		h.must("DELETE", "/projects/"+id(3), "")
		ada.expect(`left {"data":{"id":"` + id(14) + `","type":"issues"}}`)
		h.must("PATCH", "/issues/"+id(10), `{"title":"Last"}`)
		if next, ok := bo.next(); !ok || next.kind != "updated" {
			t.Errorf("bo is told %+v", next)
		}
	})
}

// TestChangesOfRulesThroughReferences: who was told of a change then is told of it later, whatever has
// become of the resource that the rule reads.
func TestChangesOfRulesThroughReferences(t *testing.T) {
	eachTracker(t, func(t *testing.T, h *accessServer) {
		h.must("PATCH", "/issues/"+id(10), `{"title":"of ada"}`)
		h.must("PATCH", "/projects/"+id(1), `{"owner_id":"bo"}`)
		h.must("PATCH", "/issues/"+id(10), `{"title":"of bo"}`)
		h.must("DELETE", "/projects/"+id(1), "")
		h.must("PATCH", "/issues/"+id(10), `{"title":"of nobody"}`)
		by := regexp.MustCompile(`"by":"key:[a-z0-9]+"`)
		told := func(caller string, want ...string) {
			t.Helper()
			a := h.as(caller, "GET", "/changes?filter[resource.id]="+id(10), "")
			if got := by.ReplaceAllString(settled(a.body), `"by":null`); got != data(want...) {
				t.Errorf("%s is told\n%s\nwant\n%s", caller, got, data(want...))
			}
		}
		change := func(kind, previous, data string) string {
			return fmt.Sprintf(`{"id":"CHANGE","type":"changes","kind":"%s","resource":{"id":"%s","type":"issues"},"revision":N,"by":null,"previous":%s,"data":%s,"created_at":"TIME"}`, kind, id(10), previous, data)
		}
		titled := func(title string) string {
			return fmt.Sprintf(`{"id":"%s","type":"issues","title":"%s","project_id":"%s"}`, id(10), title, id(1))
		}
		told("ada", change("created", "null", issueOf(10, 1)), change("updated", `{"title":"I10"}`, titled("of ada")))
		told("bo", change("updated", `{"title":"of ada"}`, titled("of bo")), change("updated", titled("of bo"), "null"))
	})
}

// TestDamagedChangeOfARelatedResource: where a rule reads a state that the change log does not tell any more,
// a change is as one that cannot be read. Later changes are told.
func TestDamagedChangeOfARelatedResource(t *testing.T) {
	eachTracker(t, func(t *testing.T, h *accessServer) {
		titled := func(n int, title string) string {
			return fmt.Sprintf(`listed {"data":{"id":"%s","type":"issues","title":"%s","project_id":"%s"}}`, id(n), title, id(1))
		}
		of := func(path string, header ...string) *events {
			return h.stream(path, append(header, "Authorization", h.keys["ada"])...)
		}
		first := of("/issues")
		position := first.expect(titled(10, "I10"), titled(11, "I11"), `synced {}`)
		first.close()
		h.must("PATCH", "/issues/"+id(10), `{"title":"A"}`)
		second := of("/issues")
		later := second.expect(titled(10, "A"), titled(11, "I11"), `synced {}`)
		second.close()
		h.must("PATCH", "/projects/"+id(1), `{"name":"AA"}`)
		h.must("PATCH", "/issues/"+id(11), `{"title":"B"}`)
		ids := h.as("ada", "GET", "/changes", "").changeIDs(t)
		if len(ids) != 4 {
			t.Fatalf("the changes are %v", ids)
		}
		h.sql("UPDATE _plural_changes SET previous = '{' WHERE revision = (SELECT max(revision) - 1 FROM _plural_changes)")
		for path, change := range map[string]string{"/changes": ids[0], "/changes?limit=-2": ids[2], "/changes/" + ids[1]: ids[1], "/issues/" + id(10) + "/changes": ids[0]} {
			got := h.as("ada", "GET", path, "")
			got.expectErrors(t, 500, "internal")
			if !strings.Contains(got.body, "The change "+change+" cannot be read") {
				t.Errorf("%s: %s, and not %s", path, got.body, change)
			}
		}
		if got := h.as("ada", "GET", "/changes?since="+ids[2], "").changeIDs(t); len(got) != 1 || got[0] != ids[3] {
			t.Errorf("after it: %v, and not %s", got, ids[3])
		}
		if got := h.as("ada", "GET", "/changes", "", "Accept", "text/event-stream"); got.status != 500 {
			t.Errorf("a stream of the change log: %d %s", got.status, got.body)
		}
		for _, each := range []string{position, later} {
			of("/issues", "Last-Event-ID", each).expect(`reset {}`, titled(10, "A"), titled(11, "B"), `synced {}`)
		}
		// A stream that is open when such a change arrives.
		open := of("/issues")
		open.expect(titled(10, "A"), titled(11, "B"), `synced {}`)
		h.sql("INSERT INTO _plural_changes (collection, id, kind, at, caller, schema, previous)" +
			" SELECT collection, id, 'moved', at, caller, schema, '{}' FROM _plural_changes WHERE previous = '{'")
		open.expect(`reset {}`, titled(10, "A"), titled(11, "B"), `synced {}`)
		h.must("PATCH", "/issues/"+id(10), `{"title":"C"}`)
		if next, ok := open.next(); !ok || next.kind != "updated" {
			t.Errorf("ada is told %+v", next)
		}
	})
}
