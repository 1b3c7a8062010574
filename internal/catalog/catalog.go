// Package catalog has what a database remembers of schemas: every schema so far with its version, and the numbers by which
// the change log names collections and attributes. It also compares the tables of a database with a schema.
package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// Format is the format of the tables of Plural. It changes when they do.
const Format = "7"

// Require returns the state of a database, and refuses one that Plural did not create: see Open.
func Require(c db.Conn, d db.Dialect) (*State, error) {
	found, err := db.Describe(c, d)
	if err != nil {
		return nil, err
	}
	return Open(c, d, found)
}

// Open returns the state of a database, after checking that the tables found are those that Plural created for it.
// The schema cannot change until the transaction ends.
func Open(c db.Conn, d db.Dialect, found map[string]*db.TableDefinition) (*State, error) {
	if found[db.MetaTable] == nil || found[db.SchemasTable] == nil {
		return nil, db.NoPluralTables(found)
	}
	if err := db.ExecAll(c, d.HoldSchema()...); err != nil {
		return nil, fmt.Errorf("waiting for the end of a migration by another process: %w", err)
	}
	format, err := db.ReadMeta(c, "format")
	if err != nil {
		return nil, fmt.Errorf("the database cannot be read: %w", err)
	}
	if format != Format {
		return nil, fmt.Errorf("the database has format %q, but this version of Plural supports only format %q: use the version that created it", format, Format)
	}
	state, err := ReadState(c)
	if err != nil {
		return nil, err
	}
	if differences := Differences(d, state.Schema, found); len(differences) > 0 {
		return nil, &db.MisfitError{
			Problem: "the tables of the database were changed outside Plural", Differences: differences,
			Advice: "Undo these changes, or restore a backup.",
		}
	}
	return state, nil
}

// The database stores its current schema and all earlier ones. The types of columns cannot
// replace it: databases have fewer types than there are kinds of attributes.

// Create stores the first schema of a database, whose tables have just been created.
func Create(c db.Conn, s *model.Schema, at model.Value) error {
	if err := db.ExecAll(c, "INSERT INTO "+db.MetaTable+" (key, value) VALUES ('format', '"+Format+"'), ('last_id', '')"); err != nil {
		return err
	}
	if err := db.NewHistory(c); err != nil {
		return err
	}
	numbers := NewNumbering()
	for _, collection := range s.All() {
		numbers.Add(collection)
	}
	return Save(c, s, numbers, at)
}

// Save makes a schema the current one.
func Save(c db.Conn, s *model.Schema, numbers *Numbering, at model.Value) error {
	text, err := json.Marshal(numbers)
	if err == nil {
		_, err = c.Exec("INSERT INTO "+db.SchemasTable+" (version, at, document, numbers) SELECT coalesce(max(version), 0) + 1, $1, $2, $3 FROM "+db.SchemasTable,
			at, model.TextValue(string(s.Document())), model.TextValue(string(text)))
	}
	return err
}

// Find returns the last version in which the database had a schema, 0 if it never had it.
func Find(c db.Conn, s *model.Schema) (version int64, err error) {
	wanted := s.Document()
	err = db.Each(c, func(row model.Row) {
		// A schema that this version cannot read is another one.
		before, err := compile.Earlier(row.AppendText(nil, 1))
		if err == nil && bytes.Equal(before.Document(), wanted) {
			version = row.Int(0)
		}
	}, "SELECT version, document FROM "+db.SchemasTable+" ORDER BY version")
	return version, err
}

// DeclaredIn returns, for each collection, the version of the schema since which its
// declaration has not changed.
func DeclaredIn(c db.Conn, until int64) (map[string]int64, error) {
	type declared struct {
		since, seen int64
		document    string
	}
	collections := map[string]declared{}
	var last int64
	err := eachVersion(c, func(version int64, document []byte, numbers *Numbering) (more bool, err error) {
		if last = version; numbers.Target != nil { // servers with the schema before have the version before
			document = []byte(numbers.Target.Document)
		}
		return true, model.EachDocument(document, func(name, document string) {
			since := last
			if before, ok := collections[name]; ok && before.seen == last-1 && before.document == document {
				since = before.since
			}
			collections[name] = declared{since, last, document}
		})
	}, " WHERE version <= $1 ORDER BY version", model.IntValue(until))
	if err != nil {
		return nil, err
	}
	since := map[string]int64{}
	for name, declared := range collections {
		if declared.seen == last {
			since[name] = declared.since
		}
	}
	return since, nil
}

// RenewHistory gives the database another history id, and a new version of the current schema, by which servers notice it.
func RenewHistory(c db.Conn, d db.Dialect, at model.Value) error {
	if err := db.NewHistory(c); err != nil {
		return err
	}
	_, _, renumbered := d.ChangeOrder()
	if err := db.ExecAll(c, renumbered...); err != nil {
		return err
	}
	_, err := c.Exec("INSERT INTO "+db.SchemasTable+" (version, at, document, numbers) SELECT version + 1, $1, document, numbers FROM "+db.SchemasTable+" ORDER BY version DESC LIMIT 1", at)
	return err
}
