package store

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/schema"
)

// TestPoints: a change is in a list or behind its point, and never both, while others write.
// All ways to read a page are tried.
func TestPoints(t *testing.T) {
	s := (*model.Schema)(schema.Example())
	users := s.Collection("users")
	pages := map[string]PageQuery{
		"first page": {Range: query.Range{Limit: 100}},
		"offset":     {Range: query.Range{Anchor: query.AtOffset, Offset: 1, Limit: 90}},
		"sorted":     {Range: query.Range{Limit: 1000}, Sort: []query.SortKey{query.SortBy(users.CreatedColumn(), false)}},
	}
	eachStore(t, s, func(t *testing.T, st *Store) {
		first := insert(t, st, users, `{"name":"A","email":"first@example.com"}`) // not in the page at an offset
		const writers, each = 8, 10
		var writing sync.WaitGroup
		for w := range writers {
			writing.Go(func() {
				for i := range each {
					insert(t, st, users, fmt.Sprintf(`{"name":"A","email":"%d-%d@example.com"}`, w, i))
				}
			})
		}
		done := make(chan struct{})
		go func() { writing.Wait(); close(done) }()
		type list struct {
			how   string
			point changelog.Point
			has   map[model.ID]bool
		}
		var taken []list
		for ended := false; !ended; {
			select {
			case <-done:
				ended = true
			default:
			}
			for how, q := range pages {
				q.Collection, q.Unfiltered = users, true
				p, err := st.Page(context.Background(), q)
				if err != nil {
					t.Fatal(err)
				}
				l := list{how, p.Point, map[model.ID]bool{first.ID(model.IDColumn): true}}
				if err := readPage(p, func(row model.Row) { l.has[row.ID(model.IDColumn)] = true }); err != nil {
					t.Fatal(err)
				}
				p.Close()
				taken = append(taken, l)
			}
			if len(taken)%2 == 0 { // not always: lists see changes without a position
				if _, err := st.AssignNumbers(context.Background()); err != nil {
					t.Error(err)
				}
			}
		}
		if _, err := st.AssignNumbers(context.Background()); err != nil {
			t.Fatal(err)
		}
		log := entries(t, st)
		if len(log) != writers*each+1 {
			t.Fatalf("the log has %d changes", len(log))
		}
		for _, l := range taken {
			for _, e := range log {
				if l.point.Has(&e) != l.has[e.ID] {
					t.Fatalf("%s: the point %+v has %+v: %t, and the list: %t", l.how, l.point, e, l.point.Has(&e), l.has[e.ID])
				}
			}
		}
	})
}

// entries are all changes that have a position, without their states.
func entries(t *testing.T, st *Store) (log []changelog.Entry) {
	t.Helper()
	read(t, st, func(tx *Tx) {
		err := db.Each(tx.conn, func(row model.Row) {
			log = append(log, changelog.Entry{Number: row.Int(0), Revision: row.Int(1), ID: row.ID(2), Transaction: db.BitsOf(row.Int(3))})
		}, `SELECT position, revision, id, "transaction" FROM `+st.db.PositionedLog()+" AS log ORDER BY position")
		if err != nil {
			t.Error(err)
		}
	})
	return log
}

// TestPointHas: a database that has crashed gives the numbers of failed transactions again.
func TestPointHas(t *testing.T) {
	p := changelog.Point{Number: 10, Revision: 20, Seen: db.Snapshot{Min: 5, Max: 9, Running: []uint64{5, 7}}}
	var has []bool
	for _, e := range []changelog.Entry{
		{Number: 10, Revision: 30, Transaction: 99}, // it had a position
		{Number: 11, Revision: 19, Transaction: 4},
		{Number: 11, Revision: 20, Transaction: 8},
		{Number: 11, Revision: 21, Transaction: 8}, // of another transaction with the same number
		{Number: 11, Revision: 19, Transaction: 7},
		{Number: 11, Revision: 19, Transaction: 9},
		{Number: 11, Revision: 0, Transaction: 0},
	} {
		has = append(has, p.Has(&e))
	}
	if want := []bool{true, true, true, false, false, false, false}; !slices.Equal(has, want) {
		t.Errorf("got %v, want %v", has, want)
	}
}

func TestParseSnapshot(t *testing.T) {
	for text, want := range map[string]db.Snapshot{
		"":                 {},
		"7:7:":             {Min: 7, Max: 7},
		"3:9:3,8":          {Min: 3, Max: 9, Running: []uint64{3, 8}},
		"1:4294967296999:": {Min: 1, Max: 4294967296999},
	} {
		if got, err := db.ParseSnapshot(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"1", "1:2", "1:2:3:4", "a:2:", "1:2:x", "3:2:", "3:9:8,3", "3:9:2", "3:9:9", "-1:2:", "1:2:,"} {
		if got, err := db.ParseSnapshot(text); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
}
