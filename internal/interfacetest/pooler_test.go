package interfacetest

import (
	"context"
	"fmt"
	"slices"
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
	person, other := one.create("/people", `{"name":"Ada"}`), one.create("/people", `{"name":"Bob"}`)
	stream := two.stream("/people/" + person)
	stream.expect(`listed {"data":{"id":"`+person+`","type":"people","name":"Ada","slug":null}}`, "synced {}")
	var writers sync.WaitGroup
	for i := range 8 {
		s, ids := []*server{one, two}[i%2], []string{person, other}
		if i/2%2 == 1 { // transactions in opposite orders fail, and run again under advisory locks
			slices.Reverse(ids)
		}
		writers.Go(func() {
			for n := range 5 {
				step := `{"method":"PATCH","path":"/people/%s","body":{"name":"%d %d"}}`
				steps := fmt.Sprintf("["+step+","+step+"]", ids[0], i, n, ids[1], i, n)
				if changed := s.do("POST", "/-/transaction", steps); changed.status != 200 {
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
	c, err := pgx.Connect(t.Context(), direct)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	locks := func(of string) int {
		count := -1
		if err := c.QueryRow(t.Context(), "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"+of).Scan(&count); err != nil {
			t.Fatal(err)
		}
		return count
	}
	// PgBouncer would release them with the sessions.
	eventually(t, "no transaction has left a lock", func() bool { return locks(" AND classid = 758726") == 0 })
	for _, s := range []*server{one, two} {
		stop(t, s.opened, t.Context())
	}
	if left := locks(""); left != 0 {
		t.Errorf("%d locks are left", left)
	}
}
