package changelog

import (
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// Appended is a change that a transaction has appended to the log.
type Appended struct {
	Revision int64
	values   []model.Value // arguments of insertChange
}

const (
	changeColumns = "collection, id, kind, at, caller, schema, previous"
	insertChange  = "INSERT INTO " + db.ChangesTable + " (" + changeColumns + ") VALUES ($1, $2, $3, $4, $5, $6, $7)"
)

// Append returns the statement that appends a change, which has no position and no revision yet, and
// calls stored when it has done so. The statement that follows gets its revision by LastRevision.
func (l *Log) Append(e *Entry, stored func(*Appended)) db.Statement {
	table := l.tables[e.Collection]
	values := []model.Value{
		model.IntValue(table.Number), model.IDValue(e.ID), model.TextValue(string(e.Kind)), e.At, model.TextValue(e.Caller),
		model.IntValue(l.version), model.TextValue(string(table.previous(e))),
	}
	return db.Statement{SQL: insertChange, Args: values, Stored: func(revision int64) { stored(&Appended{revision, values}) }}
}

// Evidence is a condition that matches the change, nil if there is none.
func (a *Appended) Evidence() *db.Statement {
	if a == nil {
		return nil
	}
	return &db.Statement{
		SQL:  "revision = $1 AND collection = $2 AND id = $3 AND kind = $4 AND at = $5 AND caller = $6 AND schema = $7 AND previous = $8",
		Args: append([]model.Value{model.IntValue(a.Revision)}, a.values...),
	}
}

// RemoveBefore removes changes from the beginning of the log, up to the first that is not older than
// a time, but at most a number of them. Changes without a position stay.
func (r *Reader) RemoveBefore(before string, most int) (removed int, err error) {
	floor, err := db.ReadFloor(r.conn)
	if err != nil {
		return 0, err
	}
	err = db.Each(r.conn, func(row model.Row) bool {
		at := string(row.AppendText(nil, 2))
		if at >= before {
			return false
		}
		floor.Position, floor.Revision, floor.At = row.Int(0), max(floor.Revision, row.Int(1)), at
		removed++
		return true
	}, "SELECT position, revision, at FROM "+r.log.db.PositionedLog()+" AS log WHERE position > $1 ORDER BY position LIMIT $2",
		model.IntValue(floor.Position), model.IntValue(int64(most)))
	if err != nil || removed == 0 {
		return 0, err
	}
	if _, err := r.conn.Exec(r.log.db.RemoveLog(), model.IntValue(floor.Position)); err != nil {
		return 0, err
	}
	return removed, db.SaveFloor(r.conn, floor)
}
