package postgres

import (
	"errors"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// The statements of an insert. Those for many rows take an array for each column, those for one row its values,
// which takes less time. The last two arguments are the time and the caller.
const (
	insertNew = iota // ids that were made in this transaction
	insertManyNew
	insertGiven // all other ids: another transaction may write to the same rows
	insertManyGiven
	setRevisions
)

// nextRevision takes a number of the sequence that PostgreSQL makes for the change log.
const nextRevision = "nextval('" + db.ChangesTable + "_revision_seq')"

// lastRevision is the last number that anybody has taken from it, whatever the snapshot of the transaction.
const lastRevision = "pg_sequence_last_value('" + db.ChangesTable + "_revision_seq')"

// InsertSQL: the rows that are stored get entries in the change log, which the statement returns in the order of the
// rows.
//
// A row whose id was not made in this transaction may have to wait for another transaction that deletes a row with this
// id, and must have the higher revision. Its own may be the lower one, but only if a number was taken from the sequence
// between its own and its end. Then the entry gets another number, which is the revision of the row too: setRevisions
// stores it. The statement also returns the revision with which the first row was stored: queueInsert compares it.
func (d dialect) InsertSQL(t *db.Table, number, version int64) db.InsertSQL {
	last := t.Collection.RevisionColumn()
	values, arrays, columns := make([]string, last), make([]string, last), make([]string, last)
	for i, column := range t.Collection.Columns()[:last] {
		kind, _, _ := strings.Cut(d.ColumnType(column.Kind), " COLLATE ")
		values[i], columns[i] = "$"+strconv.Itoa(i+1), "c"+strconv.Itoa(i)
		arrays[i] = values[i] + "::" + kind + "[]"
	}
	others, filled := t.Filled()
	one := "VALUES (" + strings.Join(values, ", ") + ", " + nextRevision + filled + ")"
	many := "SELECT *, " + nextRevision + filled + " FROM unnest(" + strings.Join(arrays, ", ") + ") AS listed (" + strings.Join(columns, ", ") + ")"
	id, revision, in := t.Columns[model.IDColumn], t.Columns[last], strconv.FormatInt(number, 10)
	insert := func(rows, more, entry, first string) string {
		return "WITH stored AS (INSERT INTO " + t.Name + " (" + t.All + others + ") " + rows + " ON CONFLICT DO NOTHING RETURNING " + id + " AS id, " + revision + " AS revision" + more + ")" +
			" INSERT INTO " + db.ChangesTable + " (" + db.ChangeColumns + ") OVERRIDING SYSTEM VALUE" +
			" SELECT " + entry + ", " + in + ", id, '" + db.Created + "', $" + strconv.Itoa(last+1) + "::timestamptz, $" + strconv.Itoa(last+2) + "::text, " +
			strconv.FormatInt(version, 10) + ", '' FROM stored RETURNING id, revision" + first
	}
	insertAsNew := func(rows string) string { return insert(rows, "", "revision", "") }
	insertAsGiven := func(rows string) string {
		return insert(rows, ", "+lastRevision+" IS DISTINCT FROM "+revision+" AS late", "CASE WHEN late THEN "+nextRevision+" ELSE revision END", ", (SELECT revision FROM stored LIMIT 1)")
	}
	return db.InsertSQL{
		insertNew: insertAsNew(one), insertManyNew: insertAsNew(many),
		insertGiven: insertAsGiven(one), insertManyGiven: insertAsGiven(many),
		setRevisions: "UPDATE " + t.Name + " SET " + revision + " = listed.revision FROM unnest($1::uuid[], $2::bigint[]) AS listed (id, revision) WHERE " + t.Name + "." + id + " = listed.id AND " + t.Name + "." + revision + " <> listed.revision",
	}
}

func (c *connection) Insert(n *db.Insertion) error {
	for rest := n.Records; len(rest) > 0; {
		part := *n
		if part.Records = rest; !n.New {
			part.Records = rest[:untilSameID(rest)]
		}
		if err := c.insertPart(&part); err != nil {
			return err
		}
		rest = rest[len(part.Records):]
	}
	return nil
}

// untilSameID counts the records before the first that has the id of an earlier one. One statement cannot insert both: the
// id of a row that it returns would not tell which of them was stored.
func untilSameID(records []model.Record) int {
	if len(records) == 1 {
		return 1
	}
	seen := map[model.ID]bool{}
	for i, record := range records {
		id := record.ID(model.IDColumn)
		if seen[id] {
			return i
		}
		seen[id] = true
	}
	return len(records)
}

// queueInsert queues the insert of records with different ids. When it has run, late are those whose rows may have been
// stored with other revisions than their entries; none of them is New.
func (c *connection) queueInsert(n *db.Insertion) (late *[]model.Record) {
	last := n.Collection.RevisionColumn()
	sql := insertNew
	if !n.New {
		sql = insertGiven
	}
	args := make(binder, 0, last+2)
	if len(n.Records) > 1 {
		sql++
		for column := range last {
			args = append(args, array{n.Records, column})
		}
	} else {
		for _, value := range n.Records[0][:last] {
			value.Bind(&args)
		}
	}
	n.At.Bind(&args)
	n.Caller.Bind(&args)
	for _, record := range n.Records {
		record[last] = model.Null
	}
	next, before := 0, int64(0)
	late = &[]model.Record{}
	c.altered = true
	c.queued = append(c.queued, deferred{sql: n.SQL[sql], args: args, look: func(row model.Row) error {
		for id := row.ID(0); next < len(n.Records) && n.Records[next].ID(model.IDColumn) != id; {
			next++
		}
		if next == len(n.Records) {
			return errors.New("the database has not returned the new rows in their order")
		}
		revision := row.Int(1)
		n.Records[next][last] = model.IntValue(revision)
		// Rows and entries are stored in turn. A row takes the next revision, and its entry has the same, or takes
		// another if that one came too late. So the entry of a row that keeps its revision follows the entry before, and
		// only after a gap they may differ. The first row is compared with what it has stored (column 2). Another gap is
		// that of a row that was skipped: setRevisions changes nothing then.
		if !n.New && revision != before+1 && (before > 0 || revision != row.Int(2)) {
			*late = append(*late, n.Records[next])
		}
		before = revision
		next++
		return nil
	}})
	return late
}

// insertPart inserts records with different ids.
func (c *connection) insertPart(n *db.Insertion) error {
	late := c.queueInsert(n)
	if err := c.flush(); err != nil || len(*late) == 0 {
		return err
	}
	last := n.Collection.RevisionColumn()
	c.queued = append(c.queued, deferred{sql: n.SQL[setRevisions], args: []any{array{*late, model.IDColumn}, array{*late, last}}})
	return nil
}

// array is the values of a column as an array of PostgreSQL.
type array struct {
	records []model.Record
	column  int
}

// Dimensions and the other methods implement pgtype.ArrayGetter.
func (a array) Dimensions() []pgtype.ArrayDimension {
	return []pgtype.ArrayDimension{{Length: int32(len(a.records)), LowerBound: 1}} // #nosec G115 -- bounded by the size of a request
}

// Index is one value.
func (a array) Index(i int) any {
	var bound binder
	a.records[i][a.column].Bind(&bound)
	return bound[0]
}

// IndexType is unknown: a value may be null.
func (a array) IndexType() any { return nil }
