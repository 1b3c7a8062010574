// Package agents lets agents use a server by the Model Context Protocol, at /-/mcp:
//
//	server, err := plural.Open(ctx, plural.Config{Schema: mySchema, Agents: agents.Handler})
//
// Programs that do not import it do not need the SDK of the protocol.
package agents

import (
	"net/http"

	"github.com/plural-go/plural/internal/mcp"
)

// Handler makes the handler of the messages of agents, for Config.Agents. What an agent asks for becomes requests to the given handler, on
// behalf of the caller who has sent the message.
func Handler(api http.Handler) http.Handler { return mcp.Handler(api) }
