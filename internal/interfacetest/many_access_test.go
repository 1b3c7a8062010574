package interfacetest

import (
	"fmt"
	"testing"
)

// TestAccessToMany: ranges, upserts and transactions are allowed what their writes are, and
// one that is refused leaves nothing.
func TestAccessToMany(t *testing.T) {
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open()
		h.fill(true, "example.com")
		before := h.as("editor", "GET", "/posts", "").body
		mine := fmt.Sprintf(`"title":"Mine","user_id":"%s"`, id(adaAt))
		transaction := func(path, body string) string {
			return "[" + step("POST", "/posts", `{"id":"`+id(60)+`",`+mine+`}`) + "," + step("PATCH", path, body) + "]"
		}
		for _, c := range []struct {
			method, path, body string
			want               [5]string // public, ada, bo, editor, clerk
		}{
			{"PATCH", "/posts?filter[title]=nothing", `{"title":"A"}`, [5]string{"401 unauthenticated", "200", "200", "200", "403 forbidden"}},
			{"PATCH", "/posts?limit=99&dry_run=true", `{"title":"A"}`, [5]string{"401 unauthenticated", "403 forbidden", "200", "200", "403 forbidden"}},
			{"DELETE", "/posts?cursor=" + id(15) + "&dry_run=true", "", [5]string{"401 unauthenticated", "400 unknown_cursor cursor", "200", "200", "403 forbidden"}},
			{"PATCH", "/posts?filter[id]=" + id(11), `{"title":3}`, [5]string{"401 unauthenticated", "422 type /title", "422 type /title", "422 type /title", "403 forbidden"}},
			{"PATCH", "/posts?filter[id]=" + id(12) + "&dry_run=true", fmt.Sprintf(`{"user_id":"%s"}`, id(cyAt)), [5]string{"401 unauthenticated", "403 forbidden", "403 forbidden", "200", "403 forbidden"}},
			{"PATCH", "/users?filter[email]=x", `{"name":"A"}`, [5]string{"401 unauthenticated", "400 unknown_parameter filter[email]", "400 unknown_parameter filter[email]", "200", "403 forbidden"}},
			{"PATCH", "/users?limit=1", `{"rank":9}`, [5]string{"401 unauthenticated", "422 read_only /rank", "403 forbidden", "200", "403 forbidden"}},
			{"POST", "/users?on_conflict=email", `{"email":"x"}`, [5]string{"401 unauthenticated", "400 invalid_parameter on_conflict", "400 invalid_parameter on_conflict", "422 required /name", "403 forbidden"}},
			{"POST", "/users?on%5Fconflict=email", `{"email":"x"}`, [5]string{"401 unauthenticated", "400 invalid_parameter on_conflict", "400 invalid_parameter on_conflict", "422 required /name", "403 forbidden"}},
			{"POST", "/-/transaction", "[" + step("POST", "/users?on_conflict=x", "{}") + "]", [5]string{"401 unauthenticated /0/path", "", "", "", "403 forbidden /0/path"}},
			{"POST", "/posts?on_conflict=id", `{"id":"` + id(11) + `",` + mine + `}`, [5]string{"401 unauthenticated", "409 id_exists /id", "403 forbidden", "", "422 unknown_reference /user_id"}},
			{"POST", "/posts?on_conflict=id", `{"id":"` + id(12) + `",` + mine + `}`, [5]string{"401 unauthenticated", "403 forbidden", "403 forbidden", "", "422 unknown_reference /user_id"}},
			{"POST", "/posts?on_conflict=id", `[{"id":"` + id(61) + `",` + mine + `},{"id":"` + id(12) + `"}]`, [5]string{"401 unauthenticated", "403 forbidden /1", "403 forbidden /0", "", "422 unknown_reference /0/user_id, required /1/title"}},
			{"POST", "/-/transaction", transaction("/posts/"+id(12), `{"title":"x"}`), [5]string{"401 unauthenticated /0/path", "403 forbidden /1/path", "403 forbidden /0/path", "", "422 unknown_reference /0/body/user_id"}},
			{"POST", "/-/transaction", transaction("/posts/"+id(11), `{"title":"x"}`), [5]string{"401 unauthenticated /0/path", "404 not_found /1/path", "403 forbidden /0/path", "", "422 unknown_reference /0/body/user_id"}},
			{"POST", "/-/transaction", "[" + step("PATCH", "/users/"+id(adaAt), `{"email":"x","rank":1}`) + "]", [5]string{"401 unauthenticated /0/path", "422 unknown_attribute /0/body/email, read_only /0/body/rank", "403 forbidden /0/path", "", "403 forbidden /0/path"}},
		} {
			for i, caller := range callers {
				if c.want[i] == "" {
					continue
				}
				a := h.as(caller, c.method, c.path, c.body)
				if got := fmt.Sprint(a.status, " "+a.errorText(t)); got != c.want[i] && got != c.want[i]+" " {
					t.Errorf("%s: %s %s %s\ngot  %s %s\nwant %s", caller, c.method, c.path, c.body, got, a.body, c.want[i])
				}
			}
		}
		if after := h.as("editor", "GET", "/posts", "").body; after != before {
			t.Errorf("got  %s\nwant %s", after, before)
		}
		h.as("bo", "PATCH", "/posts?filter[published]=false", `{"title":"Own"}`).expectPositions(t, "bo's", 11, 13, 15, 17, 19)
		h.as("ada", "POST", "/-/transaction", "["+step("POST", "/posts", `{"id":"`+id(60)+`",`+mine+`}`)+","+step("PATCH", "/posts/"+id(60), `{"title":"x"}`)+"]").expectPositions(t, "ada's", 60, 60)
	})
}

// TestDryRunOfHiddenResources: what a caller may not see is not counted.
func TestDryRunOfHiddenResources(t *testing.T) {
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open(withRoles(t, `
    sweeper:
      users: [list, read, delete]
      posts: {read: resource.published}
`))
		h.fill(true, "example.com")
		h.key("sweeper", "sweeper", "")
		h.as("editor", "DELETE", "/notes/"+id(30), "")
		for caller, want := range map[string]string{"sweeper": "users=1, posts=5", "editor": "users=1, posts=10"} {
			if got := h.as(caller, "DELETE", "/users/"+id(boAt)+"?dry_run=true", "").header.Get("X-Affected"); got != want {
				t.Errorf("%s: %q, want %q", caller, got, want)
			}
		}
	})
}
