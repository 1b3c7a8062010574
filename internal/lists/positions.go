package lists

import (
	"bytes"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// positions is the directory of a long list, which finds a position equally fast anywhere: a
// tree of nodes, each with the number of resources from its first id up to that of the next.
// Level 0 divides the resources, each other level the one below. The first node of every level
// starts at the zero id. A short list has none.
type positions struct {
	conn  db.Conn
	table *db.Table
	List
}

// Variables, so that tests need not create a hundred thousand resources.
var (
	BlockSize int64 = 128 // resources of a node of level 0 when it is made; twice as many at the most
	Fanout          = 16  // likewise, nodes below a node
)

type node struct {
	first model.ID
	count int64
}

func CompareIDs(a, b model.ID) int { return bytes.Compare(a[:], b[:]) }

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
	return db.Each(p.conn, func(row model.Row) bool { return read(node{row.ID(0), row.Int(1)}) }, sql+" ORDER BY first", args...)
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
	return " FROM " + db.PositionsTable + " WHERE collection = $1 AND parent = $2 AND level = " + strconv.Itoa(level) + " AND first "
}

// top is the highest level, -1 if there is none.
func (p *positions) top() (level int, err error) {
	collection, parent := p.values()
	level = -1
	_, err = db.One(p.conn, func(row model.Row) { level = int(row.Int(0)) },
		"SELECT level FROM "+db.PositionsTable+" WHERE collection = $1 AND parent = $2 ORDER BY level DESC LIMIT 1", collection, parent)
	return level, err
}

// topNodes returns the highest level with its nodes; the level is -1 if there is none.
func (p *positions) topNodes() (level int, nodes []node, err error) {
	collection, parent := p.values()
	level = -1
	err = db.Each(p.conn, func(row model.Row) bool {
		if level < 0 {
			level = int(row.Int(0))
		}
		if int(row.Int(0)) < level {
			return false
		}
		nodes = append(nodes, node{row.ID(1), row.Int(2)})
		return true
	}, "SELECT level, first, count FROM "+db.PositionsTable+" WHERE collection = $1 AND parent = $2 ORDER BY level DESC, first DESC LIMIT "+
		strconv.Itoa(2*Fanout), collection, parent) // more than that would have another level: see grow
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

// find goes down to the node of level 0 that a position is in. Pending are the
// deltas that were not merged yet, by id.
func (p *positions) find(position int64, pending []Delta) (block Block, found bool, err error) {
	level, nodes, err := p.topNodes()
	if err != nil || level < 0 {
		return Block{}, false, err
	}
	found = true
	block, pending = block.narrow(slices.Values(nodes), position, pending)
	for level--; level >= 0 && found && err == nil; level-- {
		parts := func(read func(node) bool) {
			found = false
			err = p.eachNode(func(n node) bool {
				found = true
				return read(n)
			}, level, block.First, block.End)
		}
		block, pending = block.narrow(parts, position, pending)
	}
	return block, found, err
}

// narrow finds the part of a block that a position is in, of those that it is divided into, and what
// is pending for it. If the position is behind all of them, it is the last.
func (block Block) narrow(parts iter.Seq[node], position int64, pending []Delta) (at Block, inside []Delta) {
	at = Block{Before: block.Before}
	reach := func(end *model.ID) { // adds pending deltas up to there
		n := 0
		for ; n < len(pending) && (end == nil || CompareIDs(pending[n].ID, *end) < 0); n++ {
			at.Count += pending[n].Change
		}
		at.End, inside, pending = end, pending[:n], pending[n:]
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

// add merges deltas, which are in the order of their ids. Total is the new number of resources
// of the list.
func (p *positions) add(deltas []Delta, total int64) error {
	top, err := p.top()
	if err != nil {
		return err
	}
	if top < 0 {
		if total <= 2*BlockSize {
			return nil
		}
		return p.build()
	}
	if total <= BlockSize {
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
func (p *positions) addTo(level int, deltas []Delta) error {
	for len(deltas) > 0 {
		at, next, err := p.around(level, deltas[0].ID)
		if err != nil {
			return err
		}
		n := 0
		for ; n < len(deltas) && (next == nil || CompareIDs(deltas[n].ID, *next) < 0); n++ {
			at.count += deltas[n].Change
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
	if _, err = db.One(p.conn, func(row model.Row) { at = node{row.ID(0), row.Int(1)} },
		"SELECT first, count"+fromLevel(level)+"<= $3 ORDER BY first DESC LIMIT 1", args...); err != nil {
		return node{}, nil, err
	}
	_, err = db.One(p.conn, func(row model.Row) {
		first := row.ID(0)
		next = &first
	}, "SELECT first"+fromLevel(level)+"> $3 ORDER BY first LIMIT 1", args...)
	return at, next, err
}

// set stores the number of a node.
func (p *positions) set(level int, n node) error {
	collection, parent := p.values()
	return p.conn.Defer(db.Statement{SQL: insertNode, Args: []model.Value{
		collection, parent, model.IntValue(int64(level)), model.IDValue(n.first), model.IntValue(n.count)}})
}

const insertNode = "INSERT INTO " + db.PositionsTable + " (collection, parent, level, first, count) VALUES ($1, $2, $3, $4, $5)" +
	" ON CONFLICT (collection, parent, level, first) DO UPDATE SET count = excluded.count"

// splitBlock divides a node of level 0 as long as it has too many resources.
func (p *positions) splitBlock(at node) error {
	for at.count > 2*BlockSize {
		var middle model.ID
		found, err := p.ids(func(id model.ID) { middle = id }, at.first, BlockSize, 1)
		if err != nil || !found {
			return err
		}
		rest := node{middle, at.count - BlockSize}
		at.count = BlockSize
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
	c := p.table.Collection
	id := p.table.Columns[model.IDColumn]
	sql := "SELECT " + id + " FROM " + p.table.Name + " WHERE " + id + " >= $1"
	args := []model.Value{model.IDValue(from)}
	if p.parent != "" {
		parent, _ := model.ParseID(p.parent) // it was written by us
		sql += " AND " + p.table.Columns[c.ParentLink().Column] + " = $2 ORDER BY " + id + " LIMIT $3 OFFSET $4"
		args = append(args, model.IDValue(parent))
	} else {
		sql += " ORDER BY " + id + " LIMIT $2 OFFSET $3"
	}
	err = db.Each(p.conn, func(row model.Row) bool {
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
	for len(below) > 2*Fanout {
		rest := node{first: below[Fanout].first, count: at.count}
		at.count = 0
		for _, n := range below[:Fanout] {
			at.count += n.count
		}
		rest.count -= at.count
		if err := p.set(level, at); err != nil {
			return err
		}
		if err := p.set(level, rest); err != nil {
			return err
		}
		at, below = rest, below[Fanout:]
	}
	return nil
}

// grow adds a level when the highest has become too wide.
func (p *positions) grow(top int) error {
	nodes, err := p.nodes(top, model.ID{}, nil)
	if err != nil {
		return err
	}
	for len(nodes) > 2*Fanout {
		top++
		var above []node
		for chunk := range slices.Chunk(nodes, Fanout) {
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
	return nil
}

// build makes the directory of a list from its resources.
func (p *positions) build() error {
	if err := p.drop(); err != nil {
		return err
	}
	var blocks []node
	var n int64
	_, err := p.ids(func(id model.ID) {
		if n%BlockSize == 0 {
			blocks = append(blocks, node{first: id})
		}
		blocks[len(blocks)-1].count++
		n++
	}, model.ID{}, 0, math.MaxInt64)
	if err != nil || n <= 2*BlockSize {
		return err
	}
	blocks[0].first = model.ID{}
	collection, parent := p.values()
	rows := make([]model.Record, len(blocks))
	for i, block := range blocks {
		rows[i] = model.Record{collection, parent, model.IntValue(0), model.IDValue(block.first), model.IntValue(block.count)}
	}
	if err := db.ExecEach(p.conn, insertNode, rows); err != nil {
		return err
	}
	return p.grow(0)
}

// drop removes the directory of a list.
func (p *positions) drop() error {
	collection, parent := p.values()
	_, err := p.conn.Exec("DELETE FROM "+db.PositionsTable+" WHERE collection = $1 AND parent = $2", collection, parent)
	return err
}

// Find finds the part of a list that a position is in, or the last one. Unrecorded are deltas
// of the transaction. False means that the list is not divided.
func Find(c db.Conn, t *db.Table, key List, position int64, unrecorded []Delta) (block Block, found bool, err error) {
	collection, of := key.values()
	var pending []Delta
	err = db.Each(c, func(row model.Row) bool {
		pending = append(pending, Delta{key, row.ID(0), row.Int(1)})
		return true
	}, "SELECT id, change FROM "+db.DeltasTable+" WHERE collection = $1 AND parent = $2", collection, of)
	if err != nil {
		return Block{}, false, err
	}
	for _, d := range unrecorded {
		if d.List == key {
			pending = append(pending, d)
		}
	}
	slices.SortFunc(pending, func(a, b Delta) int { return CompareIDs(a.ID, b.ID) })
	return (&positions{conn: c, table: t, List: key}).find(position, pending)
}
