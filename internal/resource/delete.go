package resource

import (
	"errors"
	"math"
	"slices"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
)

// delete deletes a resource, applies on_delete to the resources that refer to it, and returns
// its last state.
func (w *Work) delete(write Write) ([]Resource, error) {
	record, err := w.load(write)
	if err != nil {
		return nil, err
	}
	return w.deleteAll(write.Path, []model.Record{record})
}

// deleteAll deletes resources of a path, or none of them. References between them do not count.
func (w *Work) deleteAll(path Path, records []model.Record) ([]Resource, error) {
	d := deletion{work: w, tx: w.tx, by: path.By, marked: map[identity]bool{}, last: map[identity]model.Record{}}
	for _, record := range records {
		d.mark(path.Collection, record)
	}
	for _, step := range []func() error{d.collect, d.checkRestricted, d.setNull, d.run} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	deleted := make([]Resource, len(records))
	for i, record := range records {
		id := record.ID(model.IDColumn)
		last := d.last[identity{path.Collection, id}]
		deleted[i] = Resource{ID: id, Representation: path.represent(last, path.Collection.Append(nil, last))}
	}
	return deleted, nil
}

// deletion is the deletion of resources with everything that cascades.
type deletion struct {
	work   *Work
	tx     *store.Tx
	by     *auth.Permit // of the caller, who may not see everything that is deleted
	marked map[identity]bool
	order  []deletedResource // the requested resources first
	last   map[identity]model.Record
}

type deletedResource struct {
	collection *model.Collection
	record     model.Record
}

// collect marks everything that cascades from the marked resources. A cycle of references ends at
// a marked resource.
func (d *deletion) collect() error {
	return d.each(model.Cascade, func(link model.Link, deleted []model.ID) error {
		children, err := d.referring(link, deleted, noLimit)
		for _, child := range children {
			d.mark(link.From, child)
		}
		return err
	})
}

func (d *deletion) mark(c *model.Collection, record model.Record) {
	key := identity{c, record.ID(model.IDColumn)}
	if !d.marked[key] {
		d.marked[key] = true
		d.order = append(d.order, deletedResource{c, record})
	}
}

// noLimit reads all resources at once.
const noLimit = math.MaxInt

// deletedAtOnce is how many deleted resources one statement looks for references to.
const deletedAtOnce = 500

// each calls visit for every link of a kind to the marked resources, with several resources at
// once. Visit may mark more.
func (d *deletion) each(kind model.OnDelete, visit func(model.Link, []model.ID) error) error {
	for start := 0; start < len(d.order); {
		c, ids := d.order[start].collection, []model.ID(nil)
		for start < len(d.order) && len(ids) < deletedAtOnce && d.order[start].collection == c {
			ids = append(ids, d.order[start].record.ID(model.IDColumn))
			start++
		}
		for _, link := range c.Referrers() {
			if link.OnDelete != kind {
				continue
			}
			if err := visit(link, ids); err != nil {
				return err
			}
		}
	}
	return nil
}

// referring reads the unmarked resources that refer to one of the ids, up to a limit.
func (d *deletion) referring(link model.Link, ids []model.ID, most int) ([]model.Record, error) {
	values := make([]model.Value, len(ids))
	for i, id := range ids {
		values[i] = model.IDValue(id)
	}
	var refers query.Filter = query.In{Column: link.Column, Values: values}
	if len(ids) == 1 {
		refers = query.Compare{Column: link.Column, Op: query.Equal, Value: values[0]}
	}
	rows, err := d.tx.Select(link.From, store.Selection{
		Filter: refers,
		Order:  store.NewOrder(nil),
		// Enough rows, even if all marked resources come first.
		Take: int64(most) + min(int64(len(d.marked)), math.MaxInt64-int64(most)),
	})
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var records []model.Record
	for len(records) < most {
		more, err := rows.Next()
		if err != nil || !more {
			return records, err
		}
		if !d.marked[identity{link.From, rows.ID(model.IDColumn)}] {
			records = append(records, link.From.Scan(rows))
		}
	}
	return records, nil
}

// checkRestricted returns 409 if an unmarked resource refers to a marked one with on_delete
// restrict.
func (d *deletion) checkRestricted() error {
	var faults problem.Errors
	unseen := false // reported once, to hide how many there are
	err := d.each(model.Restrict, func(link model.Link, deleted []model.ID) error {
		if found, err := d.referring(link, deleted, 1); err != nil || len(found) == 0 {
			return err
		}
		// One of them is referred to. Which ones, and by what?
		for _, id := range deleted {
			referrers, err := d.referring(link, []model.ID{id}, 1)
			if err != nil {
				return err
			}
			if len(referrers) == 0 {
				continue
			}
			found, err := d.referenced(link, referrers[0], identity{link.To, id})
			if err != nil {
				return err
			}
			if found != nil {
				faults.Add(found)
			} else if !unseen {
				unseen = true
				faults.Add(fault.New(problem.CodeReferenced, "A resource that you may not see refers to this one, or to one that would be deleted with it."))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return faults.Err()
}

// referenced is the error for a resource that is referred to, nil if the caller may not see
// the reference.
func (d *deletion) referenced(link model.Link, referring model.Record, deleted identity) (*problem.Error, error) {
	if !d.by.Visible(link.From).Has(link.Column) {
		return nil, nil
	}
	both := []deletedResource{{link.From, referring}}
	for _, each := range d.order {
		if each.collection == deleted.collection && each.record.ID(model.IDColumn) == deleted.id {
			both = append(both, each)
		}
	}
	for _, each := range both {
		if visible, err := d.by.Sees(each.collection, each.record, d.tx.Find); err != nil || !visible {
			return nil, err
		}
	}
	return fault.New(problem.CodeReferenced, "The resource %s/%s refers to %s/%s by %s. Delete or change it, and others like it, first.",
		link.From.Name, referring.ID(model.IDColumn), deleted.collection.Name, deleted.id, link.From.Columns()[link.Column].Name), nil
}

// setNullBatch bounds how many resources are in memory.
const setNullBatch = 1000

// setNull sets references with on_delete set_null to null. Updated resources no longer refer
// to the resources, so the next batch has others.
func (d *deletion) setNull() error {
	return d.each(model.SetNull, func(link model.Link, deleted []model.ID) error {
		for {
			referrers, err := d.referring(link, deleted, setNullBatch)
			if err != nil || len(referrers) == 0 {
				return err
			}
			if err := d.setNullIn(link, referrers); err != nil {
				return err
			}
		}
	})
}

// setNullIn sets the references of resources to null: of all at once, or where a hook takes part,
// which may change others of them, of one after the other.
func (d *deletion) setNullIn(link model.Link, referrers []model.Record) error {
	before, after := make([]model.Record, 0, len(referrers)), make([]model.Record, 0, len(referrers))
	hooked := d.work.resources.hasWithin(link.From, Update)
	for _, referrer := range referrers {
		if hooked && len(before) > 0 { // the first hook may have changed or deleted the others: they are read again
			break
		}
		changed := slices.Clone(referrer)
		changed[link.Column] = model.Null
		if err := d.work.within(&Change{Verb: Update, Collection: link.From, Before: referrer, After: changed}); err != nil {
			return err
		}
		if err := d.checkReleased(link, referrer, changed); err != nil {
			return err
		}
		touch(d.tx, link.From, referrer, changed)
		before, after = append(before, referrer), append(after, changed)
	}
	dangling, err := d.work.checkReferences(nil, link.From, before, after)
	if err != nil {
		return err
	}
	if refused := joined(nil, dangling); len(refused) > 0 {
		return refused
	}
	_, conflicts, err := d.tx.UpdateAll(link.From, before, after)
	if err != nil {
		return err
	}
	if refused := joined(nil, conflicts); len(refused) > 0 {
		return refused
	}
	for i := range before {
		d.work.written(&Change{Verb: Update, Collection: link.From, Before: before[i], After: after[i]})
	}
	return nil
}

var errKeepsReference = errors.New("a hook set a reference to a resource that is being deleted")

// checkReleased returns an error if a hook keeps a reference to a marked resource, or sets one.
func (d *deletion) checkReleased(link model.Link, before, after model.Record) error {
	for _, other := range link.From.Links() {
		if target := after[other.Column]; !target.IsNull() && target != before[other.Column] && d.marked[identity{other.To, target.ID()}] {
			return errKeepsReference
		}
	}
	if after[link.Column] == before[link.Column] {
		return errKeepsReference
	}
	return nil
}

// run deletes the marked resources, the last found first, and keeps the last state of each.
func (d *deletion) run() error {
	if len(d.work.resources.hooks) > 0 {
		return d.runEach()
	}
	for end := len(d.order); end > 0; {
		c, records := d.order[end-1].collection, []model.Record(nil)
		for end > 0 && d.order[end-1].collection == c {
			end--
			records = append(records, d.order[end].record)
			d.last[identity{c, d.order[end].record.ID(model.IDColumn)}] = d.order[end].record
		}
		if err := d.tx.DeleteAll(c, records); err != nil {
			return err
		}
		for _, record := range records {
			d.work.written(&Change{Verb: Delete, Collection: c, Before: record})
		}
	}
	return nil
}

// runEach does the same with hooks. A hook may change or delete resources that follow, so each
// is read again.
func (d *deletion) runEach() error {
	for _, deleted := range slices.Backward(d.order) {
		c, id := deleted.collection, deleted.record.ID(model.IDColumn)
		d.last[identity{c, id}] = deleted.record
		change := &Change{Verb: Delete, Collection: c, Before: deleted.record}
		if err := d.work.within(change); err != nil {
			return err
		}
		current, err := d.tx.Get(c, nil, id)
		if err != nil {
			return err
		}
		if current == nil {
			continue
		}
		d.last[identity{c, id}], change.Before = current, current
		if err := d.tx.DeleteAll(c, []model.Record{current}); err != nil {
			return err
		}
		d.work.written(change)
	}
	return nil
}
