package store

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/statement"
)

// operandData has owners, who may have a boss, and things. Callers see owners and things with an n of at least zero, and no n.
type operandData struct {
	things, owners *model.Collection
	rows           map[*model.Collection][]model.Record
	limits         query.Limits
}

func newOperandData(t *testing.T, st *Store, random *rand.Rand) *operandData {
	t.Helper()
	d := &operandData{things: st.schema.Collection("things"), owners: st.schema.Collection("owners"), rows: map[*model.Collection][]model.Record{}}
	d.limits = query.Limits{DefaultLimit: 100, Related: func(r *model.Relation) (model.ColumnSet, query.Filter, bool) {
		return nil, query.Compare{Column: r.To.Field("n").Column, Op: query.GreaterOrEqual, Value: model.IntValue(0)}, true
	}}
	texts := []string{`null`, `"a"`, `"B"`, `"b"`, `"ä"`, `""`, `"\ud83d\ude00"`, `"\uffee"`}
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	const owners, things = 9, 16
	owner := func(n int) string {
		if n == 0 || random.IntN(4) == 0 {
			return "null"
		}
		return `"` + id(random.IntN(n)) + `"`
	}
	for i := range owners {
		members := []string{fmt.Sprintf(`"deep":{"n":%d}`, i%3)}
		for name, value := range map[string]string{"city": pick(texts...), "n": pick("null", "-3", "7", "9007199254740993"), "on": pick("null", `"2026-01-02"`, `"2025-12-31"`), "size": pick("null", "-0.5", "1e300", "3"),
			"open": pick("null", "true", "false"), "price": pick("null", `"1.50"`, `"-1.55"`, `"10.00"`), "key": pick("null", `"`+id(7)+`"`, `"`+id(8)+`"`)} {
			if value != "null" {
				members = append(members, `"`+name+`":`+value)
			}
		}
		spot := "{" + strings.Join(members, ",") + "}"
		d.rows[d.owners] = append(d.rows[d.owners], record(t, d.owners, fmt.Sprintf(`{"id":"%s","name":%s,"n":%d,"spot":%s,"boss_id":%s}`, id(i), pick(texts...), i%4-1, pick(spot, spot, spot, "null", "{}"), owner(i))))
	}
	for i := range things {
		d.rows[d.things] = append(d.rows[d.things], record(t, d.things, fmt.Sprintf(`{"id":"%s","name":%s,"n":%d,"owner_id":%s}`, id(100+i), pick(texts...), i%3-1, owner(owners))))
	}
	write(t, st, func(tx *Tx) error {
		for _, c := range []*model.Collection{d.owners, d.things} {
			if _, _, err := tx.InsertAll(c, d.rows[c]); err != nil {
				return err
			}
		}
		return nil
	})
	return d
}

// visible is the owner with an id, nil if the caller does not see one.
func (d *operandData) visible(value model.Value) model.Record {
	for _, row := range d.rows[d.owners] {
		if !value.IsNull() && row.ID(model.IDColumn) == value.ID() && row.Int(d.owners.Field("n").Column) >= 0 {
			return row
		}
	}
	return nil
}

// value is what a path leads to, without any of the code under test but that of values inside objects.
func (d *operandData) value(c *model.Collection, row model.Record, path string) model.Value {
	first, rest, _ := strings.Cut(path, ".")
	switch {
	case row == nil:
		return model.Null
	case first == "count":
		column, n := map[string]int{"things": d.things.Field("owner_id").Column, "reports": d.owners.Field("boss_id").Column}[rest], int64(0)
		to := map[string]*model.Collection{"things": d.things, "reports": d.owners}[rest]
		for _, other := range d.rows[to] {
			if other[column] == row[model.IDColumn] && other.Int(to.Field("n").Column) >= 0 {
				n++
			}
		}
		return model.IntValue(n)
	case first == "owner" || first == "boss":
		return d.value(d.owners, d.visible(row[c.Field(first+"_id").Column]), rest)
	case rest != "":
		field := c.Field(first)
		names := strings.Split(rest, ".")
		return row[field.Column].Inside(names, c.Columns()[field.Column].Attribute.Inside(names).Kind().Inside())
	}
	return row[c.Field(first).Column]
}

// sorted is the resources of a collection in an order.
func (d *operandData) sorted(c *model.Collection, keys []string) []model.Record {
	return slices.SortedFunc(slices.Values(d.rows[c]), func(a, b model.Record) int {
		for _, key := range keys {
			path, descending := strings.CutPrefix(key, "-")
			if order := model.Compare(d.value(c, a, path), d.value(c, b, path)); order != 0 {
				return map[bool]int{false: order, true: -order}[descending]
			}
		}
		return a.ID(0).Compare(b.ID(0))
	})
}

const operandSchema = `
collections:
  owners:
    timestamps: false
    attributes:
      name: {type: string, maxLength: 10}
      n: {type: integer}
      boss_id: {references: owners, inverse: reports}
      spot:
        type: object
        properties:
          city: {type: string, maxLength: 20}
          n: {type: integer}
          on: {type: string, format: date}
          size: {type: number}
          open: {type: boolean}
          price: {type: string, format: decimal, scale: 2}
          key: {type: string, format: uuid}
          deep: {type: object, properties: {n: {type: integer}}}
    index: [spot.city, [-spot.n, name]]
  things:
    timestamps: false
    attributes:
      name: {type: string, maxLength: 10, index: true}
      n: {type: integer}
      owner_id: {references: owners, inverse: things}
`

// TestOrdersOfOperands compares random orders with a naive one: the whole list, and ranges at each cursor and offset, in both directions.
func TestOrdersOfOperands(t *testing.T) {
	var inside []string
	for _, name := range []string{"city", "n", "on", "size", "open", "price", "key", "deep.n"} {
		inside = append(inside, "spot."+name)
	}
	paths := map[string][]string{"owners": append([]string{"name", "n", "boss.name", "boss.boss.name", "boss.n", "boss.spot.city", "boss.boss.spot.n", "count.things", "count.reports"}, inside...)}
	paths["things"] = []string{"name", "n", "owner.name", "owner.n", "owner.boss.name", "owner.boss.n", "owner.id", "owner.boss_id"}
	for _, path := range inside {
		paths["things"] = append(paths["things"], "owner."+path)
	}
	eachStore(t, parse(t, operandSchema), func(t *testing.T, st *Store) {
		random := rand.New(rand.NewPCG(36, 21))
		d := newOperandData(t, st, random)
		for range 60 {
			for _, c := range []*model.Collection{d.owners, d.things} {
				var keys []string
				for _, i := range random.Perm(len(paths[c.Name]))[:1+random.IntN(3)] {
					keys = append(keys, map[bool]string{true: "-"}[random.IntN(2) == 0]+paths[c.Name][i])
				}
				want := idsOfRecords(d.sorted(c, keys))
				q, err := query.Parse(query.OfList, c, "sort="+strings.Join(keys, ","), d.limits)
				if err != nil {
					t.Fatal(err)
				}
				check := func(r query.Range, from, to int) {
					page, err := st.Page(context.Background(), PageQuery{Collection: c, Sort: q.Sort, Range: r, Unfiltered: true})
					if err != nil {
						t.Fatalf("%v %+v: %v", keys, r, err)
					}
					defer page.Close()
					if got := idsInPieces(t, page, 1); !slices.Equal(got, want[from:to]) {
						t.Fatalf("%v %+v:\ngot  %v\nwant %v", keys, r, got, want[from:to])
					}
				}
				total := int64(len(want))
				check(query.Range{Limit: math.MaxInt64}, 0, len(want))
				at, size := int64(random.IntN(len(want))), int64(1+random.IntN(5))
				cursor, _ := model.ParseID(want[at])
				for _, limit := range []int64{size, -size, 2000, -2000} {
					from, to := query.Span(at, limit, total)
					check(query.Range{Anchor: query.AtCursor, Cursor: cursor, Limit: limit}, int(from), int(to))
					check(query.Range{Anchor: query.AtOffset, Offset: at, Limit: limit}, int(from), int(to))
				}
				check(query.Range{Limit: -size}, len(want)-min(int(size), len(want)), len(want))
			}
		}
	})
}

// TestFiltersByCounts compares filters by counts with a naive count, alone, negated and with other filters.
func TestFiltersByCounts(t *testing.T) {
	eachStore(t, parse(t, operandSchema), func(t *testing.T, st *Store) {
		d := newOperandData(t, st, rand.New(rand.NewPCG(36, 22)))
		holds := map[string]func(order int) bool{
			"eq": func(o int) bool { return o == 0 }, "ne": func(o int) bool { return o != 0 }, "lt": func(o int) bool { return o < 0 },
			"lte": func(o int) bool { return o <= 0 }, "gt": func(o int) bool { return o > 0 }, "gte": func(o int) bool { return o >= 0 },
			"in": func(o int) bool { return o == 0 }, "not_in": func(o int) bool { return o != 0 },
		}
		for _, count := range []string{"count.things", "count.reports"} {
			for op, holds := range holds {
				for bound := range int64(4) {
					raw := "filter[" + count + "][" + op + "]=" + strconv.FormatInt(bound, 10)
					q, err := query.Parse(query.OfList, d.owners, raw, d.limits)
					if err != nil {
						t.Fatal(err)
					}
					for _, negated := range []bool{false, true} {
						filter := q.Filter
						if negated {
							filter = query.Not{Filter: filter}
						}
						var want []string
						for _, row := range d.rows[d.owners] {
							if holds(model.Compare(d.value(d.owners, row, count), model.IntValue(bound))) != negated {
								want = append(want, row.ID(0).String())
							}
						}
						read(t, st, func(tx *Tx) {
							rows, err := tx.Select(d.owners, statement.Selection{Plan: statement.Plan{Filter: filter}, Order: statement.NewOrder(nil), Take: math.MaxInt64})
							if err != nil {
								t.Fatal(err)
							}
							defer rows.Close()
							var got []string
							if err := readRows(rows, func() { got = append(got, rows.ID(0).String()) }); err != nil {
								t.Fatal(err)
							}
							if !slices.Equal(got, want) {
								t.Errorf("%s, negated %v: got %v, want %v", raw, negated, got, want)
							}
						})
					}
				}
			}
		}
	})
}

// TestOperandsAreFoundByIndexes: the values of other resources are found one by one, by the index of ids or of the reference, or by a
// hash of all of them, and an index on a property has its order.
func TestOperandsAreFoundByIndexes(t *testing.T) {
	s := parse(t, planned)
	eachStore(t, s, func(t *testing.T, st *Store) {
		isPostgres := st.db.Traits().RoundTrips
		fill(t, st, isPostgres)
		for _, each := range []struct{ collection, query, scans, sqlite, postgres string }{
			{"issues", "sort=project.key", "", "SEARCH _r1 USING PRIMARY KEY (id=?)", "Hash Left Join"},
			{"issues", "sort=-project.key&filter[place.city]=c7", "issues", "_index.issues.place.city", "_index.issues.place.city"},
			{"projects", "sort=-count.issues", "issues", "_index.issues.project_id.id", "_index.issues.project_id.id"},
			{"projects", "filter[count.issues][gte]=4", "issues", "_index.issues.project_id.id", "_index.issues.project_id.id"},
			{"issues", "sort=place.floor", "", "_index.issues.place.floor", "_index.issues.place.floor"},
		} {
			c := s.Collection(each.collection)
			q, err := query.Parse(query.OfList, c, each.query, query.Limits{DefaultLimit: 100})
			if err != nil {
				t.Fatal(err)
			}
			plan := strings.Join(planOf(t, st, c, statement.Selection{Plan: statement.Plan{Filter: q.Filter}, Order: statement.NewOrder(q.Sort), Take: 100}, isPostgres), "\n")
			uses := map[bool]string{false: each.sqlite, true: each.postgres}[isPostgres]
			if !strings.Contains(plan, uses) || strings.Contains(plan, "Seq Scan on "+each.scans+" ") || strings.Contains(plan, "SCAN _r") || strings.HasPrefix(each.query, "sort=project") && strings.Contains(plan, "SubPlan") {
				t.Errorf("%s: %s\n%s", each.collection, each.query, plan)
			}
		}
	})
}
