package store

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/statement"
)

// TestFiltersSelectWhatTheyMatch takes random trees of filters to random rows:
// Filter.Match says what the SQL must select, on every store.
func TestFiltersSelectWhatTheyMatch(t *testing.T) {
	s := parse(t, everyKind)
	things := s.Collection("things")
	eachStore(t, s, func(t *testing.T, st *Store) {
		rapid.Check(t, func(rt *rapid.T) {
			rows := rapid.SliceOfN(rapid.Custom(drawThing(things)), 0, 12).Draw(rt, "rows")
			replaceAll(t, st, things, rows)
			read(t, st, func(tx *Tx) {
				for i := range 8 { // filters cost less than rows
					filter := drawFilter(things, 3).Draw(rt, fmt.Sprint("filter", i))
					checkFilter(rt, tx, things, filter, rows)
				}
			})
		})
	})
}

func checkFilter(t *rapid.T, tx *Tx, c *model.Collection, filter query.Filter, rows []model.Record) {
	checkFilterBy(t, tx, c, filter, rows, filter.Match)
}

// checkFilterBy compares what a filter selects with the rows for which it holds.
func checkFilterBy(t *rapid.T, tx *Tx, c *model.Collection, filter query.Filter, rows []model.Record, holds func(model.Record) bool) {
	want := checkPlanned(t, tx, c, statement.Plan{Filter: filter}, rows, holds)
	for _, row := range rows {
		id := row.ID(model.IDColumn)
		found, err := tx.View(c, filter, id, nil)
		if err != nil || found != slices.Contains(want, id) {
			t.Fatalf("%#v\nas a scope, it finds %s: %v (%v)", filter, id, found, err)
		}
	}
}

// checkPlanned compares what a plan selects and counts with the rows for which its filter holds, and returns these.
func checkPlanned(t *rapid.T, tx *Tx, c *model.Collection, plan statement.Plan, rows []model.Record, holds func(model.Record) bool) []model.ID {
	want := []model.ID{}
	for _, row := range rows {
		if holds(row) {
			want = append(want, row.ID(model.IDColumn))
		}
	}
	slices.SortFunc(want, func(a, b model.ID) int { return slices.Compare(a[:], b[:]) })
	if got := selected(t, tx, c, plan); !slices.Equal(got, want) {
		t.Fatalf("%#v\nselects %v\nmatches %v", plan, got, want)
	}
	count, err := tx.countPlanned(c, plan)
	if err != nil || count != int64(len(want)) {
		t.Fatalf("%#v\ncounts %d (%v), but matches %d", plan, count, err, len(want))
	}
	return want
}

func selected(t *rapid.T, tx *Tx, c *model.Collection, plan statement.Plan) []model.ID {
	rows, err := tx.Select(c, statement.Selection{Plan: plan, Order: statement.NewOrder(nil), Take: math.MaxInt64})
	if err != nil {
		t.Fatalf("%#v: %v", plan, err)
	}
	defer rows.Close()
	ids := []model.ID{}
	if err := readRows(rows, func() { ids = append(ids, rows.ID(model.IDColumn)) }); err != nil {
		t.Fatalf("%#v: %v", plan, err)
	}
	return ids
}

// replaceAll makes rows the only ones of a collection. The ids of the rows are
// made different by their place.
func replaceAll(t *testing.T, st *Store, c *model.Collection, rows []model.Record) {
	t.Helper()
	write(t, st, func(tx *Tx) error {
		var gone []model.Record
		err := db.Each(tx.conn, func(row model.Row) {
			gone = append(gone, c.Scan(row))
		}, "SELECT "+tx.bound.table(c).All+" FROM "+tx.bound.table(c).Name)
		if err != nil {
			return err
		}
		for _, row := range gone {
			if _, err := tx.Delete(c, row); err != nil {
				return err
			}
		}
		for i, row := range rows {
			id := row.ID(model.IDColumn)
			id[15] = byte(i)
			row[model.IDColumn] = model.IDValue(id)
			if _, err := tx.Insert(c, row); err != nil {
				return err
			}
		}
		return nil
	})
}

// drawThing draws a row of values that are few, so that they meet, and awkward.
func drawThing(c *model.Collection) func(*rapid.T) model.Record {
	return func(t *rapid.T) model.Record {
		record := make(model.Record, len(c.Columns()))
		for i, column := range c.Columns() {
			if column.Kind == model.KindJSON {
				record[i] = rapid.SampledFrom([]model.Value{model.Null, model.TextValue("{}")}).Draw(t, column.Name)
			} else if column.NotNull || rapid.IntRange(0, 3).Draw(t, "null") > 0 {
				record[i] = rapid.SampledFrom(values(column.Kind)).Draw(t, column.Name)
			}
		}
		return record
	}
}

func values(kind model.Kind) []model.Value {
	if kind.IsDecimal() {
		return valuesOf(model.IntValue, 0, 1, -1, 5, 100, 999_999_999_999_999_999, -999_999_999_999_999_999)
	}
	switch kind {
	case model.KindBoolean:
		return []model.Value{model.BoolValue(false), model.BoolValue(true)}
	case model.KindInteger:
		return valuesOf(model.IntValue, 0, 1, -1, 2, 1<<53, 1<<53+1, math.MaxInt64, math.MaxInt64-1, math.MinInt64)
	case model.KindNumber:
		return valuesOf(model.FloatValue, 0, math.Copysign(0, -1), 1, -1, 0.1, 0.30000000000000004, 1e300, -math.MaxFloat64, math.SmallestNonzeroFloat64, 1<<53)
	case model.KindUUID:
		return valuesOf(model.IDValue, model.ID{}, model.ID{1}, model.ID{0x7f}, model.ID{0x80}, model.ID{0xff, 0xff})
	case model.KindDate:
		return valuesOf(model.TextValue, "0000-01-01", "2024-02-29", "2026-11-14", "9999-12-31")
	case model.KindDateTime:
		at := func(t time.Time) model.Value { return model.TimeValue(model.FormatTime(t)) }
		return valuesOf(at, time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(1969, 12, 31, 23, 59, 59, 999e6, time.UTC),
			time.Date(2026, 11, 14, 9, 30, 0, 123e6, time.UTC), time.Date(2026, 11, 14, 9, 30, 0, 124e6, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC))
	default:
		return valuesOf(model.TextValue, "", "a", "A", "ab", "abc", "b", "aé", "%", "_", "a%", `\`, "'", `"`, "$1", "ß", "é", "e\u0301",
			"\ud7ff", "\ue000", "\uffff", "\U0001d11e", "\U0010ffff", "a\U0010ffff", "\U0010ffff\U0010ffff", "\t", "1")
	}
}

func valuesOf[T any](value func(T) model.Value, of ...T) []model.Value {
	all := make([]model.Value, len(of))
	for i := range of {
		all[i] = value(of[i])
	}
	return all
}

// drawFilter draws a tree of filters on any columns, with at most depth levels
// of And, Or and Not.
func drawFilter(c *model.Collection, depth int) *rapid.Generator[query.Filter] {
	leaf := rapid.Custom(func(t *rapid.T) query.Filter {
		column := rapid.IntRange(0, len(c.Columns())-1).Draw(t, "column")
		kind := c.Columns()[column].Kind
		form := rapid.IntRange(0, 5).Draw(t, "form")
		if form == 0 || kind == model.KindJSON {
			return query.IsNull{Column: column}
		}
		if form == 1 {
			return query.In{Column: column, Values: rapid.SliceOfN(rapid.SampledFrom(values(kind)), 0, 4).Draw(t, "values")}
		}
		ops := []query.Op{query.Equal, query.Less, query.LessOrEqual, query.Greater, query.GreaterOrEqual}
		if kind == model.KindText {
			ops = append(ops, query.Contains, query.StartsWith)
		}
		return query.Compare{Column: column, Op: rapid.SampledFrom(ops).Draw(t, "op"), Value: rapid.SampledFrom(values(kind)).Draw(t, "value")}
	})
	return drawTree(leaf, depth)
}

// drawTree draws a tree of filters with at most depth levels of And, Or and Not.
func drawTree(leaf *rapid.Generator[query.Filter], depth int) *rapid.Generator[query.Filter] {
	if depth == 0 {
		return leaf
	}
	below := drawTree(leaf, depth-1)
	return rapid.Custom(func(t *rapid.T) query.Filter {
		switch rapid.IntRange(0, 3).Draw(t, "node") {
		case 0:
			return query.And(rapid.SliceOfN(below, 0, 3).Draw(t, "and"))
		case 1:
			return query.Or(rapid.SliceOfN(below, 0, 3).Draw(t, "or"))
		case 2:
			return query.Not{Filter: below.Draw(t, "not")}
		default:
			return leaf.Draw(t, "leaf")
		}
	})
}
