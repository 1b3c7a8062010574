// Package postgres is a PostgreSQL database behind a pool of connections, which other servers may
// use as well.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/schema"
)

// Database is a PostgreSQL database behind a pool of connections.
type Database struct {
	pool    *pgxpool.Pool
	first   chan struct{} // one for each connection that the first piece of a list may be read from
	long    chan struct{} // likewise, at length
	locks   retryLocks
	removed atomic.Int64 // rows that were removed since room was last made
	options db.Options
	closed  atomic.Bool

	patience time.Duration // how long an answer may take that others may wait for
}

const (
	// defaultConns is how many connections there are, unless the URL says so.
	defaultConns    = 24
	defaultPatience = 10 * time.Second

	beginWrite = "begin isolation level repeatable read"
	beginRead  = "begin isolation level repeatable read, read only"
)

func Open(ctx context.Context, url string, o db.Options) (*Database, error) {
	config, err := parseConfig(url)
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
	return &Database{pool: pool, options: o.WithDefaults(), first: make(chan struct{}, max(1, config.MaxConns/3)), long: make(chan struct{}, max(1, config.MaxConns/2)), patience: defaultPatience}, nil
}

func (b *Database) Read(ctx context.Context, how db.Use) (db.Conn, func(), error) {
	ctx = cancellable(ctx)
	done := func() {}
	if slots := map[db.Use]chan struct{}{db.OnePage: b.first, db.Pages: b.first, db.AtLength: b.long}[how]; slots != nil {
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
	c := &connection{ctx: ctx, raw: acquired.Conn(), isolated: beginRead, only: how == db.OneQuery || how == db.OnePage}
	if how == db.OneQuery || how == db.Briefly {
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

func (b *Database) takeSlot(ctx context.Context, slots chan struct{}) error {
	patience := time.NewTimer(db.MaxWait)
	defer patience.Stop()
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-patience.C:
		return db.ErrBusy
	}
}

// tooManyConns is the code of a database that takes no more connections.
const tooManyConns = "53300"

// acquire waits for a connection, but not for ever.
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
			// Others have them all. One of our own may come back, or of theirs.
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

// maxRemoved is how many removed rows may be in the way of those who read the table.
const maxRemoved = 500

// reclaim makes room of removed rows. PostgreSQL does so by itself, but minutes later, and
// until then every query goes past all of them. So an error is no harm.
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

// reset has connections replaced: when one was lost, the others go the same way.
func (b *Database) reset() { b.pool.Reset() }

// Close waits for the connections that are in use.
func (b *Database) Close() error {
	b.closed.Store(true)
	b.pool.Close()
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
			return &fault.Error{Code: fault.CodeStorageFull, Detail: "There is no room left to store this. Reading goes on; try again later.", Cause: err}
		case class == "08" || class == "53" || class == "57" || class == "40" || pg.Code == "25006":
			unavailable = true
		}
	}
	if isLostRace(err) {
		return &fault.Error{Code: fault.CodeUnavailable, Detail: "Too many are writing to the same resources. Try again later.", Cause: err}
	}
	if unavailable {
		return &fault.Error{Code: fault.CodeUnavailable, Detail: "The database cannot be used at the moment. Try again later.", Cause: err}
	}
	return nil
}

func (*Database) ColumnType(kind schema.Kind) string {
	if kind.IsDecimal() {
		return "bigint"
	}
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

// Reserved: PostgreSQL keeps a few column names to itself.
func (*Database) Reserved(name string) bool {
	return slices.Contains([]string{"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"}, name)
}

func (*Database) TableOptions() string { return "" }

func (*Database) RevisionType() string {
	return "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
}

func (*Database) LastRevision() string { return "lastval()" }

func (*Database) NullsFirst() string { return " NULLS FIRST" }

func (*Database) NullsLast() string { return " NULLS LAST" }

func (*Database) InlineReferences() bool { return false }

func (*Database) TryLock(first, second string) string {
	return "pg_try_advisory_xact_lock(hashtextextended(" + first + " || chr(31) || " + second + ", 0))"
}

func (*Database) SkipLocked() string { return " FOR UPDATE SKIP LOCKED" }

func (b *Database) Traits() db.Traits {
	return db.Traits{Shared: true, RoundTrips: true, LongReads: cap(b.long)}
}

func (*Database) Contains(column, text string) string {
	return "strpos(" + column + ", " + text + ") > 0"
}

// A transaction gets its revisions before it commits, and another that got higher
// ones may commit first. So the order is that of the transactions, and what is read
// of it ends at the oldest that is still going on.
func (*Database) ChangeOrder() (string, []string, []string) {
	return ", transaction xid8 NOT NULL DEFAULT pg_current_xact_id()",
		[]string{"CREATE INDEX " + db.ChangesTable + "_order ON " + db.ChangesTable + " (transaction, revision)"},
		[]string{"UPDATE " + db.ChangesTable + " SET transaction = '0' WHERE transaction > pg_current_xact_id()"}
}

func (*Database) ChangesAfter(position db.Position) (string, []schema.Value) {
	return "SELECT transaction::text::bigint, " + db.ChangeColumns + " FROM " + db.ChangesTable +
			" WHERE transaction < pg_snapshot_xmin(pg_current_snapshot()) AND (transaction, revision) > ($1::text::xid8, $2::bigint)" +
			" ORDER BY transaction, revision LIMIT $3",
		[]schema.Value{schema.TextValue(strconv.FormatInt(position.Transaction, 10)), schema.IntValue(position.Revision)}
}

func (*Database) Catalogue() db.Catalogue {
	return db.Catalogue{
		Columns: `SELECT t.relname::text, a.attname::text,
				format_type(a.atttypid, a.atttypmod) || CASE WHEN l.collname = 'C' THEN ' COLLATE "C"' ELSE '' END, a.attnotnull::int
			FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid LEFT JOIN pg_collation l ON l.oid = a.attcollation
			WHERE t.relnamespace = current_schema()::regnamespace AND t.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
			ORDER BY t.relname, a.attnum`,
		Indexes: `SELECT t.relname::text, x.relname::text, i.indisunique::int, a.attname::text
			FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid
				CROSS JOIN unnest(i.indkey::int[]) WITH ORDINALITY AS k(number, position)
				JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number
			WHERE t.relnamespace = current_schema()::regnamespace AND NOT i.indisprimary ORDER BY t.relname, x.relname, k.position`,
		References: `SELECT t.relname::text, a.attname::text, r.relname::text, f.conname::text
			FROM pg_constraint f JOIN pg_class t ON t.oid = f.conrelid JOIN pg_class r ON r.oid = f.confrelid
				JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = f.conkey[1]
			WHERE f.contype = 'f' AND t.relnamespace = current_schema()::regnamespace`,
	}
}
