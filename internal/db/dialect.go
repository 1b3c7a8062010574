package db

import (
	"github.com/plural-go/plural/internal/model"
)

const (
	// ChangeColumns are the columns of the change log that both databases have.
	ChangeColumns = "revision, " + EntryColumns
	// EntryColumns are those of them that an INSERT gives values; the database assigns the revision.
	EntryColumns = "collection, id, kind, at, caller, schema, previous"
)

// Dialect is the SQL text that differs between databases. A text may be empty.
type Dialect interface {
	// ColumnType is the SQL type of a column for values of a kind.
	ColumnType(kind model.Kind) string
	// Reserved reports whether a name cannot be used for a table or a column as it is.
	Reserved(name string) bool
	// TableOptions follows the closing parenthesis of a CREATE TABLE.
	TableOptions() string
	// RevisionType is the type of a column that is numbered by the database: numbers increase and
	// are never used again.
	RevisionType() string
	// LastRevision is an expression for the last number of a RevisionType on this connection.
	LastRevision() string
	// ChangeOrder defines what gives numbers to the changes of the log: more columns of its
	// table, and statements that run once the table has its rows. The statements renumbered
	// give a number to every change that has none. They run while no other process writes, when
	// the database may have moved to a server on which transactions have other numbers.
	ChangeOrder() (columns string, additions, renumbered []string)
	// PositionedLog is a subquery in parentheses for the change log. Its columns are position,
	// ChangeColumns, and the number of the transaction, zero if transactions have no numbers. It
	// leaves out changes that have no number yet.
	PositionedLog() string
	// RemoveLog removes the changes up to number $1. ClearLog removes all changes, also those
	// without a number. Neither lets a number be used again.
	RemoveLog() string
	ClearLog() []string
	// Clock is a query for the current time of the database server.
	Clock() string
	// PointColumns are three columns of a SELECT that say which changes its snapshot contains: the
	// last number, the highest revision, and the transactions of the snapshot, for ParseSnapshot.
	// The last two are zero and empty if each change has a number as soon as it is committed.
	PointColumns() string
	// LastGiven is a query for the highest number that a RevisionType has had.
	LastGiven() string
	// Loading returns statements that run before and after the rows of another database are loaded
	// into all tables. Last is the highest revision there: new revisions are higher.
	Loading(last int64) (before, after []string)
	// InsertSQL returns the statements of Conn.Insert for a table, which has a number in the change log
	// under a version of the schema.
	InsertSQL(t *Table, number, version int64) InsertSQL
	// Nulls follows a sort key in ORDER BY: null is the smallest value.
	Nulls(descending bool) string
	// Contains is the condition that a text column contains a text.
	Contains(column, text string) string
	// Truncate is a column of dates or date-times, truncated in UTC to a unit: hour, day, week, month, quarter or year. A week
	// begins on Monday. That of the first days of the year 0 is before all texts of dates, and is none itself.
	Truncate(column string, kind model.Kind, unit string) string
	// Average is the double that is nearest to an average. The sum has two parts, the higher of which counts 2³² times; it is
	// divided by the count, and by 10 as often as the scale says. Null if the count is zero.
	Average(high, low, count string, scale int) string
	// Search is the SQL of a table with the words of resources.
	Search(table string) SearchSQL
	// List is a text for Listed of texts that have only hexadecimal digits and dashes. Listed is such
	// a text as a table expression with the column value, and ToID makes an id of a text. ListedIDs does both. InIDs is
	// the condition that a column has one of the ids of such a text, for which an index of the column is used.
	List(texts []string) model.Value
	Listed(placeholder string) string
	ListedIDs(placeholder string) string
	ToID(text string) string
	InIDs(column, placeholder string) string
	// JSON is a column as JSON text, which model.Kind.ParseValue reads, 'null' where it is null.
	JSON(column string, kind model.Kind) string
	// Searched is a condition on the id of a resource: the words of the resource, which the table has, contain the
	// terms. With byIndex it first finds all such resources in the index; otherwise it reads the words of each
	// resource that fulfils the other conditions. Arg adds an argument and returns its placeholder.
	Searched(table, id string, terms SearchTerms, byIndex bool, arg func(string) string) string
	// FindSearched is a query for resources in the table that may have the terms, at most the number most. It
	// returns the id of each and whether the resource has the terms. Common is true of each term that many
	// resources have. The query may look up only the other terms in the index.
	FindSearched(table string, terms SearchTerms, common []bool, most string, arg func(string) string) string
	// SampleSearched is a query on the first or the last resources of the table, at most the number most. It returns
	// how many resources it read, how many of them have all terms, and how many have each term. With
	// Traits.OrderedSearch, it reads only resources that the index finds, and is empty if all of them have the terms.
	SampleSearched(table string, terms SearchTerms, last bool, most string, arg func(string) string) string
	// SearchJoin is a table expression: the resources that may have the terms, joined to their rows in the table with
	// the ids. It reads them in the order of SearchMatch, in either direction, until LIMIT. SearchHolds is the
	// condition that a row has the terms. SearchBound is the condition that a row is not before the resource with an
	// id, or not after it with upTo.
	SearchJoin(table, resources, ids string, terms SearchTerms, arg func(string) string) string
	SearchHolds(terms SearchTerms, arg func(string) string) string
	SearchBound(table string, upTo bool, id string) string
	// Inside is the value at a path of members in a column of JSON objects, as a value of the kind,
	// which is one of model.Kind.Inside. It is null where there is none. An index can contain it.
	Inside(column string, path []string, kind model.Kind) string
	// HasItems is a condition on the items of JSON arrays. It is false or null where the column is
	// null.
	HasItems(ItemSearch) string
	// CreateItemIndex returns statements that create an index on the items, of a kind of model.Kind.Item, of a
	// column of JSON arrays, for HasItems. DropIndex returns statements that drop an index of any kind.
	CreateItemIndex(name, table, column string, kind model.Kind) []string
	DropIndex(name string) []string
	// ItemsDiffer is a query for the number of resources whose items in such an index are not those of
	// their arrays, and the id of one. Empty: the database guarantees that they agree.
	ItemsDiffer(name, table, column string, kind model.Kind) string
	// HoldSchema returns statements that prevent migrations until the transaction ends. If they are not
	// the first of the transaction, its snapshot may be that from before a migration. None: the snapshot is enough.
	HoldSchema() []string
	// InlineReferences reports whether foreign keys are part of CREATE TABLE. Otherwise they are
	// added when all tables exist.
	InlineReferences() bool
	// AlterTable returns statements that give an existing table the columns of its collection. A
	// column in moves is replaced by the column that is its value there. Columns that the
	// collection does not have are dropped, and NOT NULL is set or removed.
	AlterTable(c *model.Collection, have *TableDefinition, moves map[string]string) []string
	// TryLock is a condition that tries to lock a pair of texts until the transaction ends. It is
	// true if that succeeds, and false if another transaction has the lock. A transaction that has
	// locked the whole database has all locks.
	TryLock(first, second string) string
	// SkipLocked follows a SELECT of rows that will be changed. It makes it skip locked rows.
	SkipLocked() string
	// Catalogue returns queries about the tables that exist.
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
	// Columns: table, column, type as ColumnType returns it, 1 if NOT NULL. In the order of tables
	// and their columns.
	Columns string
	// Indexes: table, index, 1 if unique, column, 1 if it descends. In the order of tables, indexes and their columns,
	// without primary keys.
	Indexes string
	// References: table, column, referenced table, name of the foreign key or an empty text.
	References string
}
