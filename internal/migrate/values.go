package migrate

import (
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

func (m *migration) changeValues() error {
	for _, p := range m.plan.pairs {
		if err := m.fillNewColumns(p); err != nil {
			return err
		}
		if err := m.replaceValues(p); err != nil {
			return err
		}
		if err := m.convertValues(p); err != nil {
			return err
		}
	}
	return nil
}

// fillNewColumns gives existing resources the defaults of new attributes. Their revision and
// updated_at stay the same, because no client changed them. The history goes on: its entries have no values of new attributes, and
// get the default when they are read.
func (m *migration) fillNewColumns(p *pair) error {
	update := &db.Builder{}
	set := func(to int, value model.Value) {
		update.Write(db.Choose(len(update.Args) == 0, "", ", "), db.Quote(m.dialect, p.to.Columns()[to].Name), " = ")
		update.Arg(value)
	}
	for to, column := range p.to.Columns() {
		switch {
		case p.source[to] != noSource:
		case to == p.to.CreatedColumn() || to == p.to.UpdatedColumn():
			set(to, m.at)
		case !column.Attribute.DefaultValue().IsNull():
			set(to, column.Attribute.DefaultValue())
		}
	}
	if len(update.Args) == 0 {
		return nil
	}
	_, err := m.conn.Exec("UPDATE "+db.Quote(m.dialect, p.from.Name)+" SET "+update.String(), update.Args...)
	return err
}

// replaceValues gives defaults to resources without a value, and drops references to resources that do not exist.
//
// Neither this nor convertValues can violate a unique index on the way: a value in its column becomes null or a
// default, or stays the same, and the survey has ruled out duplicates in the result. An index of which several columns
// change was dropped, see staysUnique.
func (m *migration) replaceValues(p *pair) error {
	var columns, cleared []int
	for _, c := range p.changes {
		switch {
		case c.inGo() || c.fromColumn == noSource:
		case c.cleared != nil:
			cleared = append(cleared, c.toColumn)
		default:
			columns = append(columns, c.toColumn)
		}
	}
	changed, err := m.replace(p, columns)
	m.valuesChanged = m.valuesChanged || changed > 0
	if err == nil {
		_, err = m.replace(p, cleared) // the history goes on, without the former values
	}
	return err
}

// replace gives columns their new values, which the database can tell, and returns how many resources are changed.
func (m *migration) replace(p *pair, columns []int) (changed int, err error) {
	if len(columns) == 0 {
		return 0, nil
	}
	update := &db.Builder{}
	update.Write("UPDATE ", db.Quote(m.dialect, p.from.Name), " AS ", db.RowName, " SET ")
	update.List(len(columns), ", ", "", func(i int) {
		update.Write(m.written(p, columns[i]), " = ")
		m.value(update, p, columns[i])
	})
	update.Write(" WHERE ")
	update.List(len(columns), " OR ", "", func(i int) {
		update.Write(db.RowName, ".", m.written(p, columns[i]), " IS DISTINCT FROM ")
		m.value(update, p, columns[i])
	})
	return m.conn.Exec(update.String(), update.Args...)
}

// written is the column that gets the new values of a column of to.
func (m *migration) written(p *pair, to int) string {
	name, moved := p.moved(to)
	switch {
	case moved:
	case p.source[to] == noSource:
		name = p.to.Columns()[to].Name
	default:
		name = p.from.Columns()[p.source[to]].Name
	}
	return db.Quote(m.dialect, name)
}

// convertValues writes the values that only Go can tell. Those that rules compute begin no new history: earlier changes have what
// the rules compute of them.
func (m *migration) convertValues(p *pair) error {
	columns := p.converted()
	if len(columns) == 0 {
		return nil
	}
	update := &db.Builder{}
	update.List(len(columns), ", ", "", func(i int) {
		update.Write(m.written(p, columns[i]), " = ")
		update.Arg(model.Null)
	})
	update.Write(" WHERE ", db.Quote(m.dialect, "id"), " = ")
	update.Arg(model.Null)
	sql := "UPDATE " + db.Quote(m.dialect, p.from.Name) + " SET " + update.String()
	return m.eachConverted(p, nil, nil, func(before, after []model.Record) error {
		var rows []model.Record // a value for each column, then the id
		for i := range after {
			row, differs, converted := make(model.Record, 0, len(columns)+1), false, false
			for _, to := range columns {
				was := before[i][to]
				if _, moved := p.moved(to); moved {
					was = model.Null // as the new column is still empty
				}
				row = append(row, after[i][to])
				differs = differs || after[i][to] != was
				converted = converted || after[i][to] != was && p.changeOf(to).valueStep != nil
			}
			m.valuesChanged = m.valuesChanged || converted
			if differs {
				rows = append(rows, append(row, before[i][model.IDColumn]))
			}
		}
		return db.ExecEach(m.conn, sql, rows)
	})
}
