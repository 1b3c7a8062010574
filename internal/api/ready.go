package api

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

const (
	// readyTimeout bounds how long the database may take to show that it is there.
	readyTimeout = 2 * time.Second

	// readyFor is how long that is believed. Anybody can ask, and is not counted by any
	// limit, so the database must not be asked each time.
	readyFor = time.Second
)

// readiness is what is known of whether requests can be served. All who ask while it is being
// found out wait for the same answer.
type readiness struct {
	now func() time.Time

	mutex    sync.Mutex
	found    time.Time     // when it was found out; zero: never
	err      error         // what was found
	panicked any           // and how finding out panicked, if it did
	looking  chan struct{} // closed when it has been found out; nil: nobody is looking
}

// look reports why requests should go elsewhere, nil if they should not.
func (s *readiness) look(ctx context.Context, find func(context.Context) error) error {
	s.mutex.Lock()
	if !s.found.IsZero() && s.now().Sub(s.found) < readyFor {
		defer s.mutex.Unlock()
		return s.err
	}
	looking := s.looking
	if looking == nil {
		looking = make(chan struct{})
		s.looking = looking
		go s.find(context.WithoutCancel(ctx), find, looking) // which others wait for as well
	}
	s.mutex.Unlock()
	select {
	case <-looking:
		s.mutex.Lock()
		defer s.mutex.Unlock()
		if s.panicked != nil {
			panic(s.panicked) // of the request, which is answered 500
		}
		return s.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *readiness) find(ctx context.Context, find func(context.Context) error, looking chan struct{}) {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	var err error
	defer func() {
		reason := recover() // a panic of this goroutine would end the server
		if reason != nil {
			reason = fmt.Sprintf("%v\n%s", reason, debug.Stack())
		}
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.err, s.panicked, s.looking = err, reason, nil
		if reason == nil {
			s.found = s.now()
		}
		close(looking)
	}()
	err = find(ctx)
}
