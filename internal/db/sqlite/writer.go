package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

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
	jobs    chan *request
	stopped chan struct{}

	mutex  sync.RWMutex // read-locked while a job is enqueued
	closed bool

	failed atomic.Pointer[error] // set when the disk has failed: see diskFailed
}

type request struct {
	ctx  context.Context
	task *db.Task
	err  error
	done chan struct{}
}

// maxSharing limits how many tasks share a transaction.
const maxSharing = 256

func startWriter(c *connection, o db.Options) *writer {
	w := &writer{conn: c, options: o, jobs: make(chan *request, maxSharing), stopped: make(chan struct{})}
	go w.loop()
	return w
}

func (w *writer) write(ctx context.Context, t *db.Task) error {
	job := &request{ctx: ctx, task: t, done: make(chan struct{})}
	if err := w.enqueue(job); err != nil {
		return err
	}
	<-job.done
	return job.err
}

func (w *writer) enqueue(job *request) error {
	w.mutex.RLock()
	defer w.mutex.RUnlock()
	if w.closed {
		return db.ErrClosed
	}
	if err := w.failure(); err != nil {
		return err
	}
	select {
	case w.jobs <- job:
		return nil
	case <-job.ctx.Done():
		return job.ctx.Err()
	}
}

func (w *writer) loop() {
	defer close(w.stopped)
	for first := range w.jobs {
		// On one core, let others that are about to write run, so that they can share the transaction.
		runtime.Gosched()
		batch := []*request{first}
		for len(batch) < maxSharing && len(w.jobs) > 0 {
			batch = append(batch, <-w.jobs)
		}
		w.runBatch(batch)
		for _, job := range batch {
			close(job.done)
		}
		w.checkpoint()
	}
}

// maxLog is how many pages the log may have before a checkpoint: the default of SQLite.
const maxLog = 1000

// checkpoint moves a long log into the database file. SQLite would do so during a commit, while
// clients wait, and would not report errors.
func (w *writer) checkpoint() {
	if w.failure() != nil {
		return
	}
	pages, err := w.logged()
	if err == nil && pages >= maxLog {
		_, err = db.One(w.conn, nil, "PRAGMA wal_checkpoint(PASSIVE)")
	}
	w.checkDisk(err)
}

// logged is how many pages the log has.
func (w *writer) logged() (pages int64, err error) {
	_, err = db.One(w.conn, func(row model.Row) { pages = row.Int(1) }, "PRAGMA wal_checkpoint(NOOP)")
	return pages, err
}

// checkDisk records that the disk has failed. Other errors of a checkpoint are harmless: the
// log keeps the pages that were not moved.
func (w *writer) checkDisk(err error) {
	if diskFailed(err) && w.failed.CompareAndSwap(nil, &err) {
		w.options.Failed(w.failure())
	}
}

// runBatch runs jobs together or, if their transaction fails, each alone: an error caused by
// one job must not be the result of another, nor may a job keep what it read from one that was
// rolled back.
func (w *writer) runBatch(batch []*request) {
	err := w.failure()
	if err == nil {
		err = w.runAll(batch)
	}
	w.checkDisk(err)
	switch {
	case err == nil:
	case len(batch) == 1 || w.failure() != nil:
		for _, job := range batch {
			job.err = err
		}
	default:
		for _, job := range batch {
			w.runBatch([]*request{job})
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

// runAll runs jobs in one transaction. An error means that none took effect. Most jobs
// succeed, or fail before they have changed anything; if there is something to undo, all are
// run again, each in a savepoint.
func (w *writer) runAll(batch []*request) error {
	err := w.transact(batch, w.runOne)
	switch {
	case !errors.Is(err, errUndo):
		return err
	case len(batch) == 1:
		return nil // all of it was rolled back
	}
	return w.transact(batch, w.runInSavepoint)
}

// errUndo says that a job has failed after it has changed something.
var errUndo = errors.New("a part of a transaction must be undone")

func (w *writer) transact(batch []*request, runJob func(*request, []*db.Task) error) error {
	w.rollBack() // in case an earlier rollback failed
	if _, err := w.conn.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	w.conn.checked = false
	var succeeded []*db.Task
	for _, job := range batch {
		if job.err = job.ctx.Err(); job.err != nil {
			continue
		}
		if err := runJob(job, succeeded); err != nil {
			w.rollBack()
			return err
		}
		if job.err == nil {
			succeeded = append(succeeded, job.task)
		}
	}
	committed, err := w.options.Finish(w.conn, succeeded)
	if err != nil {
		w.rollBack()
		return err
	}
	if err := w.commit(); err != nil {
		return err
	}
	committed()
	return nil
}

func (w *writer) commit() error {
	_, err := w.conn.Exec("COMMIT")
	if err != nil {
		w.rollBack()
	}
	return err
}

// rollBack rolls the transaction back. SQLite may have done so already.
func (w *writer) rollBack() {
	if !w.conn.raw.AutocommitEnabled() {
		_, _ = w.conn.Exec("ROLLBACK") // a second error adds nothing
	}
}

// runOne runs a job. An error means that the transaction is lost: a full disk rolls back all of
// it, and the partial changes of a job can only be undone together with everything else.
func (w *writer) runOne(job *request, earlier []*db.Task) error {
	w.conn.altered = false
	job.err = job.task.Start(w.conn, earlier)
	switch {
	case job.err == nil || diskFailed(job.err):
		return w.lost(job)
	case w.conn.altered:
		return errUndo
	}
	return nil
}

// runInSavepoint runs a job in a savepoint, and rolls back to it if the job fails.
func (w *writer) runInSavepoint(job *request, earlier []*db.Task) error {
	if _, err := w.conn.Exec("SAVEPOINT job"); err != nil {
		return err
	}
	job.err = job.task.Start(w.conn, earlier)
	if err := w.lost(job); err != nil {
		return err
	}
	if job.err != nil {
		if _, err := w.conn.Exec("ROLLBACK TO job"); err != nil {
			return err
		}
	}
	_, err := w.conn.Exec("RELEASE job")
	return err
}

// lost returns an error if a job has caused SQLite to roll back the whole transaction.
func (w *writer) lost(job *request) error {
	if diskFailed(job.err) {
		return job.err
	}
	if w.conn.raw.AutocommitEnabled() {
		return fmt.Errorf("the transaction was rolled back: %w", job.err)
	}
	return nil
}

// close refuses new jobs, finishes the queued ones, and moves the log into the database file.
func (w *writer) close() error {
	w.mutex.Lock()
	w.closed = true
	close(w.jobs)
	w.mutex.Unlock()
	<-w.stopped
	checkpoint := sqlitex.ExecuteTransient(w.conn.raw, "PRAGMA wal_checkpoint(TRUNCATE)", nil)
	return errors.Join(checkpoint, w.conn.close())
}
