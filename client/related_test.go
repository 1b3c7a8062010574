package client_test

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/params"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// withLibrary serves authors, books and their reviews.
func withLibrary(t *testing.T) func(*plural.Config) {
	t.Helper()
	file, err := schema.Parse([]byte(`
collections:
  authors:
    timestamps: false
    attributes:
      name: {type: string, maxLength: 50}
      country: {type: string}
    label: name
    unique: [name]
  books:
    timestamps: false
    attributes:
      title: {type: string}
      tags: {type: array, items: {type: string}}
      size: {type: object, properties: {pages: {type: integer}}}
      author_id: {references: {collection: authors, on_delete: cascade}, inverse: books}
    search: [title]
  reviews:
    timestamps: false
    attributes:
      stars: {type: integer}
    parent: {collection: books, on_delete: cascade}
`))
	if err != nil {
		t.Fatal(err)
	}
	return func(c *plural.Config) { c.Schema = file.Schema }
}

type author struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Country string `json:"country,omitempty"`
	Books   []book `json:"books,omitempty"`
	Total   int64  `json:"books_total,omitempty"`
}

type book struct {
	ID       string         `json:"id"`
	Title    string         `json:"title,omitempty"`
	Tags     []string       `json:"tags,omitempty"`
	Size     map[string]int `json:"size,omitempty"`
	AuthorID *string        `json:"author_id,omitempty"`
	Author   *author        `json:"author,omitempty"`
	Reviews  []review       `json:"reviews,omitempty"`
}

type review struct {
	ID     string `json:"id"`
	Stars  int    `json:"stars"`
	BookID string `json:"book_id,omitempty"`
}

const (
	eliotID, shelleyID = "00000000-0000-7000-8000-00000000000a", "00000000-0000-7000-8000-00000000000b"
	middlemarchID      = "00000000-0000-7000-8000-000000000001"
	silasID            = "00000000-0000-7000-8000-000000000002"
	frankensteinID     = "00000000-0000-7000-8000-000000000003"
	anonymousID        = "00000000-0000-7000-8000-000000000004"
)

// fill creates authors, books and reviews.
func fill(t *testing.T, c *client.Client) (authors []author, books []book, reviews []review) {
	t.Helper()
	ctx := context.Background()
	eliot, shelley := eliotID, shelleyID
	authors = must(client.Of[author](c, "authors").CreateMany(ctx, []author{{ID: eliotID, Name: "George Eliot", Country: "UK"}, {ID: shelleyID, Name: "Mary Shelley", Country: "IT"}}))(t)
	books = must(client.Of[book](c, "books").CreateMany(ctx, []book{
		{ID: middlemarchID, Title: "Middlemarch", Tags: []string{"long", "novel"}, Size: map[string]int{"pages": 880}, AuthorID: &eliot},
		{ID: silasID, Title: "Silas Marner", Tags: []string{"novel"}, Size: map[string]int{"pages": 200}, AuthorID: &eliot},
		{ID: frankensteinID, Title: "Frankenstein", AuthorID: &shelley},
		{ID: anonymousID, Title: "Beowulf", Tags: []string{"poem", "long"}},
	}))(t)
	reviews = must(client.Of[review](c, "reviews").CreateMany(ctx, []review{{Stars: 5, BookID: middlemarchID}, {Stars: 3, BookID: middlemarchID}, {Stars: 4, BookID: frankensteinID}}))(t)
	return authors, books, reviews
}

func TestInclude(t *testing.T) {
	eachStore(t, func(t *testing.T, url string) {
		ctx := context.Background()
		c := connect(t, url)
		authors, books, reviews := fill(t, c)
		all := client.Of[book](c, "books")
		with := func(b book, a *author, r ...review) book {
			b.Author, b.Reviews = a, r
			return b
		}
		want := []book{with(books[0], &authors[0], reviews[0], reviews[1]), with(books[1], &authors[0]), with(books[2], &authors[1], reviews[2]), with(books[3], nil)}
		include := []params.Param{params.Include("author"), params.Include("reviews")}
		page := must(all.List(ctx, append(include, params.Limit(2))...))(t)
		if next := must(page.Next(ctx))(t); !equal(append(page.Items, next.Items...), want) {
			t.Errorf("got %+v, then %+v", page.Items, next.Items)
		}
		var looped []book
		for each, err := range all.All(ctx, include...) {
			looped = append(looped, must(each, err)(t))
		}
		if !equal(looped, want) {
			t.Errorf("got %+v", looped)
		}
		one := must(all.Get(ctx, middlemarchID, append(include, params.Fields("title"))...))(t)
		if want := (book{ID: middlemarchID, Title: "Middlemarch", Author: &authors[0], Reviews: reviews[:2]}); one.ETag != "" || !equal(one.Value, want) {
			t.Errorf("got %+v", one)
		}

		// Options, and a relation of related resources.
		eliot := must(client.Of[author](c, "authors").Get(ctx, eliotID,
			params.Include("books", params.Where("title").Contains("a"), params.Sort("-title"), params.Limit(1), params.WithTotal(), params.Fields("title")),
			params.Include("books.reviews", params.Any(params.Where("stars").Is(5), params.Where("stars").Less(2))), params.Fields("name")))(t)
		if want := (author{ID: eliotID, Name: "George Eliot", Books: []book{{ID: silasID, Title: "Silas Marner"}}, Total: 2}); !equal(eliot.Value, want) {
			t.Errorf("got %+v", eliot.Value)
		}
		raw := must(all.List(ctx, params.Raw("include=author&fields[author]=name&include=reviews&include[reviews][limit]=-1&fields=title"), params.Limit(1)))(t)
		if want := []book{{ID: middlemarchID, Title: "Middlemarch", Author: &author{ID: eliotID, Name: "George Eliot"}, Reviews: reviews[1:2]}}; !equal(raw.Items, want) {
			t.Errorf("got %+v", raw.Items)
		}
	}, withLibrary(t))
}

func TestMoreFilters(t *testing.T) {
	eachStore(t, func(t *testing.T, url string) {
		ctx := context.Background()
		c := connect(t, url)
		fill(t, c)
		books := client.Of[book](c, "books")
		for name, test := range map[string]struct {
			given []params.Param
			want  []string
		}{
			"through a reference":   {[]params.Param{params.Where("author.country").Is("UK")}, []string{middlemarchID, silasID}},
			"through a collection":  {[]params.Param{params.Where("reviews.stars").AtLeast(4)}, []string{middlemarchID, frankensteinID}},
			"inside an object":      {[]params.Param{params.Where("size.pages").More(500)}, []string{middlemarchID}},
			"has":                   {[]params.Param{params.Where("tags").Has("poem", "novel")}, []string{middlemarchID, silasID, anonymousID}},
			"has all":               {[]params.Param{params.Where("tags").HasAll("long", "novel")}, []string{middlemarchID}},
			"any":                   {[]params.Param{params.Any(params.And(params.Where("tags").Has("novel"), params.Where("size.pages").Less(500)), params.Where("author_id").Null())}, []string{silasID, anonymousID}},
			"any and another":       {[]params.Param{params.Any(params.Where("author.country").Is("IT"), params.Where("tags").Has("long")), params.Where("author_id").NotNull()}, []string{middlemarchID, frankensteinID}},
			"search":                {[]params.Param{params.Search("marn SILAS")}, []string{silasID}},
			"parameters":            {[]params.Param{params.Raw("search=mid&filter[any][0][tags][has]=long&filter[any][1][title]=x")}, []string{middlemarchID}},
			"two steps":             {[]params.Param{params.Where("author.books.title").Is("Silas Marner")}, []string{middlemarchID, silasID}},
			"a value with brackets": {[]params.Param{params.Where("tags").Has("a]&filter[title]=x")}, nil},
		} {
			var got []string
			for each, err := range books.All(ctx, test.given...) {
				got = append(got, must(each, err)(t).ID)
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("%s: got %v", name, got)
			}
			if total := must(books.Total(ctx, test.given...))(t); total != int64(len(test.want)) {
				t.Errorf("%s: counted %d", name, total)
			}
		}
		groups := must(client.Groups[map[string]string, struct{}](ctx, books, params.By("author_id"), params.Where("author.country").Is("UK"), params.Search("m")))(t)
		if len(groups.Items) != 1 || groups.Items[0].Count != 2 || groups.Items[0].By["author_id"] != eliotID {
			t.Errorf("got %+v", groups.Items)
		}
	}, withLibrary(t))
}

// What cannot be asked for is an error, and nothing is sent.
func TestWrongParams(t *testing.T) {
	c := connect(t, "http://127.0.0.1:1", func(o *client.Options) { o.Retries = -1 })
	ctx := context.Background()
	books := client.Of[book](c, "books")
	for want, call := range map[string]func() error{
		`one resource is read with Include and Fields, and no filter, Sort or range`: func() error { _, err := books.Get(ctx, noID, params.Where("title").Is("x")); return err },
		`a write has no Include and no Fields: it returns whole resources`: func() error {
			_, err := books.DeleteMany(ctx, params.Where("title").Null(), params.Include("author"))
			return err
		},
		`step 1: an id is a UUID, but this is "x"`: func() error {
			_, err := c.Transaction(ctx, []client.Step{books.Steps().Create(book{}), books.Steps().Delete("x")})
			return err
		},
		`step 0: an IdempotencyKey is for the whole transaction`: func() error {
			_, err := c.Transaction(ctx, []client.Step{books.Steps().Delete(noID, client.IdempotencyKey("k"))})
			return err
		},
		`IfMatch is for the steps of a transaction`:           func() error { _, err := c.Transaction(ctx, nil, client.IfMatch(`"1"`)); return err },
		`a dry run has no IdempotencyKey: it changes nothing`: func() error { _, err := books.DryRun().Delete(ctx, noID, client.IdempotencyKey("k")); return err },
	} {
		if err := call(); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestDryRuns(t *testing.T) {
	eachStore(t, func(t *testing.T, url string) {
		ctx := context.Background()
		c := connect(t, url)
		authors, stored, _ := fill(t, c)
		all, books := client.Of[author](c, "authors"), client.Of[book](c, "books")
		dry := func(trial client.Trial[author], err error) client.Trial[author] { return must(trial, err)(t) }
		for name, test := range map[string]struct{ got, want client.Trial[author] }{
			"delete":      {dry(all.DryRun().Delete(ctx, eliotID)), client.Trial[author]{Items: authors[:1], Affected: map[string]int64{"authors": 1, "books": 2, "reviews": 2}}},
			"delete many": {dry(all.DryRun().DeleteMany(ctx, params.Where("country").Is("IT"))), client.Trial[author]{Items: authors[1:], Affected: map[string]int64{"authors": 1, "books": 1, "reviews": 1}}},
			"update":      {dry(all.DryRun().Update(ctx, eliotID, map[string]any{"country": "FR"})), client.Trial[author]{Items: []author{{ID: eliotID, Name: "George Eliot", Country: "FR"}}, Affected: map[string]int64{"authors": 1}}},
			"update many": {dry(all.DryRun().UpdateMany(ctx, map[string]any{"country": "UK"}, params.Where("books.tags").Has("novel"))), client.Trial[author]{Items: authors[:1], Affected: map[string]int64{"authors": 0}}},
			"replace":     {dry(all.DryRun().Replace(ctx, eliotID, author{Name: "Mary Ann Evans"})), client.Trial[author]{Items: []author{{ID: eliotID, Name: "Mary Ann Evans"}}, Affected: map[string]int64{"authors": 1}}},
			"create":      {dry(all.DryRun().Create(ctx, author{ID: noID, Name: "Ada"})), client.Trial[author]{Items: []author{{ID: noID, Name: "Ada"}}, Affected: map[string]int64{"authors": 1}}},
			"create many": {dry(all.DryRun().CreateMany(ctx, []author{{ID: noID, Name: "Ada"}})), client.Trial[author]{Items: []author{{ID: noID, Name: "Ada"}}, Affected: map[string]int64{"authors": 1}}},
			"upsert":      {dry(all.DryRun().Upsert(ctx, "name", map[string]any{"name": "George Eliot", "country": "FR"})), client.Trial[author]{Items: []author{{ID: eliotID, Name: "George Eliot", Country: "FR"}}, Affected: map[string]int64{"authors": 1}}},
			"upsert many": {dry(all.DryRun().UpsertMany(ctx, "name", []author{{Name: "George Eliot", Country: "FR"}})), client.Trial[author]{Items: []author{{ID: eliotID, Name: "George Eliot", Country: "FR"}}, Affected: map[string]int64{"authors": 1}}},
		} {
			if !equal(test.got, test.want) {
				t.Errorf("%s: got %+v", name, test.got)
			}
		}
		steps := []client.Step{all.Steps().Create(author{ID: noID, Name: "Ada"}), books.Steps().Delete(middlemarchID)}
		trial := must(c.TransactionDryRun(ctx, steps))(t)
		if !equal(trial.Affected, map[string]int64{"authors": 1, "books": 1, "reviews": 2}) || len(trial.Items) != 2 {
			t.Errorf("got %+v", trial)
		}
		if got := must(books.List(ctx))(t); !equal(got.Items, stored) {
			t.Errorf("a dry run has changed something: %+v", got.Items)
		}
	}, withLibrary(t))
}

func TestSteps(t *testing.T) {
	eachStore(t, func(t *testing.T, url string) {
		ctx := context.Background()
		c := connect(t, url)
		fill(t, c)
		authors, books := client.Of[author](c, "authors"), client.Of[book](c, "books")
		eliot := must(authors.Get(ctx, eliotID))(t)
		steps := []client.Step{
			authors.Steps().Create(author{ID: noID, Name: "Ada"}),
			client.Of[review](c, "reviews").Under("books", silasID).Steps().Create(review{Stars: 1}),
			authors.Steps().Update(eliotID, map[string]any{"country": "FR"}, client.IfMatch(eliot.ETag)),
			authors.Steps().Upsert("name", map[string]any{"name": "Ada", "country": "UK"}),
			authors.Steps().Replace(shelleyID, author{Name: "Mary"}),
			books.Steps().Delete(anonymousID),
		}
		var before []json.RawMessage
		for range 2 { // the second is a repetition
			done := must(c.Transaction(ctx, steps, client.IdempotencyKey("once")))(t)
			if before != nil && !equal(done, before) {
				t.Errorf("got %s", done)
			}
			before = done
		}
		for i, want := range []author{{ID: noID, Name: "Ada"}, {}, {ID: eliotID, Name: "George Eliot", Country: "FR"}, {ID: noID, Name: "Ada", Country: "UK"}, {ID: shelleyID, Name: "Mary"}} {
			if got := must(authors.Decode(before[i]))(t); i != 1 && !equal(got, want) {
				t.Errorf("step %d: got %+v", i, got)
			}
		}
		if got := must(books.Decode(before[5]))(t); got.Title != "Beowulf" {
			t.Errorf("got %+v", got)
		}
		_, err := c.Transaction(ctx, []client.Step{books.Steps().Delete(silasID), authors.Steps().Delete(eliotID, client.IfMatch(eliot.ETag))})
		if !client.HasCode(err, problem.CodePreconditionFailed) || must(books.Total(ctx))(t) != 3 {
			t.Errorf("got %v", err)
		}
	}, withLibrary(t))
}

func TestDescribedRelations(t *testing.T) {
	eachStore(t, func(t *testing.T, url string) {
		described := must(connect(t, url).Collections(context.Background()))(t)
		want := []client.Relation{{Name: "author", Collection: "authors", Attribute: "author_id"}, {Name: "reviews", Collection: "reviews", Many: true, Attribute: "book_id"}}
		if books := described[1]; !equal(books.Relations, want) || !equal(books.Search, []string{"title"}) || described[0].Label != "name" {
			t.Errorf("got %+v", described[:2])
		}
	}, withLibrary(t))
}

// equal compares values as JSON, where an empty list is as good as none.
func equal(a, b any) bool {
	first, err := json.Marshal(a)
	second, err2 := json.Marshal(b)
	return err == nil && err2 == nil && string(first) == string(second)
}
