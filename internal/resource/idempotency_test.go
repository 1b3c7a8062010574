package resource

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// TestOneOutcomeBecomesFinal: that of whoever was first, the one who could still make
// another of it, or the one who found that this took too long.
func TestOneOutcomeBecomesFinal(t *testing.T) {
	t.Parallel()
	for name, url := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			st, err := store.Open(ctx, url(t), (*model.Schema)(schema.Example()))
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			r := New(st)
			first := Outcome{Operation: model.ID{1}, Applied: "respond-async, wait=9", Results: []reads.Resource{{ID: model.ID{2}, Representation: []byte{}}}}
			second := Outcome{Created: true, Applied: first.Applied, Results: []reads.Resource{{ID: model.ID{2}, ETag: `"1"`, Representation: []byte(`{"name":"Ada"}`)}}}
			record := func(key string, until time.Time) Request {
				once, provisional := &IdempotentRequest{Key: IdempotencyKey{Value: key}, Fingerprint: "x"}, first.record("x")
				provisional.Until = model.FormatTime(until)
				err := st.Write(ctx, func(tx *store.Tx) error {
					return tx.SaveRecord(once.Key, provisional, store.Quota{Most: r.IdempotencyQuota})
				})
				if err != nil {
					t.Fatal(err)
				}
				return Request{Idempotent: once, Steps: []Step{{Refused: errors.New("the request is not executed")}}}
			}
			expect := func(got, want Outcome) {
				t.Helper()
				for i := range got.Results { // no representation is as good as an empty one
					got.Results[i].Representation = append([]byte{}, got.Results[i].Representation...)
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("\n got %+v\nwant %+v", got, want)
				}
			}
			replays := func(request Request, want Outcome) {
				t.Helper()
				want.Replayed = true
				expect(r.Execute(ctx, request), want)
			}
			finalizes := func(request Request, want Outcome) {
				t.Helper()
				expect(r.Finalize(ctx, request, first, second), want)
			}

			inTime := record("in time", time.Now().Add(time.Hour))
			var refused *problem.Error
			if err := r.Execute(ctx, inTime).Err; !errors.As(err, &refused) || refused.Code != problem.CodeKeyInUse {
				t.Errorf("got %v", err)
			}
			finalizes(inTime, second)
			replays(inTime, second)
			finalizes(inTime, second)

			late := record("late", time.Now().Add(-time.Hour))
			replays(late, first)
			finalizes(late, first)
			replays(late, first)

			later := record("later, and found in a transaction", time.Now().Add(-time.Hour))
			x := &execution{Request: &later, resources: r}
			if err := r.inTransaction(ctx, store.WriteOptions{}, x.runOnce); err != nil || x.earlier == nil {
				t.Error(x.earlier, err)
			}
			finalizes(later, first)

			last := record("late, and not repeated", time.Now().Add(-time.Hour))
			finalizes(last, second)
			replays(last, second)

			passing := record("with a failure that may pass", time.Now().Add(time.Hour))
			failed := Outcome{Err: fault.New(problem.CodeUnavailable, "Not now.")}
			told := failed
			told.Applied = first.Applied
			expect(r.Finalize(ctx, passing, first, failed), told)
			replays(passing, first)
		})
	}
}
