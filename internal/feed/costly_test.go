package feed

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/words"
)

// shapeOf is the notes that a filter on the title selects, of which only the attribute open is shown.
func (n *notes) shapeOf(filter query.Filter) Shape {
	open := n.notes.Field("open").Column
	fields := n.notes.ColumnsWhere(func(i int, _ model.Column) bool { return i == open })
	return Shape{Path: reads.Path{Collection: n.notes}, Filter: filter, Fields: fields}
}

func (n *notes) searchFor(word string) Shape {
	return n.shapeOf(query.Search{Columns: []int{n.notes.Field("title").Column}, Words: []string{word}})
}

func (n *notes) containing(part string) Shape {
	return n.shapeOf(query.Compare{Column: n.notes.Field("title").Column, Op: query.Contains, Value: model.TextValue(part)})
}

// follow begins a stream of a list without resources, up to where it waits for changes.
func (n *notes) follow(t *testing.T, shape Shape, caller string) *Subscription {
	t.Helper()
	s := n.begin(t, shape, "", caller)
	expect(t, kindsOf(take(t, s, 1)), "synced")
	idle(t, s)
	return s
}

// countTexts counts how often the words of each text are found.
func (n *notes) countTexts() func() map[string]int {
	var mutex sync.Mutex
	counts := map[string]int{}
	n.feed.words.find = func(text string) words.Set {
		mutex.Lock()
		defer mutex.Unlock()
		counts[text]++
		return words.SetOf(text)
	}
	return func() map[string]int {
		mutex.Lock()
		defer mutex.Unlock()
		return counts
	}
}

// TestWordsAreFoundOnce: the words of a text are found once, however many shapes search it, and not again as
// those of the state before the next change.
func TestWordsAreFoundOnce(t *testing.T) {
	eachDatabaseURL(t, func(t *testing.T, url string) {
		n := openNotes(t, url, Options{})
		counts := n.countTexts()
		n.run(t)
		var streams []*Subscription
		for i := range 30 {
			streams = append(streams, n.follow(t, n.searchFor(fmt.Sprint("word", i)), "caller"))
		}
		texts := []string{}
		for i := range 3 {
			text := ""
			for word := range 30 {
				text += fmt.Sprintf("Word%d%s ", word, strings.Repeat("x", i))
			}
			texts = append(texts, text)
			if i == 0 {
				n.mustDo(t, http.MethodPost, n.notes, model.ID{15: 1}, map[string]any{"title": text, "open": false})
			} else {
				n.mustDo(t, http.MethodPatch, n.notes, model.ID{15: 1}, map[string]any{"title": text, "open": i == 1})
			}
		}
		for i, s := range streams {
			var kinds []EventKind
			for _, event := range take(t, s, 3) {
				kinds = append(kinds, event.Kind)
			}
			if got := fmt.Sprint(kinds); got != "[created updated updated]" {
				t.Errorf("stream %d: %s", i, got)
			}
		}
		if got, want := fmt.Sprint(counts()), fmt.Sprint(map[string]int{texts[0]: 1, texts[1]: 1, texts[2]: 1}); got != want {
			t.Errorf("the words were found so often:\n%s\nwant\n%s", got, want)
		}
	})
}

// TestCostlyShapes: the reader does a part of the work for the shapes of one caller. They get the rest from the database,
// in their turn, while the events of others arrive, also of the same change. Nothing is lost or doubled.
func TestCostlyShapes(t *testing.T) {
	eachDatabaseURL(t, func(t *testing.T, url string) {
		var waiting, received atomic.Int64
		n := openNotes(t, url, Options{Metrics: Metrics{Waiting: func(change int) { waiting.Add(int64(change)) }}})
		counts := n.countTexts()
		n.run(t)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		const size, callers = 900 << 10, 20
		var costly []*Subscription
		for i := range callers {
			costly = append(costly, n.follow(t, n.searchFor(fmt.Sprint("word", i)), "searches"))
		}
		for i := range 2 * callers {
			costly = append(costly, n.follow(t, n.containing(fmt.Sprint("word", i, ";")), "contains"))
		}
		modest := n.follow(t, n.containing("word0; word1;"), "modest")

		holders := 0
		for n.feed.gates.reads.TryEnter(fmt.Sprint("holder ", holders)) { // nobody else reads from the database
			holders++
		}
		var text strings.Builder
		for i := range 2 * callers {
			fmt.Fprintf(&text, "word%d; ", i)
		}
		text.WriteString(strings.Repeat("x", size-text.Len()))
		n.mustDo(t, http.MethodPost, n.notes, model.ID{15: 1}, map[string]any{"title": text.String(), "open": true})
		expect(t, kindsOf(take(t, modest, 1)), "created")

		var group sync.WaitGroup
		for _, s := range costly {
			group.Go(func() {
				var kinds []string
				for len(kinds) < 2 {
					events, err := s.Next(ctx)
					if err != nil {
						t.Error(err)
						return
					}
					if len(kinds) == 0 {
						received.Add(1)
					}
					kinds = append(kinds, kindsOf(events)...)
				}
				expect(t, kinds, "created", "updated")
				idle(t, s)
			})
		}
		waitFor(t, func() bool { return waiting.Load()+received.Load() == int64(len(costly)) })
		if got, want := received.Load(), int64(callerWork/size); got != want {
			t.Errorf("the reader has matched the change with %d shapes, want %d", got, want)
		}
		n.mustDo(t, http.MethodPatch, n.notes, model.ID{15: 1}, map[string]any{"open": false})
		expect(t, kindsOf(take(t, modest, 1)), "updated")
		for i := range holders {
			n.feed.gates.reads.Leave(fmt.Sprint("holder ", i))
		}
		group.Wait()
		if got := len(counts()); got != 1 {
			t.Errorf("there are words of %d texts, want of one", got)
		}
		for text, count := range counts() {
			if count != 1 {
				t.Errorf("the words of a text of %d bytes were found %d times", len(text), count)
			}
		}
	})
}

// TestManyConditions: the reader does not match a thousand changes with all shapes of a caller whose filters have many conditions, and
// does not even add up what that would cost. A few conditions cost nothing.
func TestManyConditions(t *testing.T) {
	n := openNotes(t, "sqlite:"+filepath.Join(t.TempDir(), "plural.db"), Options{})
	title := n.notes.Field("title").Column
	conditions := func(count int) query.Filter {
		either := query.Or{}
		for i := range count {
			either = append(either, query.Compare{Column: title, Op: query.StartsWith, Value: model.TextValue(fmt.Sprint(i))})
		}
		return either
	}
	state := make(model.Record, len(n.notes.Columns()))
	for i := range state {
		state[i] = model.Null
	}
	entries := make([]changelog.Entry, 1000)
	for i := range entries {
		entries[i] = changelog.Entry{Collection: n.notes, After: state}
	}
	log := func(ids int) Shape {
		in := query.In{Column: n.feed.store.Schema().Changes().Field(model.ChangeResourceID).Column}
		for i := range ids {
			in.Values = append(in.Values, model.IDValue(model.ID{15: byte(i)}))
		}
		return Shape{Path: reads.Path{}, Filter: in}
	}
	for _, c := range []struct {
		name  string
		shape Shape
		costs bool
	}{
		{"one condition", n.shapeOf(conditions(1)), false},
		{"8 conditions", n.shapeOf(conditions(8)), false},
		{"99 conditions", n.shapeOf(conditions(99)), true},
		{"the log", Shape{}, false},
		{"the log of 2 resources", log(2), false},
		{"the log of 200 resources", log(200), true},
	} {
		v := n.feed.newView(c.shape, n.feed.canonical(&c.shape))
		shapes, left := 0, callerWork
		for ; shapes < 100; shapes++ {
			work := v.work(entries, left)
			if work > left {
				break
			}
			left -= work
		}
		if (shapes < 100) != c.costs {
			t.Errorf("%s: the reader matches %d shapes", c.name, shapes)
		}
		if c.costs && v.work(entries, 0) > v.work(entries[:1], callerWork) {
			t.Errorf("%s: the work is added up beyond what there may be", c.name)
		}
	}
}

func kindsOf(events []Event) (kinds []string) {
	for _, event := range events {
		kinds = append(kinds, string(event.Kind))
	}
	return kinds
}
