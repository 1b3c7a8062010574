package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/search"
	"github.com/plural-go/plural/internal/statement"
)

// TestSearchRanges compares ranges of searches with a model, in both directions, from offsets and cursors,
// with other filters. Clients have chosen the ids, of which many begin alike. Every way to find the matches
// is taken.
func TestSearchRanges(t *testing.T) {
	sample, least, many, size := passSample, leastPass, maxMatches, search.SampleSize
	t.Cleanup(func() { passSample, leastPass, maxMatches, search.SampleSize = sample, least, many, size })
	s := parse(t, strings.Replace(searched, "year: {type: integer}", "year: {type: integer, index: true}", 1))
	books := s.Collection("books")
	year := books.Field("year").Column
	eachStore(t, s, func(t *testing.T, st *Store) {
		rapid.Check(t, func(rt *rapid.T) {
			var rows []model.Record
			for _, draw := range rapid.SliceOfNDistinct(rapid.IntRange(0, 1<<16-1), 1, 40, rapid.ID).Draw(rt, "rows") {
				var id model.ID
				binary.BigEndian.PutUint64(id[:8], uint64(draw%3)<<62)
				binary.BigEndian.PutUint64(id[8:], uint64(draw))
				row := record(t, books, fmt.Sprintf(`{"title":%q,"year":%d}`, []string{"Ada", "Adam Lovelace", "Lovelace, Ada", "Lovett, Ada"}[draw/3%4], draw/12%3))
				row[model.IDColumn] = model.IDValue(id)
				rows = append(rows, row)
			}
			replaceAll(t, st, books, nil)
			write(t, st, func(tx *Tx) error {
				_, _, err := tx.InsertAll(books, rows)
				return err
			})
			slices.SortFunc(rows, func(a, b model.Record) int { return a.ID(0).Compare(b.ID(0)) })
			for i := range 10 {
				passSample = rapid.SampledFrom([]int{1, 5, 300}).Draw(rt, "sample")
				search.SampleSize = rapid.SampledFrom([]int{1, 3, 5, 200}).Draw(rt, "size")
				leastPass, maxMatches = rapid.IntRange(1, 3).Draw(rt, "least"), rapid.SampledFrom([]int{2, 10, 4000}).Draw(rt, "many")
				q := PageQuery{Collection: books, Filter: searchFor(books, rapid.SampledFrom([]string{"ad", "lov", "ada lovel", "lovelace ad", "adam", "x"}).Draw(rt, "search"), "title"), Exact: rapid.Bool().Draw(rt, "exact")}
				if rapid.Bool().Draw(rt, "filter") {
					other := query.Compare{Column: year, Op: query.Equal, Value: model.IntValue(int64(rapid.IntRange(0, 2).Draw(rt, "year")))}
					q.Filter = query.Both(other, q.Filter)
				}
				q.Range = query.Range{Limit: int64(rapid.IntRange(-6, 6).Draw(rt, "limit"))}
				want, start := []model.ID{}, 0
				cursor := rows[rapid.IntRange(0, len(rows)-1).Draw(rt, "cursor")].ID(0)
				for _, row := range rows {
					if q.Filter.Match(row) {
						want = append(want, row.ID(0))
					}
				}
				total := len(want)
				switch rapid.IntRange(0, 2).Draw(rt, "anchor") {
				case 0:
					if q.Range.Limit < 0 {
						start = total
					}
				case 1:
					start = rapid.IntRange(0, 12).Draw(rt, "offset")
					q.Range.Anchor, q.Range.Offset = query.AtOffset, int64(start)
				default:
					q.Range.Anchor, q.Range.Cursor = query.AtCursor, cursor
					start, _ = slices.BinarySearchFunc(want, cursor, model.ID.Compare)
				}
				from, to := min(start, start+int(q.Range.Limit)), max(start, start+int(q.Range.Limit))
				want = want[min(max(from, 0), total):min(max(to, 0), total)]
				page, err := st.Page(context.Background(), q)
				if err != nil {
					rt.Fatal(err)
				}
				got := []model.ID{}
				if err := readPage(page, func(row model.Row) { got = append(got, row.ID(model.IDColumn)) }); err != nil {
					rt.Fatal(err)
				}
				page.Close()
				if !slices.Equal(got, want) || q.Exact && page.Total != int64(total) {
					rt.Fatalf("%d: %+v\ngot  %v of %d\nwant %v of %d", i, q, got, page.Total, want, total)
				}
			}
		})
	})
}

// TestSearchInOrderStops looks at the plan of searches that are read in the order of ids: nothing is sorted,
// so that a page reads no more than it needs.
func TestSearchInOrderStops(t *testing.T) {
	s := parse(t, strings.Replace(searched, "year: {type: integer}", "year: {type: integer, index: true}", 1))
	books := s.Collection("books")
	eachStore(t, s, func(t *testing.T, st *Store) {
		isPostgres, begins := st.db.Traits().RoundTrips, `SCAN _search.books.words VIRTUAL TABLE`
		if isPostgres {
			begins = "Limit "
		}
		rows := make([]model.Record, 2000) // a small table would be sorted
		for i := range rows {
			rows[i] = record(t, books, `{"title":"Ada Lovelace","year":1}`)
			rows[i][model.IDColumn] = model.IDValue(st.NewID())
		}
		write(t, st, func(tx *Tx) error {
			_, _, err := tx.InsertAll(books, rows)
			return err
		})
		words := searchFor(books, "ada lovelace", "title", "body")
		id := statement.Place{model.IDValue(model.ID{7})}
		backwards := statement.NewOrder([]query.SortKey{query.SortBy(model.IDColumn, true)})
		for name, selection := range map[string]statement.Selection{
			"from the start":    {Order: statement.NewOrder(nil)},
			"from the end":      {Order: backwards},
			"from a cursor":     {Order: statement.NewOrder(nil), From: id},
			"before a cursor":   {Order: backwards, From: id, AfterFrom: true},
			"between two":       {Order: statement.NewOrder(nil), From: id, Until: statement.Place{model.IDValue(model.ID{9})}},
			"with another rule": {Order: statement.NewOrder(nil), Plan: statement.Plan{Filter: query.Compare{Column: books.Field("year").Column, Op: query.Equal, Value: model.IntValue(1)}}},
		} {
			if isPostgres && selection.Until != nil {
				continue // of a range with two ends, it expects few resources, and sorts these
			}
			selection.Take = 30
			selection.Search = &statement.Search{Search: words, InOrder: true}
			plan := planOf(t, st, books, selection, isPostgres)
			text := strings.Join(plan, "\n")
			if strings.Contains(text, "TEMP B-TREE") || strings.Contains(text, "Sort") || strings.Contains(text, "Seq Scan") || !strings.HasPrefix(text, begins) {
				t.Errorf("%s:\n%s", name, text)
			}
			bounded := plan[0]
			for _, line := range plan {
				if strings.HasPrefix(line, "Index Cond: ") && strings.Contains(line, "_resource") && !strings.Contains(line, "books") {
					bounded = line
				}
			}
			bounds := strings.Count(bounded, ">") + strings.Count(bounded, "<")
			want := 0
			if selection.From != nil {
				want++
			}
			if selection.Until != nil {
				want++
			}
			if bounds != want {
				t.Errorf("%s: the index does not get %d bounds:\n%s", name, want, text)
			}
		}
	})
}

// TestRareWordsAreAskedWhole: the words of many resources that only begin like a rare word are not compared one by one.
func TestRareWordsAreAskedWhole(t *testing.T) {
	s := parse(t, searched)
	books := s.Collection("books")
	eachDatabase(t, func(t *testing.T, url string) {
		var compared []string
		st, err := Open(context.Background(), url, s, Trace(func(sql string) {
			if strings.Contains(sql, "instr(") && !strings.Contains(sql, " AS sample ") {
				compared = append(compared, sql)
			}
		}))
		if err != nil {
			t.Fatal(err)
		}
		defer closeStore(t, st)
		rows, want := make([]model.Record, 300), []string{}
		for i := range rows {
			title := "Lovelavender"
			if i == 250 {
				title = "Lovelace"
			}
			rows[i] = record(t, books, fmt.Sprintf(`{"title":%q}`, title))
			rows[i][model.IDColumn] = model.IDValue(st.NewID())
			if i == 250 {
				want = append(want, rows[i].ID(model.IDColumn).String())
			}
		}
		write(t, st, func(tx *Tx) error {
			_, _, err := tx.InsertAll(books, rows)
			return err
		})
		for _, sort := range [][]query.SortKey{nil, {query.SortBy(books.Field("year").Column, false)}} {
			for _, words := range []string{"lovelace", "lovelac"} { // the index has prefixes of 4 and of 6 characters
				compared = nil
				page, err := st.Page(context.Background(), PageQuery{Collection: books, Filter: searchFor(books, words, "title", "body"), Sort: sort, Range: query.Range{Limit: 10}})
				if err != nil {
					t.Fatal(err)
				}
				if got := idsOf(t, page); !slices.Equal(got, want) {
					t.Errorf("%s: got %v, want %v", words, got, want)
				}
				if len(compared) > 0 {
					t.Errorf("%s: words are compared by %q", words, compared)
				}
			}
		}
	})
}

// TestSearchFromTheEndReadsOnce: the last matches, and those before a cursor, are found by one statement that compares words.
func TestSearchFromTheEndReadsOnce(t *testing.T) {
	s := parse(t, searched)
	books := s.Collection("books")
	eachDatabase(t, func(t *testing.T, url string) {
		var compared []string
		st, err := Open(context.Background(), url, s, Trace(func(sql string) {
			if strings.Contains(sql, " AS _matches ") {
				compared = append(compared, sql)
			}
		}))
		if err != nil {
			t.Fatal(err)
		}
		defer closeStore(t, st)
		rows, want := make([]model.Record, 300), make([]string, 300)
		for i := range rows {
			rows[i] = record(t, books, `{"title":"Ada Lovelace"}`)
			rows[i][model.IDColumn] = model.IDValue(st.NewID())
			want[i] = rows[i].ID(model.IDColumn).String()
		}
		write(t, st, func(tx *Tx) error {
			_, _, err := tx.InsertAll(books, rows)
			return err
		})
		for name, each := range map[string]struct {
			r    query.Range
			want []string
		}{
			"at the end":      {query.Range{Limit: -4}, want[296:]},
			"before a cursor": {query.Range{Limit: -4, Anchor: query.AtCursor, Cursor: rows[100].ID(model.IDColumn)}, want[96:100]},
			"at the start":    {query.Range{Limit: -4, Anchor: query.AtCursor, Cursor: rows[2].ID(model.IDColumn)}, want[:2]},
		} {
			compared = nil
			page, err := st.Page(context.Background(), PageQuery{Collection: books, Filter: searchFor(books, "lov ad", "title"), Range: each.r})
			if err != nil {
				t.Fatal(err)
			}
			if got := idsOf(t, page); !slices.Equal(got, each.want) || page.hasBefore != (len(each.want) == 4) {
				t.Errorf("%s: got %v, others before: %v, want %v", name, got, page.hasBefore, each.want)
			}
			most := 1
			if each.r.Anchor == query.AtCursor {
				most++ // looks for one match from the cursor on
			}
			if len(compared) != most {
				t.Errorf("%s: words are compared by %q", name, compared)
			}
		}
	})
}
