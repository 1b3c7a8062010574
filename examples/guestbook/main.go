// Command guestbook is a whole server in one binary: the schema file is embedded,
// and two rules that no schema can say are hooks.
//
//	go run ./examples/guestbook
//	curl localhost:8080/guests -H 'Content-Type: application/json' -d '{"name":"Ada"}'
package main

import (
	"context"
	_ "embed"
	"errors"
	"log"
	"os"
	"os/signal"
	"strings"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

//go:embed plural.yaml
var schemaFile []byte

const mostEntries = 3 // of one guest

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	server, err := open(ctx, "sqlite:guestbook.db")
	if err != nil {
		return err
	}
	addr, err := server.Start("127.0.0.1:8080")
	if err == nil {
		log.Printf("serving http://%s/", addr)
		select {
		case <-ctx.Done():
		case err = <-server.Failed():
		}
	}
	return errors.Join(err, server.Stop(context.Background()))
}

func open(ctx context.Context, database string) (*plural.Server, error) {
	file, err := schema.Parse(schemaFile)
	if err != nil {
		return nil, err
	}
	return plural.Open(ctx, plural.Config{
		Schema: file.Schema, Database: database,
		Hooks: []plural.Hook{
			{Collection: "entries", On: []plural.Verb{plural.Create, plural.Update}, Before: withoutLinks},
			{Collection: "entries", On: []plural.Verb{plural.Create, plural.Delete}, Within: countEntries},
		},
	})
}

// withoutLinks needs only the request, so it runs before the transaction.
func withoutLinks(_ context.Context, change *plural.Change) error {
	if text, ok := change.After.Get("text").(string); ok && strings.Contains(text, "://") {
		return plural.Invalid("/text", "Links are not welcome here.")
	}
	return nil
}

// countEntries keeps the number of entries with their guest. Two requests at the
// same time must not both take the last place, so it runs inside the transaction.
func countEntries(_ context.Context, tx *plural.Tx, change *plural.Change) error {
	entry, difference := change.After, int64(1)
	if change.Verb == plural.Delete {
		entry, difference = change.Before, -1
	}
	id, ok := entry.Get("guest_id").(string)
	if !ok {
		return plural.Invalid("/guest_id", "Say who writes.")
	}
	guest, err := tx.Get("guests", id)
	if err != nil {
		return err
	}
	count := guest.Get("entries").(int64) + difference
	if count > mostEntries {
		return plural.Conflict("", "%s has written %d times, which is enough.", guest.Get("name"), mostEntries)
	}
	_, err = tx.Update("guests", id, map[string]any{"entries": count})
	return err
}
