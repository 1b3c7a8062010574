package maintain

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/lists"
	"github.com/plural-go/plural/internal/model"
)

// copiedTable is a table as every database has it: what a row of it is, and in
// which order they come.
type copiedTable struct {
	name    string
	columns []model.Column // name and kind
	key     int            // as many of the columns are its primary key
	where   string         // which rows are copied; empty: all
}

// copiedTables lists the tables of a database with a schema. All that is stored is
// in one of them: see isCovered. In a copy, the revision of a change is its position, so that
// of changes with positions behind the floor but revisions before it, the copy has none.
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
		{db.RecordsTable, slices.Concat(columns(text, "caller", "key", "fingerprint"), columns(number, "status"), columns(text, "header", "body"),
			columns(when, "at"), columns(text, "until")), 2, ""},
		{db.QueueTable, slices.Concat(columns(id, "operation"), columns(text, "caller", "method", "collection"), columns(id, "resource", "parent"),
			columns(text, "body", "if_match", "if_none_match"), columns(number, "turn", "blockers", "followers", "accepted_by", "attempt"), columns(when, "due")), 1, ""},
		{db.FollowersTable, columns(id, "awaited", "follower"), 2, ""},
		{db.KeysTable, slices.Concat(columns(text, "prefix", "hash", "name", "role", "subject"), columns(when, "at", "expires", "revoked")), 1, ""},
	}
	for _, c := range s.All() {
		tables = append(tables, copiedTable{c.Name, c.Columns(), 1, ""})
	}
	return tables
}

// isCovered makes sure that nothing is left behind: a table or column that came
// later and was forgotten here would be lost without a word.
func isCovered(tables []copiedTable, found map[string]*db.TableShape) error {
	known := map[string]bool{
		db.DeltasTable:                   true, // its rows are read with the totals
		db.PositionsTable:                true, // they are made anew
		db.SequenceTable:                 true, // likewise
		db.TicksTable:                    true,
		db.ChangesTable + ".transaction": true, // what changes had it before is told by their revisions
	}
	for _, table := range tables {
		for _, column := range table.columns {
			known[table.name+"."+column.Name] = true
		}
	}
	for _, name := range db.SortedNames(found) {
		for _, column := range found[name].Columns {
			if !known[name] && !known[name+"."+column.Name] {
				return fmt.Errorf("it has a column %s of %s, which a copy would leave behind; this is a mistake in Plural", column.Name, name)
			}
		}
	}
	return nil
}

// from is where the rows of the table are found.
func (t copiedTable) from(d db.Dialect) string {
	if t.name == db.TotalsTable {
		return lists.AllTotals()
	}
	if t.where != "" {
		return db.Quote(d, t.name) + " WHERE " + t.where
	}
	return db.Quote(d, t.name)
}

// selectAll reads the rows in the order of the primary key, which every database
// has alike.
func (t copiedTable) selectAll(d db.Dialect) string {
	columns := make([]string, len(t.columns))
	for i, column := range t.columns {
		columns[i] = db.Quote(d, column.Name)
	}
	return "SELECT " + strings.Join(columns, ", ") + " FROM " + t.from(d) + " ORDER BY " + strings.Join(columns[:t.key], ", ")
}

// storedNames are those of the table and its columns in a database.
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

// checksum counts rows and hashes them, each value with its form and its length,
// so that no two tables look the same.
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
		value.Bind(s)
	}
	s.hash.Write(append(s.row, '.'))
}

func (s *checksum) String() string { return hex.EncodeToString(s.hash.Sum(nil)) }

func (s *checksum) number(form byte, n uint64) {
	s.row = binary.BigEndian.AppendUint64(append(s.row, form), n)
}

func (s *checksum) text(form byte, v string) {
	s.number(form, uint64(len(v)))
	s.row = append(s.row, v...)
}

// BindNull and the others are those of a model.Binder.
func (s *checksum) BindNull() { s.row = append(s.row, 'z') }

func (s *checksum) BindBool(v bool) { s.number('b', map[bool]uint64{true: 1}[v]) }

func (s *checksum) BindInt(v int64) { s.number('i', db.BitsOf(v)) }

func (s *checksum) BindFloat(v float64) { s.number('f', math.Float64bits(v)) }

func (s *checksum) BindID(v model.ID) { s.row = append(append(s.row, 'u'), v[:]...) }

func (s *checksum) BindTime(v string) { s.text('t', v) }

func (s *checksum) BindText(v string) { s.text('s', v) }
