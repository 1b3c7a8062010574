package lists

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// Merge merges all pending deltas of some tables, and more, and returns how many were pending.
func Merge(c db.Conn, d db.Dialect, tables []*db.Table, more ...Delta) (removed int64, err error) {
	byList, removed, err := removeDeltas(c, tables)
	if err != nil {
		return 0, err
	}
	if err := mergeRecords(c, byList); err != nil {
		return 0, err
	}
	for _, d := range more {
		byList[d.List] = d.appendTo(slices.Grow(byList[d.List], len(d.IDs)))
	}
	m := merging{conn: c, dialect: d, byList: byList}
	all := slices.SortedFunc(maps.Keys(byList), compareLists) // in a fixed order
	for len(all) > 0 {
		collection, n := all[0].collection, 1
		for n < len(all) && all[n].collection == collection {
			n++
		}
		at := slices.IndexFunc(tables, func(t *db.Table) bool { return t.Stored.Name == collection })
		if err := m.merge(tables[at], all[:n]); err != nil {
			return 0, err
		}
		all = all[n:]
	}
	return removed, nil
}

// removeDeltas removes and returns the deltas of tables, and of records. Deltas of a newer
// schema are merged by servers that have it. There may be many, so the texts of a list are kept once.
func removeDeltas(c db.Conn, tables []*db.Table) (byList map[List][]resourceDelta, removed int64, err error) {
	byList = map[List][]resourceDelta{}
	names, placeholders := []model.Value{model.TextValue(recordsCollection)}, []string{"$1"}
	for i, t := range tables {
		names = append(names, model.TextValue(t.Stored.Name))
		placeholders = append(placeholders, "$"+strconv.Itoa(i+2))
	}
	err = db.Each(c, func(row model.Row) {
		key := List{row.Text(0), row.Text(1)}
		byList[key] = append(byList[key], resourceDelta{row.ID(2), row.Int(3)})
		removed++
	}, "DELETE FROM "+db.DeltasTable+" WHERE collection IN ("+strings.Join(placeholders, ", ")+") RETURNING collection, parent, id, change", names...)
	return byList, removed, err
}

// merging adds deltas to the totals and offset indexes of lists.
type merging struct {
	conn    db.Conn
	dialect db.Dialect
	byList  map[List][]resourceDelta
}

// sum is by how much the deltas change the total of a list.
func (m *merging) sum(key List) (change int64) {
	for _, d := range m.byList[key] {
		change += d.change
	}
	return change
}

// merge adds the deltas of lists of one collection.
func (m *merging) merge(t *db.Table, keys []List) error {
	if keys[0].parent == "" {
		if err := m.mergeWhole(t, keys[0]); err != nil {
			return err
		}
		keys = keys[1:]
	}
	for chunk := range slices.Chunk(keys, db.MaxListed) {
		if err := m.mergeParents(t, chunk); err != nil {
			return err
		}
	}
	return nil
}

const addTotal = " ON CONFLICT (collection, parent) DO UPDATE SET total = " + db.TotalsTable + ".total + excluded.total"

// mergeWhole adds the deltas of the list of all resources.
func (m *merging) mergeWhole(t *db.Table, key List) error {
	total, err := db.Int(m.conn, "INSERT INTO "+db.TotalsTable+" (collection, parent, total) VALUES ($1, $2, $3)"+addTotal+" RETURNING total", append(key.Args(), model.IntValue(m.sum(key)))...)
	if err != nil {
		return err
	}
	return m.index(t, key, total)
}

// mergeParents adds the deltas of the lists of parents. There may be many, and few of them are long.
func (m *merging) mergeParents(t *db.Table, keys []List) error {
	collection := model.TextValue(t.Stored.Name)
	parents, changes := make([]string, len(keys)), make([]string, len(keys))
	for i, key := range keys {
		parents[i] = key.parent
		changes[i] = key.parent + strconv.FormatInt(m.sum(key), 10)
	}
	listed := m.dialect.List(parents)
	length := strconv.Itoa(idLength)
	_, err := m.conn.Exec("INSERT INTO "+db.TotalsTable+" (collection, parent, total) SELECT CAST($1 AS text), substr(value, 1, "+length+"), CAST(substr(value, 1 + "+length+
		") AS "+m.dialect.ColumnType(model.KindInteger)+") FROM "+m.dialect.Listed("$2")+" WHERE true"+addTotal, collection, m.dialect.List(changes))
	if err != nil {
		return err
	}
	among := db.TotalsTable + " WHERE collection = $1 AND parent IN (SELECT value FROM " + m.dialect.Listed("$2") + ")"
	totals := map[string]int64{} // of lists that have an offset index, or should have one
	err = db.Each(m.conn, func(row model.Row) {
		totals[row.Text(0)] = row.Int(1)
	}, "SELECT parent, total FROM "+among+" AND (total > "+strconv.FormatInt(2*BlockSize, 10)+" OR EXISTS (SELECT 1 FROM "+db.OffsetsTable+
		" AS long WHERE long.collection = "+db.TotalsTable+".collection AND long.parent = "+db.TotalsTable+".parent AND long.level = 0))", collection, listed)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if total, long := totals[key.parent]; long {
			if err := m.index(t, key, total); err != nil {
				return err
			}
		}
	}
	_, err = m.conn.Exec("DELETE FROM "+among+" AND total = 0", collection, listed)
	return err
}

// index adds the deltas of a list to its offset index, which a short list does not have.
func (m *merging) index(t *db.Table, key List, total int64) error {
	deltas := m.byList[key]
	slices.SortFunc(deltas, func(a, b resourceDelta) int { return a.id.Compare(b.id) })
	return (&offsetIndex{conn: m.conn, table: t, List: key}).add(deltas, total)
}
