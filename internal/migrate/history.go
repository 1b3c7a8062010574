package migrate

import (
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// renewIfValuesChanged begins another history if the migration has changed values, or values in the log would need another form: the
// change log does not tell how. An upgrade of the format has begun one already.
func (m *migration) renewIfValuesChanged() error {
	if m.plan.upgrade || !m.valuesChanged && !m.plan.convertsHistory() {
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
		if pair.from.NoTimestamps != pair.to.NoTimestamps {
			return true
		}
		for to, from := range pair.source {
			if from != noSource && pair.from.Columns()[from].Kind != pair.to.Columns()[to].Kind {
				return true
			}
		}
	}
	return false
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
