// Package api turns HTTP requests into calls of package resource, and their results into responses:
// routing, negotiation, envelope, headers and limits. No other package writes a response.
package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/netip"
	"runtime/debug"
	"time"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/bodies"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/feed"
	"github.com/plural-go/plural/internal/headers"
	"github.com/plural-go/plural/internal/limit"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/observe"
	"github.com/plural-go/plural/internal/openapi"
	"github.com/plural-go/plural/internal/operation"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/internal/tracing"
	"github.com/plural-go/plural/internal/versions"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// Config configures an API.
type Config struct {
	Schema     *model.Schema      // of the newest version; in the API of another version, of that one: see API.as
	Versions   []versions.Version // that the database remembers, the newest last
	Resources  *resource.Resources
	Operations *operation.Operations
	Observer   *observe.Observer
	Feed       *feed.Feed
	Guard      *auth.Guard     // nil: no access control
	Document   openapi.Options // prefix and caller are added per request

	Prefix       string // path under which the API is mounted, without a trailing slash
	QueryLimits  query.Limits
	MaxBody      int64
	MaxBodies    int64         // bytes of all bodies in flight
	WriteTimeout time.Duration // for the client to receive each piece of a response
	QueryTimeout time.Duration // for the database to find each piece of it; 0: no limit
	MaxRequests  int64         // concurrent requests; 0: no limit

	// StreamHeartbeat is how often a stream without events sends a comment, so that proxies keep the
	// connection and dead clients are noticed. Every fourth time, and at least every 60 s, it sends a
	// bookmark.
	StreamHeartbeat time.Duration

	Rate           schema.Rate            // of requests from one address
	Rates          map[string]schema.Rate // of requests of one caller, by role
	TrustedProxies []netip.Prefix         // whose X-Forwarded-For is used
	Origins        []string               // allowed by CORS; *: any

	// Agents makes the handler of messages of agents, at /-/mcp, which sends requests to the given handler. Nil: there is none.
	Agents func(http.Handler) http.Handler

	// AgentWrites lets agents write where there is no access control, or the program has authenticated the caller.
	AgentWrites bool

	// Secure says that the server itself has TLS, so that it sends Strict-Transport-Security.
	Secure bool

	// MinThroughput is how many bytes per second, on average, a client must receive of a long
	// list or of what a stream sends at once. Zero: no minimum.
	MinThroughput int64

	// Abandoned ends when responses that are still being sent must end.
	Abandoned context.Context

	// Draining ends when clients should use another server: readiness checks fail, and connections end
	// after their response.
	Draining context.Context

	// Stopping ends when streams and requests that wait for something must end.
	Stopping context.Context

	// ListFound is called when the database has found a piece of a list, or has failed, for the list and for each relation that
	// it includes.
	ListFound func(ctx context.Context, origin observe.Origin, found reads.ListPart)

	// Tracer gets the requests. Nil: there is none.
	Tracer tracing.Tracer

	// Ready returns the reason why the database is not ready, or nil.
	Ready func(context.Context) error
}

// API handles requests.
type API struct {
	Config
	metrics  http.Handler
	buckets  *limit.Buckets
	inFlight *limit.InFlight
	openapis *openapi.Cache
	patterns map[*model.Collection]patterns
	versions []*version
	version  *version // of the schema of this API; nil: the schema has no versions
	uses     *versions.RecentUses
	bodies   *limit.Budget
	ready    *readiness
	local    bool    // see Local
	agents   *agents // nil: none
}

// New returns an API.
func New(config Config) *API {
	a := &API{
		Config:   config,
		metrics:  config.Observer.Metrics(),
		buckets:  limit.NewBuckets(),
		inFlight: limit.NewInFlight(config.MaxRequests),
		ready:    &readiness{now: time.Now},
		bodies:   limit.NewBudget(config.MaxBodies, config.MaxBody),
		patterns: patternsOf(config.Schema),
		uses:     new(versions.RecentUses),
		openapis: new(openapi.Cache),
	}
	a.versions, a.version = versionsOf(config)
	a.agents = newAgents(*a)
	return a
}

// ServeHTTP handles one request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.handle(w, r, nil) }

// Refuse replies to a request with an error and does not execute it. Health and readiness
// checks are still answered.
func (a *API) Refuse(w http.ResponseWriter, r *http.Request, refusal error) { a.handle(w, r, refusal) }

// handle handles one request, or refuses it. Every reply is sent by out.send.
func (a *API) handle(w http.ResponseWriter, r *http.Request, refusal error) {
	a, r = a.asMounted(r)
	out := &response{ResponseWriter: w, id: requestID(r), started: time.Now(), route: "unknown", timeout: a.WriteTimeout}
	out.remote = headers.ClientAddress(r, a.TrustedProxies)
	out.address = "address:" + headers.Network(out.remote)
	out.refusal = cmp.Or(refusal, a.inFlight.Enter(out.address))
	out.Header()["X-Content-Type-Options"] = noSniff
	if a.Secure && r.TLS != nil && !isLoopback(r.Host) { // other servers of localhost may have no TLS
		out.Header()["Strict-Transport-Security"] = onlyTLS
	}
	if a.Draining.Err() != nil {
		out.Header().Set("Connection", "close") // with HTTP/2, net/http makes it a GOAWAY
	}
	if r.ProtoMajor == 1 && len(r.TransferEncoding) > 0 {
		// net/http removes a Content-Length that came with it. A proxy that used it sees another end
		// of the request (RFC 9112, section 6.1).
		out.Header().Set("Connection", "close")
	}
	a.crossOrigin(r, out.Header())
	a.Observer.RequestStarted()
	defer func() {
		a.leave(out)
		out.timer.End()
		out.upload.End()
		out.written.End()
		reason := recover()
		if reason != nil && reason != http.ErrAbortHandler {
			a.Observer.Panicked(out.origin(), reason, debug.Stack())
			if out.status == 0 {
				_ = out.send(r, failure(problem.Errors{fault.Internal(nil)}))
				reason = nil
			}
		}
		summary := out.summary(r)
		out.endSpan(&summary)
		a.Observer.RequestFinished(summary)
		if reason != nil {
			panic(http.ErrAbortHandler) // the response has begun: the client must see that it is incomplete
		}
	}()
	reply, err := a.dispatch(r, out)
	if err != nil {
		reply = a.refuse(r, out, err)
	}
	if err := out.send(r, reply); err != nil {
		a.Observer.ResponseAborted(out.origin(), err)
		panic(http.ErrAbortHandler)
	}
}

// dispatch routes a request, checks it, and has it executed by answer.
func (a *API) dispatch(r *http.Request, out *response) (*reply, error) {
	if err := a.checkHost(r); err != nil {
		return nil, err
	}
	target, notFound := a.route(r)
	if a.Tracer != nil && !target.isUntraced() {
		r = a.startSpan(r, out)
	}
	if err := a.checkLoad(out, target); err != nil {
		return nil, err
	}
	r = a.begin(r, out)
	versioned := dependsOnVersion(r, target, notFound)
	if versioned {
		newest := a
		var err error
		if a, err = a.inVersion(r, target, out); err != nil {
			return nil, err
		}
		if a != newest {
			target, notFound = a.route(r)
		}
	}
	if unknown := (*unknownName)(nil); errors.As(notFound, &unknown) {
		return nil, a.nearestPath(r, out, unknown)
	}
	if errors.Is(notFound, errSystemRoot) {
		return a.systemRoot(r, out)
	}
	if notFound != nil {
		return nil, notFound
	}
	out.route = target.pattern
	if target.redirect != "" {
		return &reply{status: http.StatusPermanentRedirect, header: header("Location", target.redirect)}, nil
	}
	if refusal := target.refuseMethod(r.Method); refusal != nil {
		a.preflight(r, out.Header(), target.allowed())
		return refusal, nil
	}
	if target.kind == rootPath {
		if sent := a.redirectToExplorer(r, out); sent != nil {
			return sent, nil
		}
	}
	if err := a.admit(r, out, target); err != nil {
		return nil, err
	}
	if versioned {
		a.countUse(out)
	}
	out.context.reader.Key = quotaKeyOf(out)
	if target.kind == systemPath {
		return a.system(r, target)
	}
	if r.Method == methodQuery {
		var err error
		if r, err = a.asGet(r, out, target); err != nil {
			return nil, err
		}
	}
	if a.isStreamable(r, target) {
		out.Header().Add("Vary", "Accept")
		if wantsStream(r) {
			return a.stream(r, out, target)
		}
	}
	if err := acceptable(r); err != nil {
		return nil, err
	}
	if err := bodies.Check(r); err != nil {
		return nil, err
	}
	return a.answer(r, out, target)
}

// answer executes a request that was admitted: one for resources by its method, any other by its path.
func (a *API) answer(r *http.Request, out *response, t *target) (*reply, error) {
	switch t.kind {
	case rootPath:
		return a.collections(r, t)
	case groupsPath:
		return a.groups(r, out, t)
	case keysPath, keyPath:
		return a.apiKeys(r, out, t)
	case callerPath:
		return a.caller(r, t)
	case agentsPath:
		return a.message(r, out)
	case decisionsPath:
		return a.decisions(r, out, t)
	case transactionPath:
		return a.writeSteps(r, out, t)
	}
	switch {
	case !isRead(r.Method):
		return a.write(r, out, t)
	case a.isLog(t) && t.isCollection():
		return a.changes(r, out, t)
	case a.isLog(t):
		return a.readChange(r, t)
	case t.isCollection():
		return a.list(r, out, t)
	}
	return a.read(r, t)
}

// refuse turns an error into a reply, and logs what the reply does not show.
func (a *API) refuse(r *http.Request, out *response, err error) *reply {
	if r.Context().Err() != nil && errors.Is(err, context.Canceled) {
		// No client reads this reply, and the server has no problem.
		out.gone = true
		return failure(problem.Errors{fault.New(problem.CodeUnavailable, "The client disconnected.")})
	}
	faults := fault.From(err)
	reply := failure(faults)
	switch reply.status {
	case http.StatusInternalServerError:
		a.Observer.Failed(out.origin(), err)
	case http.StatusServiceUnavailable:
		a.Observer.Unavailable(out.origin(), err)
	case http.StatusTooManyRequests:
		a.Observer.Denied(out.origin(), out.caller, string(reply.code), err)
		reply.header.Set("Retry-After", cmp.Or(out.retryAfter, retryAfter))
	case http.StatusForbidden:
		a.Observer.Denied(out.origin(), out.caller, string(reply.code), err)
	case http.StatusUnauthorized:
		a.Observer.Denied(out.origin(), out.caller, string(reply.code), err)
		reply.header.Set("WWW-Authenticate", challenge(faults[0].Code))
	case http.StatusUnsupportedMediaType:
		if r.Method == methodQuery {
			reply.header["Accept-Query"] = acceptQuery
			break
		}
		reply.header.Set("Accept", "application/json")
		if r.Method == http.MethodPatch {
			reply.header.Set("Accept-Patch", "application/json")
		}
	}
	return reply
}

// leave ends the counting of a request as one in progress. A stream ends it when it begins.
func (a *API) leave(out *response) {
	if !out.left {
		out.left = true
		a.inFlight.Leave(out.address)
	}
}

func isRead(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == methodQuery
}
