package store

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/limit"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// TestPlacesAreShared: a few callers whose reads take long, of any kind, wait for their own, and others are served.
func TestPlacesAreShared(t *testing.T) {
	eachStore(t, (*model.Schema)(schema.Example()), func(t *testing.T, st *Store) {
		users := st.schema.Collection("users")
		name := users.Field("name").Column
		page := func(ctx context.Context) (func(), error) {
			p, err := st.Page(ctx, PageQuery{Collection: users, Sort: []query.SortKey{query.SortBy(name, false)}, Range: query.Range{Limit: 1}})
			if err != nil {
				return nil, err
			}
			return p.Close, nil
		}
		traits := st.db.Traits()
		for kind, c := range map[string]struct {
			gate *limit.Gate
			most int
			open func(context.Context) (func(), error)
		}{
			"pages": {st.pages, traits.PageReads, page},
			"groups": {st.pages, traits.PageReads, func(ctx context.Context) (func(), error) {
				g, err := st.Groups(ctx, GroupQuery{Collection: users, Range: query.Range{Limit: 1}})
				if err != nil {
					return nil, err
				}
				return g.Close, nil
			}},
			"short reads": {st.short, traits.ShortReads, func(ctx context.Context) (func(), error) {
				tx, err := st.Read(ctx)
				if err != nil {
					return nil, err
				}
				return tx.Close, nil
			}},
		} {
			t.Run(kind, func(t *testing.T) {
				as := func(caller string) context.Context { return limit.WithReader(t.Context(), &limit.Reader{Key: caller}) }
				var held []func()
				defer func() {
					for _, end := range held {
						end()
					}
				}()
				free := c.most
				for caller := range 3 { // each takes what it can get
					got := 0
					for ; got < free-got; got++ {
						end, err := c.open(as(fmt.Sprint(caller)))
						if err != nil {
							t.Fatalf("read %d of caller %d: %v", got, caller, err)
						}
						held = append(held, end)
					}
					free -= got
					if held := c.gate.Held(fmt.Sprint(caller)); held != got || c.gate.TryEnter(fmt.Sprint(caller)) {
						t.Fatalf("caller %d holds %d places, not %d, or gets one more", caller, held, got)
					}
				}
				if free == 0 {
					t.Fatal("three callers have all places")
				}
				for _, ctx := range []context.Context{as("another"), t.Context()} { // the latter is that of the program
					end, err := c.open(ctx)
					if err != nil {
						t.Fatal("another caller: ", err)
					}
					end()
				}
				waiting := make(chan error)
				go func() {
					end, err := c.open(as("2"))
					if err == nil {
						end()
					}
					waiting <- err
				}()
				held[len(held)-1]()
				held = held[:len(held)-1]
				if err := <-waiting; err != nil {
					t.Errorf("when one is closed, the next is served: got %v", err)
				}
			})
		}
		if st.pages.Held("0")+st.short.Held("0")+st.long.Held("0") > 0 {
			t.Error("places are not given back")
		}
	})
}

// TestLongReadsLeaveRoomForShortOnes: however many pages are being read, a short read finds a connection, and however many of them
// are long, so does the first part of another. The one beyond the last is refused.
func TestLongReadsLeaveRoomForShortOnes(t *testing.T) {
	wait := db.MaxWait
	db.MaxWait = time.Second
	t.Cleanup(func() { db.MaxWait = wait })
	eachStore(t, (*model.Schema)(schema.Example()), func(t *testing.T, st *Store) {
		page := func() *Page {
			p, err := st.Page(t.Context(), PageQuery{Collection: st.schema.Collection("users"), Sort: []query.SortKey{{}}, Range: query.Range{Limit: 1}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(p.Close)
			return p
		}
		traits := st.db.Traits()
		for range traits.LongReads {
			if err := page().Extend(); err != nil {
				t.Fatal(err)
			}
		}
		for range traits.PageReads - 1 {
			page()
		}
		if err := page().Extend(); !fault.Is(err, problem.CodeUnavailable) {
			t.Errorf("one more long read: %v", err)
		}
		tx, err := st.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		tx.Close()
	})
}

// TestPlacesOfFailedReads: a read that cannot begin, or that ends with an error, gives its place back.
func TestPlacesOfFailedReads(t *testing.T) {
	eachStore(t, (*model.Schema)(schema.Example()), func(t *testing.T, st *Store) {
		ctx, leave := context.WithCancel(limit.WithReader(t.Context(), &limit.Reader{Key: "eve"}))
		leave()
		for _, how := range []db.Use{db.OneQuery, db.ShortRead, db.PageInOne, db.PageInSeveral} {
			if tx, err := st.read(ctx, how); err == nil { // where the connection is taken later
				_, err = tx.Count(st.schema.Collection("users"), nil)
				tx.Close()
				if err == nil {
					t.Errorf("%v: no error", how)
				}
			}
		}
		if held := st.pages.Held("eve") + st.short.Held("eve"); held > 0 {
			t.Errorf("%d places are held", held)
		}
	})
}

// callers is a database that records for whom it writes.
type callers struct {
	db.Database
	all []string
}

func (c *callers) Write(ctx context.Context, t *db.Task) error {
	c.all = append(c.all, t.Caller)
	return c.Database.Write(ctx, t)
}

// TestWritesHaveTheirCaller: a task is that of the caller whose share its reads have, or of the program.
func TestWritesHaveTheirCaller(t *testing.T) {
	eachStore(t, (*model.Schema)(schema.Example()), func(t *testing.T, st *Store) {
		database := &callers{Database: st.db}
		st.db = database
		reader := &limit.Reader{Key: "eve"}
		timer := limit.NewQueryTimer(t.Context(), reader)
		defer timer.End()
		for _, ctx := range []context.Context{t.Context(), limit.WithReader(t.Context(), reader), timer, limit.WithReader(timer, nil)} {
			if err := st.Write(ctx, func(*Tx) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		if got := fmt.Sprintf("%q", database.all); got != `["" "eve" "eve" ""]` {
			t.Errorf("got the callers %s", got)
		}
	})
}
