package interfacetest

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/admin"
)

// lines is a log that can be read while it is written.
type lines struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.String()
}

// TestSecretsAreNotStoredOrLogged: credentials are in no log and no metric, whether they are right
// or wrong; who called, and why they were denied, is.
func TestSecretsAreNotStoredOrLogged(t *testing.T) {
	eachAccessServer(t, func(t *testing.T, open opener) {
		log := &lines{}
		h := open(func(c *plural.Config) {
			c.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		})
		h.fill(true, "example.com")
		secrets := []string{"plural_aaaaaaaaaa_" + strings.Repeat("b", 52), "eyJhbGciOiJub25lIn0.eyJzdWIiOiJzZWNyZXQifQ.c2VjcmV0c2VjcmV0"}
		for _, key := range h.keys {
			if key != "" {
				secrets = append(secrets, strings.TrimPrefix(key, "Bearer "))
			}
		}
		for _, secret := range secrets {
			for _, path := range []string{"/posts", "/posts/" + id(11), "/users?sort=email", "/-/metrics"} {
				h.get(path, "Authorization", "Bearer "+secret)
			}
		}
		h.as("public", "DELETE", "/posts/"+id(11), "")
		h.as("ada", "PATCH", "/posts/"+id(12), `{"title":"x"}`)
		metrics := h.as("editor", "GET", "/-/metrics", "").body
		for _, secret := range secrets {
			if part := secret[len(secret)-20:]; strings.Contains(log.String(), part) || strings.Contains(metrics, part) {
				t.Errorf("a secret is in the log or the metrics")
			}
		}
		for _, want := range []string{"msg=denied", "reason=forbidden", "reason=unauthenticated", "reason=invalid_credentials", "caller=key:"} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("the log has no %s", want)
			}
		}
		for _, want := range []string{`plural_denied_total{reason="forbidden"}`, `plural_denied_total{reason="unauthenticated"} 1`, `plural_denied_total{reason="invalid_credentials"} 8`} {
			if !strings.Contains(metrics, want) {
				t.Errorf("the metrics have no %s", want)
			}
		}
	})
}

// TestAccessOfARevokedKeyEnds: what was accepted from a key is not carried out behind its
// revocation.
func TestAccessOfARevokedKeyEnds(t *testing.T) {
	eachAccessServer(t, func(t *testing.T, open opener) {
		begun, release := make(chan struct{}), make(chan struct{})
		h := open(withHooks(plural.Hook{Collection: "users", Before: func(_ context.Context, change *plural.Change) error {
			if change.Caller.Role == "editor" {
				close(begun)
				<-release
			}
			return nil
		}}), func(c *plural.Config) { c.Workers = 1 })
		later := func(caller, path, body string) {
			t.Helper()
			if a := h.as(caller, "POST", path, body, "Prefer", "respond-async"); a.status != 202 {
				t.Fatalf("%d %s", a.status, a.body)
			}
		}
		later("editor", "/users", `{"name":"x"}`)
		<-begun // the only worker has something to do
		later("ada", "/notes", `{"id":"`+id(40)+`","text":"revoked"}`)
		later("bo", "/notes", `{"id":"`+id(41)+`","text":"not revoked"}`)
		if _, err := admin.RevokeKey(context.Background(), h.config.Database, strings.TrimPrefix(h.keys["ada"], "Bearer ")); err != nil {
			t.Fatal(err)
		}
		close(release)
		if a := h.as("bo", "POST", "/notes", `{"text":"last"}`, "Prefer", "respond-async, wait=300"); a.status != 201 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		h.as("editor", "GET", "/notes/"+id(40), "").expectErrors(t, 404, "not_found")
		if a := h.as("editor", "GET", "/notes/"+id(41), ""); a.status != 200 {
			t.Errorf("what another asked for: %d %s", a.status, a.body)
		}
	})
}

// TestHooksKnowTheCaller: code of the program is told who makes a change, at once or
// later, and what follows from it is theirs too.
func TestHooksKnowTheCaller(t *testing.T) {
	t.Parallel()
	eachAccessServer(t, func(t *testing.T, open opener) {
		var mutex sync.Mutex
		told := map[string][]string{}
		note := func(moment string, change *plural.Change) {
			mutex.Lock()
			defer mutex.Unlock()
			who := change.Caller.Role + " " + change.Caller.Subject
			if text := fmt.Sprintf("%s %s %s", moment, change.Verb, change.Collection); !slices.Contains(told[who], text) { // a transaction may run again
				told[who] = append(told[who], text)
			}
		}
		var hooks []plural.Hook
		for _, collection := range []string{"posts", "users"} {
			hooks = append(hooks, plural.Hook{
				Collection: collection,
				Before:     func(_ context.Context, change *plural.Change) error { note("before", change); return nil },
				Within:     func(_ context.Context, _ *plural.Tx, change *plural.Change) error { note("within", change); return nil },
				After:      func(_ context.Context, change *plural.Change) { note("after", change) },
			})
		}
		h := open(withHooks(hooks...))
		h.all("users", []string{fmt.Sprintf(`{"id":"%s","name":"Ada"}`, id(adaAt)), fmt.Sprintf(`{"id":"%s","name":"Bo"}`, id(boAt))})
		body := func(owner int) string { return fmt.Sprintf(`{"title":"x","user_id":"%s"}`, id(owner)) }
		if a := h.as("ada", "POST", "/posts", body(adaAt)); a.status != 201 {
			t.Fatal(a.body)
		}
		if a := h.as("bo", "POST", "/posts", body(boAt), "Prefer", "respond-async, wait=300"); a.status != 201 {
			t.Fatal(a.body)
		}
		key := h.keys["editor"][len("Bearer plural_"):][:10]
		if a := h.as("editor", "DELETE", "/users/"+id(boAt), ""); a.status != 200 { // and the post with it
			t.Fatal(a.body)
		}
		created := []string{"before create posts", "within create posts", "after create posts"}
		for who, want := range map[string][]string{
			"author " + id(adaAt): created, "author " + id(boAt): {created[1], created[0], created[2]}, // a dry run comes first
			"editor " + key: {"before create users", "within create users", "after create users", "before delete users", "within delete posts", "within delete users", "after delete posts", "after delete users"},
		} {
			if !slices.Equal(told[who], want) {
				t.Errorf("%s: got %v\nwant %v", who, told[who], want)
			}
		}
	})
}
