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

	"github.com/plural-go/plural/schema"
)

// sqliteWriter is the one goroutine that writes. Whoever is waiting when it
// starts a transaction shares that transaction and its sync, each in a
// savepoint of their own, so that one's failure harms no other.
type sqliteWriter struct {
	conn    *sqliteConn
	state   *sharedState // of the database
	jobs    chan *writeJob
	stopped chan struct{}

	mutex  sync.RWMutex // held for reading while a job is handed over
	closed bool

	failed atomic.Pointer[error] // set when the disk has failed: see diskFailed
}

type writeJob struct {
	ctx  context.Context
	run  func(conn) error
	err  error
	done chan struct{}
}

// maxSharing bounds how long the first of a transaction waits for its commit.
const maxSharing = 256

func startSQLiteWriter(c *sqliteConn, state *sharedState) *sqliteWriter {
	w := &sqliteWriter{conn: c, state: state, jobs: make(chan *writeJob, maxSharing), stopped: make(chan struct{})}
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
	if state, ok := w.state.read(); ok {
		return int64(state.pages()), nil
	}
	_, err = one(w.conn, func(row schema.Row) { pages = row.Int(1) }, "PRAGMA wal_checkpoint(NOOP)")
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

// runAll runs jobs in one transaction. An error means that none took effect.
func (w *sqliteWriter) runAll(batch []*writeJob) error {
	w.rollBack() // of a transaction that could not be given up before
	if _, err := w.conn.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	w.conn.since, w.conn.sinceKnown = w.conn.memory.now()
	w.conn.touched = w.conn.touched[:0]
	all := false // may have been changed
	for _, job := range batch {
		w.conn.told = false
		if err := w.runOne(job); err != nil {
			w.rollBack()
			return err
		}
		all = all || !w.conn.told
	}
	return w.conn.memory.commit(w.commit, w.conn.touched, all)
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

// runOne runs a job in a savepoint, which it undoes if the job fails. An error
// means that the transaction itself is lost: a full disk takes it all.
func (w *sqliteWriter) runOne(job *writeJob) error {
	if job.err = job.ctx.Err(); job.err != nil {
		return nil
	}
	if _, err := w.conn.exec("SAVEPOINT job"); err != nil {
		return err
	}
	job.err = job.run(w.conn)
	if diskFailed(job.err) {
		return job.err
	}
	if w.conn.raw.AutocommitEnabled() {
		return fmt.Errorf("the transaction was rolled back: %w", job.err)
	}
	if job.err != nil {
		if _, err := w.conn.exec("ROLLBACK TO job"); err != nil {
			return err
		}
	}
	_, err := w.conn.exec("RELEASE job")
	return err
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
