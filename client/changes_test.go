package client_test

import (
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/params"
	"github.com/plural-go/plural/problem"
)

// told is a change in one line.
func told(change client.Change[json.RawMessage]) string {
	text := fmt.Sprintf("%s %s", change.Kind, change.Resource.Type)
	var after struct{ Name, Title string }
	if change.Data != nil {
		if err := json.Unmarshal(*change.Data, &after); err != nil {
			return err.Error()
		}
		text += " " + after.Name + after.Title
	}
	if change.Previous != nil {
		text += fmt.Sprintf(" was %s%s", change.Previous["name"], change.Previous["title"])
	}
	return text
}

func lines[T any](t *testing.T, all iter.Seq2[T, error], line func(T) string) (got []string) {
	t.Helper()
	for each, err := range all {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, line(each))
	}
	return got
}

// TestChangesLive: the change log of a server, its filters, ranges and positions.
func TestChangesLive(t *testing.T) {
	eachStore(t, func(t *testing.T, url string) {
		ctx := t.Context()
		c := connect(t, url)
		users, posts := client.Of[User](c, "users"), client.Of[Post](c, "posts")
		ada := must(users.Create(ctx, User{Name: "Ada", Email: "ada@example.com"}))(t)
		before := must(users.List(ctx))(t)
		must(posts.Create(ctx, Post{Title: "Notes"}))(t)
		must(users.Update(ctx, ada.ID, map[string]any{"name": "Augusta"}))(t)
		must(users.Delete(ctx, ada.ID))(t)
		log := c.Changes()
		all := []string{"created users Ada", "created posts Notes", `updated users Augusta was "Ada"`, `deleted users was "Augusta"`}
		page := must(log.List(ctx, params.WithTotal()))(t)
		if page.Total != 4 || page.Position == "" || len(page.Items) != 4 {
			t.Fatalf("got %+v", page)
		}
		updated := page.Items[2]
		if got := must(log.Get(ctx, updated.ID))(t); told(got) != all[2] || got.Revision < 1 || got.By != "" || got.Resource != (client.Reference{ID: ada.ID, Type: "users"}) || time.Since(got.CreatedAt) > time.Hour {
			t.Errorf("got %+v", got)
		}
		for _, test := range []struct {
			given    []params.Param
			from, to int
		}{
			{nil, 0, 4},
			{[]params.Param{params.Where("collection").Is("posts")}, 1, 2},
			{[]params.Param{params.Where("collection").In("posts", "users")}, 0, 4},
			{[]params.Param{params.Where("resource.id").Is(ada.ID), params.Where("kind").In("updated", "deleted")}, 2, 4},
			{[]params.Param{params.Where("kind").Is("deleted")}, 3, 4},
			{[]params.Param{params.Where("by").Null(), params.Limit(2)}, 0, 2},
			{[]params.Param{params.Where("by").Is("key:abc")}, 0, 0},
			{[]params.Param{params.Where("created_at").AtLeast(updated.CreatedAt), params.Where("resource.id").Is(ada.ID), params.Where("kind").Not("created")}, 2, 4},
			{[]params.Param{params.Where("created_at").Less(time.Unix(0, 0))}, 0, 0},
			{[]params.Param{params.Cursor(updated.ID)}, 2, 4},
			{[]params.Param{params.Since(updated.ID)}, 3, 4},
			{[]params.Param{params.Since(before.Position)}, 1, 4},
			{[]params.Param{params.Since(page.Position)}, 4, 4},
			{[]params.Param{params.Raw("filter[resource.id]=" + ada.ID), params.Since(before.Position)}, 2, 4},
		} {
			listed := must(log.List(ctx, test.given...))(t)
			var got []string
			for _, each := range listed.Items {
				got = append(got, told(each))
			}
			if want := all[test.from:test.to]; !slices.Equal(got, want) || !slices.Equal(lines(t, log.All(ctx, test.given...), told), want) {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		reversed := lines(t, log.Backward(ctx), told)
		slices.Reverse(reversed)
		if !slices.Equal(reversed, all) {
			t.Errorf("backward: %q", reversed)
		}
		var paged []string
		for page := must(log.List(ctx, params.Limit(3), params.Since(page.Items[0].ID)))(t); page != nil; page = must(page.Next(ctx))(t) {
			for _, each := range page.Items {
				paged = append(paged, told(each))
			}
		}
		if !slices.Equal(paged, all[1:]) {
			t.Errorf("page by page: %q", paged)
		}

		seen := []string{}
		for event, err := range log.Watch(ctx, params.Since(page.Position), params.Where("kind").Is("created")) {
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, string(event.Kind))
			if event.Kind == client.EventSynced { // the position is that of a list without a filter
				must(posts.Create(ctx, Post{Title: "More"}))(t)
			}
			if event.Kind == client.EventCreated {
				if got := told(event.Resource); got != "created posts More" || event.Position == "" {
					t.Errorf("got %q at %q", got, event.Position)
				}
				break
			}
		}
		if want := []string{"reset", "listed", "listed", "synced", "created"}; !slices.Equal(seen, want) {
			t.Errorf("got %q", seen)
		}
		for event, err := range users.Watch(ctx, params.Since(before.Position)) { // a list, and then what changes
			if err != nil || event.Kind != client.EventUpdated || event.Resource.Name != "Augusta" {
				t.Errorf("got %+v, %v", event, err)
			}
			break
		}

		if _, err := log.List(ctx, params.Cursor(updated.ID), params.Since(updated.ID)); err == nil || err.Error() != "a list begins at one Offset, Cursor or Since" {
			t.Errorf("got %v", err)
		}
		for _, given := range [][]params.Param{{params.Offset(1)}, {params.Sort("-kind")}, {params.Where("revision").Is(1)}, {params.Where("collection").Is("user")}} {
			if _, err := log.List(ctx, given...); err == nil || !hasStatus(err, 400) {
				t.Errorf("got %v", err)
			}
		}
		if _, err := log.Get(ctx, noID); !client.IsNotFound(err) {
			t.Errorf("got %v", err)
		}
	})
}

func hasStatus(err error, status int) bool {
	refused, ok := err.(*client.Error)
	return ok && refused.Status == status
}

// TestHistoryLive: typed, also below a parent, and after the resource and its parent were deleted.
func TestHistoryLive(t *testing.T) {
	eachStore(t, func(t *testing.T, url string) {
		ctx := t.Context()
		c := connect(t, url)
		users := client.Of[User](c, "users")
		ada := must(users.Create(ctx, User{Name: "Ada", Email: "ada@example.com"}))(t)
		posts := client.Of[Post](c, "posts").Under("users", ada.ID)
		post := must(posts.Create(ctx, Post{Title: "Notes"}))(t)
		must(posts.Update(ctx, post.ID, map[string]any{"title": "More"}))(t)
		line := func(change client.Change[Post]) string {
			text := fmt.Sprintf("%s %s", change.Kind, change.Previous["title"])
			if change.Data != nil {
				text += " " + change.Data.Title
			}
			return text
		}
		want := []string{"created  Notes", `updated "Notes" More`}
		if got := lines(t, client.History(posts, post.ID).All(ctx), line); !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
		latest := must(client.History(posts, post.ID).List(ctx, params.Limit(-1)))(t)
		if len(latest.Items) != 1 || line(latest.Items[0]) != want[1] {
			t.Errorf("got %+v", latest.Items)
		}
		if got := must(client.History(posts, post.ID).Get(ctx, latest.Items[0].ID))(t); line(got) != want[1] {
			t.Errorf("got %+v", got)
		}
		for event, err := range client.History(posts, post.ID).Watch(ctx, params.FromNow()) {
			if err != nil {
				t.Fatal(err)
			}
			if event.Kind == client.EventSynced {
				must(posts.Delete(ctx, post.ID))(t)
			}
			if event.Kind == client.EventCreated {
				if got := line(event.Resource); got != `deleted "More"` {
					t.Errorf("got %q", got)
				}
				break
			}
		}
		want = append(want, `deleted "More"`)
		if got := lines(t, client.History(posts, post.ID).All(ctx), line); !slices.Equal(got, want) {
			t.Errorf("after the deletion: %q", got)
		}
		must(users.Delete(ctx, ada.ID))(t)
		if _, err := client.History(posts, post.ID).List(ctx); !client.IsNotFound(err) {
			t.Errorf("below a parent that was deleted: %v", err)
		}
		if got := lines(t, client.History(client.Of[Post](c, "posts"), post.ID).All(ctx), line); !slices.Equal(got, want) {
			t.Errorf("after the deletion of the parent: %q", got)
		}
		for _, err := range client.History(client.Of[Post](c, "posts"), "1").All(ctx) {
			if err == nil || err.Error() != `an id is a UUID, but this is "1"` {
				t.Errorf("got %v", err)
			}
		}
	})
}

// TestChangesGone: a list behind a position that the log no longer has.
func TestChangesGone(t *testing.T) {
	s := &script{answers: []func(*http.Request) (*http.Response, error){refuse(410, "position_gone")}}
	c := connect(t, "http://script", func(o *client.Options) { o.HTTPClient = &http.Client{Transport: s} })
	if _, err := c.Changes().List(t.Context(), params.Since("p/1"), params.Limit(5)); !client.HasCode(err, problem.CodePositionGone) {
		t.Errorf("got %v", err)
	}
	if !slices.Equal(s.requests, []string{"/changes?since=p%2F1&limit=5"}) {
		t.Errorf("got %q", s.requests)
	}
}
