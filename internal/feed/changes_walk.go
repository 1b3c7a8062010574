package feed

import (
	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// walk goes through the changes that a caller sees.
type walk struct {
	changes       *Changes
	after, before int64 // positions between which is left to be read
	backwards     bool
	part          []seenChange // that was read
	ended         bool         // there are no more parts
}

// seenChange is a change with what the caller sees of it.
type seenChange struct {
	changelog.Entry
	seesBefore, seesAfter bool
}

// partOfLog is how many changes are read at once.
const partOfLog = 100

func (c *Changes) walk(after, before int64) *walk {
	return &walk{changes: c, after: max(after, c.floor), before: before, ended: c.narrow.nothing}
}

func (c *Changes) walkBack(before int64) *walk {
	return &walk{changes: c, before: before, backwards: true, ended: c.narrow.nothing || before <= c.floor+1}
}

// next appends the next change that the caller sees, or returns nil at the end. A change that cannot
// be read is returned with an error; the next call goes on after it.
func (w *walk) next(dst []byte) (*seenChange, []byte, error) {
	c := w.changes
	for {
		for len(w.part) > 0 {
			change := &w.part[0]
			w.part = w.part[1:]
			if err := change.Unreadable; err != nil {
				return change, dst, errUnreadable(model.ChangeID(c.history, change.Position), err)
			}
			if text, ok := appendSeen(dst, c.history, c.request.Path.By, &change.Entry, change.seesBefore, change.seesAfter); ok {
				return change, text, nil
			}
		}
		if w.ended {
			return nil, dst, nil
		}
		if err := w.read(); err != nil {
			return nil, dst, err
		}
	}
}

// seek is next for those who only need to know that there is a change, also if it cannot be read.
func (w *walk) seek(scratch []byte) (*seenChange, []byte, error) {
	entry, text, err := w.next(scratch)
	if entry != nil {
		err = nil
	}
	return entry, text, err
}

// errUnreadable is the error of a change that cannot be read.
func errUnreadable(change model.ID, cause error) error {
	return &problem.Error{Code: problem.CodeInternal, Cause: cause, Detail: "The change " + change.String() +
		" cannot be read: it, or a later change of its resource or of one that it refers to, is damaged or was written by a later version of the server. Changes after it can be read with since=" + change.String() + "."}
}

// shows reports whether a change passes the filter, and its collection is shown to the caller.
func (c *Changes) shows(e *changelog.Entry) bool {
	filter := c.request.Query.Filter
	return mayFollow(c.request.Path.By, e.Collection) && !(e.Position >= c.start && c.skipped.Has(e)) && (filter == nil || filter.Match(e.Record(c.feed.store.Schema())))
}

// read reads the next part of the log.
func (w *walk) read() error {
	c := w.changes
	tx, err := c.feed.store.Read(c.ctx)
	if err != nil {
		return err
	}
	defer tx.Close()
	history, err := tx.History()
	if err != nil {
		return err
	}
	floor, _, err := tx.Floor()
	if err != nil {
		return err
	}
	if history != c.history || floor > c.floor && !w.backwards && floor > w.after {
		return fault.New(problem.CodePositionGone, "The change log was removed up to a later position while it was read. Send the request again.")
	}
	entries, last, more, err := tx.Log(changelog.Query{
		After: w.after, Before: w.before, Backwards: w.backwards, Collection: c.narrow.collection, ID: c.narrow.id, Most: partOfLog, Bytes: partBytes,
	})
	if err != nil {
		return err
	}
	w.part, w.ended = nil, !more
	states := tx.States()
	for i := range entries {
		change := seenChange{Entry: entries[i]}
		if !c.shows(&change.Entry) {
			continue
		}
		change.seesBefore, change.seesAfter, err = seenBy(c.request.Path.By, &change.Entry, states)
		if changelog.IsUnreadable(err) {
			change.Unreadable, err = err, nil
		}
		if err != nil {
			return err
		}
		w.part = append(w.part, change)
	}
	if w.backwards {
		w.before = last
	} else {
		w.after = last
	}
	return nil
}

// narrowed is the part of the log that the database can find by itself.
type narrowed struct {
	collection *model.Collection
	id         *model.ID
	whole      bool // the filter asks for nothing else
	nothing    bool // there can be no such change
}

// narrowedBy finds the part of the log that the request is about.
func (c *Changes) narrowedBy() (n narrowed) {
	if c.request.Path.Collection != nil {
		return narrowed{collection: c.request.Path.Collection, id: &c.request.ID, whole: c.request.Query.Filter == nil}
	}
	return narrow(c.feed.store.Schema(), c.request.Query.Filter)
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
func narrow(s *model.Schema, filter query.Filter) (n narrowed) {
	all := conditions(filter)
	var id *model.ID
	used := 0
	for _, each := range all {
		condition, ok := each.(query.Compare)
		if !ok || condition.Op != query.Equal {
			continue
		}
		switch s.Changes().Columns()[condition.Column].Name {
		case model.ChangeCollection:
			if n.collection != nil {
				continue
			}
			n.collection = s.Collection(condition.Value.Text())
			n.nothing = n.collection == nil
			used++
		case model.ChangeResourceID:
			if id == nil {
				id = new(condition.Value.ID())
				used++
			}
		}
	}
	if id != nil && n.collection == nil {
		used--
	} else {
		n.id = id
	}
	n.whole = used == len(all)
	return n
}

// count finds the total, if that is asked for and the caller sees everything that there is to
// count: a total must not reveal what is hidden.
func (c *Changes) count() error {
	c.Known = c.request.Exact && c.seesAll()
	switch {
	case !c.Known || c.narrow.nothing:
		return nil
	case c.narrow.whole:
		return c.countLog()
	}
	all := c.walk(c.floor, c.End+1)
	var scratch []byte
	for {
		entry, text, err := all.seek(scratch[:0])
		if err != nil || entry == nil {
			return err
		}
		scratch = text
		c.Total++
	}
}

// countLog counts what the database can find by itself.
func (c *Changes) countLog() error {
	tx, err := c.feed.store.Read(c.ctx)
	if err != nil {
		return err
	}
	defer tx.Close()
	c.Total, err = tx.CountLog(changelog.Query{Collection: c.narrow.collection, ID: c.narrow.id})
	if err == nil && c.narrow.collection == nil { // operations are no part of it
		var operations int64
		operations, err = tx.CountLog(changelog.Query{Collection: c.feed.store.Schema().Operations()})
		c.Total -= operations
	}
	return err
}

// seesAll reports whether no change of what is asked for is hidden from the caller.
func (c *Changes) seesAll() bool {
	by := c.request.Path.By
	if by == nil {
		return true
	}
	all := c.feed.store.Schema().Collections()
	if c.narrow.collection != nil {
		all = []*model.Collection{c.narrow.collection}
	}
	for _, each := range all {
		if !by.May(schema.MayChanges, each) || by.Scope(each) != nil || by.Visible(each) != nil {
			return false
		}
	}
	return true
}

// openHistory finds the last state of the resource.
func (c *Changes) openHistory(tx *store.Tx, cutAt string) error {
	path, id := c.request.Path, c.request.ID
	if err := path.RequireParent(tx); fault.Is(err, problem.CodeNotFound) {
		return fault.New(problem.CodeNotFound, "%s Without its parent a resource has its history in its own collection: %s/%s/changes.",
			fault.From(err)[0].Detail, path.Collection.Name, id)
	} else if err != nil {
		return err
	}
	state, err := tx.Get(path.Collection, nil, id)
	if err != nil {
		return err
	}
	if state == nil {
		last, _, _, err := tx.Log(changelog.Query{Collection: path.Collection, ID: &id, Backwards: true, Most: 1})
		if err != nil {
			return err
		}
		switch {
		case len(last) == 0:
			return resource.NotFound(path.Collection, id)
		case last[0].Unreadable != nil:
			return errUnreadable(model.ChangeID(c.history, last[0].Position), last[0].Unreadable)
		case last[0].Kind == changelog.Deleted:
			state = last[0].Before
		default: // it was deleted a moment ago, and that has no position yet
			state = last[0].After
		}
	}
	// Whether the references of the state are still there does not matter: it is one that was seen, or
	// not, when it was the last one.
	sees, err := path.By.Sees(path.Collection, state, tx.FindLast)
	if err != nil {
		return err
	}
	c.hidden = !sees
	if !c.hidden && !c.isBelow(state) {
		return resource.NotFound(path.Collection, id)
	}
	oldest, _, _, err := tx.Log(changelog.Query{Collection: path.Collection, ID: &id, Most: 1})
	if err != nil {
		return err
	}
	if c.floor > 0 && (len(oldest) == 0 || oldest[0].Kind != changelog.Created) {
		c.CutAt = cutAt
	}
	return nil
}

// isBelow reports whether a state of the resource is below the parent in the path, if there is one.
func (c *Changes) isBelow(state model.Record) bool {
	path := c.request.Path
	return path.Parent == nil || state[path.Collection.ParentLink().Column] == model.IDValue(*path.Parent)
}

// checkVisible returns 404 for the history of a resource of which the caller sees no state, or the last one that
// they see is below another parent: where it is while it is hidden is not shown.
func (c *Changes) checkVisible() error {
	if !c.hidden {
		return nil
	}
	unfiltered := *c
	unfiltered.request.Query.Filter, unfiltered.skipped = nil, changelog.Point{}
	entry, _, err := unfiltered.walkBack(c.End + 1).next(nil)
	if err != nil {
		return err
	}
	path := c.request.Path
	if entry != nil {
		last := entry.After
		if !entry.seesAfter {
			last = entry.Before
		}
		if c.isBelow(last) {
			return nil
		}
	}
	return resource.NotFound(path.Collection, c.request.ID)
}
