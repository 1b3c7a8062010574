package client_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// User and Post are the resources of the example schema.
type User struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Email     string    `json:"email"`
	Active    *bool     `json:"active,omitempty"`
	CreatedAt time.Time `json:"created_at"`
}

type Post struct {
	ID     string  `json:"id"`
	Title  string  `json:"title"`
	Body   *string `json:"body"`
	UserID *string `json:"user_id,omitempty"`
}

// eachStore runs a test against a fresh server on each database. The change is
// applied to its configuration.
func eachStore(t *testing.T, test func(t *testing.T, url string), change ...func(*plural.Config)) {
	t.Helper()
	for name, database := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) { test(t, serve(t, database(t), change...)) })
	}
}

// serve runs a server until the end of the test, and returns its URL.
func serve(t testing.TB, database string, change ...func(*plural.Config)) string {
	t.Helper()
	server := open(t, database, change...)
	over := httptest.NewServer(server)
	t.Cleanup(func() {
		over.Close()
		if err := server.Stop(context.Background()); err != nil {
			t.Error("stopping:", err)
		}
	})
	return over.URL
}

func open(t testing.TB, database string, change ...func(*plural.Config)) *plural.Server {
	t.Helper()
	config := plural.Config{Schema: schema.Example(), Database: database, Logger: slog.New(slog.DiscardHandler)}
	for _, apply := range change {
		apply(&config)
	}
	server, err := plural.Open(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// connect makes a client of a server, which the change may change the options of.
func connect(t testing.TB, url string, change ...func(*client.Options)) *client.Client {
	t.Helper()
	options := client.Options{}
	for _, apply := range change {
		apply(&options)
	}
	c, err := client.New(url, options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// must is a value that is there unless something is broken.
func must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}
