package feed

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// gate bounds how many subscriptions do something at the same time, in all and of one caller. The
// others wait. The caller with the fewest inside is admitted first, callers with as many in turn, and
// the subscriptions of one caller in the order in which they came: whoever has many does not make
// those of others wait for all of them, nor until they leave.
type gate struct {
	most, share int              // in all, and of one caller
	waiting     func(change int) // is called when the number of those that wait changes

	mutex    sync.Mutex
	inside   int
	admitted int64 // how many were, since the beginning
	callers  map[string]*queue
}

// queue is the subscriptions of one caller at a gate.
type queue struct {
	inside  int
	last    int64 // number of the last admission
	waiters []*waiter
}

type waiter struct {
	number   int64
	admitted chan struct{} // closed when it is
}

func newGate(most, share int, waiting func(change int)) *gate {
	return &gate{most: max(1, most), share: max(1, share), waiting: waiting, callers: map[string]*queue{}}
}

// errEnded: a subscription has ended while it waited.
var errEnded = errors.New("the stream has ended")

// enter waits until a subscription is admitted; then it must leave. Of one caller the lowest number
// is admitted first, so that whoever has to wait in several calls does not begin from the end.
func (g *gate) enter(ctx context.Context, ended <-chan struct{}, caller string, number int64) error {
	w := &waiter{number: number, admitted: make(chan struct{})}
	g.mutex.Lock()
	q := g.callers[caller]
	if q == nil {
		q = &queue{}
		g.callers[caller] = q
	}
	at, _ := slices.BinarySearchFunc(q.waiters, number, func(w *waiter, number int64) int { return cmp.Compare(w.number, number) })
	q.waiters = slices.Insert(q.waiters, at, w)
	g.admit()
	g.mutex.Unlock()
	select {
	case <-w.admitted:
		return nil
	default:
	}
	g.waiting(1)
	defer g.waiting(-1)
	err := errEnded
	select {
	case <-w.admitted:
		return nil
	case <-ended:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	g.mutex.Lock()
	defer g.mutex.Unlock()
	at = slices.Index(q.waiters, w)
	if at < 0 {
		return nil // it was admitted at the same moment
	}
	q.waiters = slices.Delete(q.waiters, at, at+1)
	g.forget(caller, q)
	return err
}

// admit admits as many as there is room for. The mutex is locked.
func (g *gate) admit() {
	for g.inside < g.most {
		var next *queue
		for _, q := range g.callers {
			if len(q.waiters) > 0 && q.inside < g.share && (next == nil || q.before(next)) {
				next = q
			}
		}
		if next == nil {
			return
		}
		g.inside++
		g.admitted++
		next.inside++
		next.last = g.admitted
		close(next.waiters[0].admitted)
		next.waiters = slices.Delete(next.waiters, 0, 1)
	}
}

// before reports whether the first of a queue is admitted before that of another.
func (q *queue) before(other *queue) bool {
	order := cmp.Or(cmp.Compare(q.inside, other.inside), cmp.Compare(q.last, other.last), cmp.Compare(q.waiters[0].number, other.waiters[0].number))
	return order < 0
}

// leave makes room for another.
func (g *gate) leave(caller string) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.inside--
	q := g.callers[caller]
	q.inside--
	g.forget(caller, q)
	g.admit()
}

// isDue reports whether somebody waits for whom a caller should leave: its own subscriptions, or a
// caller with fewer inside.
func (g *gate) isDue(caller string) bool {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	own := g.callers[caller]
	for _, q := range g.callers {
		if len(q.waiters) > 0 && (q == own || q.inside < own.inside) {
			return true
		}
	}
	return false
}

// forget removes an empty queue. The mutex is locked.
func (g *gate) forget(caller string, q *queue) {
	if q.inside == 0 && len(q.waiters) == 0 {
		delete(g.callers, caller)
	}
}

// gates bound what all subscriptions together take. One that must pass several takes them in this
// order, and waits for the client only with the first two, so that those inside never wait for each
// other.
type gates struct {
	parts     *gate // holding what was read from the database and not sent yet
	snapshots *gate // keeping a transaction open, for as long as the client takes to receive the list
	reads     *gate // reading from the database
	numbers   atomic.Int64
}

const (
	mostParts         = 32
	mostPartsOfCaller = 8
	mostReads         = 4

	// mostTime is for how long a subscription that catches up keeps its slot from part to part, also if
	// others should get it. If clients do not receive their parts, slots become free only as these
	// are closed: one that does receive them would wait for that with every part.
	mostTime = 5 * time.Second
)

// newGates: pageReads and longReads are how many reads of each kind the database allows, and
// streams leave some of them to others.
func newGates(pageReads, longReads int, waiting func(change int)) *gates {
	reads, snapshots := max(1, min(mostReads, pageReads/2)), max(1, longReads/2)
	return &gates{
		parts:     newGate(mostParts, mostPartsOfCaller, waiting),
		snapshots: newGate(snapshots, snapshots/2, waiting),
		reads:     newGate(reads, reads/2, waiting),
	}
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
	if err := s.enterAll(ctx, p); err != nil {
		return err
	}
	defer s.feed.gates.reads.leave(s.quotaKey)
	s.number = 0 // the next time it is behind others
	return fn()
}

func (s *Subscription) enterAll(ctx context.Context, p purpose) error {
	g := s.feed.gates
	if s.number == 0 {
		s.number = g.numbers.Add(1)
	}
	// The loops of the program itself may wait for each other, so they must not wait for slots that
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
	return s.enter(ctx, g.reads)
}

func (s *Subscription) enter(ctx context.Context, g *gate) error {
	err := g.enter(ctx, s.ended, s.quotaKey, s.number)
	if errors.Is(err, errEnded) {
		return s.end()
	}
	return err
}

// nextPart begins the next part, after the last one was sent.
func (s *Subscription) nextPart() {
	if s.holdsPart && s.Progress() == CatchingUp && (s.feed.options.Now().Sub(s.entered) < mostTime || !s.feed.gates.parts.isDue(s.quotaKey)) {
		return
	}
	s.release()
}

// release gives back the slots that the subscription does not need. While a list is open it needs
// both: its next piece follows at once.
func (s *Subscription) release() {
	if s.snapshot != nil && s.snapshot.listing != nil {
		return
	}
	if s.holdsSnapshot {
		s.holdsSnapshot = false
		s.feed.gates.snapshots.leave(s.quotaKey)
	}
	if s.holdsPart && len(s.pending) == 0 {
		s.holdsPart = false
		s.feed.gates.parts.leave(s.quotaKey)
	}
}
