package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/model"
)

// migration carries a plan out, in a transaction. Data is changed first, under
// the old names; then names, columns, tables and indexes follow. What the tables
// look like is asked again after each change, and not remembered.
type migration struct {
	survey
	at model.Value // the time of the migration
}

// stageReached is for tests that stop a migration in the middle.
var stageReached = func(string) {}

func (m *migration) apply() error {
	if err := m.takeUp(); err != nil {
		return err
	}
	for _, stage := range []struct {
		name string
		run  func() error
	}{
		{"keys", m.dropForeignKeys},
		{"unique", m.dropUnique},
		{"columns", m.addColumns},
		{"values", m.changeValues},
		{"names", m.rename},
		{"removals", m.dropTables},
		{"shapes", m.reshapeTables},
		{"tables", m.createTables},
		{"indexes", m.matchIndexes},
		{"references", m.addForeignKeys},
		{"totals", m.recount},
		{"schema", func() error { return saveSchema(m.conn, m.plan.now, m.at) }},
		{"verification", m.verify},
	} {
		if err := stage.run(); err != nil {
			return fmt.Errorf("migrating (%s): %w", stage.name, err)
		}
		stageReached(stage.name)
	}
	return nil
}

// moved reports whether a column of now is filled anew, under another name at
// first, and gives that name: one of another kind, and one that cannot be null
// yet although some of its values are given up.
func (p *pair) moved(to int) (temporary string, ok bool) {
	from := p.source[to]
	if from == noSource {
		return "", false
	}
	before, now := p.old.Columns()[from], p.now.Columns()[to]
	givesUp := slices.ContainsFunc(p.changes, func(c *change) bool { return c.to == to && (c.value != nil || c.link != nil) })
	if before.Kind == now.Kind && !(before.NotNull && givesUp) {
		return "", false
	}
	return "_plural_" + strconv.Itoa(to), true
}

// addColumns adds what is new; whether it is required is for later.
func (m *migration) addColumns() error {
	for _, p := range m.plan.pairs {
		for to, column := range p.now.Columns() {
			name := column.Name
			if temporary, ok := p.moved(to); ok {
				name = temporary
			} else if p.source[to] != noSource {
				continue
			}
			err := execAll(m.conn, "ALTER TABLE "+quote(m.dialect, p.old.Name)+" ADD COLUMN "+quote(m.dialect, name)+" "+m.dialect.columnType(column.Kind))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// takeUp leaves no deltas behind, which would be those of another schema.
func (m *migration) takeUp() error {
	return takeUp(m.conn, m.plan.old, func(c *model.Collection) *table { return newTable(m.dialect, c) })
}

// recount counts the resources of each parent where parents have changed.
func (m *migration) recount() error {
	for _, p := range m.plan.pairs {
		link := p.now.ParentLink()
		changed := link != nil && slices.ContainsFunc(p.changes, func(c *change) bool { return c.to == link.Column })
		if p.sameParent() && !changed {
			continue
		}
		name := model.TextValue(p.now.Name)
		for _, derived := range []string{totalsTable, positionsTable} {
			if _, err := m.conn.exec("DELETE FROM "+derived+" WHERE collection = $1 AND parent <> ''", name); err != nil {
				return err
			}
		}
		if link == nil {
			continue
		}
		var totals []model.Record
		column := quote(m.dialect, p.now.Columns()[link.Column].Name)
		err := each(m.conn, func(row model.Row) bool {
			totals = append(totals, model.Record{name, model.TextValue(row.ID(0).String()), model.IntValue(row.Int(1))})
			return true
		}, "SELECT "+column+", count(*) FROM "+quote(m.dialect, p.now.Name)+" WHERE "+column+" IS NOT NULL GROUP BY "+column)
		if err != nil {
			return err
		}
		for batch := range slices.Chunk(totals, batchSize) {
			if err := execEach(m.conn, "INSERT INTO "+totalsTable+" (collection, parent, total) VALUES ($1, $2, $3)", batch); err != nil {
				return err
			}
		}
		for _, total := range totals {
			if total[2].Int() <= 2*blockSize {
				continue
			}
			long := &positions{conn: m.conn, table: newTable(m.dialect, p.now), list: list{p.now.Name, total[1].Text()}}
			if err := long.build(); err != nil {
				return err
			}
		}
	}
	return nil
}

// verify makes sure that the tables are those that a new database would have.
func (m *migration) verify() error {
	found, err := describe(m.conn, m.dialect)
	if err != nil {
		return err
	}
	if differences := compare(m.dialect, m.plan.now, found); len(differences) > 0 {
		return fmt.Errorf("the tables would not fit the schema, so that nothing was changed; this is a mistake in Plural:\n  - %s", strings.Join(differences, "\n  - "))
	}
	return nil
}
