package api

import (
	"context"
	"sync"
	"time"
)

const (
	// readyTimeout bounds how long the database may take to respond.
	readyTimeout = 2 * time.Second

	// readyFor is how long a result is cached. Readiness checks need no credentials and have no rate
	// limit, so they must not query the database each time.
	readyFor = time.Second
)

// readiness is the last known reason why requests cannot be served. Requests that arrive while it is
// checked wait for the same result.
type readiness struct {
	now func() time.Time

	mutex sync.Mutex
	found time.Time // when it was last checked; zero: never
	err   error     // what was found
}

// look returns why the server is not ready, or nil. The check is not part of the request that
// started it: others wait for it.
func (s *readiness) look(check func(context.Context) error) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if !s.found.IsZero() && s.now().Sub(s.found) < readyFor {
		return s.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
	defer cancel()
	s.err = check(ctx)
	s.found = s.now()
	return s.err
}
