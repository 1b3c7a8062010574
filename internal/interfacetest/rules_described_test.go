package interfacetest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/plural-go/plural/admin"
)

// describedFile has roles that see, and may do, parts of what rules are about.
const describedFile = `
collections:
  posts:
    timestamps: false
    attributes:
      title: {type: string}
      fee: {type: integer}
      twice: {type: integer, computed: resource.fee * 2}
      first: {type: string, computed: resource.title, when: create}
      code: {type: string, write_once: true}
      state: {type: string, enum: [draft, sent, done], initial: [draft], transitions: {draft: [sent], sent: [done]}}
    required: [state]
    checks:
      - {rule: resource.fee < 100, message: Too much., attribute: fee}
      - {rule: resource.title != 'x', message: A title is needed.}
access:
  roles:
    public:
      posts: {list: true, read: true, visible: [title, twice, first, state]}
    editor:
      posts: {list: true, read: true, create: true, update: true, transitions: {state: {sent: "auth.sub == resource.code", done: false}}}
`

// TestRulesAreDescribed: GET / describes rules as far as the caller sees what they read, and GET /-/me the transitions that the caller may
// make.
func TestRulesAreDescribed(t *testing.T) {
	withFile(t, describedFile, func(t *testing.T, s *server) {
		key, err := admin.CreateKey(t.Context(), s.config.Database, admin.Key{Name: "x", Role: "editor"})
		if err != nil {
			t.Fatal(err)
		}
		const state = `{"name":"state","required":true,"transitions":{"draft":["sent"],"sent":["done"],"done":[]},"initial":["draft"],"type":"string","enum":["draft","sent","done"]}`
		const title, first = `{"name":"title","required":false,"type":"string"}`, `{"name":"first","required":false,"computed":"resource.title","when":"create","type":"string"}`
		const titled = `{"rule":"resource.title != 'x'","message":"A title is needed."}`
		for _, test := range []struct {
			credentials, attributes, checks, me string
		}{
			{"", title + `,{"name":"twice","required":false,"computed":null,"type":"integer"},` + first + `,` + state, titled,
				`"visible":["title","twice","first","state"],"writable":[],"transitions":{"state":{"done":"yes","draft":"yes","sent":"yes"}}}`},
			{key, title + `,{"name":"fee","required":false,"type":"integer"},{"name":"twice","required":false,"computed":"resource.fee * 2","type":"integer"},` + first +
				`,{"name":"code","required":false,"write_once":true,"type":"string"},` + state, `{"rule":"resource.fee < 100","message":"Too much.","attribute":"fee"},` + titled,
				`"visible":["title","fee","twice","first","code","state"],"writable":["title","fee","code","state"],"transitions":{"state":{"done":"no","draft":"yes","sent":"depends"}}}`},
		} {
			var headers []string
			if test.credentials != "" {
				headers = []string{"Authorization", "Bearer " + test.credentials}
			}
			var root, me struct{ Data json.RawMessage }
			if err := json.Unmarshal([]byte(s.do("GET", "/", "", headers...).body), &root); err != nil {
				t.Fatal(err)
			}
			got, want := string(root.Data), `"attributes":[`+test.attributes+`],"relations":[],"checks":[`+test.checks+`]}`
			if !strings.Contains(got, want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if err := json.Unmarshal([]byte(s.do("GET", "/-/me", "", headers...).body), &me); err != nil || !strings.Contains(string(me.Data), test.me) {
				t.Errorf("got  %s\nwant %s (%v)", me.Data, test.me, err)
			}
		}
	})
}
