package migrate

import "github.com/plural-go/plural/internal/db"

// renewIfValuesChanged begins another history if the migration has changed values, or values in the log would need another form: the
// change log does not tell how.
func (m *migration) renewIfValuesChanged() error {
	if !m.valuesChanged && !m.plan.convertsHistory() {
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
