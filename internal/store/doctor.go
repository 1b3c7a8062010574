package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/plural-go/plural/internal/model"
)

// Examine compares what is derived from the resources of a database with them: the
// totals, and the positions of long lists. With repair, what is wrong is made
// anew, in the same transaction. It returns what was wrong.
func Examine(ctx context.Context, url string, repair bool) (findings []string, err error) {
	b, err := connectExisting(ctx, url)
	if err != nil {
		return nil, explained(err)
	}
	defer func() { err = explained(errors.Join(err, b.close())) }()
	if !repair {
		c, release, err := b.read(ctx, atLength)
		if err != nil {
			return nil, err
		}
		defer release()
		return examine(c, b, false)
	}
	// Nobody writes meanwhile, so that what is counted stays so.
	err = b.migrate(ctx, func(c conn) error {
		findings, err = examine(c, b, true)
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
	x := &examination{conn: c}
	for _, collection := range stored.All() {
		if err := x.collection(newTable(d, collection)); err != nil {
			return nil, err
		}
	}
	if repair && len(x.findings) > 0 {
		return x.findings, derive(c, d, stored)
	}
	return x.findings, nil
}

// derive makes everything anew that is derived from the resources.
func derive(c conn, d dialect, s *model.Schema) error {
	for _, derived := range []string{deltasTable, totalsTable, positionsTable} {
		if _, err := c.exec("DELETE FROM " + derived); err != nil {
			return err
		}
	}
	for _, collection := range s.All() {
		t := newTable(d, collection)
		totals, err := countLists(c, t)
		if err != nil {
			return err
		}
		for key, total := range totals {
			of, parent := key.values()
			if err := c.later(nil, "INSERT INTO "+totalsTable+" (collection, parent, total) VALUES ($1, $2, $3)", of, parent, model.IntValue(total)); err != nil {
				return err
			}
		}
		if err := divide(c, t, totals); err != nil {
			return err
		}
	}
	return c.flush()
}

// divide makes the positions of lists, of which there are none.
func divide(c conn, t *table, totals map[list]int64) error {
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
func countLists(c conn, t *table) (map[list]int64, error) {
	totals := map[list]int64{}
	name := t.collection.Name
	_, err := one(c, func(row model.Row) { totals[list{name, ""}] = row.Int(0) }, "SELECT count(*) FROM "+t.name)
	link := t.collection.ParentLink()
	if err != nil || link == nil {
		return totals, err
	}
	column := t.columns[link.Column]
	err = each(c, func(row model.Row) bool {
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
func (x *examination) collection(t *table) error {
	counted, err := countLists(x.conn, t)
	if err != nil {
		return err
	}
	kept := map[list]int64{}
	err = each(x.conn, func(row model.Row) bool {
		kept[list{t.collection.Name, string(row.AppendText(nil, 0))}] = row.Int(1)
		return true
	}, "SELECT parent, total FROM "+allTotals()+" WHERE collection = $1", model.TextValue(t.collection.Name))
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
		nodes, err := p.nodes(level, model.ID{}, nil)
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
	if len(nodes) == 0 || nodes[0].first != (model.ID{}) {
		x.found("the positions of %s have no beginning", p.list)
		return nil
	}
	counted := make([]int64, len(nodes))
	at := 0
	count := func(id model.ID, n int64) {
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
		if _, err := p.ids(func(id model.ID) { count(id, 1) }, model.ID{}, 0, math.MaxInt64); err != nil {
			return err
		}
		if err := x.without(p.list, func(id model.ID, change int64) { at = 0; count(id, -change) }); err != nil {
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
func (x *examination) without(l list, visit func(id model.ID, change int64)) error {
	collection, parent := l.values()
	return each(x.conn, func(row model.Row) bool {
		visit(row.ID(0), row.Int(1))
		return true
	}, "SELECT id, change FROM "+deltasTable+" WHERE collection = $1 AND parent = $2", collection, parent)
}
