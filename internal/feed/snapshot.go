package feed

import (
	"context"
	"math"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/limit"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
)

// snapshot is the list that a stream begins with, while it is sent.
type snapshot struct {
	why     resetReason // the stream begins again; empty: it just begins
	opened  bool
	listing *reads.List
	timer   *limit.QueryTimer
	point   changelog.Point
	rows    int
	read    bool // all of it was read

	log *Changes // that is listed; nil: the list is of a collection
}

func (n *snapshot) close() {
	if n.listing != nil {
		n.listing.Close()
		n.listing = nil
		n.timer.End()
	}
}

const (
	pieceBytes = 32 << 10 // of events that are returned together
	pieceRows  = 500
)

// begin begins the stream with a snapshot, and reads its first piece. Why is the reason of a reset;
// empty: there is none.
func (s *Subscription) begin(ctx context.Context, why resetReason) error {
	s.snapshot = &snapshot{why: why}
	return s.readSnapshot(ctx)
}

// readSnapshot reads the next piece of the snapshot, and waits for the turn to do so if no list is
// open.
func (s *Subscription) readSnapshot(ctx context.Context) error {
	n := s.snapshot
	if n.opened && (n.read || n.listing != nil) {
		return s.readPiece()
	}
	purpose := toList
	if s.view.collection == nil {
		purpose = toSend // the log needs no transaction for all of it
	}
	err := s.inTurn(ctx, purpose, func() error {
		if !n.opened {
			if err := s.openSnapshot(); err != nil {
				return err
			}
		}
		return s.readPiece()
	})
	if err == nil && n.listing != nil {
		err = n.listing.Extend() // for as long as the subscriber takes
	}
	return err
}

// readPiece reads the next piece of a snapshot that is open.
func (s *Subscription) readPiece() (err error) {
	n, ended := s.snapshot, false
	if n.read {
		return s.endSnapshot()
	}
	if s.view.collection == nil {
		// The log only grows at its end, so that it can be read in parts.
		ended, err = s.readChanges()
	} else {
		n.timer.Restart()
		ended, err = s.readRows()
		n.timer.Pause()
	}
	if err == nil && ended {
		err = s.endSnapshot()
	}
	return err
}

// openSnapshot opens the list, and tells the subscriber of a reset.
func (s *Subscription) openSnapshot() error {
	n, err := s.snapshot, error(nil)
	if s.view.collection == nil {
		n.log = s.feed.newChanges(s.ctx, LogRequest{Schema: s.view.Schema, Path: s.view.Path, Query: query.Query{Filter: s.view.Filter}})
		n.log.follows = true
		// What was committed before is part of the snapshot.
		if _, err = s.feed.store.AssignNumbers(s.ctx); err == nil {
			err = n.log.open()
		}
		n.log.rows = n.log.walk(0, n.log.End+1)
		n.point = changelog.Point{History: n.log.history, Number: n.log.End}
	} else {
		err = s.openListing()
	}
	if err != nil {
		return err
	}
	s.history, n.opened = n.point.History, true
	if n.why != "" {
		s.feed.options.Metrics.Reset(string(n.why))
		s.pending = append(s.pending, Event{Kind: Reset, Data: nothing})
	}
	return nil
}

func (s *Subscription) openListing() (err error) {
	n := s.snapshot
	n.timer = limit.NewQueryTimer(s.ctx, s.reader(s.quotaKey))
	whole := query.Query{Filter: query.Both(s.view.Filter, ofID(s.view.ID)), Visible: s.view.visible, Range: query.Range{Limit: math.MaxInt64}}
	n.listing, err = s.feed.resources.List(n.timer, s.view.Path, whole, false)
	if err != nil {
		n.timer.End()
		return err
	}
	n.point = n.listing.Point
	return nil
}

// readRows makes resources of the list pending, until they are a piece or the list ends.
func (s *Subscription) readRows() (ended bool, err error) {
	n, buffer := s.snapshot, make([]byte, 0, pieceBytes/8)
	for rows := 0; rows < pieceRows && len(buffer) < pieceBytes; rows++ {
		start, more := len(buffer), false
		buffer, more, err = n.listing.Append(append(buffer, `{"data":`...))
		if err != nil || !more {
			return err == nil, err
		}
		buffer = append(buffer, '}')
		s.pending = append(s.pending, Event{Kind: Listed, ID: n.listing.ID(), Data: buffer[start:len(buffer):len(buffer)]})
		n.rows++
	}
	return false, nil
}

// readChanges makes the next part of the log pending.
func (s *Subscription) readChanges() (ended bool, err error) {
	rows, events := s.snapshot.log.rows, []Event(nil)
	if !rows.ended {
		err = rows.read()
	}
	for i := 0; i < len(rows.part) && err == nil; i++ {
		var event Event
		event, err = rows.part[i].event(Listed, s.history, s.view.Path.By)
		events = append(events, event)
	}
	if err != nil {
		return false, err
	}
	s.pending, s.snapshot.log.rows = append(s.pending, events...), rows
	return rows.ended, nil
}

// endSnapshot tells the subscriber that the snapshot is complete. The changes follow. After an
// error it can be called again.
func (s *Subscription) endSnapshot() error {
	n := s.snapshot
	n.read = true
	n.close()
	if s.view.ID != nil && n.rows == 0 {
		return reads.NotFound(s.view.collection, *s.view.ID)
	}
	if err := s.continueAfter(n.point); err != nil {
		return err
	}
	s.snapshot = nil
	s.pending = append(s.pending, Event{Kind: Synced, Position: s.position(), Data: nothing})
	s.until = s.feed.attach(s)
	return nil
}

// reader bounds the time of the database for a piece of a snapshot or of the log.
func (s *Subscription) reader(quotaKey string) *limit.Reader {
	return &limit.Reader{Key: quotaKey, Limit: s.feed.options.QueryTimeout,
		Detail: "The database takes too long for the list that this stream begins with, or for the changes after its position. Filter by indexed fields."}
}
