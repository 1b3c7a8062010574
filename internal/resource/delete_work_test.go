package resource

import (
	"context"
	"encoding/binary"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

const deletedFile = `
collections:
  projects:
    attributes:
      name: {type: string}
  issues:
    parent: {collection: projects, on_delete: cascade}
    attributes:
      title: {type: string}
  comments:
    parent: {collection: issues, on_delete: cascade}
    attributes:
      text: {type: string}
      about_id: {references: {collection: issues, on_delete: restrict}}
  marks:
    attributes:
      issue_id: {references: {collection: issues, on_delete: set_null}}
`

// TestDeletionsAreSets: a deletion has as many statements for thousands of resources as for a few, also
// where each of them is referred to with restrict by another that is deleted with it. It keeps ids in
// memory, and no rows.
func TestDeletionsAreSets(t *testing.T) {
	const few, many, title = 20, 2000, 2000
	file, err := schema.Parse([]byte(deletedFile))
	if err != nil {
		t.Fatal(err)
	}
	s := (*model.Schema)(file.Schema)
	for name, database := range map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "test.db") },
		"postgres": func(t *testing.T) string { return pgtest.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			var statements atomic.Int64
			st, err := store.Open(context.Background(), database(t), s, store.Trace(func(sql string) {
				// Not the blocks of the offset indexes, nor checkpoints, which follow a response.
				if !strings.Contains(sql, "_plural_positions") && !strings.HasPrefix(sql, "PRAGMA") {
					statements.Add(1)
				}
			}))
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			// The table of statements, and what else is made once, are there after the first deletion.
			measureDeletion(t, st, s, 1, few, title, &statements)
			ofFew, _ := measureDeletion(t, st, s, 2, few, title, &statements)
			ofMany, bytes := measureDeletion(t, st, s, 3, many, title, &statements)
			if ofMany != ofFew {
				t.Errorf("%d statements for %d issues, and %d for %d", ofFew, few, ofMany, many)
			}
			if each := bytes / (3 * many); each >= title {
				t.Errorf("%d bytes for each resource, whose title alone has %d", each, title)
			}
		})
	}
}

// measureDeletion deletes a project with issues, of which each has a comment and a mark. It returns the number of
// statements, and how many bytes were allocated.
func measureDeletion(t *testing.T, st *store.Store, s *model.Schema, project byte, issues, title int, statements *atomic.Int64) (sent, bytes int64) {
	t.Helper()
	ctx := context.Background()
	projects := s.Collection("projects")
	id := func(kind byte, n int) model.ID {
		made := model.ID{project, kind}
		binary.BigEndian.PutUint32(made[12:], uint32(n))
		return made
	}
	make := func(tx *store.Tx, collection string, id model.ID, values map[string]model.Value) model.Record {
		c := s.Collection(collection)
		record := make(model.Record, len(c.Columns()))
		record[model.IDColumn], record[c.CreatedColumn()], record[c.UpdatedColumn()] = model.IDValue(id), tx.Now(), tx.Now()
		for name, value := range values {
			record[c.Field(name).Column] = value
		}
		return record
	}
	err := st.Write(ctx, func(tx *store.Tx) error {
		var all [3][]model.Record
		for i := range issues {
			issue := model.IDValue(id(1, i))
			long := model.TextValue(strings.Repeat("x", title))
			all[0] = append(all[0], make(tx, "issues", id(1, i), map[string]model.Value{"project_id": model.IDValue(id(0, 0)), "title": long}))
			all[1] = append(all[1], make(tx, "comments", id(2, i), map[string]model.Value{"issue_id": issue, "about_id": issue, "text": long}))
			all[2] = append(all[2], make(tx, "marks", id(3, i), map[string]model.Value{"issue_id": issue}))
		}
		if _, err := tx.Insert(projects, make(tx, "projects", id(0, 0), nil)); err != nil {
			return err
		}
		for i, name := range []string{"issues", "comments", "marks"} {
			if _, _, err := tx.InsertAll(s.Collection(name), all[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = st.MergeDeltas(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	statements.Store(0)
	if _, err := New(st).Do(ctx, Write{Verb: Delete, Path: Path{Collection: projects}, ID: id(0, 0)}); err != nil {
		t.Fatal(err)
	}
	sent = statements.Load()
	runtime.ReadMemStats(&after)
	return sent, int64(after.TotalAlloc - before.TotalAlloc)
}
