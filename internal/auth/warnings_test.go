package auth

import (
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// TestNullWarnings: a claim that is null must not match resources that belong to nobody
// without anybody knowing.
func TestNullWarnings(t *testing.T) {
	s, err := compile.Schema(model.Collection{Name: "things", Attributes: []model.Attribute{
		{Name: "org", Type: model.String}, {Name: "team", Type: model.String, Required: true}, {Name: "flag", Type: model.Boolean},
	}})
	if err != nil {
		t.Fatal(err)
	}
	things := s.Collection("things")
	warning := func(claim string) string {
		return "org can be null in things, and is compared with " + claim + ": for a caller whose claim is, or contains, null, the rule is true of resources where org is null: " +
			"list org in required, or add resource.org != null to the rule"
	}
	for rule, want := range map[string]string{
		"resource.org == auth.claims.org":                                                      warning("auth.claims.org"),
		"auth.claims['org'] == resource.org":                                                   warning("auth.claims.org"),
		"resource.org in auth.claims.orgs":                                                     warning("auth.claims.orgs"),
		"resource.org == auth.claims.user.org":                                                 warning("auth.claims.user.org"),
		"resource.flag || resource.org == auth.claims.org":                                     warning("auth.claims.org"),
		"resource.flag ? false : resource.org == auth.claims.org":                              warning("auth.claims.org"),
		"(resource.org != null || resource.flag) && resource.org == auth.claims.org":           warning("auth.claims.org"),
		"resource.org != null || resource.org == auth.claims.org":                              warning("auth.claims.org"),
		"!(resource.org != auth.claims.org)":                                                   warning("auth.claims.org"),
		"!(!(resource.org == auth.claims.org))":                                                warning("auth.claims.org"),
		"resource.org != auth.claims.org ? false : true":                                       warning("auth.claims.org"),
		"!(resource.org != auth.claims.org || false)":                                          warning("auth.claims.org"),
		"!(resource.org == auth.claims.org) ? false : true":                                    warning("auth.claims.org"),
		"!(resource.org == auth.claims.org)":                                                   "",
		"resource.org == auth.claims.org ? false : true":                                       "",
		"resource.org == auth.sub":                                                             "",
		"resource.team == auth.claims.team":                                                    "",
		"resource.org == 'a' && 'x' in auth.claims.roles":                                      "",
		"resource.org != auth.claims.org":                                                      "",
		"resource.org != null && resource.org == auth.claims.org":                              "",
		"resource.flag && resource.org == auth.claims.org && resource.org != null":             "",
		"auth.claims.org != null && resource.org == auth.claims.org":                           "",
		"null != auth.claims['org'] && (resource.flag || resource.org == auth.claims.org)":     "",
		"resource.org != null ? resource.org == auth.claims.org : resource.flag":               "",
		"resource.org == null || (resource.org != null && resource.org == auth.claims['org'])": "",
	} {
		compiled, problems := compileRule(things, schema.Rule{Text: rule}, []string{"here"})
		if len(problems) > 0 {
			t.Errorf("%s: %v", rule, problems)
			continue
		}
		if got := strings.Join(compiled.warnings, "\n"); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", rule, got, want)
		}
	}
}

func TestWarningsOfAPolicy(t *testing.T) {
	file, err := schema.Parse([]byte(`
collections:
  users: {}
  notes:
    attributes: {title: {type: string}, state: {type: string, default: new}, org: {type: string}, rank: {type: integer}}
    required: [title, state, user_id]
    parent: users
access:
  roles:
    clerk: {notes: {create: true, writable: [title, org]}}
    author: {notes: {list: true, read: resource.org == auth.claims.org, create: true, writable: [title, user_id]}}
    reader: {notes: {read: true, visible: [rank]}}
    editor: {notes: [list, read, create]}
`))
	if err != nil {
		t.Fatal(err)
	}
	policy, err := Compile((*model.Schema)(file.Schema), file.Access)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"clerk is granted create in notes, but every create fails: user_id is required, has no default, and is not writable for the role: add it to writable", "author, notes, read: org can be null in notes, and is compared with auth.claims.org: " +
		"for a caller whose claim is, or contains, null, the rule is true of resources where org is null: list org in required, or add resource.org != null to the rule"}
	if got := policy.Warnings(); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for role, want := range map[string]string{"clerk": "user_id", "author": "", "editor": "", "nobody": ""} {
		if got := strings.Join(policy.MustWrite(role, (*model.Schema)(file.Schema).Collection("notes")), " "); got != want {
			t.Errorf("%s must write %q, want %q", role, got, want)
		}
	}
}

// TestRulesThatTellOfHiddenAttributes: what a check refuses, and what a computed attribute is, tells about what they
// read.
func TestRulesThatTellOfHiddenAttributes(t *testing.T) {
	file, err := schema.Parse([]byte(`
collections:
  orders:
    attributes:
      price: {type: integer}
      quantity: {type: integer}
      cost: {type: integer}
      total: {type: integer, computed: resource.price * resource.quantity}
      margin: {type: integer, computed: resource.total - resource.cost}
      note: {type: string}
      creator: {type: string, computed: auth.sub, when: create}
    checks:
      - {rule: resource.margin >= 0, message: It makes a loss.}
      - {rule: resource.note != "x", message: This is no text.}
      - {rule: resource.quantity > 0, message: Order something.}
      - {rule: resource.note != resource.creator, message: This is no note.}
access:
  roles:
    seller: {orders: {read: true, create: true, visible: [price, quantity, total, note]}}
    buyer: {orders: {list: true, read: true, visible: [quantity, total, margin, cost, creator]}}
    blind: {orders: {update: true, read: true, visible: [], writable: [note]}}
    writer: {orders: {create: true, visible: [], writable: [price, cost]}}
    whole: {orders: [list, read, create, update, delete]}
    none: {orders: {visible: [total]}}
`))
	if err != nil {
		t.Fatal(err)
	}
	policy, err := Compile((*model.Schema)(file.Schema), file.Access)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`seller can write price and quantity of orders, but not see cost and margin, which the same check reads: its error, "It makes a loss.", tells about hidden values`,
		`seller can write note of orders, but not see creator, which the same check reads: its error, "This is no note.", tells about hidden values`,
		"buyer sees total of orders, but not price, from which it is computed: the value tells about hidden ones",
		`blind can write note of orders, but not see note and creator, which the same check reads: its error, "This is no note.", tells about hidden values`,
		`writer can write price and cost of orders, but not see price and quantity and cost and total and margin, which the same check reads: its error, "It makes a loss.", tells about hidden values`,
	}
	if got := policy.Warnings(); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestChildrenOfHiddenParents: a rule of the parent does not protect children in their own
// collection, so there is a warning where only the parent has one.
func TestChildrenOfHiddenParents(t *testing.T) {
	file, err := schema.Parse([]byte(`
collections:
  orders: {attributes: {owner: {type: string}}}
  lines: {attributes: {owner: {type: string}}, parent: orders}
access:
  roles:
    open: {orders: {read: resource.owner == auth.sub}, lines: [list, read]}
    ruled: {orders: {read: resource.owner == auth.sub}, lines: {list: true, read: resource.owner == auth.sub}}
    whole: {orders: [read], lines: [list, read]}
    writer: {orders: {read: resource.owner == auth.sub}, lines: [create]}
    below: {lines: [list, read]}
`))
	if err != nil {
		t.Fatal(err)
	}
	policy, err := Compile((*model.Schema)(file.Schema), file.Access)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"open sees only some of orders, by a rule, but all of lines: the rule of a parent does not apply to GET /lines: give lines a read rule of its own, for example one that reads through the reference to the parent"}
	if got := policy.Warnings(); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
