package interfacetest

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// Whoever calls may be gone when the transaction has begun; the hooks that belong
// to it still run to their end.
func TestHooksRunToTheirEndWithoutTheirCaller(t *testing.T) {
	type Note struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	}
	notes, err := schema.Of[Note]()
	if err != nil {
		t.Fatal(err)
	}
	declared, err := schema.New(notes)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	after := 0
	server, err := plural.Open(context.Background(), plural.Config{
		Schema: declared, Database: "sqlite:" + filepath.Join(t.TempDir(), "test.db"), Logger: slog.New(slog.DiscardHandler),
		Hooks: []plural.Hook{{
			Collection: "notes", Timeout: hung,
			Within: func(within context.Context, _ *plural.Tx, change *plural.Change) error {
				cancel()
				if within.Err() != nil {
					t.Error("the hook is cancelled with its caller")
				}
				return change.After.Set("text", "seen")
			},
			After: func(context.Context, *plural.Change) { after++ },
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop(context.Background())
	collection, err := plural.Of[Note](server)
	if err != nil {
		t.Fatal(err)
	}
	created, err := collection.Create(ctx, Note{})
	if err != nil || created.Text != "seen" || after != 1 {
		t.Errorf("got %+v, %v, %d", created, err, after)
	}
}
