package feed

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/store"
)

// TestErrorAtTheEndOfASnapshot: a stream whose snapshot could not be completed goes on where it
// was, with nothing lost or doubled.
func TestErrorAtTheEndOfASnapshot(t *testing.T) {
	n := openNotes(t, pgtest.URL(t), Options{})
	n.run(t)
	for i := range 3 {
		n.mustDo(t, http.MethodPost, n.links, model.ID{15: byte(i + 1)}, map[string]any{"label": strings.Repeat("a", pieceBytes/2)})
	}
	s := n.subscribe(t, Shape{Path: reads.Path{Collection: n.links}}, "")
	events := take(t, s, 2)
	working := s.ctx
	failing, cancel := context.WithCancel(working)
	cancel()
	s.ctx = failing // only the sequencer uses it here: the list has a context already
	if got, err := s.Next(context.Background()); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %d events, %v", len(got), err)
	}
	s.ctx = working
	n.mustDo(t, http.MethodDelete, n.links, model.ID{15: 1}, nil)
	events = append(events, take(t, s, 2)...)
	events = append(events, take(t, s, 1)...)
	var kinds []EventKind
	for _, event := range events {
		kinds = append(kinds, event.Kind)
	}
	if want := []EventKind{Listed, Listed, Listed, Synced, Deleted}; !slices.Equal(kinds, want) {
		t.Errorf("got %v, want %v", kinds, want)
	}
}

// TestResumeRightAfterTheDeletion: a client is told of a deletion that has no position yet.
func TestResumeRightAfterTheDeletion(t *testing.T) {
	eachDatabaseURL(t, func(t *testing.T, url string) {
		n := openNotes(t, url, Options{}) // no reader, which would give positions
		id := model.ID{15: 1}
		n.mustDo(t, http.MethodPost, n.links, id, map[string]any{"label": "a"})
		shape := Shape{Path: reads.Path{Collection: n.links}, ID: &id}
		s := n.subscribe(t, shape, "")
		synced := take(t, s, 2)[1].Position
		n.mustDo(t, http.MethodDelete, n.links, id, nil)
		expect(t, next(t, n.subscribe(t, shape, synced), 2), `deleted {"data":`+linkText(firstID, `"a"`)+`,`+changed+`}`,
			`the stream ended: the resource was deleted`)
	})
}

// TestResetOfAResourceThatIsGone: the stream of one resource ends if it must begin again and there
// is nothing to begin with.
func TestResetOfAResourceThatIsGone(t *testing.T) {
	eachDatabase(t, func() Options { return Options{} }, func(t *testing.T, n *notes) {
		id := model.ID{15: 1}
		n.mustDo(t, http.MethodPost, n.links, id, map[string]any{"label": "a"})
		s := n.subscribe(t, Shape{Path: reads.Path{Collection: n.links}, ID: &id}, "")
		take(t, s, 2)
		n.feed.mutex.Lock()
		n.feed.detach(s) // so that it reads the log again, which has lost the deletion
		n.feed.mutex.Unlock()
		n.mustDo(t, http.MethodDelete, n.links, id, nil)
		if _, err := n.feed.store.AssignNumbers(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := n.feed.store.DeleteOldChanges(context.Background(), -time.Hour); err != nil {
			t.Fatal(err)
		}
		expect(t, next(t, s, 2), `reset {}`, `the stream ended: its path does not exist any more`)
	})
}

// TestHeartbeatsWhileCatchingUp: a call of Next ends with its context, also while the log has much
// that the subscriber is not told of, and the position moves on.
func TestHeartbeatsWhileCatchingUp(t *testing.T) {
	eachDatabaseURL(t, func(t *testing.T, url string) {
		n := openNotes(t, url, Options{})
		book := model.ID{15: 7}
		n.mustDo(t, http.MethodPost, n.books, book, map[string]any{"name": "a"})
		children, one := Shape{Path: reads.Path{Collection: n.notes, Parent: &book}}, n.feed.LogShape(LogRequest{Path: reads.Path{Collection: n.books}, ID: book})
		position := take(t, n.subscribe(t, children, ""), 1)[0].Position
		err := n.feed.store.Write(context.Background(), func(tx *store.Tx) error {
			for i := range 2*mostEntries + 10 {
				r := record(n.links, 0, 0, nil)
				r[model.IDColumn] = model.IDValue(model.ID{14: byte(i >> 8), 15: byte(i)})
				if _, err := tx.Insert(n.links, r); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.feed.store.AssignNumbers(context.Background()); err != nil {
			t.Fatal(err)
		}
		over, cancel := context.WithCancel(context.Background())
		cancel()
		s := n.subscribe(t, children, position)
		for i := range 3 {
			before := s.point.Number
			if events, err := s.Next(over); !errors.Is(err, context.Canceled) || s.point.Number <= before || (s.Progress() == CatchingUp) != (i < 2) {
				t.Errorf("call %d: %v, %v, from %d to %d, progress %d", i, events, err, before, s.point.Number, s.Progress())
			}
		}
		// The history of one resource does not read the rest of the log.
		history := n.subscribe(t, one, "")
		if history.Progress() != Following || len(take(t, history, 2)) != 2 {
			t.Error("the history was not read at once")
		}
	})
}

// TestReaderDoesNotGoBack: the reader has been moved on by a new subscription, past what was removed.
func TestReaderDoesNotGoBack(t *testing.T) {
	lag := int64(-1)
	n := openNotes(t, sqliteURL(t), Options{Metrics: Metrics{Lag: func(changes int64) { lag = changes }}}) // no reader
	n.mustDo(t, http.MethodPost, n.links, model.ID{15: 1}, map[string]any{"label": "a"})
	if err := n.feed.store.DeleteOldChanges(context.Background(), -time.Hour); err != nil {
		t.Fatal(err)
	}
	n.mustDo(t, http.MethodPost, n.links, model.ID{15: 2}, map[string]any{"label": "b"})
	s := n.subscribe(t, Shape{Path: reads.Path{Collection: n.links}}, "")
	take(t, s, 3)
	reading := n.feed.readTo
	if err := n.feed.readBatch(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
	if n.feed.readTo != reading || s.life.Err() != nil {
		t.Errorf("the reader went from %d to %d, and the stream ended: %v", reading, n.feed.readTo, context.Cause(s.life))
	}
	n.feed.advance(reading + 5) // which cannot be read: there is nothing
	if lag != 5 {
		t.Errorf("the lag is %d", lag)
	}
}

// TestBatchesBehindASlowFollower: what everybody else has read is forgotten.
func TestBatchesBehindASlowFollower(t *testing.T) {
	n := openNotes(t, sqliteURL(t), Options{}) // no reader: the test does its work
	slow, fast := n.subscribe(t, Shape{Path: reads.Path{Collection: n.books}}, ""), n.subscribe(t, Shape{Path: reads.Path{Collection: n.links}}, "")
	take(t, slow, 1)
	take(t, fast, 1)
	n.mustDo(t, http.MethodPost, n.books, model.ID{15: 1}, map[string]any{"name": "a"})
	for i := range 50 {
		n.mustDo(t, http.MethodPost, n.links, model.ID{15: byte(i + 1)}, map[string]any{"label": "a"})
		if err := n.feed.numberAndRead(context.Background()); err != nil {
			t.Fatal(err)
		}
		take(t, fast, 1)
		if len(n.feed.kept) > 4 {
			t.Fatalf("%d batches are kept, and one is unread", len(n.feed.kept))
		}
	}
	if events := take(t, slow, 1); events[0].Kind != Created {
		t.Error(events)
	}
}
