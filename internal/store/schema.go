package store

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/plural-go/plural/internal/catalog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

// Schema is the schema that the store was opened with.
func (s *Store) Schema() *model.Schema { return s.schema }

// SchemaVersion is the version of the schema that the database had when it was last read.
func (s *Store) SchemaVersion() int64 { return s.compatible.Load().Number }

// DeclaredIn is the schema version since which a collection is declared as it is now. Two
// representations of one revision differ only if it differs.
func (s *Store) DeclaredIn(c *model.Collection) int64 { return s.declaredIn[c.Name] }

// DeclaredInOther is DeclaredIn for a server with another schema version, from which a client has an ETag.
func (t *Tx) DeclaredInOther(c *model.Collection, version int64) (int64, error) {
	if version == t.store.version {
		return t.store.DeclaredIn(c), nil
	}
	since, err := catalog.DeclaredIn(t.conn, version)
	return since[c.Name], t.fault(err)
}

// HistoryTag is a short text that differs between histories of the database, as far as this
// server knows. What it was given with a revision in an ETag means nothing in another history.
func (s *Store) HistoryTag() string { return s.compatible.Load().history }

// historyTag is 40 of the random bits of a history id.
func historyTag(c db.Conn) (string, error) {
	id, err := db.ReadHistory(c)
	return fmt.Sprintf("%08s", strconv.FormatUint(binary.BigEndian.Uint64(id[:8])>>24, 36)), err
}

// compatibility is what a server may do in a database whose schema has changed since it was
// started.
type compatibility struct {
	db.Version           // of the schema in the database
	history       string // see HistoryTag
	reads, writes bool
}

// check makes sure, at the start of a transaction, that the server may use the schema. The
// schema cannot change until the transaction ends.
func (s *Store) check(c db.Conn, may func(*compatibility) bool) error {
	known, expected := s.compatible.Load(), db.Version{} // matches no schema
	if may(known) {
		expected = known.Version
	}
	return c.Expect(expected, func(c db.Conn) error {
		found, err := s.recheck(c)
		if err == nil && !may(found) {
			err = otherSchema()
		}
		return err
	})
}

// recheck finds what the server may do with the current schema.
func (s *Store) recheck(c db.Conn) (*compatibility, error) {
	current, err := db.ReadVersion(c)
	if known := s.compatible.Load(); err != nil || known.Version == current {
		return known, err
	}
	stored, err := catalog.Read(c)
	if err != nil {
		return nil, err
	}
	found := &compatibility{Version: current}
	if found.history, err = historyTag(c); err != nil {
		return nil, err
	}
	found.reads, found.writes = migrate.Allows(s.schema, stored)
	s.compatible.Store(found)
	return found, nil
}

func otherSchema() error {
	return &problem.Error{Code: problem.CodeUnavailable, Detail: "The schema of the database has changed since the server was started. Restart the server with that schema."}
}

// mayRead: everything is stored as this server expects. mayWrite: and what this server
// validates is valid.
func mayRead(known *compatibility) bool { return known.reads }

func mayWrite(known *compatibility) bool { return known.writes }
