// Package store keeps the resources of a schema in a database: SQLite or
// PostgreSQL behind one SQL builder.
//
// Every write appends to the change log and keeps the totals in the same
// transaction. What reads resources takes a filter as its scope; what is
// written was read, under such a scope, in the same transaction.
package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

// Store is a database with the tables of a schema.
type Store struct {
	backend  backend
	schema   *model.Schema
	tables   map[*model.Collection]*table
	minter   minter
	waiting  atomic.Int64 // deltas that were written down, as far as this server knows
	standing atomic.Pointer[standing]
	shares   *shares
	since    map[string]int64 // by collection
	own      int64            // version of its schema
	now      func() time.Time
}

// Option changes how a database is opened.
type Option func(*opening)

type opening struct {
	applied func(*Step)
}

// MigrateAdditive lets Open change a database whose schema is another one, as
// long as all of that is additive. Each step is reported when all are done.
func MigrateAdditive(applied func(*Step)) Option {
	return func(o *opening) { o.applied = applied }
}

// Open connects to a database by its URL: sqlite:FILE or postgres://….
// An empty database gets its tables. One that does not fit the schema is
// refused with a *MisfitError, unless an option says otherwise.
func Open(ctx context.Context, url string, s *model.Schema, options ...Option) (*Store, error) {
	var o opening
	for _, option := range options {
		option(&o)
	}
	b, err := connect(ctx, url)
	if err != nil {
		return nil, explained(err)
	}
	st := &Store{backend: b, shares: newShares(b.longReads()), schema: s, tables: map[*model.Collection]*table{}, now: time.Now}
	for _, c := range s.All() {
		st.tables[c] = newTable(b, c)
	}
	b.complete(st.endShared)
	if err := st.prepare(ctx, o); err != nil {
		return nil, explained(errors.Join(err, b.close()))
	}
	return st, nil
}

func connect(ctx context.Context, url string) (backend, error) {
	scheme, rest, _ := strings.Cut(url, ":")
	switch scheme {
	case "sqlite":
		return openSQLite(rest)
	case "postgres", "postgresql":
		return openPostgres(ctx, url)
	}
	return nil, errors.New("the database URL must be sqlite:FILE or postgres://HOST/DATABASE")
}

// prepare makes the tables of an empty database, checks and perhaps migrates those
// of another, and takes up the ids where the last run left off.
func (s *Store) prepare(ctx context.Context, o opening) error {
	different, err := s.fit(ctx)
	if err != nil || different == nil {
		return err
	}
	accept := func(p *plan) error {
		if !p.first() && (o.applied == nil || !p.additive()) {
			return misfitOf(p, o.applied != nil)
		}
		return nil
	}
	if err := accept(different); err != nil {
		return err
	}
	// It is asked again: somebody else may have been faster.
	steps, err := migrate(ctx, s.backend, s.schema, s.now(), accept)
	if err != nil {
		return err
	}
	for _, step := range steps {
		if !different.first() {
			o.applied(step)
		}
	}
	if different, err = s.fit(ctx); err == nil && different != nil {
		err = misfitOf(different, o.applied != nil)
	}
	return err
}

// fit finds how the schema of the database differs, nil if it does not.
func (s *Store) fit(ctx context.Context) (different *plan, err error) {
	err = s.backend.write(ctx, func(c conn) error {
		different = nil
		found, err := describe(c, s.backend)
		if err != nil {
			return err
		}
		if different, err = s.differences(c, found); err != nil || different != nil {
			return err
		}
		// A write shows now what would else show at the first request.
		if _, err = c.exec("UPDATE " + metaTable + " SET value = value WHERE key = 'format'"); err != nil {
			return fmt.Errorf("the database cannot be written: %w", err)
		}
		if _, _, renumbered := s.backend.changeOrder(); len(renumbered) > 0 {
			if err := execAll(c, renumbered...); err != nil {
				return err
			}
		}
		if _, err := one(c, func(row model.Row) { s.waiting.Store(row.Int(0)) }, "SELECT count(*) FROM "+deltasTable); err != nil {
			return err
		}
		mark, err := readMark(c)
		if err != nil {
			return err
		}
		s.minter.start(mark)
		current, err := readVersion(c)
		if err != nil {
			return err
		}
		s.standing.Store(&standing{version: current, reads: true, writes: true})
		s.own = current.number
		if s.since, err = readSince(c, s.own); err != nil {
			return err
		}
		return nil
	})
	return different, err
}

func (s *Store) differences(c conn, found map[string]*tableShape) (*plan, error) {
	if len(found) == 0 {
		return firstPlan(s.schema), nil
	}
	stored, err := storedSchema(c, s.backend, found)
	if err != nil || bytes.Equal(stored.Document(), s.schema.Document()) {
		return nil, err
	}
	return planFrom(c, stored, s.schema)
}

// Close finishes the writes that were accepted and closes the database.
func (s *Store) Close() error { return s.backend.close() }

// Tx is a transaction: a snapshot to read from, and inside Write also to write to.
type Tx struct {
	store   *Store
	conn    conn
	ctx     context.Context // of a snapshot; nil: nothing ends it
	release func()
	at      model.Value // time of all changes of the transaction
	caller  string      // who makes them
	minted  bool
	deltas  []delta  // not yet written down
	mark    model.ID // of the minter, if this transaction moves it on
	last    *Change  // of its changes, nil if there is none
}

// Look opens a snapshot for one query. It must be closed.
func (s *Store) Look(ctx context.Context) (*Tx, error) { return s.read(ctx, oneQuery) }

// Read opens a snapshot for a moment. It must be closed.
func (s *Store) Read(ctx context.Context) (*Tx, error) { return s.read(ctx, briefly) }

// Stream opens a snapshot for the first piece of what may be long, and Lengthen lets it
// stay open for that. It must be closed.
func (s *Store) Stream(ctx context.Context) (*Tx, error) { return s.read(ctx, aPiece) }

// Lengthen lets a stream go on for as long as a client takes. There are only so many, and
// each caller has a share of them; the program itself, which has no name, may have all.
func (t *Tx) Lengthen(who string) error {
	if !t.store.shares.enter(who) {
		return fault.New(problem.CodeTooManyRequests, "You are being sent %d long lists, and nobody gets more at the same time. Read them to their end first, or ask for smaller ranges.", t.store.shares.most)
	}
	if err := t.conn.lengthen(); err != nil {
		t.store.shares.leave(who)
		return t.fault(err)
	}
	release := t.release
	t.release = func() {
		release()
		t.store.shares.leave(who)
	}
	return nil
}

func (s *Store) read(ctx context.Context, how reading) (*Tx, error) {
	c, release, err := s.backend.read(ctx, how)
	if err == nil {
		if err = s.check(c, mayRead); err != nil {
			release()
		}
	}
	if err != nil {
		return nil, s.fault(ctx, err)
	}
	return &Tx{store: s, conn: c, ctx: ctx, release: release}, nil
}

// Close ends a snapshot.
func (t *Tx) Close() { t.release() }

// Write runs fn in a transaction. When it returns nil, everything is durable;
// when not, nothing happened. The context can end only the wait for its start.
func (s *Store) Write(ctx context.Context, fn func(*Tx) error) error {
	var tx *Tx
	err := s.backend.write(ctx, func(c conn) (err error) {
		tx, err = s.run(c, fn)
		return err
	})
	if tx != nil && tx.mark != (model.ID{}) {
		s.minter.marked(tx.mark, err)
	}
	if err == nil {
		tx.committed()
	}
	return s.fault(ctx, err)
}

// run runs fn and completes what it wrote. A panic harms nobody who shares the
// transaction's commit.
func (s *Store) run(c conn, fn func(*Tx) error) (tx *Tx, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic in a write: %v\n%s", reason, debug.Stack())
		}
	}()
	if err := s.check(c, mayWrite); err != nil {
		return nil, err
	}
	tx = &Tx{store: s, conn: c, at: model.TimeValue(model.FormatTime(s.now()))}
	if err := fn(tx); err != nil {
		return tx, err
	}
	if last := tx.last; last != nil {
		c.evidence("collection = $1 AND id = $2 AND kind = $3 AND at = $4 AND representation = $5", model.TextValue(last.Collection),
			model.IDValue(last.ID), model.TextValue(last.Kind), tx.at, model.TextValue(string(last.Representation)))
	}
	if tx.minted {
		if mark, due := s.minter.due(); due {
			tx.mark = mark
			if err := saveMark(c, mark); err != nil {
				return tx, err
			}
		}
	}
	return tx, tx.writeDeltas() // last: who shares the transaction has no part in what fails
}

// Ping reports whether the database answers, and still has the schema.
func (s *Store) Ping(ctx context.Context) error {
	tx, err := s.Read(ctx)
	if err != nil {
		return err
	}
	defer tx.Close()
	standing, err := s.reconsider(tx.conn)
	if err == nil && !standing.writes {
		err = otherSchema()
	}
	return s.fault(ctx, err)
}

// Health reports why nothing is written until the server is started again, nil if
// that is not so.
func (s *Store) Health() error { return s.fault(context.Background(), s.backend.failure()) }

// fault makes sure that what leaves the store is a fault, or the end of the
// caller's context.
func (s *Store) fault(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var list problem.Errors
	var single *problem.Error
	if errors.As(err, &list) || errors.As(err, &single) {
		return err
	}
	if errors.Is(err, errClosed) {
		return &problem.Error{Code: problem.CodeUnavailable, Detail: "The server is shutting down. Try again later.", Cause: err}
	}
	if errors.Is(err, errBusy) {
		return &problem.Error{Code: problem.CodeUnavailable, Detail: "Too many requests are being answered. Try again later.", Cause: err}
	}
	if known := s.backend.fault(err); known != nil {
		return known
	}
	return fault.Internal(err)
}

func (t *Tx) fault(err error) error {
	if t.ctx != nil {
		return t.store.fault(t.ctx, err)
	}
	return t.store.fault(context.Background(), err)
}
