package postgres

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/plural-go/plural/internal/pgtest"
)

// TestIDsAreParsedOnce: a statement for many ids does not parse them again for each row, also where the table
// is scanned, as one is that the planner takes for empty.
func TestIDsAreParsedOnce(t *testing.T) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	for _, sql := range []string{
		"CREATE TABLE t (id uuid)", "ANALYZE t", "SET plan_cache_mode = force_generic_plan",
		"PREPARE p AS SELECT 1 FROM t WHERE " + dialect{}.InIDs("id", "$1"),
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatal(sql, err)
		}
	}
	rows, err := conn.Query(ctx, "EXPLAIN EXECUTE p('{00000000-0000-7000-8000-000000000001}')", pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	const want = "Filter: (id = ANY ($1))"
	if text := strings.Join(plan, "\n"); !strings.Contains(text, "Seq Scan") || !strings.Contains(text, want) {
		t.Errorf("the plan has no %s:\n%s", want, text)
	}
}
