package feed

import (
	"context"
	"time"

	"github.com/plural-go/plural/internal/limit"
)

// gates bound what all subscriptions together take, and share it between callers. A subscription that must pass several gates
// takes its places in this order, and waits for the client only with the first two, so that those inside never wait for each
// other.
type gates struct {
	parts     *limit.Gate // holding what was read from the database and not sent yet
	snapshots *limit.Gate // keeping a transaction open, for as long as the client takes to receive the list
	reads     *limit.Gate // reading from the database
}

const (
	mostParts = 32
	mostReads = 4

	// mostTime is for how long a subscription that catches up keeps its place from part to part, also if others wait for one. If
	// clients do not receive their parts, places become free only as their streams are closed: a client that does receive its parts
	// would wait for that with every part.
	mostTime = 5 * time.Second
)

// newGates: pageReads and longReads are how many reads of each kind the database allows, and
// streams leave some of them to others.
func newGates(pageReads, longReads int) *gates {
	return &gates{parts: limit.NewGate(mostParts, 0), snapshots: limit.NewGate(longReads/2, 0), reads: limit.NewGate(min(mostReads, pageReads/2), 0)}
}

// purpose is why a subscription reads from the database.
type purpose int

const (
	toCheck purpose = iota // nothing of what is read is kept
	toSend                 // events are made of what is read
	toList                 // a list is opened
)

// inTurn runs fn, which reads from the database, when it is the turn of the subscription.
func (s *Subscription) inTurn(ctx context.Context, p purpose, fn func() error) error {
	defer s.release()
	g := s.feed.gates
	// The loops of the program itself may wait for each other, so they must not wait for places that
	// are kept while they run.
	if s.quotaKey != "" && p >= toSend && !s.holdsPart {
		if err := s.enter(ctx, g.parts); err != nil {
			return err
		}
		s.holdsPart, s.entered = true, s.feed.options.Now()
	}
	if s.quotaKey != "" && p == toList && !s.holdsSnapshot {
		if err := s.enter(ctx, g.snapshots); err != nil {
			return err
		}
		s.holdsSnapshot = true
	}
	if err := s.enter(ctx, g.reads); err != nil {
		return err
	}
	defer g.reads.Leave(s.quotaKey)
	return fn()
}

// enter waits for a place, until the context or the stream ends.
func (s *Subscription) enter(ctx context.Context, g *limit.Gate) error {
	if g.TryEnter(s.quotaKey) {
		return nil
	}
	s.feed.options.Metrics.Waiting(1)
	defer s.feed.options.Metrics.Waiting(-1)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.life, func() { cancel(context.Cause(s.life)) })()
	return g.Enter(ctx, s.quotaKey)
}

// nextPart begins the next part, after the last one was sent.
func (s *Subscription) nextPart() {
	if !s.holdsPart || s.Progress() != CatchingUp || s.feed.options.Now().Sub(s.entered) >= mostTime {
		s.release()
	}
}

// release gives back the places that the subscription does not need. While a list is open it needs
// both: its next piece follows at once.
func (s *Subscription) release() {
	if s.snapshot != nil && s.snapshot.listing != nil {
		return
	}
	if s.holdsSnapshot {
		s.holdsSnapshot = false
		s.feed.gates.snapshots.Leave(s.quotaKey)
	}
	if s.holdsPart && len(s.pending) == 0 {
		s.holdsPart = false
		s.feed.gates.parts.Leave(s.quotaKey)
	}
}
