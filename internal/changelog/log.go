// Package changelog is the log of all changes of resources: it appends updates and deletions, reads all changes
// with the states before and after each, and removes the oldest. Entries of creations are appended by
// Conn.Insert of the database, together with the rows. A transaction of the store includes a Reader.
package changelog

import (
	"context"
	"strconv"

	"github.com/plural-go/plural/internal/catalog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/tracing"
)

// Log is the change log of a database, as a schema describes it. It does not change.
type Log struct {
	db       db.Database
	schema   *model.Schema
	version  int64                        // of the schema
	tables   map[*model.Collection]*table // see table
	numbered map[int64]*model.Collection  // by the numbers that the log uses

	selectPoint string
}

// Open returns the log of a database, for a schema that is stored in a layout.
func Open(d db.Database, s *model.Schema, layout *catalog.Layout) (*Log, error) {
	numbers, err := layout.Numbers.Tables(s)
	if err != nil {
		return nil, err
	}
	l := &Log{db: d, schema: s, version: layout.Version, tables: map[*model.Collection]*table{}, numbered: map[int64]*model.Collection{}}
	l.selectPoint = "SELECT " + l.PointColumns()
	for collection, each := range numbers {
		l.tables[collection], l.numbered[each.Number] = newTable(d, collection, each, layout), collection
	}
	return l, nil
}

// table is that of a collection, in whatever version of the interface.
func (l *Log) table(c *model.Collection) *table { return l.tables[c.Base()] }

// Reader reads the log in a transaction.
type Reader struct {
	log  *Log
	conn db.Conn
	ctx  context.Context
}

// Reader returns a reader, for as long as the connection can be used. The context is that of its caller.
func (l *Log) Reader(ctx context.Context, c db.Conn) Reader { return Reader{log: l, conn: c, ctx: ctx} }

func (r *Reader) fault(err error) error { return db.Fault(r.ctx, r.log.db, err) }

// Kind is what happened to a resource.
type Kind string

// The kinds of changes.
const (
	Created Kind = db.Created
	Updated Kind = db.Updated
	Deleted Kind = db.Deleted
)

// Entry is a change as the change log has it.
type Entry struct {
	Number     int64 // in the order of the log
	Revision   int64
	Collection *model.Collection // as it is stored
	ID         model.ID
	Kind       Kind
	At         model.Value
	Caller     string // id of the caller; empty: the server itself, or no access control

	// Traceparent is the trace in which the change was made, if it was sampled. It is stored in the column of the caller, so that a
	// change without one takes no more bytes than without traces.
	Traceparent string

	// Before and After are the states of the resource, nil where there is none. The revision in
	// Before is unknown (zero).
	Before, After model.Record

	// Unreadable is why the states cannot be found; nil: they are known. The other entries of the
	// log are readable nevertheless.
	Unreadable error

	// Transaction is for Point.Has.
	Transaction uint64
}

// Record is the change as filters of Schema.Changes see it, with the name that the collection has in that schema.
func (e *Entry) Record(s *model.Schema) model.Record {
	return s.ChangeRecord(model.Change{Collection: s.Of(e.Collection).Name, Resource: e.ID, Kind: string(e.Kind), By: e.Caller, At: e.At})
}

// Query asks for changes. Numbers are exclusive; zero is no bound.
type Query struct {
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
// collections that the schema no longer has are left out, but count: last is the number of
// the last change that was looked at, and more reports whether others follow it.
// Without any, last is where the reading would have begun.
func (r *Reader) Log(q Query) (entries []Entry, last int64, more bool, err error) {
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
		if err := r.readLogPart(&part, q); err != nil {
			return nil, 0, false, r.fault(err)
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

	entries []Entry
	size    int // of the states
	looked  int
	last    int64
	more    bool
	cut     bool // not all that was looked at has room
}

// readLogPart reads a part of the log. If there is any change, it looks at one at least.
func (r *Reader) readLogPart(p *logPart, q Query) error {
	s := r.logStatement(q, p.look)
	var previous [][]byte
	bytes := 0
	err := db.EachWhile(r.conn, func(row model.Row) bool {
		if p.more = p.looked == p.look || len(p.entries) == p.most || p.bytes > 0 && bytes >= p.bytes; p.more {
			return false
		}
		p.looked++
		p.last = row.Int(0)
		c := r.log.numbered[row.Int(2)]
		if c == nil || q.Collection != nil && c != q.Collection.Base() {
			return true
		}
		traceparent, caller := tracing.Split(row.Text(6))
		p.entries = append(p.entries, Entry{
			Number: p.last, Revision: row.Int(1), Collection: c, ID: row.ID(3), Kind: Kind(row.AppendText(nil, 4)),
			At: model.KindDateTime.Read(row, 5), Caller: caller, Traceparent: traceparent, Transaction: db.BitsOf(row.Int(8)),
		})
		text := row.AppendText(nil, 7)
		previous, bytes = append(previous, text), bytes+len(text)
		return true
	}, s.String(), s.Args...)
	if err != nil {
		return err
	}
	known, err := r.statesWithin(p.bytes, p.entries, previous)
	if err != nil {
		return err
	}
	if known < len(p.entries) {
		p.entries, p.last, p.more, p.cut = p.entries[:known:known], p.entries[known-1].Number, true, true
	}
	for i := range p.entries {
		p.size += p.entries[i].size()
	}
	return nil
}

// logStatement selects changes, and at least one more than are to be looked at.
func (r *Reader) logStatement(q Query, look int) *db.Builder {
	s := &db.Builder{}
	s.Write(`SELECT position, revision, collection, id, kind, at, caller, previous, "transaction" FROM `, r.log.db.PositionedLog(), " AS log")
	r.logRange(s, q)
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
func (r *Reader) logRange(s *db.Builder, q Query) {
	s.Write(" WHERE position > ")
	s.Arg(model.IntValue(q.After))
	if q.Before != 0 {
		s.Write(" AND position < ")
		s.Arg(model.IntValue(q.Before))
	}
	if q.ID != nil {
		s.Write(" AND collection = ")
		s.Arg(model.IntValue(r.log.table(q.Collection).Number))
		s.Write(" AND id = ")
		s.Arg(model.IDValue(*q.ID))
	}
}

// CountLog counts changes in the log. Operations are no part of it.
func (r *Reader) CountLog(q Query) (n int64, err error) {
	s := r.logOf("SELECT count(*)", q)
	n, err = db.Int(r.conn, s.String(), s.Args...)
	return n, r.fault(err)
}

// NumberAt is the number of the n-th change of a query, n > 0; zero if there are fewer. More reports whether others follow
// it.
func (r *Reader) NumberAt(q Query, n int64) (number int64, more bool, err error) {
	s := r.logOf("SELECT position", q)
	s.Write(" ORDER BY position LIMIT 2 OFFSET ")
	s.Arg(model.IntValue(n - 1))
	err = db.Each(r.conn, func(row model.Row) {
		more = number > 0
		if !more {
			number = row.Int(0)
		}
	}, s.String(), s.Args...)
	return number, more, r.fault(err)
}

// logOf selects from the changes of a query, without those of operations.
func (r *Reader) logOf(selected string, q Query) *db.Builder {
	s := &db.Builder{}
	s.Write(selected, " FROM ", r.log.db.PositionedLog(), " AS log")
	r.logRange(s, q)
	if q.ID == nil {
		s.Write(" AND collection IN (")
		counted := r.log.schema.Collections()
		if q.Collection != nil {
			counted = []*model.Collection{q.Collection}
		}
		s.List(len(counted), ", ", "", func(i int) { s.Arg(model.IntValue(r.log.table(counted[i]).Number)) })
		s.Write(")")
	}
	return s
}
