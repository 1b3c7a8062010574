package interfacetest

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural"
)

// shownKey is an API key of a response.
type shownKey struct {
	ID, Type, Prefix, Name, Role, Sub, Key string
	Created                                string  `json:"created_at"`
	Expires                                *string `json:"expires_at"`
	Revoked                                *string `json:"revoked_at"`
}

func (a answer) key(t testing.TB) (key shownKey) {
	t.Helper()
	var envelope struct{ Data *shownKey }
	envelope.Data = &key
	if err := json.Unmarshal([]byte(a.body), &envelope); err != nil {
		t.Fatalf("%v: %d %s", err, a.status, a.body)
	}
	return key
}

// names lists the names of the API keys of a list.
func (a answer) keyNames(t testing.TB) string {
	t.Helper()
	var envelope struct{ Data []shownKey }
	if err := json.Unmarshal([]byte(a.body), &envelope); err != nil || a.status != 200 {
		t.Fatalf("%v: %d %s", err, a.status, a.body)
	}
	var names []string
	for _, key := range envelope.Data {
		names = append(names, key.Name)
	}
	slices.Sort(names) // several may have the same millisecond
	return strings.Join(names, " ")
}

// TestKeysOverHTTP follows an API key from its creation to its end, on two servers of a database.
func TestKeysOverHTTP(t *testing.T) {
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open(withKeys)
		h.fill(true, "example.com")
		created := h.as("editor", "POST", "/-/keys", `{"name":"ci","role":"author","sub":"`+id(adaAt)+`","expires_at":"2099-01-01T00:00:00+01:00"}`)
		key := created.key(t)
		if created.status != 201 || !regexp.MustCompile(`^plural_`+key.Prefix+`_[a-z2-7]{52}$`).MatchString(key.Key) || len(key.Prefix) != 10 {
			t.Fatalf("%d %s", created.status, created.body)
		}
		created.expectHeaders(t, "Location: /-/keys/"+key.Prefix, "Cache-Control: no-store", "Vary: Authorization")
		plain := fmt.Sprintf(`{"id":"%s","type":"keys","prefix":"%s","name":"ci","role":"author","sub":"%s","created_at":"TIME","expires_at":"2098-12-31T23:00:00.000Z","revoked_at":null`, key.ID, key.Prefix, id(adaAt))
		created.expect(t, 201, `{"data":`+plain+`,"key":"`+key.Key+`"}}`)

		one := h.as("editor", "GET", "/-/keys/"+key.Prefix, "")
		one.expect(t, 200, `{"data":`+plain+`}}`) // without the secret
		one.expectHeaders(t, "Cache-Control: no-store", "Vary: Authorization")
		list := h.as("editor", "GET", "/-/keys", "")
		if got := list.keyNames(t); got != "ada bo ci clerk editor" || list.total() != "5" || strings.Contains(list.body, key.Key[18:]) || list.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %s", got, list.body)
		}
		if head := h.as("editor", "HEAD", "/-/keys", ""); head.status != 200 || head.body != "" {
			t.Errorf("HEAD: %d %s", head.status, head.body)
		}

		other := h.another()
		h.keys["ci"] = "Bearer " + key.Key
		h.checker.knows(h.keys["ci"], "author")
		other.checker.knows(h.keys["ci"], "author")
		use := func(s *server) int { return s.get("/posts", "Authorization", h.keys["ci"]).status }
		if use(h.server) != 200 || use(other) != 200 {
			t.Error("the key is not accepted")
		}
		revoked := h.as("editor", "DELETE", "/-/keys/"+key.Prefix, "")
		at := revoked.key(t).Revoked
		if revoked.status != 200 || at == nil || use(h.server) != 401 || use(other) != 401 {
			t.Errorf("revoked: %d %s", revoked.status, revoked.body)
		}
		// It stays, and its time too.
		for _, again := range []answer{h.as("editor", "DELETE", "/-/keys/"+key.Prefix, ""), h.as("editor", "GET", "/-/keys/"+key.Prefix, "")} {
			again.expect(t, 200, strings.Replace(`{"data":`+plain+`}}`, `"revoked_at":null`, `"revoked_at":"`+*at+`"`, 1))
		}
		if got := h.as("editor", "GET", "/-/keys", "").keyNames(t); got != "ada bo ci clerk editor" {
			t.Error(got)
		}

		// Without a subject it is the prefix.
		if plain := h.as("editor", "POST", "/-/keys", `{"name":"Zoë's key 😀","role":"editor","sub":null,"expires_at":null,"type":"keys"}`).key(t); plain.Sub != plain.Prefix || plain.Expires != nil || plain.Name != "Zoë's key 😀" {
			t.Errorf("%+v", plain)
		}
	})
}

// TestKeysAreGrantedByTheFile: nobody gets, sees or revokes an API key of a role that access.keys does not
// list for theirs.
func TestKeysAreGrantedByTheFile(t *testing.T) {
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open(withKeys)
		h.key("janitor", "janitor", "")
		h.key("nobody", "unheard", "")
		prefixOf := func(caller string) string { return strings.Split(h.keys[caller], "_")[1] }

		for caller, want := range map[string]int{"public": 401, "clerk": 403, "janitor": 403, "nobody": 403} {
			for _, c := range [][3]string{{"GET", "/-/keys", ""}, {"POST", "/-/keys", `{"name":"x","role":"clerk"}`}, {"GET", "/-/keys/" + prefixOf("clerk"), ""}, {"DELETE", "/-/keys/" + prefixOf("clerk"), ""}} {
				if a := h.as(caller, c[0], c[1], c[2]); a.status != want {
					t.Errorf("%s: %s %s: %d %s", caller, c[0], c[1], a.status, a.body)
				}
			}
		}
		// An author manages the keys of clerks, and knows of no others.
		for _, role := range []string{"editor", "author", "janitor", "public", "unheard", ""} {
			a := h.as("ada", "POST", "/-/keys", fmt.Sprintf(`{"name":"x","role":%q}`, role))
			if want := map[bool]string{true: "min_length /role", false: "forbidden /role"}[role == ""]; want == "forbidden /role" {
				a.expectErrors(t, 403, want)
			} else {
				a.expectErrors(t, 422, want)
			}
		}
		if got := h.as("ada", "GET", "/-/keys", "").keyNames(t); got != "clerk" {
			t.Errorf("an author sees %s", got)
		}
		unknown := h.as("ada", "DELETE", "/-/keys/aaaaaaaaaa", "")
		unknown.expectErrors(t, 404, "not_found")
		for _, caller := range []string{"editor", "ada", "janitor"} {
			for _, method := range []string{"GET", "DELETE"} {
				a := h.as("ada", method, "/-/keys/"+prefixOf(caller), "")
				if a.status != 404 || strings.ReplaceAll(a.body, prefixOf(caller), "aaaaaaaaaa") != unknown.body {
					t.Errorf("%s of the key of %s: %d %s", method, caller, a.status, a.body)
				}
			}
		}
		h.as("editor", "DELETE", "/-/keys/"+prefixOf("janitor"), "").expectErrors(t, 404, "not_found")
		for caller, want := range map[string]int{"editor": 200, "ada": 200, "janitor": 403} {
			if a := h.as(caller, "GET", "/posts", ""); a.status != want {
				t.Errorf("the key of %s: %d", caller, a.status)
			}
		}
		if a := h.as("ada", "DELETE", "/-/keys/"+prefixOf("clerk"), ""); a.status != 200 {
			t.Errorf("%d %s", a.status, a.body)
		}
		h.as("clerk", "GET", "/", "").expectErrors(t, 401, "invalid_credentials Authorization")

		// One's own key can be revoked; from then on it can do nothing.
		if a := h.as("editor", "DELETE", "/-/keys/"+prefixOf("editor"), ""); a.status != 200 {
			t.Errorf("%d %s", a.status, a.body)
		}
		h.as("editor", "POST", "/-/keys", `{"name":"x","role":"editor"}`).expectErrors(t, 401, "invalid_credentials Authorization")
	})
}

// TestKeyThatVanishes: a key that is removed between the statements that find and revoke it is not found. A trigger takes the
// place of the other program.
func TestKeyThatVanishes(t *testing.T) {
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open(withKeys)
		key := h.as("editor", "POST", "/-/keys", `{"name":"ci","role":"author"}`).key(t)
		if strings.HasPrefix(h.config.Database, "sqlite:") {
			h.sql("CREATE TRIGGER gone BEFORE UPDATE ON _plural_keys BEGIN DELETE FROM _plural_keys WHERE prefix = OLD.prefix; END")
		} else {
			h.sql(`CREATE FUNCTION gone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN DELETE FROM _plural_keys WHERE prefix = OLD.prefix; RETURN NULL; END $$;
				CREATE TRIGGER gone BEFORE UPDATE ON _plural_keys FOR EACH ROW EXECUTE FUNCTION gone()`)
		}
		for range 2 {
			h.as("editor", "DELETE", "/-/keys/"+key.Prefix, "").expectErrors(t, 404, "not_found")
		}
		if got := h.as("editor", "GET", "/-/keys", "").keyNames(t); got != "ada bo clerk editor" {
			t.Errorf("there are %s", got)
		}
	})
}

// TestKeysThatAreRefused: bodies and requests that are wrong.
func TestKeysThatAreRefused(t *testing.T) {
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open(withKeys)
		past := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
		for body, want := range map[string][]string{
			`{}`:                                     {"422", "required /name", "required /role"},
			`{"name":"","role":7,"age":1}`:           {"422", "min_length /name", "type /role", "unknown_attribute /age"},
			`{"name":"a\u0007b","role":"clerk"}`:     {"422", "pattern /name"},
			`{"name":"x","role":"clerk","key":"y"}`:  {"422", "unknown_attribute /key"},
			`{"data":{"name":"x","role":"clerk"}}`:   {"422", "wrapped /data"},
			`[{"name":"x","role":"clerk"}]`:          {"422", "not_an_object"},
			`"x"`:                                    {"422", "not_an_object"},
			`{"name":"x","name":"y","role":"clerk"}`: {"400", "malformed_json /name"},
			`{`:                                      {"400", "malformed_json"},
			`{"name":"x","role":"clerk","expires_at":"soon"}`:                          {"422", "format /expires_at"},
			`{"name":"x","role":"clerk","expires_at":"` + past + `"}`:                  {"422", "minimum /expires_at"},
			`{"name":"x","role":"clerk","id":"` + id(1) + `"}`:                         {"422", "read_only /id"},
			`{"name":"` + strings.Repeat("x", 256) + `","role":"clerk"}`:               {"422", "max_length /name"},
			`{"name":"x","role":"clerk","sub":"` + strings.Repeat("x", 256) + `"}`:     {"422", "max_length /sub"},
			`{"name":"x","role":"clerk","created_at":"2026-01-01T00:00:00Z","sub":""}`: {"422", "unknown_attribute /created_at", "min_length /sub"},
		} {
			status := map[string]int{"400": 400, "422": 422}[want[0]]
			h.as("editor", "POST", "/-/keys", body).expectErrors(t, status, want[1:]...)
		}
		good := `{"name":"x","role":"clerk"}`
		h.as("editor", "POST", "/-/keys", good, "Idempotency-Key", "once").expectErrors(t, 400, "malformed_request Idempotency-Key")
		h.as("editor", "POST", "/-/keys", good, "If-None-Match", "*").expectErrors(t, 400, "malformed_request If-None-Match")
		h.as("editor", "POST", "/-/keys?dry_run=true", good).expectErrors(t, 400, "unknown_parameter dry_run")
		h.as("editor", "GET", "/-/keys?limit=1", "").expectErrors(t, 400, "unknown_parameter limit")
		h.as("editor", "POST", "/-/keys", good, "Content-Type", "text/plain").expectErrors(t, 415, "unsupported_media_type Content-Type")
		h.as("editor", "PUT", "/-/keys", good).expectErrors(t, 405, "method_not_allowed")
		h.as("editor", "PATCH", "/-/keys/aaaaaaaaaa", good).expectErrors(t, 405, "method_not_allowed")
		for _, path := range []string{"aaaaaaaaaaa", "AAAAAAAAAA", "aaaa_aaaaa", "aaaaaaaaaa/x", "..%2Fkeys"} {
			h.as("editor", "GET", "/-/keys/"+path, "").expectErrors(t, 404, "not_found")
		}
		if got := h.as("editor", "GET", "/-/keys", "").keyNames(t); got != "ada bo clerk editor" {
			t.Errorf("there are keys of refused requests: %s", got)
		}
	})
}

// TestKeysWithoutAccess: where everybody may do everything, keys mean nothing.
func TestKeysWithoutAccess(t *testing.T) {
	eachStore(t, nil, func(t *testing.T, s *server) {
		s.get("/-/keys").expectErrors(t, 404, "not_found")
		s.do("POST", "/-/keys", `{"name":"x","role":"y"}`).expectErrors(t, 404, "not_found")
	})
}

// TestKeysAreNotLogged: neither a new secret nor one that is sent in place of a prefix is in the log;
// who created and revoked which key is.
func TestKeysAreNotLogged(t *testing.T) {
	eachAccessServer(t, func(t *testing.T, open opener) {
		log := &lines{}
		h := open(withKeys, func(c *plural.Config) {
			c.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		})
		key := h.as("editor", "POST", "/-/keys", `{"name":"x","role":"clerk"}`).key(t)
		secret := key.Key[len("plural_aaaaaaaaaa_"):]
		for _, path := range []string{key.Key, key.Prefix + "_" + secret, secret} {
			a := h.as("editor", "DELETE", "/-/keys/"+path, "")
			a.expectErrors(t, 404, "not_found")
			if strings.Contains(a.body, secret) {
				t.Errorf("the answer has the secret: %s", a.body)
			}
		}
		h.as("editor", "DELETE", "/-/keys/"+key.Prefix, "")
		editor := strings.Split(h.keys["editor"], "_")[1]
		for _, want := range []string{"created", "revoked"} {
			if !regexp.MustCompile(`msg="API key ` + want + `" request_id=\S+ caller=key:` + editor + ` prefix=` + key.Prefix + ` role=clerk`).MatchString(log.String()) {
				t.Errorf("the log does not tell who has %s a key:\n%s", want, log.String())
			}
		}
		if strings.Contains(log.String(), secret) {
			t.Error("the log has the secret")
		}
	})
}

// TestMe compares what callers are told of themselves.
func TestMe(t *testing.T) {
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open(withKeys)
		h.key("nobody", "unheard", "")
		may := func(list, read, create, update, remove, changes string) string {
			return fmt.Sprintf(`{"changes":"%s","create":"%s","delete":"%s","list":"%s","read":"%s","update":"%s"}`, changes, create, remove, list, read, update)
		}
		collection := func(name, may, visible, writable string) string {
			return fmt.Sprintf(`{"name":"%s","may":%s,"visible":%s,"writable":%s}`, name, may, visible, writable)
		}
		operations := func(list string) string {
			return collection("operations", may(list, "yes", "no", "no", "no", "no"), `["status","method","resource","errors","attempts"]`, `[]`)
		}
		me := func(caller, role, sub, name, metrics, keys string, collections ...string) string {
			return fmt.Sprintf(`{"data":{"id":"ID","type":"callers","caller":%s,"role":%s,"sub":%s,"key_name":%s,"expires_at":null,"metrics":%s,"keys":%s,"collections":[%s]}}`,
				caller, role, sub, name, metrics, keys, strings.Join(collections, ","))
		}
		prefix := func(caller string) string { return `"key:` + strings.Split(h.keys[caller], "_")[1] + `"` }
		posts := `["title","published","user_id"]`
		notes := `["text","post_id"]`
		ids := map[string]bool{}
		for caller, want := range map[string]string{
			"public": me("null", `"public"`, "null", "null", "false", "[]",
				collection("users", may("yes", "yes", "no", "no", "no", "no"), `["name","rank"]`, `[]`),
				collection("posts", may("depends", "depends", "no", "no", "no", "no"), posts, `[]`),
				collection("notes", may("yes", "yes", "no", "no", "no", "no"), notes, `[]`), operations("no")),
			"ada": me(prefix("ada"), `"author"`, quoted(id(adaAt)), `"ada"`, "false", `["clerk"]`,
				collection("users", may("yes", "yes", "no", "depends", "no", "no"), `["name","rank"]`, `["name"]`),
				collection("posts", may("depends", "depends", "depends", "depends", "depends", "no"), posts, posts),
				collection("notes", may("yes", "yes", "yes", "yes", "yes", "no"), notes, notes), operations("yes")),
			"clerk": me(prefix("clerk"), `"clerk"`, strings.Replace(prefix("clerk"), "key:", "", 1), `"clerk"`, "false", "[]",
				collection("posts", may("no", "no", "yes", "no", "no", "no"), posts, posts), operations("yes")),
			"nobody": me(prefix("nobody"), "null", strings.Replace(prefix("nobody"), "key:", "", 1), `"nobody"`, "false", "[]", operations("yes")),
		} {
			a := h.as(caller, "GET", "/-/me", "")
			found := strings.Trim(a.member(t, "id"), `"`)
			ids[found] = true
			a.body = strings.Replace(a.body, found, "ID", 1)
			a.expect(t, 200, want)
			a.expectHeaders(t, "Cache-Control: no-store", "Vary: Authorization")
		}
		if len(ids) != 4 {
			t.Errorf("callers share ids: %v", ids)
		}
		h.do("GET", "/-/me", "", "Authorization", "Bearer nonsense").expectErrors(t, 401, "invalid_credentials Authorization")
		h.as("ada", "GET", "/-/me?x=1", "").expectErrors(t, 400, "unknown_parameter x")
		h.as("ada", "POST", "/-/me", `{}`).expectErrors(t, 405, "method_not_allowed")
	})
}

// TestMeWithoutAccess: everybody may do everything.
func TestMeWithoutAccess(t *testing.T) {
	eachStore(t, nil, func(t *testing.T, s *server) {
		var envelope struct {
			Data struct {
				Caller, Role *string
				Metrics      bool
				Collections  []struct {
					Name string
					May  map[string]string
				}
			}
		}
		a := s.get("/-/me")
		if err := json.Unmarshal([]byte(a.body), &envelope); err != nil || a.status != 200 {
			t.Fatalf("%v: %d %s", err, a.status, a.body)
		}
		me := envelope.Data
		if me.Caller != nil || me.Role != nil || !me.Metrics || len(me.Collections) != 4 || fmt.Sprint(me.Collections[0]) != "{users map[changes:yes create:yes delete:yes list:yes read:yes update:yes]}" {
			t.Errorf("%+v", me)
		}
	})
}
