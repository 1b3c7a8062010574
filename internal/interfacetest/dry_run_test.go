package interfacetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// TestDryRun answers as the write would, and changes nothing.
func TestDryRun(t *testing.T) {
	t.Parallel()
	eachStore(t, family(t), func(t *testing.T, s *server) {
		person := func(position int, name string) string {
			return fmt.Sprintf(`{"id":"%s","type":"people","name":%s,"boss_id":null}`, id(position), name)
		}
		s.createAll("/people", `{"id":"`+id(0)+`","name":"A"}`, `{"id":"`+id(1)+`","name":"B"}`)
		for i := range 3 {
			s.createAll("/people/"+id(0)+"/cats", `{"id":"`+id(10+i)+`"}`)
			s.createAll("/toys", `{"id":"`+id(20+2*i)+`","cat_id":"`+id(10+i)+`"}`, `{"id":"`+id(21+2*i)+`","cat_id":"`+id(10+i)+`"}`)
		}
		state := func() string {
			return s.get("/people").body + s.get("/cats").body + s.get("/toys").body + s.get("/changes").body
		}
		before := state()
		for _, test := range []struct {
			method, path, body string
			status             int
			want               string
			affected, deleted  string
		}{
			{"POST", "/people", `{"id":"` + id(2) + `","name":"C"}`, 201, `{"data":` + person(2, `"C"`) + `}`, "people=1", ""},
			{"POST", "/people", `[{"id":"` + id(2) + `"},{"id":"` + id(3) + `"}]`, 201, data(person(2, "null"), person(3, "null")), "people=2", ""},
			{"PATCH", "/people/" + id(1), `{"name":"X"}`, 200, `{"data":` + person(1, `"X"`) + `}`, "people=1", ""},
			{"PATCH", "/people/" + id(1), `{"name":"B"}`, 200, `{"data":` + person(1, `"B"`) + `}`, "people=0", ""},
			{"PUT", "/people/" + id(1), `{}`, 200, `{"data":` + person(1, "null") + `}`, "people=1", ""},
			{"DELETE", "/people/" + id(0), "", 200, `{"data":` + person(0, `"A"`) + `}`, "people=1, cats=3, toys=6", "people=1, cats=3"},
			{"DELETE", "/people?limit=9", "", 200, data(person(0, `"A"`), person(1, `"B"`)), "people=2, cats=3, toys=6", "people=2, cats=3"},
			{"DELETE", "/people?filter[name]=nobody", "", 200, data(), "people=0", ""},
			{"PATCH", "/people?filter[name]=A", `{"name":"X"}`, 200, data(person(0, `"X"`)), "people=1", ""},
			{"POST", "/people?on_conflict=id", `{"id":"` + id(0) + `","name":"X"}`, 200, `{"data":` + person(0, `"X"`) + `}`, "people=1", ""},
			{"POST", "/-/transaction", "[" + step("DELETE", "/cats/"+id(10), "") + "," + step("PATCH", "/people/"+id(0), `{"name":"A"}`) + "]", 200,
				data(`{"id":"`+id(10)+`","type":"cats","name":null,"person_id":"`+id(0)+`"}`, person(0, `"A"`)), "cats=1, toys=2, people=0", "cats=1"},
		} {
			query := "?dry_run=true"
			if len(test.path) > 7 && test.path[7] == '?' {
				query = "&dry_run=true"
			}
			got := s.do(test.method, test.path+query, test.body)
			got.expect(t, test.status, test.want)
			headers := []string{"X-Affected: " + test.affected}
			if test.deleted != "" {
				headers = append(headers, "X-Deleted: "+test.deleted)
			}
			got.expectHeaders(t, headers...)
			if after := state(); after != before {
				t.Fatalf("%s %s has changed something", test.method, test.path)
			}
		}
		s.do("DELETE", "/people/"+id(9)+"?dry_run=true", "").expectErrors(t, 404, "not_found")
		s.do("POST", "/people?dry_run=true", `{"name":1}`).expectErrors(t, 422, "type /name")
		s.do("PATCH", "/people/"+id(0)+"?dry_run=true", `{}`, "If-Match", `"x"`).expectErrors(t, 412, "precondition_failed If-Match")
		s.do("PATCH", "/people/"+id(0)+"?dry_run", `{}`).expectErrors(t, 400, "invalid_parameter dry_run")
		s.do("PATCH", "/people/"+id(0)+"?dry_run=true&dry_run=true", `{}`).expectErrors(t, 400, "duplicate_parameter dry_run")
		s.get("/people/"+id(0)+"?dry_run=true").expectErrors(t, 400, "unknown_parameter dry_run")
		s.get("/people?dry_run=true").expectErrors(t, 400, "unknown_parameter dry_run")
		// It is never asynchronous, and false is as if it were not there.
		s.do("PATCH", "/people/"+id(0)+"?dry_run=true", `{"name":"X"}`, "Prefer", "respond-async").expectHeaders(t, "X-Affected: people=1")
		s.do("PATCH", "/people/"+id(0)+"?dry_run=false", `{"name":"X"}`, "Idempotency-Key", "k").expectHeaders(t, tagged)
	})
}

// folderFile: members see their folders, and those in their folders, by a rule through a reference.
const folderFile = `
collections:
  folders:
    timestamps: false
    attributes:
      owner: {type: string, maxLength: 100}
      parent_id: {references: {collection: folders, on_delete: cascade}}
      twin_id: {references: {collection: folders, on_delete: set_null}}
access:
  roles:
    admin:
      folders: [list, read, create, update, delete]
    member:
      folders:
        list: true
        read: resource.owner == auth.sub || resource.parent.owner == auth.sub
        create: true
        update: true
        delete: true
    single: # sees those without a twin
      folders: {list: true, read: resource.twin_id == null, delete: true}
    nephew: # sees those in such a folder
      folders: {list: true, read: resource.parent.twin_id == null, delete: true}
`

// TestDryRunCountsThroughReferences: a resource counts if the caller sees it before the write or after it,
// also if what its rule reads is deleted or changed by the same write.
func TestDryRunCountsThroughReferences(t *testing.T) {
	file, err := schema.Parse([]byte(folderFile))
	if err != nil {
		t.Fatal(err)
	}
	folder := func(n int, owner string, parent, twin int) string {
		return fmt.Sprintf(`{"id":"%s","owner":%q,"parent_id":%s,"twin_id":%s}`, id(n), owner, idOrNull(parent), idOrNull(twin))
	}
	eachStore(t, file.Schema, func(t *testing.T, s *server) {
		h := &accessServer{server: s, keys: map[string]string{"": ""}}
		h.key("admin", "admin", "")
		h.key("ada", "member", "ada")
		// Ada sees 1, 2, 3 and 6, and none of 4, 5 and 8.
		h.must("POST", "/folders", "["+folder(1, "ada", 0, 0)+","+folder(2, "bo", 1, 0)+","+folder(3, "bo", 1, 0)+","+folder(4, "bo", 2, 0)+","+folder(5, "bo", 0, 2)+","+folder(6, "ada", 0, 2)+","+folder(8, "bo", 0, 3)+"]")
		for _, test := range []struct{ caller, method, path, body, want, deleted string }{
			{"ada", "DELETE", "/folders/" + id(1), "", "folders=4", "folders=3"}, // 1, 2, 3, and 6 whose twin is gone
			{"admin", "DELETE", "/folders/" + id(1), "", "folders=7", "folders=4"},
			{"ada", "DELETE", "/folders/" + id(3), "", "folders=1", "folders=1"}, // of 8 alone, whose twin is gone, she learns nothing
			{"admin", "DELETE", "/folders/" + id(3), "", "folders=2", "folders=1"},
			{"ada", "DELETE", "/folders/" + id(2), "", "folders=2", "folders=1"},
			{"ada", "DELETE", "/folders?filter[owner]=bo", "", "folders=3", "folders=2"},
			{"ada", "PATCH", "/folders/" + id(1), `{"owner":"bo"}`, "folders=1", ""},
			{"ada", "PATCH", "/folders?filter[owner][in]=ada,bo", `{"owner":"eve"}`, "folders=4", ""},
			{"ada", "POST", "/-/transaction", "[" + step("POST", "/folders", folder(7, "ada", 1, 0)) + "," + step("DELETE", "/folders/"+id(7), "") + "]", "folders=0", ""},
			{"admin", "POST", "/-/transaction", "[" + step("POST", "/folders", folder(7, "ada", 1, 0)) + "," + step("DELETE", "/folders/"+id(7), "") + "]", "folders=0", ""},
			{"admin", "POST", "/-/transaction", "[" + step("DELETE", "/folders/"+id(6), "") + "," + step("POST", "/folders", folder(6, "bo", 0, 0)) + "," + step("DELETE", "/folders/"+id(6), "") + "]", "folders=1", "folders=1"},
			{"ada", "POST", "/-/transaction", "[" + step("POST", "/folders", folder(7, "bo", 3, 0)) + "," + step("PATCH", "/folders/"+id(3), `{"owner":"ada"}`) + "]", "folders=2", ""},
		} {
			mark := "?"
			if strings.Contains(test.path, "?") {
				mark = "&"
			}
			got := h.as(test.caller, test.method, test.path+mark+"dry_run=true", test.body)
			if affected, deleted := got.header.Get("X-Affected"), got.header.Get("X-Deleted"); affected != test.want || deleted != test.deleted {
				t.Errorf("%s: %s %s %s: X-Affected %q, X-Deleted %q, want %q, %q (%d %s)", test.caller, test.method, test.path, test.body, affected, deleted, test.want, test.deleted, got.status, got.body)
			}
		}
	}, func(c *plural.Config) { c.Access = file.Access })
}

// TestDryRunCountsWhatItShows: a resource that the caller sees only after a deletion, because that sets a reference to null, counts.
func TestDryRunCountsWhatItShows(t *testing.T) {
	file, err := schema.Parse([]byte(folderFile))
	if err != nil {
		t.Fatal(err)
	}
	folder := func(n int, parent, twin int) string {
		return fmt.Sprintf(`{"id":"%s","owner":"bo","parent_id":%s,"twin_id":%s}`, id(n), idOrNull(parent), idOrNull(twin))
	}
	eachStore(t, file.Schema, func(t *testing.T, s *server) {
		h := &accessServer{server: s, keys: map[string]string{"": ""}}
		for _, role := range []string{"admin", "single", "nephew"} {
			h.key(role, role, role)
		}
		h.must("POST", "/folders", "["+folder(1, 0, 0)+","+folder(2, 1, 0)+","+folder(3, 0, 1)+","+folder(4, 3, 1)+","+folder(5, 4, 3)+"]")
		for _, test := range []struct{ caller, affected, deleted string }{
			{"admin", "folders=4", "folders=2"},  // 1 and 2 are deleted, 3 and 4 lose their twin
			{"single", "folders=4", "folders=2"}, // 3 and 4 are shown
			{"nephew", "folders=4", "folders=2"}, // 4 is shown, because 3, in which it is, loses its twin
		} {
			got := h.as(test.caller, "DELETE", "/folders/"+id(1)+"?dry_run=true", "")
			got.expectHeaders(t, "Vary: Authorization", "X-Affected: "+test.affected, "X-Deleted: "+test.deleted)
			if got.status != 200 {
				t.Errorf("%s: %d %s", test.caller, got.status, got.body)
			}
		}
	}, func(c *plural.Config) { c.Access = file.Access })
}
