package store

import (
	"fmt"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/search"
	"github.com/plural-go/plural/problem"
)

// Update replaces a resource that was read in this transaction and returns its new
// representation. Conflicts are reported as by Insert.
func (t *Tx) Update(c *model.Collection, before, after model.Record) ([]byte, error) {
	representations, conflicts, err := t.UpdateAll(c, []model.Record{before}, []model.Record{after})
	if err != nil {
		return nil, err
	}
	if conflicts != nil {
		return nil, conflicts[0]
	}
	return representations[0], nil
}

// UpdateAll replaces resources that were read in this transaction, in their order and in one
// batch, and returns their new representations. If a resource has conflicts with another, as
// Insert reports them, none is replaced, and the conflicts of each are returned.
func (t *Tx) UpdateAll(c *model.Collection, before, after []model.Record) (representations [][]byte, conflicts []problem.Errors, err error) {
	if len(after) == 0 {
		return nil, nil, nil
	}
	if conflicts = search.TooLong(t.texts, c, before, after); conflicts != nil {
		return nil, conflicts, nil
	}
	if conflicts, err = t.updateConflicts(c, before, after); err != nil || conflicts != nil {
		return nil, conflicts, t.fault(err)
	}
	if err := t.announceAll(c, recordIDs(after)...); err != nil {
		return nil, nil, err
	}
	table := t.bound.table(c)
	representations = make([][]byte, len(after))
	stored, batch := make([]bool, len(after)), make([]db.Statement, 0, 2*len(after))
	for i := range after {
		representations[i] = c.Represent(after[i])
		update := table.updateOf(before[i], after[i])
		update.Stored = func(revision int64) { after[i][c.RevisionColumn()], stored[i] = model.IntValue(revision), true }
		change := t.entry(c, changelog.Updated, after[i].ID(model.IDColumn))
		change.Before, change.After = before[i], after[i]
		batch = append(batch, t.bound.log.AppendStatement(change), update)
	}
	if err := t.conn.Batch(batch...); err != nil {
		return nil, nil, t.fault(err)
	}
	for i := range after {
		if !stored[i] {
			return nil, nil, t.fault(fmt.Errorf("an update of %s found no row", c.Name))
		}
		t.addMoveDeltas(c, before[i], after[i])
	}
	last := after[len(after)-1]
	t.last = t.entry(c, changelog.Updated, last.ID(model.IDColumn))
	t.last.Revision = last.Int(c.RevisionColumn())
	return representations, nil, t.fault(t.putWords(c, before, after))
}

// announceAll announces writes to resources of a collection.
func (t *Tx) announceAll(c *model.Collection, ids ...model.ID) error {
	all := make([]ResourceID, len(ids))
	for i, id := range ids {
		all[i] = t.ResourceID(c, id)
	}
	return t.Announce(all...)
}

// ResourceID names a resource.
type ResourceID = db.ResourceID

// ResourceID names a resource of a collection, as all servers name it.
func (t *Tx) ResourceID(c *model.Collection, id model.ID) ResourceID {
	return ResourceID{Collection: t.bound.nameOf(c), ID: id}
}

// Announce announces writes to resources: see db.Conn.
func (t *Tx) Announce(all ...ResourceID) error { return t.fault(t.conn.Announce(all...)) }

func recordIDs(records []model.Record) []model.ID {
	ids := make([]model.ID, len(records))
	for i, record := range records {
		ids[i] = record.ID(model.IDColumn)
	}
	return ids
}
