package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// writer runs the tasks that write, one after the other. Tasks that wait together share a transaction and its sync. A failure of
// one does not affect the others: see runBatch.
type writer struct {
	conn    *connection
	options db.Options
	queue   *db.Queue

	failed atomic.Pointer[error] // set when the disk has failed: see diskFailed
}

const (
	// maxSharing limits how many short tasks share a transaction.
	maxSharing = 256
	// longTurn is how long a transaction takes further tasks that are not short. Short tasks follow then, so that they wait only
	// for the long task that runs, and not for all that wait.
	longTurn = 5 * time.Millisecond
)

func startWriter(c *connection, o db.Options) *writer {
	w := &writer{conn: c, options: o}
	w.queue = db.NewQueue(1, func() {
		// On one core, let others that are about to write run, so that they can share the transaction.
		runtime.Gosched()
		w.queue.Done(w.runBatch(nil, w.taker())...)
		w.checkpoint()
	})
	return w
}

// taker returns a function that takes the tasks of a transaction from the queue, until there are no more: tasks that are not short,
// one after the other, and then the short ones that wait by then. The time of the long ones begins with the first one, however long
// the transaction had to wait for another process: one of them is taken in any case.
func (w *writer) taker() func() []*db.Queued {
	var begun time.Time
	shortTaken := false
	return func() []*db.Queued {
		first := begun.IsZero()
		if first {
			begun = time.Now()
		}
		if !shortTaken && (first || time.Since(begun) < longTurn) {
			if task := w.queue.TakeLong(); task != nil {
				return []*db.Queued{task}
			}
		}
		if shortTaken {
			return nil
		}
		shortTaken = true
		return w.queue.TakeShort(maxSharing)
	}
}

func (w *writer) write(ctx context.Context, t *db.Task) error {
	if err := w.failure(); err != nil {
		return err
	}
	return w.queue.Do(ctx, t)
}

// start runs a task on the connection. A statement that still runs at the end of the limit of the task is interrupted.
func (w *writer) start(q *db.Queued, earlier []*db.Task) error {
	if q.Limit == 0 {
		return q.Start(w.conn, earlier)
	}
	begun := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), q.Limit-q.Used)
	defer cancel()
	w.conn.watch(ctx)
	defer w.conn.unwatch()
	err := q.Start(w.conn, earlier)
	if q.Used += time.Since(begun); q.Used > q.Limit {
		return errors.Join(db.ErrTooLong, err)
	}
	return err
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

// runBatch runs tasks in one transaction: those of a batch, and then those that more returns. Most tasks succeed, or fail before they
// have changed anything. If there is something to undo, all are run again, each in a savepoint. If the transaction fails, each is run
// again alone: an error caused by one task must not be the result of another, nor may a task keep what it read from one that was
// rolled back. A transaction that did not begin is not tried again: each attempt would wait for another process.
func (w *writer) runBatch(batch []*db.Queued, more func() []*db.Queued) []*db.Queued {
	err := w.failure()
	if err == nil {
		batch, err = w.runTogether(batch, more, false)
	}
	if errors.Is(err, errUndo) {
		err = nil // of a single task, everything was rolled back
		if len(batch) > 1 {
			_, err = w.runTogether(batch, none, true)
		}
	}
	w.checkDisk(err)
	switch {
	case err == nil:
	case w.failure() != nil || errors.As(err, new(*notBegun)):
		for next := more(); len(next) > 0; next = more() {
			batch = append(batch, next...)
		}
		fallthrough
	case len(batch) == 1:
		for _, queued := range batch {
			queued.Err = err
		}
	default:
		for i := range batch {
			w.runBatch(batch[i:i+1], none)
		}
	}
	return batch
}

// none is for a batch to which no tasks are added.
func none() []*db.Queued { return nil }

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

// errUndo says that a task has failed after it has changed something.
var errUndo = errors.New("a part of a transaction must be undone")

// runTogether runs tasks in one transaction, and returns them. An error means that none took effect.
func (w *writer) runTogether(batch []*db.Queued, more func() []*db.Queued, inSavepoints bool) ([]*db.Queued, error) {
	w.rollBack() // in case an earlier rollback failed
	if _, err := w.conn.Exec("BEGIN IMMEDIATE"); err != nil {
		return batch, &notBegun{err}
	}
	defer w.rollBack() // does nothing after a commit
	w.conn.checked = db.Version{}
	begun := time.Now()
	var succeeded []*db.Task
	for i := 0; ; i++ {
		if i == len(batch) {
			batch = append(batch, more()...)
		}
		if i == len(batch) {
			break
		}
		run := w.runOne
		if inSavepoints || !batch[0].Short && time.Since(begun) > longTurn { // long tasks must not be repeated if this one fails
			run = w.runInSavepoint
		}
		if err := run(batch[i], succeeded); err != nil {
			return batch, err
		}
		if batch[i].Err == nil {
			succeeded = append(succeeded, batch[i].Task)
		}
	}
	noteCommit, err := w.options.Finish(w.conn, succeeded)
	if err != nil {
		return batch, err
	}
	if _, err := w.conn.Exec("COMMIT"); err != nil {
		return batch, err
	}
	noteCommit()
	return batch, nil
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
func (w *writer) runOne(queued *db.Queued, earlier []*db.Task) error {
	w.conn.altered = false
	queued.Err = w.start(queued, earlier)
	if err := w.lost(queued); err != nil {
		return err
	}
	if queued.Err != nil && w.conn.altered {
		return errUndo
	}
	return nil
}

// runInSavepoint runs a task in a savepoint, and rolls back to it if the task fails.
func (w *writer) runInSavepoint(queued *db.Queued, earlier []*db.Task) error {
	err := w.conn.Savepoint(func() (keep bool) {
		queued.Err = w.start(queued, earlier)
		return queued.Err == nil
	})
	if queued.Err != nil {
		err = cmp.Or(w.lost(queued), err) // without the transaction, there is no savepoint either
	}
	return err
}

// lost returns an error if a task has caused SQLite to roll back the whole transaction.
func (w *writer) lost(queued *db.Queued) error {
	if diskFailed(queued.Err) {
		return queued.Err
	}
	if w.conn.raw.AutocommitEnabled() {
		return fmt.Errorf("the transaction was rolled back: %w", queued.Err)
	}
	return nil
}

// close refuses new tasks, finishes the queued ones, and moves the WAL into the database file.
func (w *writer) close() error {
	w.queue.Close()
	checkpoint := sqlitex.ExecuteTransient(w.conn.raw, "PRAGMA wal_checkpoint(TRUNCATE)", nil)
	return errors.Join(checkpoint, w.conn.close())
}
