package store

import (
	"crypto/rand"
	"encoding/binary"
	"sync"
	"time"

	"github.com/plural-go/plural/schema"
)

// minter makes UUIDv7 ids, each larger than the one before, whatever the clock
// does. The last one is saved with every transaction that mints, so that this
// holds across restarts.
type minter struct {
	mutex sync.Mutex
	last  schema.ID
}

// next makes an id: 48 bits of milliseconds, 12 bits that count within one
// millisecond from a random start, 62 random bits. When the count runs over, or
// the clock stands still or goes back, the milliseconds go on by themselves.
func (m *minter) next(now time.Time) schema.ID {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	var id schema.ID
	rand.Read(id[:])
	millis := uint64(now.UnixMilli())
	count := uint64(binary.BigEndian.Uint16(id[6:8])) & 0x7ff // the upper half is room to count
	lastMillis := binary.BigEndian.Uint64(m.last[0:8]) >> 16
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

// save keeps the last id for the next start.
func (m *minter) save(c conn) error {
	m.mutex.Lock()
	last := m.last
	m.mutex.Unlock()
	text := schema.TextValue(last.String())
	_, err := c.exec("UPDATE "+metaTable+" SET value = $1 WHERE key = 'last_id' AND value < $2", text, text)
	return err
}

func readLastID(c conn) (schema.ID, error) {
	text, err := readMeta(c, "last_id")
	last, _ := schema.ParseID(text) // empty when nothing was minted yet
	return last, err
}
