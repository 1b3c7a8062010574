// Package store keeps the resources of a schema in a database: SQLite or
// PostgreSQL behind one SQL builder.
//
// Every write appends to the change log and keeps the totals in the same
// transaction. What reads resources takes a filter as its scope; what is
// written was read, under such a scope, in the same transaction.
package store

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/schema"
)

// Store is a database with the tables of a schema.
type Store struct {
	backend backend
	schema  *schema.Schema
	tables  map[*schema.Collection]*table
	minter  minter
	now     func() time.Time
}

// Open connects to a database by its URL: sqlite:FILE or postgres://….
// An empty database gets its tables. One that does not fit the schema is
// refused with a *MisfitError.
func Open(ctx context.Context, url string, s *schema.Schema) (*Store, error) {
	scheme, rest, _ := strings.Cut(url, ":")
	var b backend
	var err error
	switch scheme {
	case "sqlite":
		b, err = openSQLite(rest)
	case "postgres", "postgresql":
		b, err = openPostgres(ctx, url)
	default:
		err = errors.New("the database URL must be sqlite:FILE or postgres://HOST/DATABASE")
	}
	if err != nil {
		return nil, err
	}
	st := &Store{backend: b, schema: s, tables: map[*schema.Collection]*table{}, now: time.Now}
	for _, c := range s.Collections() {
		st.tables[c] = newTable(b, c)
	}
	if err := st.prepare(ctx); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return st, nil
}

// prepare creates the tables in an empty database, checks those of another, and
// takes up the ids where the last run left off.
func (s *Store) prepare(ctx context.Context) error {
	return s.backend.write(ctx, func(c conn) error {
		found, err := describe(c, s.backend)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			err = s.createTables(c)
		} else {
			err = s.fit(c, found)
		}
		if err != nil {
			return err
		}
		if s.minter.last, err = readLastID(c); err != nil {
			return err
		}
		// A write shows now what would else show at the first request.
		if _, err = c.exec("UPDATE " + metaTable + " SET value = value WHERE key = 'format'"); err != nil {
			return fmt.Errorf("the database cannot be written: %w", err)
		}
		return nil
	})
}

// Close finishes the writes that were accepted and closes the database.
func (s *Store) Close() error { return s.backend.close() }

// Tx is a transaction: a snapshot to read from, and inside Write also to write to.
type Tx struct {
	store   *Store
	conn    conn
	release func()
	at      schema.Value // time of all changes of the transaction
	minted  bool
	totals  map[total]int64 // changes to the totals, not yet written
}

// Read opens a snapshot for a moment. It must be closed.
func (s *Store) Read(ctx context.Context) (*Tx, error) { return s.read(ctx, false) }

// Stream opens a snapshot that may stay open for long. It must be closed.
func (s *Store) Stream(ctx context.Context) (*Tx, error) { return s.read(ctx, true) }

func (s *Store) read(ctx context.Context, long bool) (*Tx, error) {
	c, release, err := s.backend.read(ctx, long)
	if err != nil {
		return nil, s.fault(ctx, err)
	}
	return &Tx{store: s, conn: c, release: release}, nil
}

// Close ends a snapshot.
func (t *Tx) Close() { t.release() }

// Write runs fn in a transaction. When it returns nil, everything is durable;
// when not, nothing happened. The context can end only the wait for its start.
func (s *Store) Write(ctx context.Context, fn func(*Tx) error) error {
	return s.fault(ctx, s.backend.write(ctx, func(c conn) error { return s.run(c, fn) }))
}

// run runs fn and completes what it wrote. A panic harms nobody who shares the
// transaction's commit.
func (s *Store) run(c conn, fn func(*Tx) error) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic in a write: %v\n%s", reason, debug.Stack())
		}
	}()
	tx := &Tx{store: s, conn: c, at: schema.TimeValue(schema.FormatTime(s.now())), totals: map[total]int64{}}
	if err := fn(tx); err != nil {
		return err
	}
	if err := tx.writeTotals(); err != nil {
		return err
	}
	if tx.minted {
		return s.minter.save(c)
	}
	return nil
}

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	tx, err := s.Read(ctx)
	if err != nil {
		return err
	}
	defer tx.Close()
	_, err = one(tx.conn, nil, "SELECT 1")
	return s.fault(ctx, err)
}

// fault makes sure that what leaves the store is a fault, or the end of the
// caller's context.
func (s *Store) fault(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var list fault.List
	var single *fault.Error
	if errors.As(err, &list) || errors.As(err, &single) {
		return err
	}
	if errors.Is(err, errClosed) {
		return &fault.Error{Code: fault.CodeUnavailable, Detail: "The server is shutting down. Try again later.", Cause: err}
	}
	if errors.Is(err, errBusy) {
		return &fault.Error{Code: fault.CodeUnavailable, Detail: "Too many requests are being answered. Try again later.", Cause: err}
	}
	if known := s.backend.fault(err); known != nil {
		return known
	}
	return fault.Internal(err)
}

func (t *Tx) fault(err error) error {
	return t.store.fault(context.Background(), err)
}
