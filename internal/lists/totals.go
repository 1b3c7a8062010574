// Package lists keeps, for each collection and each sub-collection, the number of its resources and
// an index that finds the resource at an offset. It exists for the store, whose writers only record
// deltas; these are merged later.
package lists

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

func (l List) String() string {
	if l.parent == "" {
		return l.collection
	}
	return l.collection + " of " + l.parent
}

// List identifies a list: all resources of a collection, or those of one parent.
type List struct {
	collection string
	parent     string // the parent's id as text; empty: the whole collection
}

// Of is the list of a collection, or of one parent in it. Nil: the whole collection.
func Of(c *model.Collection, parent *model.ID) List {
	if parent == nil {
		return List{collection: c.Name}
	}
	return List{collection: c.Name, parent: parent.String()}
}

func compareLists(a, b List) int {
	return cmp.Or(cmp.Compare(a.collection, b.collection), cmp.Compare(a.parent, b.parent))
}

func (l List) values() (collection, parent model.Value) {
	return model.TextValue(l.collection), model.TextValue(l.parent)
}

// Delta is a resource that was added to a list, or removed from it. Writers only record
// deltas, so that they do not wait for each other; they are merged into totals and offset indexes
// later. In every snapshot a delta is either pending or merged.
type Delta struct {
	List
	ID     model.ID
	Change int64 // 1 or -1
}

// Total is the number of resources of a list. Unrecorded are deltas of the transaction.
func Total(c db.Conn, key List, unrecorded []Delta) (n int64, err error) {
	collection, of := key.values()
	_, err = db.One(c, func(row model.Row) { n = row.Int(0) }, "SELECT "+TotalSQL("$1", "$2"), collection, of)
	for _, d := range unrecorded {
		if d.List == key {
			n += d.Change
		}
	}
	return n, err
}

// TotalSQL is an expression for the total of a list, pending deltas included.
func TotalSQL(collection, parent string) string {
	where := " WHERE collection = " + collection + " AND parent = " + parent + "), 0)"
	return "coalesce((SELECT total FROM " + db.TotalsTable + where + " + coalesce((SELECT CAST(sum(change) AS bigint) FROM " + db.DeltasTable + where
}

// Record stores deltas as pending.
func Record(c db.Conn, deltas []Delta) error {
	for _, d := range deltas {
		collection, parent := d.values()
		if err := c.Defer(db.Statement{SQL: insertDelta, Args: []model.Value{collection, parent, model.IDValue(d.ID), model.IntValue(d.Change)}}); err != nil {
			return err
		}
	}
	return nil
}

const insertDelta = "INSERT INTO " + db.DeltasTable + " (collection, parent, id, change) VALUES ($1, $2, $3, $4)"

// Merge merges all pending deltas, and more, and returns how many were pending.
func Merge(c db.Conn, s *model.Schema, tableOf func(*model.Collection) *db.Table, more ...Delta) (removed int64, err error) {
	recorded, err := removeDeltas(c, s)
	if err != nil {
		return 0, err
	}
	byList := map[List][]Delta{}
	for _, d := range append(recorded, more...) {
		byList[d.List] = append(byList[d.List], d)
	}
	for _, key := range slices.SortedFunc(maps.Keys(byList), compareLists) { // in a fixed order
		if err := mergeList(c, tableOf(s.Collection(key.collection)), key, byList[key]); err != nil {
			return 0, err
		}
	}
	return int64(len(recorded)), nil
}

// removeDeltas removes and returns the deltas of the collections of a schema. Deltas of a newer
// schema are merged by servers that have it.
func removeDeltas(c db.Conn, s *model.Schema) (deltas []Delta, err error) {
	var names []model.Value
	var places []string
	for i, collection := range s.All() {
		names = append(names, model.TextValue(collection.Name))
		places = append(places, "$"+strconv.Itoa(i+1))
	}
	err = db.Each(c, func(row model.Row) bool {
		text := func(column int) string { return string(row.AppendText(nil, column)) }
		deltas = append(deltas, Delta{List{text(0), text(1)}, row.ID(2), row.Int(3)})
		return true
	}, "DELETE FROM "+db.DeltasTable+" WHERE collection IN ("+strings.Join(places, ", ")+") RETURNING collection, parent, id, change", names...)
	return deltas, err
}

// mergeList adds deltas to the total of a list, and to its index.
func mergeList(c db.Conn, t *db.Table, key List, deltas []Delta) error {
	collection, parent := key.values()
	var change, total int64
	for _, d := range deltas {
		change += d.Change
	}
	_, err := db.One(c, func(row model.Row) { total = row.Int(0) },
		"INSERT INTO "+db.TotalsTable+" (collection, parent, total) VALUES ($1, $2, $3)"+
			" ON CONFLICT (collection, parent) DO UPDATE SET total = "+db.TotalsTable+".total + excluded.total RETURNING total", collection, parent, model.IntValue(change))
	if err != nil {
		return err
	}
	if total == 0 && key.parent != "" {
		if _, err := c.Exec("DELETE FROM "+db.TotalsTable+" WHERE collection = $1 AND parent = $2", collection, parent); err != nil {
			return err
		}
	}
	slices.SortFunc(deltas, func(a, b Delta) int { return CompareIDs(a.ID, b.ID) })
	return (&offsetIndex{conn: c, table: t, List: key}).add(deltas, total)
}

// AllTotals is a subquery with the totals of all lists, pending deltas included.
func AllTotals() string {
	return "(SELECT collection, parent, CAST(sum(total) AS bigint) AS total FROM (SELECT collection, parent, total FROM " + db.TotalsTable +
		" UNION ALL SELECT collection, parent, change FROM " + db.DeltasTable + ") AS parts GROUP BY collection, parent" +
		" HAVING sum(total) <> 0 OR parent = '') AS totals"
}
