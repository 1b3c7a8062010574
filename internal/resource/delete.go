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
func (w *Work) delete(write Write) (Resource, error) {
	record, err := w.load(write)
	if err != nil {
		return Resource{}, err
	}
	d := deletion{work: w, tx: w.tx, by: write.Path.By, marked: map[identity]bool{}}
	if err := d.collect(write.Path.Collection, record); err != nil {
		return Resource{}, err
	}
	if err := d.checkRestricted(); err != nil {
		return Resource{}, err
	}
	if err := d.setNull(); err != nil {
		return Resource{}, err
	}
	last, representation, err := d.deleteAll()
	if err != nil {
		return Resource{}, err
	}
	return Resource{ID: write.ID, Representation: write.Path.represent(last, representation)}, nil
}

// deletion is the deletion of a resource with everything that cascades.
type deletion struct {
	work   *Work
	tx     *store.Tx
	by     *auth.Permit // of the caller, who may not see everything that is deleted
	marked map[identity]bool
	order  []deletedResource // the requested resource first
}

type deletedResource struct {
	collection *model.Collection
	record     model.Record
}

// collect marks a resource and everything that cascades from it. A cycle of references ends at
// a marked resource.
func (d *deletion) collect(c *model.Collection, record model.Record) error {
	d.mark(c, record)
	for i := 0; i < len(d.order); i++ { // mark appends to it
		deleted := d.order[i]
		for _, link := range deleted.collection.Referrers() {
			if link.OnDelete != model.Cascade {
				continue
			}
			children, err := d.referring(link, deleted.record.ID(model.IDColumn), noLimit)
			if err != nil {
				return err
			}
			for _, child := range children {
				d.mark(link.From, child)
			}
		}
	}
	return nil
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

// referring reads the unmarked resources that refer to an id, up to a limit.
func (d *deletion) referring(link model.Link, id model.ID, most int) ([]model.Record, error) {
	rows, err := d.tx.Select(link.From, store.Selection{
		Filter: query.Compare{Column: link.Column, Op: query.Equal, Value: model.IDValue(id)},
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

// each calls visit for every link of a kind to every marked resource.
func (d *deletion) each(kind model.OnDelete, visit func(model.Link, identity) error) error {
	for _, deleted := range d.order {
		for _, link := range deleted.collection.Referrers() {
			if link.OnDelete != kind {
				continue
			}
			if err := visit(link, identity{deleted.collection, deleted.record.ID(model.IDColumn)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkRestricted returns 409 if an unmarked resource refers to a marked one with on_delete
// restrict.
func (d *deletion) checkRestricted() error {
	var faults problem.Errors
	unseen := false // reported once, to hide how many there are
	err := d.each(model.Restrict, func(link model.Link, deleted identity) error {
		referrers, err := d.referring(link, deleted.id, 1)
		if len(referrers) > 0 {
			found, err := d.referenced(link, referrers[0], deleted)
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
		return err
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
// to the resource, so the next batch has others.
func (d *deletion) setNull() error {
	return d.each(model.SetNull, func(link model.Link, deleted identity) error {
		for {
			referrers, err := d.referring(link, deleted.id, setNullBatch)
			if err != nil || len(referrers) == 0 {
				return err
			}
			for _, before := range referrers {
				if err := d.setNullOne(link, before); err != nil {
					return err
				}
			}
		}
	})
}

var errKeepsReference = errors.New("a hook set a reference to a resource that is being deleted")

func (d *deletion) setNullOne(link model.Link, before model.Record) error {
	after := slices.Clone(before)
	after[link.Column] = model.Null
	change := &Change{Verb: Update, Collection: link.From, Before: before, After: after}
	if err := d.work.within(change); err != nil {
		return err
	}
	for _, other := range link.From.Links() {
		if target := after[other.Column]; !target.IsNull() && target != before[other.Column] && d.marked[identity{other.To, target.ID()}] {
			return errKeepsReference
		}
	}
	if after[link.Column] == before[link.Column] {
		return errKeepsReference
	}
	dangling, err := d.work.checkReferences(nil, link.From, before, after)
	if err != nil {
		return err
	}
	if len(dangling) > 0 {
		return dangling
	}
	touch(d.tx, link.From, before, after)
	if _, err := d.tx.Update(link.From, before, after); err != nil {
		return err
	}
	d.work.written(change)
	return nil
}

// deleteAll deletes the marked resources, the last found first, and returns the last state of
// the requested one. A hook may have changed or deleted resources that follow, so with hooks
// each is read again.
func (d *deletion) deleteAll() (last model.Record, representation []byte, err error) {
	for _, deleted := range slices.Backward(d.order) {
		change := &Change{Verb: Delete, Collection: deleted.collection, Before: deleted.record}
		if err := d.work.within(change); err != nil {
			return nil, nil, err
		}
		if len(d.work.resources.hooks) > 0 {
			current, err := d.tx.Get(deleted.collection, nil, deleted.record.ID(model.IDColumn))
			if err != nil {
				return nil, nil, err
			}
			if current == nil {
				last, representation = deleted.record, deleted.collection.Append(nil, deleted.record)
				continue
			}
			change.Before = current
		}
		last = change.Before
		if representation, err = d.tx.Delete(deleted.collection, last); err != nil {
			return nil, nil, err
		}
		d.work.written(change)
	}
	return last, representation, nil
}
