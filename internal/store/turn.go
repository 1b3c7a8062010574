package store

import (
	"context"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/limit"
	"github.com/plural-go/plural/problem"
)

// turn is what a read holds of the gate for reads of its kind. Callers have shares of a gate, so that a caller with slow queries, or one that does not read the responses, does not block everybody else. An empty key
// is that of the program.
type turn struct {
	gate *limit.Gate // nil: no place
	key  string
}

// enter waits for a place of a caller, for db.MaxWait at most.
func (s *Store) enter(ctx context.Context, how db.Use, key string) (turn, error) {
	t := turn{s.short, key}
	if how == db.PageInSeveral {
		t.gate = s.pages
	}
	return t, t.wait(ctx)
}

func (t turn) wait(ctx context.Context) error {
	if t.gate.TryEnter(t.key) { // most reads need no timer
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, db.MaxWait, db.ErrBusy)
	defer cancel()
	return t.gate.Enter(ctx, t.key)
}

// extend exchanges the place of a read for one for as long as its client takes, so that slow clients do not block the first pages
// of others. A client must not wait for it, as it may read the others itself.
func (t *turn) extend(ctx context.Context, long *limit.Gate) error {
	if t.key == "" {
		if err := (turn{long, ""}).wait(ctx); err != nil {
			return err
		}
	} else if !long.TryEnter(t.key) {
		return fault.New(problem.CodeTooManyRequests, "You are already reading %d long lists, which is your share while others read theirs. Read them to the end first, or request smaller ranges.", long.Held(t.key))
	}
	t.leave()
	t.gate = long
	return nil
}

func (t *turn) leave() {
	if t.gate != nil {
		t.gate.Leave(t.key)
		t.gate = nil
	}
}
