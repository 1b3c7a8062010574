package interfacetest

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

// The words of texts, each with what search compares, and searches with the beginnings that they look
// for, written by hand: the model knows nothing of Unicode.
var (
	modelWords = map[string][]string{
		"Ada": {"ada"}, "ADAM": {"adam"}, "Straße": {"strasse"}, "strasse,": {"strasse"}, "ÉTUDE": {"etude"}, "e\u0301tage": {"etage"}, "Łódź": {"łodz"}, "lodz": {"lodz"},
		"can't": {"can't"}, "東京": {"東", "京"}, "タワー": {"タワー"}, "3.14": {"3.14"}, "e-mail": {"e", "mail"}, "🦄": nil, "—": nil, "Ωmega": {"ωmega"}, "snake_case": {"snake_case"},
		"100%": {"100"}, `a\b"c`: {"a", "b", "c"}, "new": {"new"}, "old": {"old"}, "odd": {"odd"}, "new@example.com": {"new", "example.com"},
	}
	modelSearches = map[string][]string{
		"a": {"a"}, "AD": {"ad"}, "adam": {"adam"}, "straß": {"strass"}, "STRASSE!": {"strasse"}, "et": {"et"}, "É": {"e"}, "ł": {"ł"}, "lo": {"lo"}, "can'": {"can"}, "can't": {"can't"},
		"京": {"京"}, "京 東": {"京", "東"}, "タワ": {"タワ"}, "3": {"3"}, "3.1": {"3.1"}, "mail e": {"mail", "e"}, "ω": {"ω"}, "snake": {"snake"}, "a et": {"a", "et"}, "ad ad stra": {"ad", "ad", "stra"},
		"case": {"case"}, "dam": {"dam"},
	}
)

const shelvesFile = `
collections:
  shelves:
    timestamps: false
    attributes: {name: {type: string}}
  books:
    timestamps: false
    attributes:
      title: {type: string}
      secret: {type: string}
      owner: {type: string}
      year: {type: integer, index: true}
      next_id: {references: {collection: books, on_delete: set_null}}
    search: [title]
    label: secret
    parent: {collection: shelves, on_delete: cascade}
access:
  roles:
    editor:
      shelves: [list, read, create, update, delete]
      books: [list, read, create, update, delete]
    reader:
      shelves: [list, read]
      books: {list: true, read: resource.owner == auth.sub, visible: [title, owner, year, shelf_id]}
`

// modelBook is a book of the model. Texts are lists of words of modelWords.
type modelBook struct {
	place         int
	title, secret []string
	owner         string
	year          int
	next, shelf   int // places; -1: none
}

func (b *modelBook) body() string {
	reference := func(place int) string {
		if place < 0 {
			return "null"
		}
		return `"` + id(place) + `"`
	}
	return fmt.Sprintf(`{"title":%q,"secret":%q,"owner":%q,"year":%d,"next_id":%s,"shelf_id":%s}`, strings.Join(b.title, " "), strings.Join(b.secret, " "), b.owner, b.year, reference(b.next), reference(b.shelf))
}

// has reports whether each beginning is one of a word.
func (b *modelBook) has(beginnings []string, withSecret bool) bool {
	var found []string
	for _, word := range b.title {
		found = append(found, modelWords[word]...)
	}
	for _, word := range b.secret {
		if withSecret {
			found = append(found, modelWords[word]...)
		}
	}
	return allBegin(beginnings, found)
}

// allBegin reports whether each beginning is one of a word.
func allBegin(beginnings, words []string) bool {
	return !slices.ContainsFunc(beginnings, func(beginning string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, beginning) })
	})
}

// TestSearchFollowsTheModel writes random books, changes and deletes them in all ways, and compares
// what random searches list with what a naive model lists, for a caller who sees everything and for one
// who sees some books and not their secrets.
func TestSearchFollowsTheModel(t *testing.T) {
	t.Parallel()
	file, err := schema.Parse([]byte(shelvesFile))
	if err != nil {
		t.Fatal(err)
	}
	quiet := func(c *plural.Config) { c.Access, c.Logger = file.Access, slog.New(slog.DiscardHandler) }
	for name, database := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) {
			h := &accessServer{start(t, file.Schema, database(t), quiet), map[string]string{}, ""}
			h.key("editor", "editor", "")
			h.key("reader", "reader", "ada")
			rapid.Check(t, func(rt *rapid.T) {
				w := &searchDataset{accessServer: h, t: rt, books: map[int]*modelBook{}}
				w.begin()
				for range rapid.IntRange(1, 12).Draw(rt, "steps") {
					w.write()
					w.compare()
				}
			})
		})
	}
}

type searchDataset struct {
	*accessServer
	t      *rapid.T
	books  map[int]*modelBook
	shelfs []int
}

func (w *searchDataset) send(method, path, body string, status int) {
	w.t.Helper()
	if a := w.as("editor", method, path, body); a.status != status {
		w.t.Fatalf("%s %s %s: %d %s", method, path, body, a.status, a.body)
	}
}

// begin removes what the last run has left.
func (w *searchDataset) begin() {
	for _, collection := range []string{"/books", "/shelves"} {
		for _, each := range w.as("editor", "GET", collection+"?limit=1000", "").ids(w.server.t) {
			w.send("DELETE", collection+"/"+each, "", 200)
		}
	}
	w.send("POST", "/shelves", `[{"id":"`+id(100)+`"},{"id":"`+id(101)+`"}]`, 201)
	w.shelfs = []int{100, 101}
}

func (w *searchDataset) draw(place int) *modelBook {
	text := rapid.SliceOfN(rapid.SampledFrom(sortedKeys(modelWords)), 0, 4)
	b := &modelBook{place: place, title: text.Draw(w.t, "title"), secret: text.Draw(w.t, "secret"), owner: rapid.SampledFrom([]string{"ada", "eve"}).Draw(w.t, "owner"),
		year: rapid.IntRange(0, 3).Draw(w.t, "year"), next: -1, shelf: -1}
	if others := sortedKeys(w.books); len(others) > 0 && rapid.Bool().Draw(w.t, "refers") {
		b.next = rapid.SampledFrom(others).Draw(w.t, "next")
	}
	if len(w.shelfs) > 0 && rapid.Bool().Draw(w.t, "on a shelf") {
		b.shelf = rapid.SampledFrom(w.shelfs).Draw(w.t, "shelf")
	}
	return b
}

func sortedKeys[K cmp.Ordered, V any](of map[K]V) (keys []K) {
	for key := range of {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// write changes the server and the model.
func (w *searchDataset) write() {
	place := rapid.IntRange(0, 8).Draw(w.t, "place")
	known := w.books[place]
	switch action := rapid.SampledFrom([]string{"put", "patch", "put", "delete", "shelf"}).Draw(w.t, "action"); {
	case action == "shelf" && len(w.shelfs) > 0: // with its books
		shelf := w.shelfs[0]
		w.shelfs = w.shelfs[1:]
		w.send("DELETE", "/shelves/"+id(shelf), "", 200)
		for at, b := range w.books {
			if b.shelf == shelf {
				w.remove(at)
			}
		}
	case known == nil:
		b := w.draw(place)
		w.books[place] = b
		w.send("POST", "/books", `[`+strings.Replace(b.body(), "{", `{"id":"`+id(place)+`",`, 1)+`]`, 201)
	case action == "delete":
		w.remove(place)
		w.send("DELETE", "/books/"+id(place), "", 200)
	case action == "patch":
		known.title = w.draw(place).title
		w.send("PATCH", "/books/"+id(place), fmt.Sprintf(`{"title":%q}`, strings.Join(known.title, " ")), 200)
	default:
		w.books[place] = w.draw(place)
		w.send("PUT", "/books/"+id(place), w.books[place].body(), 200)
	}
}

func (w *searchDataset) remove(place int) {
	delete(w.books, place)
	for _, b := range w.books {
		if b.next == place {
			b.next = -1
		}
	}
}

// compare compares what a few searches list.
func (w *searchDataset) compare() {
	for range 4 {
		caller := rapid.SampledFrom([]string{"editor", "reader"}).Draw(w.t, "caller")
		search := rapid.SampledFrom(sortedKeys(modelSearches)).Draw(w.t, "search")
		path, query := "/books", "?search="+url.QueryEscape(search)
		shelf, year, sort := -1, -1, rapid.SampledFrom([]string{"", "", "year", "-year"}).Draw(w.t, "sort")
		if len(w.shelfs) > 0 && rapid.IntRange(0, 3).Draw(w.t, "shelf") == 0 {
			shelf = w.shelfs[0]
			path = "/shelves/" + id(shelf) + "/books"
		}
		if rapid.IntRange(0, 2).Draw(w.t, "filtered") == 0 {
			year = 1
			query += "&filter[year]=1"
		}
		if sort != "" {
			query += "&sort=" + sort
		}
		var want []int
		for _, place := range sortedKeys(w.books) {
			b := w.books[place]
			if (shelf < 0 || b.shelf == shelf) && (year < 0 || b.year == year) && (caller == "editor" || b.owner == "ada") && b.has(modelSearches[search], caller == "editor") {
				want = append(want, place)
			}
		}
		slices.SortStableFunc(want, func(a, b int) int {
			switch sort {
			case "year":
				return w.books[a].year - w.books[b].year
			case "-year":
				return w.books[b].year - w.books[a].year
			}
			return 0
		})
		total := strconv.Itoa(len(want))
		offset, limit := rapid.IntRange(0, 3).Draw(w.t, "offset"), rapid.IntRange(1, 5).Draw(w.t, "limit")
		query += fmt.Sprintf("&offset=%d&limit=%d", offset, limit)
		want = want[min(offset, len(want)):min(offset+limit, len(want))]
		a := w.as(caller, "GET", path+query, "", "Prefer", "count=exact")
		var ids []string
		for _, place := range want {
			ids = append(ids, id(place))
		}
		if got := a.ids(w.server.t); a.status != 200 || !slices.Equal(got, ids) || a.header.Get("X-Total-Count") != total {
			w.t.Fatalf("%s: GET %s: got %d %v of %s, want %v of %s", caller, path+query, a.status, got, a.header.Get("X-Total-Count"), ids, total)
		}
	}
}
