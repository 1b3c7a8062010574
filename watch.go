package plural

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/plural-go/plural/internal/feed"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/observe"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/params"
	"github.com/plural-go/plural/schema"
)

// EventKind is what an Event tells.
type EventKind string

// The kinds of events.
const (
	EventListed  EventKind = "listed"  // a resource of the list that the loop begins with
	EventSynced  EventKind = "synced"  // the list is complete; changes follow
	EventCreated EventKind = "created" // a resource was created
	EventUpdated EventKind = "updated" // a resource was changed
	EventDeleted EventKind = "deleted" // a resource was deleted; Resource is its last state
	EventEntered EventKind = "entered" // a resource began to match the filters, or the rule of the caller
	EventLeft    EventKind = "left"    // a resource ceased to match; only its ID is known
	EventReset   EventKind = "reset"   // the changes since the last event are unknown: forget everything, a list follows
)

// Event is a change of a list that is watched, or a part of its first state.
type Event[T any] struct {
	Kind EventKind
	ID   string // of the resource; empty: there is none

	// Resource is the resource after the change, or before it was deleted. It is zero if the event
	// has none.
	Resource T

	// Previous has the former values of the attributes that an update has changed.
	Previous map[string]json.RawMessage

	// Change is the change that the event tells of, nil if there is none.
	Change *EventChange

	// Position is where Since continues after this event. It is empty until the list is complete.
	Position string
}

// EventChange is a change in the change log.
type EventChange struct {
	ID       string    `json:"id"`
	By       string    `json:"by"` // id of the caller; empty: unknown to the caller of Watch, or the program itself
	At       time.Time `json:"at"`
	Revision int64     `json:"revision"`

	// Traceparent is the trace of the write, if that was sampled: see Tracer.Continue.
	Traceparent string `json:"traceparent"`
}

// Watch iterates over the resources of a collection, or those that filters select, and then over
// their changes, by this server or another one on the same database, as they are committed: none is
// missing, doubled or out of order. It ends with the context, when the server stops (ErrStopped),
// or with another error, such as a schema of the database that the server cannot read. It sees what
// the caller of the context may list and read.
//
// Filters and Since can be given, and no other parameters.
func (s *Server) Watch(ctx context.Context, collection string, given ...params.Param) iter.Seq2[Event[json.RawMessage], error] {
	c := s.store.Schema().Collection(collection)
	if c == nil || c.ReadOnly() {
		return func(yield func(Event[json.RawMessage], error) bool) {
			yield(Event[json.RawMessage]{}, fmt.Errorf("the server has no collection %q to watch", collection))
		}
	}
	return watch[json.RawMessage](ctx, s, c, given)
}

// Watch is Server.Watch with resources of type T.
func (c *Collection[T]) Watch(ctx context.Context, given ...params.Param) iter.Seq2[Event[T], error] {
	server, ok := c.backend.(*Server)
	if !ok {
		return func(yield func(Event[T], error) bool) {
			yield(Event[T]{}, errors.New("a collection cannot be watched in a transaction: watch that of the server"))
		}
	}
	return watch[T](ctx, server, c.collection, given)
}

func watch[T any](ctx context.Context, s *Server, c *model.Collection, given []params.Param) iter.Seq2[Event[T], error] {
	return func(yield func(Event[T], error) bool) {
		path := reads.Path{Collection: c}
		err := s.call(ctx, &path, mayList, func() error {
			if err := path.Require(schema.MayRead); err != nil {
				return err
			}
			shape, since, err := shapeOf(path, given)
			if err != nil {
				return err
			}
			return s.follow(ctx, shape, since, func(event feed.Event) error {
				told, err := eventOf[T](event)
				if err != nil {
					return err
				}
				if !yield(told, nil) {
					return errLoopEnded
				}
				return nil
			})
		})
		if err != nil && !errors.Is(err, errLoopEnded) {
			yield(Event[T]{}, err)
		}
	}
}

// shapeOf is what parameters ask to watch, and from where on.
func shapeOf(path reads.Path, given []params.Param) (shape feed.Shape, since string, err error) {
	q, err := params.Of(given...)
	if err != nil {
		return shape, "", err
	}
	if q.Sorts() || q.Limit != nil || q.Offset != nil || q.Cursor != "" || q.Shows() || q.Groups() || q.Total {
		return shape, "", errors.New("Watch takes filters and Since, and no Sort, Limit, Offset, Cursor, Include or Fields")
	}
	if q.FromNow || q.OnConnection != nil {
		return shape, "", errors.New("FromNow and OnConnection are for watches of the client: here there is no connection, and a watch begins with the list or after Since")
	}
	since, q.Since = q.Since, ""
	parsed, err := path.Parse(query.OfStream, q.Encode(), 0)
	return feed.Shape{Path: path, Filter: parsed.Filter}, since, err
}

// follow calls visit with all events, and subscribes again where the feed could not go on. A schema
// that the server cannot read ends it: then Subscribe fails.
func (s *Server) follow(ctx context.Context, shape feed.Shape, since string, visit func(feed.Event) error) error {
	for {
		visited, again, err := s.followOnce(ctx, shape, &since, visit)
		if !again {
			return err
		}
		if visited && since == "" {
			// The list was not complete. The next one is another list.
			if err := visit(feed.Event{Kind: feed.Reset}); err != nil {
				return err
			}
		}
	}
}

// followOnce calls visit with the events of one subscription. Since becomes the position after the last
// event that was visited, which is empty within a list.
func (s *Server) followOnce(ctx context.Context, shape feed.Shape, since *string, visit func(feed.Event) error) (visited, again bool, err error) {
	subscription, err := s.feed.Subscribe(ctx, shape, *since, "")
	if err == nil {
		defer subscription.Close() // also if the body of the loop panics
	}
	for err == nil {
		var events []feed.Event
		if events, err = subscription.Next(ctx); err != nil {
			break
		}
		for i := range events {
			if err = visit(events[i]); err != nil {
				break
			}
			visited, *since = true, events[i].Position
		}
	}
	var end *feed.End
	if !errors.As(err, &end) {
		return visited, false, err
	}
	switch end.Cause {
	case feed.Shutdown:
		return visited, false, ErrStopped
	case feed.Behind, feed.HistoryChanged, feed.SchemaChanged:
		return visited, true, nil
	}
	return visited, false, err
}

// eventOf reads what an event tells.
func eventOf[T any](from feed.Event) (event Event[T], err error) {
	event = Event[T]{Kind: EventKind(from.Kind), Position: from.Position}
	if from.ID == (model.ID{}) {
		return event, nil
	}
	event.ID = from.ID.String()
	if from.Kind == feed.Left {
		return event, nil
	}
	content := struct {
		Data     T                          `json:"data"`
		Previous map[string]json.RawMessage `json:"previous"`
		Change   *EventChange               `json:"change"`
	}{}
	err = json.Unmarshal(from.Data, &content)
	event.Resource, event.Previous, event.Change = content.Data, content.Previous, content.Change
	return event, err
}

// newFeed is the feed of a server.
func newFeed(s *Server, st *store.Store, o *observe.Observer) *feed.Feed {
	return feed.New(st, feed.Options{
		Streams: s.config.MaxStreams, PerUser: s.config.MaxStreamsPerCaller, QueryTimeout: max(0, s.config.QueryTimeout),
		Revoked: s.guard.CheckNotRevoked, Failed: o.FeedFailed, Tracer: s.config.innerTracer(),
		Metrics: feed.Metrics{
			Subscribed: o.StreamsChanged, Shaped: o.ShapesChanged, Delivered: o.EventsSent, Lag: o.FeedLag, KeptBytes: o.EventsKept,
			CaughtUp: o.StreamCaughtUp, Waiting: o.StreamReadsWaiting, ClosedAsSlow: o.StreamTooSlow, Reset: o.StreamReset,
		},
	})
}
