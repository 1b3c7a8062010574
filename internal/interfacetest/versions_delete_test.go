package interfacetest

import (
	"strings"
	"testing"
)

// TestDeletionsOfVersions: counts and refusals have the names of the version, and say nothing of collections that it does not have.
func TestDeletionsOfVersions(t *testing.T) {
	eachVersioned(t, func(t *testing.T, s *server) {
		affected := func(a answer) string {
			return a.header.Get("X-Affected") + "; " + a.header.Get("X-Deleted")
		}
		for version, test := range map[int]struct{ path, want string }{
			1: {"/clients/" + id(1), "clients=2, orders=1; clients=1, orders=1"},
			3: {"/customers/" + id(1), "customers=2, orders=1; customers=1, orders=1"},
		} {
			if got := affected(s.version(version).do("DELETE", test.path+"?dry_run=true", "")); got != test.want {
				t.Errorf("version %d: got %s, want %s", version, got, test.want)
			}
		}
		steps := []string{`{"method":"PATCH","path":"/clients/` + id(2) + `","body":{"fax":"1"}}`, `{"method":"DELETE","path":"/clients/` + id(2) + `"}`, `{"method":"POST","path":"/clients","body":{"name":"Eve"}}`}
		if got, want := affected(s.version(1).do("POST", "/-/transaction?dry_run=true", "["+strings.Join(steps, ",")+"]")), "clients=2, orders=1; clients=1, orders=1"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		s.version(2).do("DELETE", "/labels/"+id(21), "").expect(t, 409,
			`{"errors":[{"status":409,"code":"referenced","title":"Other resources refer to this one","detail":"The resource orders/`+id(12)+` refers to labels/`+id(21)+` by label_id. Delete or change it, and others like it, first."}]}`)
		s.version(1).do("DELETE", "/clients/"+id(2), "").expect(t, 200, one(customerIn(1, 2, `"Bob"`, `"bob@example.com"`, `"blocked"`, "null", "null", "null", quoted(id(1)), "", "")))
		s.version(1).do("DELETE", "/clients?filter[name]=Ann", "").expect(t, 200, data(customerIn(1, 1, `"Ann"`, `"ann@example.com"`, `"new"`, `"11"`, 5, "null", "null", "", "")))
		s.get("/orders").expectTotal(t, "0")
	})
}

// newerVersions are schema files of which the first does not have a collection that refers to its own.
var newerVersions = []string{`
version: 1
collections:
  users: {attributes: {name: {type: string}}}
`, `
version: 2
collections:
  users: {attributes: {name: {type: string}}}
  notes: {attributes: {user_id: {references: {collection: users, on_delete: restrict}}}}
  tasks: {attributes: {user_id: {references: {collection: users, on_delete: cascade}}}}
`}

// TestDeletionsThatReachOthers: what a version does not have takes part in deletions, and is not named.
func TestDeletionsThatReachOthers(t *testing.T) {
	eachDatabase(t, func(t *testing.T, database string) {
		s := startVersioned(t, database, newerVersions, func(*server, int) {})
		old := s.version(1)
		s.createAll("/users", `{"id":"`+id(1)+`"}`, `{"id":"`+id(2)+`"}`)
		s.createAll("/notes", `{"id":"`+id(3)+`","user_id":"`+id(1)+`"}`)
		s.createAll("/tasks", `{"id":"`+id(4)+`","user_id":"`+id(2)+`"}`)
		for _, query := range []string{"", "?dry_run=true"} {
			old.do("DELETE", "/users/"+id(1)+query, "").expect(t, 409,
				`{"errors":[{"status":409,"code":"referenced","title":"Other resources refer to this one","detail":"A resource that you may not see refers to this one, or to one that would be deleted with it."}]}`)
		}
		tried := old.do("DELETE", "/users/"+id(2)+"?dry_run=true", "")
		if got := tried.header.Get("X-Affected") + "; " + tried.header.Get("X-Deleted"); tried.status != 200 || got != "users=1; users=1" {
			t.Errorf("%d %s", tried.status, got)
		}
		old.do("DELETE", "/users/"+id(2), "").expect(t, 200, one(`{"id":"`+id(2)+`","type":"users","name":null,"created_at":"TIME","updated_at":"TIME"}`))
		s.get("/tasks").expectTotal(t, "0")
	})
}
