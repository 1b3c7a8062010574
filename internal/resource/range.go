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

// A range of resources is updated or deleted in one transaction, which reads it. FindRange reads it once before the
// transaction as well: a query that takes too long ends there, and does not block other writes, and Before hooks need
// the resources.

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

// FindRange reads what a write needs to know before its transaction: which resources are in its range, and
// whether they are too many. It refuses a range where If-Match is required.
func (r *Resources) FindRange(ctx context.Context, write *Write) error {
	if write.Range == nil {
		return nil
	}
	page, err := r.store.Page(ctx, write.pageQuery())
	if err != nil {
		return err
	}
	defer page.Close()
	if err := write.Condition.AllowsChange(""); err != nil { // where If-Match is required, after a missing parent
		return err
	}
	for {
		row, err := page.Next()
		if err != nil {
			return err
		}
		if row == nil {
			return nil
		}
		if write.found = append(write.found, row.ID(model.IDColumn)); len(write.found) > write.bodyLimits.Items {
			page.Close()
			return r.tooMany(ctx, write)
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
func (r *Resources) tooMany(ctx context.Context, write *Write) error {
	wanted := pageQuery(write.Path, *write.Range, false)
	whole := wanted.Range.Anchor == query.AtEdge && wanted.Range.Limit == math.MaxInt64
	wanted.Exact = whole
	page, err := r.store.Page(ctx, wanted)
	if err != nil {
		return err
	}
	defer page.Close()
	if whole {
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
		input, err := r.runBeforeInRange(ctx, write, id)
		if err != nil {
			return err
		}
		write.prepared[id] = input
	}
	return nil
}

// runBeforeInRange runs the hooks before the transaction for one resource of a range, and returns its input, which is empty for
// a deletion.
func (r *Resources) runBeforeInRange(ctx context.Context, write *Write, id model.ID) (input model.Input, err error) {
	if write.Verb == Update {
		input = write.Inputs[0] // before copies it
	}
	err = r.before(ctx, write, write.Verb, &id, &input)
	return input, err
}

// inputOf is the input of one resource of a range. A resource that has come into the range after
// FindRange gets its Before hooks now, in the transaction.
func (w *Work) inputOf(write Write, id model.ID) (input model.Input, err error) {
	if write.withoutBefore || !w.resources.hasBefore(write.Path.Collection, write.Verb) {
		if write.Verb == Update {
			input = write.Inputs[0]
		}
		return input, nil
	}
	if input, ok := write.prepared[id]; ok {
		return input, nil
	}
	return w.resources.runBeforeInRange(w.resources.transactionContext(w.ctx), &write, id)
}

// changeRange updates or deletes the resources of a range, or none of them.
func (w *Work) changeRange(write Write) ([]Resource, error) {
	found, err := w.readRange(write)
	if err != nil {
		return nil, err
	}
	records, all := make([]model.Record, len(found)), make([]writing, len(found))
	for i, each := range found {
		records[i], all[i] = each.record, writing{before: each, readOnly: write.readOnly}
		if err := write.Path.requireOn(w.tx, write.Verb, each.record); err != nil {
			return nil, err
		}
	}
	for i, record := range records {
		if all[i].input, err = w.inputOf(write, record.ID(model.IDColumn)); err != nil {
			return nil, err
		}
	}
	if write.Verb == Delete {
		return w.deleteAll(write.Path, records)
	}
	return w.updateRange(write, all)
}

// readRange reads the resources of a range.
func (w *Work) readRange(write Write) ([]loaded, error) {
	page, err := w.tx.Page(write.pageQuery())
	if err != nil {
		return nil, err
	}
	defer page.Close()
	var all []loaded
	for loader := w.newLoader(write.Path); ; {
		row, err := page.Next()
		if err != nil || row == nil {
			return all, err
		}
		if len(all) == write.bodyLimits.Items {
			return nil, write.refuseTooMany(int64(len(all)) + 1)
		}
		found, err := loader.add(write.Path.Collection.Scan(row))
		if err != nil {
			return nil, err
		}
		all = append(all, found)
	}
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
