package store

import (
	"crypto/rand"
	"encoding/binary"
	"sync"
	"time"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// minter makes UUIDv7 ids, each larger than the previous one, even if the clock goes back. To
// guarantee this across restarts, a mark after all ids is stored, and moved about once a
// second. A server starts from the mark.
type minter struct {
	mutex  sync.Mutex
	last   model.ID
	mark   model.ID // as stored: ids must not exceed it
	saving bool     // a transaction is moving it
}

// next makes an id: 48 bits of milliseconds, 12 bits that count within a millisecond from a
// random start, 62 random bits. When the count overflows, or the clock stops or goes back, the
// milliseconds are incremented.
func (m *minter) next(now time.Time) model.ID {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	var id model.ID
	_, _ = rand.Read(id[:])                                   // it never fails
	millis := uint64(max(now.UnixMilli(), 0))                 // #nosec G115 -- not negative, even if the clock is before 1970
	count := uint64(binary.BigEndian.Uint16(id[6:8])) & 0x7ff // the upper half is left to count
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

// ahead is how far the mark is moved.
const ahead = time.Second

const aheadMillis = uint64(ahead / time.Millisecond)

// nextMark decides whether a transaction must move the mark, and where to. One transaction
// moves it when it is near, all do once it was reached.
func (m *minter) nextMark() (mark model.ID, due bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	reached := m.last.Compare(m.mark) > 0
	if !reached && (m.saving || millisOf(m.mark)-millisOf(m.last) > aheadMillis/2) {
		return model.ID{}, false
	}
	m.saving = true
	binary.BigEndian.PutUint64(mark[0:8], (millisOf(m.last)+aheadMillis)<<16|0x7fff)
	for i := 8; i < len(mark); i++ {
		mark[i] = 0xff
	}
	return mark, true
}

// saved records that the mark was stored, or could not be.
func (m *minter) saved(mark model.ID, err error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.saving = false
	if err == nil && mark.Compare(m.mark) > 0 {
		m.mark = mark
	}
}

func millisOf(id model.ID) uint64 { return binary.BigEndian.Uint64(id[0:8]) >> 16 }

// start continues after the mark of an earlier run.
func (m *minter) start(mark model.ID) { m.last, m.mark = mark, mark }

func saveMark(c db.Conn, mark model.ID) error {
	text := model.TextValue(mark.String())
	return c.Defer(db.Statement{SQL: "UPDATE " + db.MetaTable + " SET value = $1 WHERE key = 'last_id' AND value < $2", Args: []model.Value{text, text}})
}

func readMark(c db.Conn) (model.ID, error) {
	text, err := db.ReadMeta(c, "last_id")
	mark, _ := model.ParseID(text) // empty when no id was made yet
	return mark, err
}
