package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInitWithAccess: the access block of the file that plural init writes works once its
// comment signs are taken away.
func TestInitWithAccess(t *testing.T) {
	dir := t.TempDir()
	if out, err := program(t, dir, "init").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	name := filepath.Join(dir, "plural.yaml")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, access, found := strings.Cut(string(text), "\n# access:\n")
	if !found {
		t.Fatal("there is no commented access block")
	}
	block, after, _ := strings.Cut(access, "\n\n")
	block = strings.ReplaceAll("\n"+block, "\n# ", "\n")
	if err := os.WriteFile(name, []byte(before+"\naccess:"+block+"\n\n"+after), 0o644); err != nil {
		t.Fatal(err)
	}
	p := serveIn(t, dir)
	const user = "01936f2e-7d3c-7a4b-9c5d-0123456789ab"
	key := func(arguments ...string) string {
		t.Helper()
		out, err := program(t, dir, append([]string{"keys", "create", "--name", "test"}, arguments...)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	editor, author := key("--role", "editor"), key("--role", "author", "--sub", user)
	for _, c := range []struct {
		key, method, path, body string
		want                    int
	}{
		{"", "GET", "/users", "", 200},
		{"", "POST", "/users", `{"name":"Ada","email":"ada@example.com"}`, 401},
		{editor, "POST", "/users", `{"id":"` + user + `","name":"Ada","email":"ada@example.com"}`, 201},
		{author, "POST", "/posts", `{"title":"Mine","user_id":"` + user + `"}`, 201},
		{author, "POST", "/posts", `{"title":"Nobody's"}`, 403},
		{author, "PATCH", "/users/" + user, `{"name":"Ada L."}`, 200},
		{author, "DELETE", "/users/" + user, "", 403},
		{"", "GET", "/-/metrics", "", 401},
		{editor, "GET", "/-/metrics", "", 200},
		{editor, "GET", "/users/" + user + "/changes", "", 200},
		{editor, "GET", "/changes", "", 200},
		{"", "GET", "/users/" + user + "/changes", "", 401},
	} {
		request, err := http.NewRequest(c.method, p.base+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		if c.key != "" {
			request.Header.Set("Authorization", "Bearer "+c.key)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != c.want {
			t.Errorf("%s %s %s: %d, want %d", c.method, c.path, c.body, response.StatusCode, c.want)
		}
	}
	if got := get(t, p.base+"/posts"); got != `200 {"data":[]}` {
		t.Errorf("an unpublished post is public: %s", got)
	}
}
