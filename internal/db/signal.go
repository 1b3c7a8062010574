package db

import (
	"context"
	"sync"
)

// Signal wakes the goroutines that wait for it. The zero value is ready.
type Signal struct {
	mutex   sync.Mutex
	waiting map[chan struct{}]bool
}

// Send signals, and does not wait.
func (s *Signal) Send() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for c := range s.waiting {
		select {
		case c <- struct{}{}:
		default: // the last signal is still waiting to be received
		}
	}
}

// Each calls fn after signals, until the context ends. Several signals during one call of fn cause
// one more call.
func (s *Signal) Each(ctx context.Context, fn func()) {
	c := make(chan struct{}, 1)
	s.mutex.Lock()
	if s.waiting == nil {
		s.waiting = map[chan struct{}]bool{}
	}
	s.waiting[c] = true
	s.mutex.Unlock()
	defer func() {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		delete(s.waiting, c)
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c:
			fn()
		}
	}
}
