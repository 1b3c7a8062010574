package feed

import (
	"slices"
	"time"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/model"
)

// Changes have numbers, in the order of the log. A position, which clients get as the id of an event, is a signed text that contains
// a number: see position.go.

// chain is the events of a shape, which all its subscriptions share. The mutex of the feed guards everything but
// the view.
type chain struct {
	view          *view
	key           string // of Feed.chains
	quotaKey      string // of the caller who was the first to subscribe, whose budget it takes
	subscriptions int
	attached      int    // subscriptions that read the chain
	tail          *batch // its last batch, whose next is nil
}

// batch is a part of a chain: its events of some changes that were read together.
// A batch is immutable, except that it loses its events when all subscriptions have read it, or
// when too many bytes are kept. One with a large event, or with changes that cost too much to match,
// never has any: each subscription reads it from the database, when it is its turn.
type batch struct {
	from, to int64     // what the log has for the shape after from, up to to
	events   []Event   // and effects
	plain    bool      // no event has an effect
	oldest   time.Time // of the changes
	bytes    int64
	unread   int // subscriptions that have not read it
	emptied  bool

	next     *batch
	appended chan struct{} // closed when there is a next
}

// eventOverhead is about what an event takes besides its data and its position.
const eventOverhead = 160

// size is how many bytes an event takes, about. One whose event was left out is too large to be kept.
func (e *Event) size() int64 {
	if e.effect == leftOut {
		return largeBytes + 1
	}
	return eventOverhead + int64(len(e.Data)+len(e.Position))
}

const (
	batchBytes = 32 << 10 // of the events of a batch, about: a subscription that does not send them keeps them
	largeBytes = 64 << 10 // larger events are not kept

	// callerWork is how much of the work of matching changes that are read together (see view.work) the
	// reader does for the shapes of one caller, while all others wait. It takes about 10 ms.
	callerWork = 16 << 20
)

// newBatches divides events, which are all that the log has for a shape after from, up to to. An event
// that is too large to be kept is a batch without events, so that each subscription reads it from the
// database, one after the other.
func newBatches(from, to int64, events []Event, oldest time.Time) (batches []*batch) {
	for len(events) > 0 {
		n, bytes := 1, events[0].size()
		for ; n < len(events) && bytes+events[n].size() <= batchBytes; n++ {
			bytes += events[n].size()
		}
		b := &batch{from: from, to: events[n-1].number, oldest: oldest, appended: make(chan struct{})}
		if b.emptied = bytes > largeBytes; !b.emptied {
			b.events, b.bytes = slices.Clone(events[:n]), bytes // a batch must not keep those of others
			b.plain = !slices.ContainsFunc(b.events, func(e Event) bool { return e.effect != noEffect })
		}
		batches, events, from = append(batches, b), events[n:], b.to
	}
	batches[len(batches)-1].to = to
	return batches
}

// append adds a batch to a chain and wakes its subscriptions. The mutex is locked.
func (f *Feed) append(c *chain, b *batch) {
	if c.attached == 0 {
		return // nobody would read it
	}
	b.unread = c.attached
	c.tail.next = b
	close(c.tail.appended)
	c.tail = b
	if b.emptied {
		return
	}
	f.kept = append(f.kept, b)
	f.keptBytes += b.bytes
	f.forget()
}

// forget empties the oldest batches while too many bytes are kept. The mutex is locked.
func (f *Feed) forget() {
	n := 0
	for n < len(f.kept) && (f.kept[n].events == nil || f.keptBytes > f.options.Kept) {
		f.empty(f.kept[n])
		f.kept[n] = nil
		n++
	}
	f.kept = f.kept[n:]
	if f.emptied -= n; 2*f.emptied > len(f.kept) {
		// A subscription that does not read keeps its oldest batch, but not those of others.
		f.kept = slices.DeleteFunc(f.kept, func(b *batch) bool { return b.emptied })
		f.emptied = 0
	}
	if len(f.kept) == 0 {
		f.kept = nil
	}
	f.options.Metrics.KeptBytes(f.keptBytes)
}

func (f *Feed) empty(b *batch) {
	if b.events == nil {
		return
	}
	b.events, b.emptied = nil, true
	f.keptBytes -= b.bytes
	f.emptied++
}

// attach makes a subscription follow the chain of its shape, from its end on. Until is the
// number up to which it must read the log from the database.
func (f *Feed) attach(s *Subscription) (until int64) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.attached == 0 && s.point.Number > f.readTo {
		// The reader was idle, and no other subscription needs what it has not read.
		f.readTo, f.chainedTo = s.point.Number, s.point.Number
	}
	f.mixed = f.mixed || s.history != f.history
	if s.chain.attached == 0 {
		for _, c := range s.chain.sources() {
			if f.following[c] == nil {
				f.following[c] = map[*chain]bool{}
			}
			f.following[c][s.chain] = true
		}
	}
	s.chain.attached++
	f.attached++
	s.at = s.chain.tail
	f.poke(f.urgent)
	return f.readTo
}

// sources is the collections, as they are stored, whose changes concern the shape; nil is all of them.
func (c *chain) sources() []*model.Collection {
	if c.view.collection == nil {
		return []*model.Collection{nil}
	}
	all := []*model.Collection{c.view.collection.Base()}
	if parents := c.view.parents(); parents != nil {
		all = append(all, parents.Base())
	}
	for _, r := range c.view.related {
		all = append(all, r.Relation.To.Base())
	}
	return all
}

// detach is the reverse of attach. The mutex is locked.
func (f *Feed) detach(s *Subscription) {
	if s.at == nil {
		return
	}
	for b := s.at.next; b != nil; b = b.next {
		f.markRead(b)
	}
	s.at = nil
	f.attached--
	s.chain.attached--
	if s.chain.attached == 0 {
		for _, c := range s.chain.sources() {
			delete(f.following[c], s.chain)
			if len(f.following[c]) == 0 {
				delete(f.following, c)
			}
		}
	}
	f.forget()
}

// markRead notes that a subscription has read a batch. The mutex is locked.
func (f *Feed) markRead(b *batch) {
	if b.unread--; b.unread == 0 {
		f.empty(b)
	}
}

// publish matches changes with the chains that are followed and appends the events. The
// changes are all that the log has after what was read before, up to the number to.
func (f *Feed) publish(history model.ID, entries []changelog.Entry, to int64, states *changelog.States) {
	f.mutex.Lock()
	for len(entries) > 0 && entries[0].Number <= f.readTo {
		entries = entries[1:]
	}
	if to <= f.readTo {
		f.mutex.Unlock()
		return
	}
	f.readTo = to
	found := map[*chain][]Event{}
	for i := range entries {
		for _, c := range []*model.Collection{entries[i].Collection, nil} {
			for each := range f.following[c] {
				found[each] = nil
			}
		}
	}
	f.mutex.Unlock()
	defer f.startSpans(entries, found)()
	spent := map[string]int{} // by caller
	for each := range found {
		left := callerWork - spent[each.quotaKey]
		work := each.view.work(entries, left)
		if work > left {
			// Nobody else waits for this: the subscriptions match it themselves.
			found[each] = []Event{Event{effect: leftOut}.of(&entries[len(entries)-1])}
			continue
		}
		spent[each.quotaKey] += work
		found[each] = f.matchAll(each.view, history, entries, states)
	}
	var oldest time.Time
	if len(entries) > 0 {
		oldest = timeOf(entries[0].At)
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for each, events := range found {
		if len(events) == 0 {
			continue
		}
		for _, b := range newBatches(f.chainedTo, to, events, oldest) {
			f.append(each, b)
		}
	}
	f.chainedTo = max(f.chainedTo, to)
	f.measureLag()
}

// matchAll finds the events of changes. One that cannot be matched makes the subscriptions begin again, as
// the changes are not read again.
func (f *Feed) matchAll(v *view, history model.ID, entries []changelog.Entry, states *changelog.States) (events []Event) {
	for i := range entries {
		var err error
		if events, err = f.matchOrUnreadable(v, events, history, &entries[i], states, largeBytes); err != nil {
			f.options.Failed(err)
			return append(events, Event{effect: beginsAgain, why: matchFailed}.of(&entries[i]))
		}
	}
	return events
}

func timeOf(at model.Value) time.Time {
	parsed, _ := time.Parse(time.RFC3339, at.Text()) // zero if it cannot be read
	return parsed
}
