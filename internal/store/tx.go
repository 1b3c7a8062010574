package store

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/limit"
	"github.com/plural-go/plural/internal/lists"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/tracing"
)

// Tx is a snapshot to read from, or the task of one caller in a transaction that writes. Several tasks may share a transaction
// of the database; each has a Tx of its own.
type Tx struct {
	changelog.Reader
	store   *Store
	bound   *binding // see begin
	begun   bool     // begin has returned
	conn    db.Conn
	ctx     context.Context  // of the caller of a snapshot; a write has none
	release func()           // ends a snapshot
	end     func()           // ends its context
	turn    turn             // of a snapshot
	at      model.Value      // time of all changes of the task, and of those that it predicts
	caller  string           // id of the caller
	trace   string           // traceparent of the task; empty: it is not sampled
	commit  tracing.Span     // the wait for the commit
	texts   *Texts           // whose words are known
	minted  bool             // ids were made, so that the mark of the minter may have to be moved
	newIDs  []model.ID       // made in the transaction, each larger than the one before
	deltas  []lists.Delta    // of its changes
	pending int64            // deltas that it has recorded itself
	earlier []*db.Task       // earlier tasks in the transaction
	mark    model.ID         // of the minter, if this transaction moves it
	last    *changelog.Entry // last change, nil if there is none; without its states
}

// ReadOne opens a snapshot for one query. It must be closed.
func (s *Store) ReadOne(ctx context.Context) (*Tx, error) { return s.read(ctx, db.OneQuery) }

// Read opens a snapshot for a short time. It must be closed.
func (s *Store) Read(ctx context.Context) (*Tx, error) { return s.read(ctx, db.ShortRead) }

// ReadAtLength opens a snapshot for queries that may take long, such as those of a page. It must be closed.
func (s *Store) ReadAtLength(ctx context.Context) (*Tx, error) {
	tx, err := s.read(ctx, db.PageInSeveral)
	if err == nil {
		tx.at = s.timestamp()
	}
	return tx, err
}

// read opens a snapshot. Every read goes through here: that of a client takes a place of its caller first, and has a limited
// time. See limit.Reader.
func (s *Store) read(ctx context.Context, how db.Use) (*Tx, error) {
	ctx, key, end := limit.BoundRead(ctx)
	turn, err := s.enter(ctx, how, key)
	if err != nil {
		err = s.fault(ctx, err)
		end()
		return nil, err
	}
	if s.bound().isTarget { // begin has a statement of its own
		switch how {
		case db.OneQuery:
			how = db.ShortRead
		case db.PageInOne:
			how = db.PageInSeveral
		}
	}
	c, release, err := s.db.Read(ctx, how)
	tx := &Tx{store: s, conn: c, ctx: ctx, turn: turn, release: release, end: end}
	if err == nil {
		tx.conn = db.Traced(ctx, s.tracer, s.name, c)
		if err = tx.begin(false, mayRead); err != nil {
			release()
		}
	}
	if err != nil {
		err = s.fault(ctx, err)
		turn.leave()
		end()
		return nil, err
	}
	tx.Reader = tx.bound.log.Reader(ctx, tx.conn)
	return tx, nil
}

// Close ends a snapshot.
func (t *Tx) Close() {
	t.release()
	t.end()
	t.turn.leave()
}

// Write runs fn in a transaction. When it returns nil, everything is durable; otherwise
// nothing is stored. The context can only end the wait for the start.
func (s *Store) Write(ctx context.Context, fn func(*Tx) error) error {
	return s.write(ctx, &db.Task{}, fn)
}

// WriteOptions says what is known of a write before it.
type WriteOptions struct {
	// Short: it takes about as long as an insert and waits for no other program. Where several transactions can
	// run at the same time, it may share one with others. ID is the resource that it updates, zero if it creates one.
	Short bool
	ID    model.ID
	// Limit is how long it may take; zero: any time. If it takes longer, nothing is stored.
	Limit time.Duration
}

// WriteAs is Write for a function of which more is known.
func (s *Store) WriteAs(ctx context.Context, options WriteOptions, fn func(*Tx) error) error {
	return s.write(ctx, &db.Task{Short: options.Short, ID: options.ID, Limit: options.Limit}, fn)
}

func (s *Store) write(ctx context.Context, t *db.Task, fn func(*Tx) error) error {
	var tx *Tx
	t.Caller = limit.KeyOf(ctx)
	trace := tracing.Sampled(s.tracer, ctx)
	t.Run = func(c db.Conn, earlier []*db.Task) (err error) {
		tx.endCommit(errRunsAgain)
		tx, err = s.run(db.Traced(ctx, s.tracer, s.name, c), trace, earlier, fn)
		if err == nil {
			if trace != "" {
				_, tx.commit = s.tracer.Start(ctx, tracing.Internal, "commit")
			}
			t.Value = tx
			if tx.last != nil {
				last, log := tx.last, tx.bound.log
				t.Evidence = func() *db.Statement { return log.Evidence(last) }
			}
		}
		return err
	}
	err := s.db.Write(ctx, t)
	tx.endCommit(err)
	if tx != nil && tx.mark != (model.ID{}) {
		s.minter.saved(tx.mark, err)
	}
	return s.fault(ctx, err)
}

// errRunsAgain ends the wait for the commit of a transaction that was rolled back.
var errRunsAgain = errors.New("the transaction runs again")

// endCommit ends the span of the wait for the commit, if there is one.
func (t *Tx) endCommit(err error) {
	if t != nil && t.commit != nil {
		t.commit.End(err)
		t.commit = nil
	}
}

// WithSpan makes the statements that follow parts of the span of a context, until back is called.
func (t *Tx) WithSpan(ctx context.Context) (back func()) { return db.WithSpan(t.conn, ctx) }

// run runs fn, and recovers from a panic: others may share the transaction.
func (s *Store) run(c db.Conn, trace string, earlier []*db.Task, fn func(*Tx) error) (tx *Tx, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic in a write: %v\n%s", reason, debug.Stack())
		}
	}()
	tx = &Tx{store: s, conn: c, ctx: context.Background(), earlier: earlier, trace: trace, at: s.timestamp(), texts: new(Texts)}
	if err := tx.begin(true, mayWrite); err != nil {
		return nil, err
	}
	tx.Reader = tx.bound.log.Reader(tx.ctx, c)
	if err := fn(tx); err != nil {
		return tx, err
	}
	if tx.minted {
		if mark, due := s.minter.nextMark(); due {
			tx.mark = mark
			if err := saveMark(c, mark); err != nil {
				return tx, err
			}
		}
	}
	return tx, nil
}

func (s *Store) timestamp() model.Value { return model.TimeValue(model.FormatTime(s.now())) }

// Now is the time of all changes of the transaction.
func (t *Tx) Now() model.Value { return t.at }

// As sets the caller of the changes that follow.
func (t *Tx) As(caller string) { t.caller = caller }

// NewID makes an id that is larger than all before.
func (t *Tx) NewID() model.ID {
	t.minted = true
	id := t.store.minter.next(t.store.now())
	t.newIDs = append(t.newIDs, id)
	return id
}

// NewID makes an id before the transaction that uses it.
func (s *Store) NewID() model.ID { return s.minter.next(s.now()) }

// Savepoint runs fn in a savepoint: if it fails, its writes are undone and the transaction can
// go on.
func (t *Tx) Savepoint(fn func() error) error {
	deltas, last := len(t.deltas), t.last
	var failed error
	err := t.conn.Savepoint(func() bool {
		failed = fn()
		return failed == nil
	})
	if failed != nil {
		t.deltas, t.last = t.deltas[:deltas], last
	}
	if err != nil {
		return t.fault(errors.Join(failed, err))
	}
	return failed
}

func (s *Store) fault(ctx context.Context, err error) error { return db.Fault(ctx, s.db, err) }

// fault is the error that a caller sees. What the database said is its cause, by which the database decides whether the transaction
// runs again.
func (t *Tx) fault(err error) error { return t.store.fault(t.ctx, err) }
