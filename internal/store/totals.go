package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/schema"
)

// list names the resources that totals and positions are kept of: all of a
// collection, or those of one parent.
type list struct {
	collection string
	parent     string // the parent's id as text; empty: the whole collection
}

func listOf(c *schema.Collection, parent *schema.ID) list {
	if parent == nil {
		return list{collection: c.Name}
	}
	return list{collection: c.Name, parent: parent.String()}
}

func compareLists(a, b list) int {
	return cmp.Or(cmp.Compare(a.collection, b.collection), cmp.Compare(a.parent, b.parent))
}

func (l list) values() (collection, parent schema.Value) {
	return schema.TextValue(l.collection), schema.TextValue(l.parent)
}

// delta is a resource that was added to a list, or removed from it. Writers only record
// deltas, so that they do not wait for each other; they are merged into totals and
// positions later. A snapshot has each in one place or the other.
type delta struct {
	list
	id     schema.ID
	change int64 // 1 or -1
}

// Total is the number of resources of a collection, or of those of one parent.
// It is kept, not counted.
func (t *Tx) Total(c *schema.Collection, parent *schema.ID) (n int64, err error) {
	n, err = readTotal(t.conn, listOf(c, parent), t.unrecorded())
	return n, t.fault(err)
}

// near finds the part of a list that a position is in, or the last one. False means
// that the list is not divided.
func (t *Tx) near(c *schema.Collection, parent *schema.ID, position int64) (block Block, found bool, err error) {
	block, found, err = findBlock(t.conn, t.store.tables[c].baseTable, listOf(c, parent), position, t.unrecorded())
	return block, found, t.fault(err)
}

// readTotal is the number of resources of a list. Unrecorded are deltas of the transaction.
func readTotal(c conn, key list, unrecorded []delta) (n int64, err error) {
	collection, of := key.values()
	_, err = one(c, func(row schema.Row) { n = row.Int(0) }, "SELECT "+totalOf("$1", "$2"), collection, of)
	for _, d := range unrecorded {
		if d.list == key {
			n += d.change
		}
	}
	return n, err
}

// totalOf is the total of a list.
func totalOf(collection, parent string) string {
	where := " WHERE collection = " + collection + " AND parent = " + parent + "), 0)"
	return "coalesce((SELECT total FROM " + totalsTable + where + " + coalesce((SELECT CAST(sum(change) AS bigint) FROM " + deltasTable + where
}

// unrecorded are the deltas of the transaction, which are recorded at its end.
func (t *Tx) unrecorded() (deltas []delta) { return append(deltasOf(t.earlier), t.deltas...) }

func deltasOf(tasks []*task) (deltas []delta) {
	for _, t := range tasks {
		if tx, ok := t.value.(*Tx); ok {
			deltas = append(deltas, tx.deltas...)
		}
	}
	return deltas
}

// note notes that a resource has come or gone.
func (t *Tx) note(c *schema.Collection, record schema.Record, change int64) {
	t.deltas = append(t.deltas, delta{listOf(c, nil), record.ID(schema.IDColumn), change})
	t.noteParent(c, record, change)
}

func (t *Tx) noteParent(c *schema.Collection, record schema.Record, change int64) {
	if link := c.ParentLink(); link != nil && !record.Null(link.Column) {
		parent := record.ID(link.Column)
		t.deltas = append(t.deltas, delta{listOf(c, &parent), record.ID(schema.IDColumn), change})
	}
}

// noteMove notes that a resource may have another parent now.
func (t *Tx) noteMove(c *schema.Collection, before, after schema.Record) {
	if link := c.ParentLink(); link != nil && before[link.Column] != after[link.Column] {
		t.noteParent(c, before, -1)
		t.noteParent(c, after, 1)
	}
}

const (
	mergeAt     = 128 // so many deltas may be pending before a writer merges them
	mergeAtOnce = 16  // so many of one transaction are merged as soon as recorded
)

// finish records the deltas of a transaction. If no other transaction writes at the same time,
// it merges them instead, together with those that are pending, when there are many.
func (s *Store) finish(c conn, tasks []*task) (committed func(), err error) {
	deltas := deltasOf(tasks)
	n := int64(len(deltas))
	if !s.backend.traits().shared && (n >= mergeAtOnce || n > 0 && s.pending.Load()+n >= mergeAt) {
		_, err := s.merge(c, deltas...)
		return func() { s.pending.Store(0) }, err
	}
	return func() { s.pending.Add(n) }, recordDeltas(c, deltas)
}

func recordDeltas(c conn, deltas []delta) error {
	for _, d := range deltas {
		collection, parent := d.values()
		if err := c.Defer(Statement{SQL: insertDelta, Args: []schema.Value{collection, parent, schema.IDValue(d.id), schema.IntValue(d.change)}}); err != nil {
			return err
		}
	}
	return nil
}

const insertDelta = "INSERT INTO " + deltasTable + " (collection, parent, id, change) VALUES ($1, $2, $3, $4)"

// MergeDeltas merges the deltas that writers have recorded.
func (s *Store) MergeDeltas(ctx context.Context) error {
	seen := s.pending.Load()
	if seen == 0 {
		return nil
	}
	t := &task{}
	t.run = func(c conn, _ []*task) (err error) {
		t.removed.table = deltasTable
		t.removed.rows, err = s.merge(c)
		return err
	}
	err := s.backend.write(ctx, t)
	if err == nil {
		s.pending.Add(-seen)
	}
	return s.fault(ctx, err)
}

func (s *Store) merge(c conn, more ...delta) (removed int64, err error) {
	return mergeDeltas(c, s.schema, func(collection *schema.Collection) *baseTable { return s.tables[collection].baseTable }, more...)
}

// mergeDeltas merges the deltas that are recorded, and more, and returns how many were
// recorded.
func mergeDeltas(c conn, s *schema.Schema, tableOf func(*schema.Collection) *baseTable, more ...delta) (removed int64, err error) {
	recorded, err := removeDeltas(c, s)
	if err != nil {
		return 0, err
	}
	byList := map[list][]delta{}
	for _, d := range append(recorded, more...) {
		byList[d.list] = append(byList[d.list], d)
	}
	for _, key := range slices.SortedFunc(maps.Keys(byList), compareLists) { // in one order, whoever does it
		if err := mergeList(c, tableOf(s.Collection(key.collection)), key, byList[key]); err != nil {
			return 0, err
		}
	}
	return int64(len(recorded)), nil
}

// removeDeltas removes the deltas of the collections of a schema. Those of a newer one
// are for its servers.
func removeDeltas(c conn, s *schema.Schema) (deltas []delta, err error) {
	var names []schema.Value
	var places []string
	for i, collection := range s.All() {
		names = append(names, schema.TextValue(collection.Name))
		places = append(places, "$"+strconv.Itoa(i+1))
	}
	err = each(c, func(row schema.Row) bool {
		text := func(column int) string { return string(row.AppendText(nil, column)) }
		deltas = append(deltas, delta{list{text(0), text(1)}, row.ID(2), row.Int(3)})
		return true
	}, "DELETE FROM "+deltasTable+" WHERE collection IN ("+strings.Join(places, ", ")+") RETURNING collection, parent, id, change", names...)
	return deltas, err
}

// mergeList adds deltas to the total of a list, and to its positions.
func mergeList(c conn, t *baseTable, key list, deltas []delta) error {
	collection, parent := key.values()
	var change, total int64
	for _, d := range deltas {
		change += d.change
	}
	_, err := one(c, func(row schema.Row) { total = row.Int(0) },
		"INSERT INTO "+totalsTable+" (collection, parent, total) VALUES ($1, $2, $3)"+
			" ON CONFLICT (collection, parent) DO UPDATE SET total = "+totalsTable+".total + excluded.total RETURNING total", collection, parent, schema.IntValue(change))
	if err != nil {
		return err
	}
	if total == 0 && key.parent != "" {
		if _, err := c.exec("DELETE FROM "+totalsTable+" WHERE collection = $1 AND parent = $2", collection, parent); err != nil {
			return err
		}
	}
	slices.SortFunc(deltas, func(a, b delta) int { return compareIDs(a.id, b.id) })
	return (&positions{conn: c, table: t, list: key}).add(deltas, total)
}

// allTotals stands in place of the table of totals, for all of them as they are
// with the deltas that were not merged yet.
func allTotals() string {
	return "(SELECT collection, parent, CAST(sum(total) AS bigint) AS total FROM (SELECT collection, parent, total FROM " + totalsTable +
		" UNION ALL SELECT collection, parent, change FROM " + deltasTable + ") AS parts GROUP BY collection, parent" +
		" HAVING sum(total) <> 0 OR parent = '') AS totals"
}
