// Package plural serves a schema of collections as a JSON HTTP API that follows
// one resource convention.
//
//	server, err := plural.Open(ctx, plural.Config{Schema: mySchema, Database: "sqlite:my.db"})
//
// A Server is an http.Handler that can be mounted anywhere; Start and Stop run
// it on an address of its own.
package plural

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/plural-go/plural/internal/api"
	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/feed"
	"github.com/plural-go/plural/internal/limit"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/observe"
	"github.com/plural-go/plural/internal/operation"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/internal/tracing"
	"github.com/plural-go/plural/problem"
)

// Server is an open database with an HTTP API.
type Server struct {
	config    Config
	store     *store.Store
	resources *resource.Resources
	observer  *observe.Observer
	feed      *feed.Feed
	guard     *auth.Guard
	api       *api.API
	failed    chan error

	mutex    sync.Mutex // of the next five
	http     *http.Server
	stopping bool
	closing  bool          // new calls are refused
	requests int           // requests and calls in progress
	idle     chan struct{} // closed when there are none; nil: nothing waits for that

	draining   context.Context // ends when Stop is called
	drain      context.CancelFunc
	stopped    context.Context // ends when requests no longer wait for anything
	stopWaits  context.CancelFunc
	abandoned  context.Context // ends when the time of requests is over
	abandon    context.CancelCauseFunc
	stop       sync.Once
	stopErr    error
	background background
}

// Open opens the database, creates its tables if it is empty, migrates it as far as
// Config.Migrate allows, and returns a server that handles requests as an http.Handler. It
// must be stopped.
func Open(ctx context.Context, config Config) (*Server, error) {
	config = config.WithDefaults()
	if err := config.validate(); err != nil {
		return nil, err
	}
	observer := observe.New(config.Logger)
	// Check everything before the database is created.
	if err := checkHooks(config.model(), config.Hooks); err != nil {
		return nil, err
	}
	guard, err := newGuard(ctx, config, observer)
	if err != nil {
		return nil, err
	}
	for _, warning := range config.model().Warnings() {
		observer.SchemaWarning(warning)
	}
	if guard != nil {
		for _, warning := range guard.Policy.Warnings() {
			observer.AccessWarning(warning)
		}
	}
	st, err := store.Open(ctx, config.Database, config.model(), storeOptions(config, observer)...)
	if err != nil {
		return nil, err
	}
	if st.AwaitsContraction() {
		observer.Expanded()
	}
	if guard != nil {
		guard.Keys = st
	}
	s := &Server{config: config, store: st, guard: guard, observer: observer, failed: make(chan error, 1)}
	s.draining, s.drain = context.WithCancel(context.Background())
	s.stopped, s.stopWaits = context.WithCancel(context.Background())
	s.abandoned, s.abandon = context.WithCancelCause(context.Background())
	resources := newResources(config, st, guard, observer)
	s.resources = resources
	s.feed = newFeed(s, st, observer)
	operations := newOperations(config, st, resources, observer)
	s.api = api.New(api.Config{
		Schema:     st.Schema(),
		Versions:   st.Versions(),
		Resources:  resources,
		Operations: operations,
		Observer:   observer,
		Feed:       s.feed,
		Guard:      guard,
		Document:   documentOptions(config),

		Prefix:          config.Prefix,
		QueryLimits:     query.Limits{DefaultLimit: config.DefaultLimit, MaxLimit: config.MaxLimit},
		MaxBody:         config.MaxBody,
		MaxBodies:       config.MaxBodyMemory,
		WriteTimeout:    config.WriteTimeout,
		QueryTimeout:    config.QueryTimeout,
		MaxRequests:     config.MaxRequests,
		StreamHeartbeat: config.StreamHeartbeat,
		MinThroughput:   max(0, config.MinThroughput),

		Agents:         config.Agents,
		AgentWrites:    config.AgentWrites,
		Rate:           config.RateLimit,
		Rates:          ratesOf(config.Access),
		TrustedProxies: config.TrustedProxies,
		Origins:        config.AllowedOrigins,
		Secure:         config.CertFile != "",

		Abandoned: s.abandoned,
		Draining:  s.draining,
		Stopping:  s.stopped,
		ListFound: newSlowLists(config, resources, observer).note,
		Ready:     st.Ping,
		Tracer:    config.innerTracer(),
	})
	s.background.start(ctx, s, operations)
	return s, nil
}

func newResources(config Config, st *store.Store, guard *auth.Guard, observer *observe.Observer) *resource.Resources {
	resources := resource.New(st)
	resources.HookTime, resources.WriteTime = config.MaxHookTime, max(0, config.QueryTimeout)
	resources.AcceptTimestamps, resources.ForceStates = config.AcceptTimestamps, config.ForceStates
	resources.BodyLimits = resource.BodyLimits{Depth: config.MaxDepth, Items: config.MaxItems}
	resources.IdempotencyQuota = config.IdempotencyQuota
	resources.Guard, resources.Backlog, resources.BacklogShare = guard, config.MaxOperations, config.MaxOperationsPerCaller
	resources.Tracer = config.innerTracer()
	resources.Memory = limit.NewWriteBudget(config.MaxWriteMemory)
	resources.AfterFailed = func(ctx context.Context, change *resource.Change, err error) {
		observer.HookFailed(ctx, string(change.Verb), change.Collection.Name, outer(change).ID, err)
	}
	addHooks(resources, st.Schema(), config.Hooks)
	return resources
}

func newOperations(config Config, st *store.Store, resources *resource.Resources, observer *observe.Observer) *operation.Operations {
	return operation.New(operation.Config{
		Workers: config.Workers, Tracer: config.innerTracer(),
		Failed: func(job store.Job, err error) {
			name := ""
			if job.Operation != (model.ID{}) {
				name = job.Operation.String()
			}
			observer.OperationFailed(name, err, tracing.ID(job.Traceparent))
		},
		Finished: func(job store.Job, refused error) {
			code := ""
			if refused != nil {
				code = string(fault.From(refused)[0].Code)
			}
			observer.OperationFinished(job.Operation.String(), job.Method, job.Collection, job.Resource.String(), code, job.Attempt, tracing.ID(job.Traceparent))
		},
	}, st, resources)
}

// ErrStopped is the error of calls that begin when the server stops. It has the code unavailable.
var ErrStopped error = fault.New(problem.CodeUnavailable, "The server is shutting down. Try again later.")

// ErrInTransaction is the error of a write through the server that is made inside a Within hook or
// a Transaction, with the context of that function. Write through its *Tx instead.
var ErrInTransaction = resource.ErrNested

// ServeHTTP answers a request. When the server stops, after DrainDelay, it answers 503, except to
// requests that a hook makes with its own context.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.serve(s.api, w, r, false) }

// serve answers a request, which is accepted if it came over a connection of the server's own listener.
func (s *Server) serve(a *api.API, w http.ResponseWriter, r *http.Request, accepted bool) {
	if err := s.beginCall(r.Context(), accepted); err != nil {
		a.Refuse(w, r, err)
		return
	}
	defer s.endCall()
	a.ServeHTTP(w, r)
}

// beginCall starts a request or a call, for which Stop waits, unless the server stops.
// Calls of a hook belong to a request in progress: they are refused only once the database is
// closed. So are accepted requests, of which net/http reads no more when it shuts down: it closes their
// connections, which tells a proxy that another server can execute the request.
func (s *Server) beginCall(ctx context.Context, accepted bool) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closing || s.stopping && !accepted && !s.resources.InHook(ctx) {
		return ErrStopped
	}
	s.requests++
	return nil
}

// endCall ends what beginCall started.
func (s *Server) endCall() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.requests--
	if s.requests == 0 && s.idle != nil {
		close(s.idle)
		s.idle = nil
	}
}

// Listen listens on an address for a server that will be opened later, so that a refused
// address creates no database. Connections wait until the listener is given to Serve.
// Without Access or Open, the address must be a loopback address, and requests must have a
// loopback Host header.
func Listen(config Config, addr string) (net.Listener, error) {
	config = config.WithDefaults()
	if err := config.validate(); err != nil {
		return nil, err
	}
	if config.CertFile != "" {
		if _, err := newCertificates(config.CertFile, config.KeyFile, config.Logger); err != nil {
			return nil, err
		}
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	if config.Access == nil && !config.Open && !isLoopback(l.Addr()) {
		return nil, errors.Join(ErrOpen, l.Close())
	}
	return l, nil
}

// Start listens on an address, such as 127.0.0.1:8080, as Listen does, and serves it
// in the background. It returns the address that it listens on. A server is started once.
func (s *Server) Start(addr string) (net.Addr, error) {
	l, err := Listen(s.config, addr)
	if err != nil {
		return nil, err
	}
	if err := s.Serve(l); err != nil {
		return nil, err
	}
	return l.Addr(), nil
}

// Serve serves a listener of Listen in the background, in place of Start. The listener is
// closed by Stop, or if Serve fails.
func (s *Server) Serve(l net.Listener) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.http != nil || s.stopping {
		return errors.Join(errors.New("the server was started or stopped before"), l.Close())
	}
	served := s.api
	if s.config.Access == nil && !s.config.Open {
		served = s.api.Local()
	}
	server := &http.Server{
		Handler:                      http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(served, w, r, true) }),
		DisableGeneralOptionsHandler: true, // OPTIONS * is answered as everything is
		ReadHeaderTimeout:            s.config.HeaderTimeout,
		ReadTimeout:                  s.config.ReadTimeout,
		IdleTimeout:                  s.config.IdleTimeout,
		MaxHeaderBytes:               128 << 10,
		ErrorLog:                     slog.NewLogLogger(s.config.Logger.Handler(), slog.LevelWarn),
	}
	serve := func() error { return server.Serve(api.Listener(l)) }
	if s.config.CertFile != "" {
		certificates, err := newCertificates(s.config.CertFile, s.config.KeyFile, s.config.Logger)
		if err != nil {
			return errors.Join(err, l.Close())
		}
		server.TLSConfig = certificates.config()
		serve = func() error { return server.ServeTLS(l, "", "") } // the certificate is that of TLSConfig
	}
	go func() {
		if err := serve(); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- err
		}
	}()
	s.http = server
	return nil
}

// Failed gets an error when a started server can no longer accept requests.
func (s *Server) Failed() <-chan error { return s.failed }

// Stop first lets /-/ready fail for DrainDelay, while everything else goes on. Then it closes the
// listener, refuses new requests and typed calls, waits for those in progress, and closes the
// database. Requests to ServeHTTP get 503, calls fail with ErrStopped; calls by hooks of requests in
// progress still work. The context, or ShutdownTimeout after DrainDelay, bounds how long Stop waits; responses
// that are still being sent then are aborted, and a loop over All ends with an error at its
// next resource. The database is not closed while the body of a loop runs, so Stop must not be
// called there. Stop can be called more than once.
func (s *Server) Stop(ctx context.Context) error {
	s.stop.Do(func() {
		s.drain()
		if s.config.DrainDelay > 0 {
			select {
			case <-time.After(s.config.DrainDelay):
			case <-ctx.Done():
			}
		}
		s.mutex.Lock()
		s.stopping = true
		server := s.http
		s.mutex.Unlock()
		s.stopWaits()
		s.background.endStreams() // they would go on for ever
		ctx, cancel := context.WithTimeout(ctx, s.config.ShutdownTimeout)
		defer cancel()
		finished := s.finish(ctx, server)
		s.abandon(ErrStopped)
		s.background.finish(ctx) // whose hooks may call
		if err := s.storeUses(ctx); err != nil {
			s.observer.MaintenanceFailed(err)
		}
		s.mutex.Lock()
		s.closing = true
		s.mutex.Unlock()
		s.stopErr = errors.Join(finished, s.store.Close())
	})
	return s.stopErr
}

// storeUses stores who has used earlier versions of the interface.
func (s *Server) storeUses(ctx context.Context) error { return s.api.StoreUses(ctx, s.store.StoreUses) }

// finish waits for the accepted requests, also those of another server that this one is
// mounted in.
func (s *Server) finish(ctx context.Context, server *http.Server) error {
	if server != nil {
		if err := server.Shutdown(ctx); err != nil {
			return errors.Join(err, server.Close())
		}
	}
	s.mutex.Lock()
	if s.requests == 0 {
		s.mutex.Unlock()
		return nil
	}
	idle := make(chan struct{})
	s.idle = idle
	s.mutex.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
