package client_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

const readers = `
collections:
  notes:
    attributes:
      text: {type: string}
access:
  roles:
    reader:
      notes: {list: true, read: true}
`

// TestAccess: what a server asks for, and refuses, is known by its type.
func TestAccess(t *testing.T) {
	type note struct {
		Text string `json:"text"`
	}
	file := must(schema.Parse([]byte(readers)))(t)
	for name, database := range map[string]string{"sqlite": "sqlite:" + filepath.Join(t.TempDir(), "test.db"), "postgres": pgtest.URL(t)} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			url := serve(t, database, func(c *plural.Config) { c.Schema, c.Access = file.Schema, file.Access })
			key := must(admin.CreateKey(ctx, database, admin.Key{Name: "test", Role: "reader"}))(t)
			if _, err := client.Of[note](connect(t, url), "notes").List(ctx); !client.IsUnauthenticated(err) || client.IsForbidden(err) {
				t.Errorf("got %v", err)
			}
			notes := client.Of[note](connect(t, url, func(o *client.Options) { o.Key = key }), "notes")
			if page := must(notes.List(ctx))(t); len(page.Items) != 0 {
				t.Errorf("got %+v", page)
			}
			if _, err := notes.Create(ctx, note{"x"}); !client.IsForbidden(err) || client.IsUnauthenticated(err) {
				t.Errorf("got %v", err)
			}
		})
	}
}
