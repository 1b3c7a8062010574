package migrate

import (
	"slices"
	"strconv"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// check records in the steps of a pair which resources violate them. The database finds them by statements
// about all rows, whose number does not depend on that of the rows. Only values that are converted,
// restricted, computed or checked are read: see checkConverted.
func (s *survey) check(p *pair) error {
	for _, c := range p.changes {
		if c.inGo() {
			continue
		}
		if err := s.checkRequired(p, c); err != nil {
			return err
		}
		if err := s.checkLink(p, c); err != nil {
			return err
		}
	}
	var converted []uniqueChange
	for _, u := range p.unique {
		if slices.ContainsFunc(u.group, p.converts) {
			converted = append(converted, u)
		} else if err := s.checkUnique(p, u); err != nil {
			return err
		}
	}
	return s.checkConverted(p, converted)
}

// converts reports whether only Go can tell the new values of a column of to.
func (p *pair) converts(to int) bool {
	c := p.changeOf(to)
	return c != nil && c.inGo()
}

// inGo reports whether only Go can tell the new values.
func (c *change) inGo() bool { return c.valueStep != nil || c.computed != nil }

// changeOf is the change of a column of to, nil if there is none.
func (p *pair) changeOf(to int) *change {
	for _, c := range p.changes {
		if c.toColumn == to {
			return c
		}
	}
	return nil
}

// checkRequired finds resources without a value that must have one and get no default.
func (s *survey) checkRequired(p *pair, c *change) error {
	if c.requiredStep == nil || !c.attribute.DefaultValue().IsNull() {
		return nil
	}
	rows := s.rowsOf(p)
	if c.fromColumn != noSource && c.cleared == nil {
		rows.Write(" WHERE ", s.column(p, c.toColumn), " IS NULL")
	}
	return s.find(p, c.requiredStep, rows, nil, "it has no value", true)
}

// checkLink finds references to resources that do not exist.
func (s *survey) checkLink(p *pair, c *change) error {
	if c.linkStep == nil {
		return nil
	}
	column, rows := s.column(p, c.toColumn), s.rowsOf(p)
	rows.Write(" WHERE ", column, " IS NOT NULL AND NOT ", s.exists(c.target, column))
	shown := []shownColumn{{column, p.from.Columns()[c.fromColumn].Kind}}
	return s.find(p, c.linkStep, rows, shown, c.refersToNothing(), c.attribute.Required)
}

func (c *change) refersToNothing() string { return "no resource of " + c.target.Name + " has this id" }

const notUnique = "another resource has the same value"

// checkUnique finds resources with the values of one before them. Null equals nothing.
func (s *survey) checkUnique(p *pair, u uniqueChange) error {
	var compared []int // columns of the group with stored values; in a new column, all resources have the same default
	for _, to := range u.group {
		if p.source[to] != noSource {
			compared = append(compared, to)
		} else if a := p.to.Columns()[to].Attribute; a == nil || a.DefaultValue().IsNull() {
			return nil // the new column is null in all resources
		}
	}
	values := func(b *db.Builder, start, separator, end string) {
		for i, to := range compared {
			b.Write(db.Choose(i == 0, start, separator))
			s.value(b, p, to)
			b.Write(end)
		}
	}
	// Duplicates are rare, and to look for groups costs less than to number their rows.
	groups := &db.Builder{}
	groups.Write("SELECT count(*)", s.rowsOf(p).String())
	values(groups, " WHERE ", " AND ", " IS NOT NULL")
	values(groups, " GROUP BY ", ", ", "")
	groups.Write(" HAVING count(*) > 1 LIMIT 1")
	if found, err := db.One(s.conn, nil, groups.String(), groups.Args...); err != nil || !found {
		return err
	}
	id := s.id(p)
	rows := &db.Builder{}
	rows.Write(" FROM (SELECT ", id, ", row_number() OVER (")
	values(rows, "PARTITION BY ", ", ", "")
	rows.Write(" ORDER BY ", id, ") AS number")
	shown := make([]shownColumn, len(compared))
	for i, to := range compared {
		name := "value" + strconv.Itoa(i)
		rows.Write(", ")
		s.value(rows, p, to)
		rows.Write(" AS ", name)
		shown[i] = shownColumn{db.RowName + "." + name, p.to.Columns()[to].Kind}
	}
	rows.Write(s.rowsOf(p).String())
	values(rows, " WHERE ", " AND ", " IS NOT NULL")
	rows.Write(") AS ", db.RowName, " WHERE number > 1")
	return s.find(p, u.step, rows, shown, notUnique, true)
}

// shownColumn is a column of a query whose values users see.
type shownColumn struct {
	sql  string
	kind model.Kind
}

// find records the rows of a FROM clause as violations, with their values of some columns.
func (s *survey) find(p *pair, step *Step, rows *db.Builder, shown []shownColumn, problem string, blocked bool) error {
	found, err := db.Int(s.conn, "SELECT count(*)"+rows.String(), rows.Args...)
	if err != nil || found == 0 {
		return err
	}
	named, columns := int64(0), s.id(p)
	for _, each := range shown {
		columns += ", " + each.sql
	}
	err = db.Each(s.conn, func(row model.Row) {
		values := make([]stored, len(shown))
		for i, each := range shown {
			values[i] = stored{each.kind, row, i + 1}
		}
		step.violate(row.ID(0), values, problem, blocked)
		named++
	}, "SELECT "+columns+rows.String()+" ORDER BY "+s.id(p)+" LIMIT "+strconv.Itoa(maxExamples), rows.Args...)
	step.Violations += found - named
	return err
}

// rowsOf is a FROM clause with the resources of a pair.
func (s *survey) rowsOf(p *pair) *db.Builder {
	b := &db.Builder{}
	b.Write(" FROM ", db.Quote(s.dialect, p.from.Name), " AS ", db.RowName)
	return b
}

// id is the id of a row of rowsOf.
func (s *survey) id(p *pair) string {
	return db.RowName + "." + db.Quote(s.dialect, p.from.Columns()[model.IDColumn].Name)
}

// column is the present value of a column of to, which has a source.
func (s *survey) column(p *pair, to int) string {
	return db.RowName + "." + db.Quote(s.dialect, p.from.Columns()[p.source[to]].Name)
}

// value writes the new value of a column of to, which has a source. If it must be converted, it is the present one.
func (s *survey) value(b *db.Builder, p *pair, to int) {
	c, column := p.changeOf(to), s.column(p, to)
	switch {
	case c == nil || c.inGo():
		b.Write(column)
		return
	case c.cleared != nil:
		b.Write("NULL")
		return
	}
	b.Write("CASE")
	if fill := c.attribute.DefaultValue(); c.requiredStep != nil && !fill.IsNull() {
		b.Write(" WHEN ", column, " IS NULL THEN ")
		b.Arg(fill)
	}
	b.Write(" WHEN ", s.exists(c.target, column), " THEN ", column, " END")
}

// exists is the condition that a collection of to has a resource with an id. It looks in the tables of from. Without
// a collection, it is true.
func (s *survey) exists(c *model.Collection, id string) string {
	if c == nil {
		return "TRUE"
	}
	pair := s.plan.pairOf(c)
	if pair == nil {
		return "FALSE" // a new collection
	}
	t := db.NewTable(s.dialect, pair.from)
	return "EXISTS (SELECT 1 FROM " + t.Name + " AS " + db.TargetName + " WHERE " + db.TargetName + "." + t.Columns[model.IDColumn] + " = " + id + ")"
}
