package store

import (
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

// Floor is the position up to which the log was removed, with the time of the last change that
// was; zero and empty: nothing was removed.
func (t *Tx) Floor() (position int64, at string, err error) { panic("to be written") }

// History identifies the history that positions, revisions and ETags belong to, as the snapshot
// sees it.
func (t *Tx) History() (model.ID, error) { panic("to be written") }
