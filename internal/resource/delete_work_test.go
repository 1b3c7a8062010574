package resource_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/resource"
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

// TestCascadesAreLogged: the log has the same entries in the same order, whether the children are found by a list of ids
// or by their link. The highest id is first.
func TestCascadesAreLogged(t *testing.T) {
	defer func(size, least int) { store.SetSize, *resource.MinByLink = size, least }(store.SetSize, *resource.MinByLink)
	store.SetSize = 4
	file, err := schema.Parse([]byte(`
collections:
  projects:
    attributes:
      name: {type: string}
  issues:
    parent: {collection: projects, on_delete: cascade}
    attributes:
      title: {type: string}
      due: {type: string, format: date-time}
      day: {type: string, format: date}
      estimate: {type: number}
      done: {type: boolean}
`))
	if err != nil {
		t.Fatal(err)
	}
	s := (*model.Schema)(file.Schema)
	projects, issues := s.Collection("projects"), s.Collection("issues")
	// id is the same in each project, but for the number of the project in it.
	id := func(project, kind, n byte) model.ID { return model.ID{kind, 6: 0x70, 8: 0x80, 14: n, 15: project} }
	for name, database := range map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "test.db") },
		"postgres": func(t *testing.T) string { return pgtest.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			var byLink atomic.Bool
			st, err := store.Open(ctx, database(t), s, store.Trace(func(sql string) {
				if strings.HasPrefix(sql, `DELETE FROM "issues"`) && strings.Contains(sql, `"id" >= $2`) {
					byLink.Store(true)
				}
			}))
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			err = st.Write(ctx, func(tx *store.Tx) error {
				for project := range byte(2) {
					record := make(model.Record, len(projects.Columns()))
					record[model.IDColumn], record[projects.CreatedColumn()], record[projects.UpdatedColumn()] = model.IDValue(id(project, 0, 0)), tx.Now(), tx.Now()
					if _, err := tx.Insert(projects, record); err != nil {
						return err
					}
				}
				for n := range byte(20) { // the ids of both projects alternate
					record := make(model.Record, len(issues.Columns()))
					record[model.IDColumn], record[issues.CreatedColumn()], record[issues.UpdatedColumn()] = model.IDValue(id(n%2, 1, n/2)), tx.Now(), tx.Now()
					record[issues.Field("project_id").Column] = model.IDValue(id(n%2, 0, 0))
					if n >= 2 {
						record[issues.Field("title").Column] = model.TextValue("say \"" + strings.Repeat("é", int(n/2)) + "\"\n\\")
						record[issues.Field("due").Column] = model.TimeValue([]string{"0000-03-01T00:00:00.000Z", "2026-01-02T03:04:05.060Z", "9999-12-31T23:59:59.999Z"}[n/2%3])
						record[issues.Field("day").Column] = model.TextValue("2026-02-28")
						record[issues.Field("estimate").Column] = model.FloatValue(0.1 * float64(n/2))
						record[issues.Field("done").Column] = model.BoolValue(n/2%2 == 0)
					}
					if _, err := tx.Insert(issues, record); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			var logs [2][]string
			for project, least := range []int{500, 1} {
				*resource.MinByLink = least
				byLink.Store(false)
				before, err := st.AssignNumbers(ctx)
				if err != nil {
					t.Fatal(err)
				}
				step := resource.Step{Method: http.MethodDelete, Path: reads.Path{Collection: projects}, ID: id(byte(project), 0, 0)}
				if err := resource.New(st).Execute(ctx, resource.Request{Steps: []resource.Step{step}}).Err; err != nil {
					t.Fatal(err)
				}
				if byLink.Load() != (least == 1) {
					t.Errorf("the set of project %d was deleted by its link: %v", project, byLink.Load())
				}
				if _, err := st.AssignNumbers(ctx); err != nil {
					t.Fatal(err)
				}
				tx, err := st.Read(ctx)
				if err != nil {
					t.Fatal(err)
				}
				entries, _, _, err := tx.Log(changelog.Query{After: before, Most: 100})
				tx.Close()
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range entries {
					state := slices.Clone(e.Before)
					for i, value := range state { // as project 0 has them
						if e.Collection == issues && (i == model.IDColumn || i == issues.Field("project_id").Column) || e.Collection == projects && i == model.IDColumn {
							of := value.ID()
							of[15] = 0
							state[i] = model.IDValue(of)
						}
					}
					state[e.Collection.RevisionColumn()] = model.Null
					logs[project] = append(logs[project], fmt.Sprint(e.Kind, " ", e.Collection.Name, " ", string(e.Collection.Represent(state))))
				}
			}
			if !slices.Equal(logs[0], logs[1]) {
				t.Errorf("by ids:\n%s\nby the link:\n%s", strings.Join(logs[0], "\n"), strings.Join(logs[1], "\n"))
			}
			if len(logs[1]) != 11 {
				t.Fatalf("the log has %d entries", len(logs[1]))
			}
			for n, entry := range logs[1][:10] {
				if want := "deleted issues {\"id\":\"" + id(0, 1, byte(9-n)).String(); !strings.HasPrefix(entry, want) {
					t.Errorf("entry %d is %s, and should begin with %s", n, entry, want)
				}
			}
			if want := "deleted projects"; !strings.HasPrefix(logs[1][10], want) {
				t.Errorf("the last entry is %s, and should begin with %s", logs[1][10], want)
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
	step := resource.Step{Method: http.MethodDelete, Path: reads.Path{Collection: projects}, ID: id(0, 0)}
	if err := resource.New(st).Execute(ctx, resource.Request{Steps: []resource.Step{step}}).Err; err != nil {
		t.Fatal(err)
	}
	sent = statements.Load()
	runtime.ReadMemStats(&after)
	return sent, int64(after.TotalAlloc - before.TotalAlloc)
}
