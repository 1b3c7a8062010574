package db

import (
	"github.com/plural-go/plural/internal/model"
)

// ChangeColumns are the columns of the change log.
const ChangeColumns = "revision, collection, id, kind, at, caller, schema, previous"

// Dialect is what differs in the text of SQL. A text may be empty.
type Dialect interface {
	// ColumnType is the type of a column of the kind.
	ColumnType(kind model.Kind) string
	// Reserved reports whether the database reserves a name.
	Reserved(name string) bool
	// TableOptions follows the closing parenthesis of a CREATE TABLE.
	TableOptions() string
	// RevisionType defines a column that counts up and never gives a number twice.
	RevisionType() string
	// LastRevision is the number that RevisionType gave last on this connection.
	LastRevision() string
	// ChangeOrder defines what the change log has beside the columns that are the same
	// everywhere, so that changes get positions, and what is made when there are rows. Renumbered
	// gives a position to all changes that have none, when nobody else writes. It is run when the
	// database may have moved to where transactions have other numbers.
	ChangeOrder() (columns string, additions, renumbered []string)
	// PositionedLog is the change log with positions, in parentheses: position, ChangeColumns, and
	// the number of the transaction, zero where transactions have none. Changes without a position
	// are not in it.
	PositionedLog() string
	// RemoveLog removes the changes up to position $1. ClearLog removes all, also those without a
	// position; positions that were given are not given again.
	RemoveLog() string
	ClearLog() []string
	// Clock is a query for the time of the database.
	Clock() string
	// PointColumns are three columns of a SELECT that tell where its snapshot stands in the change
	// log: the last position that it sees; the highest revision that it sees, or zero; and its
	// transactions, for ParseSnapshot. The last two are zero and empty where each change has a
	// position at once.
	PointColumns() string
	// LastGiven is a query for the highest number of RevisionType.
	LastGiven() string
	// Loading is run before and after the rows of another database are loaded into
	// all tables. They are older than every change that comes, and revisions
	// go on behind the last one that was given there.
	Loading(last int64) (before, after []string)
	// NullsFirst and NullsLast follow a sort key.
	NullsFirst() string
	NullsLast() string
	// Contains is a condition on a text column and a text.
	Contains(column, text string) string
	// Inside is the value at a path of members in a column of JSON objects, as a value of the kind,
	// which is one of model.Kind.Inside. It is null where there is none. An index can contain it.
	Inside(column string, path []string, kind model.Kind) string
	// HasItems is a condition on the items of JSON arrays. It is false or null where the column is
	// null.
	HasItems(ItemSearch) string
	// HoldSchema are statements that lock the schema until the transaction ends, if they come
	// first in it. None: a snapshot is enough.
	HoldSchema() []string
	// InlineReferences: foreign keys are part of CREATE TABLE. Otherwise they
	// are added when all tables exist.
	InlineReferences() bool
	// Reshape gives the columns of an existing table the form that the schema
	// wants: those named in moves take over the values of others, those that
	// nobody wants are gone, and each is required or not as it should be.
	Reshape(c *model.Collection, have *TableShape, moves map[string]string) []string
	// TryLock is a condition that is true if the transaction gets a lock on two texts, which it
	// keeps until its end, and false if another transaction has it. A transaction that has locked
	// the whole database has all locks.
	TryLock(first, second string) string
	// SkipLocked follows a SELECT of rows to be changed, and skips rows that are locked.
	SkipLocked() string
	// Catalogue is how to ask which tables there are.
	Catalogue() Catalogue
}

// ItemSearch asks for arrays that have one of some items, or all of them.
type ItemSearch struct {
	Column string
	Kind   model.Kind    // of the items, one of model.Kind.Item
	Values []model.Value // different ones, at least one
	All    bool
	Arg    func(model.Value) string // adds a placeholder

	// Index is the name of the index on the items of the column, and ID the id of the resource. Empty:
	// there is none.
	Index, ID string
}

// Catalogue is three queries about the tables of a database.
type Catalogue struct {
	Columns    string // table, column, type as ColumnType writes it, 1 if not null; by table and position
	Indexes    string // table, index, 1 if unique, column; by table, index and position; without primary keys
	References string // table, column, table referred to, name of the key or ''
}
