package migrate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/catalog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/lists"
)

// migration applies a plan in a transaction. It drops words, foreign keys and indexes that are in the way, adds columns, changes values,
// renames, drops removed collections, and then makes tables and indexes as the new schema has them. Each stage that executes statements
// reads the table definitions first, instead of tracking them.
type migration struct {
	survey
	valuesChanged bool // values of resources were changed, other than by rules
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
		{"drop search", m.dropWords},
		{"drop foreign keys", m.execute(m.dropForeignKeys)},
		{"drop indexes", m.execute(m.dropIndexes)},
		{"columns", m.execute(m.addColumns)},
		{"values", m.changeValues},
		{"names", m.execute(m.rename)},
		{"removed collections", m.execute(m.dropTables)},
		{"alterations", m.execute(m.alterTables)},
		{"tables", m.execute(m.createTables)},
		{"indexes", m.execute(m.matchIndexes)},
		{"build search", m.buildWords},
		{"add foreign keys", m.execute(m.addForeignKeys)},
		{"totals", m.recount},
		{"history", m.renewHistory},
		{"schema", m.saveNewSchema},
		{"verification", m.verify},
	} {
		if err := stage.run(); err != nil {
			return fmt.Errorf("migrating (%s): %w", stage.name, err)
		}
		StageReached(stage.name)
	}
	return nil
}

// tables is the definitions of the tables of the database, by their names.
type tables map[string]*db.TableDefinition

// execute is a stage that executes statements, which depend on the tables as they are when the stage begins.
func (m *migration) execute(statements func(found tables) []string) func() error {
	return func() error {
		found, err := db.Describe(m.conn, m.dialect)
		if err != nil {
			return err
		}
		return db.ExecAll(m.conn, statements(found)...)
	}
}

// moved reports whether a column of to is filled under a temporary name, and returns that
// name. This is so for a column whose kind changes, and for one that is still NOT NULL
// although some of its values are dropped.
func (p *pair) moved(to int) (temporary string, ok bool) {
	from := p.source[to]
	if from == noSource {
		return "", false
	}
	before, after := p.from.Columns()[from], p.to.Columns()[to]
	givesUp := slices.ContainsFunc(p.changes, func(c *change) bool {
		return c.toColumn == to && (c.valueStep != nil || c.linkStep != nil || c.renewed())
	})
	if before.Kind == after.Kind && !(before.NotNull && givesUp) {
		return "", false
	}
	return "_plural_" + strconv.Itoa(to), true
}

// addColumns adds the new columns. A later stage makes them required.
func (m *migration) addColumns(tables) (statements []string) {
	for _, p := range m.plan.pairs {
		for to, column := range p.to.Columns() {
			name := column.Name
			if temporary, ok := p.moved(to); ok {
				name = temporary
			} else if p.source[to] != noSource {
				continue
			}
			statements = append(statements, "ALTER TABLE "+db.Quote(m.dialect, p.from.Name)+" ADD COLUMN "+db.Quote(m.dialect, name)+" "+m.dialect.ColumnType(column.Kind))
		}
	}
	return statements
}

// mergeDeltas merges all deltas, because those left over would belong to the old schema.
func (m *migration) mergeDeltas() error {
	_, err := lists.Merge(m.conn, m.dialect, db.NewTables(m.dialect, m.plan.from))
	return err
}

// recount counts the resources of each parent again where parents have changed.
func (m *migration) recount() error {
	for _, p := range m.plan.pairs {
		link := p.to.ParentLink()
		changed := link != nil && slices.ContainsFunc(p.changes, func(c *change) bool { return c.toColumn == link.Column })
		if p.sameParent() && !changed {
			continue
		}
		if err := lists.Recount(m.conn, db.NewTable(m.dialect, p.to)); err != nil {
			return err
		}
	}
	return nil
}

// verify checks that the tables are those that a new database would have.
func (m *migration) verify() error {
	found, err := db.Describe(m.conn, m.dialect)
	if err != nil {
		return err
	}
	if differences := catalog.Differences(m.dialect, m.plan.to, found); len(differences) > 0 {
		return fmt.Errorf("the tables would not match the schema, so nothing was changed; this is a bug in Plural:\n  - %s", strings.Join(differences, "\n  - "))
	}
	return nil
}
