package client_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/params"
)

// Where the query is so long that the server leaves links out, pages and loops go on by the
// ids that they know.
func TestPagesWithoutLinks(t *testing.T) {
	eachStore(t, func(t *testing.T, url string) {
		ctx := context.Background()
		posts := client.Of[Post](connect(t, url), "posts")
		var all []Post
		var want []string
		for i := range 9 {
			want = append(want, fmt.Sprint(i))
			all = append(all, Post{Title: fmt.Sprint(i)})
		}
		all = must(posts.CreateMany(ctx, all))(t)
		shown := func(p *client.Page[Post], err error) (titles string) {
			if err != nil {
				t.Fatal(err)
			}
			if p == nil {
				return "none"
			}
			for _, post := range p.Items {
				titles += post.Title
			}
			return titles
		}
		for _, count := range []int{30, 210, 1000} {
			ids := make([]any, count)
			for i := range ids {
				if ids[i] = fmt.Sprintf("00000000-0000-7000-8000-%012d", i); i < len(all) {
					ids[i] = all[i].ID
				}
			}
			few := client.Of[Post](connect(t, url), "posts")
			for _, limit := range []int64{2, 9, 10, -4} {
				page := must(posts.List(ctx, params.Where("id").In(ids), params.Limit(limit)))(t)
				first := must(page.First(ctx))(t)
				var forth, back string
				for p := first; p != nil; p = must(p.Next(ctx))(t) {
					forth += shown(p, nil)
				}
				for p := must(page.Last(ctx))(t); p != nil; p = must(p.Prev(ctx))(t) {
					back = shown(p, nil) + back
				}
				if forth != "012345678" || back != "012345678" {
					t.Errorf("%d ids, limit %d: forwards %s, backwards %s", count, limit, forth, back)
				}
			}
			page := must(posts.List(ctx, params.Where("id").In(ids)))(t)
			if got := shown(page, nil) + " " + shown(page.Next(ctx)) + " " + shown(page.Last(ctx)); got != "012345678 none 012345678" {
				t.Errorf("%d ids: got %s", count, got)
			}
			if got, err := titles(few.All(ctx, params.Where("id").In(ids))); err != nil || !slices.Equal(got, want) {
				t.Errorf("%d ids: a loop gives %v, %v", count, got, err)
			}
			if got, err := titles(few.All(ctx, params.Where("id").In(ids), params.Sort("-title"), params.Limit(7))); err != nil || len(got) != 7 {
				t.Errorf("%d ids: a loop gives %v, %v", count, got, err)
			}
		}
		if page := must(posts.List(ctx, params.Limit(0)))(t); shown(page.Next(ctx))+shown(page.First(ctx))+shown(page.Last(ctx)) != "nonenonenone" {
			t.Error("an empty range has pages around it")
		}
	}, func(c *plural.Config) { c.MaxLimit = 10 })
}
