package store

import (
	"context"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// ChangeKind is what happened to a resource.
type ChangeKind string

// The kinds of changes.
const (
	Created ChangeKind = "created"
	Updated ChangeKind = "updated"
	Deleted ChangeKind = "deleted"
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

	// Transaction is for Point.Has.
	Transaction uint64
}

// Point is where a snapshot stands in the change log.
type Point struct {
	Number int64       // last position that the snapshot sees
	Seen   db.Snapshot // transactions that it sees although their changes may have no position yet
}

// Has reports whether the snapshot saw a change.
func (p Point) Has(e *LogEntry) bool {
	return e.Position <= p.Number || p.Seen.Has(e.Transaction)
}

// LogQuery asks for changes. Positions are exclusive; zero is no bound.
type LogQuery struct {
	After, Before int64
	Backwards     bool              // the last ones first
	Collection    *model.Collection // nil: all
	ID            *model.ID         // only with Collection; nil: all
	Most          int               // at least 1
}

// Log reads changes in the order of the log, with the states before and after each. Changes of
// collections that the schema no longer has are left out, but count: last is the position of
// the last change that was looked at, and more reports whether there are others behind it.
func (t *Tx) Log(q LogQuery) (entries []LogEntry, last int64, more bool, err error) {
	panic("to be written")
}

// CountLog counts changes in the log.
func (t *Tx) CountLog(q LogQuery) (int64, error) { panic("to be written") }

// Point is where the snapshot stands.
func (t *Tx) Point() (Point, error) { panic("to be written") }

// Floor is the position up to which the log was removed, with the time of the last change that
// was; zero and empty: nothing was removed.
func (t *Tx) Floor() (position int64, at string, err error) { panic("to be written") }

// History identifies the history that positions, revisions and ETags belong to, as the snapshot
// sees it.
func (t *Tx) History() (model.ID, error) { panic("to be written") }

// Sequence gives a position to every change that is committed and has none yet, and returns the
// last position of the log. Any number of servers may call it.
func (s *Store) Sequence(ctx context.Context) (last int64, err error) { panic("to be written") }

// Notify calls changed, on any goroutine, soon after changes were committed by this server or
// another one, until the context ends. Calls are coalesced, and one may be missing when a
// connection is lost: callers poll as well.
func (s *Store) Notify(ctx context.Context, changed func()) error { panic("to be written") }
