package store

import (
	"context"
	"time"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// change returns the statement that appends to the change log: the representation after the
// change, or the last one of a deleted resource. The statement that follows gets its number by
// LastRevision.
func (t *Tx) change(c *model.Collection, kind string, id model.ID, representation []byte) db.Statement {
	return db.Statement{SQL: insertChange, Args: []model.Value{
		model.TextValue(c.Name), model.IDValue(id), model.TextValue(kind), t.at, model.TextValue(t.caller), model.TextValue(string(representation))}}
}

const insertChange = "INSERT INTO " + db.ChangesTable + " (collection, id, kind, at, caller, representation) VALUES ($1, $2, $3, $4, $5, $6)"

// changed records a change that has been written.
func (t *Tx) changed(c *model.Collection, kind string, record model.Record, representation []byte) {
	t.last = &Change{Collection: c.Name, ID: record.ID(model.IDColumn), Kind: kind, Representation: representation}
}

// Deleted returns the last state of a deleted resource, nil if the change log no longer has
// it.
func (t *Tx) Deleted(c *model.Collection, id model.ID) (record model.Record, err error) {
	var representation []byte
	found, err := db.One(t.conn, func(row model.Row) { representation = row.AppendText(nil, 0) },
		"SELECT representation FROM "+db.ChangesTable+" WHERE collection = $1 AND id = $2 AND kind = 'delete' ORDER BY revision DESC LIMIT 1",
		model.TextValue(c.Name), model.IDValue(id))
	if err != nil || !found {
		return nil, t.fault(err)
	}
	record, err = c.Restore(representation)
	return record, t.fault(err)
}

// ChangedBefore returns the last change of a resource before a revision, nil if the change log
// no longer has it. Once a transaction has changed a resource, no other can until it ends, so
// this is the transaction's own change if there is one.
func (t *Tx) ChangedBefore(revision int64, c *model.Collection, id model.ID) (change *Change, err error) {
	_, err = db.One(t.conn, func(row model.Row) {
		change = &Change{Revision: row.Int(0), Collection: c.Name, ID: id, Kind: string(row.AppendText(nil, 1)), Representation: row.AppendText(nil, 2)}
	}, "SELECT revision, kind, representation FROM "+db.ChangesTable+" WHERE revision < $1 AND collection = $2 AND id = $3 ORDER BY revision DESC LIMIT 1",
		model.IntValue(revision), model.TextValue(c.Name), model.IDValue(id))
	return change, t.fault(err)
}

// DeleteOldChanges removes changes older than age from the change log.
func (s *Store) DeleteOldChanges(ctx context.Context, age time.Duration) error {
	return s.deleteOld(ctx, db.ChangesTable, "revision", age)
}

// Change is one row of the change log.
type Change struct {
	Position       int64 // in the log; zero: it is not known
	Revision       int64
	Transaction    int64 // zero: it is not known
	Collection     string
	ID             model.ID
	Kind           string // create, update or delete
	At             string
	Caller         string // id of the caller; empty: the server itself, or no access control
	Representation []byte // after the change, or before the deletion
}

// Changes reads the change log after a position, in its order. See Store.Sequence.
func (t *Tx) Changes(after int64, most int) (changes []Change, err error) {
	err = db.Each(t.conn, func(row model.Row) bool {
		text := func(column int) []byte { return row.AppendText(nil, column) }
		changes = append(changes, Change{
			Position: row.Int(0), Transaction: row.Int(1), Revision: row.Int(2), Collection: string(text(3)), ID: row.ID(4),
			Kind: string(text(5)), At: string(text(6)), Caller: string(text(7)), Representation: text(8),
		})
		return true
	}, `SELECT position, "transaction", `+db.ChangeColumns+" FROM "+t.store.db.PositionedLog()+" AS log WHERE position > $1 ORDER BY position LIMIT $2",
		model.IntValue(after), model.IntValue(int64(most)))
	return changes, t.fault(err)
}
