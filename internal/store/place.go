package store

import (
	"context"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/limit"
	"github.com/plural-go/plural/problem"
)

// place is what a read takes of the share of its caller, so that a caller with slow queries, or one that does not
// read the responses, does not block everybody else. The zero value is no place: that of the program.
type place struct {
	gate *limit.Gate
	key  string
}

// enter waits for a place of a caller, for db.MaxWait at most. An empty key is that of the program.
func (s *Store) enter(ctx context.Context, how db.Use, key string) (place, error) {
	if key == "" {
		return place{}, nil
	}
	p := place{s.short, key}
	if how == db.PageInSeveral {
		p.gate = s.pages
	}
	if p.gate.TryEnter(key) { // most reads need no timer
		return p, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, db.MaxWait, db.ErrBusy)
	defer cancel()
	return p, p.gate.Enter(ctx, key)
}

// extend exchanges the place of a read for one for as long as its client takes.
func (p *place) extend(long *limit.Gate) error {
	if p.gate == nil {
		return nil
	}
	if !long.TryEnter(p.key) {
		return fault.New(problem.CodeTooManyRequests, "You are already reading %d long lists, which is your share while others read theirs. Read them to the end first, or request smaller ranges.", long.Held(p.key))
	}
	p.leave()
	p.gate = long
	return nil
}

func (p *place) leave() {
	if p.gate != nil {
		p.gate.Leave(p.key)
		p.gate = nil
	}
}
