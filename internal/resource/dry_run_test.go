package resource

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

// trial is a person with two cats, which have a toy each, and another person.
type trial struct {
	*testing.T
	resources *Resources
	schema    *model.Schema

	mutex sync.Mutex
	sent  []string // statements
}

func eachTrial(t *testing.T, test func(*trial)) {
	file, err := schema.Parse([]byte("collections:\n  people:\n    attributes: {name: {type: string}}\n" +
		"  cats:\n    parent: people\n    attributes: {person_id: {references: {collection: people, on_delete: cascade}}}\n" +
		"  toys:\n    attributes: {cat_id: {references: {collection: cats, on_delete: set_null}}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for name, url := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) {
			w := &trial{T: t, schema: (*model.Schema)(file.Schema)}
			st, err := store.Open(context.Background(), url(t), w.schema, store.Trace(func(sql string) {
				w.mutex.Lock()
				defer w.mutex.Unlock()
				w.sent = append(w.sent, sql)
			}))
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			w.resources = New(st)
			w.resources.Backlog, w.resources.BodyLimits = 10, BodyLimits{Depth: 9, Items: 9}
			var steps []Step
			for _, each := range []struct {
				collection string
				id         byte
				of         string
			}{{"people", 1, ""}, {"people", 2, ""}, {"cats", 3, w.reference("person_id", 1)}, {"cats", 4, w.reference("person_id", 1)}, {"toys", 5, w.reference("cat_id", 3)}, {"toys", 6, w.reference("cat_id", 4)}} {
				steps = append(steps, w.step(http.MethodPost, each.collection, 0, fmt.Sprintf(`{"id":"%s"%s}`, model.ID{15: each.id}, each.of)))
			}
			if err := w.resources.Execute(context.Background(), Request{Steps: steps, Transaction: true}).Err; err != nil {
				t.Fatal(err)
			}
			test(w)
		})
	}
}

func (w *trial) reference(name string, id byte) string {
	return fmt.Sprintf(`,"%s":"%s"`, name, model.ID{15: id})
}

func (w *trial) step(method, collection string, id byte, body string) Step {
	return Step{Method: method, Path: reads.Path{Collection: w.schema.Collection(collection)}, ID: model.ID{15: id}, Body: []byte(body)}
}

// expect executes a request and compares what it affects, and whether it has executed a deletion.
func (w *trial) expect(request Request, want string, deletes bool) {
	w.Helper()
	w.mutex.Lock()
	w.sent = nil
	w.mutex.Unlock()
	outcome := w.resources.Execute(context.Background(), request)
	got := fmt.Sprintf("%s, deleted %s", outcome.Affected, outcome.Affected.Deletions())
	if outcome.Err != nil {
		got = fmt.Sprintf("%d: %v", outcome.Step, outcome.Err)
	}
	if got != want {
		w.Errorf("\n got %s\nwant %s", got, want)
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	deleted := false
	for _, sql := range w.sent {
		deleted = deleted || strings.Contains(sql, `DELETE FROM "people"`)
	}
	if deleted != deletes {
		w.Errorf("%s: a deletion was executed: %t", want, deleted)
	}
}

// TestDeletionsThatAreUndoneAreNotExecuted: the deletion at the end of a dry run, and the one that is accepted for later, would keep the
// writer of SQLite busy for as long as they take.
func TestDeletionsThatAreUndoneAreNotExecuted(t *testing.T) {
	eachTrial(t, func(w *trial) {
		rename, remove := w.step(http.MethodPatch, "people", 2, `{"name":"B"}`), w.step(http.MethodDelete, "people", 1, "")
		moved := w.step(http.MethodPatch, "cats", 4, `{"person_id":"`+model.ID{15: 2}.String()+`"}`)
		w.expect(Request{Steps: []Step{remove}, DryRun: true}, "people=1, cats=2, toys=2, deleted people=1, cats=2", false)
		w.expect(Request{Steps: []Step{remove}, DryRun: true, Transaction: true}, "people=1, cats=2, toys=2, deleted people=1, cats=2", false)
		w.expect(Request{Steps: []Step{rename, remove}, DryRun: true, Transaction: true}, "people=2, cats=2, toys=2, deleted people=1, cats=2", false)
		w.expect(Request{Steps: []Step{moved, remove}, DryRun: true, Transaction: true}, "people=1, cats=2, toys=1, deleted people=1, cats=1", false)
		w.expect(Request{Steps: []Step{remove}, Later: true}, ", deleted ", false)
		w.expect(Request{Steps: []Step{remove}}, ", deleted ", true)
	})
}

// TestDeletionsThatOtherStepsFollow are executed in a dry run, and bounded.
func TestDeletionsThatOtherStepsFollow(t *testing.T) {
	defer func(most int) { maxTried = most }(maxTried)
	eachTrial(t, func(w *trial) {
		rename, remove := w.step(http.MethodPatch, "people", 2, `{"name":"B"}`), w.step(http.MethodDelete, "people", 1, "")
		request := Request{Steps: []Step{rename, remove, w.step(http.MethodPatch, "toys", 5, `{"cat_id":null}`)}, DryRun: true, Transaction: true}
		maxTried = 5
		w.expect(request, "people=2, cats=2, toys=2, deleted people=1, cats=2", true)
		maxTried = 4
		w.expect(request, "2: too_many_items: This dry run deletes or changes more than 4 resources by deletions that other steps follow. Put the deletion last, or send it in a dry run of its own, which can be of any size.", false)
		request.DryRun = false
		w.expect(request, ", deleted ", true)
	})
}
