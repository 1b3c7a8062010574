package resource

import (
	"slices"

	"github.com/plural-go/plural/internal/effect"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// The deletion at the end of a dry run, and the one that is accepted for later, is not executed, because it can concern any number of
// resources: on SQLite it would keep all writes waiting. It finds what it would delete and change, and is refused, as any deletion.
// Nothing that follows depends on it. Where hooks or rules take part, it is executed and undone.

// isPredictable reports whether a step is a deletion that need not be executed to know its effect: no hooks or rules take part in it.
func (r *Resources) isPredictable(step *decodedStep) bool {
	return step.verb == Delete && step.Path.Collection != nil && !r.takePart(step.Path.Collection, map[*model.Collection]bool{})
}

// takePart reports whether hooks or rules of the data take part in the transaction of a deletion from a collection. They may refuse it, and
// hooks may change anything.
func (r *Resources) takePart(c *model.Collection, seen map[*model.Collection]bool) bool {
	if seen[c] {
		return false
	}
	seen[c] = true
	return r.hasWithin(c, Delete) || slices.ContainsFunc(c.Referrers(), func(link model.Link) bool {
		return link.OnDelete == model.Cascade && r.takePart(link.From, seen) ||
			link.OnDelete == model.SetNull && (r.hasWithin(link.From, Update) || readsReference(link))
	})
}

// predict notes what the deletion would change.
func (d *deletion) predict() error {
	if d.work.affected == nil {
		return nil
	}
	d.work.predicted = d
	for _, set := range d.order {
		d.work.affected.Note(effect.Deleted, set.Collection, set.IDs...)
	}
	return d.each(model.SetNull, func(link model.Link, deleted []model.ID) error {
		return d.tx.Referring(link, deleted, func(referrer, _ model.ID) bool {
			if !d.isMarked(link.From, referrer) {
				d.work.affected.Note(effect.Updated, link.From, referrer)
			}
			return true
		})
	})
}

// existing finds which resources of a list exist after the deletion, as far as they pass a filter.
func (d *deletion) existing(c *model.Collection, scope query.Filter, ids []model.ID) (map[model.ID]bool, error) {
	find := func(c *model.Collection, id model.ID) (model.Record, error) {
		if d.isMarked(c, id) {
			return nil, nil
		}
		record, err := d.tx.Find(c, id)
		return d.release(c, record), err
	}
	found := map[model.ID]bool{}
	ids = slices.DeleteFunc(ids, func(id model.ID) bool { return d.isMarked(c, id) })
	for ids := range slices.Chunk(ids, rowsAtOnce) {
		records, err := d.tx.FindAll(c, ids)
		if err != nil {
			return nil, err
		}
		for _, record := range records {
			if found[record.ID(model.IDColumn)], err = query.Holds(scope, d.release(c, record), find); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
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
