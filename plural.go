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
	"sync/atomic"
	"time"

	"github.com/plural-go/plural/internal/api"
	"github.com/plural-go/plural/internal/observe"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/internal/store"
)

// Server is an open database behind an HTTP API.
type Server struct {
	config   Config
	store    *store.Store
	observer *observe.Observer
	handler  http.Handler
	http     *http.Server
	failed   chan error

	stopping   atomic.Bool
	stop       sync.Once
	stopErr    error
	background context.CancelFunc
	keeper     sync.WaitGroup
}

// Open opens the database, makes its tables if it is empty, and returns a
// server that answers requests as an http.Handler. It must be stopped.
func Open(ctx context.Context, config Config) (*Server, error) {
	config = config.withDefaults()
	if err := config.validate(); err != nil {
		return nil, err
	}
	st, err := store.Open(ctx, config.Database, config.Schema)
	if err != nil {
		return nil, err
	}
	s := &Server{config: config, store: st, observer: observe.New(config.Logger), failed: make(chan error, 1)}
	resources := resource.New(st)
	s.handler = api.New(api.Config{
		Schema:       config.Schema,
		Resources:    resources,
		Observer:     s.observer,
		Prefix:       config.Prefix,
		Query:        query.Limits{DefaultLimit: config.DefaultLimit, MaxLimit: config.MaxLimit},
		MaxBody:      config.MaxBody,
		MaxDepth:     config.MaxDepth,
		MaxItems:     config.MaxItems,
		WriteTimeout: config.WriteTimeout,
		Ready: func(ctx context.Context) error {
			if s.stopping.Load() {
				return errors.New("shutting down")
			}
			return resources.Ping(ctx)
		},
	})
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.background = cancel
	if config.ChangeRetention > 0 {
		s.keeper.Go(func() { s.keepChangeLog(background) })
	}
	return s, nil
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Start listens on an address, such as 127.0.0.1:8080, and serves it in the
// background. It returns the address that it listens on.
func (s *Server) Start(addr string) (net.Addr, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	s.http = &http.Server{
		Handler:                      s.handler,
		DisableGeneralOptionsHandler: true, // OPTIONS * is answered as everything is
		ReadHeaderTimeout:            s.config.HeaderTimeout,
		ReadTimeout:                  s.config.ReadTimeout,
		IdleTimeout:                  s.config.IdleTimeout,
		MaxHeaderBytes:               128 << 10,
		ErrorLog:                     slog.NewLogLogger(s.config.Logger.Handler(), slog.LevelWarn),
	}
	go func() {
		if err := s.http.Serve(api.Listener(l)); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- err
		}
	}()
	return l.Addr(), nil
}

// Failed reports when a started server can no longer take requests.
func (s *Server) Failed() <-chan error { return s.failed }

// Stop takes no more requests, finishes those it has accepted, and closes the
// database. The context, or ShutdownTimeout, bounds how long it waits for the
// requests. It can be called more than once.
func (s *Server) Stop(ctx context.Context) error {
	s.stop.Do(func() {
		s.stopping.Store(true)
		var finished error
		if s.http != nil {
			ctx, cancel := context.WithTimeout(ctx, s.config.ShutdownTimeout)
			defer cancel()
			if finished = s.http.Shutdown(ctx); finished != nil {
				finished = errors.Join(finished, s.http.Close())
			}
		}
		s.background()
		s.keeper.Wait()
		s.stopErr = errors.Join(finished, s.store.Close())
	})
	return s.stopErr
}

// keepChangeLog forgets old changes, now and every hour.
func (s *Server) keepChangeLog(ctx context.Context) {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		if err := s.store.Forget(ctx, s.config.ChangeRetention); err != nil && ctx.Err() == nil {
			s.observer.ForgetFailed(err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
