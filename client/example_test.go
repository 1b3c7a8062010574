package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/params"
	"github.com/plural-go/plural/schema"
)

// exampleServer runs a server for an example.
func exampleServer() (url string, stop func()) {
	dir, err := os.MkdirTemp("", "plural-client-example")
	if err != nil {
		log.Fatal(err)
	}
	server, err := plural.Open(context.Background(), plural.Config{
		Schema: schema.Example(), Database: "sqlite:" + filepath.Join(dir, "example.db"), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		log.Fatal(err)
	}
	over := httptest.NewServer(server)
	return over.URL, func() {
		over.Close()
		if err := errors.Join(server.Stop(context.Background()), os.RemoveAll(dir)); err != nil {
			log.Fatal(err)
		}
	}
}

func Example() {
	url, stop := exampleServer()
	defer stop()
	ctx := context.Background()

	c, err := client.New(url, client.Options{Key: os.Getenv("EXAMPLE_KEY")})
	if err != nil {
		log.Fatal(err)
	}
	users := client.Of[User](c, "users")
	ada, err := users.Create(ctx, User{Name: "Ada", Email: "ada@example.com"})
	if err != nil {
		log.Fatal(err)
	}
	// Only if nobody has changed it since.
	ada, err = users.Update(ctx, ada.ID, map[string]any{"name": "Ada Lovelace"}, client.IfMatch(ada.ETag))
	if err != nil {
		log.Fatal(err)
	}
	for user, err := range users.All(ctx, params.Where("active").Is(true), params.Sort("-created_at")) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(user.Name)
	}
	// Output: Ada Lovelace
}

func ExampleError() {
	url, stop := exampleServer()
	defer stop()
	c, err := client.New(url, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.Of[User](c, "users").Create(context.Background(), User{Name: "Ada", Email: "nobody"})
	var refused *client.Error
	if errors.As(err, &refused) {
		for _, each := range refused.Errors {
			fmt.Println(refused.Status, each.Code, each.Source.Pointer, each.Detail)
		}
	}
	// Output: 422 format /email Must be an email address such as ada@example.com.
}

func ExampleCollection_Backward() {
	url, stop := exampleServer()
	defer stop()
	ctx := context.Background()
	c, err := client.New(url, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	posts := client.Of[Post](c, "posts")
	if _, err := posts.CreateMany(ctx, []Post{{Title: "one"}, {Title: "two"}, {Title: "three"}}); err != nil {
		log.Fatal(err)
	}
	for post, err := range posts.Backward(ctx, params.Limit(2)) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(post.Title)
	}
	// Output:
	// three
	// two
}

func ExampleOperation_Wait() {
	url, stop := exampleServer()
	defer stop()
	ctx := context.Background()
	c, err := client.New(url, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	accepted, err := client.Of[User](c, "users").Async().Create(ctx, User{Name: "Ada", Email: "ada@example.com"})
	if err != nil {
		log.Fatal(err)
	}
	ada, err := accepted.Wait(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ada.Value.Name)
	// Output: Ada
}

// A list with what is related to each resource, of which one of several conditions holds.
func ExampleInclude() {
	url, stop := exampleServer()
	defer stop()
	ctx := context.Background()
	c, err := client.New(url, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	ada, err := client.Of[User](c, "users").Create(ctx, User{Name: "Ada", Email: "ada@example.com"})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := client.Of[Post](c, "posts").CreateMany(ctx, []Post{{Title: "Notes", UserID: &ada.ID}, {Title: "Lost"}, {Title: "Other"}}); err != nil {
		log.Fatal(err)
	}
	type withUser struct {
		Title string `json:"title"`
		User  *User  `json:"user"`
	}
	any := params.Any(params.Where("title").Is("Lost"), params.Where("user.name").Is("Ada"))
	for post, err := range client.Of[withUser](c, "posts").All(ctx, any, params.Include("user")) {
		if err != nil {
			log.Fatal(err)
		}
		name := "nobody"
		if post.User != nil {
			name = post.User.Name
		}
		fmt.Println(post.Title, "by", name)
	}
	// Output:
	// Notes by Ada
	// Lost by nobody
}

// Steps of several collections are executed together, or not at all.
func ExampleClient_Transaction() {
	url, stop := exampleServer()
	defer stop()
	ctx := context.Background()
	c, err := client.New(url, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	users, posts := client.Of[User](c, "users"), client.Of[Post](c, "posts")
	id := "01936f2e-7d3c-7a4b-9c5d-0123456789ab"
	results, err := c.Transaction(ctx, []client.Step{
		users.Steps().Create(User{ID: id, Name: "Ada", Email: "ada@example.com"}),
		posts.Steps().Create(Post{Title: "Notes", UserID: &id}),
	})
	if err != nil {
		log.Fatal(err)
	}
	post, err := posts.Decode(results[1])
	if err != nil {
		log.Fatal(err)
	}
	trial, err := users.DryRun().Delete(ctx, id)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(post.Title, trial.Affected)
	// Output: Notes map[posts:1 users:1]
}
