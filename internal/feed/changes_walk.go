package feed

import (
	"math"
	"slices"
	"strconv"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// seenChange is a change as a caller sees it.
type seenChange struct {
	*changelog.Entry
	collection    *model.Collection // of the version
	before, after model.Record      // nil: there is no such state, or the caller does not see it
	changed       model.ColumnSet   // of an update: the columns that differ, among those that the caller sees
}

// seenBy finds what a caller sees of a change, in the version that has the schema. False means that they see neither the state before nor the one after, or
// no difference.
func seenBy(by *auth.Permit, s *model.Schema, e *changelog.Entry, states *changelog.States) (seen seenChange, ok bool, err error) {
	seen.Entry, seen.collection = e, s.Of(e.Collection)
	seesBefore, seesAfter, err := sees(by, e, states)
	if seesBefore {
		seen.before = e.Before
	}
	if seesAfter {
		seen.after = e.After
	}
	if seesBefore && seesAfter {
		seen.changed = seen.collection.Differences(e.Before, e.After, by.Visible(seen.collection))
		return seen, seen.changed != nil, err
	}
	return seen, seesBefore || seesAfter, err
}

// sees reports whether a caller sees the states before and after a change.
func sees(by *auth.Permit, e *changelog.Entry, states *changelog.States) (before, after bool, err error) {
	if e.Before != nil {
		if before, err = by.Sees(e.Collection, e.Before, states.Before(e)); err != nil {
			return false, false, err
		}
	}
	if e.After != nil {
		after, err = by.Sees(e.Collection, e.After, states.After(e))
	}
	return before, after, err
}

// shown is the last state that the caller sees.
func (s *seenChange) shown() model.Record {
	if s.after == nil {
		return s.before
	}
	return s.after
}

// append appends the resource of type changes that shows the change to the caller.
func (s *seenChange) append(dst []byte, history model.ID, by *auth.Permit) []byte {
	c, visible := s.collection, by.Visible(s.collection)
	dst = model.ChangeID(history, s.Number).Append(append(dst, `{"id":"`...))
	dst = append(append(dst, `","type":"changes","kind":"`...), s.Kind...)
	dst = s.ID.Append(append(dst, `","resource":{"id":"`...))
	dst = append(append(dst, `","type":"`...), c.Name...)
	dst = strconv.AppendInt(append(dst, `"},"revision":`...), s.Revision, 10)
	dst = appendCaller(append(dst, `,"by":`...), s.Entry, true)
	dst = append(dst, `,"previous":`...)
	switch {
	case s.before == nil:
		dst = append(dst, "null"...)
	case s.after == nil: // deleted or hidden; the attributes that differ would reveal something of a hidden state
		dst = c.AppendSome(dst, s.before, visible)
	default:
		dst = c.AppendAttributes(dst, s.before, s.changed)
	}
	dst = append(dst, `,"data":`...)
	if s.after == nil {
		dst = append(dst, "null"...)
	} else {
		dst = c.AppendSome(dst, s.after, visible)
	}
	dst = append(append(dst, `,"created_at":"`...), s.At.Text()...)
	return append(dst, `"}`...)
}

// event is the event of the change as a resource.
func (s *seenChange) event(kind EventKind, history model.ID, by *auth.Permit) (Event, error) {
	id := model.ChangeID(history, s.Number)
	if s.Unreadable != nil {
		return Event{}, errUnreadable(id, s.Unreadable)
	}
	return Event{Kind: kind, ID: id, Data: append(s.append([]byte(`{"data":`), history, by), '}')}, nil
}

// walk goes through the changes that a caller sees, in one direction. A copy goes on from the same place.
type walk struct {
	changes *Changes
	left    changelog.Query // of the log
	part    []seenChange    // that was read; of a change that cannot be read only the entry is known
	ended   bool            // nothing is left
}

// partOfLog is how many changes are read at once.
const partOfLog = 100

func (c *Changes) walk(after, before int64) walk {
	return c.walkThrough(changelog.Query{After: max(after, c.floor), Before: before}, c.narrow.nothing)
}

func (c *Changes) walkBack(before int64) walk {
	return c.walkThrough(changelog.Query{Before: before, Backwards: true}, c.narrow.nothing || before <= c.floor+1)
}

func (c *Changes) walkThrough(q changelog.Query, empty bool) walk {
	q.Collection, q.ID, q.Most, q.Bytes = c.narrow.collection, c.narrow.id, partOfLog, partBytes
	return walk{changes: c, left: q, ended: empty}
}

// next returns the next change that the caller sees, or that cannot be read. It is nil at the end.
func (w *walk) next() (*seenChange, error) {
	for len(w.part) == 0 && !w.ended {
		if err := w.read(); err != nil {
			return nil, err
		}
	}
	if len(w.part) == 0 {
		return nil, nil
	}
	change := &w.part[0]
	w.part = w.part[1:]
	return change, nil
}

// pass passes a number of changes, or as many as there are, and returns the number of the last one.
func (w *walk) pass(most int64) (number, passed int64, err error) {
	for ; passed < most; passed++ {
		change, err := w.next()
		if err != nil || change == nil {
			return number, passed, err
		}
		number = change.Number
	}
	return number, passed, nil
}

// errUnreadable is the error of a change that cannot be read.
func errUnreadable(change model.ID, cause error) error {
	return &problem.Error{Code: problem.CodeInternal, Cause: cause, Detail: "The change " + change.String() +
		" cannot be read: it, or a later change of its resource or of one that it refers to, is damaged or was written by a later version of the server. Changes after it can be read with since=" + change.String() + "."}
}

// shows reports whether a change passes the filter, and its collection is shown to the caller.
func (c *Changes) shows(e *changelog.Entry) bool {
	filter, s := c.request.Query.Filter, c.request.Schema
	return mayFollow(c.request.Path.By, s.Of(e.Collection)) && !(e.Number >= c.start && c.skipped.Has(e)) && (filter == nil || filter.Match(e.Record(s)))
}

// read reads the next part of the log.
func (w *walk) read() error {
	c := w.changes
	tx, err := c.feed.store.Read(c.ctx)
	if err != nil {
		return err
	}
	defer tx.Close()
	bounds, err := tx.Bounds()
	if err != nil {
		return err
	}
	if bounds.History != c.history || !c.follows && !w.left.Backwards && bounds.Floor > max(c.floor, w.left.After) {
		return fault.New(problem.CodePositionGone, "The change log was removed up to a later position while it was read. Send the request again.")
	}
	entries, last, more, err := tx.Log(w.left)
	if err != nil {
		return err
	}
	part, states := []seenChange(nil), tx.States()
	for i := range entries {
		e := &entries[i]
		if !c.shows(e) {
			continue
		}
		seen, ok, err := seenBy(c.request.Path.By, c.request.Schema, e, states)
		if changelog.IsUnreadable(err) {
			e.Unreadable, err = err, nil
		}
		if err != nil {
			return err
		}
		if ok || e.Unreadable != nil {
			part = append(part, seen)
		}
	}
	w.part, w.ended = part, !more
	if w.left.Backwards {
		w.left.Before = last
	} else {
		w.left.After = last
	}
	return nil
}

// narrowed is the part of the log that the database can find by itself.
type narrowed struct {
	collection *model.Collection // as it is stored
	id         *model.ID
	whole      bool // the filter asks for nothing else
	nothing    bool // there can be no such change
}

// conditions is a filter as conditions that must all hold.
func conditions(filter query.Filter) (all []query.Filter) {
	and, ok := filter.(query.And)
	switch {
	case filter == nil:
		return nil
	case !ok:
		return []query.Filter{filter}
	}
	for _, each := range and {
		all = append(all, conditions(each)...)
	}
	return all
}

// narrow finds conditions on the collection and the resource in a filter of Schema.Changes.
func narrow(s *model.Schema, filter query.Filter) narrowed {
	n := narrowed{whole: true}
	for _, each := range conditions(filter) {
		equal, ok := each.(query.Compare)
		name := ""
		if ok && equal.Op == query.Equal {
			name = s.Changes().Columns()[equal.Column].Name
		}
		switch {
		case name == model.ChangeCollection && n.collection == nil && !n.nothing:
			named := s.Collection(equal.Value.Text())
			if n.nothing = named == nil; !n.nothing {
				n.collection = named.Base()
			}
		case name == model.ChangeResourceID && n.id == nil:
			n.id = new(equal.Value.ID())
		default:
			n.whole = false
		}
	}
	if n.id != nil && n.collection == nil {
		n.id, n.whole = nil, false
	}
	return n
}

// count finds the total, if that is asked for and the caller sees everything that there is to
// count: a total must not reveal what is hidden.
func (c *Changes) count() (err error) {
	sees, whole := c.seesAll()
	c.Known = c.request.Exact && sees
	switch {
	case !c.Known || c.narrow.nothing:
		return nil
	case !c.narrow.whole || !whole:
		all := c.walk(c.floor, c.End+1)
		_, c.Total, err = all.pass(math.MaxInt64)
		return err
	}
	tx, err := c.feed.store.Read(c.ctx)
	if err != nil {
		return err
	}
	defer tx.Close()
	c.Total, err = tx.CountLog(changelog.Query{Collection: c.narrow.collection, ID: c.narrow.id})
	return err
}

// seesAll reports whether no change of what is asked for is hidden from the caller, and whether their version leaves none out
// either.
func (c *Changes) seesAll() (sees, whole bool) {
	by, whole := c.request.Path.By, true
	for _, each := range c.request.Schema.Collections() {
		switch {
		case c.narrow.collection != nil && each.Base() != c.narrow.collection:
		case each.IsAbsent():
			whole = false
		case !by.May(schema.MayChanges, each) || by.Scope(each) != nil || !slices.Equal(by.Visible(each), each.Shows()):
			return false, false
		default:
			whole = whole && each.Shows() == nil
		}
	}
	return true, whole
}
