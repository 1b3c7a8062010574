package interfacetest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

const bothTypes = "application/json, text/event-stream"

// message sends a message without a client of the SDK.
func (s *server) message(body string, headers ...string) answer {
	s.t.Helper()
	return s.do("POST", "/-/mcp", body, append([]string{"Accept", bothTypes}, headers...)...)
}

// TestMessagesOfAgents: what /-/mcp refuses, and how. Every message is answered by itself, without a session, so that any node can answer.
func TestMessagesOfAgents(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	eachStore(t, deskSchema(t), func(t *testing.T, s *server) {
		for i, node := range []*server{s, s.another()} {
			answered := node.message(ping, "Mcp-Session-Id", "made-up")
			if answered.status != 200 || answered.body != `{"jsonrpc":"2.0","id":1,"result":{}}` || answered.header.Get("Content-Type") != "application/json" || answered.header.Get("Mcp-Session-Id") != "" {
				t.Errorf("node %d: %d %v %s", i, answered.status, answered.header, answered.body)
			}
		}
		noted := s.message(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		if noted.status != 202 || noted.body != "" {
			t.Errorf("a notification: %d %s", noted.status, noted.body)
		}
		for _, method := range []string{"GET", "DELETE", "PUT", "PATCH"} {
			got := s.do(method, "/-/mcp", "", "Accept", bothTypes)
			got.expectErrors(t, 405, "method_not_allowed")
			if allow := got.header.Get("Allow"); allow != "POST, OPTIONS" {
				t.Errorf("Allow is %s", allow)
			}
		}
		s.message(`[`+ping+`]`).expectErrors(t, 422, "not_an_object")
		s.message(`{"jsonrpc":`).expectErrors(t, 400, "malformed_request")
		s.message(ping, "Accept", "application/json").expectErrors(t, 400, "malformed_request")
		s.message(ping, "Accept", "text/event-stream").expectErrors(t, 406, "not_acceptable Accept")
		s.message(ping, "Content-Type", "text/plain").expectErrors(t, 415, "unsupported_media_type Content-Type")
		s.message(ping, "MCP-Protocol-Version", "1999-01-01").expectErrors(t, 400, "malformed_request")
		s.message(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"x":"`+strings.Repeat("x", 2000)+`"}}}`).expectErrors(t, 413, "body_too_large")
		s.message(ping, "Idempotency-Key", "one").expectErrors(t, 400, "malformed_request Idempotency-Key")
		s.message(ping, "If-Match", "*").expectErrors(t, 400, "malformed_request If-Match")
		s.do("POST", "/-/mcp?x=1", ping, "Accept", bothTypes).expectErrors(t, 400, "unknown_parameter x")

		// A stream of messages would never have one.
		listen := s.message(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
			`"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen")
		if !strings.Contains(listen.body, `"code":-32601`) {
			t.Errorf("a subscription: %d %s", listen.status, listen.body)
		}
	}, withAgents, func(c *plural.Config) { c.MaxBody = 2000 })
	eachStore(t, deskSchema(t), func(t *testing.T, s *server) {
		s.message(ping).expectErrors(t, 404, "not_found")
	})
}

// TestDeepMessages: a message that is nested too deeply is refused, and the server goes on.
func TestDeepMessages(t *testing.T) {
	eachStore(t, deskSchema(t), func(t *testing.T, s *server) {
		const half = 500_000
		deep := strings.Repeat("[", half) + strings.Repeat("]", half)
		for _, message := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"query","arguments":` + deep + `}}`,
			`{"jsonrpc":"2.0","id":1,"method":"ping","params":` + deep + `}`,
			`{"jsonrpc":"2.0","id":` + deep + `,"method":"ping"}`,
			`{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat("[", 2*half) + `}`,
		} {
			s.message(message).expectErrors(t, 400, "malformed_request")
		}
		if got := s.message(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); got.status != 200 {
			t.Errorf("%d %s", got.status, got.body)
		}
	}, withAgents)
}

// TestOriginsOfMessages: a message from a web page is refused unless its origin is allowed, with and without access rules, so that no page
// can use a server to which it makes its own name lead (DNS rebinding).
func TestOriginsOfMessages(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for name, change := range map[string]func(*plural.Config){"without access": withAgents, "with access": withDeskAccess(t)} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, deskSchema(t), func(t *testing.T, s *server) {
				s.message(ping, "Origin", "https://app.example.com").expectErrors(t, 403, "forbidden Origin")
				s.message(ping, "Origin", "null").expectErrors(t, 403, "forbidden Origin")
				s.message(ping, "Origin", "http://rebound.example:8080", "X-Forwarded-Host", "rebound.example:8080").expectErrors(t, 403, "forbidden Origin")
				if got := s.message(ping, "Origin", "http://localhost:3000"); (got.status == 200) != (name == "without access") {
					t.Errorf("a page of this machine: %d %s", got.status, got.body)
				}
				allowing := s.another(func(c *plural.Config) { c.AllowedOrigins = []string{"https://app.example.com"} })
				if got := allowing.message(ping, "Origin", "https://app.example.com"); got.status != 200 || got.header.Get("Access-Control-Allow-Origin") != "https://app.example.com" {
					t.Errorf("an allowed origin: %d %v", got.status, got.header)
				}
			}, change)
		})
	}
}

// TestCredentialsOfMessages: wrong credentials are refused before the message is read.
func TestCredentialsOfMessages(t *testing.T) {
	eachStore(t, deskSchema(t), func(t *testing.T, s *server) {
		got := s.message(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Authorization", "Bearer plural_aaaaaaaaaa_"+strings.Repeat("a", 52))
		got.expectErrors(t, 401, "invalid_credentials Authorization")
		if challenge := got.header.Get("WWW-Authenticate"); challenge != `Bearer realm="plural", error="invalid_token"` {
			t.Error(challenge)
		}
	}, withDeskAccess(t))
}

// TestArgumentsOfAgents: what a tool does not know is refused, with what to write instead.
func TestArgumentsOfAgents(t *testing.T) {
	eachStore(t, deskSchema(t), func(t *testing.T, s *server) {
		fillDesk(s)
		a := s.agent()
		refusal := func(code, at, detail string) string {
			return `{"code":"` + code + `","at":"` + at + `","detail":` + string(mustJSON(t, detail)) + `}`
		}
		const queryArguments = "The arguments are collection, parent, filter, search, sort, include, fields, limit, cursor."
		for _, c := range []struct{ tool, arguments, want string }{
			{"query", `{"table":"people","page_size":5}`, refusal("unknown_parameter", "page_size", `There is no argument "page_size". Write limit instead. `+queryArguments) + `,` +
				refusal("unknown_parameter", "table", `There is no argument "table". Write collection instead. `+queryArguments) + `,` +
				refusal("required", "collection", "The argument collection is missing: it must be the name of a collection, which list_collections has.")},
			{"query", `{"collection":"people","limit":101}`, refusal("invalid_parameter", "limit", "The argument limit must be a whole number from 1 to 100; what follows has a cursor.")},
			{"query", `{"collection":"people","limit":"5"}`, refusal("invalid_parameter", "limit", "The argument limit must be a whole number from 1 to 100; what follows has a cursor.")},
			{"query", `{"collection":"../-/keys"}`, refusal("invalid_parameter", "collection", "The argument collection must be the name of a collection, which list_collections has.")},
			{"query", `{"collection":"people","sort":"name"}`, refusal("invalid_parameter", "sort", `The argument sort must be an array of strings, such as ["name"].`)},
			{"query", `{"collection":"people","cursor":"next"}`, refusal("invalid_parameter", "cursor", "This is not the cursor of a result of this tool. Leave it out to begin at the start.")},
			{"query", `{"collection":"people","filter":{"name":{"like":"A"}}}`, refusal("invalid_parameter", "filter.name",
				`There is no operator "like". Write contains instead. The operators are eq, ne, lt, lte, gt, gte, in, not_in, contains, starts_with, search, null, has, has_all, exists.`)},
			{"query", `{"collection":"people","filter":{"name":{"in":"A"}}}`, refusal("invalid_parameter", "filter.name", `The operator in needs an array of values, such as ["open","closed"].`)},
			{"query", `{"collection":"people","filter":{"nam":"A"}}`, refusal("unknown_parameter", "filter[nam][eq]", `The collection people has no field "nam" to filter by. Did you mean name?`)},
			{"query", `{"collection":"people","filter":{"any":{"name":"A"}}}`, refusal("invalid_parameter", "filter.any", `Must be an array of alternatives, such as [{"state":"open"},{"priority":{"gte":3}}].`)},
			{"query", `{"collection":"tickets","include":{"person":{"expand":true}}}`, refusal("unknown_parameter", "include.person.expand", `There is no argument "expand". The arguments are limit, sort, filter, fields, total.`)},
			{"query", `{"collection":"tickets","include":{"":{}}}`, `{"code":"invalid_parameter","detail":"The arguments cannot be sent: \"\" is not the name of a relation, or of several with dots between them."}`},
			{"list_collections", `{"x":1}`, refusal("unknown_parameter", "x", `There is no argument "x". There are no arguments: leave it out.`)},
			{"get", `{"collection":"people","id":"7"}`, refusal("invalid_parameter", "id", "The argument id must be the id of a resource, which is a UUID.")},
			{"write", `{"action":"patch","collection":"people","data":{"name":"x"}}`, refusal("unknown_parameter", "data",
				`There is no argument "data". Write attributes instead. The arguments are action, collection, id, parent, attributes, if_match, idempotency_key, dry_run.`)},
			{"write", `{"action":"delete","collection":"people","attributes":{}}`, refusal("invalid_parameter", "attributes", "A resource is deleted without attributes. Leave them out.") + `,` +
				refusal("invalid_parameter", "id", "Give the id of the resource to delete.")},
			{"write", `{"action":"create","collection":"people","attributes":[{"name":"x"}]}`, refusal("invalid_parameter", "attributes", "The argument attributes must be an object.")},
			{"write", `{"action":"replace","collection":"people","attributes":{}}`, refusal("invalid_parameter", "action", "The argument action must be create, patch or delete.")},
		} {
			a.expectRefusal(c.tool, c.arguments, `{"errors":[`+c.want+`]}`)
		}
		_, err := a.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "users_list"})
		if err == nil || !strings.Contains(err.Error(), `There is no tool "users_list". The tools are list_collections, describe_collection, query, get, aggregate, history, write, transition`) {
			t.Errorf("an unknown tool: %v", err)
		}
		s.get("/people").expectLength(t, 2)
	}, withAgentWrites)
}

// TestToolListIsShort: the tools cost an agent fewer than 4,000 tokens, of four bytes each, whatever the schema has.
func TestToolListIsShort(t *testing.T) {
	var collections []schema.Collection
	for i := range 80 {
		collections = append(collections, schema.Collection{Name: fmt.Sprintf("collection_%d", i), Singular: fmt.Sprintf("one_%d", i), Attributes: []schema.Attribute{
			{Name: "title", Type: schema.String}, {Name: "state", Type: schema.String, Enum: []any{"open", "done"}, Default: "open", Transitions: map[string][]string{"open": {"done"}}},
		}})
	}
	eachStore(t, mustSchema(t, collections...), func(t *testing.T, s *server) {
		list, err := s.agent().session.ListTools(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		if list.CacheScope != "private" {
			t.Errorf("the tools of a caller are %s", list.CacheScope)
		}
		if len(list.Tools) != 8 || len(text)/4 >= 4000 {
			t.Errorf("%d tools of %d tokens", len(list.Tools), len(text)/4)
		}
		t.Logf("%d tools, %d bytes, %d tokens", len(list.Tools), len(text), len(text)/4)
		for _, each := range list.Tools {
			declared, ok := each.InputSchema.(map[string]any)
			if !ok || declared["additionalProperties"] != false {
				t.Errorf("%s takes unknown arguments: %v", each.Name, each.InputSchema)
			}
		}
	}, withAgentWrites)
}

// TestMessagesAtTheSameTime: half of the messages that are answered at the same time may come from one address, and others are refused.
func TestMessagesAtTheSameTime(t *testing.T) {
	const most = 32
	eachGated(t, func(t *testing.T, s *server, g *gate) {
		call := func(i int) answer {
			return s.message(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write","arguments":{"action":"create","collection":"people","attributes":{"id":"%s","name":"x"}}}}`, id(i)))
		}
		held := make(chan answer, most)
		for i := range most {
			g.hold(i)
			go func() { held <- call(i) }()
		}
		for i := range most {
			g.await(i)
		}
		call(most).expectErrors(t, 429, "too_many_requests")
		s.get("/people").expectLength(t, 0) // other requests are answered
		g.openAll()
		for range most {
			if got := <-held; got.status != 200 || strings.Contains(got.body, "isError") {
				t.Errorf("%d %s", got.status, got.body)
			}
		}
		if got := call(most); got.status != 200 {
			t.Errorf("%d %s", got.status, got.body)
		}
	}, withAgentWrites)
}
