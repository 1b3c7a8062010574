package feed

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// gateTest has subscriptions wait at a gate, one after the other.
type gateTest struct {
	t       *testing.T
	gate    *gate
	entered chan string
	number  int64
}

// wait makes a subscription wait, and returns when it does or has entered.
func (g *gateTest) wait(ctx context.Context, ended <-chan struct{}, caller, name string) <-chan error {
	g.number++
	number, before := g.number, g.waiting()
	result := make(chan error, 1)
	inside := g.inside()
	go func() {
		err := g.gate.enter(ctx, ended, caller, number)
		if err == nil {
			g.entered <- name
		}
		result <- err
	}()
	waitFor(g.t, func() bool { return g.waiting() > before || g.inside() > inside })
	return result
}

func (g *gateTest) waiting() (n int) {
	g.gate.mutex.Lock()
	defer g.gate.mutex.Unlock()
	for _, q := range g.gate.callers {
		n += len(q.waiters)
	}
	return n
}

func (g *gateTest) inside() int {
	g.gate.mutex.Lock()
	defer g.gate.mutex.Unlock()
	return g.gate.inside
}

func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(maxWait); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not happen")
		}
	}
}

// TestGateServesCallersInTurn: somebody with one stream does not wait for the hundred of another, and
// nobody takes all slots.
func TestGateServesCallersInTurn(t *testing.T) {
	g := &gateTest{t: t, gate: newGate(4, 2, func(int) {}), entered: make(chan string, 200)}
	ctx := context.Background()
	for range 100 {
		g.wait(ctx, nil, "a", "a")
	}
	if inside := g.inside(); inside != 2 {
		t.Fatalf("one caller has %d slots of 4", inside)
	}
	for _, caller := range []string{"b", "b", "b", "c"} {
		g.wait(ctx, nil, caller, caller)
	}
	var order []string
	take := func(n int) {
		for range n {
			select {
			case caller := <-g.entered:
				order = append(order, caller)
			case <-time.After(maxWait):
				t.Fatalf("nobody enters after %v", order)
			}
		}
		if len(g.entered) != 0 {
			t.Fatalf("%d more have entered after %v", len(g.entered), order)
		}
	}
	take(4)
	for _, leaving := range []string{"a", "a", "b", "c", "a"} {
		g.gate.leave(leaving)
		take(1)
	}
	if want := []string{"a", "a", "b", "b", "c", "a", "b", "a", "a"}; !slices.Equal(order, want) {
		t.Errorf("they enter in the order %v, want %v", order, want)
	}
}

// TestGateFavoursTheFewest: while slots become free seldom, somebody who uses one for a moment gets the
// next one again, before those who keep theirs.
func TestGateFavoursTheFewest(t *testing.T) {
	g := &gateTest{t: t, gate: newGate(4, 2, func(int) {}), entered: make(chan string, 20)}
	ctx := context.Background()
	for _, caller := range []string{"a", "a", "b", "b", "a", "b", "c"} {
		g.wait(ctx, nil, caller, caller)
	}
	var order []string
	for _, leaving := range []string{"", "", "", "", "a", "c", "b"} {
		if leaving != "" {
			if leaving == "c" {
				g.wait(ctx, nil, "c", "c")
			}
			g.gate.leave(leaving)
		}
		order = append(order, <-g.entered)
	}
	// Now a has two, b and c one, and b waits.
	for caller, want := range map[string]bool{"a": true, "b": true, "c": false} {
		if g.gate.isDue(caller) != want {
			t.Errorf("%s is to leave: %v", caller, !want)
		}
	}
	if want := []string{"a", "a", "b", "b", "c", "c", "a"}; !slices.Equal(slices.Concat(slices.Sorted(slices.Values(order[:4])), order[4:]), want) {
		t.Errorf("they enter in the order %v, want %v", order, want)
	}
}

// TestGateWithoutWaiting: who ceases to wait leaves nothing, keeps its number, and is told why.
func TestGateWithoutWaiting(t *testing.T) {
	waiting := make(chan int, 100)
	g := &gateTest{t: t, gate: newGate(1, 1, func(change int) { waiting <- change }), entered: make(chan string, 10)}
	g.wait(context.Background(), nil, "a", "first")
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	second, third := g.wait(ctx, nil, "a", "second"), g.wait(context.Background(), ended, "b", "third")
	g.wait(context.Background(), nil, "a", "fourth")
	cancel()
	close(ended)
	if err := <-second; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := <-third; !errors.Is(err, errEnded) {
		t.Error(err)
	}
	g.number = 1 // the second waits once more
	g.wait(context.Background(), nil, "a", "second")
	var order []string
	for range 3 {
		order = append(order, <-g.entered)
		g.gate.leave("a")
	}
	if !slices.Equal(order, []string{"first", "second", "fourth"}) {
		t.Error(order)
	}
	if sum := drain(waiting); sum != 0 || g.gate.inside != 0 || len(g.gate.callers) != 0 {
		t.Errorf("%d wait, %d are inside, of %d callers", sum, g.gate.inside, len(g.gate.callers))
	}
}

// drain is the sum of what arrives until it is zero.
func drain(changes chan int) (sum int) {
	for sum = <-changes; sum != 0 || len(changes) > 0; {
		select {
		case change := <-changes:
			sum += change
		case <-time.After(maxWait):
			return sum
		}
	}
	return sum
}
