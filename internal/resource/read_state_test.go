package resource

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

// TestOneReadSeesOneState: a resource below a parent with a read rule is read in the state in which the parent was seen, also if both are
// changed in between.
func TestOneReadSeesOneState(t *testing.T) {
	file, err := schema.Parse([]byte(`collections:
  projects:
    attributes: {open: {type: boolean}}
  issues:
    parent: projects
    attributes: {title: {type: string}}
access:
  roles:
    reader:
      projects: {read: resource.open}
      issues: [list, read]
`))
	if err != nil {
		t.Fatal(err)
	}
	s := (*model.Schema)(file.Schema)
	policy, err := auth.Compile(s, file.Access)
	if err != nil {
		t.Fatal(err)
	}
	for name, url := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) {
			var between func() // called once, before the issue is read
			database := url(t)
			open := func(options ...store.Option) *Resources {
				st, err := store.Open(context.Background(), database, s, options...)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if err := st.Close(); err != nil {
						t.Error(err)
					}
				})
				r := New(st)
				r.BodyLimits = BodyLimits{Depth: 9, Items: 9}
				return r
			}
			writer := open()
			write := func(method, collection string, id byte, body string) Step {
				return Step{Method: method, Path: reads.Path{Collection: s.Collection(collection)}, ID: model.ID{15: id}, Body: []byte(body)}
			}
			execute := func(steps ...Step) {
				t.Helper()
				if err := writer.Execute(context.Background(), Request{Steps: steps, Transaction: true}).Err; err != nil {
					t.Fatal(err)
				}
			}
			execute(write(http.MethodPost, "projects", 0, fmt.Sprintf(`{"id":"%s","open":true}`, model.ID{15: 1})),
				write(http.MethodPost, "issues", 0, fmt.Sprintf(`{"id":"%s","project_id":"%s","title":"before"}`, model.ID{15: 2}, model.ID{15: 1})))
			reader := open(store.Trace(func(sql string) {
				if strings.Contains(sql, `FROM "issues"`) && between != nil {
					change := between
					between = nil
					change()
				}
			}))
			between = func() {
				execute(write(http.MethodPatch, "projects", 1, `{"open":false}`), write(http.MethodPatch, "issues", 2, `{"title":"after"}`))
			}
			parent := model.ID{15: 1}
			path := reads.Path{Collection: s.Collection("issues"), Parent: &parent, By: policy.Permit(auth.Caller{ID: "key:1", Role: "reader"})}
			found, err := reader.Get(context.Background(), path, model.ID{15: 2}, query.Query{})
			if err != nil || !strings.Contains(string(found.Representation), `"title":"before"`) || between != nil {
				t.Errorf("the issue is %s (%v)", found.Representation, err)
			}
			if found, err = reader.Get(context.Background(), path, model.ID{15: 2}, query.Query{}); err == nil {
				t.Errorf("the issue of a hidden project is %s", found.Representation)
			}
		})
	}
}
