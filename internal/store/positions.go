package store

import (
	"bytes"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/plural-go/plural/internal/model"
)

// positions is the directory of a long list, so that a position in it is found as
// fast at its end as at its beginning: a tree of nodes, each of which says
// how many resources there are from its first id up to that of the next. Level 0
// divides the resources, each other level the one below. The first node of every level
// starts at the zero id. A list that is not long has none.
type positions struct {
	conn  conn
	table *table
	list
}

// Variables for the tests, which need not make a hundred thousand resources.
var (
	blockSize int64 = 128 // resources of a node of level 0 when it is made; twice as many at the most
	fanout          = 16  // likewise, nodes below a node
)

type node struct {
	first model.ID
	count int64
}

func compareIDs(a, b model.ID) int { return bytes.Compare(a[:], b[:]) }

// eachNode reads the nodes of a level, from one up to another if there is one, until read
// returns false.
func (p *positions) eachNode(read func(node) bool, level int, from model.ID, until *model.ID) error {
	collection, parent := p.values()
	sql := "SELECT first, count" + fromLevel(level) + ">= $3"
	args := []model.Value{collection, parent, model.IDValue(from)}
	if until != nil {
		sql += " AND first < $4"
		args = append(args, model.IDValue(*until))
	}
	return each(p.conn, func(row model.Row) bool { return read(node{row.ID(0), row.Int(1)}) }, sql+" ORDER BY first", args...)
}

func (p *positions) nodes(level int, from model.ID, until *model.ID) (nodes []node, err error) {
	err = p.eachNode(func(n node) bool {
		nodes = append(nodes, n)
		return true
	}, level, from, until)
	return nodes, err
}

// fromLevel ends with a comparison of a node's first id. The level is no value: SQLite would plan the
// statement anew whenever it changes from 1 to 2, as it takes 0 and 1 to be common.
func fromLevel(level int) string {
	return " FROM " + positionsTable + " WHERE collection = $1 AND parent = $2 AND level = " + strconv.Itoa(level) + " AND first "
}

// top is the highest level, -1 if there is none.
func (p *positions) top() (level int, err error) {
	collection, parent := p.values()
	level = -1
	_, err = one(p.conn, func(row model.Row) { level = int(row.Int(0)) },
		"SELECT level FROM "+positionsTable+" WHERE collection = $1 AND parent = $2 ORDER BY level DESC LIMIT 1", collection, parent)
	return level, err
}

// summit is the highest level with its nodes; the level is -1 if there is none.
func (p *positions) summit() (level int, nodes []node, err error) {
	collection, parent := p.values()
	level = -1
	err = each(p.conn, func(row model.Row) bool {
		if level < 0 {
			level = int(row.Int(0))
		}
		if int(row.Int(0)) < level {
			return false
		}
		nodes = append(nodes, node{row.ID(1), row.Int(2)})
		return true
	}, "SELECT level, first, count FROM "+positionsTable+" WHERE collection = $1 AND parent = $2 ORDER BY level DESC, first DESC LIMIT "+
		strconv.Itoa(2*fanout), collection, parent) // more than that would have another level: see grow
	slices.Reverse(nodes)
	return level, nodes, err
}

// Block is a part of a list: the resources from an id up to another, or to the
// end, with the number of those before them.
type Block struct {
	First  model.ID
	End    *model.ID
	Count  int64
	Before int64
}

// find goes down to the node of level 0 that a position is in. Waiting is what was
// not taken up yet, by id.
func (p *positions) find(position int64, waiting []delta) (block Block, found bool, err error) {
	level, nodes, err := p.summit()
	if err != nil || level < 0 {
		return Block{}, false, err
	}
	found = true
	block, waiting = block.narrow(slices.Values(nodes), position, waiting)
	for level--; level >= 0 && found && err == nil; level-- {
		parts := func(read func(node) bool) {
			found = false
			err = p.eachNode(func(n node) bool {
				found = true
				return read(n)
			}, level, block.First, block.End)
		}
		block, waiting = block.narrow(parts, position, waiting)
	}
	return block, found, err
}

// narrow finds the part of a block that a position is in, of those that it is divided into, and what
// is waiting for it. If the position is behind all of them, it is the last.
func (block Block) narrow(parts iter.Seq[node], position int64, waiting []delta) (at Block, inside []delta) {
	at = Block{Before: block.Before}
	reach := func(end *model.ID) { // adds what is waiting up to there
		n := 0
		for ; n < len(waiting) && (end == nil || compareIDs(waiting[n].id, *end) < 0); n++ {
			at.Count += waiting[n].change
		}
		at.End, inside, waiting = end, waiting[:n], waiting[n:]
	}
	any := false
	for part := range parts {
		if any {
			if reach(&part.first); at.Before+at.Count > position {
				return at, inside
			}
			at.Before += at.Count
		}
		at.First, at.Count, any = part.first, part.count, true
	}
	reach(block.End)
	return at, inside
}

// add takes up deltas, which are in the order of their ids, behind which the list
// has so many resources.
func (p *positions) add(deltas []delta, total int64) error {
	top, err := p.top()
	if err != nil {
		return err
	}
	if top < 0 {
		if total <= 2*blockSize {
			return nil
		}
		return p.build()
	}
	if total <= blockSize {
		return p.drop() // it is short again
	}
	for level := 0; level <= top; level++ {
		if err := p.addTo(level, deltas); err != nil {
			return err
		}
	}
	return p.grow(top)
}

// addTo adds deltas to the nodes of a level, and splits those that get too large.
func (p *positions) addTo(level int, deltas []delta) error {
	for len(deltas) > 0 {
		at, next, err := p.around(level, deltas[0].id)
		if err != nil {
			return err
		}
		n := 0
		for ; n < len(deltas) && (next == nil || compareIDs(deltas[n].id, *next) < 0); n++ {
			at.count += deltas[n].change
		}
		deltas = deltas[n:]
		if err := p.set(level, at); err != nil {
			return err
		}
		if level == 0 {
			err = p.splitBlock(at)
		} else {
			err = p.splitNode(level, at, next)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// around finds the node of a level that an id is in, and where the next one starts.
func (p *positions) around(level int, id model.ID) (at node, next *model.ID, err error) {
	collection, parent := p.values()
	args := []model.Value{collection, parent, model.IDValue(id)}
	if _, err = one(p.conn, func(row model.Row) { at = node{row.ID(0), row.Int(1)} },
		"SELECT first, count"+fromLevel(level)+"<= $3 ORDER BY first DESC LIMIT 1", args...); err != nil {
		return node{}, nil, err
	}
	_, err = one(p.conn, func(row model.Row) {
		first := row.ID(0)
		next = &first
	}, "SELECT first"+fromLevel(level)+"> $3 ORDER BY first LIMIT 1", args...)
	return at, next, err
}

// set stores the number of a node.
func (p *positions) set(level int, n node) error {
	collection, parent := p.values()
	return p.conn.later(nil, "INSERT INTO "+positionsTable+" (collection, parent, level, first, count) VALUES ($1, $2, $3, $4, $5)"+
		" ON CONFLICT (collection, parent, level, first) DO UPDATE SET count = excluded.count",
		collection, parent, model.IntValue(int64(level)), model.IDValue(n.first), model.IntValue(n.count))
}

// splitBlock divides a node of level 0 as long as it has too many resources.
func (p *positions) splitBlock(at node) error {
	for at.count > 2*blockSize {
		var middle model.ID
		found, err := p.ids(func(id model.ID) { middle = id }, at.first, blockSize, 1)
		if err != nil || !found {
			return err
		}
		rest := node{middle, at.count - blockSize}
		at.count = blockSize
		if err := p.set(0, at); err != nil {
			return err
		}
		if err := p.set(0, rest); err != nil {
			return err
		}
		at = rest
	}
	return nil
}

// ids reads ids of the list, from one on.
func (p *positions) ids(read func(model.ID), from model.ID, skip, take int64) (found bool, err error) {
	c := p.table.collection
	id := p.table.columns[model.IDColumn]
	sql := "SELECT " + id + " FROM " + p.table.name + " WHERE " + id + " >= $1"
	args := []model.Value{model.IDValue(from)}
	if p.parent != "" {
		parent, _ := model.ParseID(p.parent) // it was written by us
		sql += " AND " + p.table.columns[c.ParentLink().Column] + " = $2 ORDER BY " + id + " LIMIT $3 OFFSET $4"
		args = append(args, model.IDValue(parent))
	} else {
		sql += " ORDER BY " + id + " LIMIT $2 OFFSET $3"
	}
	err = each(p.conn, func(row model.Row) bool {
		found = true
		read(row.ID(0))
		return true
	}, sql, append(args, model.IntValue(take), model.IntValue(skip))...)
	return found, err
}

// splitNode divides a node of a higher level as long as too many are below it.
func (p *positions) splitNode(level int, at node, next *model.ID) error {
	below, err := p.nodes(level-1, at.first, next)
	if err != nil {
		return err
	}
	for len(below) > 2*fanout {
		rest := node{first: below[fanout].first, count: at.count}
		at.count = 0
		for _, n := range below[:fanout] {
			at.count += n.count
		}
		rest.count -= at.count
		if err := p.set(level, at); err != nil {
			return err
		}
		if err := p.set(level, rest); err != nil {
			return err
		}
		at, below = rest, below[fanout:]
	}
	return nil
}

// grow puts another level on top when the highest has become too wide.
func (p *positions) grow(top int) error {
	nodes, err := p.nodes(top, model.ID{}, nil)
	if err != nil {
		return err
	}
	for len(nodes) > 2*fanout {
		top++
		var above []node
		for chunk := range slices.Chunk(nodes, fanout) {
			n := node{first: chunk[0].first}
			for _, each := range chunk {
				n.count += each.count
			}
			above = append(above, n)
			if err := p.set(top, n); err != nil {
				return err
			}
		}
		nodes = above
	}
	return p.conn.flush()
}

// build makes the directory of a list from its resources.
func (p *positions) build() error {
	if err := p.drop(); err != nil {
		return err
	}
	var blocks []node
	var n int64
	_, err := p.ids(func(id model.ID) {
		if n%blockSize == 0 {
			blocks = append(blocks, node{first: id})
		}
		blocks[len(blocks)-1].count++
		n++
	}, model.ID{}, 0, math.MaxInt64)
	if err != nil || n <= 2*blockSize {
		return err
	}
	blocks[0].first = model.ID{}
	for i, block := range blocks {
		if err := p.set(0, block); err != nil {
			return err
		}
		if i%1000 == 0 {
			if err := p.conn.flush(); err != nil {
				return err
			}
		}
	}
	return p.grow(0)
}

// drop removes the directory of a list.
func (p *positions) drop() error {
	collection, parent := p.values()
	_, err := p.conn.exec("DELETE FROM "+positionsTable+" WHERE collection = $1 AND parent = $2", collection, parent)
	return err
}

// Near finds the part of a list that a position is in, or the last one. False means
// that the list is not divided.
func (t *Tx) Near(c *model.Collection, parent *model.ID, position int64) (block Block, found bool, err error) {
	key := listOf(c, parent)
	collection, of := key.values()
	var waiting []delta
	err = each(t.conn, func(row model.Row) bool {
		waiting = append(waiting, delta{key, row.ID(0), row.Int(1)})
		return true
	}, "SELECT id, change FROM "+deltasTable+" WHERE collection = $1 AND parent = $2", collection, of)
	if err != nil {
		return Block{}, false, t.fault(err)
	}
	for _, d := range t.unwritten() {
		if d.list == key {
			waiting = append(waiting, d)
		}
	}
	slices.SortFunc(waiting, func(a, b delta) int { return compareIDs(a.id, b.id) })
	block, found, err = (&positions{conn: t.conn, table: t.store.tables[c], list: key}).find(position, waiting)
	return block, found, t.fault(err)
}
