package store

import (
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/schema"
)

// Since is the version of the schema since which a collection has been declared as
// it is now. Two representations of one revision differ only if it differs.
func (s *Store) Since(c *schema.Collection) int64 { return s.since[c.Name] }

// SinceOf is what Since was for a server with another version of the schema, from
// which a client has an ETag.
func (t *Tx) SinceOf(c *schema.Collection, version int64) (int64, error) {
	if version == t.store.own {
		return t.store.Since(c), nil
	}
	since, err := migrate.ReadSince(t.conn, version)
	return since[c.Name], t.fault(err)
}

// compatibility is what a server may still do in a database that has come to another
// schema than its own.
type compatibility struct {
	db.Version    // of the schema in the database
	reads, writes bool
}

// check makes sure, for a transaction that begins, that the server may do what it is
// about to. Until its end, nobody changes the schema.
func (s *Store) check(c db.Conn, may func(*compatibility) bool) error {
	known, expected := s.compatible.Load(), db.Version{} // which no schema has
	if may(known) {
		expected = known.Version
	}
	return c.Expect(expected, func(c db.Conn) error {
		found, err := s.reconsider(c)
		if err == nil && !may(found) {
			err = otherSchema()
		}
		return err
	})
}

// reconsider finds what the server may do with the schema that is now in force.
func (s *Store) reconsider(c db.Conn) (*compatibility, error) {
	current, err := db.ReadVersion(c)
	if known := s.compatible.Load(); err != nil || known.Version == current {
		return known, err
	}
	stored, err := migrate.ReadSchema(c)
	if err != nil {
		return nil, err
	}
	found := &compatibility{Version: current}
	found.reads, found.writes = migrate.Allows(s.schema, stored)
	s.compatible.Store(found)
	return found, nil
}

func otherSchema() error {
	return &fault.Error{Code: fault.CodeUnavailable, Detail: "The database has another schema since the server was started. The server must be restarted with that schema."}
}

// mayRead: everything is still stored as this server knows it. mayWrite: and what
// this server takes for valid is so.
func mayRead(known *compatibility) bool { return known.reads }

func mayWrite(known *compatibility) bool { return known.writes }
