package resource

import (
	"math"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// A range of resources is updated or deleted in one transaction. findRange finds the ids before it, with the limits of a list,
// so that a query that takes long never keeps other writes waiting. The transaction reads the resources by these ids, and leaves out those
// that have left the range since. What has come into it since is not part of the step.

// checkRange refuses conditions and callers that a range cannot have.
func (step *decodedStep) checkRange() error {
	header := ""
	switch {
	case step.condition.IfMatch != nil:
		header = "If-Match"
	case step.condition.IfNoneMatch != nil:
		header = "If-None-Match"
	default:
		return step.Path.Require(schema.MayList)
	}
	return fault.Header(header, problem.CodeMalformedRequest, "A range has no ETag. Leave out %s.", header)
}

// findRange finds which resources are in the range of a step, if it has one. It refuses a range with too many, and where If-Match is
// required.
func (p *preparation) findRange(step *decodedStep) error {
	if step.Range == nil {
		return nil
	}
	if err := step.require(); err != nil {
		return err
	}
	page, err := p.page(step.pageQuery())
	if err != nil {
		return err
	}
	defer page.Close()
	if err := step.condition.AllowsChange(""); err != nil { // where If-Match is required, after a missing parent
		return err
	}
	for {
		row, err := page.Next()
		if err != nil || row == nil {
			return err
		}
		if step.found = append(step.found, row.ID(model.IDColumn)); len(step.found) > step.BodyLimits.Items {
			page.Close()
			return p.refuseTooMany(step)
		}
	}
}

// pageQuery asks for the resources of the range, and for one more than may be changed.
func (step *decodedStep) pageQuery() store.PageQuery {
	q := *step.Range
	if q.Range.Anchor == query.AtOffset {
		// A negative limit decides where the range starts. Counted from its start, the range can be cut without moving it.
		from, to := query.Span(q.Range.Offset, q.Range.Limit, math.MaxInt64)
		q.Range.Offset, q.Range.Limit = from, to-from
	}
	most := int64(step.BodyLimits.Items) + 1
	q.Range.Limit = max(min(q.Range.Limit, most), -most)
	return reads.PageQuery(step.Path, q, false)
}

// refuseTooMany is the error of a range with too many resources. It counts them.
func (p *preparation) refuseTooMany(step *decodedStep) error {
	wanted := reads.PageQuery(step.Path, *step.Range, false)
	wanted.Exact = wanted.Range.Anchor == query.AtEdge && wanted.Range.Limit == math.MaxInt64
	page, err := p.page(wanted)
	if err != nil {
		return err
	}
	defer page.Close()
	count := page.Total
	if !wanted.Exact {
		for count = 0; ; count++ {
			if row, err := page.Next(); err != nil {
				return err
			} else if row == nil {
				break
			}
		}
	}
	return fault.New(problem.CodeTooManyItems, "The range has %d resources, but one request can change at most %d. Send a limit or a narrower filter, several times.", count, step.BodyLimits.Items)
}

// runBeforeRange runs the hooks before the transaction for the resources that findRange has found.
func (p *preparation) runBeforeRange(step *decodedStep) error {
	r := p.resources
	if !r.hasBefore(step.Path.Collection, step.verb) {
		return nil
	}
	step.prepared = map[model.ID]model.Input{}
	for _, id := range step.found {
		var input model.Input // empty for a deletion
		if step.verb == Update {
			input = step.inputs[0] // before copies it
		}
		if err := r.before(p.hooks, step, step.verb, &id, &input); err != nil {
			return err
		}
		step.prepared[id] = input
	}
	return nil
}

// inputOf is the input of one resource of a range, after its Before hooks.
func (step *decodedStep) inputOf(id model.ID) model.Input {
	if input, hooked := step.prepared[id]; hooked || step.verb == Delete {
		return input
	}
	return step.inputs[0]
}

// changeRange updates or deletes the resources of a range, or none of them.
func (w *Work) changeRange(step decodedStep) ([]reads.Resource, error) {
	found, err := w.readRange(step)
	if err != nil {
		return nil, err
	}
	records, all := make([]model.Record, len(found)), make([]writing, len(found))
	for i, each := range found {
		records[i], all[i] = each.record, writing{before: each, input: step.inputOf(each.record.ID(model.IDColumn)), readOnly: step.readOnly, inRange: true}
		if err := w.requireOn(step.Path, step.verb, each.record, all[i].input); err != nil {
			return nil, err
		}
	}
	if step.verb == Delete {
		return w.deleteAll(step.Path, records, step.deletion)
	}
	return w.updateRange(step, all)
}

// readRange reads the resources that were found, as far as they are still in the range, in the order in which they were found.
func (w *Work) readRange(step decodedStep) ([]loaded, error) {
	loader, found := w.newLoader(step.Path), make(map[model.ID]loaded, len(step.found))
	err := w.tx.EachListed(step.Path.Collection, query.Both(step.Path.Scope(), step.Range.Filter), step.found, func(record model.Record) (err error) {
		found[record.ID(model.IDColumn)], err = loader.add(record)
		return err
	})
	if err != nil {
		return nil, err
	}
	all := make([]loaded, 0, len(found))
	for _, id := range step.found {
		if each, still := found[id]; still {
			all = append(all, each)
		}
	}
	return all, nil
}

// updateRange updates all resources at once, or where a hook takes part, which may change or delete
// others of them, one after the other.
func (w *Work) updateRange(step decodedStep, all []writing) ([]reads.Resource, error) {
	if !w.resources.hasWithin(step.Path.Collection, Update) {
		return w.writeAll(step.Path, all, nil)
	}
	updated := make([]reads.Resource, 0, len(all))
	for _, each := range all {
		current, err := w.tx.Get(step.Path.Collection, nil, each.before.record.ID(model.IDColumn))
		if err != nil {
			return nil, err
		}
		if current == nil {
			continue
		}
		each.before = loaded{record: current}
		one, err := w.writeAll(step.Path, []writing{each}, nil)
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

// tooMuch is the error of a request beyond MaxManyBytes.
func tooMuch() error {
	return fault.New(problem.CodeTooManyItems, "The resources that this request changes have more than %d MiB together. Change fewer at once.", MaxManyBytes>>20)
}
