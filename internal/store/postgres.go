package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

// postgresBackend is a PostgreSQL database behind a pool of connections.
type postgresBackend struct {
	pool   *pgxpool.Pool
	shared *pgxpool.Pool // for the statements of groups
	first  chan struct{} // one for each connection that the first piece of a list may be read from
	long   chan struct{} // likewise, at length
	turns  turns
	groups sync.Map     // *postgresGroup by *table
	dead   atomic.Int64 // deltas that were taken up and are still in the way
	closed atomic.Bool

	patience time.Duration // how long an answer may take that others may wait for
}

const (
	// defaultConns is how many connections there are, unless the URL says so.
	defaultConns     = 24
	postgresPatience = 10 * time.Second

	beginWrite = "begin isolation level repeatable read"
	beginRead  = "begin isolation level repeatable read, read only"
)

func openPostgres(ctx context.Context, url string) (*postgresBackend, error) {
	config, err := postgresConfig(url)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connecting to PostgreSQL: %w", err)
	}
	if err := checkEncoding(ctx, pool); err != nil {
		pool.Close()
		return nil, err
	}
	shared, err := pgxpool.NewWithConfig(ctx, groupConfig(config))
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("connecting to PostgreSQL: %w", err)
	}
	return &postgresBackend{pool: pool, shared: shared, first: make(chan struct{}, max(1, config.MaxConns/3)), long: make(chan struct{}, max(1, config.MaxConns/2)), patience: postgresPatience}, nil
}

func (b *postgresBackend) read(ctx context.Context, how reading) (conn, func(), error) {
	ctx = cancellable(ctx)
	done := func() {}
	if slots := map[reading]chan struct{}{aPiece: b.first, atLength: b.long}[how]; slots != nil {
		if err := b.takeSlot(ctx, slots); err != nil {
			return nil, nil, err
		}
		done = func() { <-slots }
	}
	acquired, err := b.acquire(ctx)
	if err != nil {
		done()
		return nil, nil, err
	}
	c := &postgresConn{ctx: ctx, raw: acquired.Conn(), isolated: beginRead, only: how == oneQuery}
	if how == oneQuery || how == briefly {
		c.patience = b.patience
	}
	c.longer = func() error {
		if err := b.takeSlot(ctx, b.long); err != nil {
			return err
		}
		done()
		done = func() { <-b.long }
		return nil
	}
	c.renew = func() error {
		c.begun = false // there is nothing to roll back
		b.pool.Reset()  // the others go the same way
		acquired.Release()
		another, err := b.acquire(ctx)
		if err == nil {
			acquired, c.raw = another, another.Conn()
		}
		return err
	}
	c.begin()
	release := func() {
		c.rollback()
		acquired.Release()
		done()
	}
	return c, release, nil
}

func (b *postgresBackend) longReads() int { return cap(b.long) }

func (b *postgresBackend) takeSlot(ctx context.Context, slots chan struct{}) error {
	patience := time.NewTimer(maxWait)
	defer patience.Stop()
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-patience.C:
		return errBusy
	}
}

// tooManyConns is the code of a database that takes no more connections.
const tooManyConns = "53300"

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
	for {
		acquired, err := pool.Acquire(wait)
		switch {
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
			return nil, errBusy
		case hasCode(err, tooManyConns) && ctx.Err() == nil && (pool == b.pool || pool.Stat().TotalConns() > 0):
			// Others have them all. One of our own may come back, or of theirs.
			select {
			case <-wait.Done():
				return nil, errors.Join(errBusy, err)
			case <-time.After(50 * time.Millisecond):
				continue
			}
		}
		return acquired, err
	}
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
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errUnknownOutcome) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, errRunAgain) || errors.Is(err, errUnreplicated)
	if errors.As(err, &pg) {
		switch class := pg.Code[:2]; {
		case pg.Code == "23503":
			return brokenReference(err)
		case pg.Code == "53100":
			return &problem.Error{Code: problem.CodeStorageFull, Detail: "There is no room left to store this. Reading goes on; try again later.", Cause: err}
		case class == "08" || class == "53" || class == "57" || class == "40" || pg.Code == "25006":
			unavailable = true
		}
	}
	if isLostRace(err) {
		return &problem.Error{Code: problem.CodeUnavailable, Detail: "Too many are writing to the same resources. Try again later.", Cause: err}
	}
	if unavailable {
		return &problem.Error{Code: problem.CodeUnavailable, Detail: "The database cannot be used at the moment. Try again later.", Cause: err}
	}
	return nil
}

func (*postgresBackend) columnType(kind model.Kind) string {
	if kind.IsDecimal() {
		return "bigint"
	}
	switch kind {
	case model.KindUUID:
		return "uuid"
	case model.KindInteger:
		return "bigint"
	case model.KindNumber:
		return "double precision"
	case model.KindBoolean:
		return "boolean"
	case model.KindDateTime:
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
func (*postgresBackend) lastRevision() string           { return "lastval()" }
func (*postgresBackend) returning(column string) string { return " RETURNING " + column }
func (*postgresBackend) nullsFirst() string             { return " NULLS FIRST" }
func (*postgresBackend) nullsLast() string              { return " NULLS LAST" }
func (*postgresBackend) inlineReferences() bool         { return false }
func (*postgresBackend) tryLock() string {
	return "SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))"
}
func (*postgresBackend) skipLocked() string { return " FOR UPDATE SKIP LOCKED" }
func (*postgresBackend) soleServer() bool   { return false }
func (*postgresBackend) failure() error     { return nil } // its disk is the database's business
func (*postgresBackend) complete(ending)    {}             // none is shared
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

func (*postgresBackend) changesAfter(position Position) (string, []model.Value) {
	return "SELECT transaction::text::bigint, " + changeColumns + " FROM " + changesTable +
			" WHERE transaction < pg_snapshot_xmin(pg_current_snapshot()) AND (transaction, revision) > ($1::text::xid8, $2::bigint)" +
			" ORDER BY transaction, revision LIMIT $3",
		[]model.Value{model.TextValue(strconv.FormatInt(position.Transaction, 10)), model.IntValue(position.Revision)}
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
