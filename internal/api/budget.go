package api

import (
	"sync"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/problem"
)

// budget is the memory that the bodies of all requests in flight may take. Each body takes
// of it as it arrives, and gives it back when its request is answered.
//
// A caller gets half of it at most. Who needs more than is left waits for a moment. Bodies that come slowly then lose theirs,
// so that clients who stop in the middle of a body do not keep all others from writing.
type budget struct {
	all  int64
	most int64 // for one caller
	now  func() time.Time
	wait time.Duration // for others to give back what they have

	mutex   sync.Mutex
	left    int64
	held    map[string]int64 // by caller
	arrive  map[*upload]bool
	changed chan struct{} // closed when something is given back
}

// upload is a body that arrives.
type upload struct {
	budget *budget
	who    string
	held   int64
	giveUp func() // has the client's sending end; nil: that is not possible

	since    time.Time // when it last had sent slowEach bytes
	received int       // bytes since then
	slow     bool      // it has lost its place
}

const (
	slowEach   = 64 << 10 // bytes that a body must bring
	slowAfter  = time.Second
	budgetWait = 5 * time.Second
	budgetLook = 100 * time.Millisecond // between two looks for slow bodies
)

// newBudget makes a budget. Everybody may have one body of the largest size.
func newBudget(all, largest int64) *budget {
	return &budget{all: all, most: max(all/2, largest+1), left: all, held: map[string]int64{}, now: time.Now, wait: budgetWait, arrive: map[*upload]bool{}, changed: make(chan struct{})}
}

// begin starts a body of a caller. It must be ended.
func (b *budget) begin(who string, giveUp func()) *upload {
	u := &upload{budget: b, who: who, giveUp: giveUp, since: b.now()}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.arrive[u] = true
	return u
}

// take reserves memory ahead of its use.
func (u *upload) take(size int64) error {
	b := u.budget
	deadline := time.NewTimer(b.wait)
	defer deadline.Stop()
	for {
		changed, ok := b.tryTake(u, size)
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-time.After(budgetLook):
		case <-deadline.C:
			return fault.New(problem.CodeOverloaded, "The bodies of the requests that are being answered take all of the %d bytes that there are for them. Try again later.", b.all)
		}
	}
}

// tryTake reserves memory, if there is enough. If not, bodies that come slowly lose theirs.
func (b *budget) tryTake(u *upload, size int64) (changed <-chan struct{}, ok bool) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.left >= size && b.held[u.who]+size <= b.most {
		b.left -= size
		b.held[u.who] += size
		u.held += size
		return nil, true
	}
	now := b.now()
	u.since, u.received = now, 0 // the wait is not the client's doing
	for other := range b.arrive {
		if !other.slow && other.giveUp != nil && other.held > 0 && now.Sub(other.since) > slowAfter {
			other.slow = true
			other.giveUp()
		}
	}
	return b.changed, false
}

// came notes that bytes have arrived.
func (u *upload) came(count int) {
	u.budget.mutex.Lock()
	defer u.budget.mutex.Unlock()
	if u.received += count; u.received >= slowEach {
		u.since, u.received = u.budget.now(), 0
	}
}

// arrived says that all of the body is there, and reports whether it has lost its place.
func (u *upload) arrived() (slow bool) {
	u.budget.mutex.Lock()
	defer u.budget.mutex.Unlock()
	delete(u.budget.arrive, u)
	return u.slow
}

// end gives back what the body took.
func (u *upload) end() {
	if u == nil {
		return
	}
	b := u.budget
	b.mutex.Lock()
	defer b.mutex.Unlock()
	delete(b.arrive, u)
	b.left += u.held
	if b.held[u.who] -= u.held; b.held[u.who] <= 0 {
		delete(b.held, u.who)
	}
	u.held = 0
	close(b.changed)
	b.changed = make(chan struct{})
}
