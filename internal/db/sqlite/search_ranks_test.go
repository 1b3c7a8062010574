package sqlite_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/db/sqlite"
	"github.com/plural-go/plural/internal/model"
)

// withWords runs fn in a transaction with an empty table of words.
func withWords(t *testing.T, fn func(c db.Conn, sql db.SearchSQL)) {
	t.Helper()
	b, err := sqlite.Open(filepath.Join(t.TempDir(), "test.db"), db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sql := sqlite.Dialect.Search("_search.books")
	err = b.Migrate(context.Background(), func(c db.Conn) error {
		if err := db.ExecAll(c, sql.Create...); err != nil {
			return err
		}
		fn(c, sql)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

// expectOrder checks that the index returns the resources in the order of their ids.
func expectOrder(t interface {
	Helper()
	Fatalf(string, ...any)
}, c db.Conn, sql db.SearchSQL, want []model.ID) {
	t.Helper()
	slices.SortFunc(want, func(a, b model.ID) int { return bytes.Compare(a[:], b[:]) })
	var args []model.Value
	arg := func(text string) string {
		args = append(args, model.TextValue(text))
		return fmt.Sprint("$", len(args))
	}
	query := "SELECT _resource FROM " + sqlite.Dialect.SearchJoin("_search.books", "(SELECT 1) AS none", "_resource", db.SearchTerms{{Prefixes: []string{"aword"}}}, arg) + " ORDER BY _match"
	var got []model.ID
	err := db.Each(c, func(row model.Row) {
		got = append(got, row.ID(0))
	}, query, args...)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("the index has %v, %v\nwant %v", got, err, want)
	}
	var disordered int64
	if _, err := db.One(c, func(row model.Row) { disordered = row.Int(0) }, sql.Disordered); err != nil || disordered != 0 {
		t.Fatalf("%d resources are not in order, %v", disordered, err)
	}
}

func putWord(id model.ID) []db.ResourceWords {
	return []db.ResourceWords{{ID: model.IDValue(id), Words: " aword"}}
}

// TestRanksHaveTheOrderOfIDs puts ids of which many have the same first bits, in any order.
func TestRanksHaveTheOrderOfIDs(t *testing.T) {
	withWords(t, func(c db.Conn, sql db.SearchSQL) {
		rapid.Check(t, func(rt *rapid.T) {
			if _, err := c.Exec(`DELETE FROM "_search.books"`); err != nil {
				rt.Fatal(err)
			}
			prefixes := []uint64{0, 1, 2, 1 << 63, 1<<63 + 1, 1<<64 - 2, 1<<64 - 1}
			ids := map[model.ID]bool{}
			for _, draw := range rapid.SliceOfN(rapid.IntRange(0, 1<<20-1), 1, 150).Draw(rt, "ids") {
				var id model.ID
				binary.BigEndian.PutUint64(id[:8], prefixes[draw%len(prefixes)])
				binary.BigEndian.PutUint64(id[8:], uint64(draw))
				if ids[id] {
					continue
				}
				ids[id] = true
				if err := sql.Put(c, putWord(id)); err != nil {
					rt.Fatal(err)
				}
			}
			var want []model.ID
			for id := range ids {
				want = append(want, id)
			}
			expectOrder(rt, c, sql, want)
		})
	})
}

// counted counts the rows that are moved.
type counted struct {
	db.Conn
	moved int
}

func (c *counted) Exec(sql string, args ...model.Value) (int, error) {
	rows, err := c.Conn.Exec(sql, args...)
	if strings.HasPrefix(sql, "UPDATE") {
		c.moved += rows
	}
	return rows, err
}

// TestRanksAreSeldomMoved puts ids with the same first bits always next to the same neighbour, which uses
// up the room as fast as possible.
func TestRanksAreSeldomMoved(t *testing.T) {
	const n = 2000
	for name, id := range map[string]func(i uint64) uint64{
		"before the last one": func(i uint64) uint64 { return 1<<40 - i*uint64(1<<20)*(i%2) + i },
		"in the middle":       func(i uint64) uint64 { return 1<<40 + (i%2*2-1)*(1<<30-i) },
		"ascending":           func(i uint64) uint64 { return i },
		"descending":          func(i uint64) uint64 { return 1<<40 - i },
		"any":                 func(i uint64) uint64 { return i * 0x9e3779b97f4a7c15 },
	} {
		withWords(t, func(c db.Conn, sql db.SearchSQL) {
			conn := &counted{Conn: c}
			var want []model.ID
			for i := range uint64(n) {
				var next model.ID
				next[0] = 1
				binary.BigEndian.PutUint64(next[8:], id(i))
				if err := sql.Put(conn, putWord(next)); err != nil {
					t.Fatal(err)
				}
				want = append(want, next)
			}
			expectOrder(t, c, sql, want)
			if conn.moved > 15*n {
				t.Errorf("%s: %d rows were moved for %d", name, conn.moved, n)
			}
			t.Logf("%s: %d rows were moved for %d", name, conn.moved, n)
		})
	}
}

// TestRanksOfServerIDs puts ids next to those that a server has made in arrays and in imports: few rows are moved at a time.
func TestRanksOfServerIDs(t *testing.T) {
	for name, first := range map[string]func(i uint64) uint64{
		"arrays of 1,000 at a time":  func(i uint64) uint64 { return (0x019200000000+i/1000)<<16 | 7<<12 | i%1000 },
		"40 in each millisecond":     func(i uint64) uint64 { return (0x019200000000+i/40)<<16 | 7<<12 | i%40*100 },
		"all 4,096 of a millisecond": func(i uint64) uint64 { return (0x019200000000+i/4096)<<16 | 7<<12 | i%4096 },
	} {
		withWords(t, func(c db.Conn, sql db.SearchSQL) {
			const n, more = 2048, 200
			make := func(first, last uint64) (id model.ID) {
				binary.BigEndian.PutUint64(id[:8], first)
				binary.BigEndian.PutUint64(id[8:], last)
				return id
			}
			conn := &counted{Conn: c}
			var want []model.ID
			var rows []db.ResourceWords
			for i := range uint64(n) {
				want = append(want, make(first(i), 1<<63|1<<32))
				rows = append(rows, putWord(want[i])...)
			}
			if err := sql.Put(conn, rows); err != nil {
				t.Fatal(err)
			}
			largest, before := 0, conn.moved
			for i := range uint64(more) {
				want = append(want, make(first(n/2), 1<<63|(1<<32-1-i)))
				moved := conn.moved
				if err := sql.Put(conn, putWord(want[n+i])); err != nil {
					t.Fatal(err)
				}
				largest = max(largest, conn.moved-moved)
			}
			expectOrder(t, c, sql, want)
			t.Logf("%s: %d rows were moved for %d, and %d for %d others, at most %d at a time", name, before, n, conn.moved-before, more, largest)
			if before > 0 || conn.moved-before > 50*more || largest > 1024 {
				t.Errorf("%s: too many rows were moved", name)
			}
		})
	}
}
