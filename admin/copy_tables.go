package admin

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/lists"
	"github.com/plural-go/plural/internal/model"
)

// copiedTable describes a table independently of the database: its columns, and the order of
// its rows.
type copiedTable struct {
	name    string
	columns []model.Column // name and kind
	key     int            // how many of the first columns are the primary key
	where   string         // which rows are copied; empty: all
}

// copiedTables lists the tables of a database with a schema. Everything that is stored is
// in one of them: see isCovered. In a copy, the revision of a change is its position, so that
// of changes with positions after the floor but revisions before it, the copy has none.
func copiedTables(s *model.Schema, floor db.Floor) []copiedTable {
	columns := func(kind model.Kind, names ...string) (columns []model.Column) {
		for _, name := range names {
			columns = append(columns, model.Column{Name: name, Kind: kind})
		}
		return columns
	}
	const text, id, when, number = model.KindText, model.KindUUID, model.KindDateTime, model.KindInteger
	tables := []copiedTable{
		{db.MetaTable, columns(text, "key", "value"), 1, ""},
		{db.SchemasTable, slices.Concat(columns(number, "version"), columns(when, "at"), columns(text, "document", "numbers")), 1, ""},
		{db.TotalsTable, slices.Concat(columns(text, "collection", "parent"), columns(number, "total")), 2, ""},
		{db.ChangesTable, slices.Concat(columns(number, "revision", "collection"), columns(id, "id"), columns(text, "kind"),
			columns(when, "at"), columns(text, "caller"), columns(number, "schema"), columns(text, "previous")), 1, "revision > " + strconv.FormatInt(floor.Revision, 10)},
		{db.IdempotencyTable, slices.Concat(columns(text, "caller", "key", "fingerprint", "outcome", "body"),
			columns(when, "at"), columns(text, "until")), 2, ""},
		{db.QueueTable, slices.Concat(columns(id, "operation"), columns(text, "caller", "method", "collection"), columns(id, "resource", "parent"),
			columns(text, "body", "if_match", "if_none_match"), columns(number, "turn", "blockers", "followers", "accepted_by", "version", "attempt"), columns(when, "due")), 1, ""},
		{db.FollowersTable, columns(id, "awaited", "follower"), 2, ""},
		{db.KeysTable, slices.Concat(columns(text, "prefix", "hash", "name", "role", "subject"), columns(when, "at", "expires", "revoked"), columns(number, "version"), columns(model.KindBoolean, "agent_writes")), 1, ""},
		{db.UsesTable, slices.Concat(columns(number, "version"), columns(text, "caller"), columns(when, "at")), 2, ""},
	}
	for _, c := range s.All() {
		tables = append(tables, copiedTable{c.Name, c.Columns(), 1, ""})
	}
	return tables
}

// isCovered checks that nothing is left out: a table or column that is new and missing here
// would be lost silently.
func isCovered(s *model.Schema, tables []copiedTable, found map[string]*db.TableDefinition) error {
	known := map[string]bool{
		db.DeltasTable:                   true, // its rows are read with the totals
		db.OffsetsTable:                  true, // the indexes are built again
		db.SequenceTable:                 true, // likewise
		db.TicksTable:                    true,
		db.ChangesTable + ".transaction": true, // the order of older changes is that of their revisions
	}
	for _, c := range s.All() {
		known[db.SearchTable(c)] = true // words are found again
	}
	for _, table := range tables {
		for _, column := range table.columns {
			known[table.name+"."+column.Name] = true
		}
	}
	for _, name := range db.SortedNames(found) {
		for _, column := range found[name].Columns {
			if !known[name] && !known[name+"."+column.Name] {
				return fmt.Errorf("the column %s of %s would not be copied; this is a bug in Plural", column.Name, name)
			}
		}
	}
	return nil
}

// from is the FROM expression of the table.
func (t copiedTable) from(d db.Dialect) string {
	if t.name == db.TotalsTable {
		return lists.AllTotals()
	}
	if t.where != "" {
		return db.Quote(d, t.name) + " WHERE " + t.where
	}
	return db.Quote(d, t.name)
}

// selectAll reads the rows in the order of the primary key, which is the same on every
// database.
func (t copiedTable) selectAll(d db.Dialect) string {
	columns := make([]string, len(t.columns))
	for i, column := range t.columns {
		columns[i] = db.Quote(d, column.Name)
	}
	return "SELECT " + strings.Join(columns, ", ") + " FROM " + t.from(d) + " ORDER BY " + strings.Join(columns[:t.key], ", ")
}

// storedNames returns the names of the table and its columns as a database has them.
func (t copiedTable) storedNames(d db.Dialect) (name string, columns []string) {
	for _, column := range t.columns {
		columns = append(columns, db.StoredName(d, column.Name))
	}
	return db.StoredName(d, t.name), columns
}

func (t copiedTable) read(row model.Row) model.Record {
	record := make(model.Record, len(t.columns))
	for i, column := range t.columns {
		record[i] = column.Kind.Read(row, i)
	}
	return record
}

// checksum counts and hashes rows. Different rows never produce the same input.
type checksum struct {
	rows int64
	hash hash.Hash
	row  []byte
}

func newChecksum() *checksum { return &checksum{hash: sha256.New()} }

func (s *checksum) add(record model.Record) {
	s.rows++
	s.row = s.row[:0]
	for _, value := range record {
		s.row = value.AppendDistinct(s.row)
	}
	s.hash.Write(append(s.row, '.'))
}

func (s *checksum) String() string { return hex.EncodeToString(s.hash.Sum(nil)) }
