package store

import (
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/statement"
)

// Included is a relation that is included, with the plan of its filter for all statements in a snapshot.
type Included struct {
	*query.Include
	plan statement.Plan
}

// Prepare plans the filter of an include.
func (t *Tx) Prepare(i *query.Include) (*Included, error) {
	plan, err := t.planRelated(i.Relation.To, query.Both(i.Scope, i.Filter))
	return &Included{i, plan}, err
}

// Related reads the resources that a relation leads to from the resources with the keys: their ids or,
// if it leads to one resource, the ids that they refer to. Those of a relation to many are in
// the order of their keys and then of the include. It stops when read returns false.
func (t *Tx) Related(i *Included, keys []model.ID, read func(model.Row) bool) error {
	return t.eachWhile(t.relatedStatement(i, keys), read)
}

func (t *Tx) relatedStatement(i *Included, keys []model.ID) *statement.Statement {
	to := t.bound.table(i.Relation.To)
	id := to.Columns[model.IDColumn]
	if i.Relation.One {
		s := t.bound.sql.Statement(i.Relation.To, "SELECT ", to.All, " FROM ", to.Name, " WHERE ", id)
		s.InIDs(keys)
		s.And(i.plan)
		return s
	}
	// For each key, the first resources of its own are found by the index of the reference. No
	// column of a collection starts with an underscore.
	from := t.bound.table(i.Relation.From)
	referring := to.Columns[i.Relation.Column]
	s := t.bound.sql.Statement(i.Relation.To, "WITH _keys AS (SELECT ", from.Columns[model.IDColumn], " AS _key FROM ", from.Name, " WHERE ", from.Columns[model.IDColumn])
	s.InIDs(keys)
	s.Write(") SELECT ", to.All, " FROM ")
	order := statement.NewOrder(i.Sort)
	first := order
	if i.Limit < 0 {
		first = order.Reversed()
	}
	own := func(columns string) {
		s.Write("(SELECT ", columns, " FROM ", to.Name, s.Joins(order.Operands()...), " WHERE ", referring, " = _key")
		s.And(i.plan)
		s.Order(first)
		s.Write(" LIMIT ")
		s.Arg(model.IntValue(i.Size()))
		s.Write(")")
	}
	if t.store.db.Traits().Lateral {
		s.Write("_keys CROSS JOIN LATERAL ")
		own(to.All)
		s.Write(" AS ", to.Name, s.Joins(order.Operands()...), " ORDER BY ", referring, ", ") // by the name of the table, as operands have it
		s.OrderKeys(order)
		return s
	}
	// Only ids are sorted. SQLite would sort whole resources, of any size, before it returns the first one.
	// With a LIMIT, a subquery keeps its order, and the resources are read one by one in it.
	s.Write("(SELECT ", id, " AS _id FROM _keys CROSS JOIN ", to.Name, s.Joins(order.Operands()...), " WHERE ", id, " IN ")
	own(id)
	s.Write(" ORDER BY _key, ")
	s.OrderKeys(order)
	s.Write(" LIMIT -1) AS _sorted CROSS JOIN ", to.Name, " ON ", id, " = _id")
	return s
}

// RelatedTotals counts the resources of a relation to many, for each of the keys that has some.
func (t *Tx) RelatedTotals(i *Included, keys []model.ID, read func(key model.ID, total int64)) error {
	to := t.bound.table(i.Relation.To)
	referring := to.Columns[i.Relation.Column]
	s := t.bound.sql.Statement(i.Relation.To, "SELECT ", referring, ", count(*) FROM ", to.Name, " WHERE ", referring)
	s.InIDs(keys)
	s.And(i.plan)
	s.Write(" GROUP BY ", referring)
	return t.each(s, func(row model.Row) {
		read(row.ID(0), row.Int(1))
	})
}
