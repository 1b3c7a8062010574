package include

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

// TestFilterOfIncludeIsComparedOnce: where the planner does not find it out, what the filter of an include compares related
// resources with is found once for all chunks, and not again for each resource. Rows are not compared with each other.
func TestFilterOfIncludeIsComparedOnce(t *testing.T) {
	file, err := schema.Parse([]byte(`
collections:
  tasks:
    timestamps: false
  notes:
    timestamps: false
    attributes:
      text: {type: string}
      task_id: {references: tasks, inverse: notes}
`))
	if err != nil {
		t.Fatal(err)
	}
	s := (*model.Schema)(file.Schema)
	tasks, notes := s.Collection("tasks"), s.Collection("notes")
	var mutex sync.Mutex
	var sent []string
	st, err := store.Open(context.Background(), "sqlite:"+filepath.Join(t.TempDir(), "test.db"), s, store.Trace(func(sql string) {
		mutex.Lock()
		defer mutex.Unlock()
		sent = append(sent, sql)
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var ids []model.ID
	err = st.Write(context.Background(), func(tx *store.Tx) error {
		for range chunkRows + 1 {
			id := tx.NewID()
			ids = append(ids, id)
			task, note := make(model.Record, len(tasks.Columns())), make(model.Record, len(notes.Columns()))
			task[model.IDColumn], note[model.IDColumn] = model.IDValue(id), model.IDValue(tx.NewID())
			note[notes.Field("text").Column], note[notes.Field("task_id").Column] = model.TextValue("a text"), model.IDValue(id)
			for _, row := range []struct {
				c *model.Collection
				r model.Record
			}{{tasks, task}, {notes, note}} {
				if _, err := tx.Insert(row.c, row.r); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	q, err := query.Parse(query.OfList, tasks, "include=notes&include[notes][filter][any][0][task.notes.text][contains]=a+te&include[notes][filter][any][1][task.notes.text][contains]=x&fields[notes]=id", query.Limits{DefaultLimit: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	take := func(what string) (list []string) {
		t.Helper()
		mutex.Lock()
		defer mutex.Unlock()
		for _, sql := range sent {
			if strings.Contains(sql, "LIKE") || strings.Contains(sql, "instr") {
				list = append(list, sql)
			}
			if strings.Contains(sql, "_keys") && strings.Contains(sql, "EXISTS") {
				t.Errorf("%s: each note is compared with others:\n%s", what, sql)
			}
		}
		sent = nil
		return list
	}
	take("before")
	tx, err := st.ReadAtLength(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Close()
	_, found, err := One(tx, tasks, nil, ids[0], q)
	if compared := take("one"); err != nil || !found || len(compared) != 2 {
		t.Errorf("one: %v, %v, %d statements compare texts, not 2: %q", found, err, len(compared), compared)
	}
	page, err := st.Page(context.Background(), store.PageQuery{Collection: tasks, Range: q.Range, Interleaved: true})
	if err != nil {
		t.Fatal(err)
	}
	defer page.Close()
	rows := OfPage(page, tasks, q)
	count := 0
	for {
		_, more, err := rows.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			break
		}
		count++
	}
	if compared := take("page"); count != len(ids) || len(compared) != 2 {
		t.Errorf("a page of %d, of several chunks: %d statements compare texts, not 2: %q", count, len(compared), slices.Compact(compared))
	}
}
