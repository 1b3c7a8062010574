package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/model"
)

// list names the resources that totals and positions are kept of: all of a
// collection, or those of one parent.
type list struct {
	collection string
	parent     string // the parent's id as text; empty: the whole collection
}

func listOf(c *model.Collection, parent *model.ID) list {
	if parent == nil {
		return list{collection: c.Name}
	}
	return list{collection: c.Name, parent: parent.String()}
}

func compareLists(a, b list) int {
	return cmp.Or(cmp.Compare(a.collection, b.collection), cmp.Compare(a.parent, b.parent))
}

func (l list) values() (collection, parent model.Value) {
	return model.TextValue(l.collection), model.TextValue(l.parent)
}

// delta is a resource that has come to a list, or has left it. Writers only note
// them, so that they do not wait for each other; they are taken up into
// totals and positions later. A snapshot has each in one place or the other.
type delta struct {
	list
	id     model.ID
	change int64 // 1 or -1
}

// Total is the number of resources of a collection, or of those of one parent.
// It is kept, not counted.
func (t *Tx) Total(c *model.Collection, parent *model.ID) (n int64, err error) {
	key := listOf(c, parent)
	collection, of := key.values()
	_, err = one(t.conn, func(row model.Row) { n = row.Int(0) },
		"SELECT "+totalOf("$1", "$2"), collection, of)
	for _, d := range t.unwritten() {
		if d.list == key {
			n += d.change
		}
	}
	return n, t.fault(err)
}

// totalOf is the total of a list.
func totalOf(collection, parent string) string {
	where := " WHERE collection = " + collection + " AND parent = " + parent + "), 0)"
	return "coalesce((SELECT total FROM " + totalsTable + where + " + coalesce((SELECT CAST(sum(change) AS bigint) FROM " + deltasTable + where
}

// unwritten is what has come and gone in this transaction, and is not written down yet.
func (t *Tx) unwritten() []delta { return append(slices.Clip(t.conn.unwritten()), t.deltas...) }

// note notes that a resource has come or gone.
func (t *Tx) note(c *model.Collection, record model.Record, change int64) {
	t.deltas = append(t.deltas, delta{listOf(c, nil), record.ID(model.IDColumn), change})
	t.noteParent(c, record, change)
}

func (t *Tx) noteParent(c *model.Collection, record model.Record, change int64) {
	if link := c.ParentLink(); link != nil && !record.Null(link.Column) {
		parent := record.ID(link.Column)
		t.deltas = append(t.deltas, delta{listOf(c, &parent), record.ID(model.IDColumn), change})
	}
}

// noteMove notes that a resource may have another parent now.
func (t *Tx) noteMove(c *model.Collection, before, after model.Record) {
	if link := c.ParentLink(); link != nil && before[link.Column] != after[link.Column] {
		t.noteParent(c, before, -1)
		t.noteParent(c, after, 1)
	}
}

const (
	takeUpAt     = 128 // so many deltas may wait to be taken up before a writer does it
	takeUpAtOnce = 16  // so many in one transaction are as soon taken up as written down
)

// writeDeltas writes down what has come and gone, or leaves it to the end of a shared
// transaction.
func (t *Tx) writeDeltas() error {
	if len(t.deltas) == 0 || t.conn.note(t.deltas) {
		return nil
	}
	return t.fault(writeDeltas(t.conn, t.deltas))
}

func writeDeltas(c conn, deltas []delta) error {
	for _, d := range deltas {
		collection, parent := d.values()
		if err := c.later(nil, "INSERT INTO "+deltasTable+" (collection, parent, id, change) VALUES ($1, $2, $3, $4)",
			collection, parent, model.IDValue(d.id), model.IntValue(d.change)); err != nil {
			return err
		}
	}
	return nil
}

// endShared writes down the deltas of a shared transaction, or takes them up together with
// those that wait.
func (s *Store) endShared(c conn, noted []delta) (done func(), err error) {
	if n := int64(len(noted)); n < takeUpAtOnce && s.waiting.Load()+n < takeUpAt {
		return func() { s.waiting.Add(n) }, writeDeltas(c, noted)
	}
	return func() { s.waiting.Store(0) }, s.takeUp(c, noted...)
}

// committed takes note that the deltas of a transaction are in the database.
func (t *Tx) committed() {
	if !t.store.backend.soleServer() {
		t.store.waiting.Add(int64(len(t.deltas)))
	}
}

// TakeUp takes up the deltas that writers have left.
func (s *Store) TakeUp(ctx context.Context) error {
	seen := s.waiting.Load()
	if seen == 0 {
		return nil
	}
	err := s.backend.write(ctx, func(c conn) error { return s.takeUp(c) })
	if err == nil {
		s.waiting.Add(-seen)
		if tidied, ok := s.backend.(interface {
			tidy(ctx context.Context, removed int64) error
		}); ok {
			err = tidied.tidy(ctx, seen)
		}
	}
	return s.fault(ctx, err)
}

func (s *Store) takeUp(c conn, more ...delta) error {
	return takeUp(c, s.schema, func(collection *model.Collection) *table { return s.tables[collection] }, more...)
}

// takeUp takes up the deltas that wait, and more.
func takeUp(c conn, s *model.Schema, tableOf func(*model.Collection) *table, more ...delta) error {
	waiting, err := takeDeltas(c, s)
	if err != nil {
		return err
	}
	byList := map[list][]delta{}
	for _, d := range append(waiting, more...) {
		byList[d.list] = append(byList[d.list], d)
	}
	for _, key := range slices.SortedFunc(maps.Keys(byList), compareLists) { // in one order, whoever does it
		if err := takeUpList(c, tableOf(s.Collection(key.collection)), key, byList[key]); err != nil {
			return err
		}
	}
	return nil
}

// takeDeltas removes the deltas of the collections of a schema. Those of a newer one
// are for its servers.
func takeDeltas(c conn, s *model.Schema) (deltas []delta, err error) {
	var names []model.Value
	var places []string
	for i, collection := range s.All() {
		names = append(names, model.TextValue(collection.Name))
		places = append(places, "$"+strconv.Itoa(i+1))
	}
	err = each(c, func(row model.Row) bool {
		text := func(column int) string { return string(row.AppendText(nil, column)) }
		deltas = append(deltas, delta{list{text(0), text(1)}, row.ID(2), row.Int(3)})
		return true
	}, "DELETE FROM "+deltasTable+" WHERE collection IN ("+strings.Join(places, ", ")+") RETURNING collection, parent, id, change", names...)
	return deltas, err
}

// takeUpList adds deltas to the total of a list, and to its positions.
func takeUpList(c conn, t *table, key list, deltas []delta) error {
	collection, parent := key.values()
	var change, total int64
	for _, d := range deltas {
		change += d.change
	}
	_, err := one(c, func(row model.Row) { total = row.Int(0) },
		"INSERT INTO "+totalsTable+" (collection, parent, total) VALUES ($1, $2, $3)"+
			" ON CONFLICT (collection, parent) DO UPDATE SET total = "+totalsTable+".total + excluded.total RETURNING total", collection, parent, model.IntValue(change))
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
// with the deltas that were not taken up yet.
func allTotals() string {
	return "(SELECT collection, parent, CAST(sum(total) AS bigint) AS total FROM (SELECT collection, parent, total FROM " + totalsTable +
		" UNION ALL SELECT collection, parent, change FROM " + deltasTable + ") AS parts GROUP BY collection, parent" +
		" HAVING sum(total) <> 0 OR parent = '') AS totals"
}
