package store

import (
	"strconv"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// ChangeKind is what happened to a resource.
type ChangeKind string

// The kinds of changes.
const (
	Created ChangeKind = db.Created
	Updated ChangeKind = db.Updated
	Deleted ChangeKind = db.Deleted
)

// LogEntry is a change as the change log tells it.
type LogEntry struct {
	Position   int64 // in the log
	Revision   int64
	Collection *model.Collection
	ID         model.ID
	Kind       ChangeKind
	At         model.Value
	Caller     string // id of the caller; empty: the server itself, or no access control

	// Before and After are the states of the resource, nil where there is none. The revision in
	// Before is unknown (zero).
	Before, After model.Record

	// Unreadable is why the states cannot be found; nil: they are known. The other entries of the
	// log are readable nevertheless.
	Unreadable error

	// Transaction is for Point.Has.
	Transaction uint64
}

// LogQuery asks for changes. Positions are exclusive; zero is no bound.
type LogQuery struct {
	After, Before int64
	Backwards     bool              // the last ones first
	Collection    *model.Collection // nil: all
	ID            *model.ID         // only with Collection; nil: all
	Most          int               // at least 1
	Bytes         int               // about the most of all states together, but at least one change is read; zero: no bound
	Expected      int               // how many changes probably have room in that; zero: unknown
}

// logAtFirst is how many changes are read by the first statement of a query with a bound on bytes.
// Others follow while there is room: what a statement finds must be received, even if it is not used.
const logAtFirst = 16

// lookAtLeast is how many changes are looked at for those of one collection, which no index
// finds.
const lookAtLeast = 1000

// Log reads changes in the order of the log, with the states before and after each. Changes of
// collections that the schema no longer has are left out, but count: last is the position of
// the last change that was looked at, and more reports whether others follow it.
// Without any, last is where the reading would have begun.
func (t *Tx) Log(q LogQuery) (entries []LogEntry, last int64, more bool, err error) {
	last = q.After
	if q.Backwards {
		last = q.Before
	}
	look := q.Most
	if q.Collection != nil && q.ID == nil {
		look = max(look, lookAtLeast)
	}
	size, bytes := look, 0
	if q.Bytes > 0 {
		size = min(logAtFirst, look)
		if q.Expected > 0 {
			size = min(size, q.Expected)
		}
	}
	for more = true; more && look > 0 && len(entries) < q.Most && (q.Bytes == 0 || bytes < q.Bytes); {
		part := logPart{look: min(size, look), most: q.Most - len(entries), bytes: max(0, q.Bytes-bytes), last: last}
		if err := t.readLogPart(&part, q); err != nil {
			return nil, 0, false, t.fault(err)
		}
		entries = append(entries, part.entries...)
		last, more = part.last, part.more
		look, bytes, size = look-part.looked, bytes+part.size, 4*size
		if part.cut {
			size = len(part.entries)
		}
		if q.Backwards {
			q.Before = last
		} else {
			q.After = last
		}
	}
	return entries, last, more, nil
}

// logPart is what one statement finds of the log.
type logPart struct {
	look, most int // changes to look at, and to return
	bytes      int // about the most of all states together; zero: no bound

	entries []LogEntry
	size    int // of the states
	looked  int
	last    int64
	more    bool
	cut     bool // not all that was looked at has room
}

// readLogPart reads a part of the log. If there is any change, it looks at one at least.
func (t *Tx) readLogPart(p *logPart, q LogQuery) error {
	s := t.logStatement(q, p.look)
	var previous [][]byte
	bytes := 0
	err := db.Each(t.conn, func(row model.Row) bool {
		if p.more = p.looked == p.look || len(p.entries) == p.most || p.bytes > 0 && bytes >= p.bytes; p.more {
			return false
		}
		p.looked++
		p.last = row.Int(0)
		c := t.store.numbered[row.Int(2)]
		if c == nil || q.Collection != nil && c != q.Collection {
			return true
		}
		p.entries = append(p.entries, LogEntry{
			Position: p.last, Revision: row.Int(1), Collection: c, ID: row.ID(3), Kind: ChangeKind(row.AppendText(nil, 4)),
			At: model.KindDateTime.Read(row, 5), Caller: string(row.AppendText(nil, 6)), Transaction: db.BitsOf(row.Int(8)),
		})
		text := row.AppendText(nil, 7)
		previous, bytes = append(previous, text), bytes+len(text)
		return true
	}, s.String(), s.Args...)
	if err != nil {
		return err
	}
	known, err := t.statesWithin(p.bytes, p.entries, previous)
	if err != nil {
		return err
	}
	if known < len(p.entries) {
		p.entries, p.last, p.more, p.cut = p.entries[:known:known], p.entries[known-1].Position, true, true
	}
	for i := range p.entries {
		p.size += p.entries[i].size()
	}
	return nil
}

// logStatement selects changes, and at least one more than are to be looked at.
func (t *Tx) logStatement(q LogQuery, look int) *db.Builder {
	s := &db.Builder{}
	s.Write(`SELECT position, revision, collection, id, kind, at, caller, previous, "transaction" FROM `, t.store.db.PositionedLog(), " AS log")
	t.logRange(s, q)
	// A constant limit, so that the planner expects few rows; one of a few, so that there are few
	// statements to prepare.
	limit := 16
	for limit <= look {
		limit *= 2
	}
	s.Write(" ORDER BY position", db.Choose(q.Backwards, " DESC", ""), " LIMIT ", strconv.Itoa(limit))
	return s
}

// logRange writes the condition of a query without its collection, unless it is for one
// resource.
func (t *Tx) logRange(s *db.Builder, q LogQuery) {
	s.Write(" WHERE position > ")
	s.Arg(model.IntValue(q.After))
	if q.Before != 0 {
		s.Write(" AND position < ")
		s.Arg(model.IntValue(q.Before))
	}
	if q.ID != nil {
		s.Write(" AND collection = ")
		s.Arg(model.IntValue(t.store.tables[q.Collection].log.Number))
		s.Write(" AND id = ")
		s.Arg(model.IDValue(*q.ID))
	}
}

// CountLog counts changes in the log.
func (t *Tx) CountLog(q LogQuery) (n int64, err error) {
	s := &db.Builder{}
	s.Write("SELECT count(*) FROM ", t.store.db.PositionedLog(), " AS log")
	t.logRange(s, q)
	if q.ID == nil {
		s.Write(" AND collection IN (")
		counted := t.store.schema.All()
		if q.Collection != nil {
			counted = []*model.Collection{q.Collection}
		}
		s.List(len(counted), ", ", "", func(i int) { s.Arg(model.IntValue(t.store.tables[counted[i]].log.Number)) })
		s.Write(")")
	}
	_, err = db.One(t.conn, func(row model.Row) { n = row.Int(0) }, s.String(), s.Args...)
	return n, t.fault(err)
}

// Floor is the position up to which the log was removed, with the time of the last change that
// was; zero and empty: nothing was removed.
func (t *Tx) Floor() (position int64, at string, err error) {
	floor, err := db.ReadFloor(t.conn)
	return floor.Position, floor.At, t.fault(err)
}

// History identifies the history that positions, revisions and ETags belong to, as the snapshot
// sees it.
func (t *Tx) History() (model.ID, error) {
	id, err := db.ReadHistory(t.conn)
	return id, t.fault(err)
}
