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
		w := m.newRewriter(p)
		if len(w.changes) == 0 {
			continue
		}
		if err := m.eachTransformed(p, w.add); err != nil {
			return err
		}
		if err := w.flush(); err != nil {
			return err
		}
	}
	return nil
}

// fillNewColumns gives existing resources the defaults of new attributes. Their revision and
// updated_at stay the same, because no client changed them.
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

// rewriter writes the new values of resources. It cannot violate a unique index on the way:
// a value in its column becomes null or a default, or stays the same, and the survey has
// ruled out duplicates in the result.
type rewriter struct {
	*migration
	pair    *pair
	changes []*change // of columns of the old schema
	update  string    // its parameters: a value for each change, then the id
	rows    []model.Record
}

func (m *migration) newRewriter(p *pair) *rewriter {
	w := &rewriter{migration: m, pair: p}
	update := &db.Builder{}
	for _, c := range p.changes {
		if c.fromColumn == noSource {
			continue
		}
		w.changes = append(w.changes, c)
		name, moved := p.moved(c.toColumn)
		if !moved {
			name = p.from.Columns()[c.fromColumn].Name
		}
		update.Write(db.Choose(len(update.Args) == 0, "", ", "), db.Quote(m.dialect, name), " = ")
		update.Arg(model.Null)
	}
	update.Write(" WHERE ", db.Quote(m.dialect, "id"), " = ")
	update.Arg(model.Null)
	w.update = "UPDATE " + db.Quote(m.dialect, p.from.Name) + " SET " + update.String()
	return w
}

func (w *rewriter) add(before, after model.Record) error {
	row, differs := make(model.Record, 0, len(w.changes)+1), false
	for _, c := range w.changes {
		was := before[c.fromColumn]
		if _, moved := w.pair.moved(c.toColumn); moved {
			was = model.Null // as the new column is still empty
		}
		row = append(row, after[c.toColumn])
		differs = differs || after[c.toColumn] != was
	}
	if !differs {
		return nil
	}
	if w.rows = append(w.rows, append(row, before[model.IDColumn])); len(w.rows) < batchSize {
		return nil
	}
	return w.flush()
}

func (w *rewriter) flush() error {
	w.valuesChanged = w.valuesChanged || len(w.rows) > 0
	err := db.ExecEach(w.conn, w.update, w.rows)
	w.rows = w.rows[:0]
	return err
}
