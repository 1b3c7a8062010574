package postgres

import (
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// The statements of an insert.
const (
	insertNew = iota
	insertChosen
	setRevisions
)

// InsertSQL takes any number of rows, as an array for each column, and then the time and the caller. The rows that
// are stored get entries in the change log, which the statement returns in the order of the rows.
//
// A row whose id was made elsewhere may have to wait for another transaction that deletes a row with this id, and
// must get its revision after that. It is stored with the revision zero, and another statement sets it.
func (d dialect) InsertSQL(t *db.Table, number, version int64) db.InsertSQL {
	last := t.Collection.RevisionColumn()
	arrays, columns := make([]string, last), make([]string, last)
	for i, column := range t.Collection.Columns()[:last] {
		kind, _, _ := strings.Cut(d.ColumnType(column.Kind), " COLLATE ")
		arrays[i], columns[i] = "$"+strconv.Itoa(i+1)+"::"+kind+"[]", "c"+strconv.Itoa(i)
	}
	insert := func(revision, entry, number string) string {
		return "WITH stored AS (INSERT INTO " + t.Name + " (" + t.All + ") SELECT *, " + revision +
			" FROM unnest(" + strings.Join(arrays, ", ") + ") AS listed (" + strings.Join(columns, ", ") + ") ON CONFLICT DO NOTHING RETURNING " +
			t.Columns[model.IDColumn] + " AS id, " + t.Columns[last] + " AS revision) INSERT INTO " + db.ChangesTable + " (" + entry + "collection, id, kind, at, caller, schema, previous)" +
			db.Choose(entry == "", "", " OVERRIDING SYSTEM VALUE") + " SELECT " + entry + number + ", id, '" + db.Created + "', $" + strconv.Itoa(last+1) + "::timestamptz, $" + strconv.Itoa(last+2) + "::text, " +
			strconv.FormatInt(version, 10) + ", '' FROM stored RETURNING id, revision"
	}
	in := strconv.FormatInt(number, 10)
	id := t.Columns[model.IDColumn]
	return db.InsertSQL{
		insertNew:    insert("nextval((SELECT "+revisionSequence+"::regclass))", "revision, ", in),
		insertChosen: insert("0", "", in),
		setRevisions: "UPDATE " + t.Name + " SET " + t.Columns[last] + " = (SELECT max(revision) FROM " + db.ChangesTable + " AS entry WHERE entry.collection = " + in +
			" AND entry.id = " + t.Name + "." + id + ") WHERE " + id + " = ANY ($1::uuid[]) AND " + t.Columns[last] + " = 0",
	}
}

func (c *connection) Insert(n *db.Insertion) error {
	if len(n.Records) == 0 {
		return nil
	}
	last := n.Collection.RevisionColumn()
	args := make([]any, 0, last+2)
	for column := range last {
		args = append(args, array{n.Records, column})
	}
	args = append(args, arguments([]model.Value{n.At, n.Caller})...)
	for _, record := range n.Records {
		record[last] = model.Null
	}
	next := 0
	c.altered = true
	insert := deferred{sql: n.SQL[insertChosen], args: args, look: func(row model.Row) error {
		for id := row.ID(0); n.Records[next].ID(model.IDColumn) != id; {
			next++
		}
		n.Records[next][last] = model.IntValue(row.Int(1))
		next++
		return nil
	}}
	if n.New {
		insert.sql = n.SQL[insertNew]
	}
	c.queued = append(c.queued, insert)
	if !n.New {
		c.queued = append(c.queued, deferred{sql: n.SQL[setRevisions], args: args[:1]})
	}
	return c.flush()
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
