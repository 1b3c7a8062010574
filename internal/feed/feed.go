// Package feed follows the change log and sends changes to subscribers.
//
// One reader per server reads the log and matches each change with the shapes of the
// subscriptions. Each shape has a chain of events in memory, which all its subscriptions share.
// A subscription is a pointer into the chain; one that is not at its end yet, or falls behind
// what is kept, reads from the database until it is.
package feed

import (
	"cmp"
	"context"
	"math/rand/v2"
	"reflect"
	"sync"
	"time"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/limit"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/internal/tracing"
	"github.com/plural-go/plural/problem"
)

// Options says how a feed works. Zero values are replaced by defaults.
type Options struct {
	Poll    time.Duration // how often the log is looked at without a notification (100 ms)
	Kept    int64         // bytes of events that are kept in memory (64 MiB)
	Begin   time.Duration // how long a subscription may wait until its first read from the database (30 s)
	Streams int           // subscriptions at the same time (10,000)
	PerUser int           // the same of one caller (100)
	MaxAge  time.Duration // of a subscription, give or take a tenth (30 min)

	// QueryTimeout bounds the time of the database for each piece of a snapshot and of the log that
	// a subscription reads. Zero: no limit.
	QueryTimeout time.Duration

	// Revoked returns an error with the code invalid_credentials if the API key of a caller was
	// revoked. Nil: none ever is.
	Revoked func(context.Context, *auth.Permit) error

	// Failed is called with the reason why the log could not be read. It is tried again.
	Failed func(error)

	// Tracer gets the changes of sampled traces that are matched with shapes. Nil: there is none.
	Tracer tracing.Tracer

	Metrics Metrics
	Now     func() time.Time // the clock (time.Now)
}

// Metrics are called when something happens. Any function may be nil.
type Metrics struct {
	Subscribed   func(change int)                    // +1, -1
	Shaped       func(change int)                    // number of different shapes
	Delivered    func(events int, age time.Duration) // commit to sent
	Lag          func(changes int64)                 // of the reader
	KeptBytes    func(int64)
	CaughtUp     func()           // a subscriber read from the database
	Waiting      func(change int) // +1, -1: subscribers that wait until they may read from the database
	ClosedAsSlow func()
	Reset        func(reason string)
}

// withDefaults replaces zero values, and functions that are nil.
func (o Options) withDefaults() Options {
	o.Poll = cmp.Or(o.Poll, 100*time.Millisecond)
	o.Kept = cmp.Or(o.Kept, 64<<20)
	o.Begin = cmp.Or(o.Begin, 30*time.Second)
	o.Streams = cmp.Or(o.Streams, 10_000)
	o.PerUser = cmp.Or(o.PerUser, 100)
	o.MaxAge = cmp.Or(o.MaxAge, 30*time.Minute)
	if o.Failed == nil {
		o.Failed = func(error) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Revoked == nil {
		o.Revoked = func(context.Context, *auth.Permit) error { return nil }
	}
	o.Metrics = o.Metrics.withDefaults()
	return o
}

// withDefaults replaces functions that are nil by functions that do nothing.
func (m Metrics) withDefaults() Metrics {
	functions := reflect.ValueOf(&m).Elem()
	for i := range functions.NumField() {
		if f := functions.Field(i); f.IsNil() {
			f.Set(reflect.MakeFunc(f.Type(), func([]reflect.Value) []reflect.Value { return nil }))
		}
	}
	return m
}

// Shape is what a subscriber sees: subscriptions of the same shape share their events.
type Shape struct {
	Schema *model.Schema // of the version that asks; nil: the newest
	Path   reads.Path    // collection, parent and permit of the caller; no collection: the change log itself
	ID     *model.ID     // of one resource; nil: all
	Filter query.Filter  // of the request, on the collection or on Schema.Changes; nil: none

	// Fields is the columns that are shown, among those that the caller may see. Nil: all of these.
	Fields model.ColumnSet
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

// Event is what is sent to a subscriber.
type Event struct {
	Kind     EventKind
	ID       model.ID // of the resource; zero if there is none
	Position string   // to resume after the event; empty in a snapshot
	Data     []byte   // JSON of one line

	// The change of the log that the event tells of, and the effect of the change on a stream, which may have no event to send.
	number, revision int64
	transaction      uint64
	effect           effect
	why              resetReason // of beginsAgain
}

// of is the event as that of a change.
func (e Event) of(entry *changelog.Entry) Event {
	e.number, e.revision, e.transaction = entry.Number, entry.Revision, entry.Transaction
	return e
}

// nothing is the data of an event that has none.
var nothing = []byte("{}")

// Feed follows the change log.
type Feed struct {
	store     *store.Store
	resources *reads.Reader
	options   Options
	signer    signer
	gates     *gates
	words     *wordSets
	changed   chan struct{} // changes were committed
	urgent    chan struct{} // somebody waits for changes now

	mutex         sync.Mutex // of all that follows
	subscriptions map[*Subscription]bool
	callers       map[string]int                        // number of subscriptions
	chains        map[string]*chain                     // by the canonical text of their shape
	following     map[*model.Collection]map[*chain]bool // by the collection as it is stored
	attached      int                                   // subscriptions that read the chain of their shape
	stopped       bool

	lastNumber int64    // of the log, as far as known
	history    model.ID // of the last batch
	mixed      bool     // some subscriptions follow with another one, which may be newer
	readTo     int64    // the reader reads, or has read, the log up to this number
	chainedTo  int64    // the events of the changes up to this number are in the chains

	kept      []*batch // that may have events, the oldest first
	emptied   int      // how many of them have none
	keptBytes int64
}

// New returns a feed of a store. It works from Run on.
func New(s *store.Store, o Options) *Feed {
	o = o.withDefaults()
	pageReads, longReads := s.MostReads()
	return &Feed{
		store: s, resources: reads.New(s), options: o, gates: newGates(pageReads, longReads), signer: newSigner(s.Secret()), words: newWordSets(),
		changed: make(chan struct{}, 1), urgent: make(chan struct{}, 1),
		subscriptions: map[*Subscription]bool{}, callers: map[string]int{}, chains: map[string]*chain{}, following: map[*model.Collection]map[*chain]bool{},
	}
}

// register counts a subscription, and finds or makes its shape.
func (f *Feed) register(ctx context.Context, v *view, key, quotaKey string) (*Subscription, error) {
	now := f.options.Now()
	s := &Subscription{feed: f, quotaKey: quotaKey, version: f.store.SchemaVersion()}
	s.life, s.endLife = context.WithCancelCause(context.Background())
	s.ctx = limit.WithReader(tracing.Quiet(f.options.Tracer, ctx), s.reader("")) // its gates are the quota of what it reads; a list counts as those of GET do
	if quotaKey != "" {
		s.deadline = now.Add(f.options.MaxAge*9/10 + rand.N(f.options.MaxAge/5+1)) // #nosec G404 -- no secret
	}
	if by := v.Path.By; by != nil && !by.Caller.Expires.IsZero() && (s.deadline.IsZero() || by.Caller.Expires.Before(s.deadline)) {
		s.deadline, s.expires = by.Caller.Expires, true
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	switch {
	case f.stopped:
		return nil, &End{Cause: Shutdown}
	case quotaKey != "" && len(f.subscriptions) >= f.options.Streams:
		return nil, fault.New(problem.CodeTooManyRequests, "%d streams and long polls are open, which is the limit of this server. Try again later.", f.options.Streams)
	case quotaKey != "" && f.callers[quotaKey] >= f.options.PerUser:
		return nil, fault.New(problem.CodeTooManyRequests, "You have %d open streams and long polls, which is the limit for one caller. Close one of them first.", f.options.PerUser)
	}
	s.chain = f.chains[key]
	if s.chain == nil {
		s.chain = &chain{view: v, key: key, quotaKey: quotaKey, tail: &batch{appended: make(chan struct{})}}
		f.chains[key] = s.chain
		f.options.Metrics.Shaped(1)
	}
	s.view = s.chain.view
	s.chain.subscriptions++
	s.by = v.Path.By
	f.subscriptions[s] = true
	f.callers[quotaKey]++
	f.options.Metrics.Subscribed(1)
	return s, nil
}

// unregister is the reverse of register.
func (f *Feed) unregister(s *Subscription) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if !f.subscriptions[s] {
		return
	}
	f.detach(s)
	delete(f.subscriptions, s)
	f.callers[s.quotaKey]--
	if f.callers[s.quotaKey] == 0 {
		delete(f.callers, s.quotaKey)
	}
	s.chain.subscriptions--
	if s.chain.subscriptions == 0 {
		delete(f.chains, s.chain.key)
		f.options.Metrics.Shaped(-1)
	}
	f.options.Metrics.Subscribed(-1)
}

// Link is the position of a list in the log, for a client that subscribes to what it has
// listed: shape is that of the list, and point and history those of its snapshot.
func (f *Feed) Link(shape Shape, history model.ID, point changelog.Point) string {
	return f.signer.text(position{history: tailOf(history), fingerprint: fingerprintOf(f.canonical(&shape)), point: point})
}
