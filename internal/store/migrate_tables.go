package store

import (
	"slices"

	"github.com/plural-go/plural/internal/model"
)

// dropForeignKeys removes the keys that do not stay as they are, where they are
// not part of the table.
func (m *migration) dropForeignKeys() error {
	if m.dialect.inlineReferences() {
		return nil
	}
	found, err := describe(m.conn, m.dialect)
	if err != nil {
		return err
	}
	for _, c := range m.plan.old.Collections() {
		for _, link := range c.Links() {
			name := c.Columns()[link.Column].Name
			constraint := found[c.Name].constraints[name]
			if m.keyStays(link) || constraint == "" {
				continue
			}
			if _, err := m.conn.exec("ALTER TABLE " + quote(m.dialect, c.Name) + ` DROP CONSTRAINT "` + constraint + `"`); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropUnique removes the indexes of what need not be unique any more, before several
// resources get the same default.
func (m *migration) dropUnique() error {
	found, err := describe(m.conn, m.dialect)
	if err != nil {
		return err
	}
	for _, p := range m.plan.pairs {
		for _, group := range p.old.UniqueGroups() {
			if slices.ContainsFunc(p.now.UniqueGroups(), func(now []int) bool { return slices.Equal(now, p.carried(group)) }) {
				continue
			}
			columns := make([]string, len(group))
			for i, column := range group {
				columns[i] = p.old.Columns()[column].Name
			}
			for _, index := range found[p.old.Name].indexes {
				if !index.unique || !slices.Equal(index.columns, columns) {
					continue
				}
				if err := execAll(m.conn, `DROP INDEX "`+index.name+`"`); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (m *migration) keyStays(old model.Link) bool {
	for _, p := range m.plan.pairs {
		if p.old != old.From {
			continue
		}
		to := slices.Index(p.source, old.Column)
		if to < 0 {
			return false
		}
		now := linkAt(p.now, to)
		if now == nil {
			return false
		}
		target := m.plan.pairOf(now.To)
		return target != nil && target.old == old.To
	}
	return false
}

// rename gives columns and tables their new names. No new name is an old one.
func (m *migration) rename() error {
	for _, p := range m.plan.pairs {
		alter := "ALTER TABLE " + quote(m.dialect, p.old.Name) + " RENAME "
		for to, column := range p.now.Columns() {
			if _, moved := p.moved(to); moved || p.source[to] == noSource {
				continue
			}
			if old := p.old.Columns()[p.source[to]].Name; old != column.Name {
				if err := execAll(m.conn, alter+"COLUMN "+quote(m.dialect, old)+" TO "+quote(m.dialect, column.Name)); err != nil {
					return err
				}
			}
		}
		if p.old.Name == p.now.Name {
			continue
		}
		if err := execAll(m.conn, alter+"TO "+quote(m.dialect, p.now.Name)); err != nil {
			return err
		}
		for _, table := range []string{totalsTable, positionsTable, changesTable, queueTable} {
			_, err := m.conn.exec("UPDATE "+table+" SET collection = $1 WHERE collection = $2", model.TextValue(p.now.Name), model.TextValue(p.old.Name))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// dropTables removes the collections that are gone, with all that is known of them.
func (m *migration) dropTables() error {
	for _, c := range m.plan.removed {
		if err := execAll(m.conn, "DROP TABLE "+quote(m.dialect, c.Name)); err != nil {
			return err
		}
		for _, table := range []string{totalsTable, positionsTable, changesTable} {
			if _, err := m.conn.exec("DELETE FROM "+table+" WHERE collection = $1", model.TextValue(c.Name)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *migration) reshapeTables() error {
	found, err := describe(m.conn, m.dialect)
	if err != nil {
		return err
	}
	for _, p := range m.plan.pairs {
		moves := map[string]string{}
		for to, column := range p.now.Columns() {
			if temporary, ok := p.moved(to); ok {
				moves[column.Name] = temporary
			}
		}
		if err := execAll(m.conn, m.dialect.reshape(p.now, found[p.now.Name], moves)...); err != nil {
			return err
		}
	}
	return nil
}

func (m *migration) createTables() error {
	for _, c := range m.plan.added {
		if err := execAll(m.conn, createTable(m.dialect, c, c.Name)); err != nil {
			return err
		}
	}
	return nil
}

// matchIndexes makes the indexes that the schema wants, under the names that it
// gives them, and drops all others.
func (m *migration) matchIndexes() error {
	found, err := describe(m.conn, m.dialect)
	if err != nil {
		return err
	}
	var drops, creates []string
	for _, c := range m.plan.now.Collections() {
		have, want := found[c.Name].indexes, indexes(c)
		same := func(a indexShape) func(indexShape) bool {
			return func(b indexShape) bool {
				return a.name == b.name && a.unique == b.unique && slices.Equal(a.columns, b.columns)
			}
		}
		for _, index := range have {
			if !slices.ContainsFunc(want, same(index)) {
				drops = append(drops, `DROP INDEX "`+index.name+`"`)
			}
		}
		for _, index := range want {
			if !slices.ContainsFunc(have, same(index)) {
				creates = append(creates, createIndex(m.dialect, c, index))
			}
		}
	}
	return execAll(m.conn, append(drops, creates...)...)
}

func (m *migration) addForeignKeys() error {
	if m.dialect.inlineReferences() {
		return nil
	}
	found, err := describe(m.conn, m.dialect)
	if err != nil {
		return err
	}
	for _, c := range m.plan.now.Collections() {
		for _, link := range c.Links() {
			if found[c.Name].references[c.Columns()[link.Column].Name] != "" {
				continue
			}
			if err := execAll(m.conn, "ALTER TABLE "+quote(m.dialect, c.Name)+" ADD "+foreignKey(m.dialect, link)); err != nil {
				return err
			}
		}
	}
	return nil
}
