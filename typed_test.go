package plural_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/plural-go/plural"
)

func TestTypedAccess(t *testing.T) {
	server, end := openLibrary()
	defer end()
	ctx := context.Background()
	authors, books := plural.Of[Author](server), plural.Of[Book](server)

	const id = "01936f2e-7d3c-7a4b-9c5d-0123456789ab"
	ada, err := authors.Create(ctx, Author{ID: id, Name: "Ada"})
	if want := (Author{ID: id, Name: "Ada"}); err != nil || ada != want {
		t.Fatalf("got %+v, %v", ada, err)
	}
	if got, err := authors.Read(ctx, id); err != nil || got != ada {
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

	for name, c := range map[string]struct {
		run    func() error
		status int
		code   string
	}{
		"not found": {func() error { _, err := authors.Read(ctx, id); return err }, 404, "not_found"},
		"no id":     {func() error { _, err := authors.Delete(ctx, "x"); return err }, 404, "not_found"},
		"invalid":   {func() error { _, err := books.Create(ctx, Book{Title: "T", AuthorID: "x"}); return err }, 422, "format"},
		"dangling":  {func() error { _, err := books.Create(ctx, Book{Title: "T", AuthorID: id}); return err }, 422, "unknown_reference"},
		"unknown":   {func() error { _, err := authors.Patch(ctx, id, map[string]any{"x": 1}); return err }, 422, "unknown_attribute"},
		"all or none": {func() error {
			_, err := authors.CreateMany(ctx, []Author{{Name: "a"}, {Name: "a"}})
			return err
		}, 409, "not_unique"},
		"a bad query": {func() error {
			for _, err := range authors.List(ctx, "filter[nope]=1") {
				return err
			}
			return nil
		}, 400, "unknown_parameter"},
	} {
		err := c.run()
		var list plural.Errors
		var one *plural.Error
		switch {
		case errors.As(err, &list):
			one = list[0]
		case !errors.As(err, &one):
			t.Errorf("%s: %v", name, err)
			continue
		}
		if one.Status() != c.status || string(one.Code) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}

	created, err := authors.CreateMany(ctx, []Author{{Name: "a"}, {Name: "b"}, {Name: "c"}})
	if err != nil {
		t.Fatal(err)
	}
	var listed []Author
	for author, err := range authors.List(ctx, "limit=-2") {
		if err != nil {
			t.Fatal(err)
		}
		listed = append(listed, author)
	}
	if !slices.Equal(listed, created[1:]) {
		t.Errorf("listed %+v", listed)
	}
	for range authors.List(ctx, "") {
		break // gives the snapshot back
	}
}

func TestOfAnUnknownCollectionPanics(t *testing.T) {
	server, end := openLibrary()
	defer end()
	defer func() {
		if got := recover(); got != `plural: the server has no collection "strangers" for plural_test.Stranger` {
			t.Errorf("got %v", got)
		}
	}()
	plural.Of[Stranger](server)
}

// Stranger is a struct of no collection.
type Stranger struct{}

func TestHooksOfUnknownCollectionsAreRefused(t *testing.T) {
	_, err := plural.Open(context.Background(), plural.Config{
		Database: "sqlite:" + t.TempDir() + "/test.db", Hooks: []plural.Hook{{Collection: "nope"}, {Collection: "users", On: []plural.Verb{"read"}, Timeout: -1}},
	})
	want := "hook 0 is for the collection \"nope\", which the schema does not have\nhook 1 for users has no function\nhook 1 for users has a negative Timeout\nhook 1 is for the verb \"read\": use Create, Update or Delete"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}
