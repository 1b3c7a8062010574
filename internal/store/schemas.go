package store

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

// The schema in force is kept in the database, with those before it: what the
// tables hold is known from it, and not guessed from a database that has fewer
// types than there are kinds.

// saveSchema makes a schema the one in force.
func saveSchema(c conn, s *model.Schema, at model.Value) error {
	_, err := c.exec("INSERT INTO "+schemasTable+" (version, at, document) SELECT coalesce(max(version), 0) + 1, $1, $2 FROM "+schemasTable,
		at, model.TextValue(string(s.Document())))
	return err
}

// readSchema reads the schema in force.
func readSchema(c conn) (*model.Schema, error) {
	var document []byte
	found, err := one(c, func(row model.Row) { document = row.AppendText(nil, 0) },
		"SELECT document FROM "+schemasTable+" ORDER BY version DESC LIMIT 1")
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fmt.Errorf("the database has lost its schema: %s is empty", schemasTable)
	}
	s, err := model.FromDocument(document)
	if err != nil {
		return nil, fmt.Errorf("the schema in the database cannot be used, perhaps as a newer version of Plural wrote it: %w", err)
	}
	return s, nil
}

// planFrom is how to come from the schema in force to another one, which may be one that the
// database has had before.
func planFrom(c conn, stored, now *model.Schema) (*plan, error) {
	p := newPlan(stored, now)
	current, err := readVersion(c)
	if err != nil {
		return nil, err
	}
	p.version = current.number
	err = each(c, func(row model.Row) bool {
		// One that a newer version of Plural wrote is none that this one has.
		before, err := model.FromDocument(row.AppendText(nil, 1))
		if err == nil && bytes.Equal(before.Document(), now.Document()) {
			p.earlier = row.Int(0)
		}
		return true
	}, "SELECT version, document FROM "+schemasTable+" ORDER BY version")
	return p, err
}

// goesBack tells that the schema of a plan is an earlier one; empty if it is not.
func (p *plan) goesBack() string {
	if p.earlier == 0 {
		return ""
	}
	return fmt.Sprintf("The schema is an earlier one of this database, version %d, which is at version %d now", p.earlier, p.version)
}

// readSince finds the version of the schema since which each collection has been
// declared as it is in a later one.
func readSince(c conn, until int64) (map[string]int64, error) {
	type declared struct {
		since, seen int64
		document    string
	}
	collections := map[string]declared{}
	var last int64
	var failed error
	err := each(c, func(row model.Row) bool {
		last = row.Int(0)
		failed = model.EachDocument(row.AppendText(nil, 1), func(name, document string) {
			since := last
			if before, ok := collections[name]; ok && before.seen == last-1 && before.document == document {
				since = before.since
			}
			collections[name] = declared{since, last, document}
		})
		return failed == nil
	}, "SELECT version, document FROM "+schemasTable+" WHERE version <= $1 ORDER BY version", model.IntValue(until))
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

// Since is the version of the schema since which a collection has been declared as
// it is now. Two representations of one revision differ only if it differs.
func (s *Store) Since(c *model.Collection) int64 { return s.since[c.Name] }

// SinceOf is what Since was for a server with another version of the schema, from
// which a client has an ETag.
func (t *Tx) SinceOf(c *model.Collection, version int64) (int64, error) {
	if version == t.store.own {
		return t.store.Since(c), nil
	}
	since, err := readSince(t.conn, version)
	return since[c.Name], t.fault(err)
}

// version tells the schemas of a database apart, also after a backup has been
// restored whose history went another way.
type version struct {
	number int64
	at     string
}

const selectVersion = "SELECT version, at FROM " + schemasTable + " ORDER BY version DESC LIMIT 1"

func scanVersion(row model.Row) version { return version{row.Int(0), string(row.AppendText(nil, 1))} }

func readVersion(c conn) (v version, err error) {
	_, err = one(c, func(row model.Row) { v = scanVersion(row) }, selectVersion)
	return v, err
}

// standing is what a server may still do in a database that has come to another
// schema than its own.
type standing struct {
	version       // of the schema in the database
	reads, writes bool
}

// check makes sure, for a transaction that begins, that the server may do what it is
// about to. Until its end, nobody changes the schema.
func (s *Store) check(c conn, may func(*standing) bool) error {
	for _, hold := range s.backend.holdSchema() {
		if err := c.later(nil, hold); err != nil {
			return err
		}
	}
	known := s.standing.Load()
	if c, ok := c.(interface{ knows(version int64) }); ok {
		c.knows(known.number)
	}
	reconsidered := func(c conn) error {
		found, err := s.reconsider(c)
		if err == nil && !may(found) {
			err = otherSchema()
		}
		return err
	}
	if !may(known) {
		return reconsidered(c)
	}
	return c.assume(selectVersion, func(row model.Row) bool { return scanVersion(row) == known.version }, reconsidered)
}

// reconsider finds what the server may do with the schema that is now in force.
func (s *Store) reconsider(c conn) (*standing, error) {
	current, err := readVersion(c)
	if known := s.standing.Load(); err != nil || known.version == current {
		return known, err
	}
	stored, err := readSchema(c)
	if err != nil {
		return nil, err
	}
	p := newPlan(s.schema, stored)
	found := &standing{version: current, reads: readable(p), writes: harmless(p)}
	s.standing.Store(found)
	return found, nil
}

func otherSchema() error {
	return &problem.Error{Code: problem.CodeUnavailable, Detail: "The database has another schema since the server was started. The server must be restarted with that schema."}
}

// brokenReference: the server looks for what refers to a resource before it deletes
// it, but may not know of all that does.
func brokenReference(cause error) error {
	return &problem.Error{Code: problem.CodeUnavailable, Cause: cause,
		Detail: "Something refers to this that the server does not know of. If trying again does not help, it must be restarted with the schema of the database."}
}

// mayRead: everything is still stored as this server knows it. mayWrite: and what
// this server takes for valid is so.
func mayRead(known *standing) bool  { return known.reads }
func mayWrite(known *standing) bool { return known.writes }

// readable: whoever knows only the old schema finds everything where it was. The
// new one is as it is stored, without renamed_from.
func readable(p *plan) bool {
	for _, pair := range p.pairs {
		for from, column := range pair.old.Columns() {
			to := slices.Index(pair.source, from)
			if to < 0 || pair.now.Columns()[to].Name != column.Name || pair.now.Columns()[to].Kind != column.Kind {
				return false
			}
		}
		if pair.old.ParentLink() != nil && !pair.sameParent() {
			return false // its totals are not kept
		}
	}
	return len(p.removed) == 0
}

// harmless: whoever knows only the old schema writes nothing that is wrong in the
// new one. What has a default would be missing, or have the old one; what is
// deleted would take other resources with it, or fewer.
func harmless(p *plan) bool {
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
			return false // its totals would not be kept
		}
	}
	return true
}
