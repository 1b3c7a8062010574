package limit

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// Gate bounds how many requests do something at the same time, and shares the places between callers. A caller gets
// another place only while more places are free than it holds. So one caller has at most half of all places, a second one
// half of the rest, and so on: a few callers with many slow requests do not take the last place. Whoever
// must wait gets a place in turn: the caller with the fewest places first, of callers with as many the one that was not admitted
// for the longest time, and the requests of one caller in the order in which they came.
//
// The caller with an empty key is the program. It may have all places that are free, and as many more as are its own.
type Gate struct {
	most, own int

	mutex    sync.Mutex
	held     int
	clients  int   // of these, those that clients hold
	admitted int64 // how many were, since the beginning
	callers  map[string]*places
	spare    *places // of a caller that was forgotten: most calls are of one that holds nothing else
}

// places is what one caller holds, and what it waits for.
type places struct {
	program bool
	held    int
	last    int64           // number of the last admission
	waiting []chan struct{} // each is closed when its request is admitted
}

// NewGate returns a gate with a number of places, at least one, and those that are the program's own.
func NewGate(most, own int) *Gate {
	return &Gate{most: max(1, most), own: own, callers: map[string]*places{}}
}

// TryEnter takes a place for a caller, if it may have one now. The place must be left.
func (g *Gate) TryEnter(caller string) bool {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	p := g.of(caller)
	if !g.mayAdmit(p) {
		g.forget(caller, p)
		return false
	}
	g.admit(p)
	return true
}

// Enter waits until the caller has a place, which must be left. If the context ends before, it returns the cause.
func (g *Gate) Enter(ctx context.Context, caller string) error {
	if g.TryEnter(caller) {
		return nil
	}
	admitted := make(chan struct{})
	g.mutex.Lock()
	p := g.of(caller)
	p.waiting = append(p.waiting, admitted)
	g.admitWaiting() // a place may have become free meanwhile
	g.mutex.Unlock()
	select {
	case <-admitted:
		return nil
	case <-ctx.Done():
	}
	g.mutex.Lock()
	defer g.mutex.Unlock()
	at := slices.Index(p.waiting, admitted)
	if at < 0 {
		return nil // admitted at the same moment
	}
	p.waiting = slices.Delete(p.waiting, at, at+1)
	g.forget(caller, p)
	return context.Cause(ctx)
}

// Leave gives a place back, and admits those who wait for it.
func (g *Gate) Leave(caller string) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	p := g.callers[caller]
	g.take(p, -1)
	g.forget(caller, p)
	g.admitWaiting()
}

// Held is how many places a caller has.
func (g *Gate) Held(caller string) int {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if p := g.callers[caller]; p != nil {
		return p.held
	}
	return 0
}

// The mutex is locked in all of the following.

func (g *Gate) of(caller string) *places {
	p := g.callers[caller]
	if p == nil {
		if p, g.spare = g.spare, nil; p == nil {
			p = &places{}
		}
		p.program = caller == ""
		g.callers[caller] = p
	}
	return p
}

func (g *Gate) mayAdmit(p *places) bool {
	return g.held < g.most+g.own && (p.program || p.held < g.most-g.clients)
}

func (g *Gate) admit(p *places) {
	g.take(p, 1)
	g.admitted++
	p.last = g.admitted
}

func (g *Gate) take(p *places, change int) {
	g.held += change
	p.held += change
	if !p.program {
		g.clients += change
	}
}

func (g *Gate) admitWaiting() {
	for {
		var next *places
		for _, p := range g.callers {
			if len(p.waiting) > 0 && g.mayAdmit(p) && (next == nil || cmp.Or(cmp.Compare(p.held, next.held), cmp.Compare(p.last, next.last)) < 0) {
				next = p
			}
		}
		if next == nil {
			return
		}
		g.admit(next)
		close(next.waiting[0])
		next.waiting = next.waiting[1:]
	}
}

// forget removes a caller that neither holds nor waits for anything.
func (g *Gate) forget(caller string, p *places) {
	if p.held == 0 && len(p.waiting) == 0 {
		delete(g.callers, caller)
		p.last = 0
		g.spare = p
	}
}
