package feed

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/store"
)

// TestHiddenStatesTellNothing: two databases have the same notes, which appear and disappear for a caller at the same
// steps and are the same while they are visible. While they are hidden they have other values, and are changed more or less
// often. Apart from positions, revisions, ids and times of the log, the caller is told the same, byte for
// byte: by streams, by the change log, and by the history of each note.
func TestHiddenStatesTellNothing(t *testing.T) {
	for name, database := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) {
			seed := rand.Uint64()
			t.Log("seed", seed)
			var told [2]map[string]string
			for dataset := range told {
				n := openNotes(t, database(t), Options{Kept: 3000})
				n.run(t)
				told[dataset] = n.hideAndShow(t, seed, uint64(dataset))
			}
			if len(told[0]["changes"]) < 1000 {
				t.Errorf("nothing to compare: %s", told[0]["changes"])
			}
			for name, one := range told[0] {
				lines, others := strings.Split(one, "\n"), strings.Split(told[1][name], "\n")
				for i := range max(len(lines), len(others)) {
					if i >= len(lines) || i >= len(others) || lines[i] != others[i] {
						t.Errorf("%s differs from line %d on:\n%s\nand\n%s", name, i+1, lines[min(i, len(lines)-1)], others[min(i, len(others)-1)])
						break
					}
				}
			}
		})
	}
}

// TestHiddenHistoriesDoNotExist: the history of a resource that the caller has never seen is refused as that of one that does not
// exist, before the range is looked at.
func TestHiddenHistoriesDoNotExist(t *testing.T) {
	eachDatabaseURL(t, func(t *testing.T, url string) {
		n := openNotes(t, url, Options{})
		n.insert(t, n.books, record(n.books, 1, 0, map[string]any{"owner": "eve"}))
		for _, id := range []model.ID{{15: 1}, {15: 2}} {
			for _, by := range []query.Range{{Limit: 10}, {Anchor: query.AtCursor, Cursor: model.ID{15: 9}, Limit: 10}} {
				_, err := n.feed.Changes(t.Context(), LogRequest{Path: reads.Path{Collection: n.books, By: n.permit("follower", "ada")}, ID: id, Query: query.Query{Range: by}})
				if want := reads.NotFound(n.books, id); err == nil || err.Error() != want.Error() {
					t.Errorf("%s, %+v: got %v, want %v", id, by, err, want)
				}
			}
		}
	})
}

// hideAndShow writes notes and returns what the caller was told, by the way in which they were told.
func (n *notes) hideAndShow(t *testing.T, seed, dataset uint64) map[string]string {
	books := []model.ID{{15: 200}, {15: 201}}
	for _, book := range books {
		n.insert(t, n.books, record(n.books, book[15], 0, map[string]any{"owner": "ada"}))
	}
	follower := n.permit("follower", "ada")
	isOpen := query.Compare{Column: n.notes.Field("open").Column, Op: query.Equal, Value: model.BoolValue(true)}
	shapes := map[string]Shape{
		"stream": {Path: reads.Path{Collection: n.notes, By: n.permit("user", "ada")}}, "filtered": {Path: reads.Path{Collection: n.notes, By: follower}, Filter: isOpen},
		"below": {Path: reads.Path{Collection: n.notes, Parent: &books[0], By: follower}}, "log": {Path: reads.Path{By: follower}},
	}
	streams := map[string]*Subscription{}
	for name, shape := range shapes {
		streams[name] = n.subscribe(t, shape, "")
	}
	n.writeDataset(t, seed, dataset, books)
	n.insert(t, n.notes, record(n.notes, 99, 59, map[string]any{"owner": "ada", "title": "last", "book_id": books[0], "open": true}))
	told := map[string]string{}
	for name, stream := range streams {
		told[name] = n.untilNote99(t, stream)
	}
	told["changes"] = n.changesOf(t, LogRequest{Path: reads.Path{By: follower}})
	for id := range byte(4) {
		request := LogRequest{Path: reads.Path{Collection: n.notes, By: follower}, ID: model.ID{15: id + 1}}
		told[fmt.Sprint("history of ", id)] = n.changesOf(t, request)
		for i := range books {
			request.Path.Parent = &books[i]
			told[fmt.Sprintf("history of %d below %d", id, i)] = n.changesOf(t, request)
		}
	}
	return told
}

// writeDataset writes notes. What is visible is drawn from the seed, what is hidden also from the dataset.
func (n *notes) writeDataset(t *testing.T, seed, dataset uint64, books []model.ID) {
	shared, hidden := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2+dataset))
	state := func(random *rand.Rand, id byte, at int, owner string) model.Record {
		values := map[string]any{"owner": owner, "title": fmt.Sprint(random.IntN(3)), "open": random.IntN(2) == 0, "secret": fmt.Sprint("s", hidden.IntN(9))}
		if book := random.IntN(3); book < len(books) {
			values["book_id"] = books[book]
		}
		return record(n.notes, id, at, values)
	}
	known := map[byte]model.Record{}
	for at := range 60 {
		id := byte(shared.IntN(4)) + 1
		before := known[id]
		var states []model.Record // one after another
		switch what := shared.IntN(7); {
		case what < 3:
			states = []model.Record{state(shared, id, at, "ada")}
		case what < 6:
			for range 1 + hidden.IntN(3) {
				states = append(states, state(hidden, id, at, fmt.Sprint("eve", hidden.IntN(3))))
			}
		case before != nil:
			states = []model.Record{nil}
		}
		for _, after := range states {
			known[id] = after
			n.write(t, before, after)
			before = after
		}
	}
}

// write changes a note from one state to another.
func (n *notes) write(t *testing.T, before, after model.Record) {
	t.Helper()
	err := n.feed.store.Write(context.Background(), func(tx *store.Tx) (err error) {
		switch {
		case before == nil:
			_, err = tx.Insert(n.notes, after)
		case after == nil:
			_, err = tx.Delete(n.notes, before)
		default:
			_, err = tx.Update(n.notes, before, after)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// changesOf is a range of the change log, or its error.
func (n *notes) changesOf(t *testing.T, request LogRequest) string {
	t.Helper()
	request.Query.Range.Limit = 1000
	changes, err := n.feed.Changes(context.Background(), request)
	if err == nil {
		err = changes.Begin()
	}
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for {
		text, ok, err := changes.Next(nil)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return withoutLog(b.String())
		}
		b.Write(append(text, '\n'))
	}
}

// untilNote99 is what a stream tells up to the note that was written last.
func (n *notes) untilNote99(t *testing.T, s *Subscription) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), maxWait)
	defer cancel()
	var b strings.Builder
	for {
		events, err := s.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, event := range events {
			fmt.Fprintf(&b, "%s %s\n", event.Kind, event.Data)
			if strings.Contains(string(event.Data), model.ID{15: 99}.String()) {
				return withoutLog(b.String())
			}
		}
	}
}

var (
	logIDs     = regexp.MustCompile(`"id":"[0-9a-f]{8}-[0-9a-f]{4}-8[^"]*"`)
	logNumbers = regexp.MustCompile(`"revision":\d+`)
	times      = regexp.MustCompile(`"\d{4}-\d\d-\d\dT[^"]*"`)
)

// withoutLog leaves out ids, revisions and times of the log. Those of notes are all of one minute.
func withoutLog(text string) string {
	text = logNumbers.ReplaceAllString(logIDs.ReplaceAllString(text, `"id":""`), `"revision":0`)
	return times.ReplaceAllStringFunc(text, func(time string) string {
		if strings.HasPrefix(time, `"2026-01-01T00:00:`) {
			return time
		}
		return `""`
	})
}
