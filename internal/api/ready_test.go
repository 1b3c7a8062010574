package api

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestReadinessIsShared: however many ask, the database is asked once in a while.
func TestReadinessIsShared(t *testing.T) {
	var clock, asked atomic.Int64
	clock.Store(int64(time.Hour))
	s := &readiness{now: func() time.Time { return time.Unix(0, clock.Load()) }}
	answer := make(chan error)
	find := func(ctx context.Context) error {
		if _, limited := ctx.Deadline(); !limited || ctx.Err() != nil {
			t.Error("the database may take any time, or none")
		}
		asked.Add(1)
		return <-answer
	}
	down := errors.New("down")
	for i, want := range []error{nil, down, nil} {
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if err := s.look(find); err != want {
					t.Errorf("round %d: got %v, want %v", i, err, want)
				}
			})
		}
		answer <- want
		all.Wait()
		if err := s.look(find); err != want || asked.Load() != int64(i+1) {
			t.Errorf("round %d: got %v, asked %d times", i, err, asked.Load())
		}
		clock.Add(int64(readyFor))
	}
}
