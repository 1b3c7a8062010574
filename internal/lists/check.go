package lists

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// Check compares the totals and offset indexes of all collections with their resources, and
// returns what is wrong.
func Check(c db.Conn, d db.Dialect, s *model.Schema) ([]string, error) {
	x := &examination{conn: c}
	for _, collection := range s.All() {
		if err := x.collection(db.NewTable(d, collection)); err != nil {
			return nil, err
		}
	}
	return x.findings, nil
}

// Rebuild computes the totals and offset indexes of all collections again.
func Rebuild(c db.Conn, d db.Dialect, s *model.Schema) error {
	for _, derived := range []string{db.DeltasTable, db.TotalsTable, db.OffsetsTable} {
		if _, err := c.Exec("DELETE FROM " + derived); err != nil {
			return err
		}
	}
	for _, collection := range s.All() {
		t := db.NewTable(d, collection)
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

// RecountParents computes again the totals and offset indexes of the sub-collections of a
// collection.
func RecountParents(c db.Conn, t *db.Table) error {
	name := t.Collection.Name
	for _, derived := range []string{db.TotalsTable, db.OffsetsTable} {
		if _, err := c.Exec("DELETE FROM "+derived+" WHERE collection = $1 AND parent <> ''", model.TextValue(name)); err != nil {
			return err
		}
	}
	totals, err := countLists(c, t)
	if err != nil {
		return err
	}
	delete(totals, List{name, ""})
	return storeTotals(c, t, totals)
}

// storeTotals stores the totals of lists that have none, and builds the indexes of long ones.
func storeTotals(c db.Conn, t *db.Table, totals map[List]int64) error {
	var rows []model.Record
	for key, total := range totals {
		of, parent := key.values()
		rows = append(rows, model.Record{of, parent, model.IntValue(total)})
	}
	err := db.ExecEach(c, "INSERT INTO "+db.TotalsTable+" (collection, parent, total) VALUES ($1, $2, $3)", rows)
	if err != nil {
		return err
	}
	return buildIndexes(c, t, totals)
}

// BuildIndexes builds the offset indexes of the lists of a collection, which must have none.
func BuildIndexes(c db.Conn, t *db.Table) error {
	totals, err := countLists(c, t)
	if err != nil {
		return err
	}
	return buildIndexes(c, t, totals)
}

// buildIndexes builds the indexes of the long ones of some lists, which must have none.
func buildIndexes(c db.Conn, t *db.Table, totals map[List]int64) error {
	for key, total := range totals {
		if total <= 2*BlockSize {
			continue
		}
		if err := (&offsetIndex{conn: c, table: t, List: key}).build(); err != nil {
			return err
		}
	}
	return nil
}

// countLists counts the resources of a collection, and those of each parent.
func countLists(c db.Conn, t *db.Table) (map[List]int64, error) {
	totals := map[List]int64{}
	name := t.Collection.Name
	_, err := db.One(c, func(row model.Row) { totals[List{name, ""}] = row.Int(0) }, "SELECT count(*) FROM "+t.Name)
	link := t.Collection.ParentLink()
	if err != nil || link == nil {
		return totals, err
	}
	column := t.Columns[link.Column]
	err = db.Each(c, func(row model.Row) bool {
		totals[List{name, row.ID(0).String()}] = row.Int(1)
		return true
	}, "SELECT "+column+", count(*) FROM "+t.Name+" WHERE "+column+" IS NOT NULL GROUP BY "+column)
	return totals, err
}

// examination collects what is wrong.
type examination struct {
	conn     db.Conn
	findings []string
}

func (x *examination) found(format string, args ...any) {
	x.findings = append(x.findings, fmt.Sprintf(format, args...))
}

// collection examines all lists of a collection.
func (x *examination) collection(t *db.Table) error {
	counted, err := countLists(x.conn, t)
	if err != nil {
		return err
	}
	stored := map[List]int64{}
	err = db.Each(x.conn, func(row model.Row) bool {
		stored[List{t.Collection.Name, row.Text(0)}] = row.Int(1)
		return true
	}, "SELECT parent, total FROM "+AllTotals()+" WHERE collection = $1", model.TextValue(t.Collection.Name))
	if err != nil {
		return err
	}
	for key := range stored {
		counted[key] += 0 // also check totals of empty lists
	}
	keys := slices.SortedFunc(maps.Keys(counted), compareLists)
	for _, key := range keys {
		if stored[key] != counted[key] {
			x.found("%s should have the total %d, but has %d", key, counted[key], stored[key])
		}
		if err := x.index(&offsetIndex{conn: x.conn, table: t, List: key}); err != nil {
			return err
		}
	}
	return nil
}

// index examines the index of a list.
func (x *examination) index(index *offsetIndex) error {
	top, err := index.top()
	if err != nil {
		return err
	}
	var below []node
	for level := 0; level <= top; level++ {
		nodes, err := index.nodes(level, model.ID{}, nil)
		if err != nil {
			return err
		}
		if err := x.level(index, level, nodes, below); err != nil {
			return err
		}
		below = nodes
	}
	return nil
}

// level compares the nodes of a level with the nodes or resources below them.
func (x *examination) level(index *offsetIndex, level int, nodes, below []node) error {
	if len(nodes) == 0 || nodes[0].first != (model.ID{}) {
		x.found("the offset index of %s has no beginning", index.List)
		return nil
	}
	counted := make([]int64, len(nodes))
	at := 0
	count := func(id model.ID, n int64) {
		for at+1 < len(nodes) && CompareIDs(nodes[at+1].first, id) <= 0 {
			at++
		}
		counted[at] += n
	}
	if level > 0 {
		for _, n := range below {
			count(n.first, n.count)
		}
	} else {
		if _, err := index.ids(func(id model.ID) { count(id, 1) }, model.ID{}, 0, math.MaxInt64); err != nil {
			return err
		}
		if err := x.pending(index.List, func(id model.ID, change int64) { at = 0; count(id, -change) }); err != nil {
			return err
		}
	}
	for i, n := range nodes {
		if n.count != counted[i] {
			x.found("the offset index of %s should count %d resources from %s on, but counts %d", index.List, counted[i], n.first, n.count)
		}
	}
	return nil
}

// pending visits the pending deltas of a list, which its index does not count.
func (x *examination) pending(l List, visit func(id model.ID, change int64)) error {
	collection, parent := l.values()
	return db.Each(x.conn, func(row model.Row) bool {
		visit(row.ID(0), row.Int(1))
		return true
	}, "SELECT id, change FROM "+db.DeltasTable+" WHERE collection = $1 AND parent = $2", collection, parent)
}
