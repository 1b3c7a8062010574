package store

import (
	"bytes"
	"fmt"

	"github.com/plural-go/plural/internal/catalog"
	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/lists"
	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/statement"
	"github.com/plural-go/plural/problem"
)

// binding is the SQL of the collections of a store for the tables as one stored schema has them: with other names or more columns than
// the schema of the server, while the database is expanded. A transaction keeps the binding that it begins with.
type binding struct {
	db     db.Database
	tables map[*model.Collection]*table // see table
	sql    *statement.Tables            // the same tables, for statements that select
	log    *changelog.Log

	// isTarget: the database is expanded for the schema of the server. A contraction may give the tables other names, so a transaction
	// reads the version of the schema in a statement of its own, before any statement with names.
	isTarget bool
	oldest   int64  // of the versions whose operations the server executes: it leaves those of earlier servers to them
	document []byte // of the stored schema

	selectPointAndTotal string
}

// bound is the binding for the schema that the database had when it was last read.
func (s *Store) bound() *binding { return s.compatible.Load().binding }

// bind makes the binding for a stored schema, or returns the one before if nothing differs.
func (s *Store) bind(state *catalog.State, before *binding) (*binding, error) {
	layout, err := state.Layout(s.schema)
	if err != nil {
		return nil, err
	}
	layout.Version = s.version
	b := &binding{db: s.db, tables: map[*model.Collection]*table{}, isTarget: layout.IsTarget, document: state.Schema.Document()}
	if before != nil && before.isTarget == b.isTarget && bytes.Equal(before.document, b.document) {
		return before, nil
	}
	if layout.IsTarget {
		b.oldest = s.version
	}
	if b.log, err = changelog.Open(s.db, s.schema, layout); err != nil {
		return nil, err
	}
	b.selectPointAndTotal = "SELECT " + lists.TotalSQL("$1", "$2") + ", " + b.log.PointColumns()
	var all []*db.Table
	for _, c := range s.schema.All() {
		all = append(all, layout.Table(s.db, c))
	}
	b.sql = statement.NewTables(s.db, all)
	for _, of := range all {
		b.tables[of.Collection] = newTable(s.db, b.sql.Of(of.Collection))
	}
	for c, t := range b.tables {
		t.firstPage = map[bool]string{false: b.firstPage(c, false), true: b.firstPage(c, true)}
		t.pageAt = b.pageAt(c)
		t.insert = s.db.InsertSQL(t.Table, b.log.Number(c), s.version)
		t.computesOtherwise = layout.ComputesOtherwise(c)
	}
	return b, nil
}

// table is that of a collection, in whatever version of the interface.
func (b *binding) table(c *model.Collection) *table { return b.tables[c.Base()] }

// all lists the tables.
func (b *binding) all() (all []*db.Table) {
	for _, t := range b.tables {
		all = append(all, t.Table)
	}
	return all
}

// nameOf is the name that a collection has in the database.
func (b *binding) nameOf(c *model.Collection) string { return b.table(c).Stored.Name }

// ownName is the name of the collection that has a name in the database.
func (b *binding) ownName(stored string) string {
	for c, t := range b.tables {
		if t.Stored.Name == stored {
			return c.Name
		}
	}
	return stored
}

// listOf is the list of a collection, or of one parent in it.
func (b *binding) listOf(c *model.Collection, parent *model.ID) lists.List {
	return lists.Of(b.table(c).Table, parent)
}

// compatibility is what a server may do in a database whose schema has changed since it was
// started.
type compatibility struct {
	db.Version           // of the schema in the database
	history       string // see HistoryTag
	reads, writes bool
	*binding      // for that schema, or an earlier one if the server may not read
}

// begin makes sure, at the start of a transaction, that the server may use the schema, and finds the binding for it. The
// schema cannot change until the transaction ends.
//
// SQLite calls the function below within Expect. PostgreSQL calls it with the first statement, when begin has returned. A write may have
// queued statements for the former binding by then: if the binding differs, the task ends with ErrOutdated and runs again. A read keeps the
// Reader of the former binding, whose names are the same.
func (t *Tx) begin(writes bool, may func(*compatibility) bool) error {
	known, expected := t.store.compatible.Load(), db.Version{} // matches no schema
	if may(known) {
		expected = known.Version
	}
	t.bound = known.binding
	err := t.conn.Expect(expected, func(c db.Conn) error {
		found, err := t.store.recheck(c)
		switch {
		case err != nil:
			return err
		case !may(found):
			return otherSchema()
		case t.begun && writes && found.binding != t.bound:
			return db.ErrOutdated
		}
		t.bound = found.binding
		return nil
	})
	if err == nil && t.bound.isTarget { // the expectation is checked with the first statement: see db.Conn
		_, err = db.One(t.conn, nil, "SELECT 1")
	}
	t.begun = true
	return err
}

// recheck finds what the server may do with the current schema.
func (s *Store) recheck(c db.Conn) (*compatibility, error) {
	current, err := db.ReadVersion(c)
	known := s.compatible.Load()
	if err != nil || known.Version == current {
		return known, err
	}
	state, err := catalog.ReadState(c)
	if err != nil {
		return nil, err
	}
	found := &compatibility{Version: current, binding: known.binding}
	if found.history, err = historyTag(c); err != nil {
		return nil, err
	}
	own := s.schema
	if found.reads, found.writes = true, true; !state.IsTarget(own) && !state.IsFormer(own) {
		found.reads, found.writes = migrate.Allows(own, state.Schema)
	}
	if found.reads {
		if found.binding, err = s.bind(state, known.binding); err != nil {
			return nil, fmt.Errorf("the schema of the database cannot be used: %w", err)
		}
	}
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
