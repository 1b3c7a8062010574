// Package lists keeps, for each collection and each sub-collection, the number of its resources and
// an index that finds the resource at an offset. It exists for the store, whose writers only record
// deltas; these are merged later.
package lists

import (
	"cmp"
	"slices"
	"strconv"

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
func Of(t *db.Table, parent *model.ID) List {
	if parent == nil {
		return List{collection: t.Stored.Name}
	}
	return List{collection: t.Stored.Name, parent: parent.String()}
}

func compareLists(a, b List) int {
	return cmp.Or(cmp.Compare(a.collection, b.collection), cmp.Compare(a.parent, b.parent))
}

// Delta is resources that were added to a list, or removed from it. Writers only record
// deltas, so that they do not wait for each other; they are merged into totals and offset indexes
// later. In every snapshot a delta is either pending or merged.
type Delta struct {
	List
	IDs    []model.ID
	Change int64 // 1 or -1, for each of them
}

// Members is resources of a collection, and which of them each parent has.
type Members struct {
	Table    *db.Table
	IDs      []model.ID
	children map[model.ID][]model.ID // by their parent
}

// AddTo adds a resource to those of a parent.
func (m *Members) AddTo(parent, id model.ID) {
	if m.children == nil {
		m.children = map[model.ID][]model.ID{}
	}
	m.children[parent] = append(m.children[parent], id)
}

// Removals is the deltas of the lists of the parents, which lose the resources.
func (m *Members) Removals() (deltas []Delta) {
	for parent, ids := range m.children {
		if len(ids) == len(m.IDs) {
			ids = m.IDs // kept once
		}
		deltas = append(deltas, Delta{List: Of(m.Table, &parent), IDs: ids, Change: -1})
	}
	return deltas
}

// resourceDelta is the delta of one resource of a list.
type resourceDelta struct {
	id     model.ID
	change int64
}

// appendTo appends the deltas of single resources.
func (d Delta) appendTo(dst []resourceDelta) []resourceDelta {
	for _, id := range d.IDs {
		dst = append(dst, resourceDelta{id, d.Change})
	}
	return dst
}

// Count is how many resources the deltas are about. A resource counts once for each of its lists.
func Count(deltas []Delta) (n int64) {
	for _, d := range deltas {
		n += int64(len(d.IDs))
	}
	return n
}

// Total is the number of resources of a list. Unrecorded are deltas of the transaction.
func Total(c db.Conn, key List, unrecorded []Delta) (n int64, err error) {
	n, err = db.Int(c, selectTotal, key.Args()...)
	return n + key.Changed(unrecorded), err
}

var selectTotal = "SELECT " + TotalSQL("$1", "$2")

// Args are the values of the columns that name the list in a table: collection and parent.
func (l List) Args() []model.Value {
	return []model.Value{model.TextValue(l.collection), model.TextValue(l.parent)}
}

// Changed is by how much deltas change the total of the list.
func (l List) Changed(deltas []Delta) (n int64) {
	for _, d := range deltas {
		if d.List == l {
			n += d.Change * int64(len(d.IDs))
		}
	}
	return n
}

// TotalSQL is an expression for the total of a list, pending deltas included.
func TotalSQL(collection, parent string) string {
	where := " WHERE collection = " + collection + " AND parent = " + parent + "), 0)"
	return "coalesce((SELECT total FROM " + db.TotalsTable + where + " + coalesce((SELECT CAST(sum(change) AS bigint) FROM " + db.DeltasTable + where
}

// Record stores deltas as pending.
func Record(c db.Conn, d db.Database, deltas []Delta) error {
	singly := recordSingly
	if d.Traits().RoundTrips { // a statement costs more than a row
		singly = 1
	}
	if Count(deltas) <= int64(singly) {
		for _, delta := range deltas {
			collection, parent := model.TextValue(delta.collection), model.TextValue(delta.parent)
			for _, id := range delta.IDs {
				if err := c.Defer(db.Statement{SQL: insertDelta, Args: []model.Value{collection, parent, model.IDValue(id), model.IntValue(delta.Change)}}); err != nil {
					return err
				}
			}
		}
		return nil
	}
	type group struct {
		collection string
		change     int64
	}
	texts := map[group][]string{} // id and parent in one text
	for _, delta := range deltas {
		g := group{delta.collection, delta.Change}
		for _, id := range delta.IDs {
			texts[g] = append(texts[g], id.String()+delta.parent)
		}
	}
	for g, all := range texts {
		for chunk := range slices.Chunk(all, db.MaxListed) {
			if err := c.Defer(db.Statement{SQL: insertDeltas(d), Args: []model.Value{model.TextValue(g.collection), model.IntValue(g.change), d.List(chunk)}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// recordSingly is how many deltas are stored by a statement for each, where a statement costs little.
const recordSingly = 16

// idLength is the length of an id as text.
const idLength = 36

func insertDeltas(d db.Dialect) string {
	return "INSERT INTO " + db.DeltasTable + " (collection, parent, id, change) SELECT CAST($1 AS text), substr(value, " + strconv.Itoa(idLength+1) + "), " +
		d.ToID("substr(value, 1, "+strconv.Itoa(idLength)+")") + ", CAST($2 AS " + d.ColumnType(model.KindInteger) + ") FROM " + d.Listed("$3")
}

const insertDelta = "INSERT INTO " + db.DeltasTable + " (collection, parent, id, change) VALUES ($1, $2, $3, $4)"

// AllTotals is a subquery with the totals of all lists, pending deltas included.
func AllTotals() string {
	return "(SELECT collection, parent, CAST(sum(total) AS bigint) AS total FROM (SELECT collection, parent, total FROM " + db.TotalsTable +
		" UNION ALL SELECT collection, parent, change FROM " + db.DeltasTable + ") AS parts GROUP BY collection, parent" +
		" HAVING sum(total) <> 0 OR parent = '') AS totals"
}
