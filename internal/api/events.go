package api

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/plural-go/plural/internal/bodies"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/feed"
	"github.com/plural-go/plural/internal/observe"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/problem"
)

const (
	bookmarkAfter  = 4           // heartbeats without an event, at the latest
	bookmarkWithin = time.Minute // of the last event
)

// heartbeats is how often a stream without events sends something, and every how many times that is a
// bookmark.
func heartbeats(every time.Duration) (_ time.Duration, bookmark int) {
	every = min(every, bookmarkWithin)
	return every, min(bookmarkAfter, int(bookmarkWithin/every))
}

var errStopping error = fault.New(problem.CodeUnavailable, "The server is shutting down. Try again later.")

// isStreamable reports whether the target has an event stream.
func (a *API) isStreamable(r *http.Request, t *target) bool {
	switch {
	case !isRead(r.Method) || t.path.Collection == nil || t.kind == groupsPath:
		return false
	case a.isLog(t):
		return t.isCollection()
	}
	return !t.path.Collection.ReadOnly()
}

// stream replies with a stream of events.
func (a *API) stream(r *http.Request, out *response, t *target) (*reply, error) {
	if err := bodies.Check(r); err != nil {
		return nil, err
	}
	shape, since, err := a.shapeOf(r, t)
	if err != nil {
		return nil, err
	}
	// A client that connects again sends the same URL, and its last event.
	source := "since"
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		since, source = last, "Last-Event-ID"
	}
	a.leave(out)                                                                    // streams have limits of their own, also while they wait for their turn
	_ = http.NewResponseController(out.ResponseWriter).SetReadDeadline(time.Time{}) // of the request, which was read; not every ResponseWriter has one
	ctx, cancel := a.untilStop(observe.WithRequest(clientOf(r.Context()), out.origin()))
	subscription, err := a.Feed.Subscribe(ctx, shape, since, out.context.reader.Key)
	if err != nil {
		cancel()
		return nil, subscribeError(source, err)
	}
	out.route = "stream " + t.pattern
	head := header("Content-Type", streamType)
	head.Set("Cache-Control", "no-store")
	head.Set("X-Accel-Buffering", "no") // nginx forwards every event at once
	if t.isCollection() {
		t.addAcceptQuery(head)
	}
	if t.kind == singularPath {
		head.Set("Content-Location", a.resourceAddress(t.path.Collection, t.id))
	}
	return &reply{status: http.StatusOK, header: head, events: &eventStream{api: a, ctx: ctx, cancel: cancel, subscription: subscription}}, nil
}

// shapeOf is what a stream is about, and the position that the query string has.
func (a *API) shapeOf(r *http.Request, t *target) (shape feed.Shape, since string, err error) {
	switch {
	case a.isLog(t):
		q, err := query.Parse(query.OfStream, a.Schema.Changes(), r.URL.RawQuery, a.logLimits(t))
		if err == nil && t.history {
			_, err = a.Feed.Changes(r.Context(), a.logRequest(t, query.Query{})) // 404 as of the list
		}
		return a.Feed.LogShape(a.logRequest(t, q)), q.Since, err
	case t.isCollection():
		q, err := query.Parse(query.OfStream, t.path.Collection, r.URL.RawQuery, a.queryLimits(t))
		return feed.Shape{Schema: a.Schema, Path: t.path, Filter: q.Filter, Fields: q.Visible}, q.Since, err
	}
	q, err := query.ParseStreamOfOne(t.path.Collection, r.URL.RawQuery, a.queryLimits(t))
	return feed.Shape{Schema: a.Schema, Path: t.path, ID: &t.id, Fields: q.Visible}, q.Since, err
}

// subscribeError says where a position was given, and that a stopping server is no place for a
// stream.
func subscribeError(source string, err error) error {
	if ended := (*feed.End)(nil); errors.As(err, &ended) {
		return errStopping
	}
	if !fault.Is(err, problem.CodeInvalidParameter) {
		return err
	}
	detail := fault.From(err)[0].Detail
	if source == "since" {
		return fault.Parameter(source, problem.CodeInvalidParameter, "%s", detail)
	}
	return fault.Header(source, problem.CodeInvalidParameter, "%s", detail)
}

// eventStream writes events as they happen, in the format of EventSource (the HTML standard).
type eventStream struct {
	api          *API
	ctx          context.Context // ends with the request, and when the server stops
	cancel       context.CancelFunc
	subscription *feed.Subscription
	controller   *http.ResponseController

	listing time.Time // when the list began to be sent; zero: none is being sent
	listed  int64     // bytes of it
}

// send writes the stream until it ends. An error aborts the response.
func (s *eventStream) send(out *response, r *http.Request) error {
	defer s.cancel()
	defer s.subscription.Close()
	if r.Method == http.MethodHead {
		out.WriteHeader(http.StatusOK)
		return nil
	}
	s.controller = http.NewResponseController(out.ResponseWriter)
	out.WriteHeader(http.StatusOK)
	if err := s.flush(); err != nil {
		return err
	}
	err := s.sendEvents(out)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded): // which ends the context as well
		s.subscription.Slow()
		return tooSlow(err)
	case r.Context().Err() != nil:
		return nil // the client has closed the stream
	}
	return err
}

// sendEvents writes events until the stream ends, which is no error, or fails.
func (s *eventStream) sendEvents(out *response) error {
	every, bookmark := heartbeats(s.api.StreamHeartbeat)
	quiet := 0 // heartbeats since the last event
	for {
		events, waited, err := s.next(every)
		ended := (*feed.End)(nil)
		switch {
		case err == nil:
			quiet = 0
			err = s.write(out, events...)
		case errors.As(err, &ended), context.Cause(s.ctx) == errStopping:
			return s.writePiece(out, []byte("retry: "+retryHint()+"\n\n"))
		case waited && s.ctx.Err() == nil:
			quiet++
			// A client that catches up does not begin from the start if it has to connect again.
			if event, ok := s.subscription.Bookmark(); ok && (s.subscription.Progress() == feed.CatchingUp || quiet%bookmark == 0) {
				err = s.write(out, event)
			} else {
				err = s.writePiece(out, []byte(":\n\n"))
			}
		}
		if err != nil {
			return err
		}
	}
}

// next waits for events, no longer than a time until the next heartbeat. Waited means that the time for
// that has come: an error of the database may look like the end of a context, but is none.
func (s *eventStream) next(wait time.Duration) (events []feed.Event, waited bool, err error) {
	ctx, cancel := context.WithTimeout(s.ctx, wait)
	defer cancel()
	events, err = s.subscription.Next(ctx)
	return events, ctx.Err() != nil && errors.Is(err, ctx.Err()), err
}

// retryHint is after how many milliseconds a client should connect again. The clients of a
// server that stops do not come all at once.
func retryHint() string { return strconv.Itoa(500 + rand.IntN(2500)) } // #nosec G404 -- no secret

// write sends events. The client has a time for all of them that depends on their size: what was read
// from the database for it must not be kept for long.
func (s *eventStream) write(out *response, events ...feed.Event) error {
	out.whole = s.deadline(out.timeout, events)
	defer func() { out.whole = time.Time{} }()
	buffer := *buffers.Get().(*[]byte)
	defer func() {
		if cap(buffer) <= 4*pieceSize {
			buffers.Put(&buffer)
		}
	}()
	buffer = buffer[:0]
	for i := range events {
		buffer = appendHead(buffer, &events[i])
		data := events[i].Data
		if len(data) >= pieceSize { // no copy of what is large
			for _, piece := range [][]byte{buffer, data} {
				if _, err := out.Write(piece); err != nil {
					return err
				}
			}
			buffer, data = buffer[:0], nil
		}
		buffer = append(append(buffer, data...), "\n\n"...)
		if len(buffer) >= pieceSize && i+1 < len(events) {
			if err := s.writePiece(out, buffer); err != nil {
				return err
			}
			buffer = buffer[:0]
		}
	}
	return s.writePiece(out, buffer)
}

// deadline is when a client must have received events, zero if each write has its own deadline. A
// list keeps a snapshot open, so that the client must be fast enough from its beginning on.
func (s *eventStream) deadline(timeout time.Duration, events []feed.Event) time.Time {
	if s.api.MinThroughput <= 0 {
		return time.Time{}
	}
	bytes := int64(0)
	for i := range events {
		bytes += int64(len(events[i].Data))
	}
	start := time.Now()
	if s.subscription.Progress() == feed.Listing {
		if s.listing.IsZero() {
			s.listing, s.listed = start, 0
		}
		s.listed += bytes
		start, bytes = s.listing, s.listed
	} else {
		s.listing = time.Time{}
	}
	return start.Add(timeout + time.Duration(float64(bytes)/float64(s.api.MinThroughput)*float64(time.Second)))
}

// appendHead appends what comes before the data of an event.
func appendHead(dst []byte, event *feed.Event) []byte {
	dst = append(append(dst, "event: "...), event.Kind...)
	if event.Position != "" {
		dst = append(append(dst, "\nid: "...), event.Position...)
	}
	return append(dst, "\ndata: "...)
}

// writePiece writes and sends a piece.
func (s *eventStream) writePiece(out *response, piece []byte) error {
	out.extend()
	if _, err := out.Write(piece); err != nil {
		return err
	}
	return s.flush()
}

// flush sends what was written, and removes the deadline: it would end an HTTP/2 stream also
// when nothing is being written.
func (s *eventStream) flush() error {
	if err := s.controller.Flush(); err != nil {
		return err
	}
	_ = s.controller.SetWriteDeadline(time.Time{}) // not every ResponseWriter has one
	return nil
}
