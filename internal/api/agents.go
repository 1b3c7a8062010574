package api

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/limit"
	"github.com/plural-go/plural/problem"
)

// agentsAddress is the path of the messages of agents.
const agentsAddress = "/-/mcp"

// maxMessages is how many messages of agents are answered at the same time. Each holds a response in memory.
const maxMessages = 64

// agents answers messages of agents.
type agents struct {
	handler  http.Handler
	inFlight *limit.InFlight
}

// newAgents returns the handler of messages of agents; nil if there is none. It sends requests to a copy of the API: without a prefix, and
// without messages of agents.
func newAgents(within API) *agents {
	if within.Agents == nil {
		return nil
	}
	within.Prefix = ""
	return &agents{within.Agents(http.HandlerFunc(within.ServeHTTP)), limit.NewInFlight(maxMessages)}
}

func (a *API) agentsTarget() (*target, error) {
	if a.agents == nil {
		return nil, fault.New(problem.CodeNotFound, "This server has no interface for agents. Programs turn it on with Config.Agents.")
	}
	return &target{kind: agentsPath, pattern: agentsAddress}, nil
}

// isOfAgents reports whether a request is a message of an agent.
func (a *API) isOfAgents(r *http.Request) bool { return r.URL.Path == a.Prefix+agentsAddress }

// message replies to a message of an agent. The caller was admitted; the requests that the handler sends are admitted again, each by itself.
func (a *API) message(r *http.Request, out *response) (*reply, error) {
	if err := a.checkOrigin(r); err != nil {
		return nil, err
	}
	if len(r.Header.Values("Idempotency-Key")) > 0 {
		return nil, fault.Header("Idempotency-Key", problem.CodeMalformedRequest, "Messages are not recorded. Leave Idempotency-Key out, and give the tool an idempotency_key.")
	}
	if err := checkPlain(r); err != nil {
		return nil, err
	}
	body, err := a.readBody(r, out, a.MaxBody)
	if err != nil {
		return nil, err
	}
	if start := bytes.TrimLeft(body, " \t\r\n"); len(start) > 0 && start[0] == '[' {
		return nil, fault.New(problem.CodeNotAnObject, "Send one message in a request, not an array.")
	}
	// A body that arrives slowly keeps nobody out.
	defer a.agents.inFlight.Leave(out.address)
	if err := a.agents.inFlight.Enter(out.address); err != nil {
		return nil, err
	}
	// The requests of the handler end when the agent disconnects. They have the id of this one in the log.
	r = r.Clone(clientOf(r.Context()))
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Set("X-Request-Id", out.id)
	answered := &buffered{header: http.Header{}}
	a.agents.handler.ServeHTTP(answered, r)
	return answered.reply(), nil
}

// checkOrigin refuses messages from web pages that may not send any, as the protocol demands, whatever the access rules: a page could
// resolve its own name to the address of this server (DNS rebinding).
func (a *API) checkOrigin(r *http.Request) error {
	for _, origin := range r.Header.Values("Origin") {
		page, err := url.Parse(origin)
		ours := a.local && err == nil && isLoopback(page.Host) // whose Host was checked
		if !ours && !slices.Contains(a.Origins, "*") && !slices.Contains(a.Origins, origin) {
			return fault.Header("Origin", problem.CodeForbidden, "Pages of the origin %s may not send messages of agents. Add the origin to allowed_origins.", fault.Quote(origin))
		}
	}
	return nil
}

// buffered is the response of the handler of messages, which is short.
type buffered struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header is that of an http.ResponseWriter.
func (w *buffered) Header() http.Header { return w.header }

// WriteHeader is that of an http.ResponseWriter.
func (w *buffered) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// Write is that of an http.ResponseWriter.
func (w *buffered) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

// reply is the response as a reply. A text, by which the protocol refuses a message, becomes an error of the interface.
func (w *buffered) reply() *reply {
	w.WriteHeader(http.StatusOK)
	if w.status == http.StatusBadRequest && strings.HasPrefix(w.header.Get("Content-Type"), "text/plain") {
		return failure(problem.Errors{fault.New(problem.CodeMalformedRequest, "The message was refused: %s.", strings.TrimSpace(w.body.String()))})
	}
	w.header.Del("Connection")    // which is not the handler's
	w.header.Del("Cache-Control") // nothing stores a response to POST
	reply := &reply{status: w.status, header: w.header}
	if w.body.Len() > 0 {
		reply.body = w.body.Bytes()
	}
	return reply
}
