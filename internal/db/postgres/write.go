package postgres

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/plural-go/plural/internal/db"
)

// writeAttempts bounds how often a transaction is tried. Conflicts with other writes to the same resource are retried
// until a deadline instead.
const writeAttempts = 10

func (b *Database) Write(ctx context.Context, t *db.Task) error {
	if t.Short {
		return b.writeShared(ctx, t)
	}
	return b.writeAlone(ctx, t)
}

// writeAlone runs a task in a transaction of its own.
func (b *Database) writeAlone(ctx context.Context, t *db.Task) (err error) {
	var lock *retryLock
	defer func() { lock.release() }()
	var deadline time.Time // of retries after conflicts, and of waiting for locks
	var until time.Time    // of all runs
	if t.Limit > 0 {
		until = time.Now().Add(t.Limit)
	}
	for attempt := 0; attempt < writeAttempts || lock != nil && isConflict(err) && time.Now().Before(deadline); attempt++ {
		if attempt > 0 && lock == nil { // jitter
			time.Sleep(rand.N(time.Millisecond << attempt)) // #nosec G404 -- no secret
		}
		acquired, failed := b.acquire(ctx)
		if failed != nil {
			return failed
		}
		c := b.transaction(context.WithoutCancel(ctx), acquired, beginWrite)
		c.replyTimeout, c.until, c.locks, c.retry = b.replyTimeout, until, &b.locks, lock
		err = b.transact(acquired, c, t)
		switch {
		case errors.Is(err, db.ErrTooLong):
			return err
		case errors.Is(err, errNotLocked): // retry without the lock
		case isLostRace(err):
			lock.release()
			if deadline.IsZero() {
				deadline = time.Now().Add(b.replyTimeout)
			}
			// A run may end before it comes to what the last one has announced.
			if lock, failed = b.locks.acquire(ctx, append(c.announced, lock.stripes()...), deadline); failed != nil {
				return err
			}
		case errors.Is(err, db.ErrOutdated):
		case isLostConnection(err), errors.Is(err, errRunAgain):
			b.pool.Reset() // the other connections are probably lost too
		default:
			return err
		}
	}
	return err
}

// transact runs a task in a transaction and commits it. An error means that nothing is stored,
// or that the outcome is unknown. It returns the connection to the pool.
func (b *Database) transact(acquired *pgxpool.Conn, c *connection, t *db.Task) error {
	defer acquired.Release()
	if err := c.retry.lock(c); err != nil {
		return err
	}
	defer c.retry.unlock(c)
	err := t.Start(c, nil)
	if c.expired() {
		err = errors.Join(db.ErrTooLong, err)
	}
	if err != nil {
		c.rollback()
		return err
	}
	c.until = time.Time{} // what completes the transaction is sent in any case
	return b.finish(acquired, c, []*db.Task{t})
}

// finish commits the transaction of tasks. It returns the connection to the pool.
func (b *Database) finish(acquired *pgxpool.Conn, c *connection, tasks []*db.Task) error {
	noteCommit, err := b.options.Finish(c, tasks)
	if err == nil && c.yielded {
		err = errContended
	}
	if err != nil {
		c.rollback()
		return err
	}
	unknown, err := c.commit()
	switch {
	case unknown:
		// resolve needs a connection, and the pool may have no other.
		c.retry.unlock(c)
		acquired.Release()
		err = b.resolve(c, evidenceOf(tasks), err)
	case err != nil:
		c.rollback()
	}
	if err != nil {
		return err
	}
	noteCommit()
	if evidenceOf(tasks) != nil { // the change log has grown
		b.changed.Send()
		b.ownCommits.Send()
	}
	c.retry.unlock(c)
	acquired.Release()
	for _, t := range tasks {
		b.reclaim(c.ctx, t)
	}
	return nil
}

// evidenceOf is the evidence of one of the tasks that a transaction was committed: all were, or none.
func evidenceOf(tasks []*db.Task) func() *db.Statement {
	for _, t := range tasks {
		if t.Evidence != nil {
			return t.Evidence
		}
	}
	return nil
}

var (
	// errUnknownOutcome: it could not be determined in time whether a transaction was committed.
	errUnknownOutcome = errors.New("the connection was lost during a commit, and its outcome is unknown")
	// errRunAgain: the outcome is unknown, but the transaction changed no resource, so running it
	// a second time is harmless.
	errRunAgain = errors.New("the connection was lost during a commit that changes no resource")
	// errUnreplicated: a transaction is committed, but the database stopped waiting for a
	// synchronous standby. A failover could lose it.
	errUnreplicated = errors.New("the database did not wait for its synchronous standby")
)

// resolve finds the outcome of a transaction whose commit had no reply, or an unexpected one.
func (b *Database) resolve(c *connection, evidence func() *db.Statement, lost error) error {
	b.pool.Reset() // the other connections are probably lost too
	ctx, cancel := context.WithTimeout(c.ctx, min(db.MaxWait, b.replyTimeout))
	defer cancel()
	for ctx.Err() == nil {
		outcome, err := b.outcome(ctx, c, evidence, lost)
		if err == nil {
			return outcome
		}
		// It is still in progress, or the database is still unavailable.
		time.Sleep(50 * time.Millisecond)
	}
	return errors.Join(errUnknownOutcome, lost)
}

var errInProgress = errors.New("the transaction is not over")

// outcome returns nil if the transaction is committed, also on every required standby. Err means
// that the outcome is not known yet.
func (b *Database) outcome(ctx context.Context, c *connection, evidence func() *db.Statement, lost error) (outcome, err error) {
	number := strconv.FormatInt(c.transaction, 10)
	if c.transaction != 0 {
		var status *string
		err := b.pool.QueryRow(ctx, "SELECT pg_xact_status($1::text::xid8)", number).Scan(&status)
		switch {
		case hasCode(err, unknownTransaction), err == nil && status != nil && *status == "aborted":
			return lost, nil
		case err != nil:
			return nil, err
		case status == nil || *status != "committed":
			return nil, errInProgress
		}
	}
	if err := b.awaitStandby(ctx); err != nil {
		return nil, err
	}
	if evidence == nil {
		return errors.Join(errRunAgain, lost), nil
	}
	// A database that has crashed or was promoted reuses the numbers of transactions that it has
	// lost. The number may therefore belong to another transaction.
	shown := evidence()
	sql := "SELECT EXISTS (SELECT FROM " + db.ChangesTable + " WHERE transaction = '" + number + "' AND " + shown.SQL + ")"
	var ours bool
	if err := b.pool.QueryRow(ctx, sql, arguments(shown.Args)...).Scan(&ours); err != nil {
		return nil, err
	}
	if !ours {
		return lost, nil
	}
	return nil, nil
}

// awaitStandby returns nil when all committed transactions are also on the required standbys.
// It commits a transaction of its own: standbys receive the write-ahead log in order, so one that has this
// transaction has all before it.
func (b *Database) awaitStandby(ctx context.Context) error {
	acquired, err := b.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer acquired.Release()
	c := acquired.Conn()
	forgetWarnings(c.PgConn())
	if _, err = c.Exec(ctx, "SELECT pg_logical_emit_message(true, 'plural', '')"); err == nil && warned(c.PgConn()) {
		err = errUnreplicated
	}
	return err
}

const warnedKey = "plural.warned"

// noteWarning records on a connection that the database stopped waiting for a standby.
func noteWarning(c *pgconn.PgConn, n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" && slices.Contains([]string{"01000", "57P01"}, n.Code) {
		c.CustomData()[warnedKey] = true
	}
}

func warned(c *pgconn.PgConn) bool { return c.CustomData()[warnedKey] != nil }

func forgetWarnings(c *pgconn.PgConn) { delete(c.CustomData(), warnedKey) }

// unknownTransaction is the code for a transaction that the database does not know: a standby was
// promoted before it received it.
const unknownTransaction = "22023"

func hasCode(err error, codes ...string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && slices.Contains(codes, pg.Code)
}

// isLostRace recognises conflicts, and violations of unique and foreign keys that a concurrent
// transaction has caused: a second run sees its changes.
func isLostRace(err error) bool { return isConflict(err) || hasCode(err, "23505", "23503") }

// isConflict recognises serialization failures and deadlocks.
func isConflict(err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return errors.Is(err, errContended)
	}
	// Locking a row that another transaction updates can cause an internal error of PostgreSQL. It
	// has no code of its own, and its text is not translated.
	return slices.Contains([]string{"40001", "40P01"}, pg.Code) ||
		pg.Code == "XX000" && strings.Contains(pg.Message, "multixact has more than one updating member")
}

// isLostConnection recognises that the connection ended during a transaction, which ended with it.
func isLostConnection(err error) bool {
	if errors.Is(err, errUnknownOutcome) { // it may be committed, so it must not run again
		return false
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		// Terminated by an administrator; the database shuts down or has become a standby; an idle
		// timeout, between transactions or within one.
		return slices.Contains([]string{"57P01", "57P02", "25006", "57P05", "25P03"}, pg.Code)
	}
	// A statement that was not sent because its context had ended says nothing about the connection.
	notSent := pgconn.SafeToRetry(err) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
	return notSent || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
