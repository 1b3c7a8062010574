package store

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/plural-go/plural/schema"
)

// Examine compares what is derived from the resources of a database with them: the
// totals, and the positions of long lists. With repair, what is wrong is made
// anew, in the same transaction. It returns what was wrong.
func Examine(ctx context.Context, url string, repair bool) (findings []string, err error) {
	err = onDatabase(ctx, url, func(b backend) error {
		if repair {
			// Nobody writes meanwhile, so that what is counted stays so.
			return b.migrate(ctx, func(c conn) error {
				findings, err = examine(c, b, true)
				return err
			})
		}
		c, release, err := b.read(ctx, atLength)
		if err != nil {
			return err
		}
		defer release()
		findings, err = examine(c, b, false)
		return err
	})
	return findings, err
}

func examine(c conn, d dialect, repair bool) ([]string, error) {
	found, err := describe(c, d)
	if err != nil {
		return nil, err
	}
	stored, err := storedSchema(c, d, found)
	if err != nil {
		return nil, err
	}
	findings, err := checkLists(c, d, stored)
	if err == nil && repair && len(findings) > 0 {
		err = rebuildLists(c, d, stored)
	}
	return findings, err
}

// checkLists compares the totals and positions of all collections with their resources, and
// returns what is wrong.
func checkLists(c conn, d dialect, s *schema.Schema) ([]string, error) {
	x := &examination{conn: c}
	for _, collection := range s.All() {
		if err := x.collection(newBaseTable(d, collection)); err != nil {
			return nil, err
		}
	}
	return x.findings, nil
}

// rebuildLists makes the totals and positions of all collections anew.
func rebuildLists(c conn, d dialect, s *schema.Schema) error {
	for _, derived := range []string{deltasTable, totalsTable, positionsTable} {
		if _, err := c.exec("DELETE FROM " + derived); err != nil {
			return err
		}
	}
	for _, collection := range s.All() {
		t := newBaseTable(d, collection)
		totals, err := countLists(c, t)
		if err == nil {
			err = storeTotals(c, t, totals)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// recountParents makes the totals and positions of the parents of a collection anew.
func recountParents(c conn, t *baseTable) error {
	name := t.collection.Name
	for _, derived := range []string{totalsTable, positionsTable} {
		if _, err := c.exec("DELETE FROM "+derived+" WHERE collection = $1 AND parent <> ''", schema.TextValue(name)); err != nil {
			return err
		}
	}
	totals, err := countLists(c, t)
	if err != nil {
		return err
	}
	delete(totals, list{name, ""})
	return storeTotals(c, t, totals)
}

// storeTotals stores totals, of which there are none, and makes the positions of long lists.
func storeTotals(c conn, t *baseTable, totals map[list]int64) error {
	var rows []schema.Record
	for key, total := range totals {
		of, parent := key.values()
		rows = append(rows, schema.Record{of, parent, schema.IntValue(total)})
	}
	err := execEach(c, "INSERT INTO "+totalsTable+" (collection, parent, total) VALUES ($1, $2, $3)", rows)
	if err != nil {
		return err
	}
	return divide(c, t, totals)
}

// divideLists makes the positions of the lists of a collection, of which there are none.
func divideLists(c conn, t *baseTable) error {
	totals, err := countLists(c, t)
	if err != nil {
		return err
	}
	return divide(c, t, totals)
}

// divide makes the positions of lists, of which there are none.
func divide(c conn, t *baseTable, totals map[list]int64) error {
	for key, total := range totals {
		if total <= 2*blockSize {
			continue
		}
		if err := (&positions{conn: c, table: t, list: key}).build(); err != nil {
			return err
		}
	}
	return nil
}

// countLists counts the resources of a collection, and those of each parent.
func countLists(c conn, t *baseTable) (map[list]int64, error) {
	totals := map[list]int64{}
	name := t.collection.Name
	_, err := one(c, func(row schema.Row) { totals[list{name, ""}] = row.Int(0) }, "SELECT count(*) FROM "+t.name)
	link := t.collection.ParentLink()
	if err != nil || link == nil {
		return totals, err
	}
	column := t.columns[link.Column]
	err = each(c, func(row schema.Row) bool {
		totals[list{name, row.ID(0).String()}] = row.Int(1)
		return true
	}, "SELECT "+column+", count(*) FROM "+t.name+" WHERE "+column+" IS NOT NULL GROUP BY "+column)
	return totals, err
}

type examination struct {
	conn     conn
	findings []string
}

func (x *examination) found(format string, args ...any) {
	x.findings = append(x.findings, fmt.Sprintf(format, args...))
}

// collection examines all lists of a collection.
func (x *examination) collection(t *baseTable) error {
	counted, err := countLists(x.conn, t)
	if err != nil {
		return err
	}
	kept := map[list]int64{}
	err = each(x.conn, func(row schema.Row) bool {
		kept[list{t.collection.Name, string(row.AppendText(nil, 0))}] = row.Int(1)
		return true
	}, "SELECT parent, total FROM "+allTotals()+" WHERE collection = $1", schema.TextValue(t.collection.Name))
	if err != nil {
		return err
	}
	for key := range kept {
		counted[key] += 0 // what is kept of nothing is examined too
	}
	keys := slices.SortedFunc(maps.Keys(counted), compareLists)
	for _, key := range keys {
		if kept[key] != counted[key] {
			x.found("%s should have the total %d, and has %d", key, counted[key], kept[key])
		}
		if err := x.positions(&positions{conn: x.conn, table: t, list: key}); err != nil {
			return err
		}
	}
	return nil
}

func (l list) String() string {
	if l.parent == "" {
		return l.collection
	}
	return l.collection + " of " + l.parent
}

// positions examines the directory of a list.
func (x *examination) positions(p *positions) error {
	top, err := p.top()
	if err != nil {
		return err
	}
	var below []node
	for level := 0; level <= top; level++ {
		nodes, err := p.nodes(level, schema.ID{}, nil)
		if err != nil {
			return err
		}
		if err := x.level(p, level, nodes, below); err != nil {
			return err
		}
		below = nodes
	}
	return nil
}

// level compares the nodes of a level with what is below them.
func (x *examination) level(p *positions, level int, nodes, below []node) error {
	if len(nodes) == 0 || nodes[0].first != (schema.ID{}) {
		x.found("the positions of %s have no beginning", p.list)
		return nil
	}
	counted := make([]int64, len(nodes))
	at := 0
	count := func(id schema.ID, n int64) {
		for at+1 < len(nodes) && compareIDs(nodes[at+1].first, id) <= 0 {
			at++
		}
		counted[at] += n
	}
	if level > 0 {
		for _, n := range below {
			count(n.first, n.count)
		}
	} else {
		if _, err := p.ids(func(id schema.ID) { count(id, 1) }, schema.ID{}, 0, math.MaxInt64); err != nil {
			return err
		}
		if err := x.without(p.list, func(id schema.ID, change int64) { at = 0; count(id, -change) }); err != nil {
			return err
		}
	}
	for i, n := range nodes {
		if n.count != counted[i] {
			x.found("the positions of %s from %s on should be %d, and are %d", p.list, n.first, counted[i], n.count)
		}
	}
	return nil
}

// without goes through the deltas that are not in the positions yet.
func (x *examination) without(l list, visit func(id schema.ID, change int64)) error {
	collection, parent := l.values()
	return each(x.conn, func(row schema.Row) bool {
		visit(row.ID(0), row.Int(1))
		return true
	}, "SELECT id, change FROM "+deltasTable+" WHERE collection = $1 AND parent = $2", collection, parent)
}
