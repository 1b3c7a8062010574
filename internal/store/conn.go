package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/plural-go/plural/schema"
)

// backend is a database: what SQLite and PostgreSQL do differently, and nothing
// else. Each implements all of it.
type backend interface {
	dialect

	// traits are facts about the database that decide which way of doing something
	// is the better one.
	traits() traits

	// read lends a connection on which everything is read from one snapshot,
	// until release is called. The context ends its queries. Any number of long
	// reads leave room for short ones. A caller that waits too long for a
	// connection gets errBusy.
	read(ctx context.Context, how use) (c conn, release func(), err error)

	// write runs a task in a transaction and returns nil only when that is committed
	// and durable. When the task fails nothing of it remains. Several tasks may
	// share a transaction, so the context can only end the wait for its start.
	write(ctx context.Context, t *task) error

	// migrate runs fn in a transaction of its own, in which nobody else writes and
	// tables can be changed. Foreign keys hold when it is committed, and need
	// not hold in between. The context ends it. As with write, everything is
	// durable when it returns nil, and nothing has happened when not.
	migrate(ctx context.Context, fn func(conn) error) error

	// fault translates an error of the database; nil means that it is unexpected.
	fault(err error) error

	// close waits for what is going on. Afterwards everything is refused with errClosed.
	close() error
}

// traits are facts about a database.
type traits struct {
	// shared: several transactions write at the same time, and those of other servers
	// as well. Otherwise one server has the database to itself, and one transaction
	// writes at a time.
	shared bool
	// roundTrips: each statement is a round trip to a server, so that one large
	// statement is better than several small ones. The database knows LATERAL.
	roundTrips bool
	// longReads is how many reads may go on for as long as a client takes.
	longReads int
}

// options are given when a database is opened. Each may be nil.
type options struct {
	// finish completes a transaction with the tasks that have succeeded in it, before it
	// is committed. An error rolls it back. Committed is called after the commit.
	finish func(c conn, tasks []*task) (committed func(), err error)
	// failed is called when nothing can be written any more until the database is opened
	// again, with the reason.
	failed func(error)
}

func (o options) withDefaults() options {
	if o.finish == nil {
		o.finish = func(conn, []*task) (func(), error) { return func() {}, nil }
	}
	if o.failed == nil {
		o.failed = func(error) {}
	}
	return o
}

// task is what one caller does in a transaction that writes.
type task struct {
	// run may be called several times, each time on what the last run left undone.
	// Earlier are the tasks that have succeeded before it in the same transaction.
	run func(c conn, earlier []*task) error

	// Run sets the following fields, which are zero before.

	// value is for options.finish, and for the tasks that follow.
	value any
	// evidence is a condition on the rows of the change log that holds for one of those that
	// the transaction has written. It shows whether the transaction is committed when
	// the answer to the commit was lost. Nil: the task may be run a second time.
	evidence *Statement
	// removed tells that rows were removed from a table that is read often. A database
	// that keeps removed rows for a while makes room soon after the commit.
	removed struct {
		table string
		rows  int64
	}
}

// start runs the task once more.
func (t *task) start(c conn, earlier []*task) error {
	*t = task{run: t.run}
	return t.run(c, earlier)
}

// writeTo runs fn in a transaction of a database.
func writeTo(ctx context.Context, b backend, fn func(conn) error) error {
	return b.write(ctx, &task{run: func(c conn, _ []*task) error { return fn(c) }})
}

// use is what a connection is lent for.
type use int

const (
	oneQuery use = iota // a single query
	briefly             // several queries, one after the other
	onePage             // a single query that may take as long as its client: see conn.Extend
	pages               // several queries, of which the last may take as long as its client: see conn.Extend
	atLength            // any number of queries that take any time
)

var (
	errClosed = errors.New("the database is closed") // close was called
	errBusy   = errors.New("all connections are in use")
)

// maxWait is how long a request waits for a connection.
const maxWait = 5 * time.Second

// conn is a transaction on a connection, in the hands of one goroutine. Values are
// bound to $1, $2, … in the order in which they first appear in the text. At most
// one rows is open at a time.
type conn interface {
	query(sql string, args ...schema.Value) (rows, error)
	exec(sql string, args ...schema.Value) (changed int, err error)

	// Batch runs statements in their order, and returns when all are done, with the first
	// error. Where each statement is a round trip, the batch is one.
	Batch(statements ...Statement) error

	// Defer runs statements ahead of the next one, or of the commit, in their
	// order. An error may be returned by what they are run ahead of.
	Defer(statements ...Statement) error

	// Attempt runs fn. If that returns false, everything that it has done is undone, and
	// the transaction can go on. An error is one of the database.
	Attempt(fn func() (keep bool)) error

	// Lock makes sure that no other transaction writes to a resource until this one ends.
	// Where transactions do not wait for each other, another one may win; then
	// a later statement, the commit, or Lock itself fails, and the task is run again.
	Lock(collection string, id schema.ID) error

	// Expect makes sure that the schema in force has a version, and that it stays in force
	// until the transaction ends. If it has another one, the transaction starts
	// anew with otherwise, and goes on behind it unless that fails. Expect is called
	// first in a transaction. Its error may be returned by the next statement.
	Expect(v version, otherwise func(conn) error) error

	// Extend lets a read that was begun for a page go on for as long as its client
	// takes, so that slow clients do not keep others from their first page.
	Extend() error

	// Load puts rows into a table that nobody else sees, until next returns none. The
	// names are as they are stored. Next may be called on another goroutine.
	Load(table string, columns []string, next func() (schema.Record, error)) error
}

// Statement is an SQL statement with its values, for Batch and Defer.
type Statement struct {
	SQL  string
	Args []schema.Value
	// Stored is called, if it is not nil, when the statement has stored a row, with the
	// revision that the last change of the transaction got. The statement is an INSERT
	// or an UPDATE of one row.
	Stored func(revision int64)
}

// rows is the result of a query. Its columns are read between a next that
// returned true and the following one.
type rows interface {
	schema.Row
	next() (bool, error)
	close()
}

// dialect is what differs in the text of SQL.
type dialect interface {
	// columnType is the type of a column of the kind.
	columnType(kind schema.Kind) string
	// reserved reports whether the database keeps a name to itself.
	reserved(name string) bool
	// tableOptions stands behind the closing parenthesis of a CREATE TABLE.
	tableOptions() string
	// revisionType defines a column that counts up and never gives a number twice.
	revisionType() string
	// lastRevision is the number that revisionType gave last on this connection.
	lastRevision() string
	// changeOrder defines what the change log has beside the columns that are the same
	// everywhere, so that changesAfter can read it in order, up to a limit that is
	// its last argument. Renumbered is run at each start: the database may
	// have moved to where transactions have other numbers.
	changeOrder() (columns string, index []string, renumbered []string)
	changesAfter(position Position) (sql string, args []schema.Value)
	// lastGiven is a query for the highest number that revisionType gave.
	lastGiven() string
	// loading is run before and after the rows of another database are loaded into
	// all tables. They are older than every change that comes, and revisions
	// go on behind the last one that was given there.
	loading(last int64) (before, after []string)
	// nullsFirst and nullsLast stand behind a sort key.
	nullsFirst() string
	nullsLast() string
	// contains is a condition on a text column and a text.
	contains(column, text string) string
	// holdSchema are statements that keep the schema of the database from being changed
	// until the transaction ends, if they come first in it. None: a snapshot is
	// enough.
	holdSchema() []string
	// inlineReferences: foreign keys are part of CREATE TABLE. Otherwise they
	// are added when all tables exist.
	inlineReferences() bool
	// reshape gives the columns of an existing table the form that the schema
	// wants: those named in moves take over the values of others, those that
	// nobody wants are gone, and each is required or not as it should be.
	reshape(c *schema.Collection, have *tableShape, moves map[string]string) []string
	// tryLock is a condition that holds if the transaction gets a lock on two texts, which
	// it keeps to its end, and does not hold if another transaction has it. A
	// transaction that has the whole database to itself has all locks.
	tryLock(first, second string) string
	// skipLocked stands behind a SELECT of rows that are about to be changed, and
	// passes over those that somebody else is changing.
	skipLocked() string
	// catalogue is how to ask which tables there are.
	catalogue() catalogue
}

// catalogue is three queries about the tables of a database.
type catalogue struct {
	columns    string // table, column, type as columnType writes it, 1 if not null; by table and position
	indexes    string // table, index, 1 if unique, column; by table, index and position; without primary keys
	references string // table, column, table referred to, name of the key or ''
}

// one runs a query and hands its first row to read, if there is one.
func one(c conn, read func(schema.Row), sql string, args ...schema.Value) (found bool, err error) {
	err = each(c, func(row schema.Row) bool {
		found = true
		if read != nil {
			read(row)
		}
		return false
	}, sql, args...)
	return found, err
}

// each runs a query and hands its rows to read until that returns false.
func each(c conn, read func(schema.Row) bool, sql string, args ...schema.Value) error {
	rows, err := c.query(sql, args...)
	if err != nil {
		return err
	}
	defer rows.close()
	for {
		more, err := rows.next()
		if err != nil || !more || !read(rows) {
			return err
		}
	}
}

// execEach runs a statement with each list of values, in batches.
func execEach(c conn, sql string, lists []schema.Record) error {
	for chunk := range slices.Chunk(lists, maxBatch) {
		batch := make([]Statement, len(chunk))
		for i, values := range chunk {
			batch[i] = Statement{SQL: sql, Args: values}
		}
		if err := c.Batch(batch...); err != nil {
			return err
		}
	}
	return nil
}

// maxBatch bounds how many statements are in memory at a time.
const maxBatch = 500

// inUse explains an error that comes of others who use the database.
func inUse(err error) error {
	return fmt.Errorf("others are using the database, so that it cannot be used for this now: try again, or stop them: %w", err)
}
