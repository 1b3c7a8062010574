package store

import (
	"context"
	"errors"
	"time"

	"github.com/plural-go/plural/internal/model"
)

// The seam between the store and a database. It is what SQLite and PostgreSQL
// do differently, and nothing else: connections, transactions, rows with typed
// getters, and a dialect of SQL.
type backend interface {
	dialect

	// read lends a connection on which everything is read from one snapshot,
	// until release is called. The context ends its queries. Any number of long
	// reads leave room for short ones. Who waits in vain for a connection gets
	// errBusy.
	read(ctx context.Context, how reading) (c conn, release func(), err error)

	// longReads is how many reads may go on for as long as a client takes.
	longReads() int

	// write runs fn in a transaction and returns nil only when it is committed
	// and durable. When fn fails nothing of it remains. Others may share the
	// transaction's commit, so the context can only end the wait for its start.
	// fn may run more than once, each time on what the last run left undone.
	write(ctx context.Context, fn func(conn) error) error

	// migrate runs fn in a transaction of its own, in which nobody else writes and
	// tables can be changed. Foreign keys hold when it is committed, and need
	// not hold in between. The context ends it. As with write, everything is
	// durable when it returns nil, and nothing has happened when not.
	migrate(ctx context.Context, fn func(conn) error) error

	// soleServer reports whether no other server works on the database: what is in
	// progress at the start was left by one that is gone.
	soleServer() bool

	// complete has shared transactions completed before they are committed.
	complete(ending)

	// failure is why nothing is written until the server is started again, nil if
	// that is not so.
	failure() error

	// fault translates an error of the database; nil means that it is unexpected.
	fault(err error) error

	close() error
}

// grouper is a backend that stores the new resources of several writers at once.
type grouper interface {
	// store stores a new resource whose id was minted, with its change and its deltas, if
	// nothing stands against it. Otherwise nothing has happened, and whatever it is
	// shows when the resource is stored by a transaction.
	store(t *table, wanted *creation)
}

// reading is what a connection is lent for.
type reading int

const (
	oneQuery reading = iota // a single query
	briefly                 // several, one after the other
	aPiece                  // likewise, of what may turn out to be long: see lengthen
	atLength                // for as long as a client takes
)

var (
	errClosed = errors.New("the database is closed") // close was called
	errBusy   = errors.New("all connections are in use")
)

// maxWait is how long a request waits for a connection.
const maxWait = 5 * time.Second

// conn is a connection in the hands of one goroutine. Values are bound to $1,
// $2, … in the order in which they first appear in the text. At most one rows
// is open at a time.
type conn interface {
	query(sql string, args ...model.Value) (rows, error)
	exec(sql string, args ...model.Value) (changed int, err error)
	// later runs a statement ahead of the next one, of a flush, or of the commit.
	// Look, if there is one, gets its first row, if there is one. An error may be
	// that of what it is run ahead of.
	later(look func(model.Row), sql string, args ...model.Value) error
	flush() error

	// put runs a statement that stores one row, as later does. It ends with the dialect's returning. Look
	// gets the number of the last change, if the row was stored.
	put(look func(revision int64), sql string, args ...model.Value) error

	// claims tells which resource the statements that follow write to. An error means that
	// the transaction must be given up, and run again later.
	claims(collection string, id model.ID) error

	// evidence is a condition on the change log that is met only if the transaction is
	// committed. It may be asked when nobody knows.
	evidence(condition string, args ...model.Value)

	// lengthen has what was begun for a piece go on for as long as a client takes, so that
	// those who take their time keep nobody from their first piece.
	lengthen() error

	// note leaves deltas to be written at the end, once for all who share the transaction;
	// false means that nobody does. Unwritten are those that wait for it.
	note(deltas []delta) bool
	unwritten() []delta

	// load puts rows into a table that nobody else sees, until next returns none. The
	// names are as they are stored. Next may be called on another goroutine.
	load(table string, columns []string, next func() (model.Record, error)) error

	// assume runs a query ahead of the next statement. If its first row is not as
	// it should be, the transaction starts anew with otherwise, and goes on
	// behind it unless that fails. It comes ahead of everything but later.
	assume(sql string, holds func(model.Row) bool, otherwise func(conn) error) error
}

// fronter is a connection that can run one query as all of its transaction.
type fronter interface {
	// front runs a query, for as many rows as are taken, with columns of a row ahead of its own, which
	// read gets whether the query has rows or not. How many are taken is $1, and more
	// values follow. The first column
	// of the query must not be null. Nil rows mean that nothing was done, and the transaction can go on.
	front(read func(model.Row), columns []string, sql string, take int64, more ...model.Value) (rows, error)
}

// rows is the result of a query. Its columns are read between a next that
// returned true and the following one.
type rows interface {
	model.Row
	next() (bool, error)
	close()
}

// dialect is what differs in the text of SQL.
type dialect interface {
	// columnType is the type of a column of the kind.
	columnType(kind model.Kind) string
	// reserved reports whether the database keeps a name to itself.
	reserved(name string) bool
	// tableOptions stands behind the closing parenthesis of a CREATE TABLE.
	tableOptions() string
	// revisionType defines a column that counts up and never gives a number twice.
	revisionType() string
	// lastRevision is the number that revisionType gave last on this connection.
	lastRevision() string
	// returning is the end of a statement for conn.put, which stores that number in a
	// column.
	returning(column string) string
	// changeOrder defines what the change log has beside the columns that are the same
	// everywhere, so that changesAfter can read it in order, up to a limit that is
	// its last argument. Renumbered is run at each start: the database may
	// have moved to where transactions have other numbers.
	changeOrder() (columns string, index []string, renumbered []string)
	changesAfter(position Position) (sql string, args []model.Value)
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
	// holdSchema keeps the schema of the database from being changed until the
	// transaction ends, if it comes first in it. Nothing: a snapshot is enough.
	holdSchema() []string
	// inlineReferences: foreign keys are part of CREATE TABLE. Otherwise they
	// are added when all tables exist.
	inlineReferences() bool
	// reshape gives the columns of an existing table the form that the schema
	// wants: those named in moves take over the values of others, those that
	// nobody wants are gone, and each is required or not as it should be.
	reshape(c *model.Collection, have *tableShape, moves map[string]string) []string
	// tryLock asks for a lock on a text, $1, that the transaction holds to its end, and
	// gets whether it has it. Empty: there is one server only.
	tryLock() string
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
func one(c conn, read func(model.Row), sql string, args ...model.Value) (found bool, err error) {
	err = each(c, func(row model.Row) bool {
		found = true
		if read != nil {
			read(row)
		}
		return false
	}, sql, args...)
	return found, err
}

// each runs a query and hands its rows to read until that returns false.
func each(c conn, read func(model.Row) bool, sql string, args ...model.Value) error {
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

// execEach runs a statement with each list of values, and waits once.
func execEach(c conn, sql string, lists []model.Record) error {
	for _, values := range lists {
		if err := c.later(nil, sql, values...); err != nil {
			return err
		}
	}
	return c.flush()
}
