package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"net/url"
	"time"

	"github.com/plural-go/plural/internal/sse"
	"github.com/plural-go/plural/params"
)

// EventKind is the kind of an Event.
type EventKind string

// The kinds of events. A snapshot is any number of EventListed and then EventSynced. Changes follow it.
const (
	EventListed   EventKind = "listed"   // a resource of the snapshot
	EventSynced   EventKind = "synced"   // the snapshot is complete
	EventCreated  EventKind = "created"  // a resource was created
	EventUpdated  EventKind = "updated"  // a resource was changed
	EventDeleted  EventKind = "deleted"  // a resource was deleted; Resource is its last state
	EventEntered  EventKind = "entered"  // a resource was changed and matches the filter, or is visible, from now on
	EventLeft     EventKind = "left"     // a resource no longer matches the filter, or is no longer visible; Resource has id and type alone
	EventBookmark EventKind = "bookmark" // nothing but a newer Position
	EventReset    EventKind = "reset"    // all earlier events are void, and a snapshot follows
)

// Event is what Watch yields of a collection.
type Event[T any] struct {
	Kind EventKind

	// ID and Resource are zero if the event is about no resource: EventSynced, EventBookmark and EventReset.
	ID       string
	Resource T

	// Previous has the former values of the attributes that an update has changed.
	Previous map[string]json.RawMessage

	// Change is the change that the event is about. Nil in a snapshot, and of EventLeft, EventBookmark and EventReset.
	Change *EventChange

	// Position is for Since: a watch that begins there continues after this event. Empty in
	// a snapshot, which has no position until it is complete.
	Position string
}

// EventChange is a change in the change log.
type EventChange struct {
	ID       string    `json:"id"` // of the resource in the collection changes
	By       string    `json:"by"` // who made it; empty if that is unknown or not shown
	At       time.Time `json:"at"`
	Revision int64     `json:"revision"`

	// Traceparent is the trace of the write, as the header traceparent of the W3C, if that was sampled.
	Traceparent string `json:"traceparent"`
}

// Watch iterates over the resources of the collection, or over those that filters select, then returns EventSynced, and then
// every change in order. No change is returned twice or left out. See EventKind.
//
//	for event, err := range users.Watch(ctx, params.Where("active").Is(true)) {
//		…
//	}
//
// It ends when the loop is left, when the context ends, or when the server refuses it, for example with 403. Iteration ends after
// the first error. If the connection is lost, or the server stops or restarts, the client connects again and continues after the
// last event, also at another server of the same database, until the context ends. The first connection has as many attempts as
// any other request. A Timeout of Options.HTTPClient ends each connection, but not the watch.
//
// A snapshot cannot be continued: if the connection is lost within one, the next event is EventReset, and the snapshot begins
// again. Memory does not grow with the number of resources. While the loop handles an event, further events wait at the server.
func (c *Collection[T]) Watch(ctx context.Context, given ...params.Param) iter.Seq2[Event[T], error] {
	return c.watch(ctx, "", nil, given)
}

// WatchOne follows one resource as Watch does. It ends when the resource was deleted, or is no longer visible: EventDeleted or
// EventLeft is the last event.
func (c *Collection[T]) WatchOne(ctx context.Context, id string, given ...params.Param) iter.Seq2[Event[T], error] {
	return c.watch(ctx, id, checkID(id), given)
}

// watch follows the collection, or one resource of it. Invalid is the error of the id.
func (c *Collection[T]) watch(ctx context.Context, id string, invalid error, given []params.Param) iter.Seq2[Event[T], error] {
	return func(yield func(Event[T], error) bool) {
		q, err := newWatchQuery(given)
		if err = cmp.Or(invalid, c.err, err); err == nil {
			w := &watch[T]{collection: c, id: id, position: q.Since, skipping: q.FromNow, findNow: q.FromNow && id == "", onConnection: q.OnConnection, yield: yield}
			q.Since = "" // which changes with every event
			w.query = q.Encode()
			err = w.run(ctx)
		}
		endLoop(err, yield)
	}
}

// watch is a watch that is under way.
type watch[T any] struct {
	collection   *Collection[T]
	id           string // of the only resource; empty: all
	query        string
	onConnection func(error) // may be nil
	yield        func(Event[T], error) bool

	position  string        // to continue after; empty: with a snapshot
	findNow   bool          // the position of now is to be asked for
	partial   bool          // resources of a snapshot were given that is not complete
	skipping  bool          // the resources of the snapshot are not wanted
	connected bool          // it was, at least once
	lost      bool          // it has reported that there is no connection
	progress  bool          // an event has come since the last failure
	hint      time.Duration // the pause that the server asks for
}

// run connects and reads until there is an error that another connection cannot cure.
func (w *watch[T]) run(ctx context.Context) error {
	for failures := 1; ; failures++ {
		err := w.read(ctx)
		if w.progress {
			w.progress, failures = false, 1
		}
		if hasStatus(err, http.StatusGone) && w.position != "" {
			w.position = "" // the server no longer has it
			if err := w.give(Event[T]{Kind: EventReset}); err != nil {
				return err
			}
			continue
		}
		if errors.Is(err, errLeft) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		pause, again := w.pause(err, failures)
		if !again {
			if refused := (*Error)(nil); errors.As(err, &refused) {
				refused.Tries = failures
			}
			return err
		}
		if !errors.Is(err, errEnded) {
			w.report(err)
		}
		if !sleep(ctx, pause) {
			return ctx.Err()
		}
	}
}

// pause says how long to wait before another connection. The first one has as many tries as any request;
// afterwards the server is known to be there, and is tried for as long as it takes.
func (w *watch[T]) pause(err error, failures int) (time.Duration, bool) {
	client := w.collection.client
	if !w.connected {
		return client.pause(err, failures)
	}
	return client.backoff(err, w.hint, failures), isPassing(err)
}

// report reports that the connection was lost, or with nil that there is one, if that has changed.
func (w *watch[T]) report(err error) {
	if w.lost == (err != nil) {
		return
	}
	w.lost = err != nil
	if w.onConnection != nil {
		w.onConnection(err)
	}
}

// connect opens a stream.
func (w *watch[T]) connect(ctx context.Context) (*http.Response, error) {
	request := w.collection.listing(w.query, false)
	request.Header.Set("Accept", "text/event-stream")
	if w.id != "" {
		request.Path += "/" + w.id
	}
	if w.position != "" {
		request.Query = join(request.Query, "since="+url.QueryEscape(w.position))
	}
	request.complete(ctx)
	return w.collection.client.try(ctx, &request)
}

// read gives the events of one connection. It always returns an error: at least that the
// stream has ended.
func (w *watch[T]) read(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if w.findNow {
		if err := w.skipSnapshot(ctx); err != nil {
			return err
		}
	}
	answer, err := w.connect(ctx)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); kind != "text/event-stream" {
		return fmt.Errorf("the answer to GET %s is %q, and not a stream of events: does the server have them?", w.collection.path, kind)
	}
	w.connected = true
	w.report(nil)
	if w.position == "" && w.partial {
		w.partial = false
		if err := w.give(Event[T]{Kind: EventReset}); err != nil {
			return err
		}
	}
	events := sse.NewReader(newTimedReader(answer.Body, func() { cancel(errSilent) }))
	for {
		f, err := events.Next()
		w.hint = min(events.Retry, w.collection.client.options.MaxWait)
		switch {
		case err == nil:
			err = w.take(f)
		case context.Cause(ctx) == errSilent:
			err = &lostError{errSilent}
		case errors.Is(err, io.EOF):
			err = &lostError{errEnded}
		case !errors.Is(err, sse.ErrLongEvent):
			err = &lostError{err}
		}
		if err != nil {
			return err
		}
	}
}

var errEnded = errors.New("the server has ended the stream")

// take gives an event to the program. One of a kind that this client does not know only has a
// position.
func (w *watch[T]) take(f sse.Event) error {
	w.progress = true
	kind := EventKind(f.Name)
	if kind == EventReset {
		w.position = ""
	}
	if f.ID != "" {
		w.position = f.ID
	}
	event := Event[T]{Kind: kind, Position: f.ID}
	switch kind {
	case EventListed:
		if w.skipping {
			return nil
		}
		w.partial = true
	case EventSynced, EventReset:
		w.partial, w.skipping = false, false
	case EventCreated, EventUpdated, EventDeleted, EventEntered, EventLeft, EventBookmark:
	default:
		return nil
	}
	if kind != EventSynced && kind != EventReset && kind != EventBookmark {
		if err := event.decode(f.Data); err != nil {
			return fmt.Errorf("an event %q of %s: %w", kind, w.collection.name, err)
		}
	}
	if err := w.give(event); err != nil {
		return err
	}
	if w.id != "" && (kind == EventDeleted || kind == EventLeft) {
		return errLeft
	}
	return nil
}

func (w *watch[T]) give(event Event[T]) error {
	if !w.yield(event, nil) {
		return errLeft
	}
	return nil
}

// decode reads the data of an event about a resource.
func (e *Event[T]) decode(data []byte) (err error) {
	var envelope struct {
		Data     json.RawMessage
		Previous map[string]json.RawMessage
		Change   *EventChange
	}
	if err := json.Unmarshal(data, &envelope); err != nil {
		return err
	}
	if e.ID, err = idOf(envelope.Data); err != nil {
		return err
	}
	e.Previous, e.Change = envelope.Previous, envelope.Change
	return decode(envelope.Data, &e.Resource)
}

// skipSnapshot finds the position of now, which every list has. Where the query is too long for
// that, and for a single resource, the snapshot is read, and not given.
func (w *watch[T]) skipSnapshot(ctx context.Context) error {
	request := w.collection.listing(join(w.query, "limit=0"), false)
	request.complete(ctx)
	answer, err := w.collection.client.try(ctx, &request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	w.findNow = false
	if w.position = positionOf(links(answer.Header)); w.position == "" {
		return nil
	}
	w.skipping = false
	return w.give(Event[T]{Kind: EventSynced, Position: w.position})
}
