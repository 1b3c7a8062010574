// Package store stores the resources of a schema in a database, with the queue of operations,
// idempotency records and API keys. Package statement writes the SQL that selects resources, package changelog
// reads and writes the change log in the same transactions, and Conn.Insert, which each database implements, stores
// a creation: the row together with its entry in the change log.
//
// Every write appends to the change log, and records the change of the totals as deltas, in the same
// transaction; the deltas are merged later. Every read takes a filter as its scope: the parent in the path, and the rule of the caller. A write reads the
// resource under such a scope first, in the same transaction.
package store

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/plural-go/plural/internal/catalog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/db/databases"
	"github.com/plural-go/plural/internal/limit"
	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/tracing"
	"github.com/plural-go/plural/internal/versions"
)

// Store is a database with the tables of a schema.
type Store struct {
	db         db.Database
	schema     *model.Schema
	versions   []versions.Version // see Versions
	minter     minter
	pending    atomic.Int64 // pending deltas, as far as this server knows
	compatible atomic.Pointer[compatibility]
	failed     atomic.Pointer[error] // why writes are refused; nil: they are not
	short      *limit.Gate           // for short reads of clients
	pages      *limit.Gate           // for pages that clients read
	long       *limit.Gate           // for pages that are read at the speed of a client
	declaredIn map[string]int64      // see DeclaredIn; by the name of the collection
	version    int64                 // of the schema that the store was opened with
	secret     []byte                // see Secret
	tracer     tracing.Tracer        // nil: there is none
	name       string                // of the database, for the tracer
	now        func() time.Time
	clock      func(db.Conn) (time.Time, error) // of the database
}

// Option changes how a database is opened.
type Option func(*opening)

type opening struct {
	applied func(*migrate.Step)
	trace   func(sql string)
	direct  string
	tracer  tracing.Tracer
}

// MigrateAdditive allows Open to migrate the database if all steps are additive. Applied is
// called with each step when all are done.
func MigrateAdditive(applied func(*migrate.Step)) Option {
	return func(o *opening) { o.applied = applied }
}

// ListenAt sets the URL at which Notify listens, if that is not the URL of the database: see
// db.Options.
func ListenAt(url string) Option { return func(o *opening) { o.direct = url } }

// Tracer sets what gets the statements of traces that are sampled, and the waits for commits.
func Tracer(t tracing.Tracer) Option { return func(o *opening) { o.tracer = t } }

// Trace sets a function that is called with each statement of a transaction: see db.Options.
func Trace(trace func(sql string)) Option { return func(o *opening) { o.trace = trace } }

// Open opens a database by its URL: sqlite:FILE or postgres://…. An empty database gets its
// tables. One that does not fit the schema is refused with a *db.MisfitError, unless an option
// allows to migrate it.
func Open(ctx context.Context, url string, s *model.Schema, given ...Option) (*Store, error) {
	var o opening
	for _, option := range given {
		option(&o)
	}
	st := &Store{schema: s, now: time.Now, tracer: o.tracer}
	st.clock = st.databaseTime
	b, err := databases.Open(ctx, url, db.Options{Trace: o.trace, Direct: o.direct, Finish: st.finish, Failed: func(err error) { st.failed.Store(&err) }})
	if err != nil {
		return nil, databases.Explain(err)
	}
	st.db = b
	traits := b.Traits()
	st.name = traits.Name
	st.short, st.pages = limit.NewGate(traits.ShortReads, traits.OwnReads), limit.NewGate(traits.PageReads, traits.OwnReads)
	st.long = limit.NewGate(traits.LongReads, 0)
	if err := migrate.Fit(ctx, b, s, st.now(), o.applied, st.start); err != nil {
		return nil, databases.Explain(errors.Join(err, b.Close()))
	}
	return st, nil
}

// start is called in a transaction in which the database has the schema.
func (s *Store) start(c db.Conn) error {
	// A write reveals now what would otherwise fail the first request.
	if _, err := c.Exec("UPDATE " + db.MetaTable + " SET value = value WHERE key = 'format'"); err != nil {
		return fmt.Errorf("the database cannot be written: %w", err)
	}
	if _, err := db.One(c, func(row model.Row) { s.pending.Store(row.Int(0)) }, "SELECT count(*) FROM "+db.DeltasTable); err != nil {
		return err
	}
	mark, err := readMark(c)
	if err != nil {
		return err
	}
	s.minter.start(mark)
	current, err := db.ReadVersion(c)
	if err != nil {
		return err
	}
	history, err := historyTag(c)
	if err != nil {
		return err
	}
	state, err := catalog.ReadState(c)
	if err != nil {
		return err
	}
	layout, err := state.Layout(s.schema)
	if err != nil {
		return err
	}
	s.version = layout.Version
	bound, err := s.bind(state, nil)
	if err != nil {
		return err
	}
	s.compatible.Store(&compatibility{Version: current, history: history, reads: true, writes: true, binding: bound})
	if s.secret, err = ensureSecret(c); err != nil {
		return err
	}
	if s.declaredIn, err = catalog.DeclaredIn(c, s.version); err != nil {
		return err
	}
	if s.schema.Versions().Newest > 0 {
		s.versions, err = versions.Read(c, s.schema, layout.Numbers)
	}
	return err
}

// Close finishes accepted writes and closes the database.
func (s *Store) Close() error { return s.db.Close() }

// Ping checks that the database answers and has the expected schema.
func (s *Store) Ping(ctx context.Context) error {
	tx, err := s.Read(ctx)
	if err != nil {
		return err
	}
	defer tx.Close()
	now, err := s.recheck(tx.conn)
	if err == nil && !now.writes {
		err = otherSchema()
	}
	return s.fault(ctx, err)
}

// Health returns why nothing can be written until the server is restarted, or nil.
func (s *Store) Health() error {
	if failed := s.failed.Load(); failed != nil {
		return s.fault(context.Background(), *failed)
	}
	return nil
}

// MostReads is how many pages may be read at the same time, and how many reads may go on for as long
// as a client takes.
func (s *Store) MostReads() (pages, long int) {
	traits := s.db.Traits()
	return traits.PageReads, traits.LongReads
}
