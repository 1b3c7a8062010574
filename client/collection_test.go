package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/params"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

const noID = "01936f2e-7d3c-7a4b-9c5d-0123456789ab"

func TestOneResource(t *testing.T) {
	eachStore(t, func(t *testing.T, url string) {
		ctx := context.Background()
		users := client.Of[User](connect(t, url+"/"), "users")
		ada := must(users.Create(ctx, User{Name: "Ada", Email: "ada@example.com"}))(t)
		if ada.ID != ada.Value.ID || ada.ETag == "" || ada.Replayed || ada.Value.Active == nil || !*ada.Value.Active || ada.Value.CreatedAt.IsZero() {
			t.Errorf("got %+v", ada)
		}
		if got := must(users.Get(ctx, ada.ID))(t); !reflect.DeepEqual(got, ada) {
			t.Errorf("got  %+v\nwant %+v", got, ada)
		}
		patched := must(users.Update(ctx, ada.ID, map[string]any{"name": "Ada Lovelace"}, client.IfMatch(ada.ETag)))(t)
		if patched.Value.Name != "Ada Lovelace" || patched.ETag == ada.ETag {
			t.Errorf("got %+v", patched)
		}
		_, err := users.Update(ctx, ada.ID, map[string]any{"name": "Someone"}, client.IfMatch(ada.ETag))
		if !client.IsChanged(err) || !client.HasCode(err, problem.CodePreconditionFailed) {
			t.Errorf("got %v", err)
		}
		no := false
		replaced := must(users.Replace(ctx, ada.ID, User{ID: "ignored", Name: "A", Email: "a@example.com", Active: &no}))(t)
		if replaced.Value.Name != "A" || *replaced.Value.Active {
			t.Errorf("got %+v", replaced)
		}
		deleted := must(users.Delete(ctx, ada.ID, client.IfMatch(replaced.ETag)))(t)
		if deleted.Value.Name != "A" || deleted.ID != ada.ID || deleted.ETag != "" {
			t.Errorf("got %+v", deleted)
		}
		if _, err := users.Get(ctx, ada.ID); !client.IsNotFound(err) {
			t.Errorf("got %v", err)
		}
	})
}

func TestErrors(t *testing.T) {
	eachStore(t, func(t *testing.T, url string) {
		users := client.Of[json.RawMessage](connect(t, url), "users")
		ctx := client.WithRequestID(context.Background(), "mine")
		_, err := users.Create(ctx, json.RawMessage(`{"name":7,"email":"nobody"}`))
		var refused *client.Error
		if !errors.As(err, &refused) || !client.IsInvalid(err) {
			t.Fatalf("got %v", err)
		}
		second := &problem.Error{Code: problem.CodeType, Detail: "Must be a string, but is a number.", Source: problem.Source{Pointer: "/name"}}
		first := &problem.Error{Code: problem.CodeFormat, Detail: "Must be an email address such as ada@example.com.", Source: problem.Source{Pointer: "/email"}}
		want := &client.Error{Status: 422, Errors: problem.Errors{first, second}, Request: "POST /users", RequestID: "mine", Tries: 1}
		if !reflect.DeepEqual(refused, want) {
			t.Errorf("got  %+v\nwant %+v", refused, want)
		}
		var found *problem.Error
		if !errors.As(err, &found) || !reflect.DeepEqual(found, first) {
			t.Errorf("the first error is %v", found)
		}
		if got, want := err.Error(), "POST /users: 422 format at /email: Must be an email address such as ada@example.com.; type at /name: Must be a string, but is a number."; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		_, err = users.List(ctx, params.Where("nope").Is(1))
		if !errors.As(err, &refused) || refused.Status != 400 || refused.Errors[0].Source.Parameter != "filter[nope][eq]" {
			t.Errorf("got %v", err)
		}
		_, err = client.Of[User](connect(t, url), "nothing").Get(ctx, noID)
		if !client.IsNotFound(err) {
			t.Errorf("got %v", err)
		}
	})
}

// TestMisspelt: what cannot be meant never leaves the program.
func TestMisspelt(t *testing.T) {
	ctx := context.Background()
	c := connect(t, "http://127.0.0.1:1", func(o *client.Options) { o.Retries = -1 })
	users := client.Of[User](c, "users")
	list := func(given ...params.Param) error { _, err := users.List(ctx, given...); return err }
	each := func(given ...params.Param) (err error) {
		for _, err = range users.All(ctx, given...) {
		}
		return err
	}
	get := func(collection *client.Collection[User], id string) error {
		_, err := collection.Get(ctx, id)
		return err
	}
	for want, err := range map[string]error{
		`an id is a UUID, but this is "../posts"`:                                                      get(users, "../posts"),
		`an id is a UUID, but this is ""`:                                                              get(users, ""),
		`"../-/metrics" is not the name of a collection`:                                               get(client.Of[User](c, "../-/metrics"), noID),
		`an id is a UUID, but this is "1"`:                                                             get(users.Under("teams", "1"), noID),
		`the filter eq of name: nothing is compared with nil: use Null or NotNull`:                     list(params.Where("name").Is(nil)),
		`the limit of a loop is how often it runs, and cannot be negative: use Backward to count back`: each(params.Limit(-1)),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	for _, url := range []string{"", "example.com", "ftp://example.com", "https://me:secret@example.com", "https://example.com?x=1"} {
		if _, err := client.New(url, client.Options{}); err == nil {
			t.Errorf("%q is taken for the URL of a server", url)
		}
	}
}

func TestList(t *testing.T) {
	eachStore(t, func(t *testing.T, url string) {
		ctx := context.Background()
		c := connect(t, url)
		posts := client.Of[Post](c, "posts")
		var values []Post
		titles := []string{"a,b", `c\`, "=1+1&x", "ä ö", "100%", "plain"}
		for _, title := range titles {
			values = append(values, Post{Title: title})
		}
		must(posts.CreateMany(ctx, values))(t)
		for _, test := range []struct {
			given []params.Param
			want  string
			total int64
		}{
			{nil, "a,b|c\\|=1+1&x|ä ö|100%|plain", 6},
			{[]params.Param{params.Limit(-2)}, "100%|plain", 6},
			{[]params.Param{params.Offset(3), params.Limit(-2)}, "c\\|=1+1&x", 6},
			{[]params.Param{params.Where("title").Is("=1+1&x")}, "=1+1&x", -1},
			{[]params.Param{params.Where("title").In(`c\`, "a,b", "plain"), params.WithTotal()}, "a,b|c\\|plain", 3},
			{[]params.Param{params.Where("title").NotIn(`c\`, "a,b", "plain")}, "=1+1&x|ä ö|100%", -1},
			{[]params.Param{params.Where("title").StartsWith("1"), params.Where("title").Contains("%")}, "100%", -1},
			{[]params.Param{params.Where("title").More("a"), params.Where("title").Not("plain"), params.Sort("-title")}, "ä ö|c\\|a,b", -1},
			{[]params.Param{params.Where("title").AtMost("="), params.Sort("title")}, "100%", -1},
			{[]params.Param{params.Where("title").AtLeast("c"), params.Where("title").Less("q")}, "c\\|plain", -1},
			{[]params.Param{params.Where("body").NotNull()}, "", -1},
			{[]params.Param{params.Where("body").Null(), params.Limit(1)}, "a,b", -1},
			{[]params.Param{params.Raw("filter[title]=%3D1%2B1%26x&filter[title]=plain&sort=-title&limit=1")}, "plain", -1},
		} {
			page := must(posts.List(ctx, test.given...))(t)
			var got []string
			for _, post := range page.Items {
				got = append(got, post.Title)
			}
			if strings.Join(got, "|") != test.want || page.Total != test.total {
				t.Errorf("got %q %d, want %q %d", got, page.Total, test.want, test.total)
			}
		}
		if total := must(posts.Total(ctx, params.Where("title").StartsWith("1")))(t); total != 1 {
			t.Errorf("the total is %d", total)
		}
	})
}

func TestPages(t *testing.T) {
	eachStore(t, func(t *testing.T, url string) {
		ctx := context.Background()
		posts := client.Of[Post](connect(t, url), "posts")
		for i := range 5 {
			must(posts.Create(ctx, Post{Title: fmt.Sprint(i)}))(t)
		}
		page := must(posts.List(ctx, params.Where("title").In("0", "1", "2", "4"), params.Limit(2), params.WithTotal()))(t)
		shown := func(p *client.Page[Post]) (titles string) {
			if p == nil {
				return "none"
			}
			for _, post := range p.Items {
				titles += post.Title
			}
			return fmt.Sprint(titles, " of ", p.Total)
		}
		next := must(page.Next(ctx))(t)
		for want, got := range map[string]*client.Page[Post]{
			"01 of 4": page, "24 of 4": next, "none": must(page.Prev(ctx))(t),
		} {
			if shown(got) != want {
				t.Errorf("got %s, want %s", shown(got), want)
			}
		}
		if got := shown(must(next.Prev(ctx))(t)) + shown(must(next.First(ctx))(t)) + shown(must(page.Last(ctx))(t)); got != "01 of 401 of 424 of 4" {
			t.Errorf("got %s", got)
		}
		if next := must(must(posts.List(ctx, params.Limit(-1)))(t).Next(ctx))(t); next != nil {
			t.Errorf("behind the last page there is %+v", next)
		}
	})
}

func TestSubCollection(t *testing.T) {
	eachStore(t, func(t *testing.T, url string) {
		ctx := context.Background()
		c := connect(t, url)
		ada := must(client.Of[User](c, "users").Create(ctx, User{Name: "Ada", Email: "ada@example.com"}))(t)
		must(client.Of[Post](c, "posts").Create(ctx, Post{Title: "of nobody"}))(t)
		posts := client.Of[Post](c, "posts").Under("users", ada.ID)
		made := must(posts.Create(ctx, Post{Title: "of Ada", UserID: &ada.ID}))(t)
		page := must(posts.List(ctx))(t)
		if want := []Post{{ID: made.ID, Title: "of Ada", UserID: &ada.ID}}; !reflect.DeepEqual(page.Items, want) || page.Total != 1 {
			t.Errorf("got %+v", page)
		}
		if _, err := client.Of[Post](c, "posts").Under("users", noID).List(ctx); !client.IsNotFound(err) {
			t.Errorf("got %v", err)
		}
	})
}

func TestCreateMany(t *testing.T) {
	eachStore(t, func(t *testing.T, url string) {
		ctx := context.Background()
		posts := client.Of[Post](connect(t, url), "posts")
		values := make([]Post, 30)
		for i := range values {
			values[i].Title = fmt.Sprint(i)
		}
		created := must(posts.CreateMany(ctx, values))(t)
		for i, post := range created {
			if post.Title != fmt.Sprint(i) || post.ID == "" {
				t.Fatalf("number %d is %+v", i, post)
			}
		}
		values[25].ID = created[0].ID
		created, err := posts.CreateMany(ctx, values)
		var refused *client.Error
		if len(created) == 0 || len(created) >= 25 || !errors.As(err, &refused) || refused.Code() != problem.CodeIDExists || refused.Errors[0].Source.Pointer != "/25/id" {
			t.Errorf("got %d and %v", len(created), err)
		}
		if total := must(posts.Total(ctx))(t); total != 30+int64(len(created)) {
			t.Errorf("there are %d, of which %d are known", total, 30+len(created))
		}
		if made := must(posts.CreateMany(ctx, nil))(t); len(made) != 0 {
			t.Errorf("got %v", made)
		}
	}, func(c *plural.Config) { c.MaxItems = 7 })
}

func TestOperations(t *testing.T) {
	eachStore(t, func(t *testing.T, url string) {
		ctx := context.Background()
		users := client.Of[User](connect(t, url), "users")
		accepted := must(users.Async().Create(ctx, User{Name: "Ada", Email: "ada@example.com"}))(t)
		ada := must(accepted.Wait(ctx))(t)
		if ada.Value.Name != "Ada" || ada.ID != accepted.ResourceID || ada.ETag == "" {
			t.Errorf("got %+v", ada)
		}
		again := must(users.Operation(ctx, accepted.ID))(t)
		state := must(again.State(ctx))(t)
		if again.ResourceID != ada.ID || state.Status != "succeeded" || state.Method != "POST" || state.Attempts != 1 {
			t.Errorf("got %+v %+v", again, state)
		}
		if _, err := client.Of[Post](connect(t, url), "posts").Operation(ctx, accepted.ID); err == nil {
			t.Error("an operation of users is taken for one of posts")
		}
		must(must(users.Async().Update(ctx, ada.ID, map[string]any{"name": "A"}))(t).Wait(ctx))(t)
		replaced := must(must(users.Async().Replace(ctx, ada.ID, User{Name: "B", Email: "b@example.com"}))(t).Wait(ctx))(t)
		if replaced.Value.Name != "B" {
			t.Errorf("got %+v", replaced)
		}
		if _, err := users.Async().Create(ctx, User{Name: "nobody"}); !client.IsInvalid(err) {
			t.Errorf("got %v", err)
		}
		gone := must(must(users.Async().Delete(ctx, ada.ID))(t).Wait(ctx))(t)
		if gone.ID != ada.ID {
			t.Errorf("got %+v", gone)
		}
	})
}

// TestFailedOperation: one that is refused when it is carried out says why, as a write
// that is done at once would have.
func TestFailedOperation(t *testing.T) {
	refuse := plural.Hook{Collection: "users", On: []plural.Verb{plural.Create}, Timeout: 5 * time.Minute, Before: func(context.Context, *plural.Change) error {
		return plural.Invalid("/name", "Not today.")
	}}
	eachStore(t, func(t *testing.T, url string) {
		ctx := context.Background()
		users := client.Of[User](connect(t, url), "users")
		_, err := must(users.Async().Create(ctx, User{Name: "Ada", Email: "ada@example.com"}))(t).Wait(ctx)
		var refused *client.Error
		if !errors.As(err, &refused) || refused.Status != 422 || refused.Errors[0].Detail != "Not today." || refused.Errors[0].Source.Pointer != "/name" {
			t.Errorf("got %v", err)
		}
	}, func(c *plural.Config) { c.Hooks = []plural.Hook{refuse} })
}

// TestAsynchronousCollection: what the server accepts by itself is waited for, as long as the
// context lasts.
func TestAsynchronousCollection(t *testing.T) {
	file := must(schema.Parse([]byte("collections:\n  jobs:\n    attributes:\n      name: {type: string}\n    async: true\n")))(t)
	eachStore(t, func(t *testing.T, url string) {
		type job struct {
			Name string `json:"name"`
		}
		made := must(client.Of[job](connect(t, url), "jobs").Create(context.Background(), job{"x"}))(t)
		if made.Value.Name != "x" || made.ETag == "" {
			t.Errorf("got %+v", made)
		}
	}, func(c *plural.Config) { c.Schema = file.Schema })
	eachStore(t, func(t *testing.T, url string) {
		ctx, cancel := context.WithCancel(context.Background())
		operation := must(client.Of[User](connect(t, url), "users").Async().Create(ctx, User{Name: "Ada", Email: "ada@example.com"}))(t)
		cancel()
		if _, err := operation.Wait(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}, func(c *plural.Config) { c.Workers = -1 })
}

func TestCollections(t *testing.T) {
	eachStore(t, func(t *testing.T, url string) {
		all := must(connect(t, url).Collections(context.Background()))(t)
		if len(all) != 4 || all[0].Name != "users" || all[3].Name != "changes" || *all[0].Total != 0 || len(all[0].Attributes) != 3 {
			t.Fatalf("got %+v", all)
		}
		user := all[1].Attributes[3]
		if user.Name != "user_id" || user.References != "users" || user.Type != "string" || user.Format != "uuid" || user.Required || !regexp.MustCompile(`"references":"users"`).Match(user.Definition) {
			t.Errorf("got %+v", user)
		}
	})
}
