package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/plural-go/plural/internal/model"
)

// sqliteWriter is the one goroutine that writes. Whoever is waiting when it
// starts a transaction shares that transaction and its sync. One's failure harms no
// other: see runAll.
type sqliteWriter struct {
	conn    *sqliteConn
	ending  ending
	jobs    chan *writeJob
	stopped chan struct{}

	mutex  sync.RWMutex // held for reading while a job is handed over
	closed bool

	failed atomic.Pointer[error] // set when the disk has failed: see diskFailed
}

// ending completes a transaction before it is committed, with what its jobs have noted.
// Done follows when it is.
type ending func(c conn, noted []delta) (done func(), err error)

type writeJob struct {
	ctx  context.Context
	run  func(conn) error
	err  error
	done chan struct{}
}

// maxSharing bounds how long the first of a transaction waits for its commit.
const maxSharing = 256

func startSQLiteWriter(c *sqliteConn) *sqliteWriter {
	w := &sqliteWriter{conn: c, jobs: make(chan *writeJob, maxSharing), stopped: make(chan struct{})}
	go w.loop()
	return w
}

func (w *sqliteWriter) write(ctx context.Context, run func(conn) error) error {
	job := &writeJob{ctx: ctx, run: run, done: make(chan struct{})}
	if err := w.hand(job); err != nil {
		return err
	}
	<-job.done
	return job.err
}

func (w *sqliteWriter) hand(job *writeJob) error {
	w.mutex.RLock()
	defer w.mutex.RUnlock()
	if w.closed {
		return errClosed
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

func (w *sqliteWriter) loop() {
	defer close(w.stopped)
	for first := range w.jobs {
		// On one core the others who are about to write must get to run, or
		// each of them would find the writer alone.
		runtime.Gosched()
		batch := []*writeJob{first}
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

// maxLog is how many pages the log may have until they are moved into the
// database: as many as SQLite would take.
const maxLog = 1000

// checkpoint moves the log into the database when it is long. SQLite would do so
// as a part of a commit, while its clients wait, and tell nobody what went wrong.
func (w *sqliteWriter) checkpoint() {
	if w.failure() != nil {
		return
	}
	pages, err := w.logged()
	if err == nil && pages >= maxLog {
		_, err = one(w.conn, nil, "PRAGMA wal_checkpoint(PASSIVE)")
	}
	w.note(err)
}

// logged is how many pages the log has.
func (w *sqliteWriter) logged() (pages int64, err error) {
	_, err = one(w.conn, func(row model.Row) { pages = row.Int(1) }, "PRAGMA wal_checkpoint(NOOP)")
	return pages, err
}

// note remembers that the disk has failed. Any other error of a checkpoint does no
// harm: what is not moved stays in the log.
func (w *sqliteWriter) note(err error) {
	if diskFailed(err) {
		w.failed.CompareAndSwap(nil, &err)
	}
}

// runBatch runs jobs together, or, if their transaction is lost, each alone:
// what one of them brought about must not be the answer to another, and what
// one of them saw of another never happened.
func (w *sqliteWriter) runBatch(batch []*writeJob) {
	err := w.failure()
	if err == nil {
		err = w.runAll(batch)
	}
	w.note(err)
	switch {
	case err == nil:
	case len(batch) == 1 || w.failure() != nil:
		for _, job := range batch {
			job.err = err
		}
	default:
		for _, job := range batch {
			w.runBatch([]*writeJob{job})
		}
	}
}

// failure is why nothing is written any more, or nil.
func (w *sqliteWriter) failure() error {
	if err := w.failed.Load(); err != nil {
		return &diskError{*err}
	}
	return nil
}

// diskError refuses a write since an earlier one failed on the disk.
type diskError struct{ cause error }

func (e *diskError) Error() string {
	return "nothing is written since the disk failed: " + e.cause.Error()
}

// diskFailed says whether an error means that it is not known what is on the
// disk. The kernel forgets what it could not write: a sync that is tried again
// succeeds, and has written nothing. Only a fresh start reads what is really there.
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
func (w *sqliteWriter) runAll(batch []*writeJob) error {
	err := w.transact(batch, w.runOne)
	switch {
	case !errors.Is(err, errUndo):
		return err
	case len(batch) == 1:
		return nil // it is undone
	}
	return w.transact(batch, w.runInSavepoint)
}

// errUndo: a job has failed in the middle.
var errUndo = errors.New("a part of a transaction must be undone")

func (w *sqliteWriter) transact(batch []*writeJob, runJob func(*writeJob) error) error {
	w.rollBack() // of a transaction that could not be given up before
	if _, err := w.conn.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	w.conn.beginWriting()
	for _, job := range batch {
		if job.err = job.ctx.Err(); job.err != nil {
			continue
		}
		if err := runJob(job); err != nil {
			w.rollBack()
			return err
		}
	}
	done := func() {}
	if w.ending != nil && len(w.conn.noted) > 0 {
		var err error
		if done, err = w.ending(w.conn, w.conn.noted); err != nil {
			w.rollBack()
			return err
		}
	}
	err := w.commit()
	if err == nil {
		done()
	}
	return err
}

func (w *sqliteWriter) commit() error {
	_, err := w.conn.exec("COMMIT")
	if err != nil {
		w.rollBack()
	}
	return err
}

// rollBack gives the whole transaction up. SQLite may have done so already.
func (w *sqliteWriter) rollBack() {
	if !w.conn.raw.AutocommitEnabled() {
		_, _ = w.conn.exec("ROLLBACK") // after an error there is nothing that a second one could add
	}
}

// runOne runs a job. An error means that the transaction is lost: a full disk takes it
// all, and what a job has left in the middle can be undone with all else only.
func (w *sqliteWriter) runOne(job *writeJob) error {
	w.conn.altered = false
	job.err = job.run(w.conn)
	switch {
	case job.err == nil || diskFailed(job.err):
		return w.lost(job)
	case w.conn.altered:
		return errUndo
	}
	return nil
}

// runInSavepoint runs a job in a savepoint, which it undoes if the job fails.
func (w *sqliteWriter) runInSavepoint(job *writeJob) error {
	if _, err := w.conn.exec("SAVEPOINT job"); err != nil {
		return err
	}
	job.err = job.run(w.conn)
	if err := w.lost(job); err != nil {
		return err
	}
	if job.err != nil {
		if _, err := w.conn.exec("ROLLBACK TO job"); err != nil {
			return err
		}
	}
	_, err := w.conn.exec("RELEASE job")
	return err
}

// lost is an error if a job has taken the whole transaction with it.
func (w *sqliteWriter) lost(job *writeJob) error {
	if diskFailed(job.err) {
		return job.err
	}
	if w.conn.raw.AutocommitEnabled() {
		return fmt.Errorf("the transaction was rolled back: %w", job.err)
	}
	return nil
}

// close takes no more jobs, finishes those it has, and moves the log into the
// database file.
func (w *sqliteWriter) close() error {
	w.mutex.Lock()
	w.closed = true
	close(w.jobs)
	w.mutex.Unlock()
	<-w.stopped
	checkpoint := sqlitex.ExecuteTransient(w.conn.raw, "PRAGMA wal_checkpoint(TRUNCATE)", nil)
	return errors.Join(checkpoint, w.conn.close())
}
