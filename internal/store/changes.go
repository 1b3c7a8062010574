package store

import (
	"context"
	"time"

	"github.com/plural-go/plural/internal/model"
)

// change writes to the change log: the representation after the change, or as it
// last was when the resource is deleted. The number that it gets is the
// dialect's lastRevision for the statement that follows, and look gets it too.
func (t *Tx) change(look func(revision int64), c *model.Collection, kind string, id model.ID, representation []byte) error {
	if err := t.conn.claims(c.Name, id); err != nil {
		return t.fault(err)
	}
	return t.fault(t.conn.put(look, "INSERT INTO "+changesTable+" (collection, id, kind, at, caller, representation) VALUES ($1, $2, $3, $4, $5, $6)"+t.store.backend.returning("revision"),
		model.TextValue(c.Name), model.IDValue(id), model.TextValue(kind), t.at, model.TextValue(t.caller), model.TextValue(string(representation))))
}

func ignore(int64) {}

// changed notes a change that has been written.
func (t *Tx) changed(c *model.Collection, kind string, record model.Record, representation []byte) {
	t.last = &Change{Collection: c.Name, ID: record.ID(model.IDColumn), Kind: kind, Representation: representation}
}

// Deleted finds a resource that has been deleted, as it last was, for as long
// as the change log remembers it. Nil means that it does not.
func (t *Tx) Deleted(c *model.Collection, id model.ID) (record model.Record, err error) {
	var representation []byte
	found, err := one(t.conn, func(row model.Row) { representation = row.AppendText(nil, 0) },
		"SELECT representation FROM "+changesTable+" WHERE collection = $1 AND id = $2 AND kind = 'delete' ORDER BY revision DESC LIMIT 1",
		model.TextValue(c.Name), model.IDValue(id))
	if err != nil || !found {
		return nil, t.fault(err)
	}
	record, err = c.Restore(representation)
	return record, t.fault(err)
}

// ChangedBefore finds the last change of a resource ahead of a revision. Nil means that
// the change log does not remember it. Behind a change of a resource nobody else changes
// it until the transaction is over, so that this is the transaction's own if there is one.
func (t *Tx) ChangedBefore(revision int64, c *model.Collection, id model.ID) (change *Change, err error) {
	_, err = one(t.conn, func(row model.Row) {
		change = &Change{Position: Position{Revision: row.Int(0)}, Collection: c.Name, ID: id, Kind: string(row.AppendText(nil, 1)), Representation: row.AppendText(nil, 2)}
	}, "SELECT revision, kind, representation FROM "+changesTable+" WHERE revision < $1 AND collection = $2 AND id = $3 ORDER BY revision DESC LIMIT 1",
		model.IntValue(revision), model.TextValue(c.Name), model.IDValue(id))
	return change, t.fault(err)
}

// ForgetChanges removes the changes that are older than an age from the change log.
func (s *Store) ForgetChanges(ctx context.Context, age time.Duration) error {
	return s.forget(ctx, changesTable, "revision", age)
}

// Change is one line of the change log.
type Change struct {
	Position       Position
	Collection     string
	ID             model.ID
	Kind           string // create, update or delete
	At             string
	Caller         string // who made it; empty: the server itself, or anybody
	Representation []byte // after the change, or as it last was
}

// Position is a place in the change log. The zero value is its beginning.
type Position struct{ Transaction, Revision int64 }

// Changes reads what follows a position in the change log, in an order in which
// nothing is ever added in front of what was read: whoever goes on from the last
// position misses nothing. What such an order cannot tell yet comes later.
func (t *Tx) Changes(after Position, most int) (changes []Change, err error) {
	sql, args := t.store.backend.changesAfter(after)
	args = append(args, model.IntValue(int64(most)))
	err = each(t.conn, func(row model.Row) bool {
		text := func(column int) []byte { return row.AppendText(nil, column) }
		changes = append(changes, Change{
			Position: Position{row.Int(0), row.Int(1)}, Collection: string(text(2)), ID: row.ID(3),
			Kind: string(text(4)), At: string(text(5)), Caller: string(text(6)), Representation: text(7),
		})
		return true
	}, sql, args...)
	return changes, t.fault(err)
}

const changeColumns = "revision, collection, id, kind, at, caller, representation"
