package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// writer is the only goroutine that writes. Tasks that wait when it starts a transaction share
// that transaction and its sync. A failure of one does not affect the others: see runAll.
type writer struct {
	conn    *connection
	options db.Options
	queue   chan *queuedTask
	stopped chan struct{}

	mutex  sync.RWMutex // read-locked while a task is enqueued
	closed bool

	failed atomic.Pointer[error] // set when the disk has failed: see diskFailed
}

type queuedTask struct {
	ctx  context.Context
	task *db.Task
	used time.Duration // of the limit of the task
	err  error
	done chan struct{}
}

// start runs the task on the connection. A statement that still runs at the end of its limit is interrupted.
func (q *queuedTask) start(c *connection, earlier []*db.Task) error {
	if q.task.Limit == 0 {
		return q.task.Start(c, earlier)
	}
	begun := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), q.task.Limit-q.used)
	defer cancel()
	c.ctx = ctx
	c.watch()
	defer c.unwatch()
	err := q.task.Start(c, earlier)
	if q.used += time.Since(begun); q.used > q.task.Limit {
		return errors.Join(db.ErrTooLong, err)
	}
	return err
}

// maxSharing limits how many tasks share a transaction.
const maxSharing = 256

func startWriter(c *connection, o db.Options) *writer {
	w := &writer{conn: c, options: o, queue: make(chan *queuedTask, maxSharing), stopped: make(chan struct{})}
	go w.loop()
	return w
}

func (w *writer) write(ctx context.Context, t *db.Task) error {
	queued := &queuedTask{ctx: ctx, task: t, done: make(chan struct{})}
	if err := w.enqueue(queued); err != nil {
		return err
	}
	<-queued.done
	return queued.err
}

func (w *writer) enqueue(queued *queuedTask) error {
	w.mutex.RLock()
	defer w.mutex.RUnlock()
	if w.closed {
		return db.ErrClosed
	}
	if err := w.failure(); err != nil {
		return err
	}
	select {
	case w.queue <- queued:
		return nil
	case <-queued.ctx.Done():
		return queued.ctx.Err()
	}
}

func (w *writer) loop() {
	defer close(w.stopped)
	for first := range w.queue {
		// On one core, let others that are about to write run, so that they can share the transaction.
		runtime.Gosched()
		batch := []*queuedTask{first}
		for len(batch) < maxSharing && len(w.queue) > 0 {
			batch = append(batch, <-w.queue)
		}
		w.runBatch(batch)
		for _, queued := range batch {
			close(queued.done)
		}
		w.checkpoint()
	}
}

// maxWAL is how many pages the write-ahead log (WAL) may have before a checkpoint: the default of SQLite.
const maxWAL = 1000

// checkpoint moves a long WAL into the database file. SQLite would do so during a commit, while
// clients wait, and would not report errors.
func (w *writer) checkpoint() {
	if w.failure() != nil {
		return
	}
	var pages int64 // of the WAL
	_, err := db.One(w.conn, func(row model.Row) { pages = row.Int(1) }, "PRAGMA wal_checkpoint(NOOP)")
	if err == nil && pages >= maxWAL {
		_, err = db.One(w.conn, nil, "PRAGMA wal_checkpoint(PASSIVE)")
	}
	w.checkDisk(err)
}

// checkDisk records that the disk has failed. Other errors of a checkpoint are harmless: the
// WAL keeps the pages that were not moved.
func (w *writer) checkDisk(err error) {
	if diskFailed(err) && w.failed.CompareAndSwap(nil, &err) {
		w.options.Failed(w.failure())
	}
}

// runBatch runs tasks together or, if their transaction fails, each alone: an error caused by
// one task must not be the result of another, nor may a task keep what it read from one that was
// rolled back. A transaction that did not begin is not tried again: each attempt would wait for another process.
func (w *writer) runBatch(batch []*queuedTask) {
	err := w.failure()
	if err == nil {
		err = w.runAll(batch)
	}
	w.checkDisk(err)
	switch {
	case err == nil:
	case len(batch) == 1 || w.failure() != nil || errors.As(err, new(*notBegun)):
		for _, queued := range batch {
			queued.err = err
		}
	default:
		for _, queued := range batch {
			w.runBatch([]*queuedTask{queued})
		}
	}
}

// failure returns why writes are refused, or nil.
func (w *writer) failure() error {
	if err := w.failed.Load(); err != nil {
		return &diskError{*err}
	}
	return nil
}

// diskError refuses a write because an earlier one failed on the disk.
type diskError struct{ cause error }

func (e *diskError) Error() string {
	return "writes are refused because the disk failed: " + e.cause.Error()
}

// diskFailed reports whether an error leaves the contents of the disk unknown. The kernel
// drops pages that it could not write, so a second sync succeeds without writing them. Only a
// restart reads what is really on the disk.
func diskFailed(err error) bool {
	switch sqlite.ErrCode(err) {
	case sqlite.ResultIOErrWrite, sqlite.ResultIOErrFsync, sqlite.ResultIOErrDirFsync, sqlite.ResultIOErrTruncate:
		return true
	}
	return false
}

// runAll runs tasks in one transaction. An error means that none took effect. Most tasks
// succeed, or fail before they have changed anything; if there is something to undo, all are
// run again, each in a savepoint.
func (w *writer) runAll(batch []*queuedTask) error {
	err := w.runTransaction(batch, w.runOne)
	switch {
	case !errors.Is(err, errUndo):
		return err
	case len(batch) == 1:
		return nil // all of it was rolled back
	}
	return w.runTransaction(batch, w.runInSavepoint)
}

// errUndo says that a task has failed after it has changed something.
var errUndo = errors.New("a part of a transaction must be undone")

func (w *writer) runTransaction(batch []*queuedTask, runTask func(*queuedTask, []*db.Task) error) error {
	w.rollBack() // in case an earlier rollback failed
	if _, err := w.conn.Exec("BEGIN IMMEDIATE"); err != nil {
		return &notBegun{err}
	}
	defer w.rollBack() // does nothing after a commit
	w.conn.checked = false
	var succeeded []*db.Task
	for _, queued := range batch {
		if queued.err = queued.ctx.Err(); queued.err != nil {
			continue
		}
		if err := runTask(queued, succeeded); err != nil {
			return err
		}
		if queued.err == nil {
			succeeded = append(succeeded, queued.task)
		}
	}
	committed, err := w.options.Finish(w.conn, succeeded)
	if err != nil {
		return err
	}
	if _, err := w.conn.Exec("COMMIT"); err != nil {
		return err
	}
	committed()
	return nil
}

// notBegun is why a transaction did not begin. None of its tasks is the cause.
type notBegun struct{ cause error }

func (e *notBegun) Error() string { return e.cause.Error() }
func (e *notBegun) Unwrap() error { return e.cause }

// rollBack rolls the transaction back. SQLite may have done so already.
func (w *writer) rollBack() {
	if !w.conn.raw.AutocommitEnabled() {
		_, _ = w.conn.Exec("ROLLBACK") // a second error adds nothing
	}
}

// runOne runs a task without a savepoint. An error means that the whole transaction must be rolled back. It is errUndo if
// the task has failed and left changes, which can only be undone together with those of the others. Any other error means
// that the disk has failed, or that SQLite has rolled back by itself.
func (w *writer) runOne(queued *queuedTask, earlier []*db.Task) error {
	w.conn.altered = false
	queued.err = queued.start(w.conn, earlier)
	if err := w.lost(queued); err != nil {
		return err
	}
	if queued.err != nil && w.conn.altered {
		return errUndo
	}
	return nil
}

// runInSavepoint runs a task in a savepoint, and rolls back to it if the task fails.
func (w *writer) runInSavepoint(queued *queuedTask, earlier []*db.Task) error {
	err := w.conn.Savepoint(func() (keep bool) {
		queued.err = queued.start(w.conn, earlier)
		return queued.err == nil
	})
	if queued.err != nil {
		err = cmp.Or(w.lost(queued), err) // without the transaction, there is no savepoint either
	}
	return err
}

// lost returns an error if a task has caused SQLite to roll back the whole transaction.
func (w *writer) lost(queued *queuedTask) error {
	if diskFailed(queued.err) {
		return queued.err
	}
	if w.conn.raw.AutocommitEnabled() {
		return fmt.Errorf("the transaction was rolled back: %w", queued.err)
	}
	return nil
}

// close refuses new tasks, finishes the queued ones, and moves the WAL into the database file.
func (w *writer) close() error {
	w.mutex.Lock()
	w.closed = true
	close(w.queue)
	w.mutex.Unlock()
	<-w.stopped
	checkpoint := sqlitex.ExecuteTransient(w.conn.raw, "PRAGMA wal_checkpoint(TRUNCATE)", nil)
	return errors.Join(checkpoint, w.conn.close())
}
