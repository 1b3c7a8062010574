package interfacetest

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

// TestQueriesThatAreEndedStop: a database that was told to end a query no longer works on it
// when the request is answered, and does not get more connections than the pool has.
func TestQueriesThatAreEndedStop(t *testing.T) {
	made := mustSchema(t, schema.Collection{Name: "texts", Attributes: []schema.Attribute{{Name: "text", Type: schema.String}}})
	database, err := url.Parse(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	watcher, err := pgx.Connect(context.Background(), database.String())
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Close(context.Background())
	pooled := *database
	parameters := pooled.Query()
	parameters.Set("pool_max_conns", "9")
	parameters.Set("application_name", "watched")
	pooled.RawQuery = parameters.Encode()
	filling := start(t, made, database.String(), func(c *plural.Config) { c.MaxBody = 16 << 20 })
	row := `{"text":"` + strings.Repeat("a", 256<<10) + `"}`
	for range 16 {
		filling.createAll("/texts", slices.Repeat([]string{row}, 8)...)
	}
	s := start(t, made, pooled.String(), func(c *plural.Config) { c.QueryTimeout = 50 * time.Millisecond })
	backends, ended := map[int]bool{}, atomic.Int64{}
	for range 8 {
		var answered sync.WaitGroup
		for range 6 {
			answered.Go(func() {
				// A request to cancel that reaches the database before the statement has begun has no effect.
				if got := s.get("/texts?filter[text][contains]=" + strings.Repeat("a", 255) + "b"); got.status != 200 {
					got.expectErrors(t, 503, "too_expensive")
					ended.Add(1)
				}
			})
		}
		answered.Wait()
		rows, err := watcher.Query(context.Background(), "SELECT pid, state <> 'idle' AND query LIKE '%texts%' FROM pg_stat_activity WHERE application_name = 'watched' AND backend_type = 'client backend'")
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var pid int
			var busy *bool // with such a query, and not in the background
			if err := rows.Scan(&pid, &busy); err != nil {
				t.Fatal(err)
			}
			backends[pid] = true
			if busy == nil || *busy {
				t.Errorf("the backend %d is not idle, although its request is answered", pid)
			}
		}
	}
	if ended.Load() == 0 {
		t.Error("no query was ended")
	}
	// Nine, and a few that replaced a lost connection. Without the bound there would be dozens.
	if len(backends) > 9+4 {
		t.Errorf("%d backends have worked for a pool of nine", len(backends))
	}
}
