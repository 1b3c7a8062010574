package plural_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/params"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// Author is a resource of the collection authors.
type Author struct {
	ID    string `json:"id"`
	Name  string `json:"name" plural:"required,maxLength=50,unique"`
	Books int    `json:"books"`
}

// Volume is a book with what it is related to: the same collection, read as another type.
type Volume struct {
	_        struct{} `plural:"name=books"`
	ID       string   `json:"id"`
	Title    string   `json:"title" plural:"required"`
	AuthorID string   `json:"author_id" plural:"required,parent=authors"`
	Author   *Author  `json:"author,omitempty" plural:"related"`
}

// Book is a resource of the collection books, and of /authors/<id>/books.
type Book struct {
	ID       string `json:"id"`
	Title    string `json:"title" plural:"required"`
	AuthorID string `json:"author_id" plural:"required,parent=authors"`
}

// openLibrary opens a server of authors and books, and returns how to end it.
func openLibrary(hooks ...plural.Hook) (*plural.Server, func()) {
	dir, err := os.MkdirTemp("", "plural")
	must(err)
	for i := range hooks { // also on a busy machine
		hooks[i].Timeout = cmp.Or(hooks[i].Timeout, 5*time.Minute)
	}
	server := openLibraryIn(dir, hooks...)
	return server, func() {
		must(server.Stop(context.Background()))
		must(os.RemoveAll(dir))
	}
}

func openLibraryIn(dir string, hooks ...plural.Hook) *plural.Server {
	authors, err := schema.Of[Author]()
	must(err)
	books, err := schema.Of[Book]()
	must(err)
	declared, err := schema.New(authors, books)
	must(err)
	server, err := plural.Open(context.Background(), plural.Config{
		Schema: declared, Database: "sqlite:" + filepath.Join(dir, "library.db"), Logger: slog.New(slog.DiscardHandler), Hooks: hooks,
	})
	must(err)
	return server
}

// of gives typed access to a collection that the server has.
func of[T any](server *plural.Server) *plural.Collection[T] {
	collection, err := plural.Of[T](server)
	must(err)
	return collection
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Structs are the schema, and the collections are read and written as such.
func ExampleOf() {
	server, end := openLibrary()
	defer end()
	ctx := context.Background()
	authors, err := plural.Of[Author](server)
	must(err)

	eliot, err := authors.Create(ctx, Author{Name: "George Eliot"})
	must(err)
	_, err = authors.CreateMany(ctx, []Author{{Name: "Ada Lovelace"}, {Name: "Mary Shelley"}})
	must(err)
	eliot, err = authors.Update(ctx, eliot.ID, map[string]any{"books": 8})
	must(err)
	fmt.Println(eliot.Name, eliot.Books)

	for author, err := range authors.All(ctx, params.Sort("name"), params.Limit(2)) {
		must(err)
		fmt.Println(author.Name)
	}

	// Output:
	// George Eliot 8
	// Ada Lovelace
	// George Eliot
}

// Every error that has a code is found by errors.As: the first of them, or all.
func ExampleErrors() {
	server, end := openLibrary()
	defer end()
	ctx := context.Background()
	authors := of[Author](server)
	_, err := authors.Create(ctx, Author{Name: "George Eliot"})
	must(err)

	_, err = authors.Create(ctx, Author{Name: "George Eliot"})
	var first *problem.Error
	if errors.As(err, &first) {
		fmt.Println(first.Status(), first.Code, first.Source.Pointer)
	}
	_, err = authors.CreateMany(ctx, []Author{{Name: strings.Repeat("x", 51)}, {Name: strings.Repeat("y", 60)}})
	var all problem.Errors
	if errors.As(err, &all) {
		for _, each := range all {
			fmt.Println(each.Status(), each.Code, each.Source.Pointer)
		}
	}
	// Output:
	// 409 not_unique /name
	// 422 max_length /0/name
	// 422 max_length /1/name
}

// A hook within the transaction keeps a number of another collection right, and
// refuses what must not be.
func ExampleHook() {
	count := func(ctx context.Context, tx *plural.Tx, change *plural.Change) error {
		if change.After.Get("title") == "Untitled" {
			return plural.Invalid("/title", "A book needs a title of its own.")
		}
		var author Author
		id := change.After.Get("author_id").(string)
		found, err := tx.Get("authors", id)
		if err != nil {
			return err
		}
		if err := found.Decode(&author); err != nil {
			return err
		}
		_, err = tx.Update("authors", id, map[string]any{"books": author.Books + 1})
		return err
	}
	server, end := openLibrary(plural.Hook{Collection: "books", On: []plural.Verb{plural.Create}, Within: count})
	defer end()
	ctx := context.Background()
	authors, books := of[Author](server), of[Book](server)

	eliot, err := authors.Create(ctx, Author{Name: "George Eliot"})
	must(err)
	_, err = books.Create(ctx, Book{Title: "Middlemarch", AuthorID: eliot.ID})
	must(err)
	_, err = books.Create(ctx, Book{Title: "Untitled", AuthorID: eliot.ID})
	fmt.Println(err)
	eliot, err = authors.Get(ctx, eliot.ID)
	must(err)
	fmt.Println(eliot.Books)
	// Output:
	// refused at /title: A book needs a title of its own.
	// 1
}

// All that a transaction writes is stored, or nothing.
func ExampleServer_Transaction() {
	server, end := openLibrary()
	defer end()
	ctx := context.Background()
	authors, books := of[Author](server), of[Book](server)
	write := func(name string, titles ...string) error {
		return server.Transaction(ctx, func(ctx context.Context, tx *plural.Tx) error {
			author, err := authors.In(tx).Create(ctx, Author{Name: name, Books: len(titles)})
			if err != nil {
				return err
			}
			for _, title := range titles {
				if title == "" {
					return errors.New("a book needs a title")
				}
				if _, err := books.In(tx).Create(ctx, Book{Title: title, AuthorID: author.ID}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	fmt.Println(write("George Eliot", "Middlemarch", "Silas Marner"))
	fmt.Println(write("Mary Shelley", "Frankenstein", ""))
	total, err := authors.Total(ctx)
	must(err)
	found, err := books.Total(ctx, params.Where("title").StartsWith("Mid"))
	must(err)
	fmt.Println(total, found)
	// Output:
	// <nil>
	// a book needs a title
	// 1 1
}

// Related resources are in fields of the struct that are no attributes.
func ExampleInclude() {
	server, end := openLibrary()
	defer end()
	ctx := context.Background()
	authors, volumes := of[Author](server), of[Volume](server)
	eliot, err := authors.Create(ctx, Author{Name: "George Eliot"})
	must(err)
	shelley, err := authors.Create(ctx, Author{Name: "Mary Shelley"})
	must(err)
	_, err = volumes.CreateMany(ctx, []Volume{{Title: "Middlemarch", AuthorID: eliot.ID}, {Title: "Silas Marner", AuthorID: eliot.ID}, {Title: "Frankenstein", AuthorID: shelley.ID}})
	must(err)

	some := params.Any(params.Where("author.name").StartsWith("Mary"), params.Where("title").Contains("march"))
	for volume, err := range volumes.All(ctx, some, params.Include("author"), params.Sort("title")) {
		must(err)
		fmt.Println(volume.Title, "by", volume.Author.Name)
	}
	// Output:
	// Frankenstein by Mary Shelley
	// Middlemarch by George Eliot
}

// A dry run tells what a write would do.
func ExampleCollection_DryRun() {
	server, end := openLibrary()
	defer end()
	ctx := context.Background()
	authors := of[Author](server)
	_, err := authors.CreateMany(ctx, []Author{{Name: "George Eliot"}, {Name: "Mary Shelley"}})
	must(err)
	trial, err := authors.DryRun().DeleteMany(ctx, params.Where("name").StartsWith("M"))
	must(err)
	fmt.Println(trial.Items[0].Name, trial.Affected)
	stored, created, err := authors.Upsert(ctx, "name", Author{Name: "Mary Shelley", Books: 6})
	must(err)
	fmt.Println(stored.Books, created)
	// Output:
	// Mary Shelley map[authors:1]
	// 6 false
}

// Groups are counted and summed by the database.
func ExampleGroups() {
	server, end := openLibrary()
	defer end()
	ctx := context.Background()
	authors := of[Author](server)
	_, err := authors.CreateMany(ctx, []Author{{Name: "George Eliot", Books: 8}, {Name: "Mary Shelley", Books: 6}, {Name: "Jane Austen", Books: 6}})
	must(err)
	type key struct {
		Books int `json:"books"`
	}
	groups, err := plural.Groups[key, struct{}](ctx, authors, params.By("books"), params.Sort("-count"))
	must(err)
	for _, group := range groups {
		fmt.Println(group.By.Books, group.Count)
	}
	// Output:
	// 6 2
	// 8 1
}
