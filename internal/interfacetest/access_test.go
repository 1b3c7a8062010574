package interfacetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/admin"
)

// TestRolesMayDoWhatTheyMay takes every role through every verb on every path. Each
// column is a caller, in the order of callers.
func TestRolesMayDoWhatTheyMay(t *testing.T) {
	bosPosts := "/users/" + id(boAt) + "/posts"
	hidden, shown := id(11), id(12)
	mine := func(n, owner int) string {
		return fmt.Sprintf(`{"id":"%s","title":"New","user_id":"%s"}`, id(n), id(owner))
	}
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open()
		h.fill(true, "example.com")
		for _, c := range []struct {
			method, path, body string
			headers            []string
			want               [5]int // public, ada, bo, editor, clerk
		}{
			{"GET", "/", "", nil, [5]int{200, 200, 200, 200, 200}},
			{"GET", "/users", "", nil, [5]int{200, 200, 200, 200, 403}},
			{"GET", "/posts", "", nil, [5]int{200, 200, 200, 200, 403}},
			{"HEAD", "/posts", "", nil, [5]int{200, 200, 200, 200, 403}},
			{"GET", bosPosts, "", nil, [5]int{200, 200, 200, 200, 403}},
			{"GET", "/posts/" + shown, "", nil, [5]int{200, 200, 200, 200, 403}},
			{"GET", "/post/" + shown, "", nil, [5]int{200, 200, 200, 200, 403}},
			{"GET", "/posts/" + hidden, "", nil, [5]int{404, 404, 200, 200, 403}},
			{"GET", bosPosts + "/" + hidden, "", nil, [5]int{404, 404, 200, 200, 403}},
			{"GET", "/posts?cursor=" + hidden, "", nil, [5]int{400, 400, 200, 200, 403}},
			{"GET", "/posts/" + hidden + "/notes", "", nil, [5]int{404, 404, 200, 200, 403}},
			{"GET", "/posts?filter[published]=false", "", nil, [5]int{200, 200, 200, 200, 403}},
			{"GET", "/users?sort=email", "", nil, [5]int{400, 400, 400, 200, 403}},
			{"GET", "/users?filter[email]=x", "", nil, [5]int{400, 400, 400, 200, 403}},
			{"GET", "/nothing", "", nil, [5]int{404, 404, 404, 404, 404}},
			{"OPTIONS", "/posts", "", nil, [5]int{204, 204, 204, 204, 204}},
			{"PATCH", "/posts/" + shown, `{"title":"A"}`, nil, [5]int{401, 403, 200, 200, 403}},
			{"PATCH", "/posts/" + shown, `{"title":3}`, nil, [5]int{401, 403, 422, 422, 403}},
			{"PATCH", "/posts/" + hidden, `{"title":"A"}`, nil, [5]int{401, 404, 200, 200, 403}},
			{"PUT", bosPosts + "/" + shown, `{"title":"B","published":true}`, nil, [5]int{401, 403, 200, 200, 403}},
			{"PATCH", "/posts/" + shown, `{"title":"C"}`, []string{"Prefer", "respond-async, wait=300"}, [5]int{401, 403, 200, 200, 403}},
			{"PATCH", "/posts/" + shown, `{"title":"D"}`, []string{"Idempotency-Key", "same"}, [5]int{401, 403, 200, 200, 403}},
			{"PATCH", "/posts/" + shown, `{"title":"D"}`, []string{"Idempotency-Key", "same"}, [5]int{401, 403, 200, 200, 403}},
			{"PATCH", "/posts/" + shown, fmt.Sprintf(`{"user_id":"%s"}`, id(cyAt)), nil, [5]int{401, 403, 403, 200, 403}}, // bo cannot give it away
			{"PATCH", "/users/" + id(adaAt), `{"name":"A"}`, nil, [5]int{401, 200, 403, 200, 403}},
			{"PATCH", "/users/" + id(adaAt), `{"rank":9}`, nil, [5]int{401, 422, 403, 200, 403}},            // visible, not writable
			{"PATCH", "/users/" + id(adaAt), `{"rank":9,"name":"B"}`, nil, [5]int{401, 200, 403, 200, 403}}, // but sent back as it is
			{"PATCH", "/users/" + id(adaAt), `{"email":"x@y.z"}`, nil, [5]int{401, 422, 403, 200, 403}},     // unknown
			{"PUT", "/users/" + id(adaAt), `{"name":"Ada"}`, nil, [5]int{401, 200, 403, 200, 403}},
			{"POST", "/users", `{"name":"New"}`, nil, [5]int{401, 403, 403, 201, 403}},
			{"POST", "/posts", mine(50, adaAt), nil, [5]int{401, 201, 403, 409, 422}},
			{"POST", "/posts", "[" + mine(51, boAt) + "," + mine(52, adaAt) + "]", nil, [5]int{401, 403, 403, 201, 422}},
			{"POST", "/users/" + id(adaAt) + "/posts", `{"title":"x"}`, nil, [5]int{401, 201, 403, 201, 404}},
			{"DELETE", "/posts/" + shown, "", []string{"If-Match", `"none.1"`}, [5]int{401, 403, 403, 412, 403}},
			{"DELETE", "/posts/" + hidden, "", nil, [5]int{401, 404, 200, 404, 403}},
			{"GET", "/-/metrics", "", nil, [5]int{401, 403, 403, 200, 403}},
			{"GET", "/-/health", "", nil, [5]int{200, 200, 200, 200, 200}},
		} {
			for i, caller := range callers {
				a := h.as(caller, c.method, c.path, c.body, c.headers...)
				if a.status != c.want[i] {
					t.Errorf("%s: %s %s %s %v\ngot  %d %s\nwant %d", caller, c.method, c.path, c.body, c.headers, a.status, a.body, c.want[i])
				}
				if challenge := a.header.Get("Www-Authenticate"); (challenge == `Bearer realm="plural"`) != (a.status == 401) {
					t.Errorf("%s: %s %s: %d with the challenge %q", caller, c.method, c.path, a.status, challenge)
				}
			}
		}
	})
}

// TestCallersSeeWhatTheyMay compares whole lists and resources.
func TestCallersSeeWhatTheyMay(t *testing.T) {
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open()
		h.fill(true, "example.com")
		for caller, want := range map[string][]int{"public": {10, 12, 14, 16, 18}, "ada": {10, 12, 14, 16, 18}, "bo": from(10, 20), "editor": from(10, 20)} {
			a := h.as(caller, "GET", "/posts", "")
			a.expectPositions(t, caller, want...)
			total := fmt.Sprint(len(want))
			if got := h.as(caller, "GET", "/posts?limit=1", "", "Prefer", "count=exact").total(); got != total {
				t.Errorf("%s counts %s posts, and sees %s", caller, got, total)
			}
			if caller != "editor" {
				total = "" // a rule is a filter
			}
			if got := a.total(); got != total {
				t.Errorf("%s is told of %q posts without asking, want %q", caller, got, total)
			}
		}
		public := fmt.Sprintf(`{"data":{"id":"%s","type":"users","name":"User 1","rank":1,"created_at":"TIME","updated_at":"TIME"}}`, id(adaAt))
		whole := strings.Replace(public, `"rank"`, `"email":"user1@example.com","rank"`, 1)
		tags := map[string]bool{}
		for caller, want := range map[string]string{"public": public, "ada": public, "editor": whole} {
			a := h.as(caller, "GET", "/users/"+id(adaAt), "")
			a.expect(t, 200, want)
			tags[a.header.Get("Etag")] = true
			if b := h.as(caller, "GET", "/users/"+id(adaAt), "", "If-None-Match", a.header.Get("Etag")); b.status != 304 {
				t.Errorf("%s has it already: %d", caller, b.status)
			}
		}
		if len(tags) != 2 {
			t.Errorf("two views have the tags %v", tags)
		}
		h.as("ada", "PATCH", "/users/"+id(adaAt), `{"name":"Ada"}`).expect(t, 200, strings.Replace(public, "User 1", "Ada", 1))
		h.as("editor", "GET", "/users/"+id(adaAt), "").expect(t, 200, strings.Replace(whole, "User 1", "Ada", 1))
		// A write-only role gets what it wrote, and cannot read it again.
		created := h.as("clerk", "POST", "/posts", fmt.Sprintf(`{"id":"%s","title":"x","user_id":null}`, id(60)))
		created.expect(t, 201, fmt.Sprintf(`{"data":{"id":"%s","type":"posts","title":"x","published":false,"user_id":null,"created_at":"TIME","updated_at":"TIME"}}`, id(60)))
		h.as("clerk", "GET", "/posts/"+id(60), "").expectErrors(t, 403, "forbidden")
	})
}

// TestRootTotalsRequireList: who may read a resource by its id only is not told
// how many there are.
func TestRootTotalsRequireList(t *testing.T) {
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open()
		h.fill(true, "example.com")
		h.key("janitor", "janitor", "")
		for caller, want := range map[string]string{
			"public":  "users 3, posts null, notes 1, operations null",
			"editor":  "users 3, posts 10, notes 1, operations null",
			"clerk":   "posts null, operations null",
			"janitor": "users null, posts null, operations null",
		} {
			root := h.as(caller, "GET", "/", "")
			var envelope struct {
				Data []struct {
					Name  string
					Total json.RawMessage
				}
			}
			if err := json.Unmarshal([]byte(root.body), &envelope); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, each := range envelope.Data {
				got = append(got, fmt.Sprintf("%s %s", each.Name, each.Total))
			}
			if strings.Join(got, ", ") != want {
				t.Errorf("%s is told %v, want %s", caller, got, want)
			}
		}
	})
}

// TestConflictsNameNothingHidden: that there is a conflict cannot be hidden, and what
// it is about can.
func TestConflictsNameNothingHidden(t *testing.T) {
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open()
		h.fill(true, "example.com")
		h.as("editor", "DELETE", "/users/"+id(boAt), "").expectErrors(t, 409, "referenced")
		h.as("bo", "POST", "/notes", fmt.Sprintf(`{"id":"%s","post_id":"%s"}`, id(31), id(11)))
		refused := h.as("bo", "DELETE", "/posts/"+id(11), "")
		refused.expectErrors(t, 409, "referenced")
		if !strings.Contains(refused.body, id(31)) {
			t.Errorf("bo sees the note, and is not told of it: %s", refused.body)
		}
		h.key("janitor", "janitor", "")
		for _, path := range []string{"/posts/" + id(11), "/users/" + id(boAt)} { // whose posts go with it
			refused = h.as("janitor", "DELETE", path, "")
			refused.expectErrors(t, 409, "referenced")
			if strings.Contains(refused.body, "notes") || strings.Contains(refused.body, id(31)) {
				t.Errorf("the janitor is told of a note: %s", refused.body)
			}
		}
	})
}

// TestCredentials: whatever is wrong with credentials, the answer is the same, and they
// are never taken for none.
func TestCredentials(t *testing.T) {
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open()
		h.fill(true, "example.com")
		right := h.keys["editor"]
		wrong := right[:len(right)-1] + "a"
		if wrong == right {
			wrong = right[:len(right)-1] + "b"
		}
		for _, header := range []string{wrong, right + "x", "Bearer", "Bearer ", "Basic YTpi", "Bearer plural_", "Bearer plural_aaaaaaaaaa_" + strings.Repeat("a", 52), "Bearer a.b.c", "Bearer " + strings.Repeat("a", 20000)} {
			for _, path := range []string{"/posts", "/-/metrics"} {
				a := h.get(path, "Authorization", header)
				a.expectErrors(t, 401, "invalid_credentials Authorization")
				if got := a.header.Get("Www-Authenticate"); got != `Bearer realm="plural", error="invalid_token"` {
					t.Errorf("the challenge is %q", got)
				}
				if len(header) < 1000 && len(header) > 30 && strings.Contains(a.body, header[20:]) {
					t.Errorf("credentials are repeated: %s", a.body)
				}
			}
		}
		for _, header := range []string{right, "bearer" + right[6:], "Bearer  " + right[7:]} {
			if a := h.get("/posts", "Authorization", header); a.status != 200 {
				t.Errorf("%d %s", a.status, a.body)
			}
		}
		keys, err := admin.Keys(context.Background(), h.config.Database)
		if err != nil || len(keys) != 4 {
			t.Fatal(keys, err)
		}
		other := h.another() // another node
		for _, key := range keys {
			if key.Name == "editor" {
				if _, err := admin.RevokeKey(context.Background(), h.config.Database, key.Prefix); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, node := range []*server{h.server, other} {
			node.get("/posts", "Authorization", right).expectErrors(t, 401, "invalid_credentials Authorization")
		}
		if strings.Contains(fmt.Sprint(keys), right[20:]) {
			t.Error("the secret is kept")
		}
		// A role that is no longer there may do nothing, not even what the public may.
		h.key("ghost", "ghost", "")
		h.as("ghost", "GET", "/posts", "").expectErrors(t, 403, "forbidden")
	})
}

// TestAnswersAreKeptByCaller: the key of one caller's request means nothing for another's.
func TestAnswersAreKeptByCaller(t *testing.T) {
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open()
		h.fill(true, "example.com")
		body := fmt.Sprintf(`{"text":"x","post_id":"%s"}`, id(12))
		first := h.as("ada", "POST", "/notes", body, "Idempotency-Key", "k")
		again := h.as("ada", "POST", "/notes", body, "Idempotency-Key", "k")
		others := h.as("bo", "POST", "/notes", body, "Idempotency-Key", "k")
		if first.status != 201 || again.body != first.body || again.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("got %d %s, and then %d %s", first.status, first.body, again.status, again.body)
		}
		if others.status != 201 || others.body == first.body || others.header.Get("Idempotency-Replayed") != "" {
			t.Errorf("bo gets %d %s", others.status, others.body)
		}
		h.as("bo", "POST", "/notes", `{"text":"y"}`, "Idempotency-Key", "k").expectErrors(t, 422, "idempotency_key_reused Idempotency-Key")
	})
}

// TestClosedByDefault: without access, nobody listens where others can reach it, unless
// that is meant.
func TestClosedByDefault(t *testing.T) {
	file := policySchema(t)
	for _, c := range []struct {
		name    string
		addr    string
		config  plural.Config
		refused bool
	}{
		{"loopback", "127.0.0.1:0", plural.Config{}, false},
		{"everywhere", ":0", plural.Config{}, true},
		{"everywhere by number", "0.0.0.0:0", plural.Config{}, true},
		{"everywhere, and open", ":0", plural.Config{Open: true}, false},
		{"everywhere, with access", ":0", plural.Config{Access: file.Access}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.config.Schema, c.config.Database = file.Schema, "sqlite:"+t.TempDir()+"/test.db"
			listener, err := plural.Listen(c.config, c.addr)
			if errors.Is(err, plural.ErrOpen) != c.refused || !c.refused && err != nil {
				t.Errorf("Listen: %v", err)
			}
			if err == nil {
				listener.Close()
			}
			server, err := plural.Open(context.Background(), c.config)
			if err != nil {
				t.Fatal(err)
			}
			defer server.Stop(context.Background())
			if _, err = server.Start(c.addr); errors.Is(err, plural.ErrOpen) != c.refused || !c.refused && err != nil {
				t.Errorf("got %v", err)
			}
		})
	}
}
