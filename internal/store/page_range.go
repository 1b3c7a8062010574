package store

import (
	"math"
	"slices"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/statement"
	"github.com/plural-go/plural/problem"
)

// deferPoint reads the point of the snapshot and, if it is stored, the total. Both are known after the next statement.
func (p *Page) deferPoint() error {
	p.TotalKnown = p.query.Unfiltered
	statement := p.tx.bound.log.PointStatement(&p.Point)
	if p.TotalKnown {
		statement = p.tx.pointAndTotal(p.query.Collection, p.query.Parent, &p.Point, &p.Total)
	}
	return p.tx.fault(p.tx.conn.Defer(statement))
}

// runDeferred runs what is deferred, unless a statement has followed it.
func (p *Page) runDeferred() error { return p.tx.fault(p.tx.conn.Batch()) }

// count counts the total if it is wanted and not stored.
func (p *Page) count() (err error) {
	if p.query.Exact && !p.TotalKnown {
		p.Total, err = p.tx.countPlanned(p.query.Collection, p.selection.Plan)
		p.TotalKnown = true
	}
	return err
}

// locate finds the rows of the range, what precedes it and, unless reading finds it, what
// follows it.
func (p *Page) locate() (err error) {
	r, size := p.query.Range, p.query.Range.Size()
	switch {
	case r.Anchor == query.AtOffset:
		p.span()
		err = p.seek()
	case r.Anchor == query.AtCursor:
		var place statement.Place
		if place, err = p.cursorPlace(); err == nil && size > 0 {
			err = p.locateCursor(place)
		}
	case r.Limit < 0 && p.TotalKnown && size >= p.Total:
		// The whole collection: nothing to locate.
	case r.Limit < 0:
		err = p.locateLast()
	default:
		p.lookAhead = !p.TotalKnown || size < p.Total
	}
	p.wanted = p.selection.Take
	p.lookAhead = p.lookAhead && size > 0
	return err
}

// span computes the offsets of the range, by the total if it is known.
func (p *Page) span() {
	total := int64(math.MaxInt64)
	if p.TotalKnown {
		total, p.selection.Total = p.Total, p.Total
	}
	from, to := query.Span(p.query.Range.Offset, p.query.Range.Limit, total)
	p.selection.Skip, p.selection.Take = from, to-from
	p.start, p.hasBefore = from, from > 0
	p.hasAfter, p.lookAhead = to < total && p.TotalKnown, !p.TotalKnown
}

// maxSkip is how many resources are skipped without using the offset index.
const maxSkip = 150

// seek starts a range by offset near its first resource, if the list has an offset index.
func (p *Page) seek() error {
	order, skip := p.selection.Order, p.selection.Skip
	if !p.query.Unfiltered || len(order) > 1 || p.selection.Take == 0 || skip <= maxSkip {
		return nil
	}
	offset := skip
	if order[0].Descending {
		offset = p.Total - skip
	}
	block, found, err := p.tx.findBlock(p.query.Collection, p.query.Parent, offset)
	switch {
	case err != nil || !found:
	case !order[0].Descending:
		p.selection.From, p.selection.Skip = statement.Place{model.IDValue(block.First)}, skip-block.Before
	case block.End != nil:
		p.selection.From, p.selection.AfterFrom = statement.Place{model.IDValue(*block.End)}, true
		p.selection.Skip = skip - (p.Total - block.Before - block.Count)
	}
	return err
}

// locateCursor starts or ends the range at the place of the cursor. Other is the part of the list on the other side of it.
func (p *Page) locateCursor(place statement.Place) (err error) {
	other := statement.Selection{Plan: p.selection.Plan, Order: p.selection.Order}
	if p.query.Range.Limit > 0 {
		p.selection.From, p.lookAhead = place, true
		other.Until = place
		p.hasBefore, err = p.tx.Any(p.query.Collection, other)
		return err
	}
	p.selection.Until = place
	if err = p.locateLast(); err == nil {
		other.From = place
		p.after, p.hasAfter, err = p.tx.IDAt(p.query.Collection, other)
	}
	return err
}

// locateLast finds the last resources of the selection. The words of a search that is read in the order of ids are compared
// one by one until there are enough matches. So the ids of these are selected, and no word is compared a second time.
func (p *Page) locateLast() (err error) {
	size := p.query.Range.Size()
	if p.selection.Search == nil || !p.selection.Search.InOrder || size > statement.MaxByID {
		p.selection.From, p.hasBefore, err = p.tx.PlaceBefore(p.query.Collection, p.selection, size)
		return err
	}
	ids, err := p.tx.lastIDs(p.query.Collection, p.selection, size+1)
	if p.hasBefore = int64(len(ids)) > size; p.hasBefore {
		ids = ids[:size]
	}
	slices.SortFunc(ids, model.ID.Compare)
	p.selection.Plan = statement.Plan{Search: &statement.Search{IDs: ids}} // they pass the filter
	return err
}

// cursorPlace finds the place of the cursor. Without a sort, the resource may have been deleted, as long as the
// change log has it: the place is its id then.
func (p *Page) cursorPlace() (statement.Place, error) {
	id, scope, order := p.query.Range.Cursor, p.query.Scope, p.selection.Order
	if !order.InColumns() {
		place, err := p.tx.placeOf(p.query.Collection, scope, id, order)
		if place == nil && err == nil {
			err = p.unknownCursor()
		}
		return place, err
	}
	record, err := p.tx.Get(p.query.Collection, scope, id)
	if err != nil {
		return nil, err
	}
	if record == nil && len(p.query.Sort) == 0 {
		record, err = p.tx.Deleted(p.query.Collection, id)
		if err != nil {
			return nil, err
		}
		if record != nil && scope != nil {
			within, err := query.Holds(scope, record, p.tx.FindLast)
			if err != nil {
				return nil, err
			}
			if !within {
				record = nil
			}
		}
	}
	if record == nil {
		return nil, p.unknownCursor()
	}
	return order.PlaceOf(p.query.Collection, record), nil
}

// unknownCursor is the error of a cursor that has no place in the list.
func (p *Page) unknownCursor() error {
	detail := "There is no resource with this id here. Start again without a cursor."
	if len(p.query.Sort) > 0 {
		detail = "There is no resource with this id here, so its place in the sort order is unknown. Start again without a cursor."
	}
	return fault.Parameter("cursor", problem.CodeUnknownCursor, "%s", detail)
}
