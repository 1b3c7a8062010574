package interfacetest

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

const libraryFile = `
collections:
  shelves:
    timestamps: false
    attributes: {name: {type: string}}
    label: name
  books:
    timestamps: false
    attributes:
      title: {type: string}
      blurb: {type: string}
      isbn: {type: string}
      year: {type: integer}
      next_id: {references: {collection: books, on_delete: set_null}}
    search: [title, blurb]
    label: isbn
    parent: {collection: shelves, on_delete: cascade}
  plain:
    singular: one
    timestamps: false
    attributes: {text: {type: string}}
`

func library(t testing.TB) *schema.Schema {
	t.Helper()
	file, err := schema.Parse([]byte(libraryFile))
	if err != nil {
		t.Fatal(err)
	}
	return file.Schema
}

// startBooks creates books at the positions from 0, on two shelves.
func startBooks(s *server) {
	s.t.Helper()
	s.createAll("/shelves", `{"id":"`+id(100)+`","name":"Upper"}`, `{"id":"`+id(101)+`","name":"Lower"}`)
	for i, book := range []string{
		`"title":"Notes on the Analytical Engine","blurb":"By Ada Lovelace, Countess","isbn":"978-0","year":1843`,
		`"title":"On Computable Numbers","blurb":"Alan Turing's paper","isbn":"979-1","year":1936`,
		`"title":"Die Straße","blurb":"Ein STRASSENROMAN über Łódź","isbn":"979-2","year":1936`,
		`"title":"Ångström","blurb":"E\u0301tude on light","year":1868`,
		`"title":"東京タワー","blurb":null,"year":2005`,
		`"title":null,"blurb":null`,
		`"title":"On","blurb":"","isbn":"Ada","year":1843`,
	} {
		s.createAll("/books", fmt.Sprintf(`{"id":"%s","shelf_id":"%s",%s}`, id(i), id(100+i%2), book))
	}
}

func TestSearch(t *testing.T) {
	eachStore(t, library(t), func(t *testing.T, s *server) {
		startBooks(s)
		for query, want := range map[string][]int{
			"search=on":                  {0, 1, 3, 6},
			"search=ON":                  {0, 1, 3, 6},
			"search=ada":                 {0, 6},
			"search=ada+lov":             {0},
			"search=lov+ada":             {0},
			"search=ada,+lov!":           {0},
			"search=ada+ada":             {0, 6},
			"search=eng+count":           {0}, // in different attributes
			"search=ngine":               {},  // within a word
			"search=lovelaces":           {},
			"search=turing":              {1},
			"search=turing%27s":          {1},
			"search=turing%27":           {1},
			"search=strasse":             {2},
			"search=stra%C3%9Fe":         {2},
			"search=STRA%C3%9FENR":       {2},
			"search=lodz":                {}, // ł is a letter of its own
			"search=%C5%81odz":           {2},
			"search=angstrom":            {3},
			"search=A%CC%8Angstr%C3%B6m": {3},
			"search=etude":               {3},
			"search=%E6%9D%B1":           {4},
			"search=%E4%BA%AC%E6%9D%B1":  {4}, // each is a word
			"search=%E3%82%BF%E3%83%AF":  {4},
			"search=979":                 {1, 2},
			"search=979-1":               {1},
			"search=979-2+979":           {2},
			"search=%22ada%22+*":         {0, 6},
			"search=ada*":                {0, 6},
			"search=or":                  {},
			"search=on+OR+ada":           {},
			// With everything else.
			"search=on&filter[year]=1843":                         {0, 6},
			"search=on&filter[year][gt]=1843":                     {1, 3},
			"search=on&sort=-year":                                {1, 3, 0, 6},
			"search=on&sort=-year&limit=2":                        {1, 3},
			"search=on&limit=2":                                   {0, 1},
			"search=on&limit=-2":                                  {3, 6},
			"search=on&offset=1&limit=2":                          {1, 3},
			"search=on&offset=3&limit=-2":                         {1, 3},
			"search=on&cursor=" + id(1) + "&limit=2":              {1, 3},
			"search=on&cursor=" + id(2):                           {3, 6}, // which the search excludes
			"search=on&cursor=" + id(6) + "&limit=-2":             {1, 3},
			"search=on&cursor=" + id(3) + "&sort=-year":           {3, 0, 6},
			"search=on&limit=0":                                   {},
			"limit=1&search=ada&filter[title][starts_with]=Notes": {0},
		} {
			s.get("/books?"+query).expectPositions(t, query, want...)
		}
		s.get("/shelves/"+id(100)+"/books?search=on").expectPositions(t, "a sub-collection", 0, 6)
		s.get("/shelves/"+id(101)+"/books?search=on&sort=-title").expectPositions(t, "a sub-collection", 3, 1)
		s.get("/shelves?search=upp").expectPositions(t, "a label alone", 100)
	})
}

func TestSearchTotalsAndLinks(t *testing.T) {
	eachStore(t, library(t), func(t *testing.T, s *server) {
		startBooks(s)
		a := s.get("/books?search=on+&limit=2&filter[year][gt]=0", "Prefer", "count=exact")
		a.expectPositions(t, "a page", 0, 1)
		a.expectHeaders(t, "Preference-Applied: count=exact", "X-Total-Count: 4",
			`Link: </books?search=on+&filter%5Byear%5D%5Bgt%5D=0&limit=2>; rel="first", </books?search=on+&filter%5Byear%5D%5Bgt%5D=0&cursor=`+id(3)+
				`&limit=2>; rel="next", </books?search=on+&filter%5Byear%5D%5Bgt%5D=0&limit=-2>; rel="last"`)
		if a := s.get("/books?search=on"); a.header.Get("X-Total-Count") != "" {
			t.Errorf("a total that was not asked for: %v", a.header)
		}
		if a := s.do("HEAD", "/books?search=turing", "", "Prefer", "count=exact"); a.status != 200 || a.header.Get("X-Total-Count") != "1" {
			t.Errorf("got %d %v", a.status, a.header)
		}
		s.get("/").expectMembers(t, "books", `"search":["title","blurb","isbn"],"label":"isbn"`)
		s.get("/").expectMembers(t, "shelves", `"search":["name"],"label":"name"`)
		s.get("/").expectMembers(t, "plain", `]`)
	})
}

// expectMembers compares the end of the description of a collection.
func (a answer) expectMembers(t testing.TB, collection, want string) {
	t.Helper()
	for description := range strings.SplitSeq(a.body, `{"id":"`) {
		if strings.Contains(description, `"type":"collections","name":"`+collection+`"`) {
			if !strings.HasSuffix(strings.TrimRight(description, ",]}"), strings.TrimRight(want, "]}")) {
				t.Errorf("%s: got %s, want %s at its end", collection, description, want)
			}
			return
		}
	}
	t.Errorf("there is no %s in %s", collection, a.body)
}

func TestSearchRefusals(t *testing.T) {
	words := func(n int) string { return strings.TrimSuffix(strings.Repeat("on+", n), "+") }
	eachStore(t, library(t), func(t *testing.T, s *server) {
		startBooks(s)
		for query, want := range map[string]string{
			"/plain?search=a":                                "unknown_parameter search",
			"/operations?search=a":                           "unknown_parameter search",
			"/changes?search=a":                              "unknown_parameter search",
			"/books?search=":                                 "invalid_parameter search",
			"/books?search":                                  "invalid_parameter search",
			"/books?search=+%21+%F0%9F%A6%84":                "invalid_parameter search",
			"/books?search=%CC%81":                           "invalid_parameter search",
			"/books?search=a&search=b":                       "duplicate_parameter search",
			"/books?search[title]=a":                         "unknown_parameter search[title]",
			"/books?q=a":                                     "unknown_parameter q",
			"/books?search=" + words(17):                     "too_many_values search",
			"/books?search=" + strings.Repeat("a", 257):      "invalid_parameter search",
			"/books?search=" + strings.Repeat("%C3%A9", 257): "invalid_parameter search",
			"/books?search=%ff":                              "malformed_query search",
		} {
			s.expectRefusal(t, "GET", query, "", 400, want)
		}
		s.get("/books?search="+words(16)).expectPositions(t, "16 words", 0, 1, 3, 6)
		s.get("/books?search="+strings.Repeat("a", 256)).expectPositions(t, "256 characters")
		s.get("/books?search="+strings.Repeat("%C3%A9", 256)).expectPositions(t, "256 characters")
		s.expectRefusal(t, "GET", "/books/"+id(0)+"?search=a", "", 400, "unknown_parameter search")
		for path, want := range map[string]string{
			"/plain?search=a": "The collection plain cannot be searched. Use filter[field][contains], which finds a part of a text and distinguishes upper and lower case, or declare search in the schema.",
			"/books?q=a":      "There is no parameter of this name. There are offset, limit, cursor, sort, include, fields, search, and filter[field] or filter[field][operator]. Use search, such as search=ada+lov.",
			"/plain?q=a":      "There is no parameter of this name. There are offset, limit, cursor, sort, include, fields, and filter[field] or filter[field][operator].",
			"/books?serch=a":  "There is no parameter of this name. There are offset, limit, cursor, sort, include, fields, search, and filter[field] or filter[field][operator]. Did you mean search?",
			"/books?search=!": `The search "!" has no word: give at least one letter or digit, such as search=ada+lov.`,
		} {
			if a := s.get(path); !strings.Contains(a.body, strings.ReplaceAll(want, `"`, `\"`)) {
				t.Errorf("%s: got %s, want %s", path, a.body, want)
			}
		}
	})
}

// TestSearchComparesTheBeginningOfWords: of each word the first 64 characters.
func TestSearchComparesTheBeginningOfWords(t *testing.T) {
	eachStore(t, library(t), func(t *testing.T, s *server) {
		long := strings.Repeat("é", 63)
		s.createAll("/books", `{"id":"`+id(0)+`","title":"`+long+`ab"}`, `{"id":"`+id(1)+`","title":"`+long+`b"}`, `{"id":"`+id(2)+`","title":"`+long+`"}`)
		for word, want := range map[string][]int{long: {0, 1, 2}, long + "a": {0}, long + "ab": {0}, long + "ax": {0}, long + "b": {1}, long + "bx": {1}, long + "c": {}} {
			s.get("/books?search="+url.QueryEscape(word)).expectPositions(t, word, want...)
		}
	})
}

// TestTooManyWordsAreRefused: the share of each attribute is a third of a million bytes, with one byte
// for each word.
func TestTooManyWordsAreRefused(t *testing.T) {
	text := func(words int) string { // different words of nine bytes
		var b strings.Builder
		for i := range words {
			fmt.Fprintf(&b, "w%08d ", i)
		}
		return b.String()
	}
	most := 1_000_000 / 3 / 10
	eachStore(t, library(t), func(t *testing.T, s *server) {
		for _, name := range []string{"title", "blurb", "isbn"} {
			s.expectRefusal(t, "POST", "/books", `{"`+name+`":"`+text(most+1)+`"}`, 422, "too_many_words /"+name)
			s.expectRefusal(t, "POST", "/books", `[{},{"`+name+`":"`+text(most+1)+`"}]`, 422, "too_many_words /1/"+name)
		}
		s.createAll("/books", `{"id":"`+id(0)+`","title":"`+text(most)+`","blurb":"`+text(most)+`","isbn":"`+text(most)+`"}`)
		s.createAll("/books", `{"id":"`+id(1)+`","title":"`+strings.Repeat(text(most/2), 2)+`"}`)
		s.expectRefusal(t, "PATCH", "/books/"+id(0), `{"isbn":"`+text(most+1)+`"}`, 422, "too_many_words /isbn")
		s.get(fmt.Sprintf("/books?search=w%08d+w00000000", most-1)).expectPositions(t, "the last word", 0)
		s.get(fmt.Sprintf("/books?search=w%08d", most/2-1)).expectPositions(t, "a word of both", 0, 1)
		s.get(fmt.Sprintf("/books?search=w%08d", most)).expectPositions(t, "the word that was refused")
		s.get("/books").expectPositions(t, "all", 0, 1)
		// One text with more words than a request may have of all of them is too long, and not one of too many.
		s.expectRefusal(t, "POST", "/books", `[{},{"blurb":"`+text(900_000)+`"}]`, 422, "too_many_words /1/blurb")
	}, func(c *plural.Config) { c.MaxBody = 16 << 20 })
}

// TestSearchOfStreams: resources enter and leave a stream as their words come and go.
func TestSearchOfStreams(t *testing.T) {
	eachStore(t, library(t), func(t *testing.T, s *server) {
		startBooks(s)
		book := func(n int, title string) string {
			return fmt.Sprintf(`{"id":"%s","type":"books","title":%s,"blurb":null,"isbn":null,"year":null,"next_id":null,"shelf_id":null}`, id(n), title)
		}
		first := s.get("/books/" + id(0)).body
		e := s.stream("/books?search=LOV+ada")
		e.expect("listed {\"data\":"+strings.TrimSuffix(strings.TrimPrefix(first, `{"data":`), "}")+"}", "synced {}")
		s.create("/books", `{"id":"`+id(20)+`","title":"Adam in love"}`)
		s.create("/books", `{"id":"`+id(21)+`","title":"Adam"}`)
		s.do("PATCH", "/books/"+id(21), `{"title":"Adam, beloved"}`)
		s.do("PATCH", "/books/"+id(21), `{"title":"ádam LOVES"}`)
		s.do("PATCH", "/books/"+id(21), `{"title":"Adam lovely"}`)
		s.do("PATCH", "/books/"+id(20), `{"title":"Eve in love"}`)
		s.do("DELETE", "/books/"+id(21), "")
		e.expect("created "+eventOf(book(20, `"Adam in love"`), ""),
			"entered "+eventOf(book(21, `"ádam LOVES"`), ""),
			"updated "+eventOf(book(21, `"Adam lovely"`), `,"previous":{"title":"ádam LOVES"}`),
			`left {"data":{"id":"`+id(20)+`","type":"books"}}`,
			"deleted "+eventOf(book(21, `"Adam lovely"`), ""))
		s.expectRefusal(t, "GET", "/plain?search=a", "", 400, "unknown_parameter search")
	})
}
