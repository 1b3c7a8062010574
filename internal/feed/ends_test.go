package feed

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/db/databases"
	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

// causeOf is why a stream ends, however many events come first.
func causeOf(t *testing.T, s *Subscription) Cause {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), maxWait)
	defer cancel()
	for {
		_, err := s.Next(ctx)
		var end *End
		if errors.As(err, &end) {
			return end.Cause
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestSchemaChangesEndStreams: another server has migrated the database, in a way that does not
// stop this one.
func TestSchemaChangesEndStreams(t *testing.T) {
	eachDatabaseURL(t, func(t *testing.T, url string) {
		n := openNotes(t, url, Options{})
		n.run(t)
		s := n.subscribe(t, Shape{Path: reads.Path{Collection: n.links}}, "")
		take(t, s, 1)
		file, err := schema.Parse([]byte(strings.Replace(notesFile, "\naccess:", "\n  extras: {attributes: {name: {type: string}}}\naccess:", 1)))
		if err != nil {
			t.Fatal(err)
		}
		other, err := store.Open(context.Background(), url, (*model.Schema)(file.Schema), store.MigrateAdditive(func(*migrate.Step) {}))
		if err != nil {
			t.Fatal(err)
		}
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		n.feed.endInvalid(context.Background()) // which happens by itself every few seconds
		if cause := causeOf(t, s); cause != SchemaChanged {
			t.Errorf("the stream ended by %s", cause)
		}
		// A stream that begins with the new schema goes on.
		s = n.subscribe(t, Shape{Path: reads.Path{Collection: n.links}}, "")
		n.feed.endInvalid(context.Background())
		take(t, s, 1)
		n.mustDo(t, http.MethodPost, n.links, model.ID{15: 1}, map[string]any{"label": "a"})
		take(t, s, 1)
	})
}

// TestNewHistoriesEndStreams: the positions that the clients have are unknown then. A new history
// counts as a change of the schema, whichever is noticed first.
func TestNewHistoriesEndStreams(t *testing.T) {
	eachDatabaseURL(t, func(t *testing.T, url string) {
		n := openNotes(t, url, Options{})
		n.run(t)
		shape := Shape{Path: reads.Path{Collection: n.links}}
		s := n.subscribe(t, shape, "")
		take(t, s, 1)
		n.mustDo(t, http.MethodPost, n.links, model.ID{15: 1}, map[string]any{"label": "a"})
		position := take(t, s, 1)[0].Position
		if err := admin.RenewHistory(context.Background(), url); err != nil {
			t.Fatal(err)
		}
		n.mustDo(t, http.MethodPatch, n.links, model.ID{15: 1}, map[string]any{"label": "b"})
		if cause := causeOf(t, s); cause != HistoryChanged && cause != SchemaChanged {
			t.Errorf("the stream ended by %s", cause)
		}
		expect(t, next(t, n.subscribe(t, shape, position), 3), `reset {}`, `listed {"data":`+linkText(firstID, `"b"`)+`}`, `synced {}`)
	})
}

// TestAttachWhileChangesAreMatched: whoever begins to follow while the reader matches a batch
// reads that batch from the database.
func TestAttachWhileChangesAreMatched(t *testing.T) {
	n := openNotes(t, sqliteURL(t), Options{}) // no reader: the test does its work
	shape := Shape{Path: reads.Path{Collection: n.links}}
	follower := n.subscribe(t, shape, "")
	take(t, follower, 1)
	n.mustDo(t, http.MethodPost, n.links, model.ID{15: 1}, map[string]any{"label": "a"})
	if err := n.feed.numberAndRead(context.Background()); err != nil {
		t.Fatal(err)
	}
	n.feed.mutex.Lock()
	n.feed.chainedTo-- // as if the last batch was still being matched
	n.feed.mutex.Unlock()
	position := n.feed.Link(shape, follower.history, changelog.Point{Number: n.feed.chainedTo})
	late := n.subscribe(t, shape, position)
	if events := take(t, late, 1); events[0].Kind != Created {
		t.Errorf("got %s", events[0].Kind)
	}
	if events := take(t, follower, 1); events[0].Kind != Created {
		t.Errorf("got %s", events[0].Kind)
	}
}

// TestPiecesOfASnapshot: a long list comes in pieces, within its quota.
func TestPiecesOfASnapshot(t *testing.T) {
	eachDatabase(t, func() Options { return Options{} }, func(t *testing.T, n *notes) {
		const rows = 2 * pieceRows
		records := make([]model.Record, rows)
		for i := range records {
			records[i] = record(n.links, 0, 1, map[string]any{"label": "a"})
			records[i][model.IDColumn] = model.IDValue(model.ID{14: byte(i >> 8), 15: byte(i)})
		}
		err := n.feed.store.Write(context.Background(), func(tx *store.Tx) error {
			_, _, err := tx.InsertAll(n.links, records)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		s := n.subscribe(t, Shape{Path: reads.Path{Collection: n.links}}, "")
		n.mustDo(t, http.MethodDelete, n.links, model.ID{}, nil) // after the snapshot
		ctx, cancel := context.WithTimeout(context.Background(), maxWait)
		defer cancel()
		var kinds []EventKind
		for len(kinds) < rows+2 {
			events, err := s.Next(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if bytes := len(events[0].Data) * len(events); len(events) > pieceRows+1 || bytes > 2*pieceBytes {
				t.Fatalf("a piece of %d events and %d bytes", len(events), bytes)
			}
			for _, event := range events {
				if event.Kind == Listed && event.ID != records[len(kinds)].ID(model.IDColumn) {
					t.Fatalf("%s is at %d", event.ID, len(kinds))
				}
				kinds = append(kinds, event.Kind)
			}
		}
		if kinds[rows-1] != Listed || kinds[rows] != Synced || kinds[rows+1] != Deleted {
			t.Errorf("at the end: %v", kinds[rows-1:])
		}
	})
}

// TestEndWithoutChange: the copy of a database may have given positions after that of its last change.
func TestEndWithoutChange(t *testing.T) {
	url := sqliteURL(t)
	first := openNotes(t, url, Options{})
	first.mustDo(t, http.MethodPost, first.links, model.ID{15: 1}, map[string]any{"label": "a"})
	if err := first.feed.store.Close(); err != nil {
		t.Fatal(err)
	}
	last := int64(0)
	err := databases.With(context.Background(), url, func(b db.Database) error {
		return b.Migrate(context.Background(), func(c db.Conn) (err error) {
			if last, err = db.Int(c, b.LastGiven()); err != nil {
				return err
			}
			_, after := b.Loading(last + 5)
			return db.ExecAll(c, after...)
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	n := openNotes(t, url, Options{}) // no reader: the test does its work
	shape := Shape{Path: reads.Path{By: n.permit("admin", "root")}}
	all, err := n.feed.Changes(context.Background(), LogRequest{Path: shape.Path})
	if err != nil || all.End != last+5 {
		t.Fatalf("the end is %d, %v", all.End, err)
	}
	reader := New(n.feed.store, Options{})
	if err := reader.readBatch(context.Background(), last); err != nil || reader.chainedTo != last+5 {
		t.Errorf("the reader is at %d, %v", reader.chainedTo, err)
	}
	// The second one begins when the reader is at the end already.
	for _, who := range []string{"first", "second"} {
		s := n.subscribe(t, shape, n.feed.Link(shape, all.history, changelog.Point{Number: last}))
		if err := n.feed.numberAndRead(context.Background()); err != nil {
			t.Errorf("%s: %v", who, err)
		}
		if s.Progress() != Following || n.feed.chainedTo != last+5 {
			t.Errorf("%s: progress %d, the reader is at %d and not at %d", who, s.Progress(), n.feed.chainedTo, last+5)
		}
		if p, err := n.feed.signer.parse(bookmark(t, s)); err != nil || p.point.Number != last+5 {
			t.Errorf("%s: the position is %d, %v", who, p.point.Number, err)
		}
	}
}
