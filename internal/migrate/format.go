package migrate

import (
	"fmt"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// Format changes when the tables that are ours do. A database of the previous format is
// migrated.
const (
	Format   = "4"
	previous = "3" // whole representations in the change log, no numbers and no history id
)

// upgradeStep is added to a plan for a database of the previous format.
func (p *plan) upgradeStep() {
	p.upgrade = true
	p.add(Additive, nil, "the database gets the format %s instead of %s: the change log gets another form and begins anew", Format, previous)
}

// upgradeFormat replaces the change log by one of the present form. Its representations do not
// tell the state before the first change of a resource, so that they cannot be converted.
func (m *migration) upgradeFormat() error {
	if !m.plan.upgrade {
		return nil
	}
	last, err := db.Int(m.conn, m.dialect.LastGiven())
	if err != nil {
		return err
	}
	tables, additions := db.LogTables(m.dialect)
	_, numbers := m.dialect.Loading(last)
	statements := append([]string{"DROP TABLE " + db.ChangesTable}, tables...)
	statements = append(append(statements, additions...), numbers...)
	statements = append(statements,
		"ALTER TABLE "+db.SchemasTable+" ADD COLUMN numbers "+m.dialect.ColumnType(model.KindText)+" NOT NULL DEFAULT ''",
		"UPDATE "+db.MetaTable+" SET value = '"+Format+"' WHERE key = 'format'")
	if err := db.ExecAll(m.conn, statements...); err != nil {
		return err
	}
	if last > 0 {
		if err := db.SaveFloor(m.conn, db.Floor{Position: last, Revision: last, At: m.at.Text()}); err != nil {
			return err
		}
	}
	return db.NewHistory(m.conn)
}

func otherFormat(format string) error {
	return fmt.Errorf("the database has format %q, but this version of Plural supports only format %q", format, Format)
}
