package store

import (
	"context"
	"slices"
	"testing"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/lists"
	"github.com/plural-go/plural/internal/maintain"
	"github.com/plural-go/plural/internal/model"
)

func TestExamine(t *testing.T) {
	size, wide := lists.BlockSize, lists.Fanout
	lists.BlockSize, lists.Fanout = 3, 2
	t.Cleanup(func() { lists.BlockSize, lists.Fanout = size, wide })
	s, err := compile.Schema(
		model.Collection{Name: "albums", NoTimestamps: true},
		model.Collection{Name: "tracks", NoTimestamps: true, Parent: &model.Parent{Collection: "albums"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	albums, tracks := s.Collection("albums"), s.Collection("tracks")
	eachDatabase(t, func(t *testing.T, url string) {
		st := open(t, url, s)
		album := insert(t, st, albums, `{}`).ID(model.IDColumn)
		add := func() {
			insert(t, st, tracks, `{"album_id":"`+album.String()+`"}`)
		}
		for range 20 {
			add()
		}
		if err := st.MergeDeltas(context.Background()); err != nil {
			t.Fatal(err)
		}
		add() // a pending delta
		expect := func(repair bool, want ...string) {
			t.Helper()
			if got, err := maintain.Examine(context.Background(), url, repair); err != nil || !slices.Equal(got, want) {
				t.Errorf("got %q, %v\nwant %q", got, err, want)
			}
		}
		expect(false)
		expect(true)
		write(t, st, func(tx *Tx) error {
			return db.ExecAll(tx.conn,
				"UPDATE "+db.TotalsTable+" SET total = total + 2 WHERE collection = 'albums'",
				"INSERT INTO "+db.TotalsTable+" (collection, parent, total) VALUES ('tracks', '00000000-0000-0000-0000-000000000009', 4)",
				"UPDATE "+db.OffsetsTable+" SET count = count - 1 WHERE collection = 'tracks' AND parent = '' AND level = 1",
			)
		})
		wrong, err := maintain.Examine(context.Background(), url, false)
		if err != nil || len(wrong) < 3 ||
			wrong[0] != "albums should have the total 1, but has 3" || wrong[len(wrong)-1] != "tracks of 00000000-0000-0000-0000-000000000009 should have the total 0, but has 4" {
			t.Errorf("got %q, %v", wrong, err)
		}
		expect(true, wrong...)
		expect(false)
		add()
		expect(false)
	})
}

// TestExamineItems: the doctor finds an index on the items of an array that is damaged, and repairs it. Only
// SQLite has a table for it.
func TestExamineItems(t *testing.T) {
	s := parse(t, `
collections:
  notes:
    timestamps: false
    attributes:
      tags: {type: array, items: {type: string}, index: true}
      sizes: {type: array, items: {type: number}, index: true}
`)
	notes := s.Collection("notes")
	eachDatabase(t, func(t *testing.T, url string) {
		st := open(t, url, s)
		first := insert(t, st, notes, `{"tags":["a","b","a"],"sizes":[1,2.5]}`).ID(model.IDColumn)
		second := insert(t, st, notes, `{"tags":["b"],"sizes":null}`).ID(model.IDColumn)
		insert(t, st, notes, `{"tags":[],"sizes":[1]}`)
		expect := func(repair bool, want ...string) {
			t.Helper()
			if got, err := maintain.Examine(context.Background(), url, repair); err != nil || !slices.Equal(got, want) {
				t.Errorf("got %q, %v\nwant %q", got, err, want)
			}
		}
		expect(false)
		if st.db.Traits().ManyWriters {
			return
		}
		index := func(column string) string {
			for _, each := range db.Indexes(notes) {
				if each.Columns[0] == column {
					return `"` + each.Name + `"`
				}
			}
			t.Fatal("there is no index on " + column)
			return ""
		}
		write(t, st, func(tx *Tx) error {
			return db.ExecAll(tx.conn, "DELETE FROM "+index("tags")+" WHERE value = 'b'", "INSERT INTO "+index("sizes")+" (value, id) SELECT 9.5, id FROM notes WHERE tags = '[\"b\"]'")
		})
		wrong := []string{
			"notes: the index on the items of tags has other items than 2 resources, for example " + first.String(),
			"notes: the index on the items of sizes has other items than 1 resources, for example " + second.String(),
		}
		expect(false, wrong...)
		expect(true, wrong...)
		expect(false)
		insert(t, st, notes, `{"tags":["c"],"sizes":[3]}`) // the triggers are there again
		expect(false)
	})
}
