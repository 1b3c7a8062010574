package catalog

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// State is the schema of a database. While the database is expanded, servers with two schemas use it: with Former, which it had
// before, and with Target, to which a contraction migrates it. Schema has what both need, under the names of Former.
type State struct {
	Version int64
	Schema  *model.Schema // as it is stored
	Numbers *Numbering

	// Nil, if the database is not expanded.
	Target, Former *model.Schema
	FormerVersion  int64
}

// ReadState reads the current schema.
func ReadState(c db.Conn) (*State, error) {
	s := &State{}
	// The last versions may all have a target, because a new history stores the schema again. The former one is the last without.
	err := eachVersion(c, func(version int64, document []byte, numbers *Numbering) (more bool, err error) {
		stored, err := compile.Stored(document)
		switch {
		case err != nil:
			return false, fmt.Errorf("the schema in the database cannot be used; a newer version of Plural may have written it: %w", err)
		case s.Schema != nil && numbers.Target == nil:
			s.Former, s.FormerVersion = stored, version
		case s.Schema == nil:
			s.Version, s.Schema, s.Numbers = version, stored, numbers
			if numbers.Target != nil {
				s.Target, err = compile.Stored([]byte(numbers.Target.Document))
			}
		}
		return s.Target != nil && s.Former == nil, err
	}, " ORDER BY version DESC")
	if err == nil && s.Schema == nil {
		err = fmt.Errorf("the database has no stored schema: the table %s is empty", db.SchemasTable)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// eachVersion visits the versions of the schema of a database, until visit returns false. Clauses end the SELECT.
func eachVersion(c db.Conn, visit func(version int64, document []byte, numbers *Numbering) (more bool, err error), clauses string, args ...model.Value) error {
	var failed error
	err := db.EachWhile(c, func(row model.Row) (more bool) {
		var numbers *Numbering
		if numbers, failed = ParseNumbering(row.AppendText(nil, 2)); failed != nil {
			return false
		}
		more, failed = visit(row.Int(0), row.AppendText(nil, 1), numbers)
		return more
	}, "SELECT version, document, numbers FROM "+db.SchemasTable+clauses, args...)
	if err != nil {
		return err
	}
	return failed
}

// Newest is the newest schema that servers have: the target, or else the stored one. The numbers are those of what it has.
func (s *State) Newest() (*model.Schema, *Numbering) {
	if s.Target == nil {
		return s.Schema, s.Numbers
	}
	return s.Target, s.Numbers.OfTarget()
}

// IsTarget reports whether the database is expanded for a schema.
func (s *State) IsTarget(own *model.Schema) bool { return isSame(s.Target, own) }

// IsFormer reports whether the database is expanded, and had a schema before.
func (s *State) IsFormer(own *model.Schema) bool { return isSame(s.Former, own) }

func isSame(a, b *model.Schema) bool { return a != nil && bytes.Equal(a.Document(), b.Document()) }

// Layout is how a database stores the collections of a schema that a server has: the stored one, an earlier one that the server may go
// on with, or the target of an expanded database.
type Layout struct {
	// Version is that of the stored schema, or of the former one if the server has that. After its start, the store sets its own.
	Version int64
	// IsTarget: the database is expanded for the schema of the server.
	IsTarget bool
	// Numbers is how the change log names what the schema has.
	Numbers *Numbering

	stored *Numbering
	tables map[*model.Collection]storedTable
}

// storedTable is the declaration of a table in the database, with its column for each column of a collection.
type storedTable struct {
	stored  *model.Collection
	columns []int
}

// Layout finds the collections of a schema in the database.
func (s *State) Layout(own *model.Schema) (*Layout, error) {
	l := &Layout{Version: s.Version, Numbers: s.Numbers, stored: s.Numbers, tables: map[*model.Collection]storedTable{}}
	nameOf := func(c *model.Collection) string { return c.Name }
	attributeOf := func(_ *model.Collection, a *model.Attribute) string { return a.Name }
	switch {
	case s.IsFormer(own):
		l.Version = s.FormerVersion
	case s.IsTarget(own):
		l.IsTarget = true
		l.Numbers = s.Numbers.OfTarget()
		nameOf = func(c *model.Collection) string { return s.Numbers.nameOf(l.Numbers.Collections[c.Name].Number) }
		attributeOf = func(c *model.Collection, a *model.Attribute) string {
			numbered := l.Numbers.Collections[c.Name]
			return s.Numbers.attributeOf(nameOf(c), numbered.Attributes[a.Name].Number)
		}
	}
	for _, c := range own.All() {
		stored := s.Schema.Collection(nameOf(c))
		if stored == nil {
			return nil, fmt.Errorf("the database has no table for the collection %s", c.Name)
		}
		names := make([]string, len(stored.Columns()))
		for i, column := range stored.Columns() {
			names[i] = column.Name
		}
		p := storedTable{stored, make([]int, len(c.Columns()))}
		for i, column := range c.Columns() {
			name := column.Name
			if column.Attribute != nil {
				name = attributeOf(c, column.Attribute)
			}
			if p.columns[i] = slices.Index(names, name); p.columns[i] < 0 {
				return nil, fmt.Errorf("the database has no column for %s of %s", column.Name, c.Name)
			}
		}
		l.tables[c] = p
	}
	return l, nil
}

// nameOf is the name of the collection that has a number.
func (n *Numbering) nameOf(number int64) string {
	for name, each := range n.Collections {
		if each.Number == number {
			return name
		}
	}
	return ""
}

// attributeOf is the name of the attribute of a collection that has a number.
func (n *Numbering) attributeOf(collection string, number int64) string {
	for name, each := range n.Collections[collection].Attributes {
		if each.Number == number {
			return name
		}
	}
	return ""
}

// Table is the table of a collection.
func (l *Layout) Table(d db.Dialect, c *model.Collection) *db.Table {
	p := l.tables[c]
	return db.NewTableAs(d, c, p.stored, p.columns)
}

// OtherNumber is how the change log names a column that the collection of a table does not have; 0: the log does not have it.
func (l *Layout) OtherNumber(t *db.Table, other db.OtherColumn) int64 {
	return l.stored.Collections[t.Stored.Name].Attributes[t.Stored.Columns()[other.Column].Name].Number
}

// ComputesOtherwise reports whether the stored schema has other rules for computed attributes of a collection than the schema of the server.
func (l *Layout) ComputesOtherwise(c *model.Collection) bool {
	p := l.tables[c]
	from, to := c.AttributeColumns()
	for column := from; column < to; column++ {
		own, stored := c.Columns()[column].Attribute, p.stored.Columns()[p.columns[column]].Attribute
		if own.Computed.Text != stored.Computed.Text || own.When != stored.When {
			return true
		}
	}
	return false
}

// Stored is the collection as the database declares it.
func (l *Layout) Stored(c *model.Collection) *model.Collection { return l.tables[c].stored }

// StoredColumn is the column that the database has for a column of a collection.
func (l *Layout) StoredColumn(c *model.Collection, column int) int {
	return l.tables[c].columns[column]
}
