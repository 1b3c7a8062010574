package store

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/schema"
)

// TestQuotaOfPages: a caller whose queries take long waits for its own, and others are served.
func TestQuotaOfPages(t *testing.T) {
	eachStore(t, (*model.Schema)(schema.Example()), func(t *testing.T, st *Store) {
		users := st.schema.Collection("users")
		name := users.Field("name").Column
		page := func(ctx context.Context, caller string) (*Page, error) {
			return st.Page(ctx, PageQuery{Collection: users, Sort: []query.SortKey{{Column: name}}, Range: query.Range{Limit: 1}, QuotaKey: caller})
		}
		var held []*Page
		defer func() {
			for _, p := range held {
				p.Close()
			}
		}()
		for range st.pages.most {
			p, err := page(t.Context(), "eve")
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, p)
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		if p, err := page(gone, "eve"); !errors.Is(err, context.Canceled) {
			p.Close()
			t.Errorf("one more for the same caller: got %v", err)
		}
		p, err := page(t.Context(), "ada")
		if err != nil {
			t.Fatalf("another caller: got %v", err)
		}
		p.Close()
		waiting := make(chan error)
		go func() {
			p, err := page(t.Context(), "eve")
			if err == nil {
				p.Close()
			}
			waiting <- err
		}()
		held[0].Close()
		held = held[1:]
		if err := <-waiting; err != nil {
			t.Errorf("when one is closed, the next is served: got %v", err)
		}
	})
}

// TestReadsAreGivenInTurn: nobody who comes later gets a read before those who wait.
func TestReadsAreGivenInTurn(t *testing.T) {
	quota := newReadQuota(1)
	if !quota.acquire("eve") {
		t.Fatal("the first read is refused")
	}
	served := make(chan int)
	left, leave := context.WithCancel(t.Context())
	for i, ctx := range []context.Context{t.Context(), left, t.Context()} {
		go func() {
			if err := quota.wait(ctx, "eve"); err != nil {
				served <- -i
				return
			}
			served <- i
		}()
		for waiting := 0; waiting <= i; runtime.Gosched() { // until it waits behind those before it
			quota.mutex.Lock()
			waiting = len(quota.waiting["eve"])
			quota.mutex.Unlock()
		}
	}
	leave()
	var got []int
	got = append(got, <-served)
	for range 2 {
		quota.release("eve")
		if quota.acquire("eve") {
			t.Error("one who comes later is served first")
		}
		got = append(got, <-served)
	}
	quota.release("eve")
	if want := []int{-1, 0, 2}; !slices.Equal(got, want) || len(quota.held)+len(quota.waiting) > 0 {
		t.Errorf("got %v, want %v; left are %v, %v", got, want, quota.held, quota.waiting)
	}
}

// TestQuotaWithCallersThatLeave: whoever waits may leave at any moment, also when a read is just given to them. No caller has
// more reads than its quota, and nothing is left of those that are released.
func TestQuotaWithCallersThatLeave(t *testing.T) {
	const most = 3
	quota := newReadQuota(most)
	var reading [2]atomic.Int64
	var callers sync.WaitGroup
	for g := range 24 {
		callers.Go(func() {
			who, random := g%len(reading), rand.New(rand.NewPCG(1, uint64(g)))
			key := strconv.Itoa(who)
			for range 200 {
				ctx, leave := context.WithCancel(t.Context())
				if random.IntN(2) == 0 {
					go leave()
				}
				if err := quota.wait(ctx, key); err == nil {
					if n := reading[who].Add(1); n > most {
						t.Errorf("a caller has %d reads", n)
					}
					runtime.Gosched()
					reading[who].Add(-1)
					quota.release(key)
				} else if !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				leave()
			}
		})
	}
	callers.Wait()
	if len(quota.held) > 0 || len(quota.waiting) > 0 {
		t.Errorf("%v are held, and %v wait", quota.held, quota.waiting)
	}
}
