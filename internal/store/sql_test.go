package store

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Each query of the golden file stands above the SQL that it becomes on either
// database.
func TestQueriesBecomeSQL(t *testing.T) {
	const file = "testdata/select.golden"
	golden, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	things := parse(t, everyKind).Collection("things")
	var got strings.Builder
	for line := range strings.Lines(string(golden)) {
		if strings.HasPrefix(line, "#") {
			got.WriteString(line)
		}
		if raw, ok := strings.CutPrefix(line, "?"); ok {
			got.WriteString(line)
			got.WriteString("  sqlite:   " + selectSQL(t, &sqliteBackend{}, things, strings.TrimSpace(raw)) + "\n")
			got.WriteString("  postgres: " + selectSQL(t, &postgresBackend{}, things, strings.TrimSpace(raw)) + "\n")
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if got.String() != string(golden) {
		t.Errorf("got\n%s\nwant\n%s", &got, golden)
	}
}

// selectSQL is the SQL of a query's page. A cursor stands at a resource that has
// no values but an integer and its timestamps.
func selectSQL(t *testing.T, b backend, c *model.Collection, raw string) string {
	t.Helper()
	q, err := query.Parse(c, raw, query.Limits{DefaultLimit: 100})
	if err != nil {
		t.Fatalf("?%s: %v", raw, err)
	}
	tx := &Tx{store: &Store{backend: b, tables: map[*model.Collection]*table{c: newTable(b, c)}}}
	selection := Selection{Filter: q.Filter, Order: NewOrder(q.Sort), Skip: q.Range.Offset, Take: q.Range.Size()}
	if q.Range.Anchor == query.AtCursor {
		cursor := make(model.Record, len(c.Columns()))
		cursor[model.IDColumn] = model.IDValue(q.Range.Cursor)
		cursor[c.Field("integer").Column] = model.IntValue(7)
		cursor[c.CreatedColumn()] = model.TimeValue("2026-01-01T00:00:00.000Z")
		cursor[c.UpdatedColumn()] = model.TimeValue("2026-01-02T00:00:00.000Z")
		place := selection.Order.PlaceOf(c, cursor)
		if q.Range.Limit < 0 {
			selection.Until = place
		} else {
			selection.From = place
		}
	}
	return tx.selectStatement(c, "*", selection).String()
}

func TestSuccessorOfAPrefix(t *testing.T) {
	for _, c := range []struct {
		prefix, want string
		ok           bool
	}{
		{"", "", false},
		{"a", "b", true},
		{"az", "a{", true},
		{"a\uD7FF", "a\uE000", true},
		{"a\U0010FFFF", "b", true},
		{"\U0010FFFF\U0010FFFF", "", false},
	} {
		if got, ok := successor(c.prefix); got != c.want || ok != c.ok {
			t.Errorf("%q: got %q, %v", c.prefix, got, ok)
		}
	}
}
