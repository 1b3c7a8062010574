package interfacetest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// decided lists the decisions of a response, one in a line.
func (a answer) decided(t testing.TB) string {
	t.Helper()
	var envelope struct {
		Data []struct {
			Collection, Verb, Decision string
			Reasons                    []string
		}
	}
	if err := json.Unmarshal([]byte(a.body), &envelope); err != nil || a.status != 200 {
		t.Fatalf("%v: %d %s", err, a.status, a.body)
	}
	var lines []string
	for _, each := range envelope.Data {
		lines = append(lines, fmt.Sprintf("%s %s %s: %s", each.Collection, each.Verb, each.Decision, strings.Join(each.Reasons, "; ")))
	}
	return strings.Join(lines, "\n")
}

// TestDecisionsOverHTTP compares whole answers, and those of all verbs and collections.
func TestDecisionsOverHTTP(t *testing.T) {
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open(withKeys)
		h.fill(true, "example.com")
		ask := func(body string) answer { return h.as("editor", "POST", "/-/can", body) }

		one := ask(fmt.Sprintf(`{"role":"author","sub":"%s","verb":"update","collection":"posts","resource_id":"%s"}`, id(boAt), strings.ToUpper(id(11))))
		found := regexp.MustCompile(`"id":"[0-9a-f-]{36}"`).FindString(one.body)
		one.expect(t, 200, fmt.Sprintf(`{"data":[{%s,"type":"decisions","role":"author","sub":"%s","collection":"posts","resource_id":"%s","verb":"update","decision":"yes","reasons":["author is granted update in posts","the rule of read is true of the resource: resource.published || resource.user_id == auth.sub","the rule of update is true of the resource: resource.user_id == auth.sub"]}]}`, found, id(boAt), id(11)))
		one.expectHeaders(t, "Cache-Control: no-store", "Vary: Authorization")
		if again := ask(fmt.Sprintf(`{"role":"author","sub":"%s","claims":{"a":1},"verb":"update","collection":"posts","resource_id":"%s"}`, id(boAt), id(11))); strings.Contains(again.body, found) {
			t.Errorf("two questions have the same id: %s", again.body)
		}

		for body, want := range map[string]string{
			fmt.Sprintf(`{"role":"author","sub":"%s","collection":"posts"}`, id(adaAt)): `posts list yes: author is granted list in posts; the rule of read depends on the resource: resource.published || resource.user_id == auth.sub
posts read depends: author is granted read in posts; the rule of read depends on the resource: resource.published || resource.user_id == auth.sub
posts create depends: author is granted create in posts; the rule of create depends on the resource: resource.user_id == auth.sub
posts update depends: author is granted update in posts; the rule of read depends on the resource: resource.published || resource.user_id == auth.sub; the rule of update depends on the resource: resource.user_id == auth.sub
posts delete depends: author is granted delete in posts; the rule of read depends on the resource: resource.published || resource.user_id == auth.sub; the rule of delete depends on the resource: resource.user_id == auth.sub
posts changes no: author is not granted changes in posts`,
			fmt.Sprintf(`{"role":"author","sub":"%s","collection":"posts","verb":"delete","resource_id":"%s"}`, id(adaAt), id(10)): `posts delete no: author is granted delete in posts; the rule of read is true of the resource: resource.published || resource.user_id == auth.sub; the rule of delete is not true of the resource: resource.user_id == auth.sub`,
			`{"role":"author","collection":"users","verb":"update","sub":null,"claims":null,"resource_id":null}`:                   `users update no: author is granted update in users; read has no rule: every resource; the rule of update is true of no resource for this caller: resource.id == auth.sub; the caller has no sub, which may be why`,
			`{"role":"clerk","sub":"x","verb":"create","collection":null}`: `users create no: clerk is not granted create in users
posts create yes: clerk is granted create in posts; create has no rule: every resource
notes create no: clerk is not granted create in notes
operations create no: clerk is not granted create in operations`,
			`{"role":"public","verb":"read","type":"decisions"}`: `users read yes: public is granted read in users; read has no rule: every resource
posts read depends: public is granted read in posts; the rule of read depends on the resource: resource.published
notes read yes: public is granted read in notes; read has no rule: every resource; the read rule of posts does not apply to notes: public sees those of hidden parents too
operations read depends: everybody may read their own operations`,
		} {
			if got := ask(body).decided(t); got != want {
				t.Errorf("%s\ngot\n%s\nwant\n%s", body, got, want)
			}
		}
		if got := strings.Count(ask(`{"role":"author"}`).decided(t), "\n") + 1; got != 4*6 {
			t.Errorf("%d decisions", got)
		}
	})
}

// TestDecisionsReadClaims: rules get the claims of the question, exactly.
func TestDecisionsReadClaims(t *testing.T) {
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open(withKeys, func(c *plural.Config) {
			for i := range c.Access.Roles {
				if c.Access.Roles[i].Name == "author" {
					c.Access.Roles[i].Grants[0].Rules[schema.MayUpdate] = schema.Rule{Text: "resource.rank == auth.claims.rank"}
				}
			}
		})
		h.fill(true, "example.com")
		for claims, want := range map[string]string{`{"rank":1}`: "is true of the resource", `{"rank":2}`: "is not true of the resource", `{"rank":9007199254740993}`: "is not true of the resource", `{}`: "is true of no resource for this caller"} {
			got := h.as("editor", "POST", "/-/can", fmt.Sprintf(`{"role":"author","sub":"x","claims":%s,"verb":"update","collection":"users","resource_id":"%s"}`, claims, id(adaAt))).decided(t)
			if !strings.Contains(got, "the rule of update "+want+": resource.rank == auth.claims.rank") {
				t.Errorf("%s: %s", claims, got)
			}
		}
	})
}

// TestDecisionsAreForAdministrators: only those who may create keys of a role may ask about it, and a
// resource that they may not read does not exist.
func TestDecisionsAreForAdministrators(t *testing.T) {
	t.Parallel()
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open(withKeys)
		h.fill(true, "example.com")
		h.key("nobody", "unheard", "")
		for caller, want := range map[string]int{"public": 401, "clerk": 403, "nobody": 403, "ada": 200, "editor": 200} {
			if a := h.as(caller, "POST", "/-/can", `{"role":"clerk"}`); a.status != want {
				t.Errorf("%s: %d %s", caller, a.status, a.body)
			}
		}
		for _, role := range []string{"editor", "author", "janitor", "unheard"} {
			h.as("ada", "POST", "/-/can", `{"role":"`+role+`"}`).expect(t, 403, `{"errors":[{"status":403,"code":"forbidden","title":"Forbidden","detail":"You may not ask about this role. You may ask about clerk, public.","source":{"pointer":"/role"}}]}`)
		}
		// Post 11 is hidden from Ada, and post 99 does not exist.
		hidden := h.as("ada", "POST", "/-/can", fmt.Sprintf(`{"role":"clerk","collection":"posts","resource_id":"%s"}`, id(11)))
		missing := h.as("ada", "POST", "/-/can", fmt.Sprintf(`{"role":"clerk","collection":"posts","resource_id":"%s"}`, id(99)))
		hidden.expectErrors(t, 422, "unknown_reference /resource_id")
		if strings.ReplaceAll(hidden.body, id(11), id(99)) != missing.body {
			t.Errorf("%s\n%s", hidden.body, missing.body)
		}
	})
}

// TestDecisionsThatAreRefused: questions that are wrong.
func TestDecisionsThatAreRefused(t *testing.T) {
	t.Parallel()
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open(withKeys)
		for body, want := range map[string][]string{
			`{}`: {"422", "required /role"},
			`{"role":"clerk","verb":"write","sub":"","claims":[],"resource_id":"x","id":1}`: {"422", "enum /verb", "min_length /sub", "type /claims", "format /resource_id", "type /id"},
			`{"role":"clerk","collection":"post"}`:                                          {"422", "unknown_reference /collection"},
			`{"role":"clerk","resource_id":"` + id(1) + `"}`:                                {"422", "required /collection"},
			`{"role":"clerk","id":"` + id(1) + `"}`:                                         {"422", "read_only /id"},
			`[{"role":"clerk"}]`:                                                            {"422", "not_an_object"},
			`{"data":{"role":"clerk"}}`:                                                     {"422", "wrapped /data"},
			`{"role":"clerk","role":"clerk"}`:                                               {"400", "malformed_json /role"},
		} {
			h.as("editor", "POST", "/-/can", body).expectErrors(t, map[string]int{"400": 400, "422": 422}[want[0]], want[1:]...)
		}
		good := `{"role":"clerk"}`
		h.as("editor", "POST", "/-/can", good, "Idempotency-Key", "once").expectErrors(t, 400, "malformed_request Idempotency-Key")
		h.as("editor", "POST", "/-/can", good, "If-Match", "*").expectErrors(t, 400, "malformed_request If-Match")
		h.as("editor", "POST", "/-/can?verb=read", good).expectErrors(t, 400, "unknown_parameter verb")
		h.as("editor", "POST", "/-/can", good, "Content-Type", "text/plain").expectErrors(t, 415, "unsupported_media_type Content-Type")
		h.as("editor", "GET", "/-/can", "").expectErrors(t, 405, "method_not_allowed")
	})
	eachStore(t, nil, func(t *testing.T, s *server) {
		s.do("POST", "/-/can", `{"role":"x"}`).expectErrors(t, 404, "not_found")
	})
}

// TestDecisionsHideValues: claims are chosen by who asks, and no API key has them. So they are not compared with an attribute
// of a resource that is hidden from who asks, nor is a subject of the public.
func TestDecisionsHideValues(t *testing.T) {
	t.Parallel()
	eachAccessServer(t, func(t *testing.T, open opener) {
		h := open(withKeys, func(c *plural.Config) {
			rules := map[string][]schema.Grant{
				"clerk": {
					{Collection: "users", Verbs: []schema.AccessVerb{schema.MayRead, schema.MayUpdate, schema.MayDelete}, Rules: map[schema.AccessVerb]schema.Rule{
						schema.MayRead:   {Text: "resource.email.startsWith(auth.claims.email)"},
						schema.MayUpdate: {Text: "resource.email == auth.sub"},
					}},
					{Collection: "posts", Verbs: []schema.AccessVerb{schema.MayRead, schema.MayUpdate}, Rules: map[schema.AccessVerb]schema.Rule{
						schema.MayRead:   {Text: "resource.title == auth.claims.title || resource.user.name == auth.claims.name"},
						schema.MayUpdate: {Text: "resource.user.email == auth.claims.email"},
					}},
					{Collection: "notes", Verbs: []schema.AccessVerb{schema.MayRead}, Rules: map[schema.AccessVerb]schema.Rule{
						schema.MayRead: {Text: "resource.post.title == auth.claims.title"},
					}},
				},
				"public": {
					{Collection: "users", Verbs: []schema.AccessVerb{schema.MayRead}, Rules: map[schema.AccessVerb]schema.Rule{schema.MayRead: {Text: "resource.email == auth.sub"}}},
				},
			}
			for i := range c.Access.Roles {
				if grants := rules[c.Access.Roles[i].Name]; grants != nil {
					c.Access.Roles[i].Grants = grants
				}
			}
		})
		h.fill(true, "example.com")
		note := h.as("editor", "POST", "/notes", fmt.Sprintf(`{"id":"%s","text":"x","post_id":"%s"}`, id(90), id(10)))
		if note.status != 201 {
			t.Fatal(note.body)
		}
		user, post := fmt.Sprintf(`"collection":"users","resource_id":"%s"`, id(boAt)), fmt.Sprintf(`"collection":"posts","resource_id":"%s"`, id(10))
		for question, refused := range map[string]string{
			`{"role":"clerk","verb":"read","claims":{"email":"b"},` + user + `}`:                                        "/claims", // ada may not see emails
			`{"role":"clerk","verb":"delete","claims":{"email":"b"},` + user + `}`:                                      "/claims",
			`{"role":"clerk","claims":{"email":"b"},` + user + `}`:                                                      "/claims",
			`{"role":"clerk","verb":"update","claims":{"email":"b"},` + post + `}`:                                      "/claims",
			`{"role":"clerk","verb":"read","claims":{"title":"t"},` + post + `}`:                                        "",        // she may see titles and names
			`{"role":"clerk","verb":"read","claims":{"title":"t"},"collection":"notes","resource_id":"` + id(90) + `"}`: "/claims", // but not every post
			`{"role":"clerk","verb":"read","claims":{},` + user + `}`:                                                   "",
			`{"role":"clerk","verb":"read","sub":"b@example.com",` + user + `}`:                                         "", // as with a key
			`{"role":"clerk","verb":"read","claims":{"email":"b"},"collection":"users"}`:                                "", // of no resource
			`{"role":"public","verb":"read","sub":"b@example.com",` + user + `}`:                                        "/sub",
			`{"role":"public","verb":"read",` + user + `}`:                                                              "",
		} {
			if got := h.as("ada", "POST", "/-/can", question); refused == "" && got.status != 200 {
				t.Errorf("%s: %d %s", question, got.status, got.body)
			} else if refused != "" {
				got.expectErrors(t, 403, "forbidden "+refused)
			}
			if got := h.as("editor", "POST", "/-/can", question); got.status != 200 { // who sees everything
				t.Errorf("%s: %d %s", question, got.status, got.body)
			}
		}
	})
}
