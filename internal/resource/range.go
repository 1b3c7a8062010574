package resource

import (
	"context"
	"math"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// A range of resources is updated or deleted in one transaction. FindRange finds the ids before it, with the limits of a list,
// so that a query that takes long never keeps other writes waiting. The transaction reads the resources by these ids, and leaves out those
// that have left the range since. What has come into it since is not part of the write.

// checkRange refuses conditions and callers that a range cannot have.
func (write *Write) checkRange() error {
	header := ""
	switch {
	case write.Condition.IfMatch != nil:
		header = "If-Match"
	case write.Condition.IfNoneMatch != nil:
		header = "If-None-Match"
	default:
		return write.Path.Require(schema.MayList)
	}
	return fault.Header(header, problem.CodeMalformedRequest, "A range has no ETag. Leave out %s.", header)
}

// FindRange finds which resources are in the range of a write, if it has one, before its transaction. It refuses a range with
// too many, and where If-Match is required.
func (r *Resources) FindRange(ctx context.Context, write *Write) error {
	return write.findRange(func(wanted store.PageQuery) (*store.Page, error) {
		return r.store.Page(ctx, wanted)
	})
}

// findRange finds the resources of the range by pages that open returns.
func (write *Write) findRange(open func(store.PageQuery) (*store.Page, error)) error {
	if write.Range == nil {
		return nil
	}
	if err := write.require(); err != nil {
		return err
	}
	page, err := open(write.pageQuery())
	if err != nil {
		return err
	}
	defer page.Close()
	if err := write.Condition.AllowsChange(""); err != nil { // where If-Match is required, after a missing parent
		return err
	}
	write.found = nil
	for {
		row, err := page.Next()
		if err != nil || row == nil {
			return err
		}
		if write.found = append(write.found, row.ID(model.IDColumn)); len(write.found) > write.bodyLimits.Items {
			page.Close()
			return write.tooMany(open)
		}
	}
}

// pageQuery asks for the resources of the range, and for one more than may be changed.
func (write *Write) pageQuery() store.PageQuery {
	q := *write.Range
	if q.Range.Anchor == query.AtOffset {
		// A negative limit decides where the range starts. Counted from its start, the range can be cut without moving it.
		from, to := query.Span(q.Range.Offset, q.Range.Limit, math.MaxInt64)
		q.Range.Offset, q.Range.Limit = from, to-from
	}
	most := int64(write.bodyLimits.Items) + 1
	q.Range.Limit = max(min(q.Range.Limit, most), -most)
	return pageQuery(write.Path, q, false)
}

// tooMany is the error of a range with too many resources. It counts them.
func (write *Write) tooMany(open func(store.PageQuery) (*store.Page, error)) error {
	wanted := pageQuery(write.Path, *write.Range, false)
	wanted.Exact = wanted.Range.Anchor == query.AtEdge && wanted.Range.Limit == math.MaxInt64
	page, err := open(wanted)
	if err != nil {
		return err
	}
	defer page.Close()
	if wanted.Exact {
		return write.refuseTooMany(page.Total)
	}
	for count := int64(0); ; count++ {
		row, err := page.Next()
		if err != nil {
			return err
		}
		if row == nil {
			return write.refuseTooMany(count)
		}
	}
}

func (write *Write) refuseTooMany(count int64) error {
	return fault.New(problem.CodeTooManyItems, "The range has %d resources, but one request can change at most %d. Send a limit or a narrower filter, several times.", count, write.bodyLimits.Items)
}

// runBeforeRange runs the hooks before the transaction for the resources that FindRange has found.
func (r *Resources) runBeforeRange(ctx context.Context, write *Write) error {
	if !r.hasBefore(write.Path.Collection, write.Verb) {
		return nil
	}
	write.prepared = map[model.ID]model.Input{}
	for _, id := range write.found {
		var input model.Input // empty for a deletion
		if write.Verb == Update {
			input = write.Inputs[0] // before copies it
		}
		if err := r.before(ctx, write, write.Verb, &id, &input); err != nil {
			return err
		}
		write.prepared[id] = input
	}
	return nil
}

// inputOf is the input of one resource of a range, after its Before hooks.
func (write *Write) inputOf(id model.ID) model.Input {
	if input, hooked := write.prepared[id]; hooked || write.Verb == Delete {
		return input
	}
	return write.Inputs[0]
}

// changeRange updates or deletes the resources of a range, or none of them.
func (w *Work) changeRange(write Write) ([]Resource, error) {
	found, err := w.readRange(write)
	if err != nil {
		return nil, err
	}
	records, all := make([]model.Record, len(found)), make([]writing, len(found))
	for i, each := range found {
		records[i], all[i] = each.record, writing{before: each, input: write.inputOf(each.record.ID(model.IDColumn)), readOnly: write.readOnly}
		if err := write.Path.requireOn(w.tx, write.Verb, each.record); err != nil {
			return nil, err
		}
	}
	if write.Verb == Delete {
		return w.deleteAll(write.Path, records)
	}
	return w.updateRange(write, all)
}

// readRange reads the resources that were found, as far as they are still in the range, in the order in which they were found.
func (w *Work) readRange(write Write) ([]loaded, error) {
	loader, found := w.newLoader(write.Path), make(map[model.ID]loaded, len(write.found))
	err := w.tx.EachListed(write.Path.Collection, query.Both(write.Path.Scope(), write.Range.Filter), write.found, func(record model.Record) (err error) {
		found[record.ID(model.IDColumn)], err = loader.add(record)
		return err
	})
	if err != nil {
		return nil, err
	}
	all := make([]loaded, 0, len(found))
	for _, id := range write.found {
		if each, still := found[id]; still {
			all = append(all, each)
		}
	}
	return all, nil
}

// updateRange updates all resources at once, or where a hook takes part, which may change or delete
// others of them, one after the other.
func (w *Work) updateRange(write Write, all []writing) ([]Resource, error) {
	if !w.resources.hasWithin(write.Path.Collection, Update) {
		return w.writeAll(write.Path, all, nil)
	}
	updated := make([]Resource, 0, len(all))
	for _, each := range all {
		current, err := w.tx.Get(write.Path.Collection, nil, each.before.record.ID(model.IDColumn))
		if err != nil {
			return nil, err
		}
		if current == nil {
			continue
		}
		each.before = loaded{record: current}
		one, err := w.writeAll(write.Path, []writing{each}, nil)
		if err != nil {
			return nil, err
		}
		updated = append(updated, one...)
	}
	return updated, nil
}

// MaxManyBytes bounds the resources that one request reads and changes, all together: their number
// alone does not bound the memory that they take. Tests reduce it.
var MaxManyBytes = 64 << 20

// TooMuch is the error of a request beyond MaxManyBytes.
func TooMuch() error {
	return fault.New(problem.CodeTooManyItems, "The resources that this request changes have more than %d MiB together. Change fewer at once.", MaxManyBytes>>20)
}
