package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/params"
)

// methods is a reverse proxy that a function can make refuse a request, and that knows which methods came.
type methods struct {
	mutex sync.Mutex
	seen  []string
}

// before runs a proxy before a server. Refuse returns true if it has answered.
func before(t *testing.T, target string, refuse func(w http.ResponseWriter, r *http.Request) bool) (string, *methods) {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	p, forward := &methods{}, httputil.NewSingleHostReverseProxy(to)
	over := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mutex.Lock()
		p.seen = append(p.seen, r.Method)
		p.mutex.Unlock()
		if !refuse(w, r) {
			forward.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(over.Close)
	return over.URL, p
}

// came returns the methods of the requests since it was called last.
func (p *methods) came() string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	methods := strings.Join(p.seen, " ")
	p.seen = nil
	return methods
}

// longFilter selects the users with some names, by more bytes than a URL should have.
func longFilter(names ...any) params.Param {
	for i := range 900 {
		names = append(names, fmt.Sprintf("somebody-%d", i))
	}
	return params.Where("name").In(names...)
}

func threeUsers(t *testing.T, c *client.Client) *client.Collection[User] {
	t.Helper()
	users := client.Of[User](c, "users")
	for _, name := range []string{"Ada", "Bo", "Cy"} {
		if _, err := users.Create(t.Context(), User{Name: name, Email: name + "@example.com"}); err != nil {
			t.Fatal(err)
		}
	}
	return users
}

// names lists the names of the users that a filter selects, in pages and in a loop.
func names(t *testing.T, users *client.Collection[User], given ...params.Param) []string {
	t.Helper()
	var got []string
	page, err := users.List(t.Context(), append(given, params.Limit(2), params.Sort("name"))...)
	for page != nil && err == nil {
		for _, user := range page.Items {
			got = append(got, user.Name)
		}
		page, err = page.Next(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for user, err := range users.All(t.Context(), append(given, params.Sort("name"))...) {
		if err != nil || i >= len(got) || user.Name != got[i] {
			t.Fatalf("the loop has %q, %v, and the pages %q", user.Name, err, got)
		}
		i++
	}
	return got
}

func TestLongReadsAreSentByQuery(t *testing.T) {
	eachStore(t, func(t *testing.T, target string) {
		at, p := before(t, target, func(http.ResponseWriter, *http.Request) bool { return false })
		c := connect(t, at)
		users := threeUsers(t, c)
		p.came()
		if got := names(t, users, longFilter("Ada", "Cy", "Bo")); !slices.Equal(got, []string{"Ada", "Bo", "Cy"}) {
			t.Errorf("got %q", got)
		}
		if got := p.came(); got != "QUERY QUERY QUERY QUERY" {
			t.Errorf("the methods are %s", got)
		}
		names(t, users, params.Where("name").In("Ada", "Bo"))
		if got := strings.ReplaceAll(p.came(), "GET", ""); strings.TrimSpace(got) != "" {
			t.Errorf("of a short read, the methods are %s", got)
		}
		if total, err := users.Total(t.Context(), longFilter("Ada", "Bo")); err != nil || total != 2 {
			t.Errorf("%d, %v", total, err)
		}
		groups, err := client.Groups[struct{ Active bool }, struct{}](t.Context(), users, params.By("active"), longFilter("Ada", "Bo"))
		if err != nil || len(groups.Items) != 1 || groups.Items[0].Count != 2 {
			t.Errorf("%+v, %v", groups, err)
		}
		_, err = users.List(t.Context(), longFilter(), params.Where("nope").Is(1))
		if refused := (*client.Error)(nil); !errors.As(err, &refused) || refused.Status != 400 || refused.Request != "QUERY /users" {
			t.Errorf("got %v", err)
		}
		if got := p.came(); got != "QUERY QUERY QUERY" {
			t.Errorf("the methods are %s", got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for event, err := range users.Watch(ctx, longFilter("Bo")) {
			if err != nil || event.Resource.Name != "Bo" {
				t.Errorf("%+v, %v", event, err)
			}
			break
		}
		if got := p.came(); got != "QUERY" {
			t.Errorf("the methods of a watch are %s", got)
		}
	})
}

// TestRefusedQuery: where a proxy, or a server that does not know it, refuses QUERY, a long read is a GET, and so are all later ones. What
// the server itself refuses is not sent again.
func TestRefusedQuery(t *testing.T) {
	answer := func(status int, body string) func(w http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			if strings.HasPrefix(body, "{") {
				w.Header().Set("Content-Type", "application/json")
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	eachStore(t, func(t *testing.T, target string) {
		threeUsers(t, connect(t, target))
		for name, refuse := range map[string]func(w http.ResponseWriter){
			"405": answer(405, "not allowed"), "501": answer(501, ""), "400": answer(400, "<html>"), "403 of a firewall": answer(403, `{"message":"Forbidden"}`), "404": answer(404, "no such page"),
			"405 of a server": answer(405, `{"errors":[{"status":405,"code":"method_not_allowed","title":"Method not allowed"}]}`),
			"301":             func(w http.ResponseWriter) { w.Header().Set("Location", "/users"); w.WriteHeader(301) },
		} {
			t.Run(name, func(t *testing.T) {
				at, p := before(t, target, func(w http.ResponseWriter, r *http.Request) bool {
					if r.Method == "QUERY" {
						refuse(w)
						return true
					}
					return false
				})
				users := client.Of[User](connect(t, at), "users")
				for i, want := range []string{"QUERY GET", "GET"} {
					page, err := users.List(t.Context(), longFilter("Ada", "Cy"))
					if err != nil || len(page.Items) != 2 {
						t.Fatal(page, err)
					}
					if got := strings.Replace(p.came(), "QUERY GET GET", "QUERY GET", 1); got != want {
						t.Errorf("the methods of list %d are %s", i, got)
					}
				}
			})
		}
		// A proxy that refuses everything says nothing about QUERY, and a refusal of the server stands.
		down := true
		at, p := before(t, target, func(w http.ResponseWriter, r *http.Request) bool {
			if down {
				answer(403, "closed")(w)
			}
			return down
		})
		users := client.Of[User](connect(t, at), "users")
		if _, err := users.List(t.Context(), longFilter()); err == nil || p.came() != "QUERY GET" {
			t.Errorf("got %v", err)
		}
		down = false
		if _, err := users.List(t.Context(), longFilter()); err != nil || p.came() != "QUERY" {
			t.Errorf("got %v", err)
		}
		if _, err := client.Of[User](connect(t, at), "nothing").List(t.Context(), longFilter()); !client.IsNotFound(err) || p.came() != "QUERY" {
			t.Errorf("got %v", err)
		}
	})
}
