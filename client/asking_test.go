package client_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/params"
)

// TestAskingMore: sorts and filters through relations and by counts, in pages and loops.
func TestAskingMore(t *testing.T) {
	eachStore(t, func(t *testing.T, url string) {
		ctx := context.Background()
		c := connect(t, url)
		fill(t, c)
		books := client.Of[book](c, "books")
		where, sort := params.Where, params.Sort
		for name, test := range map[string]struct {
			given []params.Param
			want  []string
		}{
			"a field of a reference":    {[]params.Param{sort("-author.country", "title")}, []string{middlemarchID, silasID, frankensteinID, anonymousID}},
			"a property":                {[]params.Param{sort("size.pages")}, []string{frankensteinID, anonymousID, silasID, middlemarchID}},
			"a count":                   {[]params.Param{sort("-count.reviews")}, []string{middlemarchID, frankensteinID, silasID, anonymousID}},
			"a filter of a count":       {[]params.Param{where("count.reviews").AtLeast(1)}, []string{middlemarchID, frankensteinID}},
			"exists":                    {[]params.Param{where("reviews").Exists()}, []string{middlemarchID, frankensteinID}},
			"not exists":                {[]params.Param{where("author").NotExists()}, []string{anonymousID}},
			"one fulfils all":           {[]params.Param{params.Some("reviews", where("stars").AtLeast(4), where("stars").AtMost(4))}, []string{frankensteinID}},
			"one each":                  {[]params.Param{params.Some("reviews", where("stars").Is(5)), params.Some("reviews", where("stars").Is(3))}, []string{middlemarchID}},
			"none":                      {[]params.Param{params.None("reviews", where("stars").AtLeast(4))}, []string{silasID, anonymousID}},
			"one attribute is searched": {[]params.Param{where("title").Search("MARN")}, []string{silasID}},
			"one of a reference is":     {[]params.Param{where("author.name").Search("geo el")}, []string{middlemarchID, silasID}},
			"an alternative":            {[]params.Param{params.Any(where("author").NotExists(), where("title").Search("frank")), sort("-count.reviews")}, []string{frankensteinID, anonymousID}},
		} {
			var paged, looped, back []string
			for p := must(books.List(ctx, append(test.given, params.Limit(1))...))(t); p != nil; p = must(p.Next(ctx))(t) {
				for _, each := range p.Items {
					paged = append(paged, each.ID)
				}
			}
			for each, err := range books.All(ctx, test.given...) {
				looped = append(looped, must(each, err)(t).ID)
			}
			for each, err := range books.Backward(ctx, test.given...) {
				back = append(back, must(each, err)(t).ID)
			}
			slices.Reverse(back)
			total := must(books.Total(ctx, slices.DeleteFunc(slices.Clone(test.given), func(p params.Param) bool { _, filters := p.(params.Filter); return !filters })...))(t)
			if !slices.Equal(paged, test.want) || !slices.Equal(looped, test.want) || !slices.Equal(back, test.want) || total != int64(len(test.want)) {
				t.Errorf("%s: got %v, %v, %v of %d", name, paged, looped, back, total)
			}
		}
		included := must(client.Of[author](c, "authors").List(ctx, sort("name"), params.Include("books", sort("-count.reviews"), where("count.reviews").Less(2), params.Fields("title"))))(t)
		want := []author{{ID: eliotID, Name: "George Eliot", Country: "UK", Books: []book{{ID: silasID, Title: "Silas Marner"}}}, {ID: shelleyID, Name: "Mary Shelley", Country: "IT", Books: []book{{ID: frankensteinID, Title: "Frankenstein"}}}}
		if !equal(included.Items, want) {
			t.Errorf("got %+v", included.Items)
		}
	}, withLibrary(t))
}

func TestGroupsOfRelated(t *testing.T) {
	eachStore(t, func(t *testing.T, url string) {
		ctx := context.Background()
		c := connect(t, url)
		fill(t, c)
		type key struct {
			AuthorID *string `json:"author_id"`
			Country  *string `json:"author.country"`
			Author   *author `json:"author"`
		}
		eliot, shelley, uk, it := eliotID, shelleyID, "UK", "IT"
		titles := func(n int64) map[string]int64 { return map[string]int64{"title": n} }
		want := []params.Group[key, struct{}]{
			{By: key{&eliot, &uk, &author{ID: eliotID, Name: "George Eliot"}}, Count: 2, Distinct: titles(2)},
			{By: key{nil, nil, nil}, Count: 1, Distinct: titles(1)},
			{By: key{&shelley, &it, &author{ID: shelleyID, Name: "Mary Shelley"}}, Count: 1, Distinct: titles(1)},
		}
		given := []params.Param{params.By("author_id", "author.country"), params.Include("author", params.Fields("name")), params.Distinct("title"), params.Sort("-distinct.title")}
		var walked []params.Group[key, struct{}]
		for p := must(client.Groups[key, struct{}](ctx, client.Of[book](c, "books"), append(given, params.Limit(2))...))(t); p != nil; p = must(p.Next(ctx))(t) {
			walked = append(walked, p.Items...)
		}
		expectGroups(t, walked, want)

		reviews := client.Of[review](c, "reviews")
		page := must(client.Groups[map[string]any, map[string]any](ctx, reviews, params.By("book_id", "book.author.name"), params.Sum("stars"), params.Include("book.author"), params.Sort("-sum.stars"),
			params.Having(params.Where("sum.stars").More(4), params.Where("count").AtLeast(2))))(t)
		if len(page.Items) != 1 {
			t.Fatalf("got %+v", page.Items)
		}
		group := page.Items[0]
		included, _ := group.By["book"].(map[string]any)
		if group.By["book.author.name"] != "George Eliot" || group.Sum["stars"] != json.Number("8") || included["title"] != "Middlemarch" || included["author"].(map[string]any)["country"] != "UK" {
			t.Errorf("got %+v", group)
		}
	}, withLibrary(t))
}
