// Package api is the HTTP side: routing, negotiation, envelope, headers and
// limits. It is the only room that writes a response.
package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/netip"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/observe"
	"github.com/plural-go/plural/internal/openapi"
	"github.com/plural-go/plural/internal/operation"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// Config is what an API is made of.
type Config struct {
	Schema     *model.Schema
	Resources  *resource.Resources
	Operations *operation.Operations
	Observer   *observe.Observer
	Guard      *auth.Guard     // nil: everybody may do everything
	Document   openapi.Options // of the interface, but for where it is mounted and who asks

	Prefix       string // path under which the API is mounted, without a slash at its end
	Query        query.Limits
	MaxBody      int64
	MaxBodies    int64         // bytes of all bodies in flight
	WriteTimeout time.Duration // for the client to take each piece of an answer
	QueryTimeout time.Duration // for the database to find each piece of it; 0 is no bound
	MaxRequests  int64         // that are answered at the same time; 0 is no bound

	Rate           schema.Rate            // of requests from one address
	Rates          map[string]schema.Rate // of requests of one caller, by role
	TrustedProxies []netip.Prefix         // whose X-Forwarded-For counts
	Origins        []string               // of pages that may use the API; * is any

	// Secure says that the server has TLS of its own, and that browsers should use nothing else.
	Secure bool

	// MinThroughput is how many bytes of a long list a client must take in a second, on
	// average and beside WriteTimeout. Zero: any.
	MinThroughput int64

	// Abandoned is closed when answers that are still being sent must end.
	Abandoned <-chan struct{}

	// Stopping is closed when no more requests are taken.
	Stopping <-chan struct{}

	// Ready reports why requests should go elsewhere, nil when they should not.
	Ready func(context.Context) error
}

// API answers requests.
type API struct {
	Config
	metrics  http.Handler
	keys     *keys
	buckets  *buckets
	inFlight *atomic.Int64
	openapis *documents
	patterns map[*model.Collection]patterns
	bodies   *budget
	ready    *readiness
	local    bool // see Local
}

// New makes an API.
func New(config Config) *API {
	return &API{Config: config, metrics: config.Observer.Metrics(), keys: &keys{inUse: map[[2]string]bool{}}, buckets: newBuckets(), inFlight: &atomic.Int64{}, ready: &readiness{now: time.Now}, bodies: newBudget(config.MaxBodies, config.MaxBody), openapis: &documents{all: map[string]*document{}}, patterns: patternsOf(config.Schema)}
}

// ServeHTTP answers one request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.handle(w, r, nil) }

// Refuse answers a request with an error, and carries nothing out. Health and readiness
// are told all the same.
func (a *API) Refuse(w http.ResponseWriter, r *http.Request, refusal error) { a.handle(w, r, refusal) }

// handle answers one request, or refuses it. Every answer leaves by out.send.
func (a *API) handle(w http.ResponseWriter, r *http.Request, refusal error) {
	a, r = a.asMounted(r)
	out := &response{ResponseWriter: w, id: requestID(r), started: time.Now(), route: "unknown", timeout: a.WriteTimeout, refusal: refusal}
	out.remote = a.remoteOf(r)
	out.busy = a.inFlight.Add(1) > a.MaxRequests && a.MaxRequests > 0
	out.Header()["X-Content-Type-Options"] = noSniff
	if a.Secure && r.TLS != nil && !isLoopback(r.Host) { // other servers of localhost may have no TLS
		out.Header()["Strict-Transport-Security"] = onlyTLS
	}
	if r.ProtoMajor == 1 && len(r.TransferEncoding) > 0 {
		// There may have been a Content-Length beside it, which net/http takes away. A proxy
		// that believed it sees another end of the request (RFC 9112, section 6.1).
		out.Header().Set("Connection", "close")
	}
	a.crossOrigin(r, out.Header())
	a.Observer.Arrived()
	defer func() {
		a.inFlight.Add(-1)
		out.upload.end()
		reason := recover()
		if reason != nil && reason != http.ErrAbortHandler {
			a.Observer.Panicked(out.id, reason, debug.Stack())
			if !out.begun() {
				_ = out.send(r, failure(problem.Errors{fault.Internal(nil)}))
				reason = nil
			}
		}
		a.Observer.Answered(out.summary(r))
		if reason != nil {
			panic(http.ErrAbortHandler) // too late to say so: the client must see that it broke off
		}
	}()
	answer, err := a.answer(r, out)
	if err != nil {
		answer = a.refuse(r, out, err)
	}
	if err := out.send(r, answer); err != nil {
		a.Observer.BrokenOff(out.id, err)
		panic(http.ErrAbortHandler)
	}
}

// answer takes a request through the rooms: where it leads, whether that can be
// asked so, and what comes of it.
func (a *API) answer(r *http.Request, out *response) (*reply, error) {
	if err := a.checkHost(r); err != nil {
		return nil, err
	}
	target, err := a.route(r)
	if err := a.takesMore(out, target); err != nil {
		return nil, err
	}
	if unknown := (*misspelt)(nil); errors.As(err, &unknown) {
		err = a.nearestPath(r, out, unknown)
	}
	if err != nil {
		return nil, err
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
		if sent := a.toExplorer(r, out); sent != nil {
			return sent, nil
		}
	}
	if err := a.admit(r, out, target); err != nil {
		return nil, err
	}
	if target.kind == systemPath {
		return a.system(r, target)
	}
	if err := acceptable(r); err != nil {
		return nil, err
	}
	if err := takesBody(r); err != nil {
		return nil, err
	}
	if target.lists() && isRead(r.Method) {
		return a.list(r, out, target)
	}
	if err := query.ParseNone(r.URL.RawQuery); err != nil {
		return nil, err
	}
	switch {
	case target.kind == rootPath:
		return a.collections(out.context(r), target.path.By)
	case isRead(r.Method):
		return a.read(r, out, target)
	default:
		return a.change(r.WithContext(out.context(r)), out, target)
	}
}

// refuse turns an error into a reply, and notes what the reply does not show.
func (a *API) refuse(r *http.Request, out *response, err error) *reply {
	if r.Context().Err() != nil && errors.Is(err, context.Canceled) {
		// Nobody reads this, and nothing is wrong with the server.
		out.gone = true
		return failure(problem.Errors{fault.New(problem.CodeUnavailable, "The client went away.")})
	}
	faults := fault.From(err)
	answer := failure(faults)
	switch answer.status {
	case http.StatusInternalServerError:
		a.Observer.Failed(out.id, err)
	case http.StatusServiceUnavailable:
		a.Observer.Unavailable(out.id, err)
	case http.StatusTooManyRequests:
		a.Observer.Denied(out.id, out.caller, string(answer.code), err)
		answer.header.Set("Retry-After", cmp.Or(out.retryAfter, retryAfter))
	case http.StatusForbidden:
		a.Observer.Denied(out.id, out.caller, string(answer.code), err)
	case http.StatusUnauthorized:
		a.Observer.Denied(out.id, out.caller, string(answer.code), err)
		answer.header.Set("WWW-Authenticate", challenge(faults[0].Code))
	case http.StatusUnsupportedMediaType:
		answer.header.Set("Accept", "application/json")
		if r.Method == http.MethodPatch {
			answer.header.Set("Accept-Patch", "application/json")
		}
	}
	return answer
}

func isRead(method string) bool { return method == http.MethodGet || method == http.MethodHead }
