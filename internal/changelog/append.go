package changelog

import (
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/tracing"
)

const insertChange = "INSERT INTO " + db.ChangesTable + " (" + db.EntryColumns + ") VALUES ($1, $2, $3, $4, $5, $6, $7)"

// AppendStatement returns the statement that appends a change, which has no number and no revision yet. The
// statement that follows gets its revision by db.Dialect.LastRevision.
func (l *Log) AppendStatement(e *Entry) db.Statement {
	table := l.table(e.Collection)
	values := []model.Value{
		model.IntValue(table.Number), model.IDValue(e.ID), model.TextValue(string(e.Kind)), e.At, model.TextValue(tracing.Join(e.Traceparent, e.Caller)),
		model.IntValue(l.version), model.TextValue(string(table.previous(e))),
	}
	return db.Statement{SQL: insertChange, Args: values}
}

// Number is how the log names a collection.
func (l *Log) Number(c *model.Collection) int64 { return l.table(c).Number }

// Evidence is a condition that matches a change that was appended. It does not use the number and the states of the entry.
func (l *Log) Evidence(e *Entry) *db.Statement {
	return &db.Statement{
		SQL: "revision = $1 AND collection = $2 AND id = $3 AND kind = $4 AND at = $5 AND caller = $6 AND schema = $7",
		Args: []model.Value{
			model.IntValue(e.Revision), model.IntValue(l.Number(e.Collection)), model.IDValue(e.ID), model.TextValue(string(e.Kind)),
			e.At, model.TextValue(tracing.Join(e.Traceparent, e.Caller)), model.IntValue(l.version),
		},
	}
}

// AppendAllArgs is how many arguments AppendAllStatement has before those of the condition.
const AppendAllArgs = 2

// AppendAllStatement returns the statement that appends a change of each resource that a condition finds, in an order. The
// condition has the arguments args, from $3 on. It runs before the change: the rows have the former values.
// Changed is the columns whose former values are kept; nil: all of them. Of the entry the collection, the kind, the
// time, the caller and the trace are used.
func (l *Log) AppendAllStatement(e *Entry, changed []int, where, order string, args ...model.Value) db.Statement {
	table := l.table(e.Collection)
	id := table.rows.Columns[model.IDColumn]
	return db.Statement{
		SQL: "INSERT INTO " + db.ChangesTable + " (" + db.EntryColumns + ") SELECT " + strconv.FormatInt(table.Number, 10) + ", " + id + ", " + db.Literal(string(e.Kind)) + ", CAST($1 AS " + l.db.ColumnType(model.KindDateTime) +
			"), CAST($2 AS text), " + strconv.FormatInt(l.version, 10) + ", " + table.previousSQL(l.db, changed) + " FROM " + table.rows.Name + " WHERE " + where + " ORDER BY " + order,
		Args: append([]model.Value{e.At, model.TextValue(tracing.Join(e.Traceparent, e.Caller))}, args...),
	}
}

// LastRevision is an expression for the revision of the last change of a resource, whose id is an
// expression.
func (l *Log) LastRevision(c *model.Collection, id string) string {
	return "(SELECT max(revision) FROM " + db.ChangesTable + " AS _log WHERE _log.collection = " + strconv.FormatInt(l.table(c).Number, 10) + " AND _log.id = " + id + ")"
}

// previousSQL is an SQL expression for former values as encode writes them.
func (l *table) previousSQL(d db.Dialect, changed []int) string {
	var parts []string
	add := func(key []byte, column string, kind model.Kind) {
		separator := db.Choose(len(parts) > 0, ",", "{")
		parts = append(parts, db.Literal(separator+string(key))+" || "+d.JSON(column, kind))
	}
	for i, key := range l.keys {
		if key != nil && (changed == nil || slices.Contains(changed, i)) {
			add(key, l.rows.Columns[i], l.collection.Columns()[i].Kind)
		}
	}
	for i, other := range l.rows.Others { // servers that have these columns need the last values
		if changed == nil && l.others[i] != nil {
			add(l.others[i], other.Name, l.rows.Stored.Columns()[other.Column].Kind)
		}
	}
	if len(parts) == 0 {
		return "'{}'"
	}
	return concatenate(append(parts, "'}'"))
}

// concatenate joins expressions of texts in a tree, because SQLite bounds the depth of an expression.
func concatenate(parts []string) string {
	if len(parts) <= 8 {
		return "(" + strings.Join(parts, " || ") + ")"
	}
	half := len(parts) / 2
	return "(" + concatenate(parts[:half]) + " || " + concatenate(parts[half:]) + ")"
}

// RemoveBefore removes changes from the beginning of the log, up to the first that is not older than
// a time, but at most a number of them. Changes without a number stay.
func (r *Reader) RemoveBefore(before string, most int) (removed int, err error) {
	floor, err := db.ReadFloor(r.conn)
	if err != nil {
		return 0, err
	}
	err = db.EachWhile(r.conn, func(row model.Row) bool {
		at := row.Text(2)
		if at >= before {
			return false
		}
		floor.Number, floor.Revision, floor.At = row.Int(0), max(floor.Revision, row.Int(1)), at
		removed++
		return true
	}, "SELECT position, revision, at FROM "+r.log.db.PositionedLog()+" AS log WHERE position > $1 ORDER BY position LIMIT $2",
		model.IntValue(floor.Number), model.IntValue(int64(most)))
	if err != nil || removed == 0 {
		return 0, err
	}
	if _, err := r.conn.Exec(r.log.db.RemoveLog(), model.IntValue(floor.Number)); err != nil {
		return 0, err
	}
	return removed, db.SaveFloor(r.conn, floor)
}
