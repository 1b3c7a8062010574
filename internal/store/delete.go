package store

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/lists"
	"github.com/plural-go/plural/internal/model"
)

// Resources are deleted, and their references set to null, by sets: a few statements for each
// SetSize of them. The rows stay in the database, which writes the change log itself.

// SetSize is how many resources one statement changes. It is a variable for tests.
var SetSize = db.MaxListed

// Set is resources of a collection that are deleted together. Methods of Tx take at most SetSize of them.
//
// Without a Link, the database finds them by the list of their ids.
//
// With a Link, it finds them by a condition, in less time: they refer by the Link to one of Referred, and their ids are
// between the lowest and the highest of IDs. All resources of which this is true must be in the set, and all of the set must exist.
// Referred is what each of them refers to. The set is sorted by Referred, and then by IDs.
type Set struct {
	Collection *model.Collection
	IDs        []model.ID
	Link       *model.Link // nil: none
	Referred   []model.ID  // with a Link, one for each of IDs
}

// condition returns the condition that finds the resources of a set, the order in which they are logged, and the arguments of
// the condition, whose placeholders start at $first.
func (t *Tx) condition(s Set, first int) (where, order string, args []model.Value) {
	d, table := t.store.db, t.bound.table(s.Collection)
	id, number := table.Columns[model.IDColumn], func(i int) string { return "$" + strconv.Itoa(first+i) }
	if s.Link == nil {
		return d.InIDs(id, number(0)), id + " DESC", []model.Value{db.IDs(d, s.IDs)}
	}
	column, referred := table.Columns[s.Link.Column], slices.Compact(slices.Clone(s.Referred))
	lowest, highest := slices.MinFunc(s.IDs, model.ID.Compare), slices.MaxFunc(s.IDs, model.ID.Compare)
	return d.InIDs(column, number(0)) + " AND " + id + " >= " + number(1) + " AND " + id + " <= " + number(2), column + " DESC, " + id + " DESC",
		[]model.Value{db.IDs(d, referred), model.IDValue(lowest), model.IDValue(highest)}
}

// Delete removes a resource that was read in this transaction and returns its last representation.
func (t *Tx) Delete(c *model.Collection, record model.Record) ([]byte, error) {
	removed, err := t.DeleteSet(Set{Collection: c, IDs: []model.ID{record.ID(model.IDColumn)}})
	if err == nil && removed == 0 {
		err = t.fault(fmt.Errorf("a deletion from %s found no row", c.Name))
	}
	return c.Represent(record), err
}

// DeleteSet removes resources, as far as they exist, and returns how many it has removed. In the log they have the
// descending order of their ids; those of a set with a link, of what they refer to and then of their ids.
//
// A set with a link is never the Evidence of the transaction, because its revisions are not read. So the caller deletes what
// it refers to later in the same transaction. The same holds for SetNull.
func (t *Tx) DeleteSet(s Set) (removed int, err error) {
	if err := t.announceAll(s.Collection, s.IDs...); err != nil {
		return 0, err
	}
	removed, err = t.deleteSet(s)
	return removed, t.fault(err)
}

func (t *Tx) deleteSet(s Set) (removed int, err error) {
	c, table := s.Collection, t.bound.table(s.Collection)
	entry := t.entry(c, changelog.Deleted, model.ID{})
	where, order, args := t.condition(s, changelog.AppendAllArgs+1)
	if err := t.conn.Defer(t.bound.log.AppendAllStatement(entry, nil, where, order, args...)); err != nil {
		return 0, err
	}
	where, _, args = t.condition(s, 1)
	sql := "DELETE FROM " + table.Name + " WHERE " + where
	gone, parent := lists.Members{Table: table.Table}, c.ParentLink()
	if s.Link != nil && (parent == nil || parent.Column == s.Link.Column) {
		// RETURNING would return what is known, and would take a quarter of the time.
		if removed, err = t.conn.Exec(sql, args...); err != nil || removed != len(s.IDs) {
			return removed, err
		}
		gone.IDs = s.IDs
		for i := 0; parent != nil && i < len(s.IDs); i++ {
			gone.AddTo(s.Referred[i], s.IDs[i])
		}
	} else {
		id, of := table.Columns[model.IDColumn], "NULL"
		if parent != nil {
			of = table.Columns[parent.Column]
		}
		err = db.Each(t.conn, func(row model.Row) {
			gone.IDs = append(gone.IDs, row.ID(0))
			if !row.Null(1) {
				gone.AddTo(row.ID(1), row.ID(0))
			}
			entry.Revision = row.Int(2)
		}, sql+" RETURNING "+id+", "+of+", "+t.store.db.LastRevision(), args...)
		if err != nil || len(gone.IDs) == 0 {
			return 0, err
		}
		if s.Link == nil {
			entry.ID = slices.MinFunc(gone.IDs, model.ID.Compare) // the last in the log
			t.last = entry
		}
	}
	t.deltas = append(append(t.deltas, lists.Delta{List: t.bound.listOf(c, nil), IDs: gone.IDs, Change: -1}), gone.Removals()...)
	if table.words != "" {
		sql := `DELETE FROM "` + table.words + `" WHERE ` + t.store.db.InIDs(db.SearchResource, "$1")
		err = t.conn.Defer(db.Statement{SQL: sql, Args: []model.Value{db.IDs(t.store.db, s.IDs)}})
	}
	return len(gone.IDs), err
}

// SetNull sets a reference of resources to null, as far as they exist, and the time of their last
// change. A set with a link has this one.
func (t *Tx) SetNull(link model.Link, s Set) error {
	if err := t.announceAll(link.From, s.IDs...); err != nil {
		return err
	}
	return t.fault(t.setNull(link, s))
}

func (t *Tx) setNull(link model.Link, s Set) error {
	c, d, table := link.From, t.store.db, t.bound.table(link.From)
	id, column := table.Columns[model.IDColumn], table.Columns[link.Column]
	where, order, args := t.condition(s, 1)
	left := lists.Members{Table: table.Table}
	if parent := c.ParentLink(); parent != nil && parent.Column == link.Column {
		for i, referred := range s.Referred {
			left.AddTo(referred, s.IDs[i])
		}
		if s.Link == nil {
			err := db.Each(t.conn, func(row model.Row) {
				left.AddTo(row.ID(1), row.ID(0))
			}, "SELECT "+id+", "+column+" FROM "+table.Name+" WHERE "+where+" AND "+column+" IS NOT NULL", args...)
			if err != nil {
				return err
			}
		}
	}
	changed := []int{link.Column}
	sets := "SET " + column + " = NULL, " + table.Columns[c.RevisionColumn()] + " = " + t.bound.log.LastRevision(c, table.Name+"."+id)
	if !c.NoTimestamps {
		changed = append(changed, c.UpdatedColumn())
		last := table.Columns[c.UpdatedColumn()]
		sets += ", " + last + " = CASE WHEN " + last + " > $1 THEN " + last + " ELSE $1 END"
		where, _, args = t.condition(s, 2)
		args = append([]model.Value{t.at}, args...)
	}
	entry := t.entry(c, changelog.Updated, model.ID{})
	logged, _, values := t.condition(s, changelog.AppendAllArgs+1)
	if err := t.conn.Defer(t.bound.log.AppendAllStatement(entry, changed, logged, order, values...)); err != nil {
		return err
	}
	t.deltas = append(t.deltas, left.Removals()...)
	sql := "UPDATE " + table.Name + " " + sets + " WHERE " + where
	if s.Link != nil {
		updated, err := t.conn.Exec(sql, args...)
		if err == nil && updated != len(s.IDs) {
			err = fmt.Errorf("%d references of %s were set to null instead of %d", updated, c.Name, len(s.IDs))
		}
		return err
	}
	var updated []model.ID
	err := db.Each(t.conn, func(row model.Row) {
		updated = append(updated, row.ID(0))
		entry.Revision = row.Int(1)
	}, sql+" RETURNING "+id+", "+d.LastRevision(), args...)
	if err == nil && len(updated) > 0 {
		entry.ID = slices.MinFunc(updated, model.ID.Compare) // the last in the log
		t.last = entry
	}
	return err
}

// Referring visits the resources that refer to one of the ids by a link, with what they refer to, in no
// order, until visit returns false.
func (t *Tx) Referring(link model.Link, ids []model.ID, visit func(referrer, referred model.ID) bool) error {
	table := t.bound.table(link.From)
	id, column := table.Columns[model.IDColumn], table.Columns[link.Column]
	more := true
	for chunk := range slices.Chunk(ids, SetSize) {
		err := db.EachWhile(t.conn, func(row model.Row) bool {
			more = visit(row.ID(0), row.ID(1))
			return more
		}, "SELECT "+id+", "+column+" FROM "+table.Name+" WHERE "+t.store.db.InIDs(column, "$1"), db.IDs(t.store.db, chunk))
		if err != nil || !more {
			return t.fault(err)
		}
	}
	return nil
}

// FindAll reads resources, as far as they exist, in the order of the ids.
func (t *Tx) FindAll(c *model.Collection, ids []model.ID) ([]model.Record, error) {
	found := make(map[model.ID]model.Record, len(ids))
	err := t.EachListed(c, nil, ids, func(record model.Record) error {
		found[record.ID(model.IDColumn)] = record
		return nil
	})
	if err != nil {
		return nil, err
	}
	records := make([]model.Record, 0, len(found))
	for _, id := range ids {
		if record := found[id]; record != nil {
			records = append(records, record)
		}
	}
	return records, nil
}
