package interfacetest

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/params"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// principals are the callers of the policy as a program would hand them over.
var principals = map[string]plural.Principal{
	"public": {},
	"ada":    {Subject: id(adaAt), Roles: []string{"author"}},
	"bo":     {Subject: id(boAt), Roles: []string{"nobody", "author"}},
	"editor": {Subject: "e", Roles: []string{"editor", "clerk"}},
	"clerk":  {Subject: "c", Roles: []string{"clerk"}},
}

// handed sends a request to a server that is mounted behind a program's own authentication.
func (h *accessServer) handed(principal plural.Principal, method, path, body string, headers ...string) answer {
	h.t.Helper()
	r := httptest.NewRequestWithContext(plural.WithCaller(context.Background(), principal), method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.opened.ServeHTTP(w, r)
	return answer{status: w.Code, header: w.Header(), body: w.Body.String()}
}

// Whom the program has authenticated gets what a caller with the same role and subject gets.
func TestCallersPassedByTheProgram(t *testing.T) {
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open()
		h.fill(true, "example.com")
		for _, c := range []struct{ method, path, body string }{
			{"GET", "/", ""}, {"GET", "/users", ""}, {"GET", "/posts?sort=title", ""}, {"GET", "/posts/" + id(11), ""}, {"GET", "/posts/" + id(12), ""},
			{"GET", "/users?filter[email]=x", ""}, {"PATCH", "/posts/" + id(11), `{"title":3}`}, {"PATCH", "/users/" + id(adaAt), `{"rank":9}`},
			{"POST", "/posts", fmt.Sprintf(`{"id":"%s","title":"x","user_id":"%s"}`, id(12), id(adaAt))}, {"DELETE", "/posts/" + id(99), ""}, {"GET", "/operations", ""},
		} {
			for caller, principal := range principals {
				want := h.as(caller, c.method, c.path, c.body)
				got := h.handed(principal, c.method, c.path, c.body, "Authorization", "Bearer of something else")
				if got.status != want.status || got.body != want.body || got.header.Get("ETag") != want.header.Get("ETag") {
					t.Errorf("%s: %s %s\ngot  %d %s\nwant %d %s", caller, c.method, c.path, got.status, got.body, want.status, want.body)
				}
				if cache := got.header.Get("Cache-Control"); cache != "private" {
					t.Errorf("%s: %s %s: Cache-Control is %q", caller, c.method, c.path, cache)
				}
			}
		}
		stranger := plural.Principal{Subject: "s", Roles: []string{"nobody"}}
		h.handed(stranger, "GET", "/posts", "").expectErrors(t, 403, "forbidden")
		accepted := h.handed(principals["ada"], "PATCH", "/users/"+id(adaAt), `{"name":"A"}`, "Prefer", "respond-async, wait=60")
		if accepted.status != 200 {
			t.Errorf("an operation: %d %s", accepted.status, accepted.body)
		}
		h.handed(plural.Principal{Roles: []string{"editor"}}, "GET", "/posts", "").expectErrors(t, 500, "internal")
	})
}

// Post is a resource of the collection posts of the policy.
type Post struct {
	ID        string  `json:"id"`
	Title     string  `json:"title"`
	Published *bool   `json:"published,omitempty"`
	UserID    *string `json:"user_id"`
}

// Typed calls and transactions have the rights of the caller of their context. Hooks have all of them.
func TestTypedCallsOfACaller(t *testing.T) {
	var opened *plural.Server
	hook := plural.Hook{Collection: "posts", On: []plural.Verb{plural.Create}, Within: func(ctx context.Context, tx *plural.Tx, change *plural.Change) error {
		if change.After.Get("title") != "counted" {
			return nil
		}
		posts := of[Post](t, opened)
		all, err := posts.Total(ctx)
		within, errWithin := posts.In(tx).Total(ctx)
		if err != nil || errWithin != nil || all != 10 || within != 10 || change.Caller.ID != "program:"+id(adaAt) {
			t.Errorf("a hook sees %d and %d for %+v, %v, %v", all, within, change.Caller, err, errWithin)
		}
		return nil
	}}
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open(withHooks(hook))
		opened = h.opened
		h.fill(true, "example.com")
		posts, background := of[Post](t, h.opened), context.Background()
		as := func(caller string) context.Context { return plural.WithCaller(background, principals[caller]) }
		adas, bos := id(adaAt), id(boAt)
		for caller, want := range map[string]int64{"public": 5, "ada": 5, "bo": 10, "editor": 10} {
			total, err := posts.Total(as(caller))
			listed, errList := posts.List(as(caller))
			if err != nil || errList != nil || total != want || int64(len(listed)) != want {
				t.Errorf("%s: %d, %d listed, %v, %v", caller, total, len(listed), err, errList)
			}
			err = h.opened.Transaction(as(caller), func(ctx context.Context, tx *plural.Tx) error {
				if within, err := posts.In(tx).Total(ctx); err != nil || within != want {
					t.Errorf("%s: %d in a transaction, %v", caller, within, err)
				}
				_, err := tx.Get("posts", id(11))
				return err
			})
			if hidden := err != nil; hidden != (want == 5) {
				t.Errorf("%s: %v", caller, err)
			}
		}
		if total, err := posts.Total(background); total != 10 || err != nil {
			t.Errorf("the program: %d, %v", total, err)
		}
		for name, c := range map[string]struct {
			code string
			run  func() error
		}{
			"reads what is hidden": {"not_found", func() error { _, err := posts.Get(as("ada"), id(11)); return err }},
			"may not list":         {"forbidden", func() error { _, err := posts.List(as("clerk")); return err }},
			"may not read":         {"forbidden", func() error { _, err := posts.Get(as("clerk"), id(12)); return err }},
			"changes another's":    {"forbidden", func() error { _, err := posts.Update(as("ada"), id(12), map[string]any{"title": "x"}); return err }},
			"creates for another":  {"forbidden", func() error { _, err := posts.Create(as("ada"), Post{Title: "x", UserID: &bos}); return err }},
			"is nobody":            {"unauthenticated", func() error { _, err := posts.Delete(as("public"), id(12)); return err }},
			"filters by the hidden": {"unknown_parameter", func() error {
				_, err := of[User](t, h.opened).List(as("ada"), params.Where("email").Is("x"))
				return err
			}},
			"in a transaction": {"forbidden", func() error {
				return h.opened.Transaction(as("ada"), func(ctx context.Context, tx *plural.Tx) error {
					_, err := tx.Delete("posts", id(12))
					return err
				})
			}},
		} {
			var refused *problem.Error
			if err := c.run(); !errors.As(err, &refused) || string(refused.Code) != c.code {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := posts.Create(as("ada"), Post{Title: "counted", UserID: &adas}); err != nil {
			t.Error(err)
		}
		users := of[User](t, h.opened)
		if seen, err := users.Get(as("ada"), adas); err != nil || seen.Email != nil || seen.Name != "User 1" {
			t.Errorf("got %+v, %v", seen, err)
		}
	})
}

// User is a resource of the collection users of the policy.
type User struct {
	ID    string  `json:"id"`
	Name  string  `json:"name"`
	Email *string `json:"email,omitempty"`
}

// Rules see the claims of a principal as those of a token, whatever Go types they have.
func TestClaimsOfAPrincipal(t *testing.T) {
	file, err := schema.Parse([]byte(`
collections:
  notes:
    attributes: {text: {type: string}, team: {type: string}, level: {type: integer}}
access:
  roles:
    member:
      notes: {list: true, read: resource.team in auth.claims.teams && resource.level <= auth.claims.level, create: true}
`))
	if err != nil {
		t.Fatal(err)
	}
	eachStore(t, file.Schema, func(t *testing.T, s *server) {
		type Note struct {
			Text  string `json:"text"`
			Team  string `json:"team"`
			Level int    `json:"level"`
		}
		notes := of[Note](t, s.opened)
		all := []Note{{"a", "x", 1}, {"b", "y", 1}, {"c", "z", 1}, {"d", "x", 3}}
		if _, err := notes.CreateMany(context.Background(), all); err != nil {
			t.Fatal(err)
		}
		member := plural.Principal{Subject: "m", Roles: []string{"member"}, Claims: map[string]any{"teams": []string{"x", "y"}, "level": uint8(2)}}
		got, err := notes.List(plural.WithCaller(context.Background(), member))
		if err != nil || fmt.Sprint(got) != "[{a x 1} {b y 1}]" {
			t.Errorf("got %v, %v", got, err)
		}
		member.Claims["level"] = func() {}
		if _, err := notes.List(plural.WithCaller(context.Background(), member)); err == nil || !strings.Contains(err.Error(), "the Claims of a Principal cannot be written as JSON") {
			t.Errorf("got %v", err)
		}
	}, func(c *plural.Config) { c.Access = file.Access })
}

// Without rules nobody could be refused: that is a mistake of the program.
func TestACallerNeedsAccess(t *testing.T) {
	eachStore(t, journalSchema(t), func(t *testing.T, s *server) {
		ctx := plural.WithCaller(context.Background(), plural.Principal{Subject: "x"})
		const want = "the context has a caller, but the server has no access rules: set Config.Access"
		if _, err := of[Person](t, s.opened).List(ctx); err == nil || err.Error() != want {
			t.Errorf("got %v", err)
		}
		if err := s.opened.Transaction(ctx, func(context.Context, *plural.Tx) error { return nil }); err == nil || err.Error() != want {
			t.Errorf("got %v", err)
		}
		w := httptest.NewRecorder()
		if s.opened.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "/people", nil)); w.Code != 500 {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
	})
}
