package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/plural-go/plural/schema"
)

// Those who write to one resource at the same time cannot all succeed at once: a transaction
// sees the resource as it was when it began, and fails if another has changed it since. Who
// has failed takes turns with the others who have, so that the next run is the last
// one. On one server they stand in a line, and the first of each server waits for a
// lock of the database: ahead of its transaction, which so begins behind the one before.
type retryLocks struct {
	mutex  sync.Mutex
	queues map[resource]*retryQueue
}

// resource is a resource that several write to.
type resource struct {
	collection string
	id         schema.ID
}

// retryQueue is all who wait for their turn or have it.
type retryQueue struct {
	length int
	first  chan struct{} // has room for one
}

// retryLock is the place in a line of who has come to its front. Nil is none, as of who
// has not lost yet.
type retryLock struct {
	locks  *retryLocks
	about  resource
	locked bool
	alone  bool // without the lock
}

var (
	// errContended: others wait for their turn to write to a resource.
	errContended = errors.New("others are waiting to write to the resource")
	// errNotLocked: another server does not give its lock back.
	errNotLocked = fmt.Errorf("another server has the turn: %w", errContended)
)

// acquire waits for a turn, which must be left. There is none if it is not known what the race
// was about.
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
	patience := time.NewTimer(time.Until(until))
	defer patience.Stop()
	var err error
	select {
	case l.first <- struct{}{}:
		return &retryLock{locks: t, about: about}, nil
	case <-patience.C:
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

// contended reports whether anybody takes turns about a resource.
func (t *retryLocks) contended(about resource) bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.queues[about] != nil
}

// release lets the next one have its turn.
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

// key is what the lock is on: that of no Idempotency-Key.
func (c resource) key() string { return "\x1f" + c.collection + "\x1f" + c.id.String() }

// lock waits until no other server has the turn. It is the session's, as a lock of the
// transaction would be waited for with its snapshot already taken. So a server that hangs may
// keep it for any time, and nobody waits for long: the lock only spares them losing again.
func (t *retryLock) lock(c *connection) error {
	if t == nil || t.alone {
		return nil
	}
	ctx, cancel := context.WithTimeout(c.ctx, c.patience/4)
	defer cancel()
	t.locked = true
	_, err := c.raw.Exec(ctx, "SELECT pg_advisory_lock(hashtextextended($1, 0))", t.about.key())
	if err != nil {
		t.unlock(c)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		t.alone = true
		return errNotLocked
	}
	return err
}

// unlock gives the lock back, with the connection if that is what it takes.
func (t *retryLock) unlock(c *connection) {
	if t == nil || !t.locked {
		return
	}
	t.locked = false
	ctx, cancel := c.wait()
	defer cancel()
	var unlocked bool
	if err := c.raw.QueryRow(ctx, "SELECT pg_advisory_unlock(hashtextextended($1, 0))", t.about.key()).Scan(&unlocked); err != nil || !unlocked {
		_ = c.raw.Close(ctx) // whoever takes it back sees that it is of no more use
	}
}

// Lock takes no lock yet: transactions that write to the same resource fail but one, and
// those that have failed take turns. One that has not failed yet leaves the resource to them.
func (c *connection) Lock(collection string, id schema.ID) error {
	if c.locks == nil {
		return nil
	}
	c.about = resource{collection, id}
	if c.retry == nil && c.locks.contended(c.about) {
		c.yielded = true // also if nobody looks at the error
		return errContended
	}
	return nil
}
