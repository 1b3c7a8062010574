package store

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/lists"
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
			if got, err := admin.Examine(context.Background(), url, admin.ExamineOptions{Repair: repair}); err != nil || !slices.Equal(got, want) {
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
		wrong, err := admin.Examine(context.Background(), url, admin.ExamineOptions{})
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

// TestExamineManyParents: the number of statements does not depend on the number of parents, also not of parents whose
// totals are wrong.
func TestExamineManyParents(t *testing.T) {
	size := lists.BlockSize
	lists.BlockSize = 10_000 // no offset indexes
	t.Cleanup(func() { lists.BlockSize = size })
	s, err := compile.Schema(
		model.Collection{Name: "albums", NoTimestamps: true},
		model.Collection{Name: "tracks", NoTimestamps: true, Parent: &model.Parent{Collection: "albums"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	albums, tracks := s.Collection("albums"), s.Collection("tracks")
	examine := func(t *testing.T, url string, parents int) (statements int) {
		st := open(t, url, s)
		write(t, st, func(tx *Tx) error {
			for i := range parents {
				album, track := make(model.Record, len(albums.Columns())), make(model.Record, len(tracks.Columns()))
				album[model.IDColumn], track[model.IDColumn] = model.IDValue(idOf(t, i)), model.IDValue(idOf(t, i))
				track[tracks.ParentLink().Column] = album[model.IDColumn]
				if _, err := tx.Insert(albums, album); err != nil {
					return err
				}
				if _, err := tx.Insert(tracks, track); err != nil {
					return err
				}
			}
			return nil
		})
		if err := st.MergeDeltas(context.Background()); err != nil {
			t.Fatal(err)
		}
		write(t, st, func(tx *Tx) error {
			c := &countedStatements{Conn: tx.conn}
			if wrong, err := lists.Check(c, st.db, s); err != nil || len(wrong) > 0 {
				t.Errorf("got %q, %v", wrong, err)
			}
			statements = c.n
			_, err := tx.conn.Exec("UPDATE " + db.TotalsTable + " SET total = 2 WHERE parent <> ''")
			return err
		})
		var want []string
		for i := range parents {
			want = append(want, "tracks of "+id(i)+" should have the total 1, but has 2")
		}
		read(t, st, func(tx *Tx) {
			c := &countedStatements{Conn: tx.conn}
			if wrong, err := lists.Check(c, st.db, s); err != nil || !slices.Equal(wrong, want) || c.n != statements {
				t.Errorf("%d statements, not %d; got %d findings, %v", c.n, statements, len(wrong), err)
			}
		})
		return statements
	}
	few := map[string]int{}
	eachDatabase(t, func(t *testing.T, url string) { few[t.Name()] = examine(t, url, 3) })
	eachDatabase(t, func(t *testing.T, url string) {
		name := strings.TrimSuffix(t.Name(), "#01")
		if many := examine(t, url, 2000); many != few[name] {
			t.Errorf("%d statements for 3 parents, %d for 2,000", few[name], many)
		}
	})
}

// countedStatements counts the queries of a connection.
type countedStatements struct {
	db.Conn
	n int
}

func (c *countedStatements) Query(sql string, args ...model.Value) (db.Rows, error) {
	c.n++
	return c.Conn.Query(sql, args...)
}

// TestExamineNoList: an offset index of something that is no list is found and removed.
func TestExamineNoList(t *testing.T) {
	s, err := compile.Schema(
		model.Collection{Name: "albums", NoTimestamps: true},
		model.Collection{Name: "tracks", NoTimestamps: true, Parent: &model.Parent{Collection: "albums"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	eachDatabase(t, func(t *testing.T, url string) {
		st := open(t, url, s)
		insert(t, st, s.Collection("albums"), `{}`)
		write(t, st, func(tx *Tx) error {
			insert := "INSERT INTO " + db.OffsetsTable + " (collection, parent, level, first, count) VALUES ($1, $2, 0, $3, 1)"
			return db.ExecEach(tx.conn, insert, []model.Record{
				{model.TextValue("albums"), model.TextValue(id(1)), model.IDValue(model.ID{})},
				{model.TextValue("tracks"), model.TextValue(id(2)), model.IDValue(model.ID{})},
				{model.TextValue("tracks"), model.TextValue("x"), model.IDValue(model.ID{})},
			})
		})
		want := []string{
			"there is an offset index of albums of " + id(1) + ", which is no list",
			"the offset index of tracks of " + id(2) + " should count 0 resources from 00000000-0000-0000-0000-000000000000 on, but counts 1",
			"there is an offset index of tracks of x, which is no list",
		}
		for _, repair := range []bool{false, true} {
			if got, err := admin.Examine(context.Background(), url, admin.ExamineOptions{Repair: repair}); err != nil || !slices.Equal(got, want) {
				t.Errorf("got %q, %v\nwant %q", got, err, want)
			}
		}
		if got, err := admin.Examine(context.Background(), url, admin.ExamineOptions{}); err != nil || len(got) > 0 {
			t.Errorf("after the repair: %q, %v", got, err)
		}
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
			if got, err := admin.Examine(context.Background(), url, admin.ExamineOptions{Repair: repair}); err != nil || !slices.Equal(got, want) {
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
