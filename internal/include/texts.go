package include

// blockSize is the size of a block of texts, once there are many.
const blockSize = 64 << 10

// texts is a list of texts in blocks, which are not copied when the list grows: a slice that doubles leaves as much to the
// garbage collector as it has, which decides how much memory a long list with related resources takes.
type texts struct {
	blocks [][]byte
	places []place
	size   int // of all texts
}

// place is where a text is in a block.
type place struct{ block, from, to int32 }

func (t *texts) len() int { return len(t.places) }

func (t *texts) add(text []byte) {
	last := len(t.blocks) - 1
	if last < 0 || cap(t.blocks[last])-len(t.blocks[last]) < len(text) {
		t.blocks = append(t.blocks, make([]byte, 0, max(len(text), min(t.size, blockSize), 1<<10)))
		last++
	}
	from := len(t.blocks[last])
	t.blocks[last] = append(t.blocks[last], text...)
	t.size += len(text)
	t.places = append(t.places, place{int32(last), int32(from), int32(from + len(text))}) // #nosec G115 -- a block has a few MiB
}

func (t *texts) at(n int) []byte {
	p := t.places[n]
	return t.blocks[p.block][p.from:p.to]
}

// clear removes all texts, and keeps a block for the next ones.
func (t *texts) clear() {
	if len(t.blocks) > 0 {
		largest := t.blocks[len(t.blocks)-1][:0]
		clear(t.blocks)
		t.blocks = append(t.blocks[:0], largest)
	}
	t.places, t.size = t.places[:0], 0
}
