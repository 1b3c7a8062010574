package interfacetest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/agents"
	"github.com/plural-go/plural/schema"
)

var (
	readingTools = []string{"aggregate", "describe_collection", "get", "history", "list_collections", "query"}
	allTools     = append(slices.Clone(readingTools), "transition", "write")
)

// agentsOnlyRead is the error of a write that the caller has not allowed.
const agentsOnlyRead = `{"errors":[{"code":"forbidden","detail":"Agents only read here. To let them write, create an API key with plural keys create --agent-writes, or, without access rules or on a database, start the command with --agent-writes."}]}`

// TestAgentsWrite: write and transition change one resource, as requests do.
func TestAgentsWrite(t *testing.T) {
	eachStore(t, deskSchema(t), func(t *testing.T, s *server) {
		a := s.agent()
		if got := a.tools(); !slices.Equal(got, allTools) {
			t.Errorf("the tools are %v", got)
		}
		ada := `{"id":"` + id(1) + `","type":"people","name":"Ada","secret":null,"created_at":"TIME","updated_at":"TIME"}`
		create := `"action":"create","collection":"people","attributes":{"id":"` + id(1) + `","name":"Ada"}`
		a.expect("write", `{`+create+`,"dry_run":true}`, `{"data":`+ada+`,"would_affect":"people=1"}`)
		a.expect("write", `{`+create+`,"idempotency_key":"one"}`, `{"data":`+ada+`,"etag":"ETAG"}`)
		a.expect("write", `{`+create+`,"idempotency_key":"one"}`, `{"data":`+ada+`,"etag":"ETAG"}`)
		a.expectRefusal("write", `{`+create+`}`, `{"errors":[{"code":"id_exists","at":"/id","detail":"Another resource, stored or in this request, has the id `+id(1)+`. Send another id, or none."}]}`)
		a.expect("write", `{"action":"patch","collection":"people","id":"`+id(1)+`","attributes":{"name":"Bea"}}`, `{"data":`+strings.Replace(ada, "Ada", "Bea", 1)+`,"etag":"ETAG"}`)
		a.expectRefusal("write", `{"action":"patch","collection":"people","id":"`+id(1)+`","attributes":{"nam":"Bea"}}`,
			`{"errors":[{"code":"unknown_attribute","at":"/nam","detail":"The collection people has no attribute of this name. Did you mean name?"}]}`)
		got := a.call("get", `{"collection":"people","id":"`+id(1)+`"}`)
		a.expect("write", `{"action":"patch","collection":"people","id":"`+id(1)+`","attributes":{"name":"Cleo"}}`, `{"data":`+strings.Replace(ada, "Ada", "Cleo", 1)+`,"etag":"ETAG"}`)
		var before struct{ ETag string }
		if err := json.Unmarshal([]byte(got.text), &before); err != nil {
			t.Fatal(err)
		}
		lost := a.call("write", `{"action":"delete","collection":"people","id":"`+id(1)+`","if_match":`+string(mustJSON(t, before.ETag))+`}`)
		if !lost.failed || !strings.Contains(lost.text, `"code":"precondition_failed","at":"If-Match"`) || !strings.Contains(lost.text, `"hint":"The resource has changed. Call get, and decide again."`) {
			t.Errorf("a lost update: %s", lost.text)
		}
		a.expect("write", `{"action":"delete","collection":"people","id":"`+id(1)+`"}`, `{"data":`+strings.Replace(ada, "Ada", "Cleo", 1)+`}`)

		s.create("/tickets", `{"id":"`+id(11)+`","title":"Door"}`)
		a.expectRefusal("transition", `{"collection":"tickets","id":"`+id(11)+`","attribute":"state","state":"closed"}`,
			`{"errors":[{"code":"transition","at":"/state","detail":"The state cannot change from open to closed. It can change to done."}]}`)
		a.expect("transition", `{"collection":"tickets","id":"`+id(11)+`","attribute":"state","state":"done"}`,
			`{"data":`+ticket(11, `"title":"Door","body":null,"state":"done","points":null,"tags":null,"person_id":null,"created_at":"TIME","updated_at":"TIME"`)+`,"etag":"ETAG"}`)

		s.create("/terms", `{"id":"`+id(21)+`","text":"old"}`)
		refused := a.call("write", `{"action":"patch","collection":"terms","id":"`+id(21)+`","attributes":{"text":"new"}}`)
		if !refused.failed || !strings.Contains(refused.text, `"code":"precondition_required"`) || !strings.Contains(refused.text, `"hint":"Call get, and give its etag as if_match."`) {
			t.Errorf("without if_match: %s", refused.text)
		}
		if err := json.Unmarshal([]byte(a.call("get", `{"collection":"terms","id":"`+id(21)+`"}`).text), &before); err != nil {
			t.Fatal(err)
		}
		a.expect("write", `{"action":"patch","collection":"terms","id":"`+id(21)+`","attributes":{"text":"new"},"if_match":`+string(mustJSON(t, before.ETag))+`}`,
			`{"data":{"id":"`+id(21)+`","type":"terms","text":"new","created_at":"TIME","updated_at":"TIME"},"etag":"ETAG"}`)
	}, withAgentWrites)
}

func mustJSON(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestAgentsOnlyReadByDefault: an agent writes nothing unless the caller allows it, whatever its role may do.
func TestAgentsOnlyReadByDefault(t *testing.T) {
	refused := func(t *testing.T, s *server, a agent) {
		t.Helper()
		if got := a.tools(); !slices.Equal(got, readingTools) {
			t.Errorf("the tools are %v", got)
		}
		a.expectRefusal("write", `{"action":"create","collection":"people","attributes":{"name":"Eve"}}`, agentsOnlyRead)
		a.expectRefusal("transition", `{"collection":"tickets","id":"`+id(11)+`","attribute":"state","state":"done"}`, agentsOnlyRead)
	}
	t.Run("without access", func(t *testing.T) {
		eachStore(t, deskSchema(t), func(t *testing.T, s *server) {
			fillDesk(s)
			refused(t, s, s.agent())
			s.get("/people").expectLength(t, 2)
		}, withAgents)
	})
	t.Run("with access", func(t *testing.T) {
		eachStore(t, deskSchema(t), func(t *testing.T, s *server) {
			reading, _ := s.holding("editor", false)
			refused(t, s, reading)
			refused(t, s, s.agent()) // without a key, even if the configuration lets agents write
			writing, prefix := s.holding("editor", true)
			if got := writing.tools(); !slices.Equal(got, allTools) {
				t.Errorf("the tools are %v", got)
			}
			ada := `{"id":"` + id(1) + `","type":"people","name":"Ada","secret":"x","created_at":"TIME","updated_at":"TIME"}`
			writing.expect("write", `{"action":"create","collection":"people","attributes":{"id":"`+id(1)+`","name":"Ada","secret":"x"}}`, `{"data":`+ada+`,"etag":"ETAG"}`)
			history := writing.call("history", `{"collection":"people","id":"`+id(1)+`"}`)
			if !strings.Contains(history.text, `"by":"key:`+prefix+`"`) {
				t.Errorf("the change is not by the key %s: %s", prefix, history.text)
			}
			// A role that may not write does not by such a key.
			poor, _ := s.holding("reader", true)
			poor.expectRefusal("write", `{"action":"delete","collection":"people","id":"`+id(1)+`"}`, `{"errors":[{"code":"forbidden","detail":"You may not delete resources of people."}]}`)
		}, withDeskAccess(t), func(c *plural.Config) { c.AgentWrites = true })
	})
}

// TestAgentsSeeWhatTheirKeyDoes: row rules and visible attributes are those of the key, also in descriptions.
func TestAgentsSeeWhatTheirKeyDoes(t *testing.T) {
	eachStore(t, deskSchema(t), func(t *testing.T, s *server) {
		writing, _ := s.holding("editor", true)
		for _, person := range []string{`{"id":"` + id(1) + `","name":"Ada","secret":"x"}`} {
			writing.call("write", `{"action":"create","collection":"people","attributes":`+person+`}`)
		}
		for i, state := range []string{"open", "closed"} {
			writing.call("write", `{"action":"create","collection":"tickets","attributes":{"id":"`+id(11+i)+`","title":"T`+state+`"}}`)
		}
		for _, state := range []string{"done", "closed"} {
			writing.call("transition", `{"collection":"tickets","id":"`+id(12)+`","attribute":"state","state":"`+state+`"}`)
		}
		reading, _ := s.holding("reader", false)
		reading.expect("list_collections", `{}`, `{"data":[{"name":"people","total":1,"label":"name"},{"name":"tickets","total":null},{"name":"operations","total":null}]}`)
		reading.expect("query", `{"collection":"people"}`, `{"data":[{"id":"`+id(1)+`","type":"people","name":"Ada"}],"total":1}`)
		reading.expect("query", `{"collection":"tickets"}`, `{"data":[`+ticket(11, `"title":"Topen","state":"open"`)+`]}`)
		reading.expectRefusal("get", `{"collection":"tickets","id":"`+id(12)+`"}`, `{"errors":[{"code":"not_found","detail":"There is no resource `+id(12)+` here in tickets."}]}`)
		reading.expectRefusal("query", `{"collection":"people","filter":{"secret":"x"}}`,
			`{"errors":[{"code":"unknown_parameter","at":"filter[secret][eq]","detail":"The collection people has no field \"secret\" to filter by."}]}`)
		reading.expectRefusal("describe_collection", `{"collection":"terms"}`, `{"errors":[{"code":"not_found","at":"collection","detail":"There is no collection \"terms\". list_collections has all that you may see."}]}`)
		reading.expectRefusal("history", `{}`, `{"errors":[{"code":"forbidden","detail":"You may not see changes: you need the verb changes in a collection."}]}`)
		public := s.agent()
		public.expect("query", `{"collection":"people"}`, `{"data":[{"id":"`+id(1)+`","type":"people","name":"Ada"}],"total":1}`)
		public.expectRefusal("query", `{"collection":"tickets"}`, `{"errors":[{"code":"unauthenticated","detail":"You may not list resources of tickets. Send credentials: Authorization: Bearer and an API key or a token."}]}`)
	}, withDeskAccess(t))
}

// TestAgentsOfTheProgram: the program that embeds the server may authenticate the callers of agents itself.
func TestAgentsOfTheProgram(t *testing.T) {
	eachStore(t, deskSchema(t), func(t *testing.T, s *server) {
		for _, writes := range []bool{false, true} {
			inner := s.another(func(c *plural.Config) { c.AgentWrites = writes })
			mounted := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				ctx := plural.WithCaller(r.Context(), plural.Principal{Subject: "ada", Roles: []string{"editor"}})
				http.StripPrefix("/api", inner.opened).ServeHTTP(w, r.WithContext(ctx))
			}))
			t.Cleanup(mounted.Close)
			session, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: mounted.URL + "/api/-/mcp", MaxRetries: -1}, nil)
			if err != nil {
				t.Fatal(err)
			}
			a := agent{t, session}
			if !writes {
				a.expectRefusal("write", `{"action":"create","collection":"people","attributes":{"name":"Eve"}}`, agentsOnlyRead)
				continue
			}
			a.expect("write", `{"action":"create","collection":"people","attributes":{"id":"`+id(1)+`","name":"Ada"}}`,
				`{"data":{"id":"`+id(1)+`","type":"people","name":"Ada","secret":null,"created_at":"TIME","updated_at":"TIME"},"etag":"ETAG"}`)
			if got := a.call("history", `{}`); !strings.Contains(got.text, `"by":"program:ada"`) {
				t.Error(got.text)
			}
		}
	}, withDeskAccess(t))
}

// TestKeysOfAgents: a key says over HTTP whether agents may write with it, and /-/me says it to the agent.
func TestKeysOfAgents(t *testing.T) {
	eachStore(t, deskSchema(t), func(t *testing.T, s *server) {
		editor := s.holder("editor", 0)
		created := editor.do("POST", "/-/keys", `{"name":"agent","role":"editor","agent_writes":true}`)
		if got := created.member(t, "agent_writes"); created.status != 201 || got != "true" {
			t.Fatalf("%d %s", created.status, created.body)
		}
		var secret string
		if err := json.Unmarshal([]byte(created.member(t, "key")), &secret); err != nil {
			t.Fatal(err)
		}
		for body, want := range map[string]string{`"agent_writes":false`: "", `"agent_writes":null`: ""} {
			if got := editor.do("POST", "/-/keys", `{"name":"agent","role":"editor",`+body+`}`).member(t, "agent_writes"); got != want {
				t.Errorf("%s: %q", body, got)
			}
		}
		editor.do("POST", "/-/keys", `{"name":"agent","role":"editor","agent_writes":"yes"}`).expectErrors(t, 422, "type /agent_writes")
		s.checker.knows("Bearer "+secret, "editor")
		if got := s.get("/-/me", "Authorization", "Bearer "+secret).member(t, "agent_writes"); got != "true" {
			t.Errorf("/-/me: %q", got)
		}
		if got := editor.get("/-/me").member(t, "agent_writes"); got != "" {
			t.Errorf("/-/me of another key: %q", got)
		}
		listed := editor.get("/-/keys")
		if got := strings.Count(listed.body, `"agent_writes":true`); got != 1 {
			t.Errorf("%d keys in %s", got, listed.body)
		}
	}, withDeskAccess(t))
}

// TestAgentsOfVersions: the tools use the version of the key, or that of the header.
func TestAgentsOfVersions(t *testing.T) {
	eachVersioned(t, func(t *testing.T, s *server) {
		s = s.another(func(c *plural.Config) { c.Agents = agents.Handler })
		first, newest := s.agent("API-Version", "1"), s.agent()
		if got := first.call("query", `{"collection":"clients"}`); got.failed {
			t.Error(got.text)
		}
		if got := newest.call("query", `{"collection":"clients"}`); !got.failed {
			t.Error(got.text)
		}
		s.do("POST", "/-/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "API-Version", "99", "Accept", "application/json, text/event-stream").
			expectErrors(t, 400, "unknown_version API-Version")
	})
}

// TestAgentsAreRated: messages and the requests of tools count for the rate of the caller. A tool that is refused says so to the agent.
func TestAgentsAreRated(t *testing.T) {
	eachStore(t, deskSchema(t), func(t *testing.T, s *server) {
		refused := ""
		for requests := int64(10); requests <= 11; requests++ { // with one of them, the message is still answered
			limited := s.another(func(c *plural.Config) {
				access := *c.Access
				access.Rates = map[string]schema.Rate{"reader": {Requests: requests, Per: time.Hour}}
				c.Access = &access
			})
			a, _ := limited.holding("reader", false)
			calls := 0
			for ; calls < 20; calls++ {
				result, err := a.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "query", Arguments: json.RawMessage(`{"collection":"people"}`)})
				if err != nil {
					break // the message itself was refused
				}
				if result.IsError {
					refused = result.Content[0].(*sdk.TextContent).Text
					break
				}
			}
			if want := int(requests-1) / 2; calls != want { // one message connects, and a call is two requests
				t.Errorf("%d requests allow %d calls", requests, calls)
			}
		}
		if !strings.Contains(refused, `"code":"too_many_requests"`) {
			t.Errorf("no tool was refused: %s", refused)
		}
	}, withDeskAccess(t))
}
