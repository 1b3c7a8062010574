package interfacetest

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

// policyFile is the sample policy: everybody reads published posts, authors edit their
// own, editors everything, and emails are hidden from the public and from authors.
const policyFile = `
collections:
  users:
    attributes:
      name: {type: string, maxLength: 100}
      email: {type: string, maxLength: 100, unique: true}
      rank: {type: integer}
    required: [name]
    search: [name, email]
  posts:
    attributes:
      title: {type: string, maxLength: 100}
      published: {type: boolean, default: false}
    required: [title]
    label: title
    parent: {collection: users, on_delete: cascade}
  notes:
    attributes:
      text: {type: string}
    parent: {collection: posts, on_delete: restrict}
access:
  roles:
    public:
      users: {list: true, read: true, visible: [name, rank]}
      posts: {list: true, read: resource.published}
      notes: {list: true, read: true}
    author:
      users: {list: true, read: true, update: resource.id == auth.sub, visible: [name, rank], writable: [name]}
      posts:
        list: true
        read: resource.published || resource.user_id == auth.sub
        create: resource.user_id == auth.sub
        update: resource.user_id == auth.sub
        delete: resource.user_id == auth.sub
      notes: [list, read, create, update, delete]
    editor:
      users: [list, read, create, update, delete]
      posts: [list, read, create, update, delete]
      notes: [list, read, create, update, delete]
    clerk:
      posts: [create]
    janitor:
      users: [read, delete]
      posts: [read, delete]
  metrics: [editor]
`

// Of the dataset: three users, of whom 1 and 2 are authors; posts at the positions from
// 10, of whom those of user 2 with an odd position are not published.
const adaAt, boAt, cyAt = 1, 2, 3

// accessServer is a server with the policy, and the keys to it.
type accessServer struct {
	*server
	keys    map[string]string // the Authorization header of each caller
	history string            // in its ETags
}

// callers are the roles, with ada and bo as authors.
var callers = []string{"public", "ada", "bo", "editor", "clerk"}

func policySchema(t testing.TB) *schema.File {
	t.Helper()
	file, err := schema.Parse([]byte(policyFile))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// opener starts a server with the policy, on a database of its own.
type opener func(change ...func(*plural.Config)) *accessServer

// eachAccessServer runs a test on each database.
func eachAccessServer(t *testing.T, test func(t *testing.T, open opener)) {
	for name, database := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) {
			test(t, func(change ...func(*plural.Config)) *accessServer {
				file := policySchema(t)
				change = append([]func(*plural.Config){func(c *plural.Config) { c.Access = file.Access }}, change...)
				h := &accessServer{start(t, file.Schema, database(t), change...), map[string]string{"public": ""}, ""}
				h.key("ada", "author", id(adaAt))
				h.key("bo", "author", id(boAt))
				h.key("editor", "editor", "")
				h.key("clerk", "clerk", "")
				return h
			})
		})
	}
}

// key gives a caller an API key.
func (h *accessServer) key(caller, role, subject string) {
	h.t.Helper()
	secret, err := admin.CreateKey(context.Background(), h.config.Database, admin.Key{Name: caller, Role: role, Subject: subject})
	if err != nil {
		h.t.Fatal(err)
	}
	h.keys[caller] = "Bearer " + secret
	h.checker.knows(h.keys[caller], role)
}

// as sends a request for a caller.
func (h *accessServer) as(caller, method, path, body string, headers ...string) answer {
	h.t.Helper()
	all := []string{"Authorization", h.keys[caller]}
	for _, header := range headers {
		if header == firstTag { // each database has its own history
			header = `"1.1.` + h.history + `"`
		}
		all = append(all, header)
	}
	return h.do(method, path, body, all...)
}

// fill creates the dataset. Hidden decides about what is hidden from some: of the posts,
// whether they are there at all, and of the emails, what they are.
func (h *accessServer) fill(hidden bool, domain string) {
	h.t.Helper()
	var users, posts, notes []string
	for i := adaAt; i <= cyAt; i++ {
		users = append(users, fmt.Sprintf(`{"id":"%s","name":"User %d","email":"user%d@%s","rank":%d}`, id(i), i, i, domain, i))
	}
	for i := 10; i < 20; i++ {
		published := i%2 == 0
		if !published && !hidden {
			continue
		}
		posts = append(posts, fmt.Sprintf(`{"id":"%s","title":"Post %d","published":%t,"user_id":"%s"}`, id(i), i, published, id(boAt)))
	}
	notes = append(notes, fmt.Sprintf(`{"id":"%s","text":"x","post_id":"%s"}`, id(30), id(10)))
	h.all("users", users)
	h.all("posts", posts)
	h.all("notes", notes)
	tag := strings.Split(strings.Trim(h.as("editor", "GET", "/users/"+id(adaAt), "").header.Get("Etag"), `"`), ".")
	if len(tag) != 3 || len(tag[2]) != 8 {
		h.t.Fatalf("the ETag is %v", tag)
	}
	h.history = tag[2]
}

// firstTag stands for the ETag of a resource with the first revision.
const firstTag = `"1.1"`

func (h *accessServer) all(collection string, bodies []string) {
	h.t.Helper()
	if a := h.as("editor", "POST", "/"+collection, "["+strings.Join(bodies, ",")+"]"); a.status != 201 {
		h.t.Fatalf("%d %s", a.status, a.body)
	}
}

var (
	uuidInHeader = regexp.MustCompile(`/operations/[0-9a-f-]{36}`)
	everyTag     = regexp.MustCompile(`"[0-9a-z]+\.[0-9a-z]+(\.[0-9a-z]+){1,3}"|\\"[0-9a-z]+\.[0-9a-z]+(\.[0-9a-z]+){1,3}\\"`)
	anyPosition  = regexp.MustCompile(`since=[A-Za-z0-9_-]+`) // it counts all changes
	anyOperation = regexp.MustCompile(`"id":"[0-9a-f-]{36}","type":"operations"`)
)

// everything is all that an answer says, without what differs between any two.
func (a answer) everything() string {
	var lines []string
	for name, values := range a.header {
		if name != "Date" && name != "X-Request-Id" {
			lines = append(lines, name+": "+strings.Join(values, ", "))
		}
	}
	slices.Sort(lines)
	text := fmt.Sprintf("%d\n%s\n%s", a.status, strings.Join(lines, "\n"), a.timeless())
	text = uuidInHeader.ReplaceAllString(text, "/operations/ID")
	text = anyOperation.ReplaceAllString(text, `"id":"ID","type":"operations"`)
	text = anyPosition.ReplaceAllString(text, "since=POSITION")
	return everyTag.ReplaceAllString(text, "TAG")
}

// must has the admin write.
func (h *accessServer) must(method, path, body string) {
	h.t.Helper()
	if a := h.as("admin", method, path, body); a.status > 201 {
		h.t.Fatalf("%s %s: %d %s", method, path, a.status, a.body)
	}
}

func idOrNull(n int) string {
	if n == 0 {
		return "null"
	}
	return quoted(id(n))
}

// eachAudit runs a test on each database, with a key for each role.
func eachAudit(t *testing.T, test func(t *testing.T, h *accessServer), change ...func(*plural.Config)) {
	for name, database := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) {
			file, err := schema.Parse([]byte(auditFile))
			if err != nil {
				t.Fatal(err)
			}
			access := func(c *plural.Config) { c.Access = file.Access }
			h := &accessServer{start(t, file.Schema, database(t), append([]func(*plural.Config){access}, change...)...), map[string]string{"public": ""}, ""}
			for _, role := range []string{"auditor", "follower", "reader", "writer"} {
				h.key(role, role, role)
			}
			test(t, h)
		})
	}
}
