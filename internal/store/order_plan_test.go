package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// TestSortedRangesReadNoMore counts what the statements of a sorted range read: the first piece of it and the rest, in every
// direction, from a value and from null, forwards and backwards. The index must begin where the range does, whatever the
// list has before it.
func TestSortedRangesReadNoMore(t *testing.T) {
	s := parse(t, `
collections:
  things:
    timestamps: false
    attributes:
      n: {type: integer}
      must: {type: integer}
      kind: {type: string, maxLength: 1}
    required: [must]
    index: [n, must, [kind, n], [-kind, n]]
`)
	things := s.Collection("things")
	const (
		total, each = 3000, 30 // resources, and in a range
	)
	rows := make([]model.Record, total)
	for i := range rows {
		n, kind := fmt.Sprint(i*7919%2003), `"`+string(rune('a'+i%5))+`"`
		if i%3 == 0 {
			n = "null"
		}
		if i%6 == 5 {
			kind = "null"
		}
		rows[i] = record(t, things, fmt.Sprintf(`{"id":"00000000-0000-7000-8000-%012d","n":%s,"must":%d,"kind":%s}`, i*31%total, n, i*7919%2003, kind))
	}
	eachDatabase(t, func(t *testing.T, url string) {
		var sent recorder
		st, err := Open(context.Background(), url, s, Trace(sent.trace))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closeStore(t, st) })
		write(t, st, func(tx *Tx) error {
			_, _, err := tx.InsertAll(things, rows)
			return err
		})
		isPostgres := st.db.Traits().RoundTrips
		if isPostgres {
			execute(t, url, "ANALYZE things")
		}
		for _, sort := range []string{"n", "-n", "must", "-must", "kind,n", "-kind,-n", "kind,-n", "-kind,n"} {
			q, err := query.Parse(query.OfList, things, "sort="+sort, query.Limits{DefaultLimit: each})
			if err != nil {
				t.Fatal(err)
			}
			sorted := sortedBy(rows, q.Sort)
			for at := total / 6; at < total; at += total / 3 { // nulls are a third
				for _, r := range []query.Range{
					{Limit: each, Anchor: query.AtCursor, Cursor: sorted[at].ID(0)},
					{Limit: -each, Anchor: query.AtCursor, Cursor: sorted[at].ID(0)},
				} {
					for _, first := range []int{1, each + 1} { // resources of the first piece
						name := fmt.Sprintf("sort=%s, %d from %d, %d in the first piece", sort, r.Limit, at, first)
						sent.take()
						before := 0
						page, err := st.Page(context.Background(), PageQuery{Collection: things, Sort: q.Sort, Range: r, Unfiltered: true, Check: func(tx *Tx) error {
							if !isPostgres {
								return nil
							}
							before = rowsRead(t, tx)
							_, err := tx.conn.Exec("SET LOCAL enable_seqscan = off") // the table is small enough to be read as a whole
							return err
						}})
						if err != nil {
							t.Fatal(err)
						}
						t.Cleanup(page.Close)
						got := idsInPieces(t, page, first)
						from, to := query.Span(int64(at), r.Limit, total)
						if want := idsOfRecords(sorted[from:to]); !slices.Equal(got, want) {
							t.Errorf("%s: got %v, want %v", name, got, want)
						}
						page.endRows()
						if isPostgres {
							// Its planner may prefer the index of ids where few resources have a value.
							const most = 10 * each
							if got := rowsRead(t, page.tx) - before; got > most {
								t.Errorf("%s reads %d resources, want %d at most:\n%s", name, got, most, strings.Join(sent.take(), "\n"))
							}
						} else {
							expectBounds(t, name, page.tx, sent.take())
						}
						page.Close()
					}
				}
			}
		}
	})
}

// sortedBy returns the resources in an order.
func sortedBy(rows []model.Record, keys []query.SortKey) []model.Record {
	return slices.SortedFunc(slices.Values(rows), func(a, b model.Record) int {
		for _, key := range keys {
			if order := model.Compare(a[key.Column], b[key.Column]); order != 0 {
				if key.Descending {
					return -order
				}
				return order
			}
		}
		return a.ID(0).Compare(b.ID(0))
	})
}

func idsOfRecords(rows []model.Record) (ids []string) {
	for _, row := range rows {
		ids = append(ids, row.ID(0).String())
	}
	return ids
}

// idsInPieces reads a page, whose links are needed after the first piece.
func idsInPieces(t *testing.T, page *Page, first int) (ids []string) {
	t.Helper()
	for n := 1; ; n++ {
		row, err := page.Next()
		if err == nil && row != nil {
			ids = append(ids, row.ID(model.IDColumn).String())
		}
		if err == nil && n == first {
			_, _, err = page.Neighbours()
		}
		if err != nil {
			t.Fatal(err)
		}
		if row == nil {
			return ids
		}
	}
}

// rowsRead is how many rows of the table things a transaction of PostgreSQL has read.
func rowsRead(t *testing.T, tx *Tx) (n int) {
	t.Helper()
	_, err := db.One(tx.conn, func(row model.Row) { n = int(row.Int(0)) },
		"SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables WHERE relname = 'things'")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// expectBounds looks at the plans of SQLite: each range of an index has a bound, and only what the rest of an order sorts is
// sorted.
func expectBounds(t *testing.T, name string, tx *Tx, statements []string) {
	t.Helper()
	for _, sql := range statements {
		if !strings.Contains(sql, `FROM "things"`) {
			continue
		}
		plan, err := tx.conn.Explain(sql, 0)
		if err != nil {
			t.Fatal(err)
		}
		byID := strings.Contains(sql, `"id" IN (`) // at most a page of resources is sorted
		for _, line := range plan {
			if strings.HasPrefix(line, "SCAN things") || strings.Contains(line, "MULTI-INDEX") || line == "USE TEMP B-TREE FOR ORDER BY" && !byID {
				t.Errorf("%s:\n%s\n%s", name, sql, strings.Join(plan, "\n"))
				break
			}
		}
	}
}
