package store

import (
	"fmt"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/schema"
)

// The schema in force is kept in the database, with those before it: what the
// tables hold is known from it, and not guessed from a database that has fewer
// types than there are kinds.

// saveSchema makes a schema the one in force.
func saveSchema(c conn, s *schema.Schema, at schema.Value) error {
	_, err := c.exec("INSERT INTO "+schemasTable+" (version, at, document) SELECT coalesce(max(version), 0) + 1, $1, $2 FROM "+schemasTable,
		at, schema.TextValue(string(s.Document())))
	return err
}

// readSchema reads the schema in force.
func readSchema(c conn) (*schema.Schema, error) {
	var document []byte
	found, err := one(c, func(row schema.Row) { document = row.AppendText(nil, 0) },
		"SELECT document FROM "+schemasTable+" ORDER BY version DESC LIMIT 1")
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fmt.Errorf("the database has lost its schema: %s is empty", schemasTable)
	}
	s, err := schema.FromDocument(document)
	if err != nil {
		return nil, fmt.Errorf("the schema in the database cannot be used, perhaps as a newer version of Plural wrote it: %w", err)
	}
	return s, nil
}

// version tells the schemas of a database apart, also after a backup has been
// restored whose history went another way.
type version struct {
	number int64
	at     string
}

func readVersion(c conn) (v version, err error) {
	_, err = one(c, func(row schema.Row) { v = version{row.Int(0), string(row.AppendText(nil, 1))} },
		"SELECT version, at FROM "+schemasTable+" ORDER BY version DESC LIMIT 1")
	return v, err
}

// checkVersion refuses to write when somebody has migrated the database to a
// schema that this server does not know: what it takes for valid may not be.
func (s *Store) checkVersion(c conn) error {
	current, err := readVersion(c)
	if err != nil || current == *s.version.Load() {
		return err
	}
	stored, err := readSchema(c)
	if err != nil {
		return err
	}
	if !harmless(newPlan(s.schema, stored)) {
		return &fault.Error{Code: fault.CodeUnavailable, Detail: "The database has another schema since the server was started. The server must be restarted with that schema."}
	}
	s.version.Store(&current)
	return nil
}

// harmless: whoever knows only the old schema writes nothing that is wrong in the
// new one. What has a default would be missing.
func harmless(p *plan) bool {
	if !p.additive() {
		return false
	}
	for _, pair := range p.pairs {
		for to, column := range pair.now.Columns() {
			if a := column.Attribute; a != nil && pair.source[to] == noSource && (a.Required || !a.DefaultValue().IsNull()) {
				return false
			}
		}
		if !pair.sameParent() {
			return false // its totals would not be kept
		}
	}
	return true
}
