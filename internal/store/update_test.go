package store

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
)

// An update sets the columns of indexes only if one of them changes, and stores every value in any case.
func TestUpdateSetsIndexedColumnsOnlyIfTheyChange(t *testing.T) {
	s := parse(t, `
collections:
  shelves:
    attributes:
      name: {type: string}
  books:
    attributes:
      title: {type: string}
      isbn: {type: string, maxLength: 20, unique: true}
      state: {type: string, maxLength: 20, index: true}
      year: {type: integer}
      pages: {type: integer}
      tags: {type: array, items: {type: string, maxLength: 20}, index: true}
      size: {type: object, properties: {width: {type: integer}}}
      shelf_id: {references: shelves}
    index: [[year, state], size.width]
`)
	shelves, books := s.Collection("shelves"), s.Collection("books")
	const unindexed, indexed = "title, pages, created_at, updated_at", "title, isbn, state, year, pages, tags, size, shelf_id, created_at, updated_at"
	for name, database := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) {
			recorded := &recorder{}
			st, err := Open(context.Background(), database(t), s, Trace(recorded.trace))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { closeStore(t, st) })
			shelf := insert(t, st, shelves, `{"name":"A"}`)
			stored := insert(t, st, books, `{"title":"One","isbn":"1","state":"lent","year":1990,"pages":10,"tags":["a"],"size":{"width":1}}`)
			for _, change := range []struct{ body, sets string }{
				{`{"title":"Two"}`, unindexed},
				{`{"title":"Three","pages":11}`, unindexed},
				{`{"isbn":"2"}`, indexed},
				{`{"state":"free","title":"Four"}`, indexed},
				{`{"year":null}`, indexed},
				{`{"year":2000}`, indexed},
				{`{"tags":["a","b"]}`, indexed},
				{`{"size":{"width":2}}`, indexed},
				{`{"shelf_id":"` + shelf.ID(model.IDColumn).String() + `"}`, indexed},
				{`{"shelf_id":null}`, indexed},
				{`{"pages":null}`, unindexed},
			} {
				inputs, _, err := books.Decode([]byte(change.body), model.DecodeOptions{Mode: model.Patch, MaxDepth: 64})
				if err != nil {
					t.Fatal(err)
				}
				after := slices.Clone(stored)
				for column, set := range inputs[0].Set {
					if set {
						after[column] = inputs[0].Values[column]
					}
				}
				recorded.take()
				write(t, st, func(tx *Tx) error { _, err := tx.Update(books, stored, after); return err })
				if sets := setColumns(recorded.take()); sets != change.sets {
					t.Errorf("%s sets %s, want %s", change.body, sets, change.sets)
				}
				read(t, st, func(tx *Tx) {
					found, err := tx.Get(books, nil, after.ID(model.IDColumn))
					if err != nil || !slices.Equal(found, after) {
						t.Errorf("%s: got %v, %v, want %v", change.body, found, err, after)
					}
				})
				stored = after
			}
		})
	}
}

// setColumns lists the columns that the update of books among statements sets, but for the revision.
func setColumns(statements []string) string {
	var names []string
	for _, sql := range statements {
		sets, ok := strings.CutPrefix(sql, `UPDATE "books" SET `)
		if !ok {
			continue
		}
		sets, _, _ = strings.Cut(sets, ` WHERE `)
		for set := range strings.SplitSeq(sets, ", ") {
			if name, _, _ := strings.Cut(set, " = "); name != `"_revision"` {
				names = append(names, strings.Trim(name, `"`))
			}
		}
	}
	return strings.Join(names, ", ")
}
