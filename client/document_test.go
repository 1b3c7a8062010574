package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/params"
)

type PostWithUser struct {
	Post
	User *User `json:"user,omitempty"`
}

type Author struct {
	UserID string `json:"user_id"`
	User   *User  `json:"user"`
}

type Latest struct {
	CreatedAt time.Time `json:"created_at"`
}

// document is the code of docs/client.md.
func document(ctx context.Context, url string) error {
	c, err := client.New(url, client.Options{Key: os.Getenv("API_KEY")})
	if err != nil {
		return err
	}

	users := client.Of[User](c, "users")
	ada, err := users.Create(ctx, User{Name: "Ada", Email: "ada@example.com"})
	if err != nil {
		return err
	}
	posts := client.Of[Post](c, "posts").Under("users", ada.ID)
	if _, err := posts.Create(ctx, Post{Title: "Notes"}); err != nil {
		return err
	}

	found, err := posts.List(ctx, params.Where("user.name").Is("Ada"), params.Any(params.Where("title").Is("Notes"), params.And(params.Where("body").Null(), params.Where("published_at").NotNull())))
	if err != nil {
		return err
	}
	fmt.Println(found.Items[0].Title)
	withUser := client.Of[PostWithUser](c, "posts")
	newest, err := withUser.List(ctx, params.Include("user", params.Fields("name")), params.Fields("title"), params.Limit(-1))
	if err != nil {
		return err
	}
	fmt.Println(newest.Items[0].Title, newest.Items[0].User.Name)

	page, err := users.List(ctx, params.Where("active").Is(true), params.Where("name").StartsWith("A"), params.Sort("-created_at"), params.Limit(20))
	if err != nil {
		return err
	}
	for _, user := range page.Items {
		fmt.Println(user.Name)
	}
	page, err = page.Next(ctx)
	if err != nil || page != nil {
		return fmt.Errorf("there is another page %v: %w", page, err)
	}

	authors, err := client.Groups[Author, Latest](ctx, withUser, params.By("user_id"), params.Max("created_at"),
		params.Having(params.Where("count").AtLeast(1)), params.Sort("-max.created_at"), params.Limit(10), params.Include("user", params.Fields("name")))
	if err != nil {
		return err
	}
	for _, group := range authors.Items {
		fmt.Println(group.By.User.Name, group.Count, group.Max.CreatedAt.IsZero())
	}

	for user, err := range users.All(ctx, params.Where("active").Is(true)) {
		if err != nil {
			return err
		}
		fmt.Println(user.Name)
	}
	for post, err := range posts.Backward(ctx, params.Limit(10)) {
		if err != nil {
			return err
		}
		fmt.Println(post.Title)
	}

	for event, err := range users.Watch(ctx, params.Where("active").Is(true)) {
		if err != nil {
			return err
		}
		fmt.Println(event.Kind, event.Resource.Name, event.Position != "")
		if event.Kind == client.EventSynced {
			break
		}
	}

	ada, err = users.Update(ctx, ada.ID, map[string]any{"active": false}, client.IfMatch(ada.ETag))
	if client.IsChanged(err) {
		ada, err = users.Get(ctx, ada.ID) // and decide again
	}
	if err != nil {
		return err
	}

	ada, err = users.Get(ctx, ada.ID)
	if err != nil {
		return err
	}
	ada, err = users.Update(ctx, ada.ID, map[string]any{"name": "Ada Lovelace"})
	if err != nil {
		return err
	}
	ada, err = users.Replace(ctx, ada.ID, User{Name: "Ada", Email: "ada@example.org"})
	if err != nil {
		return err
	}
	for change, err := range c.Changes().All(ctx, params.Where("collection").Is("users"), params.Where("kind").Is("updated")) {
		if err != nil {
			return err
		}
		fmt.Println(change.Kind, change.Resource.ID == ada.ID, len(change.Previous))
	}
	history, err := client.History(users, ada.ID).List(ctx, params.Limit(-5))
	if err != nil {
		return err
	}
	for _, change := range history.Items {
		fmt.Println(change.Kind, change.Data != nil)
	}
	ada, err = users.Delete(ctx, ada.ID)
	if err != nil {
		return err
	}
	fmt.Println(ada.Value.Email)

	created, err := users.CreateMany(ctx, []User{{Name: "Grace", Email: "grace@example.com"}, {Name: "Alan", Email: "alan@example.com"}})
	if err != nil {
		return err
	}
	fmt.Println(created[1].Name)

	posts = client.Of[Post](c, "posts")
	trial, err := users.DryRun().DeleteMany(ctx, params.Where("name").In("Grace", "Alan"))
	if err != nil {
		return err
	}
	fmt.Println(len(trial.Items), trial.Affected["users"])
	updated, err := users.UpdateMany(ctx, map[string]any{"active": false}, params.Where("name").StartsWith("G"))
	if err != nil {
		return err
	}
	grace, isNew, err := users.Upsert(ctx, "id", map[string]any{"id": created[0].ID, "name": "Grace Hopper"})
	if err != nil {
		return err
	}
	fmt.Println(len(updated), isNew)
	results, err := c.Transaction(ctx, []client.Step{
		users.Steps().Update(grace.ID, map[string]any{"active": true}, client.IfMatch(grace.ETag)),
		posts.Steps().Create(Post{Title: "Compilers", UserID: &grace.ID}),
	})
	if err != nil {
		return err
	}
	fmt.Println(len(results))

	accepted, err := users.Async().Create(ctx, User{Name: "Ken", Email: "ken@example.com"})
	if err != nil {
		return err
	}
	ken, err := accepted.Wait(ctx)
	if err != nil {
		return err
	}
	fmt.Println(ken.Value.Name)

	_, err = users.Create(ctx, User{Name: "Ada", Email: "nobody"})
	var refused *client.Error
	if errors.As(err, &refused) {
		for _, each := range refused.Errors {
			fmt.Println(refused.Status, each.Code, each.Source.Pointer, each.Detail)
		}
	}
	return nil
}

// documentAccess is the code of docs/client.md that needs a server with access.
func documentAccess(ctx context.Context, c *client.Client) error {
	me, err := c.Me(ctx)
	if err != nil {
		return err
	}
	fmt.Println(me.Role, me.Keys, me.Collections[0].May["update"] == client.ExtentYes)
	ci, err := c.Keys().Create(ctx, client.NewKey{Name: "ci", Role: "reader"})
	if err != nil {
		return err
	}
	fmt.Println(len(ci.Secret))
	decisions, err := c.Can(ctx, client.Question{Role: ci.Role, Subject: ci.Subject, Collection: "notes", Verb: "update"})
	if err != nil {
		return err
	}
	fmt.Println(decisions[0].Decision, decisions[0].Reasons)
	ci, err = c.Keys().Revoke(ctx, ci.Prefix)
	if err == nil && ci.RevokedAt == nil {
		err = errors.New("the key is not revoked")
	}
	return err
}

func Example_document() {
	url, stop := exampleServer()
	defer stop()
	fmt.Println(document(context.Background(), url))
	// Output:
	// Notes
	// Notes Ada
	// Ada
	// Ada 1 false
	// Ada
	// Notes
	// listed Ada false
	// synced  true
	// updated true 1
	// updated true 1
	// updated true 3
	// created true
	// updated true
	// updated true
	// updated true
	// ada@example.org
	// Alan
	// 2 2
	// 1 false
	// 2
	// Ken
	// 422 format /email Must be an email address such as ada@example.com.
	// <nil>
}

// TestDocument: every line of code that docs/client.md shows is compiled and run here.
func TestDocument(t *testing.T) {
	text := string(must(os.ReadFile("../docs/client.md"))(t))
	known := map[string]bool{}
	for _, name := range []string{"document_test.go", "harness_test.go"} {
		for line := range strings.Lines(string(must(os.ReadFile(name))(t))) {
			known[strings.TrimSpace(line)] = true
		}
	}
	lines := 0
	for _, block := range regexp.MustCompile("(?s)\n```go\n(.*?)```").FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(block[1]) {
			if lines++; !known[strings.TrimSpace(line)] {
				t.Errorf("docs/client.md shows %q, which is not in the tests", strings.TrimSpace(line))
			}
		}
	}
	if lines < 30 {
		t.Errorf("only %d lines of code were found", lines)
	}
}
