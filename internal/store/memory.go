package store

import (
	"hash/maphash"
	"sync"

	"github.com/plural-go/plural/schema"
)

// memory keeps answers, for as long as they are what would be read again. It is for a
// database whose state can be told without asking it, by all who write to it:
// what is kept is right for one state, and not used in any other. Of the commits of this
// server it is known what they change, and all else stays right for the state behind them.
// Whatever another process does makes everything be forgotten.
//
// A nil memory keeps nothing.
type memory struct {
	state *sharedState
	limit int64 // bytes of answers; without any it is still known whether somebody else writes

	mutex      sync.Mutex
	right      fileState // what is kept is right for it, and the schema is the one that is known
	known      bool      // there is such a state
	committing bool      // this server is about to change the state
	resources  map[Key]entry
	lists      map[Key]entry
	size       int64           // of all of them
	listed     int64           // of the lists
	asked      [1 << 10]uint64 // lists that were asked for once, by their hashes
	seed       maphash.Seed
}

// Key is what an answer is about: a resource, or a list as it was asked for.
type Key struct {
	Collection *schema.Collection
	ID         schema.ID
	List       string
}

// Kept is an answer that is kept. Nobody changes it.
type Kept interface{ Size() int }

type entry struct {
	Kept
	size int64
}

const (
	overhead = 400 // what an answer takes beside its own size, about
	maxShare = 64  // one may take this part of the memory
)

func newMemory(state *sharedState, limit int64) *memory {
	if state == nil {
		return nil
	}
	return &memory{state: state, limit: limit, resources: map[Key]entry{}, lists: map[Key]entry{}, seed: maphash.MakeSeed()}
}

// now is the state of the database.
func (m *memory) now() (fileState, bool) {
	if m == nil {
		return fileState{}, false
	}
	return m.state.read()
}

// holds reports whether the database is as it was known to be: nobody else has
// written to it, so that its schema is the same too.
func (m *memory) holds() bool {
	now, ok := m.now()
	if !ok {
		return false
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.known && m.right == now
}

// recall finds an answer that is right now.
func (m *memory) recall(key Key) (Kept, bool) {
	now, ok := m.now()
	if !ok {
		return nil, false
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if !m.known || m.right != now {
		return nil, false
	}
	found, ok := m.of(key)[key]
	return found.Kept, ok
}

func (m *memory) of(key Key) map[Key]entry {
	if key.List != "" {
		return m.lists
	}
	return m.resources
}

// keep keeps an answer that was read from a snapshot which was opened when the
// database was in a state. If it is still in that, so was the snapshot. A list is kept when
// it is asked for again, and only made then: most are not.
func (m *memory) keep(since fileState, key Key, make func() Kept) {
	now, ok := m.now()
	if !ok || now != since || m.limit <= 0 {
		return
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if !m.known || m.right != now || key.List != "" && !m.askedAgain(key) {
		return
	}
	answer := make()
	size := int64(answer.Size() + overhead + len(key.List))
	if size > m.limit/maxShare {
		return
	}
	m.drop(key)
	for _, entries := range []map[Key]entry{m.lists, m.resources} {
		for other := range entries { // any make room
			if m.size+size <= m.limit {
				break
			}
			m.drop(other)
		}
	}
	m.of(key)[key] = entry{answer, size}
	m.count(key, size)
}

// askedAgain reports whether a list was asked for before, as far as is remembered.
func (m *memory) askedAgain(key Key) bool {
	hash := maphash.String(m.seed, key.List)
	place := &m.asked[hash%uint64(len(m.asked))]
	again := *place == hash
	*place = hash
	return again
}

func (m *memory) drop(key Key) {
	entries := m.of(key)
	m.count(key, -entries[key].size)
	delete(entries, key)
}

func (m *memory) count(key Key, size int64) {
	m.size += size
	if key.List != "" {
		m.listed += size
	}
}

// dropLists drops them with their map, as one that was large once is slow to go through.
func (m *memory) dropLists() {
	if len(m.lists) > 0 {
		m.lists = map[Key]entry{}
	}
	m.size, m.listed = m.size-m.listed, 0
}

// adopt starts anew with a state of the database, of which somebody has just made sure
// that the schema is the one that is known.
func (m *memory) adopt(state fileState) {
	now, ok := m.now()
	if !ok || now != state {
		return
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.committing || m.known && m.right == state {
		return
	}
	m.forget()
	m.right, m.known = state, true
}

func (m *memory) forget() {
	m.dropLists()
	m.resources, m.size = map[Key]entry{}, 0
}

// commit runs a commit of this server, which holds the lock for writing until then, and
// changes some resources, or any if they are not told. As soon as it is committed, others
// may write too: alone reports whether nobody has by then.
func (m *memory) commit(run func() error, alone func() bool, touched []Key, any bool) error {
	if m == nil {
		return run()
	}
	before, ok := m.state.read()
	m.mutex.Lock()
	m.committing = true
	m.mutex.Unlock()
	err := run()
	after, okAfter := m.state.read()
	ours := err == nil && ok && okAfter && !any && alone() // asked behind the state
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.committing = false
	if !ours || !m.known || m.right != before {
		m.forget()
		m.known = false
		return err
	}
	for _, key := range touched {
		m.drop(key)
	}
	if len(touched) > 0 {
		m.dropLists()
	}
	m.right = after
	return nil
}
