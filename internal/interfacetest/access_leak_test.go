package interfacetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// probe is a request that a caller sends.
type probe struct {
	method, path, body string
	headers            []string
}

func (r probe) String() string {
	return fmt.Sprintf("%s %s %s %v", r.method, r.path, r.body, r.headers)
}

// probes is everything that somebody could try who wants to know of hidden posts and
// emails: each verb, on each path, in each way.
func probes() (all []probe) {
	add := func(method, path, body string, headers ...string) {
		all = append(all, probe{method, path, body, headers})
	}
	hidden, shown := id(11), id(12)
	add("GET", "/", "")
	for _, list := range []string{"/posts", "/users/" + id(boAt) + "/posts", "/users/" + id(adaAt) + "/posts"} {
		for _, query := range []string{
			"", "?limit=2", "?limit=-2", "?limit=0", "?offset=1&limit=2", "?offset=3&limit=-2", "?offset=9&limit=5", "?limit=1000000",
			"?cursor=" + hidden, "?cursor=" + shown + "&limit=2", "?cursor=" + shown + "&limit=-2", "?cursor=" + hidden + "&sort=-title", "?cursor=" + shown + "&sort=-title&limit=2",
			"?sort=title", "?sort=-title&limit=3", "?sort=-published,title", "?sort=user_id", "?filter[published]=false", "?filter[published]", "?filter[title]=Post+11",
			"?filter[title][starts_with]=Post", "?filter[id]=" + hidden, "?filter[id][in]=" + hidden + "," + shown, "?filter[title][ne]=Post+12", "?filter[user_id]=" + id(boAt),
			"?search=post", "?search=11", "?search=post+11&limit=1", "?search=1&sort=-title&limit=2", "?search=p&cursor=" + hidden, "?search=p&limit=-2", "?search=p&offset=2&limit=2", "?search=!",
		} {
			add("GET", list+query, "")
			add("GET", list+query, "", "Prefer", "count=exact")
			add("HEAD", list+query, "")
			add("PATCH", list+query, `{"title":"New"}`)
			add("DELETE", list+query, "")
			if query != "" {
				add("DELETE", list+query+"&dry_run=true", "")
			}
		}
	}
	// Related resources.
	for _, path := range []string{
		"/users?include=posts", "/users?include=posts&include[posts][limit]=1", "/users?include=posts&include[posts][limit]=-2&include[posts][sort]=-title", "/users?include=posts&include[posts][total]=true",
		"/users?include=posts&include[posts][filter][published]=false&include[posts][total]=true", "/users?include=posts.notes&fields=id&fields[posts]=id", "/users?include=posts.user&fields[posts.user]=email",
		"/notes?include=post", "/notes?include=post.user", "/notes?include=post&fields[post]=title", "/posts?include=user,notes&sort=-title", "/posts?include=user&fields[user]=email",
		"/users/" + id(boAt) + "?include=posts", "/notes/" + id(30) + "?include=post", "/posts/" + hidden + "?include=user", "/posts/" + shown + "?include=user,notes", "/users/" + id(boAt) + "/posts?include=user&limit=2",
	} {
		add("GET", path, "")
		add("HEAD", path, "")
	}
	for _, path := range []string{"/posts/" + hidden, "/posts/" + shown} {
		add("POST", "/-/transaction", `[{"method":"POST","path":"/posts","body":{"id":"`+id(70)+`","title":"x","user_id":"`+id(adaAt)+`"}},{"method":"PATCH","path":"`+path+`","body":{"title":"x"}}]`)
		add("POST", "/-/transaction?dry_run=true", `[{"method":"DELETE","path":"`+path+`"}]`)
	}
	// Through relations, and in groups.
	for _, path := range []string{
		"/users?filter[posts.title]=Post+11", "/users?filter[posts.published]=false", "/users?filter[posts.id]=" + hidden, "/users?filter[posts.title][ne]=Post+12", "/users?filter[posts.notes.text]=x",
		"/notes?filter[post.title]=Post+10", "/notes?filter[post.title][null]=true", "/notes?filter[post.user.name]=User+2", "/notes?filter[post.user.email]=user2%40example.com", "/users?filter[posts.user.email]=x",
		"/posts?filter[user.email]=user2%40example.com", "/posts?filter[user.name]=User+2", "/posts?filter[notes.text]=x", "/posts?filter[any][0][title]=Post+11&filter[any][1][user.rank]=2",
		"/users?filter[any][0][posts.title]=Post+11&filter[any][1][name]=User+1", "/users?filter[posts.title]=Post+12&sort=-name&limit=1",
	} {
		add("GET", path, "")
		add("GET", path, "", "Prefer", "count=exact")
		add("HEAD", path, "")
	}
	for _, path := range askingPaths() {
		add("GET", path, "")
		add("GET", path, "", "Prefer", "count=exact")
		add("HEAD", path, "")
	}
	add("PATCH", "/users?filter[count.posts][gte]=6", `{"name":"New"}`)
	add("DELETE", "/posts?filter[title][search]=11&dry_run=true", "")
	for _, query := range []string{
		"", "?by=title", "?by=user_id&sort=-count", "?by=published&min=title&max=title,created_at", "?by=created_at:year&limit=-1", "?by=id&offset=2&limit=2", "?filter[published]=false", "?by=user_id&filter[user.name]=User+2",
		"?by=title&search=post", "?by=nope",
	} {
		add("GET", "/-/groups/posts"+query, "")
		add("GET", "/-/groups/posts"+query, "", "Prefer", "count=exact")
		add("HEAD", "/-/groups/posts"+query, "")
	}
	add("GET", "/-/groups/users?by=rank&filter[posts.title]=Post+11&sum=rank", "")
	add("GET", "/-/groups/notes?by=text", "")
	for _, item := range []string{"/posts/" + hidden, "/post/" + hidden, "/users/" + id(boAt) + "/posts/" + hidden, "/posts/" + shown} {
		add("GET", item, "")
		add("HEAD", item, "")
		add("GET", item, "", "If-None-Match", `*`)
		add("GET", item, "", "If-Match", firstTag)
		if item == "/post/"+hidden {
			continue
		}
		for _, headers := range [][]string{nil, {"If-Match", firstTag}, {"Prefer", "respond-async"}, {"Prefer", "respond-async, wait=300"}, {"Idempotency-Key", "k" + item}, {"Idempotency-Key", "k" + item}} {
			for _, body := range []string{`{"title":"New"}`, `{"title":3,"nope":1}`, `{}`} {
				add("PATCH", item, body, headers...)
				add("PUT", item, body, headers...)
			}
			if item != "/posts/"+shown {
				add("DELETE", item, "", headers...)
			}
		}
	}
	for i, list := range []string{"/notes", "/posts/" + hidden + "/notes", "/posts/" + shown + "/notes"} {
		add("GET", list, "")
		for _, headers := range [][]string{nil, {"Prefer", "respond-async, wait=300"}, {"Idempotency-Key", "n" + list}} {
			n := 40 + 10*i + len(headers) + len(strings.Join(headers, ""))%7
			add("POST", list, fmt.Sprintf(`{"id":"%s","text":"a","post_id":"%s"}`, id(n), hidden), headers...)
			add("POST", list, fmt.Sprintf(`[{"id":"%s","text":"a","post_id":"%s"},{"post_id":"%s","nope":1}]`, id(n), shown, hidden), headers...)
		}
		add("GET", list+"/"+id(30), "")
		add("PATCH", "/notes/"+id(30), `{"post_id":"`+hidden+`"}`)
	}
	// A reference to what is hidden, in each way to write it.
	refers := `{"text":"a","post_id":"` + hidden + `"}`
	for i, headers := range [][]string{nil, {"Prefer", "respond-async"}, {"Idempotency-Key", "refers"}} {
		for k, path := range []string{"/notes", "/notes?dry_run=true", "/notes?on_conflict=id", "/posts/" + shown + "/notes"} {
			if headers != nil && strings.Contains(path, "?") {
				continue
			}
			own := fmt.Sprintf(`{"id":"%s",`, id(70+10*i+k)) + refers[1:]
			add("POST", path, own, headers...)
			add("POST", path, "["+own+"]", headers...)
		}
		for _, method := range []string{"PUT", "PATCH"} {
			add(method, "/notes/"+id(30), refers, headers...)
			add(method, "/posts/"+id(10)+"/notes/"+id(30), refers, headers...)
		}
	}
	add("PATCH", "/notes?limit=1", refers)
	add("POST", "/-/transaction", `[{"method":"POST","path":"/notes","body":`+refers+`}]`)
	add("POST", "/-/transaction", `[{"method":"PATCH","path":"/notes/`+id(30)+`","body":`+refers+`}]`)
	add("GET", "/operations", "")
	add("GET", "/operations?filter[status]=failed", "")
	return all
}

// annotator may write notes on posts of a user, and sees only those of them that are published.
const annotator = `
    annotator:
      posts: {list: true, read: resource.published}
      notes: {list: true, read: true, create: resource.post.user_id == auth.sub, update: resource.post.user_id == auth.sub, delete: true}
`

// TestHiddenRowsDoNotShow holds two datasets beside each other that differ only in posts
// which a caller may not see. Whatever the caller tries, both must answer alike. For the annotator, rules are true of
// the hidden posts.
func TestHiddenRowsDoNotShow(t *testing.T) {
	t.Parallel()
	eachAccessServer(t, func(t *testing.T, open opener) {
		more, err := schema.Parse([]byte(strings.Replace(policyFile, "    clerk:\n", strings.TrimPrefix(annotator, "\n")+"    clerk:\n", 1)))
		if err != nil {
			t.Fatal(err)
		}
		with, without := open(func(c *plural.Config) { c.Access = more.Access }), open(func(c *plural.Config) { c.Access = more.Access })
		for _, h := range []*accessServer{with, without} {
			h.key("annotator", "annotator", id(boAt))
			h.fill(h == with, "example.com")
		}
		for _, caller := range []string{"public", "ada", "clerk", "annotator"} {
			for _, r := range probes() {
				got, want := with.as(caller, r.method, r.path, r.body, r.headers...), without.as(caller, r.method, r.path, r.body, r.headers...)
				if got.everything() != want.everything() {
					t.Errorf("%s can tell by %v\nwith    %s\nwithout %s", caller, r, got.everything(), want.everything())
				}
			}
		}
		// The datasets do differ, for those who may see it.
		if a, b := with.as("bo", "GET", "/posts", ""), without.as("bo", "GET", "/posts", ""); len(a.ids(t)) != 10 || len(b.ids(t)) != 5 {
			t.Errorf("bo sees %v and %v", a.ids(t), b.ids(t))
		}
	})
}

// TestHiddenParentsHaveNothingBelow: below a user whom the caller may not see is nothing,
// as below one who does not exist, also where the caller may see all posts.
func TestHiddenParentsHaveNothingBelow(t *testing.T) {
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open(withRoles(t, `
    ruled:
      users: {list: true, read: resource.rank == 1}
      posts: [list, read, create, update, delete]
    blind:
      posts: [list, read, create, update, delete]
`))
		h.fill(true, "example.com")
		h.key("ruled", "ruled", "")
		h.key("blind", "blind", "")
		missing := id(9)
		for _, caller := range []string{"ruled", "blind"} {
			for _, r := range []probe{
				{"GET", "", "", nil}, {"POST", "", `{"title":"x"}`, nil}, {"POST", "", `{"title":3}`, nil},
				{"GET", "/" + id(12), "", nil}, {"HEAD", "/" + id(12), "", nil}, {"PATCH", "/" + id(12), `{"title":"x"}`, nil}, {"PATCH", "/" + id(12), `{"title":3}`, nil},
				{"PUT", "/" + id(12), `{"title":"x"}`, []string{"Prefer", "respond-async"}}, {"PUT", "/" + id(12), `{}`, nil}, {"DELETE", "/" + id(12), "", nil},
				{"DELETE", "/" + id(12), "", []string{"If-Match", firstTag}},
			} {
				got := h.as(caller, r.method, "/users/"+id(boAt)+"/posts"+r.path, r.body, r.headers...)
				want := h.as(caller, r.method, "/users/"+missing+"/posts"+r.path, r.body, r.headers...)
				if got.status != 404 || strings.ReplaceAll(got.everything(), id(boAt), missing) != want.everything() {
					t.Errorf("%s: %v\nbelow a hidden user  %s\nbelow one who is not %s", caller, r, got.everything(), want.everything())
				}
			}
			if a := h.as(caller, "GET", "/posts/"+id(12), ""); a.status != 200 {
				t.Errorf("%s cannot read a post: %d %s", caller, a.status, a.body)
			}
		}
		own := h.as("ruled", "POST", "/users/"+id(adaAt)+"/posts", `{"id":"`+id(50)+`","title":"x"}`)
		if below := h.as("ruled", "GET", "/users/"+id(adaAt)+"/posts/"+id(50), ""); own.status != 201 || below.status != 200 {
			t.Errorf("below a user who is seen: %d and %d", own.status, below.status)
		}
	})
}

// TestHiddenParentAttribute: whoever may not see whom posts belong to is not told by a path
// either, and who may not set it does not set it by one.
func TestHiddenParentAttribute(t *testing.T) {
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open(withRoles(t, `
    unseeing:
      users: [list, read]
      posts: {list: true, read: true, create: true, update: true, delete: true, visible: [title, published]}
    setting:
      users: [list, read]
      posts: {list: true, read: true, create: true, update: true, delete: true, visible: [title], writable: [title, user_id]}
    reading:
      users: [list, read]
      posts: {list: true, read: true, create: true, update: true, delete: true, writable: [title]}
`))
		h.fill(true, "example.com")
		for _, role := range []string{"unseeing", "setting", "reading"} {
			h.key(role, role, "")
		}
		bosPosts := "/users/" + id(boAt) + "/posts"
		unknown := h.as("unseeing", "GET", "/users/"+id(boAt)+"/nothing", "")
		for _, caller := range []string{"unseeing", "setting"} {
			for _, r := range []probe{
				{"GET", "", "", nil}, {"GET", "?limit=1", "", nil}, {"POST", "", `{"title":"x"}`, nil}, {"POST", "", `[{"title":3}]`, nil}, {"GET", "/" + id(12), "", nil},
				{"PATCH", "/" + id(12), `{"title":"x"}`, nil}, {"PUT", "/" + id(12), `{}`, nil}, {"DELETE", "/" + id(12), "", nil}, {"DELETE", "/" + id(12), "", []string{"Prefer", "respond-async"}},
			} {
				if a := h.as(caller, r.method, bosPosts+r.path, r.body, r.headers...); a.status != 404 || a.body != unknown.body {
					t.Errorf("%s: %v\ngot  %d %s\nwant %s", caller, r, a.status, a.body, unknown.body)
				}
			}
		}
		if a := h.as("setting", "POST", "/posts", `{"title":"x","user_id":"`+id(boAt)+`"}`); a.status != 201 {
			t.Errorf("what may be written only: %d %s", a.status, a.body)
		}
		h.as("reading", "POST", bosPosts, `{"title":"x"}`).expectErrors(t, 422, "read_only /user_id")
		h.as("reading", "POST", bosPosts, `{"title":"x","user_id":"`+id(boAt)+`"}`).expectErrors(t, 422, "read_only /user_id")
		h.as("reading", "POST", bosPosts, `[{"title":"x"},{"title":"y"}]`).expectErrors(t, 422, "read_only /0/user_id", "read_only /1/user_id")
		for _, a := range []answer{
			h.as("reading", "GET", bosPosts, ""), h.as("reading", "PATCH", bosPosts+"/"+id(12), `{"title":"x"}`), h.as("reading", "PUT", bosPosts+"/"+id(12), `{"title":"y"}`),
		} {
			if a.status != 200 {
				t.Errorf("who sees the attribute sees the path: %d %s", a.status, a.body)
			}
		}
	})
}

// TestHiddenAttributesThatCanBeSet holds the documents to what they say of attributes that
// are writable and not visible.
func TestHiddenAttributesThatCanBeSet(t *testing.T) {
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open(withRoles(t, `
    setting:
      users: {list: true, read: true, update: true, visible: [name], writable: [name, email]}
`))
		h.fill(true, "example.com")
		h.key("setting", "setting", "")
		ada := "/users/" + id(adaAt)
		tag := func(method, body string) string {
			t.Helper()
			a := h.as("setting", method, ada, body)
			if a.status != 200 || strings.Contains(a.body, "email") {
				t.Errorf("%s %s: %d %s", method, body, a.status, a.body)
			}
			return a.header.Get("Etag")
		}
		first := tag("GET", "")
		if right, wrong := tag("PATCH", `{"email":"user1@example.com"}`), tag("PATCH", `{"email":"a@example.com"}`); right != first || wrong == first {
			t.Errorf("the tag %s becomes %s with what is stored, and %s with something else", first, right, wrong)
		}
		tag("PUT", `{"name":"Ada"}`)
		if got := h.as("editor", "GET", ada, "").member(t, "email"); got != "null" {
			t.Errorf("after a PUT without it, the email is %s", got)
		}
	})
}

// TestHiddenAttributesDoNotShow holds two datasets beside each other that differ only in
// the emails of users, and an attribute that is hidden beside one that does not exist.
func TestHiddenAttributesDoNotShow(t *testing.T) {
	t.Parallel()
	eachAccessServer(t, func(t *testing.T, open opener) {
		one, other := open(), open()
		one.fill(true, "example.com")
		other.fill(true, "zzz.example.org")
		for _, caller := range []string{"public", "ada", "clerk"} {
			n := 0
			for _, r := range attributeProbes() {
				n++
				headers := append([]string{}, r.headers...)
				if len(headers) == 2 && headers[0] == "Idempotency-Key" {
					headers[1] += fmt.Sprint(n)
				}
				got, want := one.as(caller, r.method, r.path, r.body, headers...), other.as(caller, r.method, r.path, r.body, headers...)
				if got.everything() != want.everything() {
					t.Errorf("%s can tell emails by %v\none   %s\nother %s", caller, r, got.everything(), want.everything())
				}
				if strings.Contains(got.body, "example.") || strings.Contains(fmt.Sprint(got.header), "example.") {
					t.Errorf("%s is shown an email by %v: %s", caller, r, got.everything())
				}
				if len(headers) == 2 && headers[0] == "Idempotency-Key" {
					headers[1] += "b"
				}
				unknown := one.as(caller, r.method, strings.ReplaceAll(r.path, "email", "xmail"), strings.ReplaceAll(r.body, "email", "xmail"), headers...)
				if got, want := strings.ReplaceAll(got.everything(), "email", "xmail"), unknown.everything(); got != want {
					t.Errorf("%s can tell that there are emails by %v\nemail  %s\nxmail %s", caller, r, got, want)
				}
			}
		}
		if a, b := one.as("editor", "GET", "/users", ""), other.as("editor", "GET", "/users", ""); a.body == b.body || !strings.Contains(a.body, "user1@example.com") {
			t.Errorf("an editor sees %s and %s", a.body, b.body)
		}
	})
}

func attributeProbes() (all []probe) {
	add := func(method, path, body string, headers ...string) {
		all = append(all, probe{method, path, body, headers})
	}
	for _, query := range []string{
		"", "?filter[email]=user1@example.com", "?filter[email]", "?filter[email][null]=true", "?filter[email][in]=a,b", "?filter[email][nope]=1", "?sort=email", "?sort=name,-email",
		"?sort=email,email", "?filter[email]=a&filter[email]=b", "?filter[rank][gt]=1&filter[email][contains]=1",
		"?search=user", "?search=user1", "?search=exam", "?search=zzz", "?search=2+user", "?search=user+zzz&sort=-name", "?search=" + strings.Repeat("a+", 17), "?q=x",
		"?fields=email", "?fields=name", "?fields=rank,email", "?include=posts&fields=id", "?include=posts.user&fields[posts.user]=email", "?include=posts.user",
	} {
		add("GET", "/users"+query, "")
		add("HEAD", "/users"+query, "", "Prefer", "count=exact")
	}
	for _, query := range []string{
		"?by=email", "?by=rank,email", "?min=email", "?max=email", "?sum=email", "?avg=email", "?by=rank&sort=email", "?by=email:year", "?by=email,email", "?by=rank&search=user", "?by=rank&filter[email]=user1@example.com", "?by=rank&sum=rank&min=name",
	} {
		add("GET", "/-/groups/users"+query, "")
		add("HEAD", "/-/groups/users"+query, "", "Prefer", "count=exact")
	}
	for _, path := range attributePaths() {
		add("GET", path, "")
		add("HEAD", path, "", "Prefer", "count=exact")
	}
	add("GET", "/", "")
	add("GET", "/users/"+id(adaAt), "")
	add("GET", "/user/"+id(adaAt), "")
	for _, item := range []string{"/users/" + id(adaAt), "/users/" + id(boAt)} {
		for _, body := range []string{`{"email":"user1@example.com"}`, `{"email":null}`, `{"email":3,"name":4}`, `{"name":"User","email":"a"}`} {
			for _, headers := range [][]string{nil, {"Prefer", "respond-async"}, {"Idempotency-Key", "k" + item + body}} {
				add("PATCH", item, body, headers...)
				add("PUT", item, body, headers...)
			}
		}
		add("PUT", item, `{"name":"User"}`)
		add("DELETE", item, "")
	}
	add("POST", "/users", `{"name":"x","email":"user1@example.com"}`)
	return all
}

// TestOperationsAreTheirCallers: a caller sees their own operations and no others, and
// the operations are carried out as them.
func TestOperationsAreTheirCallers(t *testing.T) {
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open()
		h.fill(true, "example.com")
		locations := map[string]string{}
		for caller, body := range map[string]string{
			"ada":    fmt.Sprintf(`{"title":"Mine","user_id":"%s"}`, id(adaAt)),
			"editor": fmt.Sprintf(`{"title":"Hidden","user_id":"%s"}`, id(boAt)),
		} {
			a := h.as(caller, "POST", "/posts", body, "Prefer", "respond-async")
			if a.status != 202 {
				t.Fatalf("%d %s", a.status, a.body)
			}
			locations[caller] = a.header.Get("Location")
		}
		for _, owner := range []string{"ada", "editor"} {
			for _, caller := range callers {
				want := 404
				if caller == owner {
					want = 200
				}
				if a := h.as(caller, "GET", locations[owner], ""); a.status != want {
					t.Errorf("%s asks for the operation of %s: %d %s", caller, owner, a.status, a.body)
				}
			}
		}
		for caller, want := range map[string]int{"ada": 1, "editor": 1, "bo": 0} {
			a := h.as(caller, "GET", "/operations", "", "Prefer", "count=exact")
			if len(a.ids(t)) != want || a.total() != fmt.Sprint(want) {
				t.Errorf("%s has %s operations: %s", caller, a.total(), a.body)
			}
		}
		h.as("public", "GET", "/operations", "").expectErrors(t, 401, "unauthenticated")
		// It is the caller's rule that counts when it is carried out.
		a := h.as("ada", "POST", "/posts", fmt.Sprintf(`{"title":"Not mine","user_id":"%s"}`, id(boAt)), "Prefer", "respond-async")
		a.expectErrors(t, 403, "forbidden")
		eventually(t, "the operation of ada is carried out", func() bool {
			return h.as("ada", "GET", locations["ada"], "").member(t, "status") == `"succeeded"`
		})
	})
}
