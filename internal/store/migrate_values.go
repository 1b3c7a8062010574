package store

import (
	"strconv"
	"strings"

	"github.com/plural-go/plural/schema"
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
		if err := m.pair(p, w.add); err != nil {
			return err
		}
		if err := w.flush(); err != nil {
			return err
		}
	}
	return nil
}

// fillNewColumns gives existing resources the defaults of new attributes. Their
// revision and updated_at stay: nobody changed them.
func (m *migration) fillNewColumns(p *pair) error {
	update := &statement{dialect: m.dialect}
	set := func(to int, value schema.Value) {
		update.write(choose(len(update.args) == 0, "", ", "), quote(m.dialect, p.now.Columns()[to].Name), " = ")
		update.arg(value)
	}
	for to, column := range p.now.Columns() {
		switch {
		case p.source[to] != noSource:
		case to == p.now.CreatedColumn() || to == p.now.UpdatedColumn():
			set(to, m.at)
		case !column.Attribute.DefaultValue().IsNull():
			set(to, column.Attribute.DefaultValue())
		}
	}
	if len(update.args) == 0 {
		return nil
	}
	_, err := m.conn.exec("UPDATE "+quote(m.dialect, p.old.Name)+" SET "+update.String(), update.args...)
	return err
}

// rewriter writes what becomes of the values of resources, those of many resources
// in one statement. No two are the same in a unique group on the way that are not
// in the end, which the survey has ruled out: what stays in its column becomes null
// or a default, or stays what it is.
type rewriter struct {
	*migration
	pair    *pair
	changes []*change // of columns that there were
	names   []string  // quoted, of the columns that are written
	kinds   []schema.Kind
	rows    []schema.Record // id, values
}

func (m *migration) newRewriter(p *pair) *rewriter {
	w := &rewriter{migration: m, pair: p}
	for _, c := range p.changes {
		if c.from == noSource {
			continue
		}
		name, moved := p.moved(c.to)
		if !moved {
			name = p.old.Columns()[c.from].Name
		}
		w.changes = append(w.changes, c)
		w.names = append(w.names, quote(m.dialect, name))
		w.kinds = append(w.kinds, p.now.Columns()[c.to].Kind)
	}
	return w
}

// maxValues is how many values a statement may have in every database.
const maxValues = 32_000

func (w *rewriter) add(before, after schema.Record) error {
	row, differs := schema.Record{before[schema.IDColumn]}, false
	for _, c := range w.changes {
		was := before[c.from]
		if _, moved := w.pair.moved(c.to); moved {
			was = schema.Null // in the new column
		}
		row = append(row, after[c.to])
		differs = differs || after[c.to] != was
	}
	if !differs {
		return nil
	}
	if w.rows = append(w.rows, row); len(w.rows) < batchSize && (len(w.rows)+1)*len(row) < maxValues {
		return nil
	}
	return w.flush()
}

func (w *rewriter) flush() error {
	if len(w.rows) == 0 {
		return nil
	}
	table := quote(w.dialect, w.pair.old.Name)
	update := &statement{dialect: w.dialect}
	update.write("UPDATE ", table, " SET ")
	update.list(len(w.names), ", ", "", func(i int) { update.write(w.names[i], " = v.column", strconv.Itoa(i+2)) })
	update.write(" FROM (VALUES ")
	update.list(len(w.rows), ", ", "", func(row int) {
		update.write("(")
		update.list(len(w.rows[row]), ", ", "", func(i int) {
			if row > 0 {
				update.arg(w.rows[row][i])
				return
			}
			// The first row tells the types, which nulls would not.
			kind := schema.KindUUID
			if i > 0 {
				kind = w.kinds[i-1]
			}
			plain, _, _ := strings.Cut(w.dialect.columnType(kind), " COLLATE")
			update.write("CAST(")
			update.arg(w.rows[row][i])
			update.write(" AS ", plain, ")")
		})
		update.write(")")
	})
	update.write(") AS v WHERE ", table, ".", quote(w.dialect, "id"), " = v.column1")
	w.rows = w.rows[:0]
	_, err := w.conn.exec(update.String(), update.args...)
	return err
}
