package feed

import (
	"context"
	"errors"
	"time"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/problem"
)

// Subscription is a stream of events of one subscriber, used by one goroutine.
type Subscription struct {
	feed     *Feed
	ctx      context.Context // of the stream: reads from the database end with it
	chain    *chain
	view     *view // of the chain
	by       *auth.Permit
	quotaKey string
	version  int64     // of the schema
	deadline time.Time // zero: none
	expires  bool      // the deadline is that of the credentials

	life    context.Context // ends when the stream must end, with an *End as its cause
	endLife context.CancelCauseFunc

	history  model.ID        // of its positions; only changes while at is nil
	snapshot *snapshot       // being sent; nil: none
	point    changelog.Point // up to which everything was sent
	complete int64           // all changes that the point has without their numbers have one up to here
	until    int64           // up to which a subscription must read from the database
	at       *batch          // read last; nil: the subscription does not follow the chain; guarded by the mutex

	holdsPart     bool      // a place in gates.parts
	entered       time.Time // when it got that
	holdsSnapshot bool      // a place in gates.snapshots

	inPart  int       // changes in the last part of the log that was read; zero: none
	pending []Event   // that are returned before anything else
	finish  error     // after the pending events; nil: the stream goes on
	sent    int       // events returned by the last call of Next
	oldest  time.Time // of their changes
}

// Subscribe begins a stream after a position, or with a snapshot if that is empty. A position of
// another database, history or shape, or one that the log no longer has, begins with a reset and a
// snapshot. Reads from the database use the context, which must last for as long as the
// stream. QuotaKey identifies the quota; empty: the program itself, which has none, and whose
// streams do not grow old. A subscription that does not get its turn to read from the database soon
// is refused.
func (f *Feed) Subscribe(ctx context.Context, shape Shape, since, quotaKey string) (*Subscription, error) {
	var from position
	var why resetReason
	if since != "" {
		var err error
		from, err = f.signer.parse(since)
		switch {
		case errors.Is(err, errSignature): // EventSource would give up after an error
			why = otherSecret
		case err != nil:
			return nil, err
		}
	}
	canonical := f.canonical(&shape)
	s, err := f.register(ctx, f.newView(shape, canonical), string(canonical), quotaKey)
	if err != nil {
		return nil, err
	}
	begin, cancel := context.WithTimeoutCause(ctx, f.options.Begin, errTooLate)
	defer cancel()
	if since == "" || why != "" {
		err = s.begin(begin, why)
	} else {
		err = s.resume(begin, from)
	}
	if err == nil && shape.Path.Collection == nil && s.Progress() == CatchingUp {
		// A part of the log that cannot be read is an error that the client is told, not a stream that breaks off.
		if err = s.catchUp(); err == nil && len(s.pending) == 0 {
			err = s.finish
		}
	}
	if err != nil {
		s.Close()
		if errors.Is(err, errTooLate) || context.Cause(begin) == errTooLate && errors.Is(err, context.DeadlineExceeded) {
			err = fault.New(problem.CodeOverloaded, "Many streams are beginning, and this one has waited %s for its turn. Try again later.", f.options.Begin)
		}
		return nil, err
	}
	return s, nil
}

var errTooLate = errors.New("the stream did not get its turn in time")

// resume continues from a position, or begins again if that is not possible.
func (s *Subscription) resume(ctx context.Context, p position) error {
	var why resetReason
	var missing error
	err := s.inTurn(ctx, toCheck, func() (err error) {
		why, err = s.verify(p)
		if fault.Is(err, problem.CodeNotFound) {
			missing = err
			_, err = s.feed.store.AssignNumbers(s.ctx) // its deletion may have no number yet
		}
		if err != nil || why != "" {
			return err
		}
		return s.continueAfter(p.point)
	})
	switch {
	case err != nil:
		return err
	case why != "":
		return s.begin(ctx, why)
	case missing != nil:
		return s.readFirst(ctx, missing)
	}
	return nil
}

// verify compares a position with the log, and makes sure that what the stream is about exists. The
// result is why the stream must begin again; empty: it can go on.
func (s *Subscription) verify(p position) (why resetReason, err error) {
	tx, err := s.feed.store.Read(s.ctx)
	if err != nil {
		return "", err
	}
	defer tx.Close()
	now, err := tx.Bounds()
	if err != nil {
		return "", err
	}
	s.history = now.History
	if why := p.whyReset(now, s.view.fingerprint); why != "" {
		return why, nil
	}
	if err := s.view.Path.RequireParent(reads.Stored(tx)); err != nil || s.view.ID == nil {
		return "", err
	}
	found, err := tx.View(s.view.collection, s.view.scope, *s.view.ID, nil)
	if err == nil && !found {
		err = reads.NotFound(s.view.collection, *s.view.ID)
	}
	return "", err
}

// readFirst reads the first events of a stream whose parent or one resource is missing. If there are
// none, it returns that error: a client that got an empty stream would connect again and again.
func (s *Subscription) readFirst(ctx context.Context, missing error) error {
	for len(s.pending) == 0 {
		switch {
		case s.finish != nil || s.Progress() == Following:
			return missing
		case ctx.Err() != nil:
			return nil // the log is long: bookmarks say how far it was read
		}
		if err := s.step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// continueAfter sends the changes after a point.
func (s *Subscription) continueAfter(point changelog.Point) error {
	complete := int64(0)
	if point.MaySeeUnnumbered() {
		// From here on every transaction that the point has seen has its numbers.
		var err error
		if complete, err = s.feed.store.AssignNumbers(s.ctx); err != nil {
			return err // nothing has changed: it can be tried again
		}
	}
	s.point, s.complete = point, complete
	s.markSent(point.Number)
	return nil
}

// markSent notes that everything up to a number was sent.
func (s *Subscription) markSent(number int64) {
	s.point.Number = max(s.point.Number, number)
	if s.point.Number >= s.complete {
		s.point.Revision, s.point.Seen = 0, db.Snapshot{}
	}
}

func (s *Subscription) position() string {
	return s.feed.signer.text(position{history: tailOf(s.history), fingerprint: s.view.fingerprint, point: s.point})
}

// Next returns the next events, at least one, or an error when the stream ends: an *End, or why
// it failed. It waits for as long as the context allows; nothing is lost when that ends. Events
// must not be modified. The call reports the events of the one before as sent.
func (s *Subscription) Next(ctx context.Context) ([]Event, error) {
	if s.sent > 0 {
		age := max(0, s.feed.options.Now().Sub(s.oldest))
		if s.oldest.IsZero() {
			age = 0
		}
		s.feed.options.Metrics.Delivered(s.sent, age)
		s.sent = 0
	}
	s.nextPart()
	for {
		if s.life.Err() != nil {
			return nil, context.Cause(s.life)
		}
		if len(s.pending) > 0 {
			events := s.pending
			s.pending = nil
			if !s.oldest.IsZero() {
				s.sent = len(events)
			}
			return events, nil
		}
		if s.finish != nil {
			return nil, s.finish
		}
		if err := s.step(ctx); err != nil {
			return nil, err
		}
		if len(s.pending) == 0 && s.finish == nil && ctx.Err() != nil {
			return nil, ctx.Err() // a long log may have nothing for the subscriber
		}
	}
}

// step reads more events, if there are any.
func (s *Subscription) step(ctx context.Context) error {
	s.oldest = time.Time{}
	switch s.Progress() {
	case Listing:
		err := s.readSnapshot(ctx)
		if fault.Is(err, problem.CodeNotFound) {
			// It existed when the stream began: Subscribe has refused it otherwise.
			s.finish, err = &End{Cause: Gone}, nil
		}
		return err
	case CatchingUp:
		return s.inTurn(ctx, toSend, s.catchUp)
	default:
		return s.follow(ctx)
	}
}

// follow takes the next batch of the chain, and waits for it.
func (s *Subscription) follow(ctx context.Context) error {
	f := s.feed
	f.mutex.Lock()
	next := s.at.next
	if next == nil {
		s.markSent(f.chainedTo)
		appended := s.at.appended
		f.mutex.Unlock()
		select {
		case <-appended:
			return nil
		case <-s.life.Done():
			return context.Cause(s.life)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if next.emptied {
		s.markSent(next.from)
		f.detach(s)
		f.mutex.Unlock()
		return nil
	}
	s.at = next
	events := next.events
	f.markRead(next)
	f.mutex.Unlock()
	if next.plain && events[0].number > s.point.Number && !s.point.MaySeeUnnumbered() {
		s.pending = events // shared by all subscriptions
		s.markSent(next.to)
	} else {
		s.deliver(events, next.to)
	}
	s.oldest = next.oldest
	return nil
}

// deliver makes events pending, except those that the subscriber has seen. They are all that the log has for the subscriber up to
// last. If the stream ends or begins again at one of them, those after it do not count as sent.
func (s *Subscription) deliver(events []Event, last int64) {
	for _, each := range events {
		if s.point.Has(&changelog.Entry{Number: each.number, Revision: each.revision, Transaction: each.transaction}) {
			continue
		}
		switch {
		case each.effect == unreadable && s.view.collection == nil:
			s.finish = errUnreadable(model.ChangeID(s.history, each.number), nil) // whoever read it has logged why
			return
		case each.effect == unreadable:
			s.beginAgain(damagedLog)
			return
		case each.effect == beginsAgain:
			s.beginAgain(each.why)
			return
		}
		s.markSent(each.number)
		if s.point.MaySeeUnnumbered() {
			each.Position = s.position()
		}
		s.pending = append(s.pending, each)
		switch each.effect {
		case endsDeleted:
			s.finish = &End{Cause: ResourceDeleted}
			return
		case endsLeft:
			s.finish = &End{Cause: ResourceLeft}
			return
		}
	}
	s.markSent(last)
}

// beginAgain makes the stream begin again with a snapshot, after the pending events.
func (s *Subscription) beginAgain(why resetReason) {
	s.feed.mutex.Lock()
	s.feed.detach(s)
	s.feed.mutex.Unlock()
	s.snapshot = &snapshot{why: why}
}

// catchUp reads changes from the database. When there are no more, the subscription follows the
// chain.
func (s *Subscription) catchUp() error {
	events, oldest, last, more, err := s.readLog()
	if err != nil || s.snapshot != nil {
		return err
	}
	s.oldest = oldest
	s.deliver(events, last)
	if s.snapshot == nil && s.finish == nil && !more && s.at == nil {
		s.until = s.feed.attach(s)
	}
	return nil
}

// readLog reads the next part of the log, and what the subscriber is told of it. If that is gone, the
// stream begins again.
func (s *Subscription) readLog() (events []Event, oldest time.Time, last int64, more bool, err error) {
	tx, err := s.feed.store.Read(s.ctx)
	if err != nil {
		return nil, oldest, 0, false, err
	}
	defer tx.Close()
	s.feed.options.Metrics.CaughtUp()
	now, err := tx.Bounds()
	if err != nil {
		return nil, oldest, 0, false, err
	}
	p := position{history: tailOf(s.history), fingerprint: s.view.fingerprint, point: s.point}
	if why := p.whyReset(now, s.view.fingerprint); why != "" {
		s.beginAgain(why)
		return nil, oldest, 0, false, nil
	}
	q := changelog.Query{After: s.point.Number, Collection: s.view.narrow.collection, ID: s.view.narrow.id, Most: mostEntries, Bytes: partBytes, Expected: s.inPart}
	entries, last, more, err := tx.Log(q)
	if err != nil {
		return nil, oldest, 0, false, err
	}
	s.feed.report(entries)
	s.inPart = len(entries)
	if len(entries) > 0 {
		oldest = timeOf(entries[0].At)
	}
	states := tx.States()
	for i := range entries {
		if events, err = s.feed.matchOrUnreadable(s.view, events, s.history, &entries[i], states, 0); err != nil {
			return nil, oldest, 0, false, err
		}
	}
	if !more { // the rest of the log is about other resources, or its last numbers have no change
		last = max(last, now.Number)
	}
	return events, oldest, last, more, nil
}

// Progress is what the stream is doing.
type Progress int

// The stages of a stream.
const (
	Listing    Progress = iota // the snapshot, which has no positions
	CatchingUp                 // with what the log has already
	Following                  // what is being written
)

// Progress is what the stream is doing.
func (s *Subscription) Progress() Progress {
	switch {
	case s.snapshot != nil:
		return Listing
	case s.at == nil || s.point.Number < s.until:
		return CatchingUp
	}
	return Following
}

// Bookmark is an event with the position after all events that Next has returned. There is none within a
// list, and while events wait for Next.
func (s *Subscription) Bookmark() (event Event, ok bool) {
	if s.Progress() == Listing || len(s.pending) > 0 {
		return Event{}, false
	}
	if s.Progress() == Following && s.finish == nil {
		s.feed.mutex.Lock()
		if s.at.next == nil {
			s.markSent(s.feed.chainedTo)
		}
		s.feed.mutex.Unlock()
	}
	return Event{Kind: Bookmark, Position: s.position(), Data: nothing}, true
}

// Slow counts the stream as one that its subscriber receives too slowly. Close must follow.
func (s *Subscription) Slow() { s.feed.options.Metrics.ClosedAsSlow() }

// Close ends the subscription.
func (s *Subscription) Close() {
	if s.snapshot != nil {
		s.snapshot.close()
	}
	s.pending = nil
	s.release()
	s.feed.unregister(s)
}
