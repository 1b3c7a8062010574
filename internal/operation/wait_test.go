package operation

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

// accepting is a server that accepts operations of users and carries none out.
func accepting(t *testing.T, url string) *dataset {
	t.Helper()
	sch := (*model.Schema)(schema.Example())
	st, err := store.Open(context.Background(), url, sch)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	w := &dataset{t: t, schema: sch, store: st, resources: resource.New(st)}
	w.resources.BodyLimits = resource.BodyLimits{Depth: 64, Items: 1000}
	w.resources.Backlog = 100
	w.Operations = New(Config{Workers: 1, Failed: func(_ store.Job, err error) { t.Error(err) }}, st, w.resources)
	return w
}

// TestWaitForAnotherServer: what it did is answered as it left it, whatever others did
// since.
func TestWaitForAnotherServer(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	w, other := accepting(t, url), accepting(t, url)
	other.run()
	path := reads.Path{Collection: w.users()}
	var all []accepted
	var want [][]reads.Resource
	for _, step := range [][2]string{{"POST", newUser}, {"PATCH", `{"name":"Grace"}`}, {"PATCH", `{"name":"Edsger"}`}} {
		a := w.accept(step[0], step[1])
		if _, ok := w.Wait(context.Background(), a.step, a.Outcome, hung); !ok {
			t.Fatal("the operation is not finished")
		}
		now, err := w.resources.Get(context.Background(), path, user, query.Query{})
		if err != nil {
			t.Fatal(err)
		}
		now.Created = step[0] == "POST"
		all, want = append(all, a), append(want, []reads.Resource{now})
	}
	last := want[2][0]
	last.ETag = "" // it is gone
	all, want = append(all, w.accept("DELETE", "")), append(want, []reads.Resource{last})
	for i, a := range all {
		outcome, ok := w.Wait(context.Background(), a.step, a.Outcome, hung)
		if !ok || outcome.Err != nil || !reflect.DeepEqual(outcome.Results, want[i]) {
			t.Errorf("operation %d: %t, %v\n got %+v\nwant %+v", i, ok, outcome.Err, outcome.Results, want[i])
		}
	}
}

// TestWaitForADatabaseThatIsAway ends when it was to end.
func TestWaitForADatabaseThatIsAway(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	w := accepting(t, url)
	accepted := w.accept("POST", newUser)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), "BEGIN; LOCK TABLE operations"); err != nil {
		t.Fatal(err)
	}
	// Without an end of its own it would wait for the lock, which is held until the end of the test.
	if _, ok := w.Wait(context.Background(), accepted.step, accepted.Outcome, 200*time.Millisecond); ok {
		t.Error("it is finished, and nobody has worked on it")
	}
}
