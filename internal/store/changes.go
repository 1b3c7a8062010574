package store

import (
	"context"
	"time"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// written is a change that a transaction has appended to the change log.
type written struct {
	revision int64
	change   []model.Value // arguments of insertChange without the last one
}

const (
	changeColumns = "collection, id, kind, at, caller, schema, previous"
	insertChange  = "INSERT INTO " + db.ChangesTable + " (" + changeColumns + ") VALUES ($1, $2, $3, $4, $5, $6, $7)"
)

// change returns the statement that appends to the change log, and calls stored when it has
// done so. Previous is what the log keeps of the state before. The statement that follows gets
// its revision by LastRevision.
func (t *Tx) change(c *model.Collection, kind ChangeKind, id model.ID, previous []byte, stored func(*written)) db.Statement {
	args := []model.Value{
		model.IntValue(t.store.tables[c].log.Number), model.IDValue(id), model.TextValue(string(kind)), t.at, model.TextValue(t.caller),
		model.IntValue(t.store.own), model.TextValue(string(previous)),
	}
	return db.Statement{SQL: insertChange, Args: args, Stored: func(revision int64) { stored(&written{revision, args[:len(args)-1]}) }}
}

// evidence is a condition that matches the last change of the transaction, nil if there is
// none.
func (t *Tx) evidence() *db.Statement {
	if t.last == nil {
		return nil
	}
	return &db.Statement{
		SQL:  "revision = $1 AND collection = $2 AND id = $3 AND kind = $4 AND at = $5 AND caller = $6 AND schema = $7",
		Args: append([]model.Value{model.IntValue(t.last.revision)}, t.last.change...),
	}
}

// Deleted returns the last state of a deleted resource, nil if the change log no longer has
// it.
func (t *Tx) Deleted(c *model.Collection, id model.ID) (model.Record, error) {
	log := t.store.tables[c].log
	var revision int64
	var previous []byte
	found, err := db.One(t.conn, func(row model.Row) { revision, previous = row.Int(0), row.AppendText(nil, 1) },
		"SELECT revision, previous FROM "+db.ChangesTable+" WHERE collection = $1 AND id = $2 AND kind = '"+db.Deleted+"' ORDER BY revision DESC LIMIT 1",
		model.IntValue(log.Number), model.IDValue(id))
	if err != nil || !found {
		return nil, t.fault(err)
	}
	record := log.blank(id)
	err = log.undo(record, revision, previous)
	return record, t.fault(err)
}

// ChangedBefore returns the last change of a resource before a revision, nil if the change log
// no longer has it. Once a transaction has changed a resource, no other can until it ends, so
// this is the transaction's own change if there is one. Its position is unknown.
func (t *Tx) ChangedBefore(revision int64, c *model.Collection, id model.ID) (*LogEntry, error) {
	var found []LogEntry
	var previous [][]byte
	err := db.Each(t.conn, func(row model.Row) bool {
		found = append(found, LogEntry{Revision: row.Int(0), Collection: c, ID: id, Kind: ChangeKind(row.AppendText(nil, 1))})
		previous = append(previous, row.AppendText(nil, 2))
		return true
	}, "SELECT revision, kind, previous FROM "+db.ChangesTable+" WHERE revision < $1 AND collection = $2 AND id = $3 ORDER BY revision DESC LIMIT 1",
		model.IntValue(revision), model.IntValue(t.store.tables[c].log.Number), model.IDValue(id))
	if err == nil {
		err = t.states(found, previous, 0)
	}
	if err != nil || len(found) == 0 {
		return nil, t.fault(err)
	}
	return &found[0], t.fault(found[0].Unreadable)
}

// DeleteOldChanges removes the beginning of the change log, up to the first change that is not
// older than age by the clock of the database. Changes without a position stay.
func (s *Store) DeleteOldChanges(ctx context.Context, age time.Duration) error {
	if _, err := s.Sequence(ctx); err != nil {
		return err
	}
	for {
		removed := 0
		err := s.Write(ctx, func(t *Tx) (err error) {
			removed, err = t.removeOldest(age)
			return err
		})
		if err != nil || removed < deleteBatch {
			return err
		}
	}
}

// removeOldest removes a batch from the beginning of the change log.
func (t *Tx) removeOldest(age time.Duration) (removed int, err error) {
	now, err := t.store.clock(t.conn)
	if err != nil {
		return 0, err
	}
	floor, err := db.ReadFloor(t.conn)
	if err != nil {
		return 0, err
	}
	before := model.FormatTime(now.Add(-age))
	err = db.Each(t.conn, func(row model.Row) bool {
		at := string(row.AppendText(nil, 2))
		if at >= before {
			return false
		}
		floor.Position, floor.Revision, floor.At = row.Int(0), max(floor.Revision, row.Int(1)), at
		removed++
		return true
	}, "SELECT position, revision, at FROM "+t.store.db.PositionedLog()+" AS log WHERE position > $1 ORDER BY position LIMIT $2",
		model.IntValue(floor.Position), model.IntValue(deleteBatch))
	if err != nil || removed == 0 {
		return 0, err
	}
	if _, err := t.conn.Exec(t.store.db.RemoveLog(), model.IntValue(floor.Position)); err != nil {
		return 0, err
	}
	return removed, db.SaveFloor(t.conn, floor)
}

// databaseTime asks the database for the time.
func (s *Store) databaseTime(c db.Conn) (now time.Time, err error) {
	var text []byte
	if _, err = db.One(c, func(row model.Row) { text = row.AppendText(nil, 0) }, s.db.Clock()); err != nil {
		return now, err
	}
	return time.Parse(time.RFC3339Nano, string(text))
}
