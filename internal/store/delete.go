package store

import (
	"fmt"
	"slices"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/lists"
	"github.com/plural-go/plural/internal/model"
)

// Resources are deleted, and their references set to null, by sets: a few statements for each
// SetSize of them. The rows stay in the database, which writes the change log itself.

// SetSize is how many resources one statement changes. It is a variable for tests.
var SetSize = db.MaxListed

// Delete removes a resource that was read in this transaction and returns its last representation.
func (t *Tx) Delete(c *model.Collection, record model.Record) ([]byte, error) {
	removed, err := t.DeleteAll(c, record.ID(model.IDColumn))
	if err == nil && removed == 0 {
		err = t.fault(fmt.Errorf("a deletion from %s found no row", c.Name))
	}
	return c.Represent(record), err
}

// DeleteAll removes resources, as far as they exist, and returns how many it has removed. Of each
// SetSize ids the highest is removed first.
func (t *Tx) DeleteAll(c *model.Collection, ids ...model.ID) (removed int, err error) {
	if err := t.announceAll(c, ids...); err != nil {
		return 0, err
	}
	for chunk := range slices.Chunk(ids, SetSize) {
		n, err := t.deleteChunk(c, chunk)
		if err != nil {
			return 0, t.fault(err)
		}
		removed += n
	}
	return removed, nil
}

func (t *Tx) deleteChunk(c *model.Collection, ids []model.ID) (removed int, err error) {
	table, listed := t.store.tables[c], db.IDs(t.store.db, ids)
	id, parent := table.Columns[model.IDColumn], table.Columns[model.IDColumn]
	if link := c.ParentLink(); link != nil {
		parent = table.Columns[link.Column]
	}
	entry := &changelog.Entry{Collection: c, Kind: changelog.Deleted, At: t.at, Caller: t.caller}
	if err := t.conn.Defer(t.store.log.AppendAllStatement(entry, nil, listed)); err != nil {
		return 0, err
	}
	gone, revision := members{collection: c}, int64(0)
	err = db.Each(t.conn, func(row model.Row) bool {
		of := model.Null
		if c.ParentLink() != nil && !row.Null(1) {
			of = model.IDValue(row.ID(1))
		}
		gone.add(row.ID(0), of)
		revision = row.Int(2)
		return true
	}, "DELETE FROM "+table.Name+" WHERE "+t.store.db.InIDs(id, "$1")+" RETURNING "+id+", "+parent+", "+t.store.db.LastRevision(), listed)
	if err != nil || len(gone.ids) == 0 {
		return 0, err
	}
	t.deltas = append(t.deltas, lists.Delta{List: lists.Of(c, nil), IDs: gone.ids, Change: -1})
	t.deltas = append(t.deltas, gone.deltas(-1)...)
	entry.ID = slices.MinFunc(gone.ids, lists.CompareIDs)
	t.last = t.store.log.Appended(entry, revision)
	if table.words != "" {
		sql := `DELETE FROM "` + table.words + `" WHERE ` + t.store.db.InIDs(db.SearchResource, "$1")
		err = t.conn.Defer(db.Statement{SQL: sql, Args: []model.Value{listed}})
	}
	return len(gone.ids), err
}

// SetNull sets a reference of resources to null, as far as they exist, and the time of their last
// change.
func (t *Tx) SetNull(link model.Link, ids []model.ID) error {
	if err := t.announceAll(link.From, ids...); err != nil {
		return err
	}
	for chunk := range slices.Chunk(ids, SetSize) {
		if err := t.setNullChunk(link, chunk); err != nil {
			return t.fault(err)
		}
	}
	return nil
}

func (t *Tx) setNullChunk(link model.Link, ids []model.ID) error {
	c, d := link.From, t.store.db
	table, listed := t.store.tables[c], db.IDs(d, ids)
	id, column := table.Columns[model.IDColumn], table.Columns[link.Column]
	if parent := c.ParentLink(); parent != nil && parent.Column == link.Column {
		left := members{collection: c}
		err := db.Each(t.conn, func(row model.Row) bool {
			left.add(row.ID(0), model.IDValue(row.ID(1)))
			return true
		}, "SELECT "+id+", "+column+" FROM "+table.Name+" WHERE "+d.InIDs(id, "$1")+" AND "+column+" IS NOT NULL", listed)
		if err != nil {
			return err
		}
		t.deltas = append(t.deltas, left.deltas(-1)...)
	}
	changed := []int{link.Column}
	sets := "SET " + column + " = NULL, " + table.Columns[c.RevisionColumn()] + " = " + t.store.log.LastRevision(c, table.Name+"."+id)
	args, placeholder := []model.Value{listed}, "$1"
	if !c.NoTimestamps {
		changed = append(changed, c.UpdatedColumn())
		last := table.Columns[c.UpdatedColumn()]
		sets += ", " + last + " = CASE WHEN " + last + " > $1 THEN " + last + " ELSE $1 END"
		args, placeholder = []model.Value{t.at, listed}, "$2"
	}
	entry := &changelog.Entry{Collection: c, Kind: changelog.Updated, At: t.at, Caller: t.caller}
	if err := t.conn.Defer(t.store.log.AppendAllStatement(entry, changed, listed)); err != nil {
		return err
	}
	var updated []model.ID
	revision := int64(0)
	err := db.Each(t.conn, func(row model.Row) bool {
		updated = append(updated, row.ID(0))
		revision = row.Int(1)
		return true
	}, "UPDATE "+table.Name+" "+sets+" WHERE "+d.InIDs(id, placeholder)+" RETURNING "+id+", "+d.LastRevision(), args...)
	if err == nil && len(updated) > 0 {
		entry.ID = slices.MinFunc(updated, lists.CompareIDs)
		t.last = t.store.log.Appended(entry, revision)
	}
	return err
}

// Referring visits the resources that refer to one of the ids by a link, with what they refer to, in no
// order, until visit returns false.
func (t *Tx) Referring(link model.Link, ids []model.ID, visit func(referrer, referred model.ID) bool) error {
	table := t.store.tables[link.From]
	id, column := table.Columns[model.IDColumn], table.Columns[link.Column]
	more := true
	for chunk := range slices.Chunk(ids, SetSize) {
		err := db.Each(t.conn, func(row model.Row) bool {
			more = visit(row.ID(0), row.ID(1))
			return more
		}, "SELECT "+id+", "+column+" FROM "+table.Name+" WHERE "+t.store.db.InIDs(column, "$1"), db.IDs(t.store.db, chunk))
		if err != nil || !more {
			return t.fault(err)
		}
	}
	return nil
}

// Records reads resources, as far as they exist, in the order of the ids.
func (t *Tx) Records(c *model.Collection, ids []model.ID) ([]model.Record, error) {
	found := make(map[model.ID]model.Record, len(ids))
	table := t.store.tables[c]
	for chunk := range slices.Chunk(ids, SetSize) {
		err := db.Each(t.conn, func(row model.Row) bool {
			record := c.Scan(row)
			found[record.ID(model.IDColumn)] = record
			return true
		}, "SELECT "+table.All+" FROM "+table.Name+" WHERE "+t.store.db.InIDs(table.Columns[model.IDColumn], "$1"), db.IDs(t.store.db, chunk))
		if err != nil {
			return nil, t.fault(err)
		}
	}
	records := make([]model.Record, 0, len(found))
	for _, id := range ids {
		if record := found[id]; record != nil {
			records = append(records, record)
		}
	}
	return records, nil
}

// members is resources of a collection, with their parents.
type members struct {
	collection *model.Collection
	ids        []model.ID
	children   map[model.ID][]model.ID // by their parent
}

func (m *members) add(id model.ID, parent model.Value) {
	m.ids = append(m.ids, id)
	if parent.IsNull() {
		return
	}
	if m.children == nil {
		m.children = map[model.ID][]model.ID{}
	}
	m.children[parent.ID()] = append(m.children[parent.ID()], id)
}

// deltas is the deltas of the lists of the parents.
func (m *members) deltas(change int64) (deltas []lists.Delta) {
	for parent, ids := range m.children {
		if len(m.children) == 1 && len(ids) == len(m.ids) {
			ids = m.ids // kept once
		}
		deltas = append(deltas, lists.Delta{List: lists.Of(m.collection, &parent), IDs: ids, Change: change})
	}
	return deltas
}
