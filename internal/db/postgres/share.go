package postgres

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// To begin, commit and sync a transaction costs as much as several creates. So a few goroutines run
// the short tasks, and the tasks that wait for them share the next transaction. While few write,
// each has a transaction of its own.

const (
	// maxSharing limits how many tasks share a transaction.
	maxSharing = 32
	// maxLockWait bounds how long tasks that share a transaction wait for others. A task that has to
	// wait for longer does so alone.
	maxLockWait = "50ms"
)

// errAlone: tasks cannot share a transaction.
var errAlone = errors.New("tasks must run alone")

// queuedTask is a short task that waits for a transaction.
type queuedTask struct {
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
	s := &queuedTask{ctx: ctx, task: t, done: make(chan struct{})}
	timeout := time.NewTimer(db.MaxWait)
	defer timeout.Stop()
	if err := b.short.enqueue(s, timeout.C); err != nil {
		return err
	}
	select {
	case <-s.done:
	case <-ctx.Done():
		if s.taken.CompareAndSwap(false, true) {
			return ctx.Err()
		}
		<-s.done
	case <-timeout.C:
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

// queues of short tasks. Those that update the same resource are run by the same goroutine: two
// transactions that update it cannot both succeed.
type queues struct {
	mutex   sync.RWMutex // read-locked while a task is enqueued
	closed  bool
	creates chan *queuedTask   // run by any goroutine
	updates []chan *queuedTask // of each goroutine
	running sync.WaitGroup     // goroutines
}

// start starts goroutines that run short tasks.
func (q *queues) start(goroutines int, run func([]*queuedTask)) {
	q.creates = make(chan *queuedTask, maxSharing)
	for range goroutines {
		updates := make(chan *queuedTask, maxSharing)
		q.updates = append(q.updates, updates)
		q.running.Go(func() { q.run(updates, run) })
	}
}

// close waits until all tasks that were enqueued have run.
func (q *queues) close() {
	q.mutex.Lock()
	q.closed = true
	close(q.creates)
	for _, updates := range q.updates {
		close(updates)
	}
	q.mutex.Unlock()
	q.running.Wait()
}

func (q *queues) enqueue(s *queuedTask, late <-chan time.Time) error {
	q.mutex.RLock()
	defer q.mutex.RUnlock()
	if q.closed {
		return db.ErrClosed
	}
	queue := q.creates
	if id := s.task.ID; id != (model.ID{}) {
		queue = q.updates[int(id[len(id)-1])%len(q.updates)]
	}
	select {
	case queue <- s:
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	case <-late:
		return db.ErrBusy
	}
}

// run runs short tasks until the queues are closed and empty.
func (q *queues) run(updates chan *queuedTask, run func([]*queuedTask)) {
	creates := q.creates
	for creates != nil || updates != nil {
		var batch []*queuedTask
		select {
		case s, open := <-creates:
			if !open {
				creates = nil
				continue
			}
			batch = s.take(batch)
		case s, open := <-updates:
			if !open {
				updates = nil
				continue
			}
			batch = s.take(batch)
		}
		batch = takeWaiting(takeWaiting(batch, updates), creates)
		// Servers that update the same resources in the same order do not wait for each other in a circle. The order
		// descends, so creates, which have no id, come last.
		slices.SortStableFunc(batch, func(a, b *queuedTask) int { return b.task.ID.Compare(a.task.ID) })
		run(batch)
	}
}

// takeWaiting adds the tasks of a queue to a batch. It does not wait: other goroutines may take them first.
func takeWaiting(batch []*queuedTask, queue chan *queuedTask) []*queuedTask {
	for len(batch) < maxSharing {
		select {
		case s, open := <-queue:
			if !open {
				return batch
			}
			batch = s.take(batch)
		default:
			return batch
		}
	}
	return batch
}

// take adds the task to a batch, if its caller still waits.
func (s *queuedTask) take(batch []*queuedTask) []*queuedTask {
	if s.taken.CompareAndSwap(false, true) {
		batch = append(batch, s)
	}
	return batch
}

// runBatch runs tasks in one transaction. If it fails, each must run alone: an error that one has caused
// must not be the result of another. If its outcome is unknown, so is that of each.
func (b *Database) runBatch(batch []*queuedTask) {
	var err error
	if len(batch) > 0 {
		err = b.runTogether(batch)
	}
	for _, s := range batch {
		switch {
		case s.alone || s.err != nil: // it has stored nothing
		case errors.Is(err, errUnknownOutcome):
			s.err = err
		case err != nil:
			s.alone = true
		}
		close(s.done)
	}
}

// runTogether runs tasks in one transaction. An error means that nothing is stored, or that the outcome
// is unknown. A task that fails before it has written anything does not affect the others, and gets its
// error in a transaction of its own.
func (b *Database) runTogether(batch []*queuedTask) error {
	ctx := context.Background()
	acquired, err := b.acquire(ctx)
	if err != nil {
		return err
	}
	defer acquired.Release()
	c := b.transaction(ctx, acquired, beginWrite)
	c.shared, c.replyTimeout, c.locks = true, b.replyTimeout, &b.locks
	g := &gathering{connection: c}
	err = g.run(batch)
	if only := g.tasks[0]; len(batch) == 1 && only.err != nil && !c.failed() && !isOfDatabase(only.err) {
		c.rollback()
		only.queuedTask.alone, only.queuedTask.err = false, only.err
		return nil
	}
	if err != nil {
		c.rollback()
		return err
	}
	return b.finish(acquired, c, g.succeeded)
}

// isOfDatabase reports whether a task has failed because of the database or of other transactions, and not
// by itself. Alone, it may succeed.
func isOfDatabase(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) || errors.Is(err, errContended) || errors.Is(err, errAlone) || isLostConnection(err)
}
