package feed

import (
	"cmp"
	"context"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/problem"
)

// LogRequest asks for a range of the change log.
type LogRequest struct {
	Schema *model.Schema // of the version that asks; nil: the newest
	Path   reads.Path    // permit of the caller; with a collection: the history of its resource ID
	ID     model.ID
	Query  query.Query // on Schema.Changes
	Exact  bool        // count
}

// Changes is a range of the change log as a caller sees it. It is read in parts, each in a
// transaction of its own: the log grows at its end only, and End is fixed when it begins.
type Changes struct {
	Total int64
	Known bool   // the total
	End   int64  // last number of the log
	CutAt string // of a history without its beginning: the time until which the log was removed

	feed    *Feed
	ctx     context.Context
	request LogRequest
	history model.ID
	floor   int64
	narrow  narrowed
	skipped changelog.Point // of since: what a list has shown already

	start     int64         // number that the range begins at, or with a negative limit ends before
	looked    int64         // there is nothing for the caller after the start up to this number
	followed  *Subscription // while it waits
	follows   bool          // it is listed for a stream. If the start of the log is removed meanwhile, the list goes on without it
	rows      walk
	wanted    int64
	given     int64
	hasBefore bool
	ended     bool

	// Numbers; zero: none.
	first, last int64 // changes that were returned
	after       int64 // first change after the range
	reached     int64 // up to which a long range certainly goes, if others follow that: its end is not known
}

// Changes opens a range of the change log. Call Begin before it is read.
func (f *Feed) Changes(ctx context.Context, request LogRequest) (*Changes, error) {
	if _, err := f.store.AssignNumbers(ctx); err != nil { // so that clients read their own writes
		return nil, err
	}
	c := f.newChanges(ctx, request)
	if err := c.open(); err != nil {
		return nil, err
	}
	return c, c.anchor()
}

func (f *Feed) newChanges(ctx context.Context, request LogRequest) *Changes {
	request.Schema = cmp.Or(request.Schema, f.store.Schema())
	return &Changes{feed: f, ctx: ctx, request: request}
}

// Begin finds the range in the log as it is now known, and counts if that is asked for.
func (c *Changes) Begin() error {
	if err := c.count(); err != nil {
		return err
	}
	return c.locate()
}

// open finds where the log begins and ends. The history of a resource must exist for the caller.
func (c *Changes) open() error {
	state, err := c.readBounds()
	if err == nil && c.request.Path.Collection != nil {
		err = c.checkHistory(state)
	}
	return err
}

// readBounds reads where the log begins and ends, and of a history the state of the resource, if the caller sees that.
func (c *Changes) readBounds() (state model.Record, err error) {
	tx, err := c.feed.store.Read(c.ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Close()
	bounds, err := tx.Bounds()
	if err != nil {
		return nil, err
	}
	c.history, c.floor, c.End = bounds.History, bounds.Floor, bounds.Number
	if c.request.Path.Collection == nil {
		c.narrow = narrow(c.request.Schema, c.request.Query.Filter)
		return nil, nil
	}
	c.narrow = narrowed{collection: c.request.Path.Collection.Base(), id: &c.request.ID, whole: c.request.Query.Filter == nil}
	return c.openHistory(tx, bounds)
}

// anchor finds where the range starts.
func (c *Changes) anchor() error {
	r := c.request.Query.Range
	switch since := c.request.Query.Since; {
	case since != "":
		point, err := c.since(since)
		if err != nil {
			return err
		}
		c.start, c.skipped = point.Number+1, point
	case r.Anchor == query.AtCursor:
		number, ok := model.ChangeNumber(c.history, r.Cursor)
		switch {
		case ok && number > c.End, !model.IsChangeID(r.Cursor):
			return fault.Parameter("cursor", problem.CodeUnknownCursor, "There is no change with this id.")
		case !ok || number <= c.floor:
			return gone("cursor")
		}
		c.start = number
	case r.Limit < 0:
		c.start = c.End + 1
	default:
		c.start = c.floor + 1
	}
	return nil
}

// gone is the error for a place in the log that it no longer has.
func gone(parameter string) error {
	return fault.Parameter(parameter, problem.CodePositionGone, "The change log no longer has this position: it is older than the server keeps changes, or of another history of the database. List the resources again and go on from there.")
}

// since reads a position, or the id of a change.
func (c *Changes) since(text string) (point changelog.Point, err error) {
	known := true
	if id, ok := model.ParseID(text); ok {
		if !model.IsChangeID(id) {
			return point, fault.Parameter("since", problem.CodeInvalidParameter, "%s", query.NoPositionOrChange)
		}
		point.Number, known = model.ChangeNumber(c.history, id)
	} else {
		p, err := c.feed.signer.parse(text)
		switch {
		case len(text) > maxPosition:
			return point, fault.Parameter("since", problem.CodeInvalidParameter, "%s", fault.From(err)[0].Detail)
		case err != nil:
			return point, fault.Parameter("since", problem.CodeInvalidParameter, "%s", query.NoPositionOrChange)
		}
		point, known = p.point, p.history == tailOf(c.history)
	}
	if !known || point.Number < c.floor || point.Number > c.End {
		return point, gone("since")
	}
	return point, nil
}

// locate finds the first change of a range that counts backwards, and whether there are
// changes before the range.
func (c *Changes) locate() (err error) {
	size, first := c.request.Query.Range.Size(), c.start
	c.wanted = size
	if size == 0 || c.request.Query.Since != "" && c.request.Query.Range.Limit > 0 {
		// Who follows the log has what is before.
		c.rows = c.walk(max(first-1, c.looked), c.End+1)
		return nil
	}
	back := c.walkBack(first)
	if c.request.Query.Range.Limit < 0 {
		var number int64
		if number, c.wanted, err = back.pass(size); err != nil {
			return err
		}
		if c.wanted > 0 {
			first = number
		}
	}
	_, before, err := back.pass(1)
	c.hasBefore = before > 0
	c.rows = c.walk(first-1, c.End+1)
	return err
}

// Next appends the next change. False means that the range has ended.
func (c *Changes) Next(dst []byte) (_ []byte, ok bool, err error) {
	if c.ended || c.request.Query.Range.Size() == 0 {
		c.ended = true
		return dst, false, nil
	}
	change, err := c.rows.next()
	if err != nil {
		return dst, false, err
	}
	if change == nil || c.given == c.wanted {
		c.ended = true
		if change != nil {
			c.after = change.Number
		}
		return dst, false, nil
	}
	if err := change.Unreadable; err != nil {
		return dst, false, errUnreadable(c.id(change.Number), err)
	}
	if c.given == 0 {
		c.first = change.Number
	}
	c.last = change.Number
	c.given++
	return change.append(dst, c.history, c.request.Path.By), true, nil
}

// id is the id of the change at a number.
func (c *Changes) id(number int64) model.ID { return model.ChangeID(c.history, number) }

// maxProbe is the largest range for which the next one is found before it has been read.
const maxProbe = 1000

// Neighbours returns the previous and the next range, nil where there is none. If the end of a long range is not known, the next
// one begins after the last change that it certainly reaches, so that changes may come again.
func (c *Changes) Neighbours() (previous, next *query.Range, err error) {
	size := c.request.Query.Range.Size()
	if size == 0 {
		return nil, nil, nil
	}
	if !c.ended {
		if err := c.probe(); err != nil {
			return nil, nil, err
		}
	}
	if c.hasBefore {
		previous = &query.Range{Anchor: query.AtCursor, Cursor: c.id(cmp.Or(c.first, c.start)), Limit: -size}
	}
	switch {
	case c.reached > 0:
		next = &query.Range{Anchor: query.AtPosition, Position: c.Link(), Limit: size}
	case c.after > 0:
		next = &query.Range{Anchor: query.AtCursor, Cursor: c.id(c.after), Limit: size}
	}
	return previous, next, nil
}

// probe finds what is after the range while the range is being read.
func (c *Changes) probe() error {
	ahead, left := c.rows, c.wanted-c.given
	switch {
	case c.request.Query.Range.Limit < 0:
		ahead, left = c.walk(c.start-1, c.End+1), 0
	case c.wanted > maxProbe:
		return c.reach(left)
	}
	number, passed, err := ahead.pass(left + 1)
	if passed > left {
		c.after = number
	}
	return err
}

// reach finds how far a long range certainly goes, with a number of changes that are left to be read: as far as if all changes
// were shown.
func (c *Changes) reach(left int64) error {
	if left == 0 {
		c.reached = c.last
		return nil
	}
	if left >= c.End-c.last {
		return nil
	}
	tx, err := c.feed.store.Read(c.ctx)
	if err != nil {
		return err
	}
	defer tx.Close()
	number, more, err := tx.NumberAt(changelog.Query{After: c.last, Before: c.End + 1, Collection: c.narrow.collection, ID: c.narrow.id}, left)
	if more {
		c.reached = number
	}
	return err
}

// Later reports whether the caller sees a change after the start of the range: what a client
// that waits is waiting for.
func (c *Changes) Later() (bool, error) {
	after := c.start
	if c.request.Query.Since != "" {
		after--
	}
	later := c.walk(max(after, c.looked), c.End+1)
	_, passed, err := later.pass(1)
	if err == nil && passed == 0 {
		c.looked = c.End
	}
	return passed > 0, err
}

// Link is the position after the range, for a client that goes on from there. Call it after
// Neighbours.
func (c *Changes) Link() string {
	point := c.skipped // what a list has shown already may still be ahead
	if point.Number = c.lookedAt(); point.Number >= c.End {
		point = changelog.Point{Number: c.End}
	}
	return c.feed.Link(c.feed.LogShape(c.request), c.history, point)
}

// lookedAt is the last number that was looked at for the range. Of a long range whose end is not
// known yet, it is one that the range reaches in any case: no change may be left out.
func (c *Changes) lookedAt() int64 {
	size := c.request.Query.Range.Size()
	switch {
	case size == 0 && c.request.Query.Since == "" && c.request.Query.Range.Anchor != query.AtCursor:
		return c.End
	case size == 0 || c.request.Query.Range.Limit < 0:
		return c.start - 1
	case c.reached > 0:
		return c.reached
	case c.after > 0:
		return c.after - 1
	}
	return c.End
}

// LogShape is the shape of a stream of the change log, or of the history of one resource.
func (f *Feed) LogShape(request LogRequest) Shape {
	shape := Shape{Schema: request.Schema, Path: reads.Path{By: request.Path.By}, Filter: request.Query.Filter}
	if c := request.Path.Collection; c != nil {
		field := f.store.Schema().Changes().Field
		shape.Filter = query.Both(query.And{
			query.Compare{Column: field(model.ChangeCollection).Column, Op: query.Equal, Value: model.TextValue(c.Name)},
			query.Compare{Column: field(model.ChangeResourceID).Column, Op: query.Equal, Value: model.IDValue(request.ID)},
		}, shape.Filter)
	}
	return shape
}

// Change is one change as a resource, with its number. False means that there is none for the caller. Of the request, the version
// and the permit are used.
func (f *Feed) Change(ctx context.Context, request LogRequest, id model.ID) (representation []byte, number int64, found bool, err error) {
	if _, err := f.store.AssignNumbers(ctx); err != nil {
		return nil, 0, false, err
	}
	c := f.newChanges(ctx, request)
	if err := c.open(); err != nil {
		return nil, 0, false, err
	}
	number, ok := model.ChangeNumber(c.history, id)
	if !ok || number <= c.floor || number > c.End {
		return nil, 0, false, nil
	}
	one := c.walk(number-1, number+1)
	change, err := one.next()
	switch {
	case err != nil || change == nil:
		return nil, 0, false, err
	case change.Unreadable != nil:
		return nil, 0, false, errUnreadable(id, change.Unreadable)
	}
	return change.append(nil, c.history, request.Path.By), number, true, nil
}
