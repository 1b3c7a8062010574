// Package limit bounds what requests use: how many are sent in a time (Buckets) and are in progress (InFlight), the time of
// their queries (QueryTimer), and the memory of their bodies and of the resources that they write (Budget).
package limit

import (
	"sync"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/problem"
)

// Budget is memory that all requests in flight share: for their bodies, or for the resources that they write
// and return. Each request reserves memory before it uses it, and releases it when it is answered. A caller gets
// at most half of the budget.
//
// A body reserves what it may need before it arrives. If that is more than is left, it waits. Slow bodies are
// then cancelled, so that clients that stop in the middle of a body do not block all others. Resources
// never wait: see NewWriteBudget.
type Budget struct {
	what string // uses it, for error messages
	all  int64
	most int64 // for one caller
	now  func() time.Time
	wait time.Duration // for others to release memory

	mutex   sync.Mutex
	left    int64
	held    map[string]int64      // by caller
	arrive  map[*Reservation]bool // bodies that are being received
	changed chan struct{}         // closed when memory is released; nil: nobody waits
}

// Reservation is what one request has reserved: for a body that is being received, or for resources.
type Reservation struct {
	budget *Budget
	who    string
	held   int64
	giveUp func() // cancels reading the body; nil: nothing arrives

	since    time.Time // start of the current slowEach bytes
	progress int       // bytes since then
	slow     bool      // it was cancelled
}

const (
	slowEach   = 64 << 10 // bytes that must arrive within slowAfter
	slowAfter  = time.Second
	budgetWait = 5 * time.Second
	budgetLook = 100 * time.Millisecond // between two checks for slow bodies
)

// NewBudget returns a budget. Every caller may have one body of the largest size.
func NewBudget(all, largest int64) *Budget {
	return &Budget{
		what:   "request bodies",
		all:    all,
		most:   max(all/2, largest+1),
		left:   all,
		held:   map[string]int64{},
		now:    time.Now,
		wait:   budgetWait,
		arrive: map[*Reservation]bool{},
	}
}

// NewWriteBudget returns a budget of the resources that requests and programs which write many hold, and of replies
// that are replayed. Writes take it in a transaction, where nothing can wait: others might wait for the transaction.
func NewWriteBudget(all int64) *Budget {
	b := NewBudget(all, 0)
	b.what, b.wait = "resources that requests write", 0
	return b
}

// Most is what one caller may hold.
func (b *Budget) Most() int64 { return b.most }

// Begin starts a body, or a write, of a caller. It must be ended.
func (b *Budget) Begin(who string, giveUp func()) *Reservation {
	u := &Reservation{budget: b, who: who, giveUp: giveUp, since: b.now()}
	if giveUp != nil {
		b.mutex.Lock()
		defer b.mutex.Unlock()
		b.arrive[u] = true
	}
	return u
}

// Take reserves memory, and waits if there is not enough.
func (u *Reservation) Take(size int64) error {
	b := u.budget
	changed, ok := b.tryTake(u, size)
	if ok {
		return nil
	}
	deadline := time.After(b.wait)
	for !ok {
		select {
		case <-changed:
		case <-time.After(budgetLook):
		case <-deadline:
			return fault.New(problem.CodeOverloaded, "The %s in flight use all of the %d bytes reserved for them. Try again later.", b.what, b.all)
		}
		changed, ok = b.tryTake(u, size)
	}
	return nil
}

// tryTake reserves memory if there is enough. If not, it cancels slow bodies.
func (b *Budget) tryTake(u *Reservation, size int64) (changed <-chan struct{}, ok bool) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.left >= size && b.held[u.who]+size <= b.most {
		b.left -= size
		b.held[u.who] += size
		u.held += size
		return nil, true
	}
	now := b.now()
	u.since, u.progress = now, 0 // the client did not cause the wait
	for other := range b.arrive {
		if !other.slow && other.held > 0 && now.Sub(other.since) > slowAfter {
			other.slow = true
			other.giveUp()
		}
	}
	if b.changed == nil {
		b.changed = make(chan struct{})
	}
	return b.changed, false
}

// Received counts bytes that have arrived.
func (u *Reservation) Received(count int) {
	u.budget.mutex.Lock()
	defer u.budget.mutex.Unlock()
	if u.progress += count; u.progress >= slowEach {
		u.since, u.progress = u.budget.now(), 0
	}
}

// Arrived ends the reception of a body that needs so much memory, releases the rest, and reports whether it
// was cancelled as slow.
func (u *Reservation) Arrived(needed int64) (slow bool) {
	u.budget.mutex.Lock()
	defer u.budget.mutex.Unlock()
	delete(u.budget.arrive, u)
	u.release(u.held - needed)
	return u.slow
}

// End releases the memory.
func (u *Reservation) End() {
	if u == nil {
		return
	}
	u.budget.mutex.Lock()
	defer u.budget.mutex.Unlock()
	delete(u.budget.arrive, u)
	u.release(u.held)
}

// release gives memory back to the budget, whose mutex is held.
func (u *Reservation) release(size int64) {
	b := u.budget
	u.held -= size
	b.left += size
	if b.held[u.who] -= size; b.held[u.who] <= 0 {
		delete(b.held, u.who)
	}
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}
