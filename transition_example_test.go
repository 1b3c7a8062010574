package plural_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// A hook that reacts to a transition of a lifecycle.
func ExampleChange_Transition() {
	declared, err := schema.New(schema.Collection{Name: "orders", Attributes: []schema.Attribute{{
		Name: "state", Type: schema.String, Enum: []any{"draft", "sent", "paid"}, Default: "draft",
		Transitions: map[string][]string{"draft": {"sent"}, "sent": {"paid"}},
	}}})
	must(err)
	report := plural.Hook{Collection: "orders", After: func(_ context.Context, change *plural.Change) {
		if from, to, ok := change.Transition("state"); ok {
			fmt.Printf("from %q to %q\n", from, to)
		}
	}}
	dir, err := os.MkdirTemp("", "plural")
	must(err)
	server, err := plural.Open(context.Background(), plural.Config{
		Schema: declared, Database: "sqlite:" + filepath.Join(dir, "orders.db"), Logger: slog.New(slog.DiscardHandler), Hooks: []plural.Hook{report},
	})
	must(err)
	defer func() {
		must(server.Stop(context.Background()))
		must(os.RemoveAll(dir))
	}()

	must(server.Transaction(context.Background(), func(_ context.Context, tx *plural.Tx) error {
		order, err := tx.Create("orders", map[string]any{})
		must(err)
		_, err = tx.Update("orders", order.ID(), map[string]any{"state": "sent"})
		must(err)
		_, err = tx.Update("orders", order.ID(), map[string]any{"state": "draft"})
		fmt.Println(err)
		return nil
	}))
	// Output:
	// transition at /state: The state cannot change from sent to draft. It can change to paid.
	// from "" to "draft"
	// from "draft" to "sent"
}
