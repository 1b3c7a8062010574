package api

import (
	"context"
	"sync"
	"time"
)

const (
	// readyTimeout bounds how long the database may take to respond.
	readyTimeout = 2 * time.Second

	// readyFor is how long a result is used. Anybody can ask, and no limit counts it, so
	// the database must not be asked each time.
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

// look reports why requests should go elsewhere, nil if they should not. The check does not end with the
// request that started it, as others wait for it.
func (s *readiness) look(ctx context.Context, check func(context.Context) error) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if !s.found.IsZero() && s.now().Sub(s.found) < readyFor {
		return s.err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyTimeout)
	defer cancel()
	s.err = check(ctx)
	s.found = s.now()
	return s.err
}
