package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// retryLocks are locks on resources that several transactions write to at the same time. Only one
// of these can succeed: a transaction sees the resource as it was when it began, and fails if
// another has changed it since. A transaction that has failed takes the lock before its next run.
// Within a server, transactions wait for the lock in a queue, and the first of each server waits
// for an advisory lock of the database. It takes that lock before its transaction begins, so that
// it sees the changes of the previous holder.
type retryLocks struct {
	mutex  sync.Mutex
	queues map[resource]*retryQueue
}

// resource is a resource that several transactions write to.
type resource struct {
	collection string
	id         model.ID
}

// retryQueue is the holder of a lock and those who wait for it, on this server.
type retryQueue struct {
	length int
	first  chan struct{} // capacity 1: full while the lock is held
}

// retryLock is the turn of a transaction in a queue of this server, and the advisory lock that other servers see. Nil: the
// transaction has not failed yet, or it is unknown on what.
type retryLock struct {
	locks  *retryLocks
	about  resource
	locked bool // the advisory lock is held, or may be
	giveUp bool // the wait for the advisory lock was too long: run with the turn alone
}

var (
	// errContended: others hold the lock on a resource, or wait for it.
	errContended = errors.New("other transactions are waiting to write to the resource")
	// errNotLocked: another server does not release the lock in time.
	errNotLocked = fmt.Errorf("another server holds the lock: %w", errContended)
)

// acquire waits for the lock on a resource. The lock must be released. Without a resource there is
// no lock, as it is unknown what the transactions conflict on.
func (t *retryLocks) acquire(ctx context.Context, about resource, until time.Time) (*retryLock, error) {
	if about == (resource{}) {
		return nil, nil
	}
	t.mutex.Lock()
	l := t.queues[about]
	if l == nil {
		l = &retryQueue{first: make(chan struct{}, 1)}
		if t.queues == nil {
			t.queues = map[resource]*retryQueue{}
		}
		t.queues[about] = l
	}
	l.length++
	t.mutex.Unlock()
	timeout := time.NewTimer(time.Until(until))
	defer timeout.Stop()
	var err error
	select {
	case l.first <- struct{}{}:
		return &retryLock{locks: t, about: about}, nil
	case <-timeout.C:
		err = errContended
	case <-ctx.Done():
		err = ctx.Err()
	}
	t.remove(about)
	return nil, err
}

func (t *retryLocks) remove(about resource) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	l := t.queues[about]
	if l.length--; l.length == 0 {
		delete(t.queues, about)
	}
}

// contended reports whether a transaction holds the lock on a resource, or waits for it.
func (t *retryLocks) contended(about resource) bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.queues[about] != nil
}

// release gives the lock to the next in the queue.
func (t *retryLock) release() {
	if t == nil {
		return
	}
	t.locks.mutex.Lock()
	l := t.locks.queues[t.about]
	t.locks.mutex.Unlock()
	<-l.first
	t.locks.remove(t.about)
}

// key is the key of the advisory lock. It differs from those of Idempotency-Keys.
func (c resource) key() string { return "\x1f" + c.collection + "\x1f" + c.id.String() }

// lock waits until no other server holds the lock. It is a session lock: waiting for a transaction
// lock would take the snapshot too early. A server that hangs may keep it for any time, so the
// wait is short. The lock only makes failures less frequent.
func (t *retryLock) lock(c *connection) error {
	if t == nil || t.giveUp {
		return nil
	}
	ctx, cancel := context.WithTimeout(c.ctx, c.replyTimeout/4)
	defer cancel()
	t.locked = true // also if the reply is lost
	_, err := c.raw.Exec(ctx, "SELECT pg_advisory_lock(hashtextextended($1, 0))", t.about.key())
	if err != nil {
		t.unlock(c)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		t.giveUp = true
		return errNotLocked
	}
	return err
}

// unlock releases the lock, by closing the connection if necessary.
func (t *retryLock) unlock(c *connection) {
	if t == nil || !t.locked {
		return
	}
	t.locked = false
	ctx, cancel := c.wait()
	defer cancel()
	var unlocked bool
	if err := c.raw.QueryRow(ctx, "SELECT pg_advisory_unlock(hashtextextended($1, 0))", t.about.key()).Scan(&unlocked); err != nil || !unlocked {
		_ = c.raw.Close(ctx) // the pool discards a closed connection
	}
}

// Announce takes no lock: of the transactions that write to the same resource, all but one fail. Those
// that have failed run again one after another, and one that has not failed yet lets them go first.
// A transaction that writes to many resources would fail again and again where others write to one of
// them all the time, so after it has failed, all others that write to the collection wait for it.
func (c *connection) Announce(collection string, id model.ID) error {
	if c.locks == nil {
		return nil
	}
	one, all := resource{collection, id}, resource{collection, db.WholeCollection}
	if c.about == (resource{}) || c.about == one {
		c.about = one
	} else {
		c.about = all // it writes to several resources
	}
	if c.retry != nil {
		return nil
	}
	for _, about := range []resource{all, one} {
		if c.locks.contended(about) {
			c.about, c.yielded = about, true // also if the caller ignores the error
			return errContended
		}
	}
	return nil
}
