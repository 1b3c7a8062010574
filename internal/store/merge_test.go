package store

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/db"
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

// TestMergeOfAnotherSchema: a server that cannot read the tables any more leaves the deltas to those that can.
func TestMergeOfAnotherSchema(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		old := open(t, url, parse(t, shopsBefore))
		if err := insertPair(old); err != nil {
			t.Fatal(err)
		}
		after := parse(t, strings.Replace(shopsBefore, "code: {type: string}", "zip: {type: string, renamed_from: code}", 1))
		if _, err := admin.Migrate(t.Context(), url, (*schema.Schema)(after), admin.MigrateOptions{}); err != nil {
			t.Fatal(err)
		}
		current := open(t, url, after)
		if err := insertPair(current); err != nil {
			t.Fatal(err)
		}
		pending := func() (n int64) {
			c, release, err := current.db.Read(t.Context(), db.ShortRead)
			if err != nil {
				t.Fatal(err)
			}
			defer release()
			if n, err = db.Int(c, "SELECT count(*) FROM "+db.DeltasTable); err != nil {
				t.Fatal(err)
			}
			return n
		}
		before := pending()
		if err := old.MergeDeltas(t.Context()); err != nil || pending() != before || before == 0 {
			t.Errorf("the old server: %v, %d deltas became %d", err, before, pending())
		}
		if err := current.MergeDeltas(t.Context()); err != nil || pending() != 0 {
			t.Errorf("the new server: %v, %d deltas are left", err, pending())
		}
	})
}
