//go:build linux

package disk

import (
	"fmt"
	"math/rand/v2"
)

// change is a write, or a new size of a file.
type change struct {
	offset    int64
	data      []byte
	truncates bool // to the offset
}

// apply changes the content of a file, in place if there is room.
func (c change) apply(content []byte) []byte {
	size := int64(len(content))
	end := c.offset + int64(len(c.data))
	if c.truncates && end < size {
		return content[:end]
	}
	if end > size && (c.truncates || len(c.data) > 0) {
		content = append(content, make([]byte, end-size)...)
	}
	copy(content[c.offset:], c.data)
	return content
}

// sector is what a disk writes whole or not at all.
const sector = 512

// sectors splits a write at the bounds of sectors.
func (c change) sectors() []change {
	if c.truncates {
		return []change{c}
	}
	var parts []change
	for offset, data := c.offset, c.data; len(data) > 0; {
		n := min(sector-offset%sector, int64(len(data)))
		parts = append(parts, change{offset: offset, data: data[:n]})
		offset, data = offset+n, data[n:]
	}
	return parts
}

// settle decides which pending changes have arrived on the platter, and leaves
// the file as it is there.
func (f *file) settle(rng *rand.Rand) string {
	var parts []change
	for _, c := range f.pending {
		parts = append(parts, c.sectors()...)
	}
	kept := survivors(rng, len(parts))
	n := 0
	for i, part := range parts {
		if kept(i) {
			f.platter = part.apply(f.platter)
			n++
		}
	}
	f.pending = nil
	f.data = append([]byte{}, f.platter...)
	return fmt.Sprintf("%d of %d unsynced sectors kept", n, len(parts))
}

// survivors picks which of n parts, in the order in which they were written,
// have arrived: none, all, the first, or any.
func survivors(rng *rand.Rand, n int) func(int) bool {
	switch rng.IntN(4) {
	case 0:
		return func(int) bool { return false }
	case 1:
		return func(int) bool { return true }
	case 2:
		first := rng.IntN(n + 1)
		return func(i int) bool { return i < first }
	default:
		chance := rng.Float64()
		return func(int) bool { return rng.Float64() < chance }
	}
}
