package feed

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/limit"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
)

func idOf(i int) model.ID { return model.ID{13: byte(i >> 16), 14: byte(i >> 8), 15: byte(i)} }

// fill creates links with labels of a size.
func (n *notes) fill(t *testing.T, from, count, size int) {
	t.Helper()
	err := n.feed.store.Write(context.Background(), func(tx *store.Tx) error {
		for i := from; i < from+count; i++ {
			r := record(n.links, 0, 0, map[string]any{"label": strings.Repeat("x", size)})
			r[model.IDColumn] = model.IDValue(idOf(i))
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
}

// begin subscribes for a caller.
func (n *notes) begin(t *testing.T, shape Shape, position, caller string) *Subscription {
	t.Helper()
	s, err := n.feed.Subscribe(context.Background(), shape, position, caller)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// received is a call of Next.
type received struct {
	events []Event
	err    error
}

// start calls Next, and returns when that waits for a slot or has ended.
func (n *notes) start(ctx context.Context, t *testing.T, s *Subscription) <-chan received {
	result, waited := make(chan received, 1), n.waited.Load()
	go func() {
		events, err := s.Next(ctx)
		result <- received{events, err}
	}()
	waitFor(t, func() bool { return len(result) > 0 || n.waited.Load() > waited })
	return result
}

// takeAll takes all places that a caller gets.
func takeAll(g *limit.Gate, caller string) (taken int) {
	for g.TryEnter(caller) {
		taken++
	}
	return taken
}

// free is how many places of a gate nobody has.
func free(g *limit.Gate) (n int) {
	for g.TryEnter(fmt.Sprint("newcomer ", n)) {
		n++
	}
	for i := range n {
		g.Leave(fmt.Sprint("newcomer ", i))
	}
	return n
}

// TestHeldParts: streams that resume far back and whose clients do not receive anything hold a bounded
// number of parts together, each of a bounded size, and fewer of one caller. Streams that follow the
// log do not notice. A slot that is given back is another's.
func TestHeldParts(t *testing.T) {
	eachDatabase(t, func() Options { return Options{} }, func(t *testing.T, n *notes) {
		shape := Shape{Path: reads.Path{Collection: n.links}}
		listed := n.begin(t, shape, "", "first")
		start := take(t, listed, 1)[0].Position
		listed.Close()
		const rows, size = 12, 100 << 10
		n.fill(t, 1, rows, size)
		follower := n.begin(t, Shape{Path: reads.Path{Collection: n.books}}, "", "follower")
		take(t, follower, 1)
		idle(t, follower)

		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		held, bytes := map[string]int{}, 0
		var waiting []<-chan received
		var all, stalled []*Subscription
		for i := range 60 {
			caller := fmt.Sprint("caller ", min(i/12, 4)) // the last one has 12 as well
			s := n.begin(t, shape, start, caller)
			all = append(all, s)
			result := n.start(ctx, t, s)
			select {
			case got := <-result:
				if got.err != nil {
					t.Fatal(got.err)
				}
				held[caller]++
				part := 0
				for _, event := range got.events {
					part += len(event.Data)
				}
				if part < size || part > partBytes+2*size {
					t.Fatalf("a part has %d bytes", part)
				}
				bytes += part
				stalled = append(stalled, s)
			default:
				waiting = append(waiting, result)
			}
		}
		// A caller gets a place while more are free than it has.
		if want := map[string]int{"caller 0": 12, "caller 1": 10, "caller 2": 5, "caller 3": 3, "caller 4": 1}; !maps.Equal(held, want) || bytes > mostParts*(partBytes+2*size) {
			t.Errorf("parts of %d bytes are held: %v", bytes, held)
		}
		// Those who follow need no slot.
		n.mustDo(t, http.MethodPost, n.books, model.ID{15: 7}, map[string]any{"name": "a"})
		if got := take(t, follower, 1); got[0].Kind != Created {
			t.Error(got)
		}
		// Others do not wait for all of those in front: the next one gets the last place, the one after it the first that becomes free.
		last := n.begin(t, shape, start, "last")
		all = append(all, last)
		if got := <-n.start(context.Background(), t, last); got.err != nil {
			t.Fatal(got.err)
		}
		other := n.begin(t, shape, start, "other")
		first := n.start(context.Background(), t, other)
		stalled[0].Close()
		got := <-first
		cancel()
		for i := range waiting {
			<-waiting[i]
		}
		for _, each := range all {
			each.Close()
		}
		if got.err != nil {
			t.Fatal(got.err)
		}
		events := append(got.events, take(t, other, rows-len(got.events))...)
		for i, event := range events {
			if event.Kind != Created || event.ID != idOf(i+1) {
				t.Errorf("event %d is %s %s", i, event.Kind, event.ID)
			}
		}
		idle(t, other)
		n.checkUnused(t)
	})
}

// idle is the call of Next after all events were sent.
func idle(t *testing.T, s *Subscription) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if events, err := s.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("there are %d events: %v", len(events), err)
	}
}

// checkUnused makes sure that nobody holds a place.
func (n *notes) checkUnused(t *testing.T) {
	t.Helper()
	unused, used := newGates(n.feed.store.MostReads()), n.feed.gates
	got, want := []int{free(used.parts), free(used.snapshots), free(used.reads)}, []int{free(unused.parts), free(unused.snapshots), free(unused.reads)}
	if !slices.Equal(got, want) {
		t.Errorf("free are the places %v of %v", got, want)
	}
}

// TestSlotFromPartToPart: a subscription that catches up keeps its slot for a while if its client
// receives the parts, and then lets others go first.
func TestSlotFromPartToPart(t *testing.T) {
	eachDatabaseURL(t, func(t *testing.T, url string) {
		var passed atomic.Int64
		n := openNotes(t, url, Options{Now: func() time.Time { return time.Unix(passed.Load(), 0) }})
		shape := Shape{Path: reads.Path{Collection: n.links}}
		listed := n.begin(t, shape, "", "first")
		start := take(t, listed, 1)[0].Position
		listed.Close()
		n.fill(t, 1, 6, 2*partBytes)
		all := n.feed.gates.parts
		n.feed.gates.parts = limit.NewGate(1, 0)
		a, b := n.begin(t, shape, start, "a"), n.begin(t, shape, start, "b")
		expectNext := func(got received, want int) {
			t.Helper()
			if got.err != nil || len(got.events) != 1 || got.events[0].ID != idOf(want) {
				t.Fatalf("got %d events, %v, want number %d", len(got.events), got.err, want)
			}
		}
		background := context.Background()
		expectNext(<-n.start(background, t, a), 1)
		waiting := n.start(background, t, b)
		for i := 2; i < 5; i++ {
			passed.Add(1)
			expectNext(<-n.start(background, t, a), i)
		}
		passed.Add(int64(mostTime / time.Second))
		again := n.start(background, t, a)
		expectNext(<-waiting, 1)
		b.Close()
		expectNext(<-again, 5)
		expectNext(<-n.start(background, t, a), 6)
		idle(t, a)
		if free(n.feed.gates.parts) != 1 {
			t.Error("the place is not given back")
		}
		n.feed.gates.parts = all
		n.checkUnused(t)
	})
}

// TestLargeEvents: events that are too large to be kept reach all followers once and in order, also
// those that follow between them, and what is kept stays small.
func TestLargeEvents(t *testing.T) {
	var mutex sync.Mutex
	most := int64(0)
	options := func() Options {
		return Options{Metrics: Metrics{KeptBytes: func(bytes int64) {
			mutex.Lock()
			defer mutex.Unlock()
			most = max(most, bytes)
		}}}
	}
	eachDatabase(t, options, func(t *testing.T, n *notes) {
		shape := Shape{Path: reads.Path{Collection: n.links}}
		var followers []*Subscription
		for i := range 40 {
			followers = append(followers, n.begin(t, shape, "", fmt.Sprint("caller ", i%10)))
			take(t, followers[i], 1)
			idle(t, followers[i])
		}
		const rounds = 3
		for round := range rounds {
			n.fill(t, 100*round, 5, 10)
			n.fill(t, 100*round+5, 2, 3*largeBytes)
			n.fill(t, 100*round+7, 5, 10)
		}
		var group sync.WaitGroup
		for i, s := range followers {
			group.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), maxWait)
				defer cancel()
				var ids []model.ID
				for len(ids) < rounds*12 {
					events, err := s.Next(ctx)
					if err != nil {
						t.Error(i, err)
						return
					}
					for _, event := range events {
						ids = append(ids, event.ID)
					}
				}
				idle(t, s)
				for j, id := range ids {
					if want := idOf(100*(j/12) + j%12); id != want {
						t.Errorf("follower %d: event %d is %s, want %s", i, j, id, want)
						return
					}
				}
			})
		}
		group.Wait()
		n.checkUnused(t)
		mutex.Lock()
		defer mutex.Unlock()
		if most > rounds*12*2000 {
			t.Errorf("%d bytes were kept", most)
		}
	})
}

// TestBatchesAreSmall: a follower that does not send its events keeps only a small part of what was
// read together.
func TestBatchesAreSmall(t *testing.T) {
	n := openNotes(t, sqliteURL(t), Options{}) // no reader: the test does its work
	s := n.subscribe(t, Shape{Path: reads.Path{Collection: n.links}}, "")
	take(t, s, 1)
	const count, size = 400, 5000
	n.fill(t, 0, count, size)
	if err := n.feed.numberAndRead(context.Background()); err != nil {
		t.Fatal(err)
	}
	collected := make(chan int, count)
	for b := s.at.next; b != nil; b = b.next {
		if len(b.events) == 0 || b.bytes > batchBytes {
			t.Fatalf("a batch has %d events and %d bytes", len(b.events), b.bytes)
		}
		for i := range b.events {
			runtime.AddCleanup(&b.events[i].Data[0], func(bytes int) { collected <- bytes }, len(b.events[i].Data))
		}
	}
	events, err := s.Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	n.feed.mutex.Lock()
	n.feed.options.Kept = 1
	n.feed.forget()
	n.feed.mutex.Unlock()
	left := count
	waitFor(t, func() bool {
		runtime.GC()
		for len(collected) > 0 {
			<-collected
			left--
		}
		return left <= len(events)
	})
	if size*len(events) > batchBytes {
		t.Errorf("%d events were returned together", len(events))
	}
	all := append(events, take(t, s, count-len(events))...)
	for i, event := range all {
		if event.ID != idOf(i) {
			t.Fatalf("event %d is %s", i, event.ID)
		}
	}
}

// TestManyStreamsAtOnce: many streams that begin at once on a database with few connections all get their snapshot,
// whether that is short or long, and others can read meanwhile.
func TestManyStreamsAtOnce(t *testing.T) {
	for name, size := range map[string]int{"short": 10, "long": 2 * pieceBytes} {
		t.Run(name, func(t *testing.T) {
			var mutex sync.Mutex
			waiting, most := 0, 0
			n := openNotes(t, pgtest.URL(t)+"&pool_max_conns=6", Options{Begin: maxWait, Metrics: Metrics{Waiting: func(change int) {
				mutex.Lock()
				defer mutex.Unlock()
				waiting += change
				most = max(most, waiting)
			}}})
			n.run(t)
			const rows = 3
			n.fill(t, 1, rows, size)
			count := 500
			var group sync.WaitGroup
			for i := range count {
				group.Go(func() {
					s, err := n.feed.Subscribe(context.Background(), Shape{Path: reads.Path{Collection: n.links}}, "", fmt.Sprint("caller ", i%20))
					if err != nil {
						t.Error(err)
						return
					}
					defer s.Close()
					if events := take(t, s, rows+1); events[rows].Kind != Synced {
						t.Error(events[rows].Kind)
					}
				})
			}
			group.Wait()
			n.checkUnused(t)
			mutex.Lock()
			defer mutex.Unlock()
			if waiting != 0 || most < 100 {
				t.Errorf("%d wait, and at most %d did", waiting, most)
			}
		})
	}
}

// TestNoTurn: a stream that does not get its turn in time is refused, and leaves nothing.
func TestNoTurn(t *testing.T) {
	n := openNotes(t, sqliteURL(t), Options{Begin: time.Millisecond})
	takeAll(n.feed.gates.reads, "test")
	_, err := n.feed.Subscribe(context.Background(), Shape{Path: reads.Path{Collection: n.links}}, "", "test")
	if !fault.Is(err, problem.CodeOverloaded) || !strings.Contains(err.Error(), "this one has waited 1ms for its turn") {
		t.Error(err)
	}
	n.feed.gates.reads = newGates(n.feed.store.MostReads()).reads // those of the test
	n.checkUnused(t)
	if len(n.feed.subscriptions) != 0 {
		t.Errorf("%d streams are left", len(n.feed.subscriptions))
	}
}

// TestStopBeforeTheTurn: a stream that waits for its turn when the server stops fails with the reason of the stop.
func TestStopBeforeTheTurn(t *testing.T) {
	waiting := make(chan int, 2)
	n := openNotes(t, sqliteURL(t), Options{Begin: maxWait, Metrics: Metrics{Waiting: func(change int) { waiting <- change }}})
	takeAll(n.feed.gates.reads, "test")
	reason := fault.New(problem.CodeUnavailable, "The server is shutting down.")
	ctx, stop := context.WithCancelCause(context.Background())
	go func() {
		<-waiting
		stop(reason)
	}()
	if _, err := n.feed.Subscribe(ctx, Shape{Path: reads.Path{Collection: n.links}}, "", "test"); !errors.Is(err, reason) {
		t.Errorf("got %v", err)
	}
}
