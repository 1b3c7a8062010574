package store

import (
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/lists"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/internal/query"
)

// TestOffsetIndexEqualsCounting compares the index with a list in memory, while
// resources come and go in any order, alone and together, move between
// parents, and transactions fail.
func TestOffsetIndexEqualsCounting(t *testing.T) {
	size, wide := lists.BlockSize, lists.Fanout
	lists.BlockSize, lists.Fanout = 3, 2 // so that a few resources make a deep tree
	t.Cleanup(func() { lists.BlockSize, lists.Fanout = size, wide })
	s, err := compile.Schema(
		model.Collection{Name: "albums", NoTimestamps: true},
		model.Collection{Name: "tracks", NoTimestamps: true, Parent: &model.Parent{Collection: "albums"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	albums, tracks := s.Collection("albums"), s.Collection("tracks")
	parents := []model.ID{{15: 1}, {15: 2}}
	eachDatabase(t, func(t *testing.T, url string) {
		st := open(t, url, s)
		write(t, st, func(tx *Tx) error {
			for _, parent := range parents {
				record := make(model.Record, len(albums.Columns()))
				record[model.IDColumn] = model.IDValue(parent)
				if _, err := tx.Insert(albums, record); err != nil {
					return err
				}
			}
			return nil
		})
		expected := map[model.ID]*model.ID{} // tracks, with their parents
		rapid.Check(t, func(t *rapid.T) {
			failing := rapid.IntRange(0, 4).Draw(t, "failing") == 0
			changed := map[model.ID]*model.ID{}
			for id, parent := range expected {
				changed[id] = parent
			}
			err := st.Write(context.Background(), func(tx *Tx) error {
				for range rapid.IntRange(1, 12).Draw(t, "changes") {
					if err := changeTrack(t, tx, tracks, parents, changed); err != nil {
						return err
					}
				}
				expectOffsets(t, tx, tracks, parents, changed)
				if failing {
					return errOnPurpose
				}
				return nil
			})
			if failing != errors.Is(err, errOnPurpose) || !failing && err != nil {
				t.Fatal(err)
			}
			if !failing {
				expected = changed
			}
			if rapid.Bool().Draw(t, "merge") {
				if err := st.MergeDeltas(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			tx, err := st.Read(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Close()
			expectOffsets(t, tx, tracks, parents, expected)
			expectPagesAtOnce(t, st, tracks, expected)
		})
	})
}

// expectPagesAtOnce reads pages by one query each, where a database can do that.
func expectPagesAtOnce(t *rapid.T, st *Store, tracks *model.Collection, expected map[model.ID]*model.ID) {
	ids := slices.SortedFunc(maps.Keys(expected), model.ID.Compare)
	for range 4 {
		offset, take := rapid.IntRange(1, len(ids)+2).Draw(t, "offset"), rapid.IntRange(1, 5).Draw(t, "take")
		got, total, found := pageAtOnce(t, st, tracks, int64(offset), int64(take))
		if found != st.db.Traits().RoundTrips {
			t.Fatalf("a page was found: %v", found)
		}
		if !found {
			return
		}
		want := ids[min(offset, len(ids)):min(offset+take, len(ids))]
		if !slices.Equal(got, want) || total != int64(len(ids)) {
			t.Fatalf("%d at %d of %d: got %v of %d, want %v", take, offset, len(ids), got, total, want)
		}
	}
}

func pageAtOnce(t interface{ Fatal(...any) }, st *Store, c *model.Collection, offset, take int64) (ids []model.ID, total int64, found bool) {
	page := newPage(PageQuery{Collection: c, Unfiltered: true, Range: query.Range{Anchor: query.AtOffset, Offset: offset, Limit: take}})
	defer page.Close()
	found, err := page.readInOneQuery(context.Background(), st)
	if err != nil {
		t.Fatal(err)
	}
	if !found {
		return nil, 0, false
	}
	if err := readPage(page, func(row model.Row) { ids = append(ids, row.ID(model.IDColumn)) }); err != nil {
		t.Fatal(err)
	}
	return ids, page.Total, true
}

// TestSearchForAnOffsetIsBounded: how far a query goes for an offset is bounded, and what is further
// away is not taken to be missing.
func TestSearchForAnOffsetIsBounded(t *testing.T) {
	t.Parallel()
	s := withoutIndex(t)
	notes := s.Collection("notes")
	st := open(t, pgtest.URL(t), s)
	const many = maxStep + 50
	write(t, st, func(tx *Tx) error {
		records := make([]model.Record, many)
		for i := range records {
			records[i] = make(model.Record, len(notes.Columns()))
			records[i][model.IDColumn] = model.IDValue(numbered(i))
		}
		_, _, err := tx.InsertAll(notes, records)
		return err
	})
	execute := func(offset, take int64) []model.ID {
		ids, total, found := pageAtOnce(t, st, notes, offset, take)
		if found && total != many {
			t.Errorf("offset %d: the total is %d", offset, total)
		}
		return ids
	}
	if got, want := execute(maxStep, 3), []model.ID{numbered(maxStep), numbered(maxStep + 1), numbered(maxStep + 2)}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, _, found := pageAtOnce(t, st, notes, maxStep+1, 3); found {
		t.Error("what is too far was found, or taken to be missing")
	}
	if _, total, found := pageAtOnce(t, st, notes, many, 3); !found || total != many {
		t.Errorf("nothing is behind the end: got %v of %d", found, total)
	}
}

func withoutIndex(t *testing.T) *model.Schema {
	s, err := compile.Schema(model.Collection{Name: "notes", NoTimestamps: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func numbered(i int) (id model.ID) {
	binary.BigEndian.PutUint32(id[:], uint32(i)+1)
	return id
}

var errOnPurpose = errors.New("on purpose")

// changeTrack creates a track, deletes one, or gives it another parent.
func changeTrack(t *rapid.T, tx *Tx, tracks *model.Collection, parents []model.ID, expected map[model.ID]*model.ID) error {
	var id model.ID
	binary.BigEndian.PutUint16(id[:], rapid.Uint16Range(0, 300).Draw(t, "id"))
	var parent *model.ID
	if i := rapid.IntRange(0, len(parents)).Draw(t, "parent"); i < len(parents) {
		parent = &parents[i]
	}
	before, err := tx.Get(tracks, nil, id)
	if err != nil {
		return err
	}
	after := make(model.Record, len(tracks.Columns()))
	after[model.IDColumn] = model.IDValue(id)
	if parent != nil {
		after[tracks.ParentLink().Column] = model.IDValue(*parent)
	}
	switch {
	case before == nil:
		_, err = tx.Insert(tracks, after)
		expected[id] = parent
	case rapid.IntRange(0, 2).Draw(t, "delete") > 0:
		_, err = tx.Delete(tracks, before)
		delete(expected, id)
	default:
		_, err = tx.Update(tracks, before, after)
		expected[id] = parent
	}
	return err
}

func expectOffsets(t *rapid.T, tx *Tx, tracks *model.Collection, parents []model.ID, expected map[model.ID]*model.ID) {
	all := []*model.ID{nil}
	for i := range parents {
		all = append(all, &parents[i])
	}
	for _, parent := range all {
		var ids []model.ID
		for id, of := range expected {
			if parent == nil || of != nil && *of == *parent {
				ids = append(ids, id)
			}
		}
		slices.SortFunc(ids, model.ID.Compare)
		total, err := tx.Total(tracks, parent)
		if err != nil || total != int64(len(ids)) {
			t.Fatalf("the total of %v is %d, want %d, %v", parent, total, len(ids), err)
		}
		for range min(len(ids), 8) {
			offset := rapid.IntRange(0, len(ids)-1).Draw(t, "offset")
			block, found, err := tx.findBlock(tracks, parent, int64(offset))
			if err != nil {
				t.Fatal(err)
			}
			if !found {
				continue
			}
			before, _ := slices.BinarySearchFunc(ids, block.First, model.ID.Compare)
			end := len(ids)
			if block.End != nil {
				end, _ = slices.BinarySearchFunc(ids, *block.End, model.ID.Compare)
			}
			if int64(before) != block.Before || int64(end-before) != block.Count || offset < before || offset >= end {
				t.Fatalf("offset %d of %d is found in %+v, where %d are before and %d inside", offset, len(ids), block, before, end-before)
			}
		}
	}
}
