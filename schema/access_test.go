package schema

import (
	"reflect"
	"testing"
	"time"
)

// TestParseAccess compares both forms with the same in Go.
func TestParseAccess(t *testing.T) {
	file, err := Parse([]byte(`
collections:
  users: {attributes: {name: {type: string}, email: {type: string}}}
  posts: {attributes: {title: {type: string}}, parent: users}
access:
  roles:
    editor: {users: [list, read, create, update, delete, changes]}
    author:
      posts:
        list: true
        read: "resource.user_id == auth.sub"
        update: |
          resource.user_id == auth.sub
        delete: false
      users: {read: true, visible: [], writable: [email]}
    public:
  metrics: [editor]
  keys: {editor: [editor, author], author: [author]}
  tokens: {issuer: "https://issuer.example", public_key: key.pem, audience: api, role_claim: realm.role, algorithms: [ES256], clock_skew: 30s}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := &Access{
		Roles: []Role{
			{Name: "editor", Grants: []Grant{{Collection: "users", Verbs: AccessVerbs(), Rules: map[AccessVerb]Rule{}}}},
			{Name: "author", Grants: []Grant{
				{Collection: "posts", Verbs: []AccessVerb{MayList, MayRead, MayUpdate}, Rules: map[AccessVerb]Rule{
					MayRead:   {Text: "resource.user_id == auth.sub", Line: 11, Column: 16},
					MayUpdate: {Text: "resource.user_id == auth.sub\n", Line: 13, Column: 11},
				}},
				{Collection: "users", Verbs: []AccessVerb{MayRead}, Visible: []string{}, Writable: []string{"email"}, Rules: map[AccessVerb]Rule{}},
			}},
			{Name: "public"},
		},
		Metrics: []string{"editor"},
		Keys:    map[string][]string{"editor": {"editor", "author"}, "author": {"author"}},
		Tokens: &Tokens{Issuer: "https://issuer.example", PublicKey: "key.pem", Audience: "api", RoleClaim: "realm.role",
			Algorithms: []string{"ES256"}, ClockSkew: 30 * time.Second},
	}
	if !reflect.DeepEqual(file.Access, want) {
		t.Errorf("got  %+v\nwant %+v", file.Access, want)
	}
	author := want.Roles[1].Grants
	for _, c := range []struct {
		what      string
		got, want bool
	}{
		{"all is visible", author[0].MaySee("title"), true},
		{"and writable", author[0].MayWrite("title"), true},
		{"nothing is visible", author[1].MaySee("name"), false},
		{"hidden, so not writable", (&Grant{Visible: []string{"name"}}).MayWrite("email"), false},
		{"hidden, and writable all the same", author[1].MayWrite("email"), true},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %t", c.what, c.got)
		}
	}
}
