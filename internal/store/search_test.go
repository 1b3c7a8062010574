package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/statement"
	"github.com/plural-go/plural/internal/words"
)

const searched = `
collections:
  books:
    timestamps: false
    attributes: {title: {type: string}, body: {type: string}, note: {type: string}, year: {type: integer}}
    search: [title, body]
    label: note
`

func searchFor(c *model.Collection, text string, names ...string) query.Search {
	s := query.Search{Words: words.Of(text)}
	for _, name := range names {
		s.Columns = append(s.Columns, c.Field(name).Column)
	}
	return s
}

// awkwardWords meet each other, differ in case and marks only, or have characters with a meaning in SQL,
// FTS5 or tsquery.
var awkwardWords = []string{
	"a", "A", "ab", "abc", "ada", "Ada's", "can't", "o'x", "3.14", "3", "_", "_a_", "a_b", "NOT", "and", "or", "near", "Straße", "STRASSEN", "ß", "é", "e\u0301t", "Łódź", "lodz",
	"東京", "タワー", "한국", "🦄", "\"", "*", "a*", "a:*", "'", "''", "\\", "a\\b", "&", "|", "!", "a&b", "(", ")", "^a", "-a", "{a}", "a\u202fb", "$1", "%", "_%", "x.y", "1,000", "a;b", "a:b",
	"ש\"ש", strings.Repeat("w", 64), strings.Repeat("w", 65), strings.Repeat("w", 66) + "x", strings.Repeat("w", 63), "\U0001d11e", "\U00010400", "\ufb01",
}

func drawText(t *rapid.T, label string) string {
	separators := rapid.SampledFrom([]string{" ", " ", ", ", "-", "", "\n", "\t", "\u00a0", "\u2028"})
	var text strings.Builder
	for range rapid.IntRange(0, 6).Draw(t, label) {
		text.WriteString(rapid.SampledFrom(awkwardWords).Draw(t, label) + separators.Draw(t, label))
	}
	return text.String()
}

// drawSearch draws a search for words or beginnings of words, in some of the columns.
func drawSearch(c *model.Collection) *rapid.Generator[query.Search] {
	return rapid.Custom(func(t *rapid.T) query.Search {
		s := query.Search{Columns: rapid.SliceOfNDistinct(rapid.SampledFrom(c.SearchColumns()), 1, 3, func(column int) int { return column }).Draw(t, "columns")}
		for _, word := range append(words.Of(drawText(t, "search")), "a") {
			runes := []rune(word)
			s.Words = append(s.Words, string(runes[:rapid.IntRange(1, len(runes)).Draw(t, "length")]))
		}
		if len(s.Words) > 1 {
			s.Words = s.Words[:len(s.Words)-1]
		}
		s.Words = s.Words[:min(len(s.Words), rapid.IntRange(1, 3).Draw(t, "words"))]
		return s
	})
}

// TestSearchesSelectWhatTheyMatch takes random searches to random rows, which are also updated and
// deleted: Search.Match says what the SQL must select, by the index and by row.
func TestSearchesSelectWhatTheyMatch(t *testing.T) {
	s := parse(t, searched)
	books := s.Collection("books")
	eachDatabase(t, func(t *testing.T, url string) {
		st := open(t, url, s)
		rapid.Check(t, func(rt *rapid.T) {
			draw := func(rt *rapid.T) model.Record {
				record := make(model.Record, len(books.Columns()))
				record[model.IDColumn] = model.IDValue(model.ID{1})
				for _, column := range books.SearchColumns() {
					if rapid.IntRange(0, 4).Draw(rt, "null") > 0 {
						record[column] = model.TextValue(drawText(rt, "text"))
					}
				}
				record[books.Field("year").Column] = model.IntValue(int64(rapid.IntRange(0, 2).Draw(rt, "year")))
				return record
			}
			rows := rapid.SliceOfN(rapid.Custom(draw), 1, 8).Draw(rt, "rows")
			replaceAll(t, st, books, rows)
			changed := map[int]model.Record{} // drawn here: a failed draw would be a failed write
			for i := range rows {
				if rapid.IntRange(0, 2).Draw(rt, "update") == 0 {
					changed[i] = draw(rt)
				}
			}
			write(t, st, func(tx *Tx) error {
				for i, row := range rows {
					after := changed[i]
					if after == nil {
						continue
					}
					after[model.IDColumn], after[books.RevisionColumn()] = row[model.IDColumn], row[books.RevisionColumn()]
					if _, err := tx.Update(books, row, after); err != nil {
						return err
					}
					rows[i] = after
				}
				return nil
			})
			read(t, st, func(tx *Tx) {
				for i := range 6 {
					search := drawSearch(books).Draw(rt, fmt.Sprint("search", i))
					other := query.Compare{Column: books.Field("year").Column, Op: query.Equal, Value: model.IntValue(1)}
					both := query.And{other, search}
					for _, order := range []statement.Order{statement.NewOrder(nil), statement.NewOrder([]query.SortKey{query.SortBy(other.Column, false)})} {
						plan, err := tx.plan(books, both, order, query.Range{Limit: []int64{-10, 10}[i%2]})
						if err != nil {
							rt.Fatal(err)
						}
						checkPlanned(rt, tx, books, plan, rows, both.Match)
					}
					for _, filter := range []query.Filter{search, query.Not{Filter: search}, both, query.Or{other, search}} {
						checkFilter(rt, tx, books, filter, rows)
						checkPlanned(rt, tx, books, statement.Plan{Filter: filter, ByRow: true}, rows, filter.Match)
					}
				}
			})
		})
		expectHealthy(t, url)
	})
}

func expectHealthy(t *testing.T, url string) {
	t.Helper()
	if got, err := admin.Examine(context.Background(), url, admin.ExamineOptions{}); err != nil || len(got) > 0 {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestSearchAsksTheIndexOnce: all statements of a page use the matches that the first one has found, where
// the index does not have the order of the page.
func TestSearchAsksTheIndexOnce(t *testing.T) {
	s := parse(t, searched)
	books := s.Collection("books")
	eachDatabase(t, func(t *testing.T, url string) {
		var asked atomic.Int64
		st, err := Open(context.Background(), url, s, Trace(func(sql string) {
			if (strings.Contains(sql, " MATCH ") || strings.Contains(sql, " @@ ")) && !strings.Contains(sql, " AS sample ") {
				asked.Add(1)
			}
		}))
		if err != nil {
			t.Fatal(err)
		}
		defer closeStore(t, st)
		var want []string
		for range 10 {
			want = append(want, insert(t, st, books, `{"title":"Ada Lovelace"}`).ID(model.IDColumn).String())
		}
		cursor, _ := model.ParseID(want[6])
		asked.Store(0)
		page, err := st.Page(context.Background(), PageQuery{Collection: books, Filter: searchFor(books, "lovelac ada", "title"), Exact: true, Sort: []query.SortKey{query.SortBy(books.Field("year").Column, false)},
			Range: query.Range{Anchor: query.AtCursor, Cursor: cursor, Limit: -3}})
		if err != nil {
			t.Fatal(err)
		}
		got := idsOf(t, page)
		if !slices.Equal(got, want[3:6]) || page.Total != 10 || asked.Load() != 1 {
			t.Errorf("got %v of %d with %d uses of the index, want %v", got, page.Total, asked.Load(), want[3:6])
		}
	})
}

// TestSearchWithManyMatches: the page is the same whichever way is chosen.
func TestSearchWithManyMatches(t *testing.T) {
	many := maxMatches
	t.Cleanup(func() { maxMatches = many })
	s := parse(t, strings.Replace(searched, "year: {type: integer}", "year: {type: integer, index: true}", 1))
	books := s.Collection("books")
	eachStore(t, s, func(t *testing.T, st *Store) {
		var want []string
		for i := range 30 {
			title := db.Choose(i%3 == 0, "Ada Lovelace", "Bob")
			book := insert(t, st, books, fmt.Sprintf(`{"title":%q,"year":%d}`, title, 30-i))
			if i%3 == 0 {
				want = append(want, book.ID(model.IDColumn).String())
			}
		}
		for _, maxMatches = range []int{9, 10, 11} {
			for _, sort := range [][]query.SortKey{nil, {query.SortBy(books.Field("year").Column, true)}, {query.SortBy(books.Field("title").Column, false)}} {
				page, err := st.Page(context.Background(), PageQuery{Collection: books, Filter: searchFor(books, "lov ad", "title", "body"), Sort: sort, Exact: true,
					Range: query.Range{Anchor: query.AtOffset, Offset: 2, Limit: 5}})
				if err != nil {
					t.Fatal(err)
				}
				plan := page.selection.Plan
				byRow, inOrder := plan.Search == nil && plan.ByRow, plan.Search != nil && plan.Search.InOrder
				wantInOrder := sort == nil && (maxMatches < 10 || st.db.Traits().OrderedSearch)
				if want := maxMatches < 10 && sort != nil && sort[0].Descending; byRow != want || inOrder != wantInOrder {
					t.Errorf("%d matches at most, sorted by %v: searched by row: %v, in the order of the index: %v", maxMatches, sort, byRow, inOrder)
				}
				got := idsOf(t, page)
				if !slices.Equal(got, want[2:7]) || page.Total != 10 {
					t.Errorf("%d matches at most: got %v of %d, want %v", maxMatches, got, page.Total, want[2:7])
				}
			}
		}
	})
}

func idsOf(t *testing.T, page *Page) (ids []string) {
	t.Helper()
	defer page.Close()
	if err := readPage(page, func(row model.Row) { ids = append(ids, row.ID(model.IDColumn).String()) }); err != nil {
		t.Fatal(err)
	}
	return ids
}

// found lists the values of an attribute of the resources that a search finds.
func found(t *testing.T, st *Store, search query.Search, name string) []string {
	t.Helper()
	c := st.schema.Collections()[0]
	texts := []string{}
	read(t, st, func(tx *Tx) {
		rows, err := tx.Select(c, statement.Selection{Plan: statement.Plan{Filter: search}, Order: statement.NewOrder(nil), Take: 100})
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		if err := readRows(rows, func() { texts = append(texts, c.Scan(rows)[c.Field(name).Column].Text()) }); err != nil {
			t.Fatal(err)
		}
	})
	return texts
}

// TestSearchIsUndoneWithItsWrite: what a failed write has changed is found as it was before.
func TestSearchIsUndoneWithItsWrite(t *testing.T) {
	s := parse(t, searched)
	books := s.Collection("books")
	eachDatabase(t, func(t *testing.T, url string) {
		st := open(t, url, s)
		first := insert(t, st, books, `{"title":"first"}`)
		second := insert(t, st, books, `{"title":"second"}`)
		change := func(tx *Tx, refusal error) error {
			changed := slices.Clone(first)
			changed[books.Field("title").Column] = model.TextValue("changed")
			if _, err := tx.Update(books, first, changed); err != nil {
				return err
			}
			if _, err := tx.Delete(books, second); err != nil {
				return err
			}
			third := record(t, books, `{"title":"third"}`)
			third[model.IDColumn] = model.IDValue(tx.NewID())
			_, err := tx.Insert(books, third)
			return errors.Join(err, refusal)
		}
		expect := func(want ...string) {
			t.Helper()
			var got []string
			for _, word := range []string{"first", "second", "changed", "third"} {
				got = append(got, found(t, st, searchFor(books, word, "title"), "title")...)
			}
			if !slices.Equal(got, want) {
				t.Errorf("found %q, want %q", got, want)
			}
			expectHealthy(t, url)
		}
		refusal := errors.New("refused")
		if err := st.Write(context.Background(), func(tx *Tx) error { return change(tx, refusal) }); err == nil {
			t.Error("the write did not fail")
		}
		expect("first", "second")
		write(t, st, func(tx *Tx) error {
			if err := tx.Savepoint(func() error { return change(tx, refusal) }); !errors.Is(err, refusal) {
				t.Errorf("got %v", err)
			}
			return nil
		})
		expect("first", "second")
		write(t, st, func(tx *Tx) error { return change(tx, nil) })
		expect("changed", "third")
	})
}
