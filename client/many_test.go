package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/params"
	"github.com/plural-go/plural/problem"
)

// TestManyResources writes ranges, upserts and transactions.
func TestManyResources(t *testing.T) {
	eachStore(t, func(t *testing.T, url string) {
		ctx := context.Background()
		c := connect(t, url)
		posts := client.Of[Post](c, "posts")
		must(posts.CreateMany(ctx, []Post{{Title: "a"}, {Title: "b"}, {Title: "c"}}))(t)

		updated := must(posts.UpdateMany(ctx, map[string]any{"body": "x"}, params.Where("title").In("a", "c"), params.Sort("-title")))(t)
		if len(updated) != 2 || updated[0].Title != "c" || updated[1].Title != "a" {
			t.Errorf("got %+v", updated)
		}
		if _, err := posts.UpdateMany(ctx, map[string]any{"body": "x"}); !client.HasCode(err, problem.CodeFilterRequired) {
			t.Errorf("got %v", err)
		}
		affected, _, err := c.DryRun(ctx, client.Request{Method: "DELETE", Path: "/posts", Query: "filter[body]=x"})
		if err != nil || len(affected) != 1 || affected["posts"] != 2 {
			t.Errorf("got %v and %v", affected, err)
		}
		deleted := must(posts.DeleteMany(ctx, params.Where("body").Is("x")))(t)
		if len(deleted) != 2 || must(posts.Total(ctx))(t) != 1 {
			t.Errorf("got %+v", deleted)
		}

		first, created, err := posts.Upsert(ctx, "id", map[string]any{"id": noID, "title": "d"})
		if err != nil || !created || first.ID != noID || first.ETag == "" {
			t.Errorf("got %+v, %t and %v", first, created, err)
		}
		second, created, err := posts.Upsert(ctx, "id", map[string]any{"id": noID, "body": "y"})
		if err != nil || created || second.Value.Title != "d" {
			t.Errorf("got %+v, %t and %v", second, created, err)
		}
		if _, _, err := posts.Upsert(ctx, "title", map[string]any{"title": "x"}); !client.HasCode(err, problem.CodeInvalidParameter) {
			t.Errorf("got %v", err)
		}
		values := make([]Post, 20)
		for i := range values {
			values[i] = Post{ID: fmt.Sprintf("00000000-0000-7000-8000-%012d", i), Title: fmt.Sprint(i)}
		}
		for range 2 { // created, and then found
			if stored := must(posts.UpsertMany(ctx, "id", values))(t); len(stored) != 20 || stored[19].Title != "19" {
				t.Errorf("got %+v", stored)
			}
		}

		done := must(c.Transaction(ctx, []client.Step{
			{Method: "PATCH", Path: "/posts/" + noID, Body: map[string]any{"title": "e"}, IfMatch: second.ETag},
			{Method: "DELETE", Path: "/posts/" + values[0].ID},
		}))(t)
		var post Post
		if err := json.Unmarshal(done[0], &post); err != nil || len(done) != 2 || post.Title != "e" {
			t.Errorf("got %s", done)
		}
		_, err = c.Transaction(ctx, []client.Step{{Method: "PATCH", Path: "/posts/" + noID, Body: map[string]any{"title": 1}}})
		var refused *client.Error
		if !errors.As(err, &refused) || refused.Errors[0].Source.Pointer != "/0/body/title" {
			t.Errorf("got %v", err)
		}
		if done := must(c.Transaction(ctx, nil))(t); len(done) != 0 {
			t.Errorf("got %s", done)
		}
	}, func(c *plural.Config) { c.MaxItems = 7 })
}
