package migrate

import "github.com/plural-go/plural/internal/db"

// renewHistory begins another history if the migration has changed values, which the change log does not tell, or if values in the log
// would need another form, as when only the kind of an attribute has changed.
func (m *migration) renewHistory() error {
	if !m.valuesChanged && !m.plan.convertsHistory() {
		return nil
	}
	if err := db.ClearLog(m.conn, m.dialect, m.at); err != nil {
		return err
	}
	return db.NewHistory(m.conn)
}

// convertsHistory reports whether values in the change log have another form in the new schema. A step that is additive after the
// survey affects no value in the log.
func (p *plan) convertsHistory() bool {
	for _, pair := range p.pairs {
		if pair.timestamps != nil && pair.timestamps.Class != Additive {
			return true
		}
		for _, c := range pair.changes {
			if c.valueStep != nil && c.valueStep.Class != Additive && pair.from.Columns()[c.fromColumn].Kind != pair.to.Columns()[c.toColumn].Kind {
				return true
			}
		}
	}
	return false
}
