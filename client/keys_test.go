package client_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

const managed = `
collections:
  notes:
    attributes:
      text: {type: string}
      secret: {type: string}
access:
  keys: {admin: [reader]}
  metrics: [admin]
  roles:
    reader:
      notes: {list: true, read: resource.text == auth.sub, visible: [text]}
    admin:
      notes: [list, read, create, update, delete]
`

// eachManaged runs a test as an administrator of API keys, on each database.
func eachManaged(t *testing.T, test func(t *testing.T, url, key string)) {
	t.Helper()
	file := must(schema.Parse([]byte(managed)))(t)
	for name, open := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) {
			database := open(t)
			url := serve(t, database, func(c *plural.Config) { c.Schema, c.Access = file.Schema, file.Access })
			test(t, url, must(admin.CreateKey(context.Background(), database, admin.Key{Name: "root", Role: "admin", Subject: "ada"}))(t))
		})
	}
}

func withKey(key string) func(*client.Options) { return func(o *client.Options) { o.Key = key } }

// TestKeysAndMe follows an API key from its creation to its end, and compares what its holder is told.
func TestKeysAndMe(t *testing.T) {
	eachManaged(t, func(t *testing.T, url, key string) {
		ctx := context.Background()
		admin := connect(t, url, withKey(key))
		me := must(admin.Me(ctx))(t)
		yes := map[string]client.Extent{"list": "yes", "read": "yes", "create": "yes", "update": "yes", "delete": "yes", "changes": "no"}
		if me.ID != "key:"+key[7:17] || me.Role != "admin" || me.Subject != "ada" || me.KeyName != "root" || me.ExpiresAt != nil || !me.Metrics || me.AgentWrites || !reflect.DeepEqual(me.Keys, []string{"reader"}) ||
			!reflect.DeepEqual(me.Collections[0], client.Right{Collection: "notes", May: yes, Visible: []string{"text", "secret"}, Writable: []string{"text", "secret"}}) {
			t.Errorf("got %+v", me)
		}

		expires := time.Date(2099, 1, 2, 3, 4, 5, 678_900_000, time.UTC)
		created := must(admin.Keys().Create(ctx, client.NewKey{Name: "ci", Role: "reader", Subject: "bo", ExpiresAt: &expires, AgentWrites: true}))(t)
		if created.Secret[:18] != "plural_"+created.Prefix+"_" || created.Name != "ci" || created.Role != "reader" || created.Subject != "bo" || !created.AgentWrites || created.RevokedAt != nil ||
			created.CreatedAt.IsZero() || !created.ExpiresAt.Equal(expires.Truncate(time.Millisecond)) {
			t.Errorf("got %+v", created)
		}
		shown := created
		shown.Secret = ""
		if got := must(admin.Keys().Get(ctx, created.Prefix))(t); !reflect.DeepEqual(got, shown) {
			t.Errorf("got %+v, want %+v", got, shown)
		}
		if got := must(admin.Keys().List(ctx))(t); !reflect.DeepEqual(got, []client.Key{shown}) {
			t.Errorf("got %+v", got)
		}

		reader := connect(t, url, withKey(created.Secret))
		me = must(reader.Me(ctx))(t)
		some := map[string]client.Extent{"list": "depends", "read": "depends", "create": "no", "update": "no", "delete": "no", "changes": "no"}
		if me.KeyName != "ci" || !me.ExpiresAt.Equal(*created.ExpiresAt) || me.Metrics || !me.AgentWrites || len(me.Keys) != 0 || !reflect.DeepEqual(me.Collections[0], client.Right{Collection: "notes", May: some, Visible: []string{"text"}, Writable: []string{}}) {
			t.Errorf("got %+v", me)
		}
		if _, err := reader.Keys().List(ctx); !client.IsForbidden(err) {
			t.Errorf("got %v", err)
		}
		decisions := must(admin.Can(ctx, client.Question{Role: "reader", Subject: "bo", Collection: "notes", Verb: "read"}))(t)
		want := []client.Decision{{Role: "reader", Subject: "bo", Collection: "notes", Verb: "read", Decision: client.ExtentDepends, Reasons: []string{"reader is granted read in notes", "the rule of read depends on the resource: resource.text == auth.sub"}}}
		if !reflect.DeepEqual(decisions, want) {
			t.Errorf("got %+v", decisions)
		}
		if _, err := admin.Can(ctx, client.Question{Role: "admin"}); !client.IsForbidden(err) {
			t.Errorf("got %v", err)
		}

		if err := documentAccess(ctx, admin); err != nil {
			t.Error(err)
		}
		for range 2 { // the second time it is revoked already
			if revoked := must(admin.Keys().Revoke(ctx, created.Prefix))(t); revoked.RevokedAt == nil || revoked.Prefix != created.Prefix {
				t.Errorf("got %+v", revoked)
			}
		}
		if _, err := reader.Me(ctx); !client.IsUnauthenticated(err) {
			t.Errorf("got %v", err)
		}
		// A whole key is not sent, nor shown.
		if _, err := admin.Keys().Revoke(ctx, created.Secret); err == nil || strings.Contains(err.Error(), created.Secret[18:]) {
			t.Errorf("got %v", err)
		}
	})
}

// TestKeysAreCreatedOnce: a creation whose response is lost is not sent again, as it could not be told from
// another one. One that was certainly not executed is.
func TestKeysAreCreatedOnce(t *testing.T) {
	eachManaged(t, func(t *testing.T, server, key string) {
		ctx := context.Background()
		for trouble, want := range map[string]struct{ sent, created int }{"lost": {1, 1}, "503": {1, 0}, "429": {2, 1}} {
			var sent atomic.Int64
			_, url := between(t, server, func(w http.ResponseWriter, r *http.Request, forward func(http.ResponseWriter)) {
				if r.Header.Get("Idempotency-Key") != "" {
					t.Error("there is an Idempotency-Key, which the server refuses")
				}
				switch first := sent.Add(1) == 1; {
				case first && trouble == "lost":
					forward(httptest.NewRecorder())
					panic(http.ErrAbortHandler)
				case first && trouble == "503":
					w.WriteHeader(http.StatusServiceUnavailable)
				case first && trouble == "429":
					w.WriteHeader(http.StatusTooManyRequests)
				default:
					forward(w)
				}
			})
			created, err := connect(t, url, withKey(key)).Keys().Create(ctx, client.NewKey{Name: trouble, Role: "reader"})
			if client.IsLost(err) != (trouble == "lost") || client.IsUnavailable(err) != (trouble == "503") || (err == nil) != (trouble == "429") || int(sent.Load()) != want.sent {
				t.Errorf("%s: sent %d times: %+v, %v", trouble, sent.Load(), created, err)
			}
			count := 0
			for _, each := range must(connect(t, server, withKey(key)).Keys().List(ctx))(t) {
				if each.Name == trouble {
					count++
				}
			}
			if count != want.created {
				t.Errorf("%s: %d keys", trouble, count)
			}
		}
	})
}
