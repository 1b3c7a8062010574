package resource

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/effect"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
)

// delete deletes a resource, applies on_delete to the resources that refer to it, and returns
// its last state.
func (w *Work) delete(step decodedStep) ([]reads.Resource, error) {
	record, err := w.load(step)
	if err != nil {
		return nil, err
	}
	return w.deleteAll(step.Path, []model.Record{record}, step.deletion)
}

// deleteAll deletes resources of a path, or none of them. References between them do not count.
func (w *Work) deleteAll(path reads.Path, records []model.Record, mode deletionMode) ([]reads.Resource, error) {
	if err := w.reserveFor(path, records...); err != nil {
		return nil, err
	}
	d := deletion{work: w, tx: w.tx, by: path.By, mode: mode, marked: map[*model.Collection]map[model.ID]bool{}, last: map[model.ID]model.Record{}}
	for _, record := range records {
		id := record.ID(model.IDColumn)
		d.mark(path.Collection, id)
		d.last[id] = record
	}
	if err := d.collect(); err != nil {
		return nil, err
	}
	if err := d.checkRestricted(); err != nil {
		return nil, err
	}
	if err := d.apply(); err != nil {
		return nil, err
	}
	deleted := make([]reads.Resource, len(records))
	for i, record := range records {
		id := record.ID(model.IDColumn)
		last := d.last[id]
		deleted[i] = reads.Resource{ID: id, Representation: represent(path, last, path.Collection.Append(nil, last))}
	}
	return deleted, nil
}

// deletionMode is what becomes of a deletion.
type deletionMode int

const (
	executeDeletion deletionMode = iota
	tryDeletion                  // executed in a dry run, as other steps follow it, and then undone: see boundTrial
	predictDeletion              // not executed: see predict.go
)

// deletion is the deletion of resources with everything that cascades. Only the ids of what is deleted
// are in memory: the database works on sets of rows. Rows are read if a hook or rules of the data need them.
type deletion struct {
	work   *Work
	tx     *store.Tx
	by     *auth.Permit // of the caller, who may not see everything that is deleted
	mode   deletionMode
	marked map[*model.Collection]map[model.ID]bool // by the collection as it is stored
	order  []store.Set                             // the requested resources first
	closed int                                     // how many sets of order get no more resources, as each has visited them
	last   map[model.ID]model.Record               // of the requested resources

	faults problem.Errors // references that keep the resources from being deleted
	unseen bool           // one of the faults is about references that the caller does not see, and does not say how many there are
}

func (d *deletion) isMarked(c *model.Collection, id model.ID) bool { return d.marked[c.Base()][id] }

func (d *deletion) mark(c *model.Collection, id model.ID) {
	if d.isMarked(c, id) {
		return
	}
	last := len(d.order) - 1
	if last < d.closed || d.order[last].Collection != c || d.order[last].Link != nil {
		d.order = append(d.order, store.Set{Collection: c})
		last++
	}
	d.order[last].IDs = append(d.order[last].IDs, id)
	d.setMarked(c, 1, id)
}

// setMarked marks resources of a collection, of which so many are expected.
func (d *deletion) setMarked(c *model.Collection, expected int, ids ...model.ID) {
	marked := d.marked[c.Base()]
	if marked == nil {
		marked = make(map[model.ID]bool, expected)
		d.marked[c.Base()] = marked
	}
	for _, id := range ids {
		marked[id] = true
	}
}

// collect marks everything that cascades from the marked resources. A cycle of references ends at
// a marked resource.
func (d *deletion) collect() error {
	return d.each(model.Cascade, func(link model.Link, deleted []model.ID) error {
		sets, err := d.unmarked(link, deleted)
		for i, set := range sets {
			if set.Link != nil {
				d.order = append(d.order, set)
				d.setMarked(set.Collection, (len(sets)-i)*store.SetSize, set.IDs...)
				continue
			}
			for _, id := range set.IDs {
				d.mark(set.Collection, id)
			}
		}
		return err
	})
}

// minByLink is from how many resources on sets have a link: see store.Set. Fewer are deleted together with those that other
// links lead to, so that they need no statements of their own. It is a variable for tests.
var minByLink = 500

// unmarked finds the resources that refer to marked ones by a link and are not marked. It returns several sets with this
// link, or one set without a link, of any size.
func (d *deletion) unmarked(link model.Link, deleted []model.ID) ([]store.Set, error) {
	found := store.References{}
	marked := 0
	err := d.tx.Referring(link, deleted, func(referrer, referred model.ID) bool {
		if d.isMarked(link.From, referrer) {
			marked++
		} else {
			found.Referrers, found.Referred = append(found.Referrers, referrer), append(found.Referred, referred)
		}
		return true
	})
	if err != nil || found.Len() == 0 {
		return nil, err
	}
	// A hook may change which resources refer to the marked ones. Rows are read in the order of their ids.
	if marked == 0 && found.Len() >= minByLink && len(d.work.resources.hooks) == 0 && !readsReference(link) {
		return found.SetsByLink(link), nil
	}
	slices.SortFunc(found.Referrers, model.ID.Compare) // the database finds them in any order, which errors and hooks must not have
	return []store.Set{{Collection: link.From, IDs: found.Referrers}}, nil
}

// each calls visit for every link of a kind to the marked resources, with many resources at once.
// Visit may mark more.
func (d *deletion) each(kind model.OnDelete, visit func(model.Link, []model.ID) error) error {
	for i := 0; i < len(d.order); i++ {
		d.closed = max(d.closed, i+1)
		c := d.order[i].Collection
		for _, link := range c.Referrers() {
			if link.OnDelete != kind {
				continue
			}
			for ids := range slices.Chunk(d.order[i].IDs, store.SetSize) {
				if err := visit(link, ids); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// checkRestricted returns 409 if an unmarked resource refers to a marked one with on_delete
// restrict.
func (d *deletion) checkRestricted() error {
	err := d.each(model.Restrict, func(link model.Link, deleted []model.ID) error {
		if len(d.faults) >= problem.MaxErrors {
			return nil
		}
		first := map[model.ID]model.ID{} // that refers to each
		err := d.tx.Referring(link, deleted, func(referrer, referred model.ID) bool {
			other, found := first[referred]
			if !d.isMarked(link.From, referrer) && (!found || referrer.Compare(other) < 0) {
				first[referred] = referrer
			}
			return true
		})
		if err != nil {
			return err
		}
		return d.refuse(link, deleted, first, func(model.ID) string { return "" })
	})
	if err != nil {
		return err
	}
	return d.faults.Err()
}

// refuse adds the errors of references that keep resources from being deleted. Referrers are by what they refer to. Why is what the errors
// say of each resource that is not deleted.
func (d *deletion) refuse(link model.Link, deleted []model.ID, referrers map[model.ID]model.ID, why func(referred model.ID) string) error {
	if len(referrers) == 0 {
		return nil
	}
	visible, err := d.visibleReferences(link, referrers)
	if err != nil {
		return err
	}
	for _, id := range deleted {
		referrer, found := referrers[id]
		switch {
		case !found:
		case visible(id):
			d.faults.Add(fault.New(problem.CodeReferenced, "The resource %s/%s refers to %s/%s by %s. %sDelete or change it, and others like it, first.",
				link.From.Name, referrer, link.To.Name, id, link.From.Columns()[link.Column].Name, why(id)))
		case !d.unseen:
			d.unseen = true
			d.faults.Add(fault.New(problem.CodeReferenced, "A resource that you may not see refers to this one, or to one that would be deleted with it."))
		}
	}
	return nil
}

// visibleReferences reports which references the caller may see: both resources, and the attribute.
// Referrers are by what they refer to.
func (d *deletion) visibleReferences(link model.Link, referrers map[model.ID]model.ID) (visible func(referred model.ID) bool, err error) {
	if !d.by.Visible(link.From).Has(link.Column) {
		return func(model.ID) bool { return false }, nil
	}
	var from, to []model.ID
	for referred, referrer := range referrers {
		from, to = append(from, referrer), append(to, referred)
	}
	seesFrom, err := d.work.sees(d.by, link.From, from)
	if err != nil {
		return nil, err
	}
	seesTo, err := d.work.sees(d.by, link.To, to)
	return func(referred model.ID) bool { return seesTo(referred) && seesFrom(referrers[referred]) }, err
}

// sees finds which resources of a list exist for a caller.
func (w *Work) sees(by *auth.Permit, c *model.Collection, ids []model.ID) (func(model.ID) bool, error) {
	scope := by.Scope(c)
	if scope == nil {
		return func(model.ID) bool { return true }, nil
	}
	existing, err := w.tx.Existing(c, scope, ids)
	return func(id model.ID) bool { return existing[id] }, err
}

// apply deletes the marked resources and sets the references to them to null, or predicts both.
func (d *deletion) apply() error {
	if d.mode == predictDeletion {
		return d.predict()
	}
	for _, set := range d.order {
		if err := d.boundTrial(len(set.IDs)); err != nil {
			return err
		}
	}
	if err := d.setNull(); err != nil {
		return err
	}
	return d.run()
}

// setNull sets references with on_delete set_null to null.
func (d *deletion) setNull() error {
	return d.each(model.SetNull, func(link model.Link, deleted []model.ID) error {
		hooked := d.work.resources.hasWithin(link.From, Update)
		for {
			sets, err := d.unmarked(link, deleted)
			if err != nil || len(sets) == 0 {
				return err
			}
			for _, set := range sets {
				if err := d.setNullIn(link, set); err != nil {
					return err
				}
			}
			if !hooked {
				return nil
			}
			// A hook may have changed other resources, so that they refer to a marked one now.
		}
	})
}

// rowsAtOnce is how many resources are read at once for hooks and rules.
const rowsAtOnce = 1000

// setNullIn sets a reference of resources to null.
func (d *deletion) setNullIn(link model.Link, set store.Set) error {
	if err := d.boundTrial(len(set.IDs)); err != nil {
		return err
	}
	ids, size := set.IDs, store.SetSize
	rows := d.work.resources.needsRows(link.From, Update) || readsReference(link)
	if rows {
		size = rowsAtOnce
	}
	if d.work.resources.hasWithin(link.From, Update) {
		size = 1 // the hook may change or delete the others, which are read after it
	}
	for set.IDs = range slices.Chunk(ids, size) {
		if rows {
			if err := d.setNullInRows(link, set.IDs); err != nil {
				return err
			}
			continue
		}
		if err := d.tx.SetNull(link, set); err != nil {
			return err
		}
		d.work.affected.Note(effect.Updated, link.From, set.IDs...)
	}
	return nil
}

// setNullInRows sets a reference to null in rows that are read, for the hooks and the rules of their collection. All references to what is deleted are set
// to null at once: a rule may be about several.
func (d *deletion) setNullInRows(link model.Link, ids []model.ID) error {
	before, err := d.tx.FindAll(link.From, ids)
	if err != nil {
		return err
	}
	before = slices.DeleteFunc(before, func(each model.Record) bool { // a hook has changed it already
		return each.Null(link.Column) || !d.isMarked(link.To, each.ID(link.Column))
	})
	after := make([]model.Record, len(before))
	for i, referrer := range before {
		changed := d.release(link.From, referrer)
		derive(link.From, referrer, changed)
		if err := d.work.within(Update, link.From, referrer, changed); err != nil {
			return err
		}
		if err := d.checkReleased(link, referrer, changed); err != nil {
			return err
		}
		touch(d.tx, link.From, referrer, changed)
		after[i] = changed
	}
	dangling := make([]problem.Errors, len(after))
	if err := d.work.checkReferences(reads.Path{Collection: link.From}, before, after, dangling); err != nil {
		return err
	}
	if err := fault.Joined(nil, dangling).Err(); err != nil {
		return err
	}
	if err := d.checkRules(link, before, after); err != nil {
		return err
	}
	_, conflicts, err := d.tx.UpdateAll(link.From, before, after)
	if err == nil && readsReference(link) { // a computed value may be taken
		err = d.refuseRows(link, before, conflicts)
	}
	if err := cmp.Or(err, fault.Joined(nil, conflicts).Err()); err != nil {
		return err
	}
	for i := range before {
		d.work.scheduleAfter(Update, link.From, before[i], after[i])
	}
	return nil
}

var errKeepsReference = errors.New("a hook set a reference to a resource that is being deleted")

// checkReleased returns an error if a hook keeps a reference to a marked resource, or sets one.
func (d *deletion) checkReleased(link model.Link, before, after model.Record) error {
	for _, other := range link.From.Links() {
		if target := after[other.Column]; !target.IsNull() && target != before[other.Column] && d.isMarked(other.To, target.ID()) {
			return errKeepsReference
		}
	}
	if after[link.Column] == before[link.Column] {
		return errKeepsReference
	}
	return nil
}

// run deletes the marked resources, the last found first.
func (d *deletion) run() error {
	for i, set := range slices.Backward(d.order) {
		c, ids, size := set.Collection, set.IDs, store.SetSize
		// A hook may change the requested resources, whose last state is the response.
		rows := d.work.resources.needsRows(c, Delete) || i == 0 && len(d.work.resources.hooks) > 0
		if rows {
			size = rowsAtOnce
		}
		if d.work.resources.hasWithin(c, Delete) {
			size = 1 // the hook may change or delete the others, which are read after it
		}
		for end := len(ids); end > 0; end -= size {
			set.IDs = ids[max(0, end-size):end]
			delete := d.deleteSet
			if rows {
				delete = d.deleteForHooks
			}
			if err := delete(set); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *deletion) deleteSet(set store.Set) error {
	d.work.affected.Note(effect.Deleted, set.Collection, set.IDs...)
	removed, err := d.tx.DeleteSet(set)
	if err == nil && removed != len(set.IDs) && len(d.work.resources.hooks) == 0 {
		err = fault.Internal(fmt.Errorf("a deletion from %s removed %d rows instead of %d", set.Collection.Name, removed, len(set.IDs)))
	}
	return err
}

// deleteForHooks does the same with rows, and keeps the last state of the requested resources.
func (d *deletion) deleteForHooks(set store.Set) error {
	c, ids := set.Collection, set.IDs
	records, err := d.tx.FindAll(c, ids)
	if err != nil {
		return err
	}
	if d.work.resources.hasWithin(c, Delete) {
		for _, record := range records {
			if err := d.work.within(Delete, c, record, nil); err != nil {
				return err
			}
		}
		if records, err = d.tx.FindAll(c, ids); err != nil { // as the hook has left them
			return err
		}
	}
	if _, err := d.tx.DeleteSet(set); err != nil {
		return err
	}
	for _, record := range slices.Backward(records) {
		if id := record.ID(model.IDColumn); d.order[0].Collection == c && d.last[id] != nil {
			d.last[id] = record
		}
		d.work.scheduleAfter(Delete, c, record, nil)
	}
	return nil
}
