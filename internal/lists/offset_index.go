package lists

import (
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// offsetIndex finds the resource at an offset of a long list, in the same time for every offset.
// It is a tree of nodes, stored in OffsetsTable. A node has an id and the number of resources
// from that id up to the id of the next node. Level 0 divides the resources into blocks, and each
// other level divides the nodes of the level below. The first node of every level starts at the
// zero id. A short list has no index.
type offsetIndex struct {
	conn  db.Conn
	table *db.Table
	List
}

// Variables, so that tests need not create a hundred thousand resources.
var (
	BlockSize int64 = 128 // resources of a new node of level 0; it is split when it has more than twice as many
	Fanout          = 16  // nodes below a new node of another level; likewise
)

type node struct {
	first model.ID
	count int64
}

// eachNode reads the nodes of a level, from one up to another if there is one, until read
// returns false.
func (x *offsetIndex) eachNode(read func(node) bool, level int, from model.ID, until *model.ID) error {
	sql, args := "SELECT first, count"+fromLevel(level)+">= $3", append(x.Args(), model.IDValue(from))
	if until != nil {
		sql += " AND first < $4"
		args = append(args, model.IDValue(*until))
	}
	return db.EachWhile(x.conn, func(row model.Row) bool { return read(node{row.ID(0), row.Int(1)}) }, sql+" ORDER BY first", args...)
}

func (x *offsetIndex) nodes(level int, from model.ID, until *model.ID) (nodes []node, err error) {
	err = x.eachNode(func(n node) bool {
		nodes = append(nodes, n)
		return true
	}, level, from, until)
	return nodes, err
}

// fromLevel ends where a comparison with the first id of a node follows. The level is a literal
// and not a parameter, because SQLite would plan the statement again whenever it changes.
func fromLevel(level int) string {
	return " FROM " + db.OffsetsTable + " WHERE collection = $1 AND parent = $2 AND level = " + strconv.Itoa(level) + " AND first "
}

// top is the highest level, -1 if there is none.
func (x *offsetIndex) top() (level int, err error) {
	level = -1
	_, err = db.One(x.conn, func(row model.Row) { level = int(row.Int(0)) },
		"SELECT level FROM "+db.OffsetsTable+" WHERE collection = $1 AND parent = $2 ORDER BY level DESC LIMIT 1", x.Args()...)
	return level, err
}

// topNodes returns the highest level and its nodes. The level is -1 if there is no index.
func (x *offsetIndex) topNodes() (level int, nodes []node, err error) {
	level = -1
	err = db.EachWhile(x.conn, func(row model.Row) bool {
		if level < 0 {
			level = int(row.Int(0))
		}
		if int(row.Int(0)) < level {
			return false
		}
		nodes = append(nodes, node{row.ID(1), row.Int(2)})
		return true
	}, "SELECT level, first, count FROM "+db.OffsetsTable+" WHERE collection = $1 AND parent = $2 ORDER BY level DESC, first DESC LIMIT "+
		strconv.Itoa(2*Fanout), x.Args()...) // more than that would have another level: see grow
	slices.Reverse(nodes)
	return level, nodes, err
}

// Block is a part of a list: the resources from First up to, but not including, End.
type Block struct {
	First  model.ID
	End    *model.ID // nil: the end of the list
	Count  int64
	Before int64 // number of resources before First
}

// find descends to the block that contains an offset, or the last one. Pending are the deltas
// that are not merged yet, in the order of their ids.
func (x *offsetIndex) find(offset int64, pending []resourceDelta) (block Block, found bool, err error) {
	level, nodes, err := x.topNodes()
	if err != nil || level < 0 {
		return Block{}, false, err
	}
	found = true
	block, pending = block.narrow(slices.Values(nodes), offset, pending)
	for level--; level >= 0 && found && err == nil; level-- {
		parts := func(read func(node) bool) {
			found = false
			err = x.eachNode(func(n node) bool {
				found = true
				return read(n)
			}, level, block.First, block.End)
		}
		block, pending = block.narrow(parts, offset, pending)
	}
	return block, found, err
}

// narrow finds which part of a block contains an offset, and the pending deltas of that part. If
// the offset is after all parts, it is the last one.
func (block Block) narrow(parts iter.Seq[node], offset int64, pending []resourceDelta) (at Block, inside []resourceDelta) {
	at = Block{Before: block.Before}
	reach := func(end *model.ID) { // adds pending deltas up to there
		n := 0
		for ; n < len(pending) && (end == nil || pending[n].id.Compare(*end) < 0); n++ {
			at.Count += pending[n].change
		}
		at.End, inside, pending = end, pending[:n], pending[n:]
	}
	any := false
	for part := range parts {
		if any {
			if reach(&part.first); at.Before+at.Count > offset {
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
// of the list; deltas are needed only if it is more than BlockSize.
func (x *offsetIndex) add(deltas []resourceDelta, total int64) error {
	top, err := x.top()
	if err != nil {
		return err
	}
	if top < 0 {
		if total <= 2*BlockSize {
			return nil
		}
		return x.build()
	}
	if total <= BlockSize {
		return x.drop() // it is short again
	}
	for level := 0; level <= top; level++ {
		if err := x.addTo(level, deltas); err != nil {
			return err
		}
	}
	return x.grow(top)
}

// addTo adds deltas to the nodes of a level, and splits those that get too large.
func (x *offsetIndex) addTo(level int, deltas []resourceDelta) error {
	for len(deltas) > 0 {
		at, next, err := x.around(level, deltas[0].id)
		if err != nil {
			return err
		}
		n := 0
		for ; n < len(deltas) && (next == nil || deltas[n].id.Compare(*next) < 0); n++ {
			at.count += deltas[n].change
		}
		deltas = deltas[n:]
		if err := x.set(level, at); err != nil {
			return err
		}
		if level == 0 {
			err = x.splitBlock(at)
		} else {
			err = x.splitNode(level, at, next)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// around finds the node of a level that contains an id, and the first id of the next node.
func (x *offsetIndex) around(level int, id model.ID) (at node, next *model.ID, err error) {
	args := append(x.Args(), model.IDValue(id))
	if _, err = db.One(x.conn, func(row model.Row) { at = node{row.ID(0), row.Int(1)} },
		"SELECT first, count"+fromLevel(level)+"<= $3 ORDER BY first DESC LIMIT 1", args...); err != nil {
		return node{}, nil, err
	}
	_, err = db.One(x.conn, func(row model.Row) {
		first := row.ID(0)
		next = &first
	}, "SELECT first"+fromLevel(level)+"> $3 ORDER BY first LIMIT 1", args...)
	return at, next, err
}

// set stores the counts of nodes.
func (x *offsetIndex) set(level int, nodes ...node) error {
	statements := make([]db.Statement, len(nodes))
	for i, n := range nodes {
		statements[i] = db.Statement{SQL: insertNode, Args: append(x.Args(), model.IntValue(int64(level)), model.IDValue(n.first), model.IntValue(n.count))}
	}
	return x.conn.Defer(statements...)
}

const insertNode = "INSERT INTO " + db.OffsetsTable + " (collection, parent, level, first, count) VALUES ($1, $2, $3, $4, $5)" +
	" ON CONFLICT (collection, parent, level, first) DO UPDATE SET count = excluded.count"

// splitBlock splits a node of level 0 until no part has too many resources.
func (x *offsetIndex) splitBlock(at node) error {
	for at.count > 2*BlockSize {
		var middle model.ID
		found, err := x.ids(func(id model.ID) { middle = id }, at.first, BlockSize, 1)
		if err != nil || !found {
			return err
		}
		rest := node{middle, at.count - BlockSize}
		at.count = BlockSize
		if err := x.set(0, at, rest); err != nil {
			return err
		}
		at = rest
	}
	return nil
}

// ids reads ids of the list, starting at one.
func (x *offsetIndex) ids(read func(model.ID), from model.ID, skip, take int64) (found bool, err error) {
	c := x.table.Collection
	id := x.table.Columns[model.IDColumn]
	sql := "SELECT " + id + " FROM " + x.table.Name + " WHERE " + id + " >= $1"
	args := []model.Value{model.IDValue(from)}
	if x.parent != "" {
		parent, _ := model.ParseID(x.parent) // it was written by us
		sql += " AND " + x.table.Columns[c.ParentLink().Column] + " = $2 ORDER BY " + id + " LIMIT $3 OFFSET $4"
		args = append(args, model.IDValue(parent))
	} else {
		sql += " ORDER BY " + id + " LIMIT $2 OFFSET $3"
	}
	err = db.Each(x.conn, func(row model.Row) {
		found = true
		read(row.ID(0))
	}, sql, append(args, model.IntValue(take), model.IntValue(skip))...)
	return found, err
}

// splitNode splits a node of a higher level until no part has too many nodes below it.
func (x *offsetIndex) splitNode(level int, at node, next *model.ID) error {
	below, err := x.nodes(level-1, at.first, next)
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
		if err := x.set(level, at, rest); err != nil {
			return err
		}
		at, below = rest, below[Fanout:]
	}
	return nil
}

// grow adds levels until the highest one has few nodes.
func (x *offsetIndex) grow(top int) error {
	nodes, err := x.nodes(top, model.ID{}, nil)
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
		}
		if err := x.set(top, above...); err != nil {
			return err
		}
		nodes = above
	}
	return nil
}

// build makes the index of a list from its resources.
func (x *offsetIndex) build() error {
	if err := x.drop(); err != nil {
		return err
	}
	var blocks []node
	var n int64
	_, err := x.ids(func(id model.ID) {
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
	rows := make([]model.Record, len(blocks))
	for i, block := range blocks {
		rows[i] = append(x.Args(), model.IntValue(0), model.IDValue(block.first), model.IntValue(block.count))
	}
	if err := db.ExecEach(x.conn, insertNode, rows); err != nil {
		return err
	}
	return x.grow(0)
}

// drop removes the index of a list.
func (x *offsetIndex) drop() error {
	_, err := x.conn.Exec("DELETE FROM "+db.OffsetsTable+" WHERE collection = $1 AND parent = $2", x.Args()...)
	return err
}

// pending reads the pending deltas of a list.
func (l List) pending(c db.Conn) ([]resourceDelta, error) {
	return db.All(c, func(row model.Row) resourceDelta { return resourceDelta{row.ID(0), row.Int(1)} },
		"SELECT id, change FROM "+db.DeltasTable+" WHERE collection = $1 AND parent = $2", l.Args()...)
}

// Find finds the block of a list that contains an offset, or the last one. Unrecorded are deltas
// of the transaction. False means that the list has no index.
func Find(c db.Conn, t *db.Table, key List, offset int64, unrecorded []Delta) (block Block, found bool, err error) {
	pending, err := key.pending(c)
	if err != nil {
		return Block{}, false, err
	}
	for _, d := range unrecorded {
		if d.List == key {
			pending = d.appendTo(pending)
		}
	}
	slices.SortFunc(pending, func(a, b resourceDelta) int { return a.id.Compare(b.id) })
	return (&offsetIndex{conn: c, table: t, List: key}).find(offset, pending)
}
