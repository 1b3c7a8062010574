package store

import (
	"strconv"

	"github.com/plural-go/plural/internal/model"
)

// FrontAt is a Front that starts at a position of a collection in the order of ids: the place is found
// by the same query. Nil means, as there, that the database cannot do it faster.
func (t *Tx) FrontAt(c *model.Collection, position, take int64) (*Front, error) {
	direct, ok := t.conn.(fronter)
	if !ok {
		return nil, nil
	}
	table := t.store.tables[c]
	id := table.columns[model.IDColumn]
	// Within a fixed number of resources, so that the plan is one for few.
	sql := placeOf(c) + " SELECT near.* FROM place CROSS JOIN LATERAL (SELECT * FROM (SELECT " + table.all + " FROM " + table.name + " WHERE " + id + " >= place.first ORDER BY " + id +
		" LIMIT " + strconv.Itoa(maxStep+MaxFront) + ") AS block OFFSET $2 - place.before) AS near WHERE $2 - place.before <= " + strconv.Itoa(maxStep)
	front := &Front{}
	rows, err := direct.front(func(row model.Row) { front.Total = row.Int(0) },
		[]string{totalOf("'"+c.Name+"'", "''")}, sql, take, model.IntValue(position))
	if err != nil || rows == nil {
		return nil, t.fault(err)
	}
	front.Rows = &Rows{rows: rows, tx: t, collection: c, left: take}
	if rows.(*postgresRows).ended && position < front.Total {
		rows.close() // it is too far from the place
		return nil, nil
	}
	return front, nil
}

// maxStep is how far behind its place a position is looked for. A block is shorter, unless
// much of it waits to be taken up.
const maxStep = 2000

// placeOf is positions.find as a part of a query: the block of a collection that position $2 is
// in, and how many resources are before it. At each level the nodes and what waits to be taken
// up are summed up in one order, so that a node begins behind all that is before it. If there
// are no positions, the place is the beginning.
func placeOf(c *model.Collection) string {
	of := " WHERE collection = '" + c.Name + "' AND parent = ''"
	const zero = "'00000000-0000-0000-0000-000000000000'::uuid"
	in := func(column string) string {
		return " AND " + column + " >= w.first AND (w.until IS NULL OR " + column + " < w.until)"
	}
	return "WITH RECURSIVE walk (level, first, until, before) AS (" +
		"SELECT coalesce(max(level) + 1, 0), " + zero + ", NULL::uuid, 0::bigint FROM " + positionsTable + of +
		" UNION ALL SELECT n.level, n.first, n.until, n.before FROM walk w CROSS JOIN LATERAL (" +
		"SELECT level, first, until, before FROM (" +
		"SELECT level, first, coalesce(until, w.until) AS until, w.before + CAST(sum(count) OVER (ORDER BY first, level DESC ROWS UNBOUNDED PRECEDING) AS bigint) - count AS before FROM (" +
		"SELECT level, first, lead(first) OVER (ORDER BY first) AS until, count FROM " + positionsTable + of + " AND level = w.level - 1" + in("first") +
		" UNION ALL SELECT -1, id, NULL, change FROM " + deltasTable + of + in("id") +
		") AS parts) AS sums WHERE level >= 0 AND before <= $2 ORDER BY first DESC LIMIT 1" +
		") AS n WHERE w.level > 0), place AS (SELECT first, before FROM walk WHERE level = 0)"
}
