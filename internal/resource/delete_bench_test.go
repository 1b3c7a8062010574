package resource_test

import (
	"context"
	"encoding/binary"
	"net/http"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

// BenchmarkCascade deletes a project with 100,000 issues. It reports the processor time of this process, without that of
// PostgreSQL.
//
//	go test ./internal/resource -run '^$' -bench Cascade -benchtime 1x
func BenchmarkCascade(b *testing.B) {
	const children = 100_000
	file, err := schema.Parse([]byte(`
collections:
  projects:
    attributes:
      name: {type: string}
  issues:
    parent: {collection: projects, on_delete: cascade}
    attributes:
      title: {type: string}
      state: {type: string, maxLength: 20, default: open}
      estimate: {type: integer}
    index: [state]
`))
	if err != nil {
		b.Fatal(err)
	}
	s := (*model.Schema)(file.Schema)
	projects, issues := s.Collection("projects"), s.Collection("issues")
	for name, database := range pgtest.Databases() {
		b.Run(name, func(b *testing.B) {
			st, err := store.Open(context.Background(), database(b), s)
			if err != nil {
				b.Fatal(err)
			}
			defer st.Close()
			spent := time.Duration(0)
			for b.Loop() {
				b.StopTimer()
				project := fillProject(b, st, projects, issues, children)
				runtime.GC()
				before := processorTime(b)
				b.StartTimer()
				step := resource.Step{Method: http.MethodDelete, Path: reads.Path{Collection: projects}, ID: project}
				if err := resource.New(st).Execute(context.Background(), resource.Request{Steps: []resource.Step{step}}).Err; err != nil {
					b.Fatal(err)
				}
				spent += processorTime(b) - before
			}
			b.ReportMetric(spent.Seconds()/float64(b.N), "cpu-s/op")
		})
	}
}

func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func fillProject(b testing.TB, st *store.Store, projects, issues *model.Collection, children int) model.ID {
	project := st.NewID()
	record := func(tx *store.Tx, c *model.Collection, id model.ID) model.Record {
		made := make(model.Record, len(c.Columns()))
		made[model.IDColumn], made[c.CreatedColumn()], made[c.UpdatedColumn()] = model.IDValue(id), tx.Now(), tx.Now()
		return made
	}
	for first := 0; first < children; first += 10_000 {
		err := st.Write(context.Background(), func(tx *store.Tx) error {
			if first == 0 {
				if _, err := tx.Insert(projects, record(tx, projects, project)); err != nil {
					return err
				}
			}
			var all []model.Record
			for i := range 10_000 {
				id := project
				binary.BigEndian.PutUint32(id[12:], uint32(first+i))
				each := record(tx, issues, id)
				each[issues.Field("project_id").Column] = model.IDValue(project)
				each[issues.Field("title").Column], each[issues.Field("state").Column] = model.TextValue("An issue with a title of usual length"), model.TextValue("open")
				each[issues.Field("estimate").Column] = model.IntValue(int64(i % 10))
				all = append(all, each)
			}
			_, _, err := tx.InsertAll(issues, all)
			return err
		})
		if err == nil {
			err = st.MergeDeltas(context.Background())
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	return project
}
