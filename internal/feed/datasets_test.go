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

// TestHiddenResourcesChangeNothing: two databases have the same resources of one owner. In the
// second one others write as well, between and in the same transactions. Apart from positions,
// revisions and ids of changes, the owner is told the same, byte for byte.
func TestHiddenResourcesChangeNothing(t *testing.T) {
	for name, database := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) {
			seed := rand.Uint64()
			t.Log("seed", seed)
			var streams [2][]string
			for dataset := range streams {
				n := openNotes(t, database(t), Options{Kept: 3000})
				n.run(t)
				streams[dataset] = n.live(t, seed, dataset == 1)
			}
			for i := range streams[0] {
				if streams[0][i] != streams[1][i] {
					t.Errorf("stream %d differs:\n%s\nwith others\n%s", i, streams[0][i], streams[1][i])
				}
			}
		})
	}
}

// live writes and returns what the streams of the owner have sent. Others: somebody else writes
// too.
func (n *notes) live(t *testing.T, seed uint64, others bool) (streams []string) {
	ada := n.permit("user", "ada")
	book := model.ID{15: 200}
	n.insert(t, n.books, record(n.books, 200, 0, map[string]any{"owner": "ada"}))
	isOpen := query.Compare{Column: n.notes.Field("open").Column, Op: query.Equal, Value: model.BoolValue(true)}
	visible, hidden := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2))
	known := map[string]map[byte]model.Record{"ada": {}, "eve": {}}
	step := func(i int) {
		var writes []func(*store.Tx) error
		if others {
			for range hidden.IntN(3) {
				writes = append(writes, n.draw(hidden, known["eve"], "eve", 101, i))
			}
		}
		writes = append(writes, n.draw(visible, known["ada"], "ada", 1, i))
		err := n.feed.store.Write(context.Background(), func(tx *store.Tx) error { // which may run twice
			for _, write := range writes {
				if err := write(tx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 20 {
		step(i)
	}
	paths := []reads.Path{{Collection: n.notes, By: ada}, {Collection: n.notes, Parent: &book, By: ada}, {Collection: n.notes, By: ada}}
	var open []*Subscription
	for i, path := range paths {
		shape := Shape{Path: path}
		if i == 2 {
			shape.Filter = isOpen
		}
		open = append(open, n.subscribe(t, shape, ""))
	}
	for i := range 60 {
		step(i)
	}
	n.insert(t, n.notes, record(n.notes, 99, 59, map[string]any{"owner": "ada", "title": "last", "book_id": book, "open": true}))
	for _, s := range open {
		streams = append(streams, untilLast(t, s))
	}
	return streams
}

func (n *notes) insert(t *testing.T, c *model.Collection, r model.Record) {
	t.Helper()
	err := n.feed.store.Write(context.Background(), func(tx *store.Tx) error {
		_, err := tx.Insert(c, r)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// draw draws a write of a note of an owner.
func (n *notes) draw(random *rand.Rand, known map[byte]model.Record, owner string, from byte, at int) func(*store.Tx) error {
	id := from + byte(random.IntN(5))
	values := map[string]any{"owner": owner, "title": fmt.Sprint(random.IntN(3)), "open": random.IntN(2) == 0, "secret": "s"}
	if random.IntN(2) == 0 {
		values["book_id"] = model.ID{15: 200}
	}
	r := record(n.notes, id, at%60, values)
	before := known[id]
	switch {
	case before == nil:
		known[id] = r
		return func(tx *store.Tx) error {
			_, err := tx.Insert(n.notes, r)
			return err
		}
	case random.IntN(4) == 0:
		delete(known, id)
		return func(tx *store.Tx) error {
			_, err := tx.Delete(n.notes, before)
			return err
		}
	default:
		known[id] = r
		return func(tx *store.Tx) error {
			_, err := tx.Update(n.notes, before, r)
			return err
		}
	}
}

var ofTheLog = regexp.MustCompile(`"change":\{"id":"[^"]*","by":null,"at":"[^"]*","revision":\d+\}`)

// untilLast is what a stream sends up to the note that was written last.
func untilLast(t *testing.T, s *Subscription) string {
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
			fmt.Fprintf(&b, "%s %s\n", event.Kind, ofTheLog.ReplaceAll(event.Data, []byte(`"change":{}`)))
			if event.ID == (model.ID{15: 99}) {
				return b.String()
			}
		}
	}
}
