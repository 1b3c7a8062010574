package interfacetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

const treeFile = `
collections:
  nodes:
    timestamps: false
    attributes:
      code: {type: string, maxLength: 10, unique: true}
      owner: {type: string, maxLength: 100}
      closed: {type: boolean}
      parent_id: {references: nodes}
access:
  roles:
    admin:
      nodes: [list, read, create, update, delete]
    member:
      nodes:
        list: true
        read: true
        create: resource.parent.owner == auth.sub
        update: resource.parent.owner == auth.sub
    guest:
      nodes: {list: true, read: true, create: resource.parent.closed != true, update: resource.parent.parent.owner == auth.sub}
`

// TestNoResourceAllowsItself: a rule that reads other resources of the collection does not hold because of what the
// request itself writes there.
func TestNoResourceAllowsItself(t *testing.T) {
	file, err := schema.Parse([]byte(treeFile))
	if err != nil {
		t.Fatal(err)
	}
	node := func(n, parent int, owner string) string {
		return fmt.Sprintf(`{"id":"%s","code":"%d","owner":"%s","parent_id":%s}`, id(n), n, owner, idOrNull(parent))
	}
	nodes := func(all ...string) string { return "[" + strings.Join(all, ",") + "]" }
	eachStore(t, file.Schema, func(t *testing.T, s *server) {
		h := &accessServer{server: s, keys: map[string]string{"": ""}}
		h.key("admin", "admin", "")
		h.key("ada", "member", "ada")
		h.key("guest", "guest", "ada")
		// 1 is ada's, 2 is bo's; 3 is ada's and its own parent; 4 and 5 are below 1.
		h.must("POST", "/nodes", nodes(node(1, 0, "ada"), node(2, 0, "bo"), node(3, 3, "ada"), node(4, 1, "bo"), node(5, 1, "bo")))
		before := h.as("ada", "GET", "/nodes", "").body
		for _, c := range []struct{ who, method, path, body, want string }{
			{"ada", "POST", "/nodes", node(10, 10, "ada"), "forbidden"},
			{"ada", "POST", "/nodes", nodes(node(10, 11, "ada"), node(11, 10, "ada")), "forbidden /0"},
			{"ada", "POST", "/nodes", nodes(node(10, 1, "ada"), node(11, 12, "ada"), node(12, 13, "ada"), node(13, 11, "ada")), "forbidden /1"},
			{"ada", "POST", "/nodes", node(10, 2, "ada"), "forbidden"},
			{"ada", "POST", "/nodes?on_conflict=code", node(10, 10, "ada"), "forbidden"},
			{"ada", "POST", "/nodes?on_conflict=code", nodes(node(10, 11, "ada"), node(11, 10, "ada")), "forbidden /0"},
			{"ada", "PATCH", "/nodes/" + id(4), `{"owner":"ada","parent_id":"` + id(4) + `"}`, "forbidden"},
			{"ada", "PUT", "/nodes/" + id(4), node(4, 4, "ada"), "forbidden"},
			{"ada", "PATCH", "/nodes?filter[code]=4", `{"owner":"ada","parent_id":"` + id(4) + `"}`, "forbidden"},
			{"ada", "POST", "/nodes?on_conflict=code", nodes(`{"code":"4","owner":"ada","parent_id":"`+id(5)+`"}`, `{"code":"5","owner":"ada","parent_id":"`+id(4)+`"}`), "forbidden /0"},
			// What will be stored counts too.
			{"guest", "POST", "/nodes", `{"id":"` + id(10) + `","closed":true,"parent_id":"` + id(10) + `"}`, "forbidden"},
			{"ada", "PATCH", "/nodes/" + id(3), `{"owner":"bo"}`, "forbidden"},
		} {
			h.as(c.who, c.method, c.path, c.body).expectErrors(t, 403, c.want)
		}
		if after := h.as("ada", "GET", "/nodes", "").body; after != before {
			t.Errorf("got  %s\nwant %s", after, before)
		}
		for _, c := range []struct {
			who, method, path, body string
			status                  int
		}{
			{"ada", "POST", "/nodes", node(10, 1, "ada"), 201},
			// A tree, in any order.
			{"ada", "POST", "/nodes", nodes(node(13, 12, "bo"), node(12, 11, "ada"), node(11, 10, "ada")), 201},
			{"ada", "POST", "/nodes?on_conflict=code", nodes(node(15, 14, "bo"), `{"code":"13","parent_id":"`+id(14)+`"}`, node(14, 10, "ada")), 200},
			// The stored state allows it.
			{"ada", "PATCH", "/nodes/" + id(3), `{"closed":true}`, 200},
			{"guest", "POST", "/nodes", `{"parent_id":"` + id(1) + `"}`, 201},
			{"guest", "PATCH", "/nodes/" + id(11), `{"closed":false}`, 200},
		} {
			if got := h.as(c.who, c.method, c.path, c.body); got.status != c.status {
				t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body, got.status, got.body)
			}
		}
	}, func(c *plural.Config) { c.Access = file.Access })
}
