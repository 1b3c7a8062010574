package migrate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/lists"
	"github.com/plural-go/plural/internal/model"
)

// migration carries a plan out, in a transaction. Data is changed first, under
// the old names; then names, columns, tables and indexes follow. What the tables
// look like is asked again after each change, and not remembered.
type migration struct {
	survey
	at        model.Value // the time of the migration
	rewritten bool        // values of resources were changed
}

// StageReached is for tests that stop a migration in the middle.
var StageReached = func(string) {}

func (m *migration) apply() error {
	if err := m.mergeDeltas(); err != nil {
		return err
	}
	for _, stage := range []struct {
		name string
		run  func() error
	}{
		{"format", m.upgradeFormat},
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
		{"history", m.renewHistory},
		{"schema", m.saveNumbered},
		{"verification", m.verify},
	} {
		if err := stage.run(); err != nil {
			return fmt.Errorf("migrating (%s): %w", stage.name, err)
		}
		StageReached(stage.name)
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
			err := db.ExecAll(m.conn, "ALTER TABLE "+db.Quote(m.dialect, p.old.Name)+" ADD COLUMN "+db.Quote(m.dialect, name)+" "+m.dialect.ColumnType(column.Kind))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// mergeDeltas leaves no deltas behind, which would be those of another schema.
func (m *migration) mergeDeltas() error {
	_, err := lists.Merge(m.conn, m.plan.old, func(c *model.Collection) *db.Table { return db.NewTable(m.dialect, c) })
	return err
}

// recount counts the resources of each parent where parents have changed.
func (m *migration) recount() error {
	for _, p := range m.plan.pairs {
		link := p.now.ParentLink()
		changed := link != nil && slices.ContainsFunc(p.changes, func(c *change) bool { return c.to == link.Column })
		if p.sameParent() && !changed {
			continue
		}
		if err := lists.RecountParents(m.conn, db.NewTable(m.dialect, p.now)); err != nil {
			return err
		}
	}
	return nil
}

// verify makes sure that the tables are those that a new database would have.
func (m *migration) verify() error {
	found, err := db.Describe(m.conn, m.dialect)
	if err != nil {
		return err
	}
	if differences := Compare(m.dialect, m.plan.now, found); len(differences) > 0 {
		return fmt.Errorf("the tables would not fit the schema, so that nothing was changed; this is a mistake in Plural:\n  - %s", strings.Join(differences, "\n  - "))
	}
	return nil
}
