package limit

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
)

// TestSharesOfAGate: what a caller may hold depends on what others hold, and a few do not take everything.
func TestSharesOfAGate(t *testing.T) {
	for most, want := range map[int][]int{
		32: {16, 8, 4, 2, 1, 1, 0},
		8:  {4, 2, 1, 1, 0},
		3:  {2, 1, 0},
		2:  {1, 1, 0},
		1:  {1, 0},
		0:  {1, 0}, // at least one
	} {
		g := NewGate(most, 0)
		var got []int
		for caller := range want {
			count := 0
			for g.TryEnter(strconv.Itoa(caller)) {
				count++
			}
			if got = append(got, count); g.Held(strconv.Itoa(caller)) != count {
				t.Errorf("%d places: caller %d holds %d, not %d", most, caller, g.Held(strconv.Itoa(caller)), count)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("of %d places, callers get %v, want %v", most, got, want)
		}
	}
}

// TestPlacesOfTheProgram: the program may have all places and its own, and clients find none then. What it holds is not that of clients.
func TestPlacesOfTheProgram(t *testing.T) {
	g := NewGate(4, 3)
	enter := func(caller string) (count int) {
		for g.TryEnter(caller) {
			count++
		}
		return count
	}
	got := []int{enter("eve"), enter(""), enter("ada")}
	for range 5 {
		g.Leave("")
	}
	got = append(got, enter("eve"), enter("ada"), enter("bob"), enter(""))
	if want := []int{2, 5, 0, 0, 1, 1, 3}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// enterLater lets a caller wait, and returns when it waits behind all before it. The result comes through served.
func enterLater(g *Gate, ctx context.Context, caller string, number int, served chan<- int) {
	g.mutex.Lock()
	before := len(g.of(caller).waiting)
	g.mutex.Unlock()
	go func() {
		if err := g.Enter(ctx, caller); err != nil {
			number = -number
		}
		served <- number
	}()
	for waiting := before; waiting == before; runtime.Gosched() {
		g.mutex.Lock()
		waiting = len(g.of(caller).waiting)
		g.mutex.Unlock()
	}
}

// TestTurnsAtAGate: places go to the caller with the fewest, to callers with as many in turn, and to the requests of one
// in the order in which they came. Nobody who comes later is served before those who wait.
func TestTurnsAtAGate(t *testing.T) {
	g := NewGate(4, 0)
	for _, caller := range []string{"eve", "eve", "ada", "bob"} {
		if !g.TryEnter(caller) {
			t.Fatalf("%s gets no place", caller)
		}
	}
	served := make(chan int)
	left, leave := context.WithCancel(t.Context())
	for i, each := range []struct {
		caller string
		ctx    context.Context
	}{{"eve", t.Context()}, {"eve", left}, {"eve", t.Context()}, {"bob", t.Context()}, {"new", t.Context()}, {"ada", t.Context()}} {
		enterLater(g, each.ctx, each.caller, i+1, served)
	}
	leave()
	if got := <-served; got != -2 {
		t.Fatalf("%d has left, not 2", got)
	}
	for i, each := range []struct {
		leaves []string
		served int
	}{
		{[]string{"bob"}, 5},        // new has none, and was never admitted
		{[]string{"ada"}, 6},        // ada and bob have none; bob was admitted later
		{[]string{"new"}, 4},        // bob
		{[]string{"eve", "ada"}, 1}, // eve has one, so that two must be free
		{[]string{"eve"}, 3},
	} {
		for _, caller := range each.leaves {
			g.Leave(caller)
		}
		if g.TryEnter("eve") {
			t.Errorf("%d: one who comes later is served first", i)
		}
		if got := <-served; got != each.served {
			t.Errorf("%d: %d is served, not %d", i, got, each.served)
		}
	}
	for _, caller := range []string{"eve", "eve", "bob"} {
		g.Leave(caller)
	}
	if g.held != 0 || len(g.callers) != 0 {
		t.Errorf("%d places are held, by %v", g.held, g.callers)
	}
}

// TestGateWithCallersThatLeave: whoever waits may leave at any moment, also when a place is just given to them. There are never more
// than there are places, nor does a caller have more than its share, and nothing is left of those that have left.
func TestGateWithCallersThatLeave(t *testing.T) {
	const most = 6
	g := NewGate(most, 0)
	var inside [2]atomic.Int64
	var callers sync.WaitGroup
	for n := range 24 {
		callers.Go(func() {
			who, random := n%len(inside), rand.New(rand.NewPCG(1, uint64(n)))
			key := strconv.Itoa(who)
			for range 200 {
				ctx, leave := context.WithCancel(t.Context())
				if random.IntN(2) == 0 {
					go leave()
				}
				if err := g.Enter(ctx, key); err == nil {
					if count := inside[who].Add(1); count > most/2 {
						t.Errorf("a caller has %d places", count)
					}
					runtime.Gosched()
					inside[who].Add(-1)
					g.Leave(key)
				} else if !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				leave()
			}
		})
	}
	callers.Wait()
	if len(g.callers) > 0 || g.held != 0 {
		t.Errorf("%d places are held, by %v", g.held, g.callers)
	}
}
