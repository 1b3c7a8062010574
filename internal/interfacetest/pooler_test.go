package interfacetest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/plural-go/plural/internal/pgtest"
)

// TestThroughASessionPooler: two servers work, hear of each other's changes, and leave no locks behind.
func TestThroughASessionPooler(t *testing.T) {
	direct, through := pgtest.Pooled(t, "session")
	one := start(t, journalSchema(t), through+"&pool_max_conns=6") // PgBouncer has 20 sessions by default
	two := one.another()
	person := one.create("/people", `{"name":"Ada"}`)
	stream := two.stream("/people/" + person)
	stream.expect(`listed {"data":{"id":"`+person+`","type":"people","name":"Ada","slug":null}}`, "synced {}")
	var writers sync.WaitGroup
	for i := range 8 {
		s := []*server{one, two}[i%2]
		writers.Go(func() {
			for n := range 5 {
				if changed := s.do("PATCH", "/people/"+person, fmt.Sprintf(`{"name":"%d %d"}`, i, n)); changed.status != 200 {
					t.Errorf("got %d %s", changed.status, changed.body)
				}
			}
		})
	}
	writers.Wait()
	for range 40 {
		if next, ok := stream.next(); !ok || next.kind != "updated" {
			t.Fatalf("got %+v", next)
		}
	}
	for _, s := range []*server{one, two} {
		stop(t, s.opened, t.Context())
	}
	c, err := pgx.Connect(t.Context(), direct)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	locks := -1
	if err := c.QueryRow(t.Context(), "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'").Scan(&locks); err != nil || locks != 0 {
		t.Errorf("%d locks are left, %v", locks, err)
	}
}
