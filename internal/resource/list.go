package resource

import (
	"context"
	"math"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
)

// Listing is a range of a collection, read from one snapshot, row by row. It
// must be closed.
type Listing struct {
	// Total is the number of resources without the range, Known if it was asked
	// for or is cheap to know.
	Total int64
	Known bool

	tx         *store.Tx
	collection *model.Collection
	query      query.Query
	selection  store.Selection
	rows       *store.Rows
	first      model.ID
	wanted     int64 // resources of the range, if there are so many
	given      int64 // resources handed out
	ended      bool
	filtered   bool // it is not all that is kept a total and positions of

	start     int64 // position of the first resource, of a range by offset
	hasBefore bool
	after     model.ID // first resource behind the range
	hasAfter  bool
	lookAhead bool // after is not known yet, and is found by reading one row more
}

// List opens a range of a collection. With exact, the total of a filtered
// collection is counted.
func (r *Resources) List(ctx context.Context, path Path, q query.Query, exact bool) (*Listing, error) {
	tx, err := r.store.Stream(ctx)
	if err != nil {
		return nil, err
	}
	l := &Listing{tx: tx, collection: path.Collection, query: q}
	ready := false
	defer func() {
		if !ready { // an error, or a panic: nobody else will close it
			l.Close()
		}
	}()
	if err := l.begin(path, exact); err != nil {
		return nil, err
	}
	ready = true
	return l, nil
}

// begin finds the range, in a transaction that is open.
func (l *Listing) begin(path Path, exact bool) error {
	l.selection = store.Selection{Filter: query.Both(path.scope(), l.query.Filter), Order: store.NewOrder(l.query.Sort), Take: l.query.Range.Size()}
	l.filtered = l.query.Filter != nil || path.By.Rows(path.Collection) != nil
	if found, err := l.beginFront(path); found || err != nil {
		return err
	}
	if err := (&sight{tx: l.tx}).requireParent(path); err != nil {
		return err
	}
	if err := l.count(path, exact); err != nil {
		return err
	}
	return l.locate(path)
}

// beginFront begins with all that is to be known at once, if the range is a short one of a
// whole collection in the order of ids, and the database is faster in this way.
func (l *Listing) beginFront(path Path) (found bool, err error) {
	r, take := l.query.Range, l.selection.Take
	if r.Limit <= 0 || r.Anchor == query.AtCursor || take > store.MaxFront || path.Parent != nil || l.selection.Filter != nil || len(l.selection.Order) > 1 {
		return false, nil
	}
	if r.Anchor == query.AtOffset && r.Offset > 0 {
		return l.beginAt(path, r.Offset, take)
	}
	front, err := l.tx.Front(path.Collection, l.selection.Order, take)
	if err != nil || front == nil {
		return false, err
	}
	l.rows, l.wanted = front.Rows, take
	l.Total, l.Known = front.Total, true
	l.after, l.hasAfter = front.After, front.HasAfter
	return true, nil
}

// beginAt is beginFront at an offset.
func (l *Listing) beginAt(path Path, offset, take int64) (found bool, err error) {
	if l.selection.Order[0].Descending {
		return false, nil
	}
	front, err := l.tx.FrontAt(path.Collection, offset, take)
	if err != nil || front == nil {
		return false, err
	}
	l.rows = front.Rows
	l.Total, l.Known = front.Total, true
	l.span(front.Total)
	l.wanted = l.selection.Take
	return true, nil
}

// Lengthen lets the listing go on for as long as a client takes. It comes behind the first
// piece, if there are more. Each caller has a share of such listings; the program itself,
// which has no name, may have all.
func (l *Listing) Lengthen(who string) error { return l.tx.Lengthen(who) }

// Close ends the listing.
func (l *Listing) Close() {
	l.endRows()
	l.tx.Close()
}

func (l *Listing) endRows() {
	if l.rows != nil {
		l.rows.Close()
	}
}

func (l *Listing) count(path Path, exact bool) (err error) {
	switch {
	case !l.filtered:
		l.Total, err = l.tx.Total(path.Collection, path.Parent)
		l.Known = true
	case exact:
		l.Total, err = l.tx.Count(path.Collection, l.selection.Filter)
		l.Known = true
	}
	return err
}

// locate turns the range into a run of rows, and finds out what is before it
// and, where that is not seen while reading, behind it.
func (l *Listing) locate(path Path) (err error) {
	r, size := l.query.Range, l.query.Range.Size()
	switch {
	case r.Anchor == query.AtOffset:
		err = l.locateOffset(path)
	case r.Anchor == query.AtCursor:
		var place store.Place
		if place, err = l.cursorPlace(path); err == nil && size > 0 {
			err = l.locateCursor(place)
		}
	case r.Limit < 0 && l.Known && size >= l.Total:
		// All of it: there is no place to look for.
	case r.Limit < 0:
		l.selection.From, l.hasBefore, err = l.tx.Back(l.collection, l.selection, size)
	default:
		l.lookAhead = !l.Known || size < l.Total
	}
	l.wanted = l.selection.Take
	l.lookAhead = l.lookAhead && size > 0
	return err
}

func (l *Listing) locateOffset(path Path) error {
	total := int64(math.MaxInt64)
	if l.Known {
		total = l.Total
	}
	l.span(total)
	return l.approach(path)
}

// span finds which positions the range has, of so many.
func (l *Listing) span(total int64) {
	from, to := query.Span(l.query.Range.Offset, l.query.Range.Limit, total)
	l.selection.Skip, l.selection.Take = from, to-from
	l.start, l.hasBefore = from, from > 0
	l.hasAfter, l.lookAhead = to < total && l.Known, !l.Known
}

// nearEnough is how many resources are as soon skipped as a better place is found.
const nearEnough = 150

// approach has a range by offset start near its first resource, if positions are
// kept of what it is a part of.
func (l *Listing) approach(path Path) error {
	order, skip := l.selection.Order, l.selection.Skip
	if l.filtered || len(order) > 1 || l.selection.Take == 0 || skip <= nearEnough {
		return nil
	}
	position := skip
	if order[0].Descending {
		position = l.Total - skip
	}
	block, found, err := l.tx.Near(path.Collection, path.Parent, position)
	switch {
	case err != nil || !found:
	case !order[0].Descending:
		l.selection.From, l.selection.Skip = store.Place{model.IDValue(block.First)}, skip-block.Before
	case block.End != nil:
		l.selection.From, l.selection.Behind = store.Place{model.IDValue(*block.End)}, true
		l.selection.Skip = skip - (l.Total - block.Before - block.Count)
	}
	return err
}

func (l *Listing) locateCursor(place store.Place) (err error) {
	beside := store.Selection{Filter: l.selection.Filter, Order: l.selection.Order}
	if l.query.Range.Limit > 0 {
		l.selection.From, l.lookAhead = place, true
		beside.Until = place
		l.hasBefore, err = l.tx.Any(l.collection, beside)
		return err
	}
	l.selection.Until = place
	l.selection.From, l.hasBefore, err = l.tx.Back(l.collection, l.selection, l.query.Range.Size())
	if err == nil {
		beside.From = place
		l.after, l.hasAfter, err = l.tx.IDAt(l.collection, beside)
	}
	return err
}

// cursorPlace finds the place of the cursor, also of one that has been deleted
// since, as long as it is not lost with its sort values.
func (l *Listing) cursorPlace(path Path) (store.Place, error) {
	id, scope := l.query.Range.Cursor, path.scope()
	record, err := l.tx.Get(l.collection, scope, id)
	if err != nil {
		return nil, err
	}
	if record == nil && len(l.query.Sort) == 0 {
		record, err = l.tx.Deleted(l.collection, id)
		if err != nil {
			return nil, err
		}
		if record != nil && scope != nil && !scope.Match(record) {
			record = nil
		}
	}
	if record == nil {
		detail := "No resource with this id is known here. Start again without a cursor."
		if len(l.query.Sort) > 0 {
			detail = "No resource with this id is here, and without its values it has no place in a sorted collection. Start again without a cursor."
		}
		return nil, fault.Parameter("cursor", problem.CodeUnknownCursor, "%s", detail)
	}
	return l.selection.Order.PlaceOf(l.collection, record), nil
}

// Next gives the next resource of the range, or nil at its end.
func (l *Listing) Next() (model.Row, error) {
	if l.ended || l.selection.Take == 0 && !l.lookAhead {
		l.ended = true
		return nil, nil
	}
	if l.rows == nil {
		if err := l.open(); err != nil {
			return nil, err
		}
	}
	more, err := l.rows.Next()
	if err != nil {
		return nil, err
	}
	if !more || l.given == l.wanted {
		l.ended, l.lookAhead = true, false
		if more {
			l.after, l.hasAfter = l.rows.ID(model.IDColumn), true
		}
		return nil, l.locateEmpty()
	}
	if l.given == 0 {
		l.first = l.rows.ID(model.IDColumn)
	}
	l.given++
	return l.rows, nil
}

// open starts to read, one row further than asked for if that is to be known.
func (l *Listing) open() (err error) {
	selection := l.selection
	if l.lookAhead && selection.Take < math.MaxInt64 {
		selection.Take++
	}
	l.rows, err = l.tx.Select(l.collection, selection)
	return err
}

// locateEmpty finds where an empty range by offset stands: at the end, which is
// not known before it is looked for.
func (l *Listing) locateEmpty() (err error) {
	if l.given > 0 || l.query.Range.Anchor != query.AtOffset || l.Known || l.start == 0 {
		return nil
	}
	l.rows.Close()
	l.rows = nil
	l.start, err = l.tx.Count(l.collection, l.selection.Filter)
	l.hasBefore = l.start > 0
	return err
}

// maxProbe is the largest filtered or sorted range for which it is worth
// finding out what is behind it before it has been read.
const maxProbe = 1000

// Neighbours gives the ranges before and behind this one, nil where there are
// none. It can be called at any time after the first Next, while its row is the
// current one; what is behind the range is looked up if it was not reached yet.
func (l *Listing) Neighbours() (previous, next *query.Range, err error) {
	size := l.query.Range.Size()
	if size == 0 {
		return nil, nil, nil
	}
	if l.lookAhead && !l.ended {
		if err := l.probe(); err != nil {
			return nil, nil, err
		}
	}
	byOffset := l.query.Range.Anchor == query.AtOffset
	if l.hasBefore {
		previous = &query.Range{Anchor: query.AtCursor, Cursor: l.first, Limit: -size}
		if byOffset {
			previous = &query.Range{Anchor: query.AtOffset, Offset: l.start, Limit: -size}
		} else if l.given == 0 {
			previous.Cursor = l.query.Range.Cursor
		}
	}
	if l.hasAfter {
		next = &query.Range{Anchor: query.AtCursor, Cursor: l.after, Limit: size}
		if byOffset {
			next = &query.Range{Anchor: query.AtOffset, Offset: l.start + l.wanted, Limit: size}
		}
	}
	return previous, next, nil
}

// probe finds what is behind the range while it is still being read. The rest
// is then read by a second query, from behind the current row.
func (l *Listing) probe() (err error) {
	l.lookAhead = false
	if (l.filtered || len(l.query.Sort) > 0) && l.query.Range.Size() > maxProbe {
		return nil
	}
	rest := &l.selection
	rest.From, rest.Behind = rest.Order.PlaceOf(l.collection, l.rows), true
	l.rows.Close()
	l.rows = nil
	behind := *rest
	behind.Skip = l.wanted - l.given
	l.after, l.hasAfter, err = l.tx.IDAt(l.collection, behind)
	rest.Skip, rest.Take = 0, l.wanted-l.given
	return err
}
