package interfacetest

import (
	"fmt"
	"testing"
)

// TestMisspeltPaths: a path that is nearly right says which one would be, among the collections that
// the caller may know of.
func TestMisspeltPaths(t *testing.T) {
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open()
		h.fill(true, "example.com")
		const nothing = "Nothing is at this path.%s GET / lists the collections."
		for _, c := range []struct{ caller, path, want string }{
			{"editor", "/usres", "/users"},
			{"editor", "/Users", "/users"},
			{"editor", "/user", "/users"},
			{"editor", "/usr/" + id(adaAt), "/users"},
			{"editor", "/users/" + id(adaAt) + "/psots", "/users/" + id(adaAt) + "/posts"},
			{"editor", "/users/" + id(adaAt) + "/notse", ""},
			{"editor", "/somewhere", ""},
			{"public", "/usres", "/users"},
			{"clerk", "/usres", ""}, // who has nothing to do with users
			{"clerk", "/post", "/posts"},
			{"editor", "/-/helth", "/-/health"},
			{"public", "/-/opnapi.json", "/-/openapi.json"},
			{"public", "/-/nonsense", ""},
		} {
			suggestion := ""
			if c.want != "" {
				suggestion = " Did you mean " + c.want + "?"
			}
			h.as(c.caller, "GET", c.path, "").expect(t, 404, `{"errors":[{"status":404,"code":"not_found","title":"Not found","detail":"`+fmt.Sprintf(nothing, suggestion)+`"}]}`)
		}
		h.do("GET", "/usres", "", "Authorization", "Bearer nonsense").expectErrors(t, 401, "invalid_credentials Authorization")
	})
}
