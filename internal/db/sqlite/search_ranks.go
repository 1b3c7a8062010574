package sqlite

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// ranks numbers the rows of a table of words, so that the numbers have the order of the ids. A resource
// gets the first bits of its id as its rank. These differ for the ids that a server makes. Where
// another resource has them, or one is in the way, it gets a number between those of its neighbours, and
// where there is none, the neighbours get other numbers first.
type ranks struct {
	conn  db.Conn
	table string // quoted
	index string // quoted
}

// numbered is the id and the rank of a row.
type numbered struct {
	id   model.ID
	rank int64
}

// put sets the words of resources, in the order of ids, because FTS5 writes to the disk when it gets a
// lower number than before.
func (r *ranks) put(rows []db.ResourceWords) error {
	if !slices.IsSortedFunc(rows, compareIDs) {
		rows = slices.Clone(rows)
		slices.SortFunc(rows, compareIDs)
	}
	for _, row := range rows {
		if err := r.putOne(row); err != nil {
			return err
		}
	}
	return nil
}

func compareIDs(a, b db.ResourceWords) int {
	return a.ID.ID().Compare(b.ID.ID())
}

func (r *ranks) putOne(row db.ResourceWords) error {
	for id := row.ID.ID(); ; {
		after, err := r.from(id, 1)
		if err != nil {
			return err
		}
		if len(after) > 0 && after[0].id == id {
			return r.change(after[0].rank, row)
		}
		before, err := r.before(id, 1)
		if err != nil {
			return err
		}
		rank, ok := between(boundOf(before, 1, math.MinInt64), boundOf(after, 1, math.MaxInt64), wanted(id))
		if ok {
			_, err = r.conn.Exec("INSERT INTO "+r.table+" (_rank, _resource, _words) VALUES ($1, $2, $3)", model.IntValue(rank), row.ID, model.TextValue(row.Words))
			return err
		}
		if err := r.spread(id); err != nil {
			return err
		}
	}
}

// wanted is the rank of a resource unless others are in the way: the first bits of its id without the version, as a number
// with the same order. The last bits are zero: there is room between ids that a server makes one after the other.
func wanted(id model.ID) int64 {
	first := binary.BigEndian.Uint64(id[:8])
	return int64((first&^0xFFFF | first&0xFFF<<4) ^ 1<<63) // #nosec G115 -- the sign is the first bit
}

// step is how far from a neighbour a rank is, if the wanted one is not free: there is room for more.
const step = 1 << 10

// between chooses a number between two others, the wanted one if possible.
func between(low, high, wanted int64) (rank int64, ok bool) {
	gap := distance(low, high)
	offset := int64(min(gap/2, step)) // #nosec G115 -- at most step
	switch {
	case gap < 2:
		return 0, false
	case wanted <= low:
		return low + offset, true
	case wanted >= high:
		return high - offset, true
	}
	return wanted, true
}

func distance(low, high int64) uint64 { return uint64(high) - uint64(low) } // #nosec G115 -- modulo 2^64

// spread distributes the ranks around an id, which has none between its neighbours. The fewest rows are moved
// around which there is room: a little more for each the more rows there are, so that rows are seldom moved again. The
// rows of the whole table are moved if there is little room everywhere.
func (r *ranks) spread(id model.ID) error {
	room := uint64(4)
	for count := 32; ; count *= 2 {
		before, err := r.before(id, count+1)
		if err != nil {
			return err
		}
		after, err := r.from(id, count+1)
		if err != nil {
			return err
		}
		low, high := boundOf(before, count+1, math.MinInt64), boundOf(after, count+1, math.MaxInt64)
		all := len(before) <= count && len(after) <= count
		before, after = before[:min(len(before), count)], after[:min(len(after), count)]
		slices.Reverse(before)
		rows := append(before, after...)
		each := distance(low, high) / uint64(len(rows)+1) // #nosec G115 -- a length is not negative
		if all || each >= room {
			return r.move(rows, low, each)
		}
		room++
	}
}

// move gives rows other ranks, at equal distances after one. No two rows have the same rank in between: rows that get a lower
// rank are moved from the lowest on, and then the others from the highest on.
func (r *ranks) move(rows []numbered, low int64, each uint64) error {
	move := func(i int, down bool) error {
		from, to := rows[i].rank, low+int64(each*uint64(i+1)) // #nosec G115 -- modulo 2^64
		if from == to || to < from != down {
			return nil
		}
		_, err := r.conn.Exec("UPDATE "+r.table+" SET _rank = $1 WHERE _rank = $2", model.IntValue(to), model.IntValue(from))
		return err
	}
	for i := range rows {
		if err := move(i, true); err != nil {
			return err
		}
	}
	for i := range slices.Backward(rows) {
		if err := move(i, false); err != nil {
			return err
		}
	}
	return nil
}

// before reads up to so many rows before an id, the nearest first.
func (r *ranks) before(id model.ID, most int) ([]numbered, error) {
	return r.read(" WHERE _resource < $1 ORDER BY _resource DESC LIMIT $2", id, most)
}

// from reads up to so many rows from an id on.
func (r *ranks) from(id model.ID, most int) ([]numbered, error) {
	return r.read(" WHERE _resource >= $1 ORDER BY _resource LIMIT $2", id, most)
}

func (r *ranks) read(condition string, id model.ID, most int) ([]numbered, error) {
	return db.All(r.conn, func(row model.Row) numbered { return numbered{row.ID(0), row.Int(1)} },
		"SELECT _resource, _rank FROM "+r.table+condition, model.IDValue(id), model.IntValue(int64(most)))
}

// boundOf is the rank of the last of some rows, or another number if there are fewer.
func boundOf(rows []numbered, n int, otherwise int64) int64 {
	if len(rows) < n {
		return otherwise
	}
	return rows[n-1].rank
}
