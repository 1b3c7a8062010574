// Package db defines the interfaces that SQLite and PostgreSQL implement, each in its own
// package, and the SQL that both share: names of tables, their definitions and descriptions.
//
// No package above knows which database it uses. Traits state what a database does better one
// way than another; how it does it is in its package.
package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

// Database is an open database. It is used by many goroutines at once.
type Database interface {
	Dialect

	// Traits are facts about the database by which the store chooses between ways to do something.
	Traits() Traits

	// Read returns a connection that reads from one snapshot until release is called. The context
	// cancels its queries. A caller that waits too long for a connection gets ErrBusy. How many read at the same time is
	// bounded by the store: see Traits.
	Read(ctx context.Context, how Use) (c Conn, release func(), err error)

	// Write runs a task in a transaction and returns nil only when it is committed and durable. A
	// failed task leaves nothing, unless the error says that the outcome is unknown: the connection or the disk
	// failed during the commit. Several tasks may share a transaction, so the context can only end the wait for its start.
	Write(ctx context.Context, t *Task) error

	// Migrate runs fn in its own transaction, in which no other process writes and tables can be
	// changed. Foreign keys are checked at the commit or before. The context cancels it. As with Write,
	// everything is durable when it returns nil, and nothing is stored otherwise, unless the error says that this is unknown.
	Migrate(ctx context.Context, fn func(Conn) error) error

	// AssignNumbers gives a number to every change that was committed before the call, and returns
	// the last number. Other servers may do the same; all read the same order, in which changes of
	// one resource have the order of their revisions.
	AssignNumbers(ctx context.Context) (last int64, err error)

	// Notify listens for commits: it calls changed soon after transactions with Evidence were committed, until the context
	// ends. Calls are coalesced. Transactions of other servers are noticed as far as the
	// database notifies of them: callers poll as well.
	Notify(ctx context.Context, changed func()) error

	// Fault translates an error of the database; nil means that it is unexpected.
	Fault(err error) error

	// Close waits for transactions in progress. Later calls fail with ErrClosed.
	Close() error
}

// Traits are facts about a database.
type Traits struct {
	// Name is that of the database in OpenTelemetry.
	Name string
	// ManyWriters: several transactions write concurrently, also those of other servers. Otherwise
	// one server owns the database, and one transaction writes at a time.
	ManyWriters bool
	// RoundTrips: each statement is a round trip to a server, so that one large statement is
	// better than several small ones.
	RoundTrips bool
	// Lateral: the database supports LATERAL.
	Lateral bool
	// HashJoins: the planner decides how often a related resource is read for a condition on it, and joins whole tables by hashes.
	HashJoins bool
	// OrderedSearch: the index of words has the order of ids.
	OrderedSearch bool
	// ShortReads is how many short reads of clients may go on at the same time, PageReads how many pages, and
	// LongReads how many reads for as long as a client takes. OwnReads is how many more short reads and pages may go on than
	// clients may have: those of the server, such as the readiness check, and of the program.
	ShortReads, PageReads, LongReads, OwnReads int
}

// Options are given when a database is opened. Each may be nil or empty.
type Options struct {
	// Finish completes a transaction with the tasks that have succeeded in it, before it
	// is committed. An error rolls it back. NoteCommit is called after the commit.
	Finish func(c Conn, tasks []*Task) (noteCommit func(), err error)
	// Failed is called with the reason when nothing can be written until the database is opened
	// again.
	Failed func(error)
	// Trace is called with each statement of a transaction as it is sent, those that begin and end it
	// included. It may be called by several goroutines at once.
	Trace func(sql string)
	// Direct is a URL of the same database that leads to its server without a pool of connections
	// in between, for Notify. Empty: that of the database.
	Direct string
}

// WithDefaults replaces nil functions.
func (o Options) WithDefaults() Options {
	if o.Finish == nil {
		o.Finish = func(Conn, []*Task) (func(), error) { return func() {}, nil }
	}
	if o.Failed == nil {
		o.Failed = func(error) {}
	}
	if o.Trace == nil {
		o.Trace = func(string) {}
	}
	return o
}

// Task is the work of one caller in a transaction that writes.
type Task struct {
	// Run may be called several times: in a shared transaction, on SQLite then in a savepoint of a shared one, and
	// alone, on PostgreSQL again until a deadline while other transactions win. Earlier runs are rolled back. Earlier are the tasks that have succeeded before it in the same transaction.
	Run func(c Conn, earlier []*Task) error

	// Short says that Run takes about as long as an insert and waits for no other program, so that
	// others may wait for it. Then it may share a transaction, where several can run at the same time.
	Short bool
	// ID is the resource that a short task updates. Zero: it creates one.
	ID model.ID
	// Caller is for whom the task runs: where tasks that are not short wait for each other, callers take turns. Empty: the program.
	Caller string
	// Limit is how long Run may take, all its runs together; zero: any time. When it is over, the next statement fails or, where
	// others wait for the task, the current one. The task fails with ErrTooLong then, whatever Run returns.
	Limit time.Duration

	// Run sets the following fields, which are zero before.

	// Value is for Options.Finish, and for the tasks that follow.
	Value any
	// Evidence is set if the change log has grown by the transaction, so that others are told of it. It returns a condition
	// that matches a row which was appended: that shows whether the transaction was committed when the reply to the commit
	// was lost. Nil: the change log is as it was, so nobody is told, and the task may be run twice.
	Evidence func() *Statement
	// Removed says that rows were removed from a table that is read often. A database that keeps
	// removed rows for a while reclaims their space soon after the commit.
	Removed struct {
		Table string
		Rows  int64
	}
}

// Start runs the task, and forgets what an earlier run has set.
func (t *Task) Start(c Conn, earlier []*Task) error {
	*t = Task{Run: t.Run, Short: t.Short, ID: t.ID, Caller: t.Caller, Limit: t.Limit}
	return t.Run(c, earlier)
}

// Use is the purpose of a connection.
type Use int

// The uses.
const (
	OneQuery      Use = iota // a single query
	ShortRead                // several queries, one after the other
	PageInOne                // a page by a single query, whose rows a client reads
	PageInSeveral            // a page by several queries; a client reads the rows of the last one
	LongRead                 // any number of queries that take any time
)

// Errors of Read and Write.
var (
	ErrClosed = errors.New("the database is closed")
	ErrBusy   = errors.New("all connections are in use")
	// ErrOutdated ends a task that may have sent statements for another version of the schema than the one that Expect found. The task
	// runs again.
	ErrOutdated = errors.New("the schema of the database has just changed")
	// ErrTooLong is that of a task beyond its limit.
	ErrTooLong = errors.New("the transaction has exceeded its time limit")
)

// Fault turns every error of a database into a problem, except the end of the caller's context: that is the problem
// only if it is the cause of the end.
func Fault(ctx context.Context, d Database, err error) error {
	if err == nil {
		return nil
	}
	var list problem.Errors
	var single *problem.Error
	if ctx.Err() != nil {
		if errors.As(context.Cause(ctx), &single) {
			return single
		}
		return ctx.Err()
	}
	if errors.Is(err, ErrTooLong) { // what the statements returned follows from it
		return &problem.Error{Code: problem.CodeTooExpensive, Detail: "The database takes too long for this write. Nothing was changed. Change fewer resources at once.", Cause: err}
	}
	if errors.As(err, &list) || errors.As(err, &single) {
		return err
	}
	if errors.Is(err, ErrClosed) {
		return &problem.Error{Code: problem.CodeUnavailable, Detail: "The server is shutting down. Try again later.", Cause: err}
	}
	if errors.Is(err, ErrBusy) {
		return &problem.Error{Code: problem.CodeUnavailable, Detail: "All database connections are in use. Try again later.", Cause: err}
	}
	if known := d.Fault(err); known != nil {
		return known
	}
	return fault.Internal(err)
}

// MaxWait is how long a request waits for a connection. It is a variable for tests on a machine that may
// stand still for longer.
var MaxWait = 5 * time.Second

// Conn is a connection in a transaction, which may be a snapshot, used by one goroutine. Values are bound to $1, $2, …
// in the order in which they first appear in the text. Only one Rows is open at a time, and one
// more of Cursor.
// After any error outside of a Savepoint, the transaction is of no more use.
type Conn interface {
	// Query returns rows that must be closed. Exec returns how many rows were changed.
	Query(sql string, args ...model.Value) (Rows, error)
	Exec(sql string, args ...model.Value) (changed int, err error)

	// Cursor is Query for rows that are read in parts: other statements can be run between two
	// calls of Next. A row is lost then, so that its columns are read before.
	Cursor(sql string, args ...model.Value) (Rows, error)

	// Batch runs statements in their order, and returns when all are done, with the first
	// error. Where each statement is a round trip, the batch is one, also for several tasks that share a transaction:
	// outside of a Savepoint, other tasks may run before it returns.
	Batch(statements ...Statement) error

	// Insert stores new rows of a collection in their order, each with an entry of the change log. It
	// sets the revision of each record that is stored, and null if another row has its id or its values of
	// a unique group: nothing is left of such a record.
	Insert(*Insertion) error

	// Defer runs statements in their order before the next statement, or before the commit. That
	// statement or the commit may return their error.
	Defer(statements ...Statement) error

	// Savepoint runs fn. If that returns false, everything that it has done is undone, and
	// the transaction can go on. An error is one of the database.
	Savepoint(fn func() (keep bool)) error

	// Announce announces writes to resources. It need not exclude other writers: of several, one succeeds. For the others a
	// later statement, the commit, or Announce itself fails; they queue by what they have announced, and run
	// again (docs/decisions/0010). Who knows all resources in advance announces them together, so that they need not run
	// again for each.
	Announce(...ResourceID) error

	// Expect makes sure that the schema has a version, and keeps it until the transaction ends. If
	// it has another one, the transaction restarts with otherwise, and continues unless that
	// fails. Expect is called first in a transaction. Its error may be returned by the next
	// statement.
	Expect(v Version, otherwise func(Conn) error) error

	// Explain returns the plan of a query with so many parameters, one step in each line. It does not contain
	// the values of parameters.
	Explain(sql string, parameters int) (plan []string, err error)

	// Load inserts rows into a table that no other transaction sees, until next returns none. Names
	// are as stored. Next may be called on another goroutine.
	Load(table string, columns []string, next func() (model.Record, error)) error
}

// Insertion is new rows of a collection, and what their entries in the change log have in common.
type Insertion struct {
	SQL        InsertSQL
	Collection *model.Collection
	Records    []model.Record
	At, Caller model.Value
	// New says that the ids were made in this transaction, so that no other one writes to the same rows.
	New bool
}

// InsertSQL is the statements of Conn.Insert for a collection, as the database needs them. They are made
// once, by Dialect.InsertSQL.
type InsertSQL []string

// ResourceID names a resource.
type ResourceID struct {
	Collection string
	ID         model.ID
}

// Statement is an SQL statement with its values, for Batch and Defer.
type Statement struct {
	SQL  string
	Args []model.Value
	// Stored is called, if it is not nil, when the statement has stored or removed a row, with the
	// revision that the last change of the transaction got. The statement is an INSERT,
	// an UPDATE or a DELETE of one row.
	Stored func(revision int64)
	// Read, if it is not nil, is called with each row of the statement, which is a query. Its error is that
	// of the statement.
	Read func(model.Row) error
}

// Rows is the result of a query. Its columns are read between a Next that
// returned true and the following one.
type Rows interface {
	model.Row
	// Next goes to the next row. False means that there is none, or an error.
	Next() (bool, error)
	Close()
}

// InUse explains an error caused by other users of the database.
func InUse(err error) error {
	return fmt.Errorf("others are using the database, so that it cannot be used for this now: try again, or stop them: %w", err)
}

// BrokenReference: the server looks for references to a resource before it deletes it, but its
// schema may be outdated.
func BrokenReference(cause error) error {
	return &problem.Error{Code: problem.CodeUnavailable, Cause: cause,
		Detail: "A resource in a collection that this server does not know refers to this one. Try again. If that does not help, restart the server with the schema of the database."}
}
