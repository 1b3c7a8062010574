package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/schema"
)

// postgresBackend is a PostgreSQL database behind a pool of connections.
type postgresBackend struct {
	pool   *pgxpool.Pool
	shared *pgxpool.Pool // for the statements of groups
	long   chan struct{} // one for each connection that may be read from at length
	groups sync.Map      // *postgresGroup by *table
	dead   atomic.Int64  // deltas that were taken up and are still in the way
	closed atomic.Bool
}

const (
	// defaultConns is how many connections there are, unless the URL says so.
	defaultConns = 24
	// postgresPatience is how long an answer may take that others may wait for.
	postgresPatience = 10 * time.Second

	beginWrite = "begin isolation level repeatable read"
	beginRead  = "begin isolation level repeatable read, read only"
)

func openPostgres(ctx context.Context, url string) (*postgresBackend, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("the database URL is not a PostgreSQL URL such as postgres://user@host/database")
	}
	// The rows are read in the binary form that prepared statements give.
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
	if !strings.Contains(url, "pool_max_conns") {
		config.MaxConns = defaultConns
	}
	// A node that is gone, or stands still, must not keep its locks. Hooks may take
	// their time within a transaction, but no longer than this.
	for name, value := range map[string]string{
		"idle_in_transaction_session_timeout": "40s",
		"tcp_keepalives_idle":                 "20",
		"tcp_keepalives_interval":             "5",
		"tcp_keepalives_count":                "4",
	} {
		if _, set := config.ConnConfig.RuntimeParams[name]; !set {
			config.ConnConfig.RuntimeParams[name] = value
		}
	}
	// A statement without a transaction must see what was committed while it waited for its locks.
	config.ConnConfig.RuntimeParams["default_transaction_isolation"] = "read committed"
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = maxWait
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connecting to PostgreSQL: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("connecting to PostgreSQL: %w", err)
	}
	shared, err := pgxpool.NewWithConfig(ctx, groupConfig(config))
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("connecting to PostgreSQL: %w", err)
	}
	return &postgresBackend{pool: pool, shared: shared, long: make(chan struct{}, max(1, config.MaxConns/2))}, nil
}

func (b *postgresBackend) read(ctx context.Context, how reading) (conn, func(), error) {
	done := func() {}
	if how == atLength {
		if err := b.takeLong(ctx); err != nil {
			return nil, nil, err
		}
		done = func() { <-b.long }
	}
	acquired, err := b.acquire(ctx)
	if err != nil {
		done()
		return nil, nil, err
	}
	c := &postgresConn{ctx: ctx, raw: acquired.Conn(), isolated: beginRead, only: how == oneQuery}
	if how != atLength {
		c.patience = postgresPatience
	}
	c.begin()
	release := func() {
		c.rollback()
		acquired.Release()
		done()
	}
	return c, release, nil
}

func (b *postgresBackend) takeLong(ctx context.Context) error {
	patience := time.NewTimer(maxWait)
	defer patience.Stop()
	select {
	case b.long <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-patience.C:
		return errBusy
	}
}

// acquire waits for a connection, but not for ever.
func (b *postgresBackend) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	return b.acquireFrom(ctx, b.pool)
}

func (b *postgresBackend) acquireFrom(ctx context.Context, pool *pgxpool.Pool) (*pgxpool.Conn, error) {
	if b.closed.Load() {
		return nil, errClosed
	}
	wait, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	acquired, err := pool.Acquire(wait)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, errBusy
	}
	return acquired, err
}

// writeAttempts bounds how often a transaction that lost to another, or lost its
// connection, is run again.
const writeAttempts = 10

func (b *postgresBackend) write(ctx context.Context, fn func(conn) error) (err error) {
	for attempt := range writeAttempts {
		if attempt > 0 { // those who lost to each other should not meet again
			time.Sleep(rand.N(time.Millisecond << attempt))
		}
		acquired, failed := b.acquire(ctx)
		if failed != nil {
			return failed
		}
		err = b.transact(context.WithoutCancel(ctx), acquired, fn)
		acquired.Release()
		switch {
		case isLostRace(err):
		case isLostConnection(err):
			b.reset()
		default:
			return err
		}
	}
	return err
}

// transact runs fn in a transaction and commits it. An error means that nothing
// has happened, or that nobody can tell.
func (b *postgresBackend) transact(ctx context.Context, acquired *pgxpool.Conn, fn func(conn) error) error {
	c := &postgresConn{ctx: ctx, raw: acquired.Conn(), isolated: beginWrite, patience: postgresPatience}
	c.begin()
	if err := fn(c); err != nil {
		c.rollback()
		return err
	}
	unknown, err := c.commit()
	if err == nil {
		return nil
	}
	if !unknown {
		c.rollback()
		return err
	}
	return b.resolve(ctx, c, err)
}

// errUnknownOutcome: nobody could tell in time whether a transaction was committed.
var errUnknownOutcome = errors.New("the connection was lost during a commit, and its outcome could not be found out")

// resolve asks what became of a transaction whose commit was not answered.
func (b *postgresBackend) resolve(ctx context.Context, c *postgresConn, lost error) error {
	b.reset()
	unknown := errors.Join(errUnknownOutcome, lost)
	if c.transaction == 0 {
		return unknown
	}
	number := strconv.FormatInt(c.transaction, 10)
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	for ctx.Err() == nil {
		var status *string
		err := b.pool.QueryRow(ctx, "SELECT pg_xact_status($1::text::xid8)", number).Scan(&status)
		committed := err == nil && status != nil && *status == "committed"
		switch {
		case committed && c.committed == nil:
			return unknown
		case committed:
			// A database that has crashed, or was promoted, gives the numbers of
			// transactions again of which nothing is left. This may be another's.
			sql := "SELECT EXISTS (SELECT FROM " + changesTable + " WHERE transaction = '" + number + "' AND " + c.committed.sql + ")"
			var ours bool
			if err = b.pool.QueryRow(ctx, sql, c.committed.args...).Scan(&ours); err == nil && ours {
				return nil
			} else if err == nil {
				return lost
			}
		case err == nil && status != nil && *status == "aborted", hasCode(err, neverHeardOf):
			return lost
		}
		// It is still going on, or the database is still away.
		time.Sleep(50 * time.Millisecond)
	}
	return unknown
}

// neverHeardOf is what a database says of a transaction that has not taken place
// there: a standby that was promoted before it had it.
const neverHeardOf = "22023"

func hasCode(err error, codes ...string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && slices.Contains(codes, pg.Code)
}

// isLostRace recognises serialization failures and deadlocks, and the unique
// and foreign keys that another transaction has taken or removed meanwhile: a
// second run sees what the other one did.
func isLostRace(err error) bool {
	return hasCode(err, "40001", "40P01", "23505", "23503")
}

// isLostConnection recognises a connection that ended under a transaction, which
// ended with it.
func isLostConnection(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		// Told to go; a database that is shutting down; one that has become a standby;
		// ended as nothing came for too long, between transactions or in one.
		return slices.Contains([]string{"57P01", "57P02", "25006", "57P05", "25P03"}, pg.Code)
	}
	return !errors.Is(err, errUnknownOutcome) && (pgconn.SafeToRetry(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE))
}

// maxDead is how many deltas may be in the way of those who add them up.
const maxDead = 500

// tidy clears deltas away that were taken up. PostgreSQL does so by itself, but minutes
// later, and until then every total goes past all of them.
func (b *postgresBackend) tidy(ctx context.Context, removed int64) error {
	if b.dead.Add(removed) < maxDead {
		return nil
	}
	b.dead.Store(0)
	acquired, err := b.acquire(ctx)
	if err != nil {
		return err
	}
	defer acquired.Release()
	_, err = acquired.Exec(ctx, "VACUUM (SKIP_LOCKED) "+deltasTable)
	return err
}

// reset has connections replaced: when one was lost, the others go the same way.
func (b *postgresBackend) reset() {
	b.pool.Reset()
	b.shared.Reset()
}

// close waits for the connections that are in use.
func (b *postgresBackend) close() error {
	b.closed.Store(true)
	b.shared.Close()
	b.pool.Close()
	return nil
}

func (b *postgresBackend) fault(err error) error {
	var pg *pgconn.PgError
	var connect *pgconn.ConnectError
	var network net.Error
	unavailable := errors.As(err, &connect) || errors.As(err, &network) || pgconn.SafeToRetry(err) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errUnknownOutcome) || errors.Is(err, context.DeadlineExceeded)
	if errors.As(err, &pg) {
		switch class := pg.Code[:2]; {
		case pg.Code == "57014":
			return context.Canceled
		case pg.Code == "23503":
			return brokenReference(err)
		case pg.Code == "53100":
			return &fault.Error{Code: fault.CodeStorageFull, Detail: "There is no room left to store this. Reading goes on; try again later.", Cause: err}
		case class == "08" || class == "53" || class == "57" || class == "40" || pg.Code == "25006":
			unavailable = true
		}
	}
	if unavailable {
		return &fault.Error{Code: fault.CodeUnavailable, Detail: "The database cannot be used at the moment. Try again later.", Cause: err}
	}
	return nil
}

func (*postgresBackend) columnType(kind schema.Kind) string {
	switch kind {
	case schema.KindUUID:
		return "uuid"
	case schema.KindInteger:
		return "bigint"
	case schema.KindNumber:
		return "double precision"
	case schema.KindBoolean:
		return "boolean"
	case schema.KindDateTime:
		return "timestamp(3) with time zone"
	default:
		return `text COLLATE "C"`
	}
}

// reserved: PostgreSQL keeps a few column names to itself.
func (*postgresBackend) reserved(name string) bool {
	return slices.Contains([]string{"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"}, name)
}

func (*postgresBackend) tableOptions() string { return "" }
func (*postgresBackend) revisionType() string {
	return "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
}
func (*postgresBackend) lastRevision() string   { return "lastval()" }
func (*postgresBackend) nullsFirst() string     { return " NULLS FIRST" }
func (*postgresBackend) nullsLast() string      { return " NULLS LAST" }
func (*postgresBackend) inlineReferences() bool { return false }
func (*postgresBackend) tryLock() string {
	return "SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))"
}
func (*postgresBackend) skipLocked() string     { return " FOR UPDATE SKIP LOCKED" }
func (*postgresBackend) soleServer() bool       { return false }
func (*postgresBackend) failure() error         { return nil } // its disk is the database's business
func (*postgresBackend) complete(ending)        {}             // none is shared
func (*postgresBackend) remember(int64) *memory { return nil } // its state cannot be told without asking it
func (*postgresBackend) contains(column, text string) string {
	return "strpos(" + column + ", " + text + ") > 0"
}

// A transaction gets its revisions before it commits, and another that got higher
// ones may commit first. So the order is that of the transactions, and what is read
// of it ends at the oldest that is still going on.
func (*postgresBackend) changeOrder() (string, []string, []string) {
	return ", transaction xid8 NOT NULL DEFAULT pg_current_xact_id()",
		[]string{"CREATE INDEX " + changesTable + "_order ON " + changesTable + " (transaction, revision)"},
		[]string{"UPDATE " + changesTable + " SET transaction = '0' WHERE transaction > pg_current_xact_id()"}
}

func (*postgresBackend) changesAfter(position Position) (string, []schema.Value) {
	return "SELECT transaction::text::bigint, " + changeColumns + " FROM " + changesTable +
			" WHERE transaction < pg_snapshot_xmin(pg_current_snapshot()) AND (transaction, revision) > ($1::text::xid8, $2::bigint)" +
			" ORDER BY transaction, revision LIMIT $3",
		[]schema.Value{schema.TextValue(strconv.FormatInt(position.Transaction, 10)), schema.IntValue(position.Revision)}
}

func (*postgresBackend) catalogue() catalogue {
	return catalogue{
		columns: `SELECT t.relname::text, a.attname::text,
				format_type(a.atttypid, a.atttypmod) || CASE WHEN l.collname = 'C' THEN ' COLLATE "C"' ELSE '' END, a.attnotnull::int
			FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid LEFT JOIN pg_collation l ON l.oid = a.attcollation
			WHERE t.relnamespace = current_schema()::regnamespace AND t.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
			ORDER BY t.relname, a.attnum`,
		indexes: `SELECT t.relname::text, x.relname::text, i.indisunique::int, a.attname::text
			FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid
				CROSS JOIN unnest(i.indkey::int[]) WITH ORDINALITY AS k(number, position)
				JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number
			WHERE t.relnamespace = current_schema()::regnamespace AND NOT i.indisprimary ORDER BY t.relname, x.relname, k.position`,
		references: `SELECT t.relname::text, a.attname::text, r.relname::text, f.conname::text
			FROM pg_constraint f JOIN pg_class t ON t.oid = f.conrelid JOIN pg_class r ON r.oid = f.confrelid
				JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = f.conkey[1]
			WHERE f.contype = 'f' AND t.relnamespace = current_schema()::regnamespace`,
	}
}
