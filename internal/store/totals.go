package store

import (
	"cmp"
	"context"
	"slices"

	"github.com/plural-go/plural/schema"
)

// total names a number that is kept: of all resources of a collection, or of
// those of one parent.
type total struct {
	collection string
	parent     string // the parent's id as text; empty: of the whole collection
}

func totalOf(c *schema.Collection, parent *schema.ID) total {
	if parent == nil {
		return total{collection: c.Name}
	}
	return total{collection: c.Name, parent: parent.String()}
}

// Total is the number of resources of a collection, or of those of one parent.
// It is kept, not counted; what this transaction has changed is added.
func (t *Tx) Total(c *schema.Collection, parent *schema.ID) (n int64, err error) {
	key := totalOf(c, parent)
	sql := "SELECT total FROM " + totalsTable + " WHERE collection = $1 AND parent = $2"
	if t.store.backend.totalsApart() {
		sql = "SELECT coalesce((" + sql + "), 0) + coalesce((SELECT CAST(sum(change) AS bigint) FROM " + deltasTable + " WHERE collection = $1 AND parent = $2), 0)"
	}
	_, err = one(t.conn, func(row schema.Row) { n = row.Int(0) }, sql, schema.TextValue(key.collection), schema.TextValue(key.parent))
	return n + t.totals[key], t.fault(err)
}

// countOne notes that a resource has come or gone.
func (t *Tx) countOne(c *schema.Collection, record schema.Record, change int64) {
	t.totals[totalOf(c, nil)] += change
	if link := c.ParentLink(); link != nil && !record.Null(link.Column) {
		parent := record.ID(link.Column)
		t.totals[totalOf(c, &parent)] += change
	}
}

// writeTotals brings the totals up to date, in one order for every transaction.
func (t *Tx) writeTotals() error {
	var changed []total
	for key, change := range t.totals {
		if change != 0 {
			changed = append(changed, key)
		}
	}
	slices.SortFunc(changed, func(a, b total) int {
		return cmp.Or(cmp.Compare(a.collection, b.collection), cmp.Compare(a.parent, b.parent))
	})
	for _, key := range changed {
		collection, parent, change := schema.TextValue(key.collection), schema.TextValue(key.parent), schema.IntValue(t.totals[key])
		var err error
		switch {
		case t.store.backend.totalsApart():
			err = t.conn.later(nil, "INSERT INTO "+deltasTable+" (collection, parent, change) VALUES ($1, $2, $3)", collection, parent, change)
		default:
			err = t.conn.later(nil, "INSERT INTO "+totalsTable+" (collection, parent, total) VALUES ($1, $2, $3)"+addToTotal, collection, parent, change)
			if err == nil && t.totals[key] < 0 && key.parent != "" {
				err = t.conn.later(nil, "DELETE FROM "+totalsTable+" WHERE collection = $1 AND parent = $2 AND total = 0", collection, parent)
			}
		}
		if err != nil {
			return t.fault(err)
		}
	}
	return nil
}

const addToTotal = " ON CONFLICT (collection, parent) DO UPDATE SET total = " + totalsTable + ".total + excluded.total"

// TakeUpTotals adds the changes of totals that were written down to the totals. A
// snapshot has them in one place or in the other.
func (s *Store) TakeUpTotals(ctx context.Context) error {
	if !s.backend.totalsApart() || !s.written.Swap(false) {
		return nil
	}
	err := s.backend.write(ctx, takeUpTotals)
	if err != nil {
		s.written.Store(true)
	}
	return s.fault(ctx, err)
}

func takeUpTotals(c conn) error {
	return execAll(c,
		"WITH taken AS (DELETE FROM "+deltasTable+" RETURNING collection, parent, change)"+
			" INSERT INTO "+totalsTable+" (collection, parent, total)"+
			" SELECT collection, parent, CAST(sum(change) AS bigint) FROM taken GROUP BY collection, parent"+addToTotal,
		"DELETE FROM "+totalsTable+" WHERE total = 0 AND parent <> ''")
}

// allTotals stands in place of the table of totals, for all of them as they are
// with the changes that were not taken up yet.
func allTotals(d dialect) string {
	if !d.totalsApart() {
		return totalsTable
	}
	return "(SELECT collection, parent, CAST(sum(total) AS bigint) AS total FROM (SELECT collection, parent, total FROM " + totalsTable +
		" UNION ALL SELECT collection, parent, change FROM " + deltasTable + ") AS parts GROUP BY collection, parent" +
		" HAVING sum(total) <> 0 OR parent = '') AS totals"
}
