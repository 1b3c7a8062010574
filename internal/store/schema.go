package store

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/plural-go/plural/internal/catalog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/versions"
)

// Schema is the schema that the store was opened with, which is that of the newest version. It is no view.
func (s *Store) Schema() *model.Schema { return s.schema }

// Versions lists the versions of the interface that the database remembers, the newest last, also those that have ended.
// Without versions there are none.
func (s *Store) Versions() []versions.Version { return s.versions }

// Version is the schema of a version of the interface, nil if it is unknown or has ended. 0 is the newest.
func (s *Store) Version(number int) *model.Schema {
	if number == 0 || number == s.schema.Versions().Newest {
		return s.schema
	}
	for _, each := range s.versions {
		if each.Number == number {
			return each.Schema
		}
	}
	return nil
}

// AwaitsContraction reports whether the database is expanded for the schema of the server.
func (s *Store) AwaitsContraction() bool { return s.bound().isTarget }

// SchemaVersion is the version of the schema that the database had when it was last read.
func (s *Store) SchemaVersion() int64 { return s.compatible.Load().Number }

// DeclaredIn is the schema version since which a collection is declared as it is now. Two
// representations of one revision differ only if it differs.
func (s *Store) DeclaredIn(c *model.Collection) int64 { return s.declaredIn[c.Base().Name] }

// ComputedBy is the version of the stored schema, if that has other rules for computed attributes of a collection than the schema of the server,
// and else 0. A migration, such as a contraction, then computes them anew for resources whose revision stays.
func (s *Store) ComputedBy(c *model.Collection) int64 {
	known := s.compatible.Load()
	if t := known.table(c); t == nil || !t.computesOtherwise {
		return 0
	}
	return known.Number
}

// DeclaredInOther is DeclaredIn for a server with another schema version, from which a client has an ETag.
func (t *Tx) DeclaredInOther(c *model.Collection, version int64) (int64, error) {
	if version == t.store.version {
		return t.store.DeclaredIn(c), nil
	}
	since, err := catalog.DeclaredIn(t.conn, version)
	return since[c.Base().Name], t.fault(err)
}

// HistoryTag is a short text that differs between histories of the database, as far as this
// server knows. What it was given with a revision in an ETag means nothing in another history.
func (s *Store) HistoryTag() string { return s.compatible.Load().history }

// historyTag is 40 of the random bits of a history id.
func historyTag(c db.Conn) (string, error) {
	id, err := db.ReadHistory(c)
	return fmt.Sprintf("%08s", strconv.FormatUint(binary.BigEndian.Uint64(id[:8])>>24, 36)), err
}
