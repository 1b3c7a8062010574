// Package feed follows the change log and sends changes to subscribers.
//
// One reader per server reads the log and appends batches to a chain in memory. A subscription
// is a pointer into the chain; one that falls behind what is kept reads from the database until
// it is back.
package feed

import (
	"context"
	"time"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/internal/store"
)

// Options says how a feed works. Zero values are replaced by defaults.
type Options struct {
	Poll    time.Duration // how often the log is looked at without a notification (100 ms)
	Kept    int64         // bytes of the chain that are kept in memory (64 MiB)
	Streams int           // subscriptions at the same time (10,000)
	PerUser int           // the same of one caller (100)
	Metrics Metrics
}

// Metrics is told what happens. Any function may be nil.
type Metrics struct {
	Subscribed   func(change int)                    // +1, -1
	Shaped       func(change int)                    // number of different shapes
	Delivered    func(events int, age time.Duration) // commit to sent
	Lag          func(changes int64)                 // of the reader
	KeptBytes    func(int64)
	CaughtUp     func() // a subscriber read from the database
	ClosedAsSlow func()
	Reset        func(cause string)
}

// Shape is what a subscriber sees: subscriptions of the same shape share their events.
type Shape struct {
	Path   resource.Path // collection, parent and permit of the caller; no collection: the change log itself
	ID     *model.ID     // of one resource; nil: all
	Filter query.Filter  // of the request, on the collection or on LogCollection; nil: none
}

// EventKind is the name of an event.
type EventKind string

// The kinds of events.
const (
	Listed   EventKind = "listed"
	Synced   EventKind = "synced"
	Created  EventKind = "created"
	Updated  EventKind = "updated"
	Deleted  EventKind = "deleted"
	Entered  EventKind = "entered"
	Left     EventKind = "left"
	Bookmark EventKind = "bookmark"
	Reset    EventKind = "reset"
)

// Event is something that a subscriber is told.
type Event struct {
	Kind     EventKind
	ID       model.ID // of the resource; zero if there is none
	Position string   // to resume behind the event; empty in a snapshot
	Data     []byte   // JSON of one line
}

// Feed follows the change log.
type Feed struct{}

// New returns a feed of a store. It works from Run on.
func New(s *store.Store, o Options) *Feed { panic("to be written") }

// Run reads the log until the context ends; then all subscriptions end.
func (f *Feed) Run(ctx context.Context) { panic("to be written") }

// Subscription is a stream of events of one subscriber, used by one goroutine.
type Subscription struct{}

// Subscribe begins a stream at a position, or with a snapshot if that is empty. A position of
// another history or shape, or one that the log no longer has, begins with a reset and a
// snapshot. Caller identifies the quota.
func (f *Feed) Subscribe(ctx context.Context, shape Shape, position, caller string) (*Subscription, error) {
	panic("to be written")
}

// Next returns the next events, at least one, or an error when the stream ends. It waits for as
// long as the context allows. Events must not be modified.
func (s *Subscription) Next(ctx context.Context) ([]Event, error) { panic("to be written") }

// Bookmark is an event with the current position of the stream.
func (s *Subscription) Bookmark() Event { panic("to be written") }

// Close ends the subscription.
func (s *Subscription) Close() { panic("to be written") }

// Link is the position of a list in the log, for a client that subscribes to what it has
// listed: shape is that of the list, and point and history those of its snapshot.
func Link(shape Shape, history model.ID, point store.Point) string { panic("to be written") }

// Wait waits until the log has a change after a position, or the context ends. It reports
// whether there is one.
func (f *Feed) Wait(ctx context.Context, after int64) bool { panic("to be written") }

// AppendChange appends the resource of type changes that tells a caller of a change. False means
// that the caller is told nothing: they see neither the state before nor the one after, or no
// difference.
func AppendChange(dst []byte, history model.ID, by *auth.Permit, e *store.LogEntry) ([]byte, bool) {
	panic("to be written")
}
