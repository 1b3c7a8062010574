package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgserver"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/schema"
)

// TestSequenceAfterCrashes: the database crashes while servers write, roll back, give positions and list.
// What a follower has read stays what it is, and the points of lists that were read before a
// crash tell apart what they have seen: the numbers of transactions that were rolled back
// are given again.
func TestSequenceAfterCrashes(t *testing.T) {
	t.Parallel()
	s := (*model.Schema)(schema.Example())
	users := s.Collection("users")
	server, err := pgserver.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	start := func() {
		// The log writer is slow, so that a crash loses what nobody waits for.
		if err := server.Start(context.Background(), "fsync=off", "wal_writer_delay=10s", "autovacuum=off"); err != nil {
			t.Fatal(err)
		}
	}
	if err := server.Init(); err != nil {
		t.Fatal(err)
	}
	start()
	url := pgserver.URL("postgres", server)
	one, two := open(t, url, s), open(t, url, s)
	f := &follower{store: two, from: two.db.PositionedLog()}

	type list struct {
		point changelog.Point
		has   map[model.ID]bool
	}
	var lists []list
	const crashes, writers, each = 4, 4, 8
	written := map[model.ID]bool{}
	var mutex sync.Mutex
	for round := range crashes + 1 {
		var writing sync.WaitGroup
		for w := range writers {
			writing.Go(func() {
				for i := range each {
					var id model.ID
					err := one.Write(context.Background(), func(tx *Tx) error {
						record := user(tx, users, fmt.Sprintf("%d-%d-%d", round, w, i))
						id = record.ID(model.IDColumn)
						if _, err := tx.Insert(users, record); err != nil || i%3 == 2 {
							return errors.Join(err, errOnPurpose)
						}
						return nil
					})
					if err != nil {
						continue
					}
					mutex.Lock()
					written[id] = true
					mutex.Unlock()
				}
			})
		}
		// Each step may fail, and is then left out.
		for range 6 {
			if _, err := two.AssignNumbers(context.Background()); err == nil {
				f.read(t)
			}
			if l, err := listAll(two, users); err == nil {
				lists = append(lists, list{l.Point, l.has})
			}
		}
		writing.Wait()
		if round == crashes {
			break
		}
		// Roll something back, list, and crash at once.
		_ = one.Write(context.Background(), func(tx *Tx) error {
			_, err := tx.Insert(users, user(tx, users, fmt.Sprint("gone-", round)))
			return errors.Join(err, errOnPurpose)
		})
		if l, err := listAll(two, users); err == nil {
			lists = append(lists, list{l.Point, l.has})
		}
		if err := server.Stop(); err != nil {
			t.Fatal(err)
		}
		start()
		for answers := false; !answers; { // the pools notice that their connections are gone
			_, err := two.AssignNumbers(context.Background())
			if answers = err == nil && one.Ping(context.Background()) == nil; !answers {
				time.Sleep(10 * time.Millisecond)
			}
		}
	}
	f.sequence(t)
	f.expectLog(t, countChanges(t, two))
	found := map[model.ID]bool{}
	log := entries(t, two)
	for _, e := range log {
		found[e.ID] = true
	}
	for id := range written {
		if !found[id] {
			t.Errorf("%s was acknowledged, and is not in the log", id)
		}
	}
	reused := 0
	for _, l := range lists {
		for _, e := range log {
			if l.point.Has(&e) != l.has[e.ID] {
				t.Errorf("the point %+v has %+v: %t, and the list: %t", l.point, e, l.point.Has(&e), l.has[e.ID])
			}
			if l.point.Seen.Has(e.Transaction) && !l.has[e.ID] {
				reused++
			}
		}
	}
	t.Logf("%d changes, %d lists, %d times a number was given again", len(log), len(lists), reused)
}

type listed struct {
	changelog.Point
	has map[model.ID]bool
}

func listAll(st *Store, c *model.Collection) (l listed, err error) {
	p, err := st.Page(context.Background(), PageQuery{Collection: c, Unfiltered: true, Range: query.Range{Limit: 10_000}})
	if err != nil {
		return l, err
	}
	defer p.Close()
	l = listed{p.Point, map[model.ID]bool{}}
	return l, readPage(p, func(row model.Row) { l.has[row.ID(model.IDColumn)] = true })
}
