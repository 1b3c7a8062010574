package api

import (
	"context"
	"sync"
	"time"
)

const (
	// readyTimeout bounds how long the database may take to answer.
	readyTimeout = 2 * time.Second

	// readyFor is how long a result is cached. Probes need no credentials and have no rate limit,
	// so they must not reach the database each time.
	readyFor = time.Second
)

// readiness caches whether the server is ready. Concurrent probes share one check.
type readiness struct {
	now func() time.Time

	mutex    sync.Mutex
	checked  time.Time     // when it was checked; zero: never
	err      error         // the result
	checking chan struct{} // closed when the check is done; nil: none is running
}

// check returns the reason why the server is not ready, or nil.
func (s *readiness) check(ctx context.Context, find func(context.Context) error) error {
	s.mutex.Lock()
	if !s.checked.IsZero() && s.now().Sub(s.checked) < readyFor {
		defer s.mutex.Unlock()
		return s.err
	}
	checking := s.checking
	if checking == nil {
		checking = make(chan struct{})
		s.checking = checking
		go s.probe(context.WithoutCancel(ctx), find, checking) // shared with concurrent probes
	}
	s.mutex.Unlock()
	select {
	case <-checking:
		s.mutex.Lock()
		defer s.mutex.Unlock()
		return s.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *readiness) probe(ctx context.Context, probe func(context.Context) error, checking chan struct{}) {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	err := probe(ctx)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.checked, s.err, s.checking = s.now(), err, nil
	close(checking)
}
