package feed

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/problem"
)

// plain leaves out of lines what differs from run to run.
func plain(lines []string) []string {
	for i := range lines {
		lines[i] = regexp.MustCompile(`"\d{4}-\d\d-\d\dT[^"]*"`).ReplaceAllString(lines[i], `"T"`)
		lines[i] = regexp.MustCompile(`"change":\{"id":"[^"]*"`).ReplaceAllString(lines[i], `"change":{"id":"C"`)
		lines[i] = regexp.MustCompile(`"revision":\d+`).ReplaceAllString(lines[i], `"revision":R`)
	}
	return lines
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if got = plain(got); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func linkText(id, label string) string {
	return `{"id":"` + id + `","type":"links","label":` + label + `,"rank":null,"note_id":null,"created_at":"T","updated_at":"T"}`
}

const (
	firstID  = "00000000-0000-0000-0000-000000000001"
	secondID = "00000000-0000-0000-0000-000000000002"
	changed  = `"change":{"id":"C","by":null,"at":"T","revision":R}`
)

func TestSnapshotThenChanges(t *testing.T) {
	eachDatabase(t, func() Options { return Options{} }, func(t *testing.T, n *notes) {
		first, second := model.ID{15: 1}, model.ID{15: 2}
		n.mustDo(t, http.MethodPost, n.links, first, map[string]any{"label": "a"})
		s := n.subscribe(t, Shape{Path: reads.Path{Collection: n.links}}, "")
		expect(t, next(t, s, 2), `listed {"data":`+linkText(firstID, `"a"`)+`}`, `synced {}`)
		n.mustDo(t, http.MethodPost, n.links, second, map[string]any{"label": "b"})
		expect(t, next(t, s, 1), `created {"data":`+linkText(secondID, `"b"`)+`,`+changed+`}`)
		n.mustDo(t, http.MethodPatch, n.links, first, map[string]any{"label": "c"})
		n.mustDo(t, http.MethodPatch, n.links, first, map[string]any{"label": "c"}) // which changes nothing
		n.mustDo(t, http.MethodDelete, n.links, second, nil)
		expect(t, next(t, s, 2), `updated {"data":`+linkText(firstID, `"c"`)+`,"previous":{"label":"a"},`+changed+`}`,
			`deleted {"data":`+linkText(secondID, `"b"`)+`,`+changed+`}`)
	})
}

// TestResume: a stream goes on from the position of each of its events, and of a bookmark.
func TestResume(t *testing.T) {
	eachDatabase(t, func() Options { return Options{} }, func(t *testing.T, n *notes) {
		shape := Shape{Path: reads.Path{Collection: n.links}}
		s := n.subscribe(t, shape, "")
		events := take(t, s, 1)
		for i := range 5 {
			n.mustDo(t, http.MethodPost, n.links, model.ID{15: byte(i + 1)}, map[string]any{"label": "a"})
			n.mustDo(t, http.MethodPost, n.books, model.ID{15: byte(i + 1)}, map[string]any{"name": "not of this stream"})
		}
		events = append(events, take(t, s, 5)...)
		last := Event{Position: bookmark(t, s)}
		s.Close()
		n.mustDo(t, http.MethodPost, n.links, model.ID{15: 9}, map[string]any{"label": "last"})
		for i, event := range append(events, last) {
			again := n.subscribe(t, shape, event.Position)
			want := append(slices.Clone(events), Event{ID: model.ID{15: 9}})[min(i+1, 6):]
			for j, got := range take(t, again, len(want)) {
				if got.Kind != Created || got.ID != want[j].ID || want[j].Data != nil && string(got.Data) != string(want[j].Data) {
					t.Errorf("from event %d: event %d is %s %s", i, j, got.Kind, got.Data)
				}
			}
			again.Close()
		}
	})
}

func bookmark(t *testing.T, s *Subscription) string {
	t.Helper()
	event, ok := s.Bookmark()
	if !ok {
		t.Fatal("the stream has no bookmark")
	}
	return event.Position
}

// TestBookmarksSkipNothing: the resource of a stream is deleted and created again. However the stream is read,
// its bookmark is not after what it has not told.
func TestBookmarksSkipNothing(t *testing.T) {
	eachDatabaseURL(t, func(t *testing.T, url string) {
		n := openNotes(t, url, Options{}) // no reader: the test does its work
		tick := func() {
			t.Helper()
			if err := n.feed.numberAndRead(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		id := model.ID{15: 1}
		shape := Shape{Path: reads.Path{Collection: n.links}, ID: &id}
		n.mustDo(t, http.MethodPost, n.links, id, map[string]any{"label": "a"})
		following := n.subscribe(t, shape, "")
		if _, ok := following.Bookmark(); ok {
			t.Error("there is a bookmark before the list")
		}
		synced := take(t, following, 2)[1].Position
		tick() // the stream has read the log: it follows
		n.mustDo(t, http.MethodDelete, n.links, id, nil)
		resumed := n.subscribe(t, shape, synced)
		if _, ok := resumed.Bookmark(); ok {
			t.Error("there is a bookmark before the deletion, which was read and not told")
		}
		n.mustDo(t, http.MethodPost, n.links, id, map[string]any{"label": "b"})
		tick()
		for name, s := range map[string]*Subscription{"following": following, "resumed": resumed, "resumed later": n.subscribe(t, shape, synced)} {
			told := take(t, s, 1)[0]
			if got := bookmark(t, s); told.Kind != Deleted || got != told.Position {
				t.Errorf("%s: the bookmark after the event %s is not its position", name, told.Kind)
			}
		}
	})
}

// take returns the next n events.
func take(t *testing.T, s *Subscription, n int) (events []Event) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), maxWait)
	defer cancel()
	for len(events) < n {
		more, err := s.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, more...)
	}
	if len(events) > n {
		t.Fatalf("got %d events, want %d", len(events), n)
	}
	return events
}

// TestResets: a position that cannot be continued begins the stream again.
func TestResets(t *testing.T) {
	var mutex sync.Mutex
	reasons := []resetReason{}
	options := func() Options {
		return Options{Metrics: Metrics{Reset: func(reason string) {
			mutex.Lock()
			defer mutex.Unlock()
			reasons = append(reasons, resetReason(reason))
		}}}
	}
	eachDatabase(t, options, func(t *testing.T, n *notes) {
		reasons = nil
		n.mustDo(t, http.MethodPost, n.links, model.ID{15: 1}, map[string]any{"label": "a"})
		n.mustDo(t, http.MethodPost, n.links, model.ID{15: 2}, map[string]any{"label": "b"})
		shape := Shape{Path: reads.Path{Collection: n.links}}
		s := n.subscribe(t, shape, "")
		at, err := n.feed.signer.parse(take(t, s, 3)[2].Position)
		if err != nil {
			t.Fatal(err)
		}
		n.mustDo(t, http.MethodDelete, n.links, model.ID{15: 2}, nil)
		take(t, s, 1)
		other, renamed, future := at, at, at
		other.history[0]++
		renamed.fingerprint[0]++
		future.point.Number += 1000
		elsewhere := newSigner([]byte("another secret")).text(at)
		for _, each := range []string{elsewhere, n.feed.signer.text(other), n.feed.signer.text(renamed), n.feed.signer.text(future)} {
			expect(t, next(t, n.subscribe(t, shape, each), 3), `reset {}`, `listed {"data":`+linkText(firstID, `"a"`)+`}`, `synced {}`)
		}
		if err := n.feed.store.DeleteOldChanges(context.Background(), -time.Hour); err != nil {
			t.Fatal(err)
		}
		expect(t, next(t, n.subscribe(t, shape, n.feed.signer.text(at)), 3), `reset {}`, `listed {"data":`+linkText(firstID, `"a"`)+`}`, `synced {}`)
		if want := []resetReason{otherSecret, otherHistory, otherShape, beyondEnd, belowFloor}; !slices.Equal(reasons, want) {
			t.Errorf("reasons %v, want %v", reasons, want)
		}
		// What was removed does not disturb those who have seen it.
		n.mustDo(t, http.MethodPatch, n.links, model.ID{15: 1}, map[string]any{"label": "c"})
		expect(t, next(t, s, 1), `updated {"data":`+linkText(firstID, `"c"`)+`,"previous":{"label":"a"},`+changed+`}`)
	})
}

func TestStreamOfOneResource(t *testing.T) {
	eachDatabase(t, func() Options { return Options{} }, func(t *testing.T, n *notes) {
		id := model.ID{15: 1}
		shape := Shape{Path: reads.Path{Collection: n.links}, ID: &id}
		if _, err := n.feed.Subscribe(context.Background(), shape, "", "test"); !fault.Is(err, problem.CodeNotFound) {
			t.Fatalf("a resource that does not exist: %v", err)
		}
		n.mustDo(t, http.MethodPost, n.links, id, map[string]any{"label": "a"})
		s := n.subscribe(t, shape, "")
		n.mustDo(t, http.MethodPost, n.links, model.ID{15: 2}, map[string]any{"label": "b"})
		n.mustDo(t, http.MethodDelete, n.links, id, nil)
		expect(t, next(t, s, 4), `listed {"data":`+linkText(firstID, `"a"`)+`}`, `synced {}`,
			`deleted {"data":`+linkText(firstID, `"a"`)+`,`+changed+`}`, `the stream ended: the resource was deleted`)
		if _, err := s.Next(context.Background()); !errors.Is(err, io.EOF) {
			t.Errorf("after the end: %v", err)
		}
		// A client that does not know it yet is told so, one that does is refused.
		known := bookmark(t, s)
		s.Close()
		if _, err := n.feed.Subscribe(context.Background(), shape, known, "test"); !fault.Is(err, problem.CodeNotFound) {
			t.Errorf("after its deletion: %v", err)
		}
	})
}

func TestOneResourceThatIsHidden(t *testing.T) {
	eachDatabase(t, func() Options { return Options{} }, func(t *testing.T, n *notes) {
		id := model.ID{15: 1}
		shape := Shape{Path: reads.Path{Collection: n.notes, By: n.permit("user", "ada")}, ID: &id}
		n.mustDo(t, http.MethodPost, n.notes, id, map[string]any{"title": "a", "owner": "ada"})
		s := n.subscribe(t, shape, "")
		synced := take(t, s, 2)[1].Position
		n.mustDo(t, http.MethodPatch, n.notes, id, map[string]any{"owner": "eve"})
		left := []string{`left {"data":{"id":"` + firstID + `","type":"notes"}}`, `the stream ended: the resource is not visible any more`}
		expect(t, next(t, s, 2), left...)
		expect(t, next(t, n.subscribe(t, shape, synced), 2), left...)
	})
}

// TestParents: a change that makes the parent in the path disappear ends the stream.
func TestParents(t *testing.T) {
	eachDatabase(t, func() Options { return Options{} }, func(t *testing.T, n *notes) {
		book := model.ID{15: 7}
		n.mustDo(t, http.MethodPost, n.books, book, map[string]any{"name": "a", "owner": "ada"})
		n.mustDo(t, http.MethodPost, n.notes, model.ID{15: 1}, map[string]any{"owner": "ada", "book_id": book.String()})
		shape := Shape{Path: reads.Path{Collection: n.notes, Parent: &book, By: n.permit("user", "ada")}}
		s := n.subscribe(t, shape, "")
		if lines := next(t, s, 2); len(lines) != 2 || lines[1] != "synced {}" {
			t.Fatal(lines)
		}
		n.mustDo(t, http.MethodPatch, n.books, book, map[string]any{"name": "b"})
		n.mustDo(t, http.MethodPatch, n.notes, model.ID{15: 1}, map[string]any{"title": "seen"})
		seen := take(t, s, 1)[0]
		if seen.Kind != Updated {
			t.Fatal(seen.Kind)
		}
		n.mustDo(t, http.MethodPatch, n.books, book, map[string]any{"owner": "eve"})
		expect(t, next(t, s, 1), "the stream ended: its path does not exist any more")
		if _, err := n.feed.Subscribe(context.Background(), shape, seen.Position, "test"); !fault.Is(err, problem.CodeNotFound) {
			t.Errorf("a parent that is hidden: %v", err)
		}
		// Hidden and shown again, before the stream was read: it begins again.
		n.mustDo(t, http.MethodPatch, n.books, book, map[string]any{"owner": "ada"})
		s = n.subscribe(t, shape, "")
		take(t, s, 2)
		s.feed.mutex.Lock()
		s.feed.detach(s) // so that both changes are read together
		s.feed.mutex.Unlock()
		n.mustDo(t, http.MethodPatch, n.books, book, map[string]any{"owner": "eve"})
		n.mustDo(t, http.MethodPatch, n.books, book, map[string]any{"owner": "ada"})
		lines := next(t, s, 3)
		if len(lines) != 3 || lines[0] != "reset {}" || !strings.HasPrefix(lines[1], "listed ") || lines[2] != "synced {}" {
			t.Errorf("a parent that was hidden for a while: %v", lines)
		}
		n.mustDo(t, http.MethodDelete, n.books, book, nil)
		expect(t, next(t, s, 2), `deleted {"data":{"id":"`+firstID+`","type":"notes","title":"seen","open":null,"owner":"ada","book_id":"`+book.String()+`","created_at":"T","updated_at":"T"},`+changed+`}`,
			"the stream ended: its path does not exist any more")
		if _, err := n.feed.Subscribe(context.Background(), shape, "", "test"); !fault.Is(err, problem.CodeNotFound) {
			t.Errorf("a parent that is deleted: %v", err)
		}
	})
}

// TestResumeWithoutParent: a parent that was hidden or deleted meanwhile ends the stream where a stream that was open
// ended, and nothing of the time after that is told.
func TestResumeWithoutParent(t *testing.T) {
	eachDatabase(t, func() Options { return Options{} }, func(t *testing.T, n *notes) {
		book, note := model.ID{15: 7}, model.ID{15: 1}
		n.mustDo(t, http.MethodPost, n.books, book, map[string]any{"name": "a", "owner": "ada"})
		n.mustDo(t, http.MethodPost, n.notes, note, map[string]any{"owner": "ada", "book_id": book.String()})
		shape := Shape{Path: reads.Path{Collection: n.notes, Parent: &book, By: n.permit("user", "ada")}}
		one := shape
		one.ID = &note
		seen := func(title, change string) string {
			return `{"data":{"id":"` + firstID + `","type":"notes","title":"` + title + `","open":null,"owner":"ada","book_id":"` + book.String() + `","created_at":"T","updated_at":"T"},` + change + changed + `}`
		}
		const gone = "the stream ended: its path does not exist any more"
		refused := func(shape Shape, position string) {
			t.Helper()
			if s, err := n.feed.Subscribe(context.Background(), shape, position, "test"); !fault.Is(err, problem.CodeNotFound) {
				t.Errorf("got %v %v", s, err)
			}
		}
		before := map[*Shape]string{}
		for _, each := range []*Shape{&shape, &one} {
			before[each] = take(t, n.subscribe(t, *each, ""), 2)[1].Position
		}
		n.mustDo(t, http.MethodPatch, n.notes, note, map[string]any{"title": "seen"})
		n.mustDo(t, http.MethodPatch, n.books, book, map[string]any{"owner": "eve"})
		n.mustDo(t, http.MethodPatch, n.notes, note, map[string]any{"title": "hidden"})
		for each, position := range before {
			s := n.subscribe(t, *each, position)
			events := take(t, s, 1)
			expect(t, []string{string(events[0].Kind) + " " + string(events[0].Data)}, "updated "+seen("seen", `"previous":{"title":null},`))
			expect(t, next(t, s, 1), gone)
			refused(*each, events[0].Position)
			other := *each
			other.Path.By = n.permit("user", "bob")
			refused(other, position)
		}
		// It is shown again, and deleted: whoever was told that it is gone begins again.
		n.mustDo(t, http.MethodPatch, n.books, book, map[string]any{"owner": "ada"})
		position := take(t, n.subscribe(t, shape, ""), 2)[1].Position
		n.mustDo(t, http.MethodPatch, n.books, book, map[string]any{"name": "b"}) // which is no event
		n.mustDo(t, http.MethodDelete, n.books, book, nil)
		s := n.subscribe(t, shape, position)
		events := take(t, s, 1)
		expect(t, []string{string(events[0].Kind) + " " + string(events[0].Data)}, "deleted "+seen("hidden", ""))
		expect(t, next(t, s, 1), gone)
		refused(shape, events[0].Position)
		refused(shape, "")
	})
}

func TestStreamOfTheLog(t *testing.T) {
	eachDatabase(t, func() Options { return Options{} }, func(t *testing.T, n *notes) {
		n.mustDo(t, http.MethodPost, n.links, model.ID{15: 1}, map[string]any{"label": "a"})
		n.mustDo(t, http.MethodPost, n.books, model.ID{15: 2}, map[string]any{"name": "b"})
		if _, err := n.feed.store.AssignNumbers(context.Background()); err != nil {
			t.Fatal(err)
		}
		of := func(collection string) query.Filter {
			return query.Compare{Column: n.schema.Changes().Field("collection").Column, Op: query.Equal, Value: model.TextValue(collection)}
		}
		s := n.subscribe(t, Shape{Path: reads.Path{By: n.permit("admin", "root")}, Filter: of("links")}, "")
		n.mustDo(t, http.MethodPatch, n.links, model.ID{15: 1}, map[string]any{"label": "c"})
		n.mustDo(t, http.MethodDelete, n.books, model.ID{15: 2}, nil)
		var told []string
		for _, event := range take(t, s, 3) {
			content := struct {
				Data struct {
					ID, Type, Kind string
					Previous       json.RawMessage
				}
			}{}
			if err := json.Unmarshal(event.Data, &content); event.Kind != Synced && (err != nil || content.Data.ID != event.ID.String() || content.Data.Type != "changes") {
				t.Errorf("%s: %v", event.Data, err)
			}
			told = append(told, string(event.Kind)+" "+content.Data.Kind+" "+string(content.Data.Previous))
		}
		expect(t, told, "listed created null", "synced  ", `created updated {"label":"a"}`)
	})
}
