package store

import (
	"context"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/limit"
	"github.com/plural-go/plural/problem"
)

// place is what a read takes of the places for reads of its kind. Callers have shares of them, so that a caller with slow queries,
// or one that does not read the responses, does not block everybody else. An empty key is that of the program.
type place struct {
	gate *limit.Gate // nil: no place
	key  string
}

// enter waits for a place of a caller, for db.MaxWait at most.
func (s *Store) enter(ctx context.Context, how db.Use, key string) (place, error) {
	p := place{s.short, key}
	switch how {
	case db.PageInSeveral:
		p.gate = s.pages
	case db.LongRead:
		p.gate = s.long
	}
	return p, p.wait(ctx)
}

func (p place) wait(ctx context.Context) error {
	if p.gate.TryEnter(p.key) { // most reads need no timer
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, db.MaxWait, db.ErrBusy)
	defer cancel()
	return p.gate.Enter(ctx, p.key)
}

// extend exchanges the place of a read for one for as long as its client takes, so that slow clients do not block the first pages
// of others. A client must not wait for it, as it may read the others itself.
func (p *place) extend(ctx context.Context, long *limit.Gate) error {
	if p.key == "" {
		if err := (place{long, ""}).wait(ctx); err != nil {
			return err
		}
	} else if !long.TryEnter(p.key) {
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
