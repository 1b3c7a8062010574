package store

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"sync"
	"time"

	"github.com/plural-go/plural/internal/model"
)

// minter makes UUIDv7 ids, each larger than the one before, whatever the clock
// does. So that this holds across restarts, a mark is stored that is ahead of
// the ids that are minted, and moved on about once a second: a server starts
// from there.
type minter struct {
	mutex   sync.Mutex
	last    model.ID
	mark    model.ID // as it is stored: no id behind it may be
	marking bool     // somebody is about to move it on
}

// next makes an id: 48 bits of milliseconds, 12 bits that count within one
// millisecond from a random start, 62 random bits. When the count runs over, or
// the clock stands still or goes back, the milliseconds go on by themselves.
func (m *minter) next(now time.Time) model.ID {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	var id model.ID
	_, _ = rand.Read(id[:])                                   // it never fails
	millis := uint64(max(now.UnixMilli(), 0))                 // #nosec G115 -- not negative, even if the clock is before 1970
	count := uint64(binary.BigEndian.Uint16(id[6:8])) & 0x7ff // the upper half is room to count
	lastMillis := millisOf(m.last)
	if millis <= lastMillis {
		millis = lastMillis
		count = uint64(binary.BigEndian.Uint16(m.last[6:8]))&0xfff + 1
		if count > 0xfff {
			millis, count = millis+1, 0
		}
	}
	binary.BigEndian.PutUint64(id[0:8], millis<<16|0x7000|count)
	id[8] = id[8]&0x3f | 0x80
	m.last = id
	return id
}

// ahead is how far the mark is moved on.
const ahead = time.Second

const aheadMillis = uint64(ahead / time.Millisecond)

// due decides whether a transaction has to move the mark on, and to where. One
// does so when the mark comes near; everyone when it was reached.
func (m *minter) due() (mark model.ID, due bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if !m.near() {
		return model.ID{}, false
	}
	m.marking = true
	binary.BigEndian.PutUint64(mark[0:8], (millisOf(m.last)+aheadMillis)<<16|0x7fff)
	for i := 8; i < len(mark); i++ {
		mark[i] = 0xff
	}
	return mark, true
}

// near reports whether somebody has to move the mark on.
func (m *minter) near() bool {
	reached := bytes.Compare(m.last[:], m.mark[:]) > 0
	return reached || !m.marking && millisOf(m.mark)-millisOf(m.last) <= aheadMillis/2
}

// nextWithinMark makes an id, unless whoever uses it would have to move the mark on.
func (m *minter) nextWithinMark(now time.Time) (id model.ID, within bool) {
	id = m.next(now)
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return id, !m.near()
}

// marked takes note that the mark was stored, or could not be.
func (m *minter) marked(mark model.ID, err error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.marking = false
	if err == nil && bytes.Compare(mark[:], m.mark[:]) > 0 {
		m.mark = mark
	}
}

func millisOf(id model.ID) uint64 { return binary.BigEndian.Uint64(id[0:8]) >> 16 }

// start continues behind the mark that an earlier run has left.
func (m *minter) start(mark model.ID) { m.last, m.mark = mark, mark }

func saveMark(c conn, mark model.ID) error {
	text := model.TextValue(mark.String())
	return c.later(nil, "UPDATE "+metaTable+" SET value = $1 WHERE key = 'last_id' AND value < $2", text, text)
}

func readMark(c conn) (model.ID, error) {
	text, err := readMeta(c, "last_id")
	mark, _ := model.ParseID(text) // empty when nothing was minted yet
	return mark, err
}
