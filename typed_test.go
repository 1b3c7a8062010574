package plural_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/params"
	"github.com/plural-go/plural/problem"
)

func TestTypedAccess(t *testing.T) {
	server, end := openLibrary()
	defer end()
	ctx := context.Background()
	authors, books := of[Author](server), of[Book](server)

	const id = "01936f2e-7d3c-7a4b-9c5d-0123456789ab"
	ada, err := authors.Create(ctx, Author{ID: id, Name: "Ada"})
	if want := (Author{ID: id, Name: "Ada"}); err != nil || ada != want {
		t.Fatalf("got %+v, %v", ada, err)
	}
	if got, err := authors.Get(ctx, id); err != nil || got != ada {
		t.Errorf("read %+v, %v", got, err)
	}
	replaced, err := authors.Replace(ctx, id, Author{Name: "Ada L.", Books: 3})
	if want := (Author{ID: id, Name: "Ada L.", Books: 3}); err != nil || replaced != want {
		t.Errorf("replaced by %+v, %v", replaced, err)
	}
	if total, err := authors.Total(ctx); total != 1 || err != nil {
		t.Errorf("%d, %v", total, err)
	}
	if deleted, err := authors.Delete(ctx, id); err != nil || deleted != replaced {
		t.Errorf("deleted %+v, %v", deleted, err)
	}

	kept, err := authors.Create(ctx, Author{Name: "kept"})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		run    func() error
		status int
		code   string
	}{
		"not found": {func() error { _, err := authors.Get(ctx, id); return err }, 404, "not_found"},
		"no id":     {func() error { _, err := authors.Delete(ctx, "x"); return err }, 404, "not_found"},
		"invalid":   {func() error { _, err := books.Create(ctx, Book{Title: "T", AuthorID: "x"}); return err }, 422, "format"},
		"dangling":  {func() error { _, err := books.Create(ctx, Book{Title: "T", AuthorID: id}); return err }, 422, "unknown_reference"},
		"unknown":   {func() error { _, err := authors.Update(ctx, kept.ID, map[string]any{"x": 1}); return err }, 422, "unknown_attribute"},
		"neither":   {func() error { _, err := authors.Update(ctx, id, map[string]any{"x": 1}); return err }, 404, "not_found"},
		"all or none": {func() error {
			_, err := authors.CreateMany(ctx, []Author{{Name: "a"}, {Name: "a"}})
			return err
		}, 409, "not_unique"},
		"a bad query": {func() error {
			for _, err := range authors.All(ctx, params.Where("nope").Is(1)) {
				return err
			}
			return nil
		}, 400, "unknown_parameter"},
	} {
		err := c.run()
		var list problem.Errors
		var first *problem.Error
		if !errors.As(err, &list) || !errors.As(err, &first) || list[0] != first {
			t.Errorf("%s: %v has no list, or another first error", name, err)
			continue
		}
		if first.Status() != c.status || string(first.Code) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}

	created, err := authors.CreateMany(ctx, []Author{{Name: "a"}, {Name: "b"}, {Name: "c"}})
	if err != nil {
		t.Fatal(err)
	}
	var listed []Author
	for author, err := range authors.All(ctx, params.Limit(-2)) {
		if err != nil {
			t.Fatal(err)
		}
		listed = append(listed, author)
	}
	if !slices.Equal(listed, created[1:]) {
		t.Errorf("listed %+v", listed)
	}
	for range authors.All(ctx) {
		break // gives the snapshot back
	}
}

// All that is wrong with several values is reported, each in its place.
func TestCreateManyReportsEverything(t *testing.T) {
	server, end := openLibrary()
	defer end()
	_, err := of[Book](server).CreateMany(context.Background(), []Book{{AuthorID: "x"}, {Title: "T", AuthorID: "01936f2e-7d3c-7a4b-9c5d-0123456789ab"}, {AuthorID: "y"}})
	var list problem.Errors
	errors.As(err, &list)
	var got []string
	for _, each := range list {
		got = append(got, string(each.Code)+" "+each.Source.Pointer)
	}
	if want := []string{"format /0/author_id", "unknown_reference /1/author_id", "format /2/author_id"}; !slices.Equal(got, want) {
		t.Errorf("got %v", err)
	}
}

func TestOfUnknownCollection(t *testing.T) {
	server, end := openLibrary()
	defer end()
	type Book struct {
		Title  int    `json:"title"`
		Author string `json:"author"`
	}
	for want, of := range map[string]func() error{
		`the server has no collection "strangers" for plural_test.Stranger`:                                           func() error { _, err := plural.Of[Stranger](server); return err },
		`*plural_test.Author is a pointer, and a collection is declared by the struct itself: use plural_test.Author`: func() error { _, err := plural.Of[*Author](server); return err },
		`int is not a struct`: func() error { _, err := plural.Of[int](server); return err },
		"the attribute title of books is declared as string, and is integer in plural_test.Book\nthe collection books has no attribute author, which plural_test.Book has": func() error { _, err := plural.Of[Book](server); return err },
	} {
		if err := of(); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// Stranger is a struct of no collection.
type Stranger struct{}

func TestHooksOfUnknownCollectionsAreRefused(t *testing.T) {
	_, err := plural.Open(context.Background(), plural.Config{
		Database: "sqlite:" + t.TempDir() + "/test.db", Hooks: []plural.Hook{{Collection: "nope"}, {Collection: "users", On: []plural.Verb{"read"}, Timeout: -1}},
	})
	want := "hook 0 is for the collection \"nope\", which the schema does not declare\nhook 1 for users has no function\nhook 1 for users has a negative Timeout\nhook 1 is for the verb \"read\": use Create, Update or Delete"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}
