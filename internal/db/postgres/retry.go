package postgres

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"github.com/plural-go/plural/internal/db"
)

// retryLocks are locks on resources that several transactions write to at the same time. Only one
// of these can succeed: a transaction sees a resource as it was when it began, and fails if
// another has changed it since. A transaction that has failed takes the locks of all resources that it has announced before
// its next run, in one order, so that transactions do not wait for each other in a circle.
// Within a server, transactions wait for a lock in a queue, and the first of each server waits
// for an advisory lock of the database. It takes that lock before its transaction begins, so that
// it sees the changes of the previous holder.
type retryLocks struct {
	mutex  sync.Mutex
	queues map[stripe]*retryQueue
}

// stripe is what a lock is for: a resource, and one in 65,536 of all others, so that a transaction that writes to
// very many has a bounded number of locks.
type stripe uint16

// advisoryLocks is how many advisory locks there are, each for many stripes: PostgreSQL has room for about 6,400 locks of
// all sessions together, with its default settings.
const advisoryLocks = 1024

func stripeOf(r db.ResourceID) stripe {
	hash := fnv.New64a()
	_, _ = hash.Write(r.ID[:]) // it never fails
	_, _ = hash.Write([]byte(r.Collection))
	sum := hash.Sum64()
	return stripe(sum ^ sum>>16 ^ sum>>32 ^ sum>>48) // #nosec G115 -- the lowest 16 bits
}

// retryQueue is the holder of a lock and those who wait for it, on this server.
type retryQueue struct {
	length int
	first  chan struct{} // capacity 1: full while the lock is held
}

// retryLock is the turns of a transaction in queues of this server, and the advisory locks that other servers see. Nil: the
// transaction has not failed yet, or it is unknown on what.
type retryLock struct {
	locks  *retryLocks
	held   []stripe // ascending
	locked bool     // the advisory locks are held, or may be
	giveUp bool     // the wait for the advisory locks was too long: run with the turns alone
}

var (
	// errContended: others hold the lock on a resource, or wait for it.
	errContended = errors.New("other transactions are waiting to write to the resource")
	// errNotLocked: another server does not release the locks in time.
	errNotLocked = fmt.Errorf("another server holds the lock: %w", errContended)
)

// acquire waits for the locks on what a transaction writes. They must be released. If that is nothing, there is
// no lock, as it is unknown what the transactions conflict on.
func (t *retryLocks) acquire(ctx context.Context, wanted []stripe, until time.Time) (*retryLock, error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	slices.Sort(wanted)
	wanted = slices.Compact(wanted)
	timeout := time.NewTimer(time.Until(until))
	defer timeout.Stop()
	l := &retryLock{locks: t, held: make([]stripe, 0, len(wanted))}
	for _, s := range wanted {
		var err error
		select {
		case t.join(s) <- struct{}{}:
			l.held = append(l.held, s)
			continue
		case <-timeout.C:
			err = errContended
		case <-ctx.Done():
			err = ctx.Err()
		}
		t.leave(s)
		l.release()
		return nil, err
	}
	return l, nil
}

// join adds a transaction to the queue for a lock. What it returns takes a value when it is its turn.
func (t *retryLocks) join(s stripe) chan<- struct{} {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	l := t.queues[s]
	if l == nil {
		l = &retryQueue{first: make(chan struct{}, 1)}
		if t.queues == nil {
			t.queues = map[stripe]*retryQueue{}
		}
		t.queues[s] = l
	}
	l.length++
	return l.first
}

// leave is called by a transaction that does not have the lock, or no longer.
func (t *retryLocks) leave(s stripe) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	l := t.queues[s]
	if l.length--; l.length == 0 {
		delete(t.queues, s)
	}
}

// contended reports whether others hold one of the locks, or wait for it while the transaction does not hold it.
func (t *retryLocks) contended(wanted []stripe, own *retryLock) bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return len(t.queues) > 0 && slices.ContainsFunc(wanted, func(s stripe) bool { return t.queues[s] != nil && !own.holds(s) })
}

func (t *retryLock) holds(s stripe) bool {
	_, holds := slices.BinarySearch(t.stripes(), s)
	return holds
}

func (t *retryLock) stripes() []stripe {
	if t == nil {
		return nil
	}
	return t.held
}

// release gives each lock to the next in its queue.
func (t *retryLock) release() {
	for _, s := range t.stripes() {
		t.locks.mutex.Lock()
		l := t.locks.queues[s]
		t.locks.mutex.Unlock()
		<-l.first
		t.locks.leave(s)
	}
}

// keys are the keys of the advisory locks, ascending. Keys of two numbers differ from those of Idempotency-Keys.
func (t *retryLock) keys() []int32 {
	keys := make([]int32, len(t.held))
	for i, s := range t.held {
		keys[i] = int32(s % advisoryLocks)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// lock waits until no other server holds the locks. They are session locks: waiting for a transaction
// lock would take the snapshot too early. A server that hangs may keep them for any time, so the
// wait is short. The locks only make failures less frequent.
func (t *retryLock) lock(c *connection) error {
	if t == nil || t.giveUp {
		return nil
	}
	ctx, cancel := context.WithTimeout(c.ctx, c.replyTimeout/4)
	defer cancel()
	t.locked = true // also if the reply is lost
	_, err := c.raw.Exec(ctx, "SELECT pg_advisory_lock("+retryClass+", key) FROM unnest($1::int4[]) AS key", t.keys())
	if err != nil {
		t.unlock(c)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		t.giveUp = true
		return errNotLocked
	}
	return err
}

// retryClass is the first number of the keys of advisory locks, which other kinds of locks do not have.
const retryClass = "758726"

// unlock releases the advisory locks, by closing the connection if necessary.
func (t *retryLock) unlock(c *connection) {
	if t == nil || !t.locked {
		return
	}
	t.locked = false
	ctx, cancel := c.wait()
	defer cancel()
	var unlocked bool
	if err := c.raw.QueryRow(ctx, "SELECT bool_and(pg_advisory_unlock("+retryClass+", key)) FROM unnest($1::int4[]) AS key", t.keys()).Scan(&unlocked); err != nil || !unlocked {
		_ = c.raw.Close(ctx) // the pool discards a closed connection
	}
}

// Announce takes no lock: of the transactions that write to the same resource, all but one fail. Those
// that have failed run again one after another, and one that has no lock yet lets them go first. It then takes the locks of all
// that it has announced until then, so that one that announces everything at once needs to run again only once.
func (c *connection) Announce(all ...db.ResourceID) error {
	if c.locks == nil {
		return nil
	}
	announced := len(c.announced)
	for _, each := range all {
		c.announced = append(c.announced, stripeOf(each))
	}
	if c.locks.contended(c.announced[announced:], c.retry) {
		c.yielded = true // also if the caller ignores the error
		return errContended
	}
	return nil
}
