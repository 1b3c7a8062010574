package lists

import (
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// BlockSQL does what offsetIndex.find does, as the WITH clause of a query: it finds the block of a
// collection that contains the offset $1. The result is a table with one row, block: the first id
// of the block, and the number of resources before it. At each level it adds up the counts of the
// nodes and the pending deltas in the order of ids. If the collection has no index, the row is the
// start of the collection.
func BlockSQL(d db.Dialect, t *db.Table) string {
	of := " WHERE collection = '" + t.Stored.Name + "' AND parent = ''"
	id := func(value string) string {
		return "CAST(" + value + " AS " + d.ColumnType(model.KindUUID) + ")"
	}
	number := func(value string) string {
		return "CAST(" + value + " AS " + d.ColumnType(model.KindInteger) + ")"
	}
	in := func(column string) string {
		return " AND " + column + " >= w.first AND (w.until IS NULL OR " + column + " < w.until)"
	}
	return "WITH RECURSIVE walk (level, first, until, before) AS (" +
		"SELECT coalesce(max(level) + 1, 0), " + id("'"+model.ID{}.String()+"'") + ", " + id("NULL") + ", " + number("0") + " FROM " + db.OffsetsTable + of +
		" UNION ALL SELECT n.level, n.first, n.until, n.before FROM walk w CROSS JOIN LATERAL (" +
		"SELECT level, first, until, before FROM (" +
		"SELECT level, first, coalesce(until, w.until) AS until, w.before + " + number("sum(count) OVER (ORDER BY first, level DESC ROWS UNBOUNDED PRECEDING)") + " - count AS before FROM (" +
		"SELECT level, first, lead(first) OVER (ORDER BY first) AS until, count FROM " + db.OffsetsTable + of + " AND level = w.level - 1" + in("first") +
		" UNION ALL SELECT -1, id, NULL, change FROM " + db.DeltasTable + of + in("id") +
		") AS parts) AS sums WHERE level >= 0 AND before <= $1 ORDER BY first DESC LIMIT 1" +
		") AS n WHERE w.level > 0), block AS (SELECT first, before FROM walk WHERE level = 0)"
}
