package store

import (
	"context"
	"slices"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/lists"
	"github.com/plural-go/plural/internal/model"
)

// Total is the stored number of resources of a collection, or of those of one parent.
func (t *Tx) Total(c *model.Collection, parent *model.ID) (n int64, err error) {
	n, err = lists.Total(t.conn, t.bound.listOf(c, parent), t.unrecorded())
	return n, t.fault(err)
}

// pointAndTotal reads the point of the snapshot, and the total of a list, together with other statements: see
// db.Conn.Defer.
func (t *Tx) pointAndTotal(c *model.Collection, parent *model.ID, point *changelog.Point, n *int64) db.Statement {
	list := t.bound.listOf(c, parent)
	return db.Statement{SQL: t.bound.selectPointAndTotal, Args: list.Args(), Read: func(row model.Row) (err error) {
		*n = row.Int(0) + list.Changed(t.unrecorded())
		*point, err = changelog.ReadPoint(row, 1)
		return err
	}}
}

// findBlock finds the block of a list that contains an offset, or the last one. False means that
// the list has no offset index.
func (t *Tx) findBlock(c *model.Collection, parent *model.ID, offset int64) (block lists.Block, found bool, err error) {
	block, found, err = lists.Find(t.conn, t.bound.table(c).Table, t.bound.listOf(c, parent), offset, t.unrecorded())
	return block, found, t.fault(err)
}

// unrecorded returns the deltas of the transaction, which are recorded at its end.
func (t *Tx) unrecorded() (deltas []lists.Delta) { return append(deltasOf(t.earlier), t.deltas...) }

func deltasOf(tasks []*db.Task) (deltas []lists.Delta) {
	for _, t := range tasks {
		if tx, ok := t.Value.(*Tx); ok {
			deltas = append(deltas, tx.deltas...)
		}
	}
	return deltas
}

// addDelta adds the delta of a created or deleted resource.
func (t *Tx) addDelta(c *model.Collection, record model.Record, change int64) {
	ids := []model.ID{record.ID(model.IDColumn)}
	t.deltas = append(t.deltas, lists.Delta{List: t.bound.listOf(c, nil), IDs: ids, Change: change})
	t.addParentDelta(c, record, ids, change)
}

func (t *Tx) addParentDelta(c *model.Collection, record model.Record, ids []model.ID, change int64) {
	if link := c.ParentLink(); link != nil && !record.Null(link.Column) {
		parent := record.ID(link.Column)
		t.deltas = append(t.deltas, lists.Delta{List: t.bound.listOf(c, &parent), IDs: ids, Change: change})
	}
}

// addMoveDeltas adds the deltas of a resource that may have another parent now.
func (t *Tx) addMoveDeltas(c *model.Collection, before, after model.Record) {
	if link := c.ParentLink(); link != nil && before[link.Column] != after[link.Column] {
		ids := []model.ID{after.ID(model.IDColumn)}
		t.addParentDelta(c, before, ids, -1)
		t.addParentDelta(c, after, ids, 1)
	}
}

const (
	mergeAt     = 128 // pending deltas at which a writer merges them
	mergeAtOnce = 16  // deltas of one transaction at which they are merged at once
)

// mergeRequest is the value of a task that wants pending deltas to be merged.
type mergeRequest struct{ bound *binding }

// finish records the deltas of a transaction, or merges them together with the pending ones: if a task
// asks for it, or if only one transaction writes at a time and there are many. Merging reads the
// resources, so it must count those of all tasks of the transaction, and comes after them.
func (s *Store) finish(c db.Conn, tasks []*db.Task) (committed func(), err error) {
	deltas, recorded := deltasOf(tasks), int64(0)
	for _, t := range tasks {
		if tx, ok := t.Value.(*Tx); ok {
			recorded += tx.pending
		}
	}
	n, pending := lists.Count(deltas), s.pending.Load()
	manyWriters := s.db.Traits().ManyWriters
	request := slices.IndexFunc(tasks, func(t *db.Task) bool { _, ok := t.Value.(mergeRequest); return ok })
	if request < 0 && (manyWriters || n < mergeAtOnce && (n == 0 || pending+n < mergeAt)) {
		return func() { s.pending.Add(n + recorded) }, lists.Record(c, s.db, deltas)
	}
	bound := s.bound()
	for _, t := range tasks { // all of one transaction have found the same schema
		switch value := t.Value.(type) {
		case *Tx:
			bound = value.bound
		case mergeRequest:
			bound = value.bound
		}
	}
	removed, err := lists.Merge(c, s.db, bound.all(), deltas...)
	if request >= 0 {
		tasks[request].Removed.Table, tasks[request].Removed.Rows = db.DeltasTable, removed
	}
	return func() { s.pending.Add(-pending) }, err // others may have recorded more
}

// MergeDeltas merges the pending deltas. If the database has a schema that the server does not know, servers that know it do so.
func (s *Store) MergeDeltas(ctx context.Context) error {
	if s.pending.Load() == 0 {
		return nil
	}
	t := &db.Task{}
	t.Run = func(c db.Conn, _ []*db.Task) error {
		tx := &Tx{store: s, conn: c}
		err := tx.begin(true, mayRead)
		t.Value = mergeRequest{tx.bound}
		return err
	}
	err := s.db.Write(ctx, t)
	if !mayRead(s.compatible.Load()) {
		return nil
	}
	return s.fault(ctx, err)
}
