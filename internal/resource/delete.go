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

// delete deletes a resource, and does with those that refer to it what the
// schema says. It returns the resource as it last was.
func (w *Work) delete(write Write) (Resource, error) {
	record, err := w.meet(write)
	if err != nil {
		return Resource{}, err
	}
	d := deletion{work: w, tx: w.tx, by: write.Path.By, doomed: map[identity]bool{}}
	if err := d.collect(write.Path.Collection, record); err != nil {
		return Resource{}, err
	}
	if err := d.checkRestricted(); err != nil {
		return Resource{}, err
	}
	if err := d.release(); err != nil {
		return Resource{}, err
	}
	last, representation, err := d.deleteAll()
	if err != nil {
		return Resource{}, err
	}
	return Resource{ID: write.ID, Representation: write.Path.represent(last, representation)}, nil
}

// deletion is a resource to be deleted with all that goes with it.
type deletion struct {
	work   *Work
	tx     *store.Tx
	by     *auth.Permit // of the caller, who may see less than what is deleted
	doomed map[identity]bool
	order  []victim // the resource itself first
}

type victim struct {
	collection *model.Collection
	record     model.Record
}

// collect dooms a resource and, from there, all that a cascade reaches. A circle
// of references ends where it began.
func (d *deletion) collect(c *model.Collection, record model.Record) error {
	d.doom(c, record)
	for i := 0; i < len(d.order); i++ { // it grows as it is walked
		victim := d.order[i]
		for _, link := range victim.collection.Referrers() {
			if link.OnDelete != model.Cascade {
				continue
			}
			children, err := d.referring(link, victim.record.ID(model.IDColumn), everyone)
			if err != nil {
				return err
			}
			for _, child := range children {
				d.doom(link.From, child)
			}
		}
	}
	return nil
}

func (d *deletion) doom(c *model.Collection, record model.Record) {
	key := identity{c, record.ID(model.IDColumn)}
	if !d.doomed[key] {
		d.doomed[key] = true
		d.order = append(d.order, victim{c, record})
	}
}

// everyone is no bound on how many resources are read at once.
const everyone = math.MaxInt

// referring reads the resources that refer to an id and are not doomed, or as
// many of them as asked for.
func (d *deletion) referring(link model.Link, id model.ID, most int) ([]model.Record, error) {
	rows, err := d.tx.Select(link.From, store.Selection{
		Filter: query.Compare{Column: link.Column, Op: query.Equal, Value: model.IDValue(id)},
		Order:  store.NewOrder(nil),
		// No more than asked for stay, if all that are doomed come first.
		Take: int64(most) + min(int64(len(d.doomed)), math.MaxInt64-int64(most)),
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
		if !d.doomed[identity{link.From, rows.ID(model.IDColumn)}] {
			records = append(records, link.From.Scan(rows))
		}
	}
	return records, nil
}

// each calls visit for every kind of reference to every doomed resource.
func (d *deletion) each(kind model.OnDelete, visit func(model.Link, identity) error) error {
	for _, victim := range d.order {
		for _, link := range victim.collection.Referrers() {
			if link.OnDelete != kind {
				continue
			}
			if err := visit(link, identity{victim.collection, victim.record.ID(model.IDColumn)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkRestricted answers 409 when something that stays refers to what goes and
// must not lose it.
func (d *deletion) checkRestricted() error {
	var faults problem.Errors
	unseen := false // said once, as how many there are is nobody's business either
	err := d.each(model.Restrict, func(link model.Link, victim identity) error {
		staying, err := d.referring(link, victim.id, 1)
		if len(staying) > 0 {
			if told := d.referenced(link, staying[0], victim); told != nil {
				faults.Add(told)
			} else if !unseen {
				unseen = true
				faults.Add(fault.New(problem.CodeReferenced, "Something that you may not see refers to it, or to what would be deleted with it."))
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	return faults.Err()
}

// referenced says what refers to something that cannot be deleted therefore, nil if the
// caller may not see it.
func (d *deletion) referenced(link model.Link, referring model.Record, victim identity) *problem.Error {
	told := d.by.Sees(link.From, referring) && d.by.Visible(link.From).Has(link.Column)
	for _, each := range d.order {
		if each.collection == victim.collection && each.record.ID(model.IDColumn) == victim.id {
			told = told && d.by.Sees(each.collection, each.record)
		}
	}
	if !told {
		return nil
	}
	return fault.New(problem.CodeReferenced, "The resource %s/%s refers to %s/%s by %s. Delete or change it, and others like it, first.",
		link.From.Name, referring.ID(model.IDColumn), victim.collection.Name, victim.id, link.From.Columns()[link.Column].Name)
}

// releaseBatch bounds how many resources are held in memory to be released.
const releaseBatch = 1000

// release sets the references to null that are to outlive what they refer to.
// Those that were released no longer refer to it, so the next batch is others.
func (d *deletion) release() error {
	return d.each(model.SetNull, func(link model.Link, victim identity) error {
		for {
			staying, err := d.referring(link, victim.id, releaseBatch)
			if err != nil || len(staying) == 0 {
				return err
			}
			for _, before := range staying {
				if err := d.releaseOne(link, before); err != nil {
					return err
				}
			}
		}
	})
}

var errKeepsReference = errors.New("a hook gives a resource a reference to what is being deleted")

func (d *deletion) releaseOne(link model.Link, before model.Record) error {
	after := slices.Clone(before)
	after[link.Column] = model.Null
	change := &Change{Verb: Update, Collection: link.From, Before: before, After: after}
	if err := d.work.within(change); err != nil {
		return err
	}
	for _, other := range link.From.Links() {
		if target := after[other.Column]; !target.IsNull() && target != before[other.Column] && d.doomed[identity{other.To, target.ID()}] {
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

// deleteAll deletes what is doomed, the last found first, and returns the resource
// itself as it last was, with its representation. A hook may have changed or deleted what
// is still to come, so each is read again if there are hooks.
func (d *deletion) deleteAll() (last model.Record, representation []byte, err error) {
	for _, victim := range slices.Backward(d.order) {
		change := &Change{Verb: Delete, Collection: victim.collection, Before: victim.record}
		if err := d.work.within(change); err != nil {
			return nil, nil, err
		}
		if len(d.work.resources.hooks) > 0 {
			current, err := d.tx.Get(victim.collection, nil, victim.record.ID(model.IDColumn))
			if err != nil {
				return nil, nil, err
			}
			if current == nil {
				last, representation = victim.record, victim.collection.Append(nil, victim.record)
				continue
			}
			change.Before = current
		}
		last = change.Before
		if representation, err = d.tx.Delete(victim.collection, last); err != nil {
			return nil, nil, err
		}
		d.work.written(change)
	}
	return last, representation, nil
}
