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
	last, err := lastRevision(m.conn, m.dialect)
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

func lastRevision(c db.Conn, d db.Dialect) (last int64, err error) {
	_, err = db.One(c, func(row model.Row) { last = row.Int(0) }, d.LastGiven())
	return last, err
}

// renewHistory begins another history if the migration has changed values: the change log does
// not tell how.
func (m *migration) renewHistory() error {
	if m.plan.upgrade || !m.rewritten && !m.plan.convertsHistory() {
		return nil
	}
	if err := db.ClearLog(m.conn, m.dialect, m.at); err != nil {
		return err
	}
	return db.NewHistory(m.conn)
}

// convertsHistory reports whether values in the change log have another form in the new schema.
func (p *plan) convertsHistory() bool {
	for _, pair := range p.pairs {
		if pair.old.NoTimestamps != pair.now.NoTimestamps {
			return true
		}
		for to, from := range pair.source {
			if from != noSource && pair.old.Columns()[from].Kind != pair.now.Columns()[to].Kind {
				return true
			}
		}
	}
	return false
}

// saveNumbered makes the new schema the one in force.
func (m *migration) saveNumbered() error {
	last, err := lastRevision(m.conn, m.dialect)
	if err != nil {
		return err
	}
	numbers := numberAll(m.plan.old)
	if !m.plan.upgrade {
		if numbers, err = readNumbering(m.conn); err != nil {
			return err
		}
	}
	return saveSchema(m.conn, m.plan.now, numbers.after(m.plan, last), m.at)
}

// RenewHistory gives the database another history id, and a new version of the schema in force,
// by which servers notice it.
func RenewHistory(c db.Conn, d db.Dialect, at model.Value) error {
	format, err := db.ReadMeta(c, "format")
	if err != nil {
		return err
	}
	columns := "document, numbers"
	switch format {
	case previous: // has no history id yet
		columns = "document"
	case Format:
		if err := db.NewHistory(c); err != nil {
			return err
		}
		_, _, renumbered := d.ChangeOrder()
		if err := db.ExecAll(c, renumbered...); err != nil {
			return err
		}
	default:
		return otherFormat(format)
	}
	_, err = c.Exec("INSERT INTO "+db.SchemasTable+" (version, at, "+columns+") SELECT version + 1, $1, "+columns+" FROM "+db.SchemasTable+" ORDER BY version DESC LIMIT 1", at)
	return err
}

func otherFormat(format string) error {
	return fmt.Errorf("the database has format %q, but this version of Plural supports only format %q", format, Format)
}
