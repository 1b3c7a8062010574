package migrate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/plural-go/plural/internal/db"
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
	s, err := model.FromDocument(document)
	if err != nil {
		return nil, fmt.Errorf("the schema in the database cannot be used; a newer version of Plural may have written it: %w", err)
	}
	return s, nil
}

// makePlan plans the migration of a database to a schema, which may be one that the database had
// before. Nil: the database has this schema. It reads no resources.
func makePlan(c db.Conn, d db.Dialect, now *model.Schema) (*plan, error) {
	found, err := db.Describe(c, d)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return firstPlan(now), nil
	}
	stored, oldFormat, err := AnyStoredSchema(c, d, found)
	if err != nil || !oldFormat && bytes.Equal(stored.Document(), now.Document()) {
		return nil, err
	}
	p := newPlan(stored, now)
	if oldFormat {
		p.upgradeStep()
	}
	current, err := db.ReadVersion(c)
	if err != nil {
		return nil, err
	}
	p.version = current.Number
	err = db.Each(c, func(row model.Row) bool {
		// A schema that this version cannot read is not equal to the new one.
		before, err := model.FromDocument(row.AppendText(nil, 1))
		if err == nil && bytes.Equal(before.Document(), now.Document()) {
			p.earlier = row.Int(0)
		}
		return true
	}, "SELECT version, document FROM "+db.SchemasTable+" ORDER BY version")
	if bytes.Equal(stored.Document(), now.Document()) {
		p.earlier = 0 // only the format differs
	}
	return p, err
}

// earlierVersion says that the schema of a plan is an earlier one; empty if it is not.
func (p *plan) earlierVersion() string {
	if p.earlier == 0 {
		return ""
	}
	return fmt.Sprintf("This is schema version %d of the database, which is now at version %d", p.earlier, p.version)
}

// ReadSince returns, for each collection, the version of the schema since which its
// declaration has not changed.
func ReadSince(c db.Conn, until int64) (map[string]int64, error) {
	type declared struct {
		since, seen int64
		document    string
	}
	collections := map[string]declared{}
	var last int64
	var failed error
	err := db.Each(c, func(row model.Row) bool {
		last = row.Int(0)
		failed = model.EachDocument(row.AppendText(nil, 1), func(name, document string) {
			since := last
			if before, ok := collections[name]; ok && before.seen == last-1 && before.document == document {
				since = before.since
			}
			collections[name] = declared{since, last, document}
		})
		return failed == nil
	}, "SELECT version, document FROM "+db.SchemasTable+" WHERE version <= $1 ORDER BY version", model.IntValue(until))
	if err != nil || failed != nil {
		return nil, errors.Join(err, failed)
	}
	since := map[string]int64{}
	for name, declared := range collections {
		if declared.seen == last {
			since[name] = declared.since
		}
	}
	return since, nil
}

// Allows reports what a server that only has the old schema of a database may do.
func Allows(old, now *model.Schema) (reads, writes bool) {
	p := newPlan(old, now)
	return readable(p), writable(p)
}

// readable reports whether a server with the old schema can read everything. The new schema
// is as stored, without renamed_from.
func readable(p *plan) bool {
	for _, pair := range p.pairs {
		for from, column := range pair.old.Columns() {
			to := slices.Index(pair.source, from)
			if to < 0 || pair.now.Columns()[to].Name != column.Name || pair.now.Columns()[to].Kind != column.Kind {
				return false
			}
		}
		if pair.old.ParentLink() != nil && !pair.sameParent() {
			return false // the new server does not update its totals
		}
		if len(pair.old.SearchColumns()) > 0 && !pair.sameSearch() {
			return false // the index has other words
		}
	}
	return len(p.removed) == 0
}

// writable reports whether everything that a server with the old schema writes is valid in
// the new one. Otherwise new defaults would be missing, or deletions would cascade differently.
func writable(p *plan) bool {
	if !p.additive() {
		return false
	}
	for _, pair := range p.pairs {
		for to, column := range pair.now.Columns() {
			a := column.Attribute
			if a == nil {
				continue
			}
			before := model.Null
			if from := pair.source[to]; from != noSource {
				old := pair.old.Columns()[from].Attribute
				if before = old.DefaultValue(); onDelete(old) != onDelete(a) {
					return false
				}
			} else if a.Required {
				return false
			}
			if before != a.DefaultValue() {
				return false
			}
		}
		if !pair.sameParent() {
			return false // the old server would not update its totals
		}
		if !pair.sameSearch() {
			return false // nor the words in the index
		}
	}
	return true
}
