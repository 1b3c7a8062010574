package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/schema"
)

// BenchmarkSearch reads pages of searches, and of an indexed filter to compare with.
// It has 100,000 resources, or as many as PLURAL_BENCH_ROWS says. PLURAL_BENCH_DATABASE is sqlite or postgres; both
// if it is empty.
//
//	PLURAL_BENCH_ROWS=1000000 go test ./internal/store -run '^$' -bench Search
func BenchmarkSearch(b *testing.B) {
	rows, err := strconv.Atoi(os.Getenv("PLURAL_BENCH_ROWS"))
	if err != nil {
		rows = 100_000
	}
	file, err := schema.Parse([]byte(`
collections:
  books:
    timestamps: false
    attributes:
      title: {type: string}
      year: {type: integer, index: true}
    search: [title]
`))
	if err != nil {
		b.Fatal(err)
	}
	s := (*model.Schema)(file.Schema)
	books := s.Collection("books")
	for name, database := range map[string]func(testing.TB) string{
		"sqlite":   func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "test.db") },
		"postgres": pgtest.URL,
	} {
		if only := os.Getenv("PLURAL_BENCH_DATABASE"); only != "" && only != name {
			continue
		}
		st, err := Open(context.Background(), database(b), s)
		if err != nil {
			b.Fatal(err)
		}
		fillBooks(b, st, books, rows)
		for _, each := range []struct{ name, query string }{
			{"filter", "filter[year]=7"},
			{"matches=5", "search=rare17 alph"},
			{"matches=50", "search=rare17 eve"},
			{fmt.Sprint("matches=", rows/610), "search=gam alpha"},
			{fmt.Sprint("matches=", rows/70), "search=bet alpha"},
			{fmt.Sprint("matches=", rows/10), "search=every alph"},
			{"rare=1777", "search=rare1777 alph"},
			{"cut", "search=word123 gamma"},
			{"late", "search=rare3"},
			{"offset300", "search=gam alpha&offset=300"},
			{"last", "search=bet alpha&limit=-30"},
			{"filtered", "search=every alph&filter[year]=10"},
			{"sorted", "search=every alph&sort=-year"},
			{"sorted-few", "search=gam alpha&sort=-year"},
		} {
			q, err := query.Parse(query.OfList, books, each.query, query.Limits{DefaultLimit: 30})
			if err != nil {
				b.Fatal(err)
			}
			b.Run(name+"/"+each.name, func(b *testing.B) {
				fastest := time.Hour // varies less than the mean on a busy machine
				for b.Loop() {
					started := time.Now()
					page, err := st.Page(context.Background(), PageQuery{Collection: books, Filter: q.Filter, Sort: q.Sort, Range: q.Range})
					for more := true; err == nil && more; {
						var row model.Row
						row, err = page.Next()
						more = row != nil
					}
					if err != nil {
						b.Fatal(err)
					}
					page.Close()
					fastest = min(fastest, time.Since(started))
				}
				b.ReportMetric(float64(fastest.Microseconds()), "fastest-µs")
			})
		}
		if err := st.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func fillBooks(b *testing.B, st *Store, books *model.Collection, rows int) {
	b.Helper()
	for n := 0; n < rows; {
		err := st.Write(context.Background(), func(tx *Tx) error {
			var all []model.Record
			for range min(5000, rows-n) {
				title := fmt.Sprintf("every rare%d word%d", n/50, n%997)
				for _, each := range []struct {
					of   int
					word string
				}{{10, "alpha"}, {7, "beta"}, {61, "gamma"}} {
					if n%each.of == 0 {
						title += " " + each.word
					}
				}
				record := make(model.Record, len(books.Columns()))
				record[model.IDColumn], record[books.Field("title").Column], record[books.Field("year").Column] = model.IDValue(tx.NewID()), model.TextValue(title), model.IntValue(int64(n%1000))
				all = append(all, record)
				n++
			}
			_, _, err := tx.InsertAll(books, all)
			return err
		})
		if err == nil {
			err = st.MergeDeltas(context.Background())
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
