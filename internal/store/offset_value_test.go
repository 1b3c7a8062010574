package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/statement"
)

const graded = `
collections:
  issues:
    timestamps: false
    attributes:
      state: {type: string, maxLength: 20, index: true}
      level: {type: number, index: true}
      priority: {type: integer}
    index: [[state, priority]]
`

// TestOffsetsOfOneValue compares ranges by offset, of resources with one value of an indexed attribute, with a model: from
// both ends, past the end, beside smaller and larger values and nulls, in the order of ids and of another attribute.
func TestOffsetsOfOneValue(t *testing.T) {
	s := parse(t, graded)
	issues := s.Collection("issues")
	state, level, priority := issues.Field("state").Column, issues.Field("level").Column, issues.Field("priority").Column
	eachStore(t, s, func(t *testing.T, st *Store) {
		rapid.Check(t, func(rt *rapid.T) {
			rows := make([]model.Record, rapid.IntRange(0, 30).Draw(rt, "rows"))
			for i := range rows {
				rows[i] = record(t, issues, fmt.Sprintf(`{"state":%s,"level":%s,"priority":%s}`,
					rapid.SampledFrom([]string{`""`, `"a"`, `"A"`, `"é"`, "null"}).Draw(rt, "state"),
					rapid.SampledFrom([]string{"-1", "0", "0.5", "null"}).Draw(rt, "level"),
					rapid.SampledFrom([]string{"-1", "0", "1", "null"}).Draw(rt, "priority")))
				rows[i][model.IDColumn] = model.IDValue(model.ID{15: byte(i + 1)})
			}
			replaceAll(t, st, issues, nil)
			write(t, st, func(tx *Tx) error {
				_, _, err := tx.InsertAll(issues, rows)
				return err
			})
			for range 10 {
				equals := query.Compare{Column: state, Op: query.Equal, Value: model.TextValue(rapid.SampledFrom([]string{"", "a", "A", "é", "b"}).Draw(rt, "value"))}
				if rapid.Bool().Draw(rt, "number") {
					equals.Column, equals.Value = level, model.FloatValue(rapid.SampledFrom([]float64{-1, 0, 0.5, 2}).Draw(rt, "level"))
				}
				q := PageQuery{Collection: issues, Filter: equals, Exact: rapid.Bool().Draw(rt, "exact"), Range: query.Range{Anchor: query.AtOffset,
					Offset: int64(rapid.IntRange(0, 12).Draw(rt, "offset")), Limit: int64(rapid.IntRange(-6, 6).Draw(rt, "limit"))}}
				sorted, falling := rapid.Bool().Draw(rt, "sort"), rapid.Bool().Draw(rt, "descending")
				switch {
				case sorted:
					q.Sort = []query.SortKey{query.SortBy(priority, falling), query.SortBy(model.IDColumn, rapid.Bool().Draw(rt, "ids descending"))}
				case falling:
					q.Sort = []query.SortKey{query.SortBy(model.IDColumn, true)}
				}
				want, got := matching(rows, q), []model.ID{}
				page, err := st.Page(context.Background(), q)
				if err != nil {
					rt.Fatal(err)
				}
				if err := readPage(page, func(row model.Row) { got = append(got, row.ID(model.IDColumn)) }); err != nil {
					rt.Fatal(err)
				}
				page.Close()
				if !slices.Equal(got, want) {
					rt.Fatalf("%+v\ngot  %v\nwant %v", q, got, want)
				}
			}
		})
	})
}

// matching is the range of a query, of rows in memory.
func matching(rows []model.Record, q PageQuery) []model.ID {
	rows = slices.DeleteFunc(slices.Clone(rows), func(row model.Record) bool { return !q.Filter.Match(row) })
	slices.SortFunc(rows, func(a, b model.Record) int {
		for _, key := range q.Sort {
			order := 0
			if key.Column == model.IDColumn {
				order = a.ID(0).Compare(b.ID(0))
			} else if order = cmp.Compare(rank(a[key.Column]), rank(b[key.Column])); order == 0 {
				order = cmp.Compare(number(a[key.Column]), number(b[key.Column]))
			}
			if key.Descending {
				order = -order
			}
			if order != 0 {
				return order
			}
		}
		return a.ID(0).Compare(b.ID(0))
	})
	from, to := query.Span(q.Range.Offset, q.Range.Limit, int64(len(rows)))
	ids := []model.ID{}
	for _, row := range rows[from:to] {
		ids = append(ids, row.ID(0))
	}
	return ids
}

// rank puts null before every number.
func rank(v model.Value) int {
	if v.IsNull() {
		return 0
	}
	return 1
}

func number(v model.Value) int64 {
	if v.IsNull() {
		return 0
	}
	return v.Int()
}

// TestSkippedValuesAreNotCompared looks at the SQL: an index that has the order of the list is counted without its end, and any
// other filter or order is not.
func TestSkippedValuesAreNotCompared(t *testing.T) {
	s := parse(t, graded)
	issues := s.Collection("issues")
	eachStore(t, s, func(t *testing.T, st *Store) {
		for given, want := range map[string]bool{
			"filter[state]=a":                                 true,
			"filter[level]=1":                                 true,
			"filter[state]=a&sort=-id":                        true,
			"filter[state]=a&sort=priority":                   true,
			"filter[state]=a&sort=-priority,-id":              true,
			"filter[state]=a&sort=-priority":                  false, // ids ascend
			"filter[level]=1&sort=priority":                   false,
			"filter[priority]=1":                              false,
			"filter[state]=a&filter[level]=1":                 false,
			"filter[state][gte]=a":                            false,
			"filter[state][in]=a,b":                           false,
			"filter[any][0][state]=a&filter[any][1][level]=1": false,
		} {
			q, err := query.Parse(query.OfList, issues, given, query.Limits{DefaultLimit: 10})
			if err != nil {
				t.Fatal(err)
			}
			sql := st.bound().sql.Rows(issues, statement.Selection{Plan: statement.Plan{Filter: q.Filter}, Order: statement.NewOrder(q.Sort), Skip: 5, Take: 10}).String()
			if got := strings.Contains(sql, "_skipped"); got != want {
				t.Errorf("%s: %v, want %v: %s", given, got, want, sql)
			}
		}
	})
}
