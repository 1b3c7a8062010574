package store

import (
	"fmt"
	"sync"
	"testing"

	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/lists"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// TestMergeInASharedTransaction: a merge that shares its transaction with creates counts each of
// them once. It reads the resources where it divides a list, and must not add them again.
func TestMergeInASharedTransaction(t *testing.T) {
	size, fanout := lists.BlockSize, lists.Fanout
	lists.BlockSize, lists.Fanout = 3, 2
	t.Cleanup(func() { lists.BlockSize, lists.Fanout = size, fanout })
	eachDatabase(t, func(t *testing.T, url string) {
		st := open(t, url, (*model.Schema)(schema.Example()))
		users := st.schema.Collection("users")
		for round := range 40 {
			var all sync.WaitGroup
			for i := range 6 {
				all.Go(func() {
					insert(t, st, users, fmt.Sprintf(`{"name":"a","email":"%d.%d@example.com"}`, round, i))
				})
				all.Go(func() {
					if err := st.MergeDeltas(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
		}
		if findings, err := admin.Examine(t.Context(), url, admin.ExamineOptions{}); err != nil || len(findings) > 0 {
			t.Errorf("%v: %q", err, findings)
		}
	})
}
