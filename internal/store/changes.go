package store

import (
	"context"
	"time"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/schema"
)

// change is a statement that writes to the change log: the representation after the change, or
// as it last was when the resource is deleted. The number that it gets is the dialect's
// lastRevision for the statement that follows.
func (t *Tx) change(c *schema.Collection, kind string, id schema.ID, representation []byte) db.Statement {
	return db.Statement{SQL: insertChange, Args: []schema.Value{
		schema.TextValue(c.Name), schema.IDValue(id), schema.TextValue(kind), t.at, schema.TextValue(t.caller), schema.TextValue(string(representation))}}
}

const insertChange = "INSERT INTO " + db.ChangesTable + " (collection, id, kind, at, caller, representation) VALUES ($1, $2, $3, $4, $5, $6)"

// changed notes a change that has been written.
func (t *Tx) changed(c *schema.Collection, kind string, record schema.Record, representation []byte) {
	t.last = &Change{Collection: c.Name, ID: record.ID(schema.IDColumn), Kind: kind, Representation: representation}
}

// Deleted finds a resource that has been deleted, as it last was, for as long
// as the change log remembers it. Nil means that it does not.
func (t *Tx) Deleted(c *schema.Collection, id schema.ID) (record schema.Record, err error) {
	var representation []byte
	found, err := db.One(t.conn, func(row schema.Row) { representation = row.AppendText(nil, 0) },
		"SELECT representation FROM "+db.ChangesTable+" WHERE collection = $1 AND id = $2 AND kind = 'delete' ORDER BY revision DESC LIMIT 1",
		schema.TextValue(c.Name), schema.IDValue(id))
	if err != nil || !found {
		return nil, t.fault(err)
	}
	record, err = c.Restore(representation)
	return record, t.fault(err)
}

// ChangedBefore finds the last change of a resource ahead of a revision. Nil means that
// the change log does not remember it. Behind a change of a resource nobody else changes
// it until the transaction is over, so that this is the transaction's own if there is one.
func (t *Tx) ChangedBefore(revision int64, c *schema.Collection, id schema.ID) (change *Change, err error) {
	_, err = db.One(t.conn, func(row schema.Row) {
		change = &Change{Position: db.Position{Revision: row.Int(0)}, Collection: c.Name, ID: id, Kind: string(row.AppendText(nil, 1)), Representation: row.AppendText(nil, 2)}
	}, "SELECT revision, kind, representation FROM "+db.ChangesTable+" WHERE revision < $1 AND collection = $2 AND id = $3 ORDER BY revision DESC LIMIT 1",
		schema.IntValue(revision), schema.TextValue(c.Name), schema.IDValue(id))
	return change, t.fault(err)
}

// ForgetChanges removes the changes that are older than an age from the change log.
func (s *Store) ForgetChanges(ctx context.Context, age time.Duration) error {
	return s.forget(ctx, db.ChangesTable, "revision", age)
}

// Change is one line of the change log.
type Change struct {
	Position       db.Position
	Collection     string
	ID             schema.ID
	Kind           string // create, update or delete
	At             string
	Caller         string // who made it; empty: the server itself, or anybody
	Representation []byte // after the change, or as it last was
}

// Changes reads what follows a position in the change log, in an order in which
// nothing is ever added in front of what was read: whoever goes on from the last
// position misses nothing. What such an order cannot tell yet comes later.
func (t *Tx) Changes(after db.Position, most int) (changes []Change, err error) {
	sql, args := t.store.db.ChangesAfter(after)
	args = append(args, schema.IntValue(int64(most)))
	err = db.Each(t.conn, func(row schema.Row) bool {
		text := func(column int) []byte { return row.AppendText(nil, column) }
		changes = append(changes, Change{
			Position: db.Position{Transaction: row.Int(0), Revision: row.Int(1)}, Collection: string(text(2)), ID: row.ID(3),
			Kind: string(text(4)), At: string(text(5)), Caller: string(text(6)), Representation: text(7),
		})
		return true
	}, sql, args...)
	return changes, t.fault(err)
}
