package migrate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/db/databases"
	"github.com/plural-go/plural/internal/model"
)

// RequireSchema refuses a database that Plural did not create.
func RequireSchema(c db.Conn, d db.Dialect) error {
	found, err := db.Describe(c, d)
	if err != nil {
		return err
	}
	_, err = StoredSchema(c, d, found)
	return err
}

// StoredSchema returns the current schema of a database, after checking that its tables are
// those that Plural created for it.
func StoredSchema(c db.Conn, d db.Dialect, found map[string]*db.TableDefinition) (*model.Schema, error) {
	stored, oldFormat, err := AnyStoredSchema(c, d, found)
	if err == nil && oldFormat {
		return nil, fmt.Errorf(`%w: run "plural migrate", which changes it`, otherFormat(previous))
	}
	if err != nil {
		return nil, err
	}
	if former := formerWords(d, stored, found); len(former) > 0 {
		return nil, fmt.Errorf(`the search index of %s has the form of an earlier version of Plural: run "plural migrate", which builds it again`, former[0].Name)
	}
	return stored, nil
}

// AnyStoredSchema is StoredSchema also for a database of the previous format, or with search indexes of an earlier form.
func AnyStoredSchema(c db.Conn, d db.Dialect, found map[string]*db.TableDefinition) (stored *model.Schema, oldFormat bool, err error) {
	if found[db.MetaTable] == nil || found[db.SchemasTable] == nil {
		return nil, false, db.NoPluralTables(found)
	}
	if err := db.ExecAll(c, d.HoldSchema()...); err != nil {
		return nil, false, fmt.Errorf("waiting for the end of a migration by another process: %w", err)
	}
	format, err := db.ReadMeta(c, "format")
	if err != nil {
		return nil, false, fmt.Errorf("the database cannot be read: %w", err)
	}
	if oldFormat = format == previous; !oldFormat && format != Format {
		return nil, false, otherFormat(format)
	}
	if stored, err = ReadSchema(c); err != nil {
		return nil, false, err
	}
	asNow := maps.Clone(found)
	for _, c := range formerWords(d, stored, found) {
		definition := d.Search(db.SearchTable(c)).Definition
		asNow[db.SearchTable(c)] = &definition
	}
	if differences := TableDifferences(d, stored, asNow); len(differences) > 0 {
		return nil, false, &db.MisfitError{
			Problem: "the tables of the database were changed outside Plural", Differences: differences,
			Advice: "Undo these changes, or restore a backup.",
		}
	}
	return stored, oldFormat, nil
}

// CheckObjects checks that a SQLite database has nothing but the tables, indexes and triggers that Plural creates for the
// schema that AnyStoredSchema returned. Where a migration replaces tables of an earlier form, those are not compared.
func CheckObjects(c db.Conn, d db.Dialect, stored *model.Schema, oldFormat bool, found map[string]*db.TableDefinition) error {
	var replaced []string
	for _, former := range formerWords(d, stored, found) {
		replaced = append(replaced, db.SearchTable(former))
	}
	if oldFormat {
		replaced = append(replaced, db.ChangesTable)
	}
	create := func(c db.Conn, d db.Dialect) error {
		err := CreateTables(c, d, stored)
		if err == nil && oldFormat {
			err = db.ExecAll(c, "ALTER TABLE "+db.SchemasTable+" DROP COLUMN numbers")
		}
		return err
	}
	return databases.CheckObjects(c, create, func(table string) bool {
		return slices.ContainsFunc(replaced, func(each string) bool { return table == each || strings.HasPrefix(table, each+".") })
	})
}

// The database stores its current schema and all earlier ones. The types of columns cannot
// replace it: databases have fewer types than there are kinds of attributes.

// saveSchema makes a schema the current one.
func saveSchema(c db.Conn, s *model.Schema, numbers *Numbering, at model.Value) error {
	text, err := json.Marshal(numbers)
	if err == nil {
		_, err = c.Exec("INSERT INTO "+db.SchemasTable+" (version, at, document, numbers) SELECT coalesce(max(version), 0) + 1, $1, $2, $3 FROM "+db.SchemasTable,
			at, model.TextValue(string(s.Document())), model.TextValue(string(text)))
	}
	return err
}

// saveNewSchema makes the new schema the one in force.
func (m *migration) saveNewSchema() error {
	last, err := db.Int(m.conn, m.dialect.LastGiven())
	if err != nil {
		return err
	}
	numbers := numberAll(m.plan.from)
	if !m.plan.upgrade {
		if numbers, err = readNumbering(m.conn); err != nil {
			return err
		}
	}
	return saveSchema(m.conn, m.plan.to, numbers.after(m.plan, last), m.at)
}

// ReadSchema reads the current schema.
func ReadSchema(c db.Conn) (*model.Schema, error) {
	var document []byte
	found, err := db.One(c, func(row model.Row) { document = row.AppendText(nil, 0) },
		"SELECT document FROM "+db.SchemasTable+" ORDER BY version DESC LIMIT 1")
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fmt.Errorf("the database has no stored schema: the table %s is empty", db.SchemasTable)
	}
	s, err := compile.Stored(document)
	if err != nil {
		return nil, fmt.Errorf("the schema in the database cannot be used; a newer version of Plural may have written it: %w", err)
	}
	return s, nil
}

// ReadDeclaredIn returns, for each collection, the version of the schema since which its
// declaration has not changed.
func ReadDeclaredIn(c db.Conn, until int64) (map[string]int64, error) {
	type declared struct {
		since, seen int64
		document    string
	}
	collections := map[string]declared{}
	var last int64
	err := db.EachOrError(c, func(row model.Row) error {
		last = row.Int(0)
		return model.EachDocument(row.AppendText(nil, 1), func(name, document string) {
			since := last
			if before, ok := collections[name]; ok && before.seen == last-1 && before.document == document {
				since = before.since
			}
			collections[name] = declared{since, last, document}
		})
	}, "SELECT version, document FROM "+db.SchemasTable+" WHERE version <= $1 ORDER BY version", model.IntValue(until))
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
