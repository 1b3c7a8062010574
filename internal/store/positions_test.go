package store

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/schema"
)

// TestPositionsEqualCounting holds the directory against a list in memory, while
// resources come and go in any order, alone and together, move between
// parents, and transactions fail.
func TestPositionsEqualCounting(t *testing.T) {
	size, wide := blockSize, fanout
	blockSize, fanout = 3, 2 // so that a few resources make a deep tree
	t.Cleanup(func() { blockSize, fanout = size, wide })
	s, err := schema.New(
		schema.Collection{Name: "albums", NoTimestamps: true},
		schema.Collection{Name: "tracks", NoTimestamps: true, Parent: &schema.Parent{Collection: "albums"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	albums, tracks := s.Collection("albums"), s.Collection("tracks")
	parents := []schema.ID{{15: 1}, {15: 2}}
	eachDatabase(t, func(t *testing.T, url string) {
		st := open(t, url, s)
		write(t, st, func(tx *Tx) error {
			for _, parent := range parents {
				record := make(schema.Record, len(albums.Columns()))
				record[schema.IDColumn] = schema.IDValue(parent)
				if _, err := tx.Insert(albums, record); err != nil {
					return err
				}
			}
			return nil
		})
		model := map[schema.ID]*schema.ID{} // tracks, with their parents
		rapid.Check(t, func(t *rapid.T) {
			failing := rapid.IntRange(0, 4).Draw(t, "failing") == 0
			changed := map[schema.ID]*schema.ID{}
			for id, parent := range model {
				changed[id] = parent
			}
			err := st.Write(context.Background(), func(tx *Tx) error {
				for range rapid.IntRange(1, 12).Draw(t, "changes") {
					if err := changeTrack(t, tx, tracks, parents, changed); err != nil {
						return err
					}
				}
				expectPositions(t, tx, tracks, parents, changed)
				if failing {
					return errOnPurpose
				}
				return nil
			})
			if failing != errors.Is(err, errOnPurpose) || !failing && err != nil {
				t.Fatal(err)
			}
			if !failing {
				model = changed
			}
			if rapid.Bool().Draw(t, "take up") {
				if err := st.TakeUp(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			tx, err := st.Read(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Close()
			expectPositions(t, tx, tracks, parents, model)
		})
	})
}

var errOnPurpose = errors.New("on purpose")

// changeTrack creates a track, deletes one, or gives it another parent.
func changeTrack(t *rapid.T, tx *Tx, tracks *schema.Collection, parents []schema.ID, model map[schema.ID]*schema.ID) error {
	var id schema.ID
	binary.BigEndian.PutUint16(id[:], rapid.Uint16Range(0, 300).Draw(t, "id"))
	var parent *schema.ID
	if i := rapid.IntRange(0, len(parents)).Draw(t, "parent"); i < len(parents) {
		parent = &parents[i]
	}
	before, err := tx.Get(tracks, nil, id)
	if err != nil {
		return err
	}
	after := make(schema.Record, len(tracks.Columns()))
	after[schema.IDColumn] = schema.IDValue(id)
	if parent != nil {
		after[tracks.ParentLink().Column] = schema.IDValue(*parent)
	}
	switch {
	case before == nil:
		_, err = tx.Insert(tracks, after)
		model[id] = parent
	case rapid.IntRange(0, 2).Draw(t, "delete") > 0:
		_, err = tx.Delete(tracks, before)
		delete(model, id)
	default:
		_, err = tx.Update(tracks, before, after)
		model[id] = parent
	}
	return err
}

func expectPositions(t *rapid.T, tx *Tx, tracks *schema.Collection, parents []schema.ID, model map[schema.ID]*schema.ID) {
	lists := []*schema.ID{nil}
	for i := range parents {
		lists = append(lists, &parents[i])
	}
	for _, parent := range lists {
		var ids []schema.ID
		for id, of := range model {
			if parent == nil || of != nil && *of == *parent {
				ids = append(ids, id)
			}
		}
		slices.SortFunc(ids, compareIDs)
		total, err := tx.Total(tracks, parent)
		if err != nil || total != int64(len(ids)) {
			t.Fatalf("the total of %v is %d, want %d, %v", parent, total, len(ids), err)
		}
		for range min(len(ids), 8) {
			position := rapid.IntRange(0, len(ids)-1).Draw(t, "position")
			block, found, err := tx.Near(tracks, parent, int64(position))
			if err != nil {
				t.Fatal(err)
			}
			if !found {
				continue
			}
			before, _ := slices.BinarySearchFunc(ids, block.First, compareIDs)
			end := len(ids)
			if block.End != nil {
				end, _ = slices.BinarySearchFunc(ids, *block.End, compareIDs)
			}
			if int64(before) != block.Before || int64(end-before) != block.Count || position < before || position >= end {
				t.Fatalf("position %d of %d is found in %+v, where %d are before and %d inside", position, len(ids), block, before, end-before)
			}
		}
	}
}
