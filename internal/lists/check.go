package lists

import (
	"fmt"
	"math"
	"slices"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// Check compares the totals and offset indexes of all collections with their resources, and the bytes of idempotency
// records with these, and returns what is wrong.
func Check(c db.Conn, d db.Dialect, s *model.Schema) ([]string, error) {
	var wrong []string
	for _, collection := range s.All() {
		x := &examination{conn: c, dialect: d}
		if err := x.collection(db.NewTable(d, collection)); err != nil {
			return nil, err
		}
		slices.SortStableFunc(x.findings, func(a, b finding) int { return compareLists(a.List, b.List) })
		for _, each := range x.findings {
			wrong = append(wrong, each.text)
		}
	}
	ofRecords, err := checkRecords(c)
	return append(wrong, ofRecords...), err
}

// Rebuild computes the totals and offset indexes of all collections again, and the bytes of idempotency records.
func Rebuild(c db.Conn, d db.Dialect, s *model.Schema) error {
	for _, derived := range []string{db.DeltasTable, db.TotalsTable, db.OffsetsTable} {
		if _, err := c.Exec("DELETE FROM " + derived); err != nil {
			return err
		}
	}
	for _, collection := range s.All() {
		if err := Recount(c, db.NewTable(d, collection)); err != nil {
			return err
		}
	}
	return countRecords(c)
}

// Recount computes the totals and offset indexes of a collection again. No deltas of it may be pending.
func Recount(c db.Conn, t *db.Table) error {
	for _, derived := range []string{db.TotalsTable, db.OffsetsTable} {
		if _, err := c.Exec("DELETE FROM "+derived+" WHERE collection = $1", model.TextValue(t.Stored.Name)); err != nil {
			return err
		}
	}
	totals, err := countLists(c, t)
	if err != nil {
		return err
	}
	var rows []model.Record
	for key, total := range totals {
		rows = append(rows, append(key.Args(), model.IntValue(total)))
	}
	if err := db.ExecEach(c, "INSERT INTO "+db.TotalsTable+" (collection, parent, total) VALUES ($1, $2, $3)", rows); err != nil {
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

func buildIndexes(c db.Conn, t *db.Table, totals map[List]int64) error {
	for key, total := range totals {
		if total > 2*BlockSize {
			if err := (&offsetIndex{conn: c, table: t, List: key}).build(); err != nil {
				return err
			}
		}
	}
	return nil
}

// countLists counts the resources of a collection, and those of each parent.
func countLists(c db.Conn, t *db.Table) (map[List]int64, error) {
	totals := map[List]int64{}
	name := t.Stored.Name
	_, err := db.One(c, func(row model.Row) { totals[List{name, ""}] = row.Int(0) }, "SELECT count(*) FROM "+t.Name)
	link := t.Collection.ParentLink()
	if err != nil || link == nil {
		return totals, err
	}
	column := t.Columns[link.Column]
	err = db.Each(c, func(row model.Row) {
		totals[List{name, row.ID(0).String()}] = row.Int(1)
	}, "SELECT "+column+", count(*) FROM "+t.Name+" WHERE "+column+" IS NOT NULL GROUP BY "+column)
	return totals, err
}

// examination collects what is wrong.
type examination struct {
	conn     db.Conn
	dialect  db.Dialect
	findings []finding
}

type finding struct {
	List
	text string
}

func (x *examination) found(l List, format string, args ...any) {
	x.findings = append(x.findings, finding{l, fmt.Sprintf(format, args...)})
}

// collection examines all lists of a collection.
func (x *examination) collection(t *db.Table) error {
	if err := x.totals(t); err != nil {
		return err
	}
	indexed, err := db.All(x.conn, func(row model.Row) List { return List{t.Stored.Name, row.Text(0)} },
		"SELECT DISTINCT parent FROM "+db.OffsetsTable+" WHERE collection = $1", model.TextValue(t.Stored.Name))
	if err != nil {
		return err
	}
	for _, key := range indexed {
		if key.parent != "" {
			if _, valid := model.ParseID(key.parent); !valid || t.Collection.ParentLink() == nil {
				x.found(key, "there is an offset index of %s, which is no list", key)
				continue
			}
		}
		if err := x.index(&offsetIndex{conn: x.conn, table: t, List: key}); err != nil {
			return err
		}
	}
	return nil
}

// totals compares the totals of all lists of a collection with its resources, in one statement.
func (x *examination) totals(t *db.Table) error {
	counted := "SELECT '' AS parent, count(*) AS counted, 0 AS stored FROM " + t.Name
	if link := t.Collection.ParentLink(); link != nil {
		column := t.Columns[link.Column]
		text := "lower(trim(" + x.dialect.JSON(column, model.KindUUID) + `, '"'))`
		counted += " UNION ALL SELECT " + text + ", count(*), 0 FROM " + t.Name + " WHERE " + column + " IS NOT NULL GROUP BY " + column
	}
	return db.Each(x.conn, func(row model.Row) {
		key := List{t.Stored.Name, row.Text(0)}
		x.found(key, "%s should have the total %d, but has %d", key, row.Int(1), row.Int(2))
	}, "SELECT parent, CAST(sum(counted) AS bigint), CAST(sum(stored) AS bigint) FROM ("+counted+" UNION ALL SELECT parent, 0, total FROM "+AllTotals()+
		" WHERE collection = $1) AS lists GROUP BY parent HAVING sum(counted) <> sum(stored)", model.TextValue(t.Stored.Name))
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
		x.found(index.List, "the offset index of %s has no beginning", index.List)
		return nil
	}
	counted := make([]int64, len(nodes))
	at := 0
	count := func(id model.ID, n int64) {
		for at+1 < len(nodes) && nodes[at+1].first.Compare(id) <= 0 {
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
		pending, err := index.pending(x.conn)
		if err != nil {
			return err
		}
		for _, d := range pending { // which the index does not count
			at = 0
			count(d.id, -d.change)
		}
	}
	for i, n := range nodes {
		if n.count != counted[i] {
			x.found(index.List, "the offset index of %s should count %d resources from %s on, but counts %d", index.List, counted[i], n.first, n.count)
		}
	}
	return nil
}
