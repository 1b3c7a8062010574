package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"sync/atomic"
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
	closed atomic.Bool
}

func openPostgres(ctx context.Context, url string) (*postgresBackend, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("the database URL is not a PostgreSQL URL such as postgres://user@host/database")
	}
	// The rows are read in the binary form that prepared statements give.
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connecting to PostgreSQL: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("connecting to PostgreSQL: %w", err)
	}
	return &postgresBackend{pool: pool}, nil
}

func (b *postgresBackend) read(ctx context.Context, _ bool) (conn, func(), error) {
	acquired, err := b.acquire(ctx)
	if err != nil {
		return nil, nil, err
	}
	tx, err := acquired.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		acquired.Release()
		return nil, nil, err
	}
	// The context may be over when the connection goes back to the pool.
	release := func() {
		tx.Rollback(context.WithoutCancel(ctx))
		acquired.Release()
	}
	return &postgresConn{ctx: ctx, tx: tx}, release, nil
}

// acquire waits for a connection, but not for ever.
func (b *postgresBackend) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	if b.closed.Load() {
		return nil, errClosed
	}
	wait, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	acquired, err := b.pool.Acquire(wait)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, errBusy
	}
	return acquired, err
}

// writeAttempts bounds how often a transaction that lost to another is run again.
const writeAttempts = 10

func (b *postgresBackend) write(ctx context.Context, fn func(conn) error) error {
	acquired, err := b.acquire(ctx)
	if err != nil {
		return err
	}
	defer acquired.Release()
	ctx = context.WithoutCancel(ctx)
	for attempt := range writeAttempts {
		if attempt > 0 { // those who lost to each other should not meet again
			time.Sleep(rand.N(time.Millisecond << attempt))
		}
		err = pgx.BeginTxFunc(ctx, acquired, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
			return fn(&postgresConn{ctx: ctx, tx: tx})
		})
		if !isLostRace(err) {
			return err
		}
	}
	return err
}

// isLostRace recognises serialization failures and deadlocks, and the unique
// and foreign keys that another transaction has taken or removed meanwhile: a
// second run sees what the other one did.
func isLostRace(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && slices.Contains([]string{"40001", "40P01", "23505", "23503"}, pg.Code)
}

// close waits for the connections that are in use.
func (b *postgresBackend) close() error {
	b.closed.Store(true)
	b.pool.Close()
	return nil
}

func (b *postgresBackend) fault(err error) error {
	var pg *pgconn.PgError
	var connect *pgconn.ConnectError
	var network net.Error
	unavailable := errors.As(err, &connect) || errors.As(err, &network) || pgconn.SafeToRetry(err) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if errors.As(err, &pg) {
		switch class := pg.Code[:2]; {
		case pg.Code == "57014":
			return context.Canceled
		case pg.Code == "23503":
			return brokenReference(err)
		case pg.Code == "53100":
			return &fault.Error{Code: fault.CodeStorageFull, Detail: "There is no room left to store this. Reading goes on; try again later.", Cause: err}
		case class == "08" || class == "53" || class == "57" || class == "40":
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
func (*postgresBackend) nullsFirst() string     { return " NULLS FIRST" }
func (*postgresBackend) nullsLast() string      { return " NULLS LAST" }
func (*postgresBackend) inlineReferences() bool { return false }
func (*postgresBackend) skipLocked() string     { return " FOR UPDATE SKIP LOCKED" }
func (*postgresBackend) soleServer() bool       { return false }
func (*postgresBackend) failure() error         { return nil } // its disk is the database's business
func (*postgresBackend) contains(column, text string) string {
	return "strpos(" + column + ", " + text + ") > 0"
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
