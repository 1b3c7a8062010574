package resource

import (
	"context"
	"slices"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// A write that is known to change nothing is executed in a snapshot instead of a transaction that writes: one whose range is
// empty, and the dry run of a deletion, which can concern any number of resources. On SQLite it would keep all
// writes waiting.

// OnlyReads reports whether a write changes nothing, so that it is executed by RunReading and Predict. FindRange has found its range.
func (r *Resources) OnlyReads(write *Write) bool {
	switch {
	case write.Range != nil && len(write.found) == 0:
		return true
	case write.DryRun && write.Verb == Delete:
		return !r.hookTakesPart(write.Path.Collection, map[*model.Collection]bool{})
	}
	return false
}

// hookTakesPart reports whether a hook takes part in the transaction of a deletion from a collection: it may change or refuse anything.
func (r *Resources) hookTakesPart(c *model.Collection, seen map[*model.Collection]bool) bool {
	if seen[c] {
		return false
	}
	seen[c] = true
	return r.hasWithin(c, Delete) || slices.ContainsFunc(c.Referrers(), func(link model.Link) bool {
		return link.OnDelete == model.Cascade && r.hookTakesPart(link.From, seen) || link.OnDelete == model.SetNull && r.hasWithin(link.From, Update)
	})
}

// RunReading runs fn in a snapshot. The context can end it at any time.
func (r *Resources) RunReading(ctx context.Context, fn func(*Work) error) error {
	if err := r.refuseNested(ctx); err != nil {
		return err
	}
	tx, err := r.store.ReadAtLength(ctx)
	if err != nil {
		return err
	}
	defer tx.Close()
	return fn(&Work{resources: r, ctx: ctx, lookup: lookup{tx: tx}})
}

// Predict returns what a write that OnlyReads would return, and what it would affect.
func (w *Work) Predict(write Write) ([]Resource, Affected, error) {
	w.predicts, w.predicted = true, nil
	results, err := w.Do(write)
	return results, w.predicted, err
}

// predict counts the resources that the deletion would change, as far as the caller sees them before it or after it.
func (d *deletion) predict() error {
	released := map[*model.Collection]map[model.ID]bool{}
	err := d.each(model.SetNull, func(link model.Link, deleted []model.ID) error {
		return d.tx.Referring(link, deleted, func(referrer, _ model.ID) bool {
			if !d.isMarked(link.From, referrer) {
				if released[link.From] == nil {
					released[link.From] = map[model.ID]bool{}
				}
				released[link.From][referrer] = true
			}
			return true
		})
	})
	if err != nil {
		return err
	}
	for _, c := range d.work.resources.store.Schema().All() {
		deleted, _, err := d.countVisible(c, d.marked[c])
		if err != nil {
			return err
		}
		changed, hidden, err := d.countVisible(c, released[c])
		if err != nil {
			return err
		}
		shown, err := d.countShown(c, hidden)
		if err != nil {
			return err
		}
		if count := deleted + changed + shown; count > 0 {
			d.work.predicted = append(d.work.predicted, AffectedCollection{Collection: c, Count: count, Deleted: deleted})
		}
	}
	return nil
}

// countVisible counts the resources of a set that the caller sees before the deletion, and lists the others.
func (d *deletion) countVisible(c *model.Collection, set map[model.ID]bool) (count int, hidden []model.ID, err error) {
	scope := d.by.Scope(c)
	if scope == nil || len(set) == 0 {
		return len(set), nil, nil
	}
	ids := make([]model.ID, 0, len(set))
	for id := range set {
		ids = append(ids, id)
	}
	seen, err := d.tx.Existing(c, scope, ids)
	hidden = slices.DeleteFunc(ids, func(id model.ID) bool { return seen[id] })
	return len(seen), hidden, err
}

// countShown counts the resources that the caller sees only after the deletion, which sets a reference of each to null.
func (d *deletion) countShown(c *model.Collection, hidden []model.ID) (count int, err error) {
	find := func(c *model.Collection, id model.ID) (model.Record, error) {
		if d.isMarked(c, id) {
			return nil, nil
		}
		record, err := d.tx.Find(c, id)
		return d.release(c, record), err
	}
	for ids := range slices.Chunk(hidden, rowsForHooks) {
		records, err := d.tx.Records(c, ids)
		if err != nil {
			return 0, err
		}
		for _, record := range records {
			holds, err := query.Holds(d.by.Scope(c), d.release(c, record), find)
			if err != nil {
				return 0, err
			}
			if holds {
				count++
			}
		}
	}
	return count, nil
}

// release is a resource as the deletion leaves it.
func (d *deletion) release(c *model.Collection, before model.Record) model.Record {
	after := slices.Clone(before)
	for _, link := range c.Links() {
		if before != nil && !before.Null(link.Column) && d.isMarked(link.To, before.ID(link.Column)) {
			after[link.Column] = model.Null
		}
	}
	if !slices.Equal(before, after) {
		touch(d.tx, c, before, after)
	}
	return after
}
