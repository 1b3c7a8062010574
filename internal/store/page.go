package store

import (
	"context"
	"math"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/statement"
)

// PageQuery asks for a range of a collection.
type PageQuery struct {
	Collection *model.Collection
	Parent     *model.ID    // nil: the whole collection
	Scope      query.Filter // of the path and the caller; nil: none
	Filter     query.Filter // of the query; nil: none
	Sort       []query.SortKey
	Range      query.Range

	// Unfiltered: only the parent restricts the collection, so its total is stored, and its offset index if it is long.
	Unfiltered bool
	// Exact: count the total if it is not stored.
	Exact bool
	// Interleaved: other statements are run between the rows, by Page.Run.
	Interleaved bool
	// Check is called in the snapshot before anything is read. Its error is returned by Page. Nil: not
	// called.
	Check func(*Tx) error
}

// Page is a range of a collection, read from one snapshot, row by row. It must be
// closed.
type Page struct {
	// Total is the number of resources without the range. It is set if TotalKnown: it is stored, or was
	// requested. While begin runs, TotalKnown may be true and Total not yet read.
	Total      int64
	TotalKnown bool
	// Point is where the snapshot stands in the change log.
	Point changelog.Point

	snapshot
	query     PageQuery
	selection statement.Selection
	rows      *Rows
	first     model.ID
	wanted    int64 // size of the range
	given     int64 // resources returned
	ended     bool

	neighbours

	place statement.Place // of the last row that was returned; nil: the row is current
}

// neighbours is what is known of what lies before and after a range; Page.Neighbours makes ranges of it.
//
//	opened as                 locate (page_range.go) sets      found later
//	start of the list         lookAhead [1]                    after, hasAfter
//	by offset                 start, hasBefore, lookAhead [2]  after, hasAfter
//	from a cursor             hasBefore, lookAhead             after, hasAfter
//	up to a cursor            hasBefore, after, hasAfter
//	the last resources        hasBefore
//
// [1] readInOneQuery (page_query.go) sets after and hasAfter at once. [2] If the total is known, hasAfter is set at once.
// What lookAhead leaves is found by Next, which reads one more row, or before by probe. If that would cost too much, probe sets
// endUnknown instead, and start for a range from a cursor.
type neighbours struct {
	start      int64 // offset of the first resource
	hasBefore  bool
	after      model.ID // first resource after the range
	hasAfter   bool
	lookAhead  bool // after and hasAfter are still to be found
	endUnknown bool // whether something follows the range is not known before it has been read
}

// Page opens a range of a collection.
func (s *Store) Page(ctx context.Context, q PageQuery) (*Page, error) {
	p := newPage(q)
	ready := false
	defer func() {
		if !ready { // an error or a panic: the page was not returned
			p.Close()
		}
	}()
	found, err := p.readInOneQuery(ctx, s)
	if err == nil && !found {
		p.Close() // ends only the query and its snapshot: the page goes on with another one
		if err = p.open(ctx, s, db.PageInSeveral); err == nil {
			err = p.begin()
		}
		if err == nil {
			err = p.beginRows()
		}
	}
	if err != nil {
		return nil, err
	}
	ready = true
	return p, nil
}

func newPage(q PageQuery) *Page {
	return &Page{query: q, selection: statement.Selection{
		Plan:  statement.Plan{Filter: query.Both(q.Scope, q.Filter)},
		Order: statement.NewOrder(q.Sort),
		Take:  q.Range.Size(),
	}}
}

// Page opens a range of a collection in a transaction, which goes on when it is closed.
func (t *Tx) Page(q PageQuery) (*Page, error) {
	p := newPage(q)
	p.tx = t
	if err := p.begin(); err != nil {
		return p, err
	}
	return p, p.runDeferred() // the transaction may be used for something else before the first row is read
}

// begin finds the range with several queries, in an open transaction. The point may be known only after the statement that
// follows begin.
func (p *Page) begin() (err error) {
	if err := p.deferPoint(); err != nil {
		return err
	}
	if p.query.Check != nil {
		if err := p.query.Check(p.tx); err != nil {
			return err
		}
	}
	if p.TotalKnown { // the total is needed to find the range
		if err := p.runDeferred(); err != nil {
			return err
		}
	}
	if p.selection.Plan, err = p.tx.plan(p.query.Collection, p.selection.Filter, p.selection.Order, p.query.Range); err != nil {
		return err
	}
	if err := p.count(); err != nil {
		return err
	}
	return p.locate()
}

// beginRows starts to read the rows, so that the point comes with them: where each statement is a round trip, that is one less.
func (p *Page) beginRows() error {
	if p.hasNone() {
		return p.runDeferred()
	}
	return p.read()
}

// hasNone reports whether the range is empty by itself.
func (p *Page) hasNone() bool { return p.selection.Take == 0 && !p.lookAhead }

// Close ends the page.
func (p *Page) Close() {
	p.endRows()
	p.snapshot.close()
}

func (p *Page) endRows() {
	if p.rows != nil {
		p.rows.Close()
		p.rows = nil
	}
}

// Next returns the next resource of the range, or nil at its end.
func (p *Page) Next() (model.Row, error) {
	if p.ended || p.hasNone() {
		p.ended = true
		return nil, nil
	}
	if p.rows == nil {
		if err := p.read(); err != nil {
			return nil, err
		}
	}
	more, err := p.rows.Next()
	if err != nil {
		return nil, err
	}
	if !more || p.given == p.wanted {
		p.ended, p.lookAhead = true, false
		if more {
			p.after, p.hasAfter = p.rows.ID(model.IDColumn), true
		}
		return nil, p.locateEmpty()
	}
	if p.given == 0 {
		p.first = p.rows.ID(model.IDColumn)
	}
	p.given++
	p.place = nil
	return p.rows, nil
}

// Run runs other statements in the snapshot of the page, which must have Interleaved. The current row is lost.
func (p *Page) Run(fn func(*Tx) error) error {
	p.keepPlace()
	return fn(p.tx)
}

// keepPlace remembers the place of the current row, if there is one.
func (p *Page) keepPlace() {
	if p.place == nil && p.given > 0 && !p.ended {
		p.place = p.selection.Order.PlaceOf(p.query.Collection, p.rows)
	}
}

// read starts to read, with one more row if it must find the next range.
func (p *Page) read() (err error) {
	selection := p.selection
	if p.lookAhead && selection.Take < math.MaxInt64 {
		selection.Take++
	}
	p.rows, err = p.tx.selectRows(p.query.Collection, selection, p.query.Interleaved)
	return err
}

// locateEmpty finds the offset of an empty range, the end, for the previous range.
func (p *Page) locateEmpty() (err error) {
	if p.given > 0 || p.query.Range.Anchor != query.AtOffset || p.TotalKnown || p.start == 0 {
		return nil
	}
	p.endRows()
	p.start, err = p.tx.countPlanned(p.query.Collection, p.selection.Plan)
	p.hasBefore = p.start > 0
	return err
}

// maxProbe is the largest filtered or sorted range for which the resource after it is found before it has been read.
const maxProbe = 1000

// Neighbours returns the previous and the next range, nil where there is none. If that is not known of a long range, the next
// one is by offset, and may be empty. It can be called at any time after the first Next; without Interleaved, while its row is current.
func (p *Page) Neighbours() (previous, next *query.Range, err error) {
	size := p.query.Range.Size()
	if size == 0 {
		return nil, nil, nil
	}
	if p.lookAhead && !p.ended {
		if err := p.probe(); err != nil {
			return nil, nil, err
		}
	}
	byOffset := p.query.Range.Anchor == query.AtOffset
	if p.hasBefore {
		previous = &query.Range{Anchor: query.AtCursor, Cursor: p.first, Limit: -size}
		if byOffset {
			previous = &query.Range{Anchor: query.AtOffset, Offset: p.start, Limit: -size}
		} else if p.given == 0 {
			previous.Cursor = p.query.Range.Cursor
		}
	}
	switch end := p.start + p.wanted; {
	case p.endUnknown:
		if !(p.ended && p.given < p.wanted) && (!p.TotalKnown || end < p.Total) && end > 0 && end < math.MaxInt64 {
			next = &query.Range{Anchor: query.AtOffset, Offset: end, Limit: size}
		}
	case p.hasAfter && byOffset:
		next = &query.Range{Anchor: query.AtOffset, Offset: end, Limit: size}
	case p.hasAfter:
		next = &query.Range{Anchor: query.AtCursor, Cursor: p.after, Limit: size}
	}
	return previous, next, nil
}

// probe finds the resource after the range while the range is being read. The rest is then read by a second query, from after
// the current row. To find the resource after a long range could cost as much as the range: only the offset of its end is found.
func (p *Page) probe() (err error) {
	p.lookAhead = false
	p.endUnknown = (!p.query.Unfiltered || len(p.query.Sort) > 0) && p.wanted > maxProbe
	if p.endUnknown && p.query.Range.Anchor != query.AtCursor {
		return nil
	}
	rest, start := &p.selection, p.selection.From
	p.keepPlace()
	rest.From, rest.AfterFrom = p.place, true
	p.endRows()
	if p.endUnknown {
		before := statement.Selection{Plan: rest.Plan, Order: rest.Order, Until: start, Take: math.MaxInt64}
		p.start, err = p.tx.countSelection(p.query.Collection, before)
	} else {
		next := *rest
		next.Skip = p.wanted - p.given
		p.after, p.hasAfter, err = p.tx.IDAt(p.query.Collection, next)
	}
	rest.Skip, rest.Take = 0, p.wanted-p.given
	return err
}
