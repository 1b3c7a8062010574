package db

import (
	"context"
	"time"
)

// Slots bounds how many reads of one kind go on at the same time. A read has a slot while it goes on.
type Slots chan struct{}

// Acquire waits for a slot, up to MaxWait. A database that is closed meanwhile gives none.
func (s Slots) Acquire(ctx context.Context, closed <-chan struct{}) error {
	select {
	case <-closed:
		return ErrClosed
	case s <- struct{}{}:
		return nil
	default: // most reads need no timer
	}
	timeout := time.NewTimer(MaxWait)
	defer timeout.Stop()
	select {
	case s <- struct{}{}:
		return nil
	case <-closed:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	case <-timeout.C:
		return ErrBusy
	}
}

// Release gives a slot back.
func (s Slots) Release() { <-s }
