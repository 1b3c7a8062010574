package feed

import (
	"context"
	"math"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/limit"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/resource"
)

// snapshot is the list that a stream begins with, while it is sent.
type snapshot struct {
	why     resetReason // the stream begins again; empty: it just begins
	opened  bool
	listing *resource.Page
	timer   *limit.QueryTimer
	point   changelog.Point
	rows    int
	read    bool // all of it was read

	logged int64 // position up to which the change log was listed, if that is the list
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
func (s *Subscription) readPiece() error {
	n := s.snapshot
	if n.read {
		return s.endSnapshot()
	}
	if s.view.collection == nil {
		// The log only grows at its end, so that it can be read in parts.
		more, err := s.readLogPart()
		if err != nil || more {
			return err
		}
		return s.endSnapshot()
	}
	n.timer.Restart()
	ended, err := s.readRows()
	n.timer.Pause()
	if err != nil {
		return err
	}
	if ended {
		return s.endSnapshot()
	}
	return nil
}

// openSnapshot opens the list, and tells the subscriber of a reset.
func (s *Subscription) openSnapshot() error {
	n, err := s.snapshot, error(nil)
	if s.view.collection == nil {
		// What was committed before is part of the snapshot.
		if _, err = s.feed.store.Sequence(s.ctx); err == nil {
			n.point, err = s.feed.end(s.ctx)
		}
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
	whole := query.Query{Filter: query.Both(s.view.Filter, ofID(s.view.ID)), Range: query.Range{Limit: math.MaxInt64}}
	n.listing, err = s.feed.resources.List(n.timer, s.view.Path, whole, false)
	if err != nil {
		n.timer.End()
		return err
	}
	n.point = n.listing.Point
	return nil
}

// end is the end of the log: all changes up to there have a position.
func (f *Feed) end(ctx context.Context) (changelog.Point, error) {
	tx, err := f.store.Read(ctx)
	if err != nil {
		return changelog.Point{}, err
	}
	defer tx.Close()
	point, err := tx.Point()
	return changelog.Point{History: point.History, Number: point.Number}, err
}

// readRows makes resources of the list pending, until they are a piece or the list ends.
func (s *Subscription) readRows() (ended bool, err error) {
	n, c := s.snapshot, s.view.collection
	buffer := make([]byte, 0, pieceBytes/8)
	for rows := 0; rows < pieceRows && len(buffer) < pieceBytes; rows++ {
		row, err := n.listing.Next()
		if err != nil || row == nil {
			return err == nil, err
		}
		start := len(buffer)
		buffer = c.AppendSome(append(buffer, `{"data":`...), row, s.view.visible)
		buffer = append(buffer, '}')
		s.pending = append(s.pending, Event{Kind: Listed, ID: row.ID(model.IDColumn), Data: buffer[start:len(buffer):len(buffer)]})
		n.rows++
	}
	return false, nil
}

// readLogPart makes the next part of the log pending.
func (s *Subscription) readLogPart() (more bool, err error) {
	n := s.snapshot
	tx, err := s.feed.store.Read(s.ctx)
	if err != nil {
		return false, err
	}
	defer tx.Close()
	entries, last, more, err := tx.Log(changelog.Query{
		After: n.logged, Before: n.point.Number + 1, Collection: s.view.narrow.collection, ID: s.view.narrow.id, Most: mostEntries, Bytes: partBytes, Expected: s.inPart,
	})
	if err != nil {
		return false, err
	}
	s.inPart = len(entries)
	states := tx.States()
	var events []Event
	for i := range entries {
		if err := entries[i].Unreadable; err != nil && s.view.concerns(&entries[i]) {
			return false, errUnreadable(model.ChangeID(s.history, entries[i].Position), err)
		}
		event, _, ok, err := s.view.changeEvent(s.history, &entries[i], states, 0)
		if changelog.IsUnreadable(err) {
			err = errUnreadable(model.ChangeID(s.history, entries[i].Position), err)
		}
		if err != nil {
			return false, err
		}
		if ok {
			event.Kind = Listed
			events = append(events, event)
		}
	}
	s.pending = append(s.pending, events...)
	n.logged = last
	return more, nil
}

// endSnapshot tells the subscriber that the snapshot is complete. The changes follow. After an
// error it can be called again.
func (s *Subscription) endSnapshot() error {
	n := s.snapshot
	n.read = true
	n.close()
	if s.view.ID != nil && n.rows == 0 {
		return resource.NotFound(s.view.collection, *s.view.ID)
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
