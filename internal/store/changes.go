package store

import (
	"context"
	"time"

	"github.com/plural-go/plural/schema"
)

// appendChange writes to the change log: the representation after the change,
// or as it last was when the resource is deleted.
func (t *Tx) appendChange(c *schema.Collection, kind string, id schema.ID, representation []byte) (revision int64, err error) {
	_, err = one(t.conn, func(row schema.Row) { revision = row.Int(0) },
		"INSERT INTO "+changesTable+" (collection, id, kind, at, representation) VALUES ($1, $2, $3, $4, $5) RETURNING revision",
		schema.TextValue(c.Name), schema.IDValue(id), schema.TextValue(kind), t.at, schema.TextValue(string(representation)))
	return revision, t.fault(err)
}

// Deleted finds a resource that has been deleted, as it last was, for as long
// as the change log remembers it. Nil means that it does not.
func (t *Tx) Deleted(c *schema.Collection, id schema.ID) (record schema.Record, err error) {
	var representation []byte
	found, err := one(t.conn, func(row schema.Row) { representation = row.AppendText(nil, 0) },
		"SELECT representation FROM "+changesTable+" WHERE collection = $1 AND id = $2 AND kind = 'delete' ORDER BY revision DESC LIMIT 1",
		schema.TextValue(c.Name), schema.IDValue(id))
	if err != nil || !found {
		return nil, t.fault(err)
	}
	record, err = c.Restore(representation)
	return record, t.fault(err)
}

// ForgetChanges removes the changes that are older than an age from the change log.
func (s *Store) ForgetChanges(ctx context.Context, age time.Duration) error {
	return s.forget(ctx, changesTable, "revision", age)
}
