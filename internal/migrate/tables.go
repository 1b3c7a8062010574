package migrate

import (
	"slices"

	"github.com/plural-go/plural/internal/catalog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/search"
)

// dropForeignKeys drops the foreign keys that change, where they are separate constraints
// and not part of the table definition.
func (m *migration) dropForeignKeys(found tables) (statements []string) {
	if m.dialect.InlineReferences() {
		return nil
	}
	for _, c := range m.plan.from.Collections() {
		for _, link := range c.Links() {
			name := c.Columns()[link.Column].Name
			constraint := found[c.Name].Constraints[name]
			if !m.keyStays(link) && constraint != "" {
				statements = append(statements, "ALTER TABLE "+db.Quote(m.dialect, c.Name)+` DROP CONSTRAINT "`+constraint+`"`)
			}
		}
	}
	return statements
}

// dropIndexes drops the indexes that new values could violate: of values that no longer need to be unique, as several
// resources may get the same default, those whose values may be equal on the way, and those on values inside objects and
// arrays that the new schema does not have.
func (m *migration) dropIndexes(found tables) (statements []string) {
	for _, p := range m.plan.pairs {
		wanted := db.Indexes(p.to)
		for _, index := range found[p.from.Name].Indexes {
			if index.Unique && p.staysUnique(index.Columns) || index.Expression && slices.ContainsFunc(wanted, index.Same) || !index.Unique && !index.Expression {
				continue
			}
			statements = append(statements, m.dialect.DropIndex(index.Name)...)
		}
	}
	return statements
}

// staysUnique reports whether the columns of a unique index of from must be unique in to as well, and are unique on the
// way. If several of them change, they do not all change at once, and resources may have the same values in between.
func (p *pair) staysUnique(columns []string) bool {
	group := make(model.IndexGroup, len(columns))
	for i, name := range columns {
		group[i].Column = slices.IndexFunc(p.from.Columns(), func(c model.Column) bool { return c.Name == name })
	}
	group = p.carried(group)
	changed := 0
	for _, part := range group {
		if c := p.changeOf(part.Column); c != nil {
			changed++
			if c.computed != nil {
				return false // two resources may exchange their values
			}
		}
	}
	return changed <= 1 && slices.ContainsFunc(p.to.UniqueGroups(), func(other []int) bool { return slices.Equal(db.IndexOf(other...), group) })
}

func (m *migration) keyStays(before model.Link) bool {
	for _, p := range m.plan.pairs {
		if p.from != before.From {
			continue
		}
		to := slices.Index(p.source, before.Column)
		if to < 0 {
			return false
		}
		after := linkAt(p.to, to)
		if after == nil {
			return false
		}
		target := m.plan.pairOf(after.To)
		return target != nil && target.from == before.To
	}
	return false
}

// rename gives columns and tables their new names. A new name is never also an old one: a declared name that
// exists is kept, and a schema cannot declare a name that it renames.
func (m *migration) rename(tables) (statements []string) {
	for _, p := range m.plan.pairs {
		alter := "ALTER TABLE " + db.Quote(m.dialect, p.from.Name) + " RENAME "
		for to, column := range p.to.Columns() {
			if _, moved := p.moved(to); moved || p.source[to] == noSource {
				continue
			}
			if name := p.from.Columns()[p.source[to]].Name; name != column.Name {
				statements = append(statements, alter+"COLUMN "+db.Quote(m.dialect, name)+" TO "+db.Quote(m.dialect, column.Name))
			}
		}
		if p.from.Name == p.to.Name {
			continue
		}
		statements = append(statements, alter+"TO "+db.Quote(m.dialect, p.to.Name))
		for _, table := range []string{db.TotalsTable, db.OffsetsTable, db.QueueTable} {
			statements = append(statements, "UPDATE "+table+" SET collection = "+db.Literal(p.to.Name)+" WHERE collection = "+db.Literal(p.from.Name))
		}
	}
	return statements
}

// dropTables removes the collections that are gone, with all that is known of them. Their
// changes stay until they are old, because only the beginning of the log is ever removed. They are
// not sent to clients: no collection has their number any more.
func (m *migration) dropTables(found tables) (statements []string) {
	for _, c := range m.plan.removed {
		for _, index := range found[c.Name].Indexes {
			statements = append(statements, m.dialect.DropIndex(index.Name)...)
		}
		statements = append(statements, "DROP TABLE "+db.Quote(m.dialect, c.Name))
		for _, table := range []string{db.TotalsTable, db.OffsetsTable} {
			statements = append(statements, "DELETE FROM "+table+" WHERE collection = "+db.Literal(c.Name))
		}
	}
	return statements
}

func (m *migration) alterTables(found tables) (statements []string) {
	for _, p := range m.plan.pairs {
		moves := map[string]string{}
		for to, column := range p.to.Columns() {
			if temporary, ok := p.moved(to); ok {
				moves[column.Name] = temporary
			}
		}
		statements = append(statements, m.dialect.AlterTable(p.to, found[p.to.Name], moves)...)
	}
	return statements
}

func (m *migration) createTables(tables) (statements []string) {
	for _, c := range m.plan.added {
		statements = append(statements, db.CreateTable(m.dialect, c, c.Name))
	}
	return statements
}

// matchIndexes creates the indexes that the schema needs, with the names that it defines,
// and drops all others.
func (m *migration) matchIndexes(found tables) []string {
	var drops, creates []string
	for _, c := range m.plan.to.Collections() {
		have, want := found[c.Name].Indexes, db.Indexes(c)
		same := func(a db.IndexDefinition) func(db.IndexDefinition) bool {
			return func(b db.IndexDefinition) bool { return a.Name == b.Name && a.Same(b) }
		}
		for _, index := range have {
			if !slices.ContainsFunc(want, same(index)) {
				drops = append(drops, m.dialect.DropIndex(index.Name)...)
			}
		}
		for _, index := range want {
			if !slices.ContainsFunc(have, same(index)) {
				creates = append(creates, db.CreateIndex(m.dialect, c, index)...)
			}
		}
	}
	return append(drops, creates...)
}

func (m *migration) addForeignKeys(found tables) (statements []string) {
	if m.dialect.InlineReferences() {
		return nil
	}
	for _, c := range m.plan.to.Collections() {
		for _, link := range c.Links() {
			if found[c.Name].References[c.Columns()[link.Column].Name] == "" {
				statements = append(statements, "ALTER TABLE "+db.Quote(m.dialect, c.Name)+" ADD "+db.ForeignKey(m.dialect, link))
			}
		}
	}
	return statements
}

// CreateTables creates all tables and indexes of a schema, without rows.
func CreateTables(c db.Conn, d db.Dialect, s *model.Schema) error {
	tables, additions := db.Definitions(d, s)
	if err := db.ExecAll(c, append(tables, additions...)...); err != nil {
		return err
	}
	for _, collection := range s.All() {
		if err := search.Build(c, d, collection); err != nil {
			return err
		}
	}
	return nil
}

// createAll creates all tables and indexes of a schema, and stores the schema.
func createAll(c db.Conn, d db.Dialect, s *model.Schema, at model.Value) error {
	if err := CreateTables(c, d, s); err != nil {
		return err
	}
	return catalog.Create(c, s, at)
}
