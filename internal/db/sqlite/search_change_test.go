package sqlite_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/db/sqlite"
	"github.com/plural-go/plural/internal/model"
)

// indexed reads what the index has, word by word.
func indexed(t *rapid.T, c db.Conn, sql db.SearchSQL) (found []string) {
	if err := db.Each(c, func(row model.Row) {
		found = append(found, fmt.Sprint(row.Int(0), row.Text(1)))
	}, sql.Indexed); err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	return found
}

// TestChangedWords: changes of words leave in the index what a new index has, for every prefix.
func TestChangedWords(t *testing.T) {
	withWords(t, func(c db.Conn, sql db.SearchSQL) {
		rapid.Check(t, func(rt *rapid.T) {
			if _, err := c.Exec(`DELETE FROM "_search.books"`); err != nil {
				rt.Fatal(err)
			}
			// Words that begin alike, of every length up to beyond the longest prefix.
			word := rapid.Custom(func(rt *rapid.T) string {
				mark := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "mark")
				return mark + strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"x", "x", "x", "é"}), 1, 12).Draw(rt, "word"), "")
			})
			drawn := rapid.SliceOfN(word, 0, 8)
			stored := map[int]map[string]bool{}
			for range rapid.IntRange(1, 12).Draw(rt, "changes") {
				n := rapid.IntRange(1, 3).Draw(rt, "resource")
				marks := rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "marks")
				if stored[n] == nil {
					marks, stored[n] = "", map[string]bool{}
				}
				replaced := func(word string) bool { return marks == "" || strings.HasPrefix(word, marks) }
				maps.DeleteFunc(stored[n], func(word string, _ bool) bool { return replaced(word) })
				words := map[string]bool{}
				for _, each := range drawn.Draw(rt, "words") {
					if replaced(each) {
						words[each], stored[n][each] = true, true
					}
				}
				row := db.ResourceWords{ID: model.IDValue(model.ID{15: byte(n)}), Words: sqlite.JoinWords(slices.Sorted(maps.Keys(words))), Marks: marks}
				if err := sql.Put(c, []db.ResourceWords{row}); err != nil {
					rt.Fatal(err)
				}
			}
			var want []string
			ranks := map[int]int64{}
			for n, words := range stored {
				var text string
				if _, err := db.One(c, func(row model.Row) { ranks[n], text = row.Int(0), row.Text(1) },
					`SELECT _rank, _words FROM "_search.books" WHERE _resource = $1`, model.IDValue(model.ID{15: byte(n)})); err != nil {
					rt.Fatal(err)
				}
				sorted := slices.Sorted(maps.Keys(words))
				if text != sqlite.JoinWords(sorted) {
					rt.Fatalf("the table has %q\nwant %q", text, sqlite.JoinWords(sorted))
				}
				for _, word := range sorted {
					want = append(want, fmt.Sprint(ranks[n], " ", word))
				}
			}
			slices.Sort(want)
			if got := indexed(rt, c, sql); !slices.Equal(got, want) {
				rt.Fatalf("the index has %q\nwant %q", got, want)
			}
			// FTS5 compares all prefixes, and its numbers of rows and words, with the table.
			if _, err := c.Exec(`INSERT INTO "_search.books.words" ("_search.books.words", rank) VALUES ('integrity-check', 1)`); err != nil {
				rt.Fatal(err)
			}
			for _, mark := range []string{"a", "b"} {
				for _, first := range []string{"x", "é", "xé", "éx"} {
					for length := range 10 {
						expectPrefix(rt, c, stored, ranks, mark+first+strings.Repeat("x", length))
					}
				}
			}
		})
	})
}

// expectPrefix checks which resources the index finds by a prefix.
func expectPrefix(t *rapid.T, c db.Conn, stored map[int]map[string]bool, ranks map[int]int64, prefix string) {
	prefix = sqlite.Cut(prefix)
	var want, got []int64
	for n, words := range stored {
		for word := range words {
			if strings.HasPrefix(word, prefix) {
				want = append(want, ranks[n])
				break
			}
		}
	}
	slices.Sort(want)
	var args []model.Value
	query := sqlite.Matches("_search.books", db.SearchTerms{{Prefixes: []string{prefix}}}, func(text string) string {
		args = append(args, model.TextValue(text))
		return "$1"
	})
	if err := db.Each(c, func(row model.Row) {
		got = append(got, row.Int(0))
	}, query, args...); err != nil || !slices.Equal(got, want) {
		t.Fatalf("%q finds %v, %v\nwant %v", prefix, got, err, want)
	}
}

// writtenWords counts the words that are given to the index.
type writtenWords struct {
	db.Conn
	words int
}

func (w *writtenWords) Exec(sql string, args ...model.Value) (int, error) {
	if strings.HasPrefix(sql, `INSERT INTO "_search.books.words"`) {
		w.words += len(sqlite.SplitWords(args[1].Text()))
	}
	return w.Conn.Exec(sql, args...)
}

// TestChangeOfFewWords: the words that stay are not given to the index again, except for one of each prefix that it has lost.
func TestChangeOfFewWords(t *testing.T) {
	withWords(t, func(c db.Conn, sql db.SearchSQL) {
		var body strings.Builder
		for n := range 20_000 {
			fmt.Fprintf(&body, " bword%05d", n)
		}
		conn := &writtenWords{Conn: c}
		id := model.IDValue(model.ID{15: 1})
		for _, row := range []db.ResourceWords{{Words: " atitle" + body.String()}, {Words: " anew atitled", Marks: "a"}, {Words: " asame atitled" + body.String() + " bwords"}} {
			row.ID = id
			if err := sql.Put(conn, []db.ResourceWords{row}); err != nil {
				t.Fatal(err)
			}
		}
		// atitle is removed, and atitled has its prefixes; anew is removed; asame and bwords are added.
		if want := 1 + 2 + 1 + 2; conn.words != want {
			t.Errorf("%d words were written, want %d", conn.words, want)
		}
	})
}
