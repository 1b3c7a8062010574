package postgres

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/plural-go/plural/internal/db"
)

// To begin, commit and sync a transaction costs as much as several creates. So a few goroutines run
// the short tasks, and the tasks that wait for them share the next transaction. While few write,
// each has a transaction of its own.

// maxSharing limits how many tasks share a transaction.
const maxSharing = 32

// errAlone: tasks cannot share a transaction.
var errAlone = errors.New("tasks must run alone")

// shared is a short task that waits for a transaction.
type shared struct {
	ctx   context.Context
	task  *db.Task
	taken atomic.Bool // by a transaction, or by its caller, who no longer waits
	err   error
	alone bool // it must run in a transaction of its own
	done  chan struct{}
}

// writeShared runs a short task, in a transaction with others if several wait. It waits up to
// db.MaxWait for its start.
func (b *Database) writeShared(ctx context.Context, t *db.Task) error {
	s := &shared{ctx: ctx, task: t, done: make(chan struct{})}
	patience := time.NewTimer(db.MaxWait)
	defer patience.Stop()
	if err := b.enqueue(s, patience.C); err != nil {
		return err
	}
	select {
	case <-s.done:
	case <-ctx.Done():
		if s.taken.CompareAndSwap(false, true) {
			return ctx.Err()
		}
		<-s.done
	case <-patience.C:
		if s.taken.CompareAndSwap(false, true) {
			return db.ErrBusy
		}
		<-s.done
	}
	if s.alone {
		return b.writeAlone(ctx, t)
	}
	return s.err
}

func (b *Database) enqueue(s *shared, late <-chan time.Time) error {
	b.queueing.RLock()
	defer b.queueing.RUnlock()
	if b.closed.Load() {
		return db.ErrClosed
	}
	select {
	case b.waiting <- s:
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	case <-late:
		return db.ErrBusy
	}
}

// runWaiting runs short tasks until the database is closed.
func (b *Database) runWaiting() {
	for first := range b.waiting {
		var batch []*shared
		for next := first; ; next = <-b.waiting {
			if next.taken.CompareAndSwap(false, true) {
				batch = append(batch, next)
			}
			if len(batch) == maxSharing || len(b.waiting) == 0 {
				break
			}
		}
		b.runBatch(batch)
	}
}

// runBatch runs tasks in one transaction. If it fails, each must run alone: an error that one has caused
// must not be the result of another. If its outcome is unknown, so is that of each.
func (b *Database) runBatch(batch []*shared) {
	var err error
	switch len(batch) {
	case 0:
	case 1:
		batch[0].err = b.writeAlone(batch[0].ctx, batch[0].task)
	default:
		err = b.runTogether(batch)
	}
	for _, s := range batch {
		switch {
		case s.alone: // it has stored nothing
		case errors.Is(err, errUnknownOutcome):
			s.err = err
		case err != nil:
			s.alone = true
		}
		close(s.done)
	}
}

// runTogether runs tasks in one transaction. An error means that nothing is stored, or that the outcome
// is unknown. A task that fails before it has written anything does not affect the others.
func (b *Database) runTogether(batch []*shared) error {
	ctx := context.Background()
	acquired, err := b.acquire(ctx)
	if err != nil {
		return err
	}
	defer acquired.Release()
	c := &connection{ctx: ctx, trace: b.options.Trace, raw: acquired.Conn(), isolated: beginWrite, replyTimeout: b.replyTimeout, locks: &b.locks}
	c.begin()
	var succeeded []*db.Task
	for _, s := range batch {
		c.altered = false
		if s.task.Start(c, succeeded) == nil {
			succeeded = append(succeeded, s.task)
			continue
		}
		if s.alone = true; c.altered || c.failed() { // it gets its error in a transaction of its own
			c.rollback()
			return errAlone
		}
	}
	return b.finish(acquired, c, succeeded)
}
