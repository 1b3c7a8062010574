// Package postgres implements a PostgreSQL database behind a pool of connections. Other servers
// may use the database as well.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/problem"
)

// Database is a PostgreSQL database behind a pool of connections.
type Database struct {
	dialect
	pool       *pgxpool.Pool
	conns      int // of the pool, at most
	locks      retryLocks
	removed    atomic.Int64    // rows removed since the last VACUUM
	changed    db.Signal       // of this server and, as far as they notify it, of others
	ownCommits db.Signal       // of this server only; notifyOthers tells others of them
	sequencing chan struct{}   // full while ticks run; guards lastRun
	runsBegun  atomic.Int64    // of ticks
	lastRun    tickRun         // that was not cancelled
	tick       string          // the statement
	listener   *pgx.ConnConfig // of the connection that listens
	options    db.Options
	closed     atomic.Bool
	short      *db.Queue  // tasks
	coroutines coroutines // of the tasks

	replyTimeout time.Duration // deadline of replies while others may wait
}

const (
	// defaultConns is the size of the pool, unless the URL sets it.
	defaultConns        = 24
	defaultReplyTimeout = 10 * time.Second

	beginWrite = "begin isolation level repeatable read"
	beginRead  = "begin isolation level repeatable read, read only"

	beginCommitted = "begin isolation level read committed" // each statement sees what was committed before it
)

// Open connects to a database.
func Open(ctx context.Context, url string, o db.Options) (*Database, error) {
	config, err := parseConfig(url)
	if err != nil {
		return nil, err
	}
	listener := config.ConnConfig
	if o.Direct != "" {
		direct, err := parseConfig(o.Direct)
		if err != nil {
			return nil, fmt.Errorf("the direct URL: %w", err)
		}
		listener = direct.ConnConfig
		// If it cannot be reached, the server looks for changes.
		if c, err := pgx.ConnectConfig(ctx, listener.Copy()); err == nil {
			_ = c.Close(ctx)
		} else if errors.Is(err, errShared) {
			return nil, fmt.Errorf("the direct URL: %w", errShared)
		}
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connecting to PostgreSQL: %w", err)
	}
	if err := checkSettings(ctx, pool); err != nil {
		pool.Close()
		return nil, err
	}
	b := &Database{
		pool:         pool,
		conns:        int(config.MaxConns),
		listener:     listener,
		options:      o.WithDefaults(),
		sequencing:   make(chan struct{}, 1),
		tick:         tickOf(maxTick),
		replyTimeout: defaultReplyTimeout,
	}
	b.short = db.NewQueue(max(1, int(config.MaxConns/6)), b.runShort)
	return b, nil
}

func (b *Database) Read(ctx context.Context, how db.Use) (db.Conn, func(), error) {
	ctx = cancellable(ctx)
	acquired, err := b.acquire(ctx)
	if err != nil {
		return nil, nil, err
	}
	c := b.transaction(ctx, acquired, beginRead)
	c.single = how == db.OneQuery || how == db.PageInOne
	if how == db.OneQuery || how == db.ShortRead {
		c.replyTimeout = b.replyTimeout
	}
	c.renew = func() error {
		c.begun = false // there is nothing to roll back
		b.pool.Reset()  // the other connections are probably lost too
		acquired.Release()
		another, err := b.acquire(ctx)
		if err == nil {
			acquired, c.raw = another, another.Conn()
		}
		return err
	}
	release := func() {
		c.rollback()
		acquired.Release()
	}
	return c, release, nil
}

// tooManyConns is the code of a database that accepts no more connections.
const tooManyConns = "53300"

// acquire waits for a connection, up to db.MaxWait.
func (b *Database) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	if b.closed.Load() {
		return nil, db.ErrClosed
	}
	wait, cancel := context.WithTimeout(ctx, db.MaxWait)
	defer cancel()
	for {
		acquired, err := b.pool.Acquire(wait)
		switch {
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
			return nil, db.ErrBusy
		case hasCode(err, tooManyConns) && ctx.Err() == nil:
			// The server accepts no more connections. Another one may be closed soon.
			select {
			case <-wait.Done():
				return nil, errors.Join(db.ErrBusy, err)
			case <-time.After(50 * time.Millisecond):
				continue
			}
		}
		return acquired, err
	}
}

// maxRemoved is how many rows may be removed from a table before it is vacuumed.
const maxRemoved = 500

// reclaim vacuums a table from which rows were removed. Autovacuum would do so minutes later,
// and until then every query scans the dead rows. Errors are harmless.
func (b *Database) reclaim(ctx context.Context, t *db.Task) {
	if t.Removed.Rows == 0 || b.removed.Add(t.Removed.Rows) < maxRemoved {
		return
	}
	b.removed.Store(0)
	if acquired, err := b.acquire(ctx); err == nil {
		defer acquired.Release()
		_, _ = acquired.Exec(ctx, "VACUUM (SKIP_LOCKED) "+t.Removed.Table)
	}
}

// Close waits for the connections that are in use.
func (b *Database) Close() error {
	if !b.closed.Swap(true) {
		b.short.Close()
		b.coroutines.end()
		b.pool.Close()
	}
	return nil
}

func (b *Database) Fault(err error) error {
	var pg *pgconn.PgError
	var connect *pgconn.ConnectError
	var network net.Error
	unavailable := errors.As(err, &connect) || errors.As(err, &network) || pgconn.SafeToRetry(err) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errUnknownOutcome) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, errRunAgain) || errors.Is(err, errUnreplicated)
	if errors.As(err, &pg) {
		switch class := pg.Code[:2]; {
		case pg.Code == "23503":
			return db.BrokenReference(err)
		case pg.Code == "53100":
			return &problem.Error{Code: problem.CodeStorageFull, Detail: "There is no space left to store this. Reads still work. Try again later.", Cause: err}
		case class == "08" || class == "53" || class == "57" || class == "40" || pg.Code == "25006":
			unavailable = true
		}
	}
	if isLostRace(err) {
		return &problem.Error{Code: problem.CodeUnavailable, Detail: "Too many requests are writing to the same resources. Try again later.", Cause: err}
	}
	if unavailable {
		return &problem.Error{Code: problem.CodeUnavailable, Detail: "The database is unavailable. Try again later.", Cause: err}
	}
	return nil
}

func (b *Database) Traits() db.Traits {
	return db.Traits{Name: "postgresql", ManyWriters: true, RoundTrips: true, Lateral: true, HashJoins: true,
		ShortReads: max(1, b.conns/2), PageReads: max(1, b.conns/3), LongReads: max(1, b.conns/2), OwnReads: max(1, b.conns/3)}
}
