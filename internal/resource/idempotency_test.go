package resource

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// TestOneResponseBecomesFinal: that of whoever was first, the one who could still make
// another of it, or the one who found that this took too long.
func TestOneResponseBecomesFinal(t *testing.T) {
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
			first := IdempotencyRecord{Fingerprint: "x", Status: 202, Header: map[string]string{"Location": "/operations/1"}, Body: []byte("accepted")}
			second := IdempotencyRecord{Fingerprint: "x", Status: 201, Header: map[string]string{"Location": "/users/1"}, Body: []byte("created")}
			record := func(key string, until time.Time) IdempotentRequest {
				once, provisional := IdempotentRequest{Key: IdempotencyKey{Value: key}, Fingerprint: "x"}, first
				provisional.Until = model.FormatTime(until)
				_, replayed, err := r.RunRecorded(ctx, once, Sharing{}, func(*Work) error { return nil }, func(error) *IdempotencyRecord { return &provisional })
				if err != nil || replayed {
					t.Fatal(replayed, err)
				}
				return once
			}
			recalls := func(once IdempotentRequest, want IdempotencyRecord) {
				t.Helper()
				got, err := r.FindRecord(ctx, once)
				if err != nil {
					t.Fatal(err)
				}
				got.Until = "" // which says only that it was not final before
				if !reflect.DeepEqual(*got, want) {
					t.Errorf("got %+v, want %+v", *got, want)
				}
			}
			revise := func(once IdempotentRequest, want *IdempotencyRecord) {
				t.Helper()
				answer := second
				if other, err := r.FinalizeRecord(ctx, once, &answer); err != nil || !reflect.DeepEqual(other, want) {
					t.Errorf("got %+v, %v, want %+v", other, err, want)
				}
			}

			inTime := record("in time", time.Now().Add(time.Hour))
			var refused *problem.Error
			if _, err := r.FindRecord(ctx, inTime); !errors.As(err, &refused) || refused.Code != problem.CodeKeyInUse {
				t.Errorf("got %v", err)
			}
			revise(inTime, nil)
			recalls(inTime, second)
			revise(inTime, &second)

			late := record("late", time.Now().Add(-time.Hour))
			recalls(late, first)
			revise(late, &first)
			recalls(late, first)

			later := record("later, and found in a transaction", time.Now().Add(-time.Hour))
			got, replayed, err := r.RunRecorded(ctx, later, Sharing{}, nil, nil)
			if err != nil || !replayed || got.Status != first.Status {
				t.Error(got, replayed, err)
			}
			revise(later, &first)

			last := record("late, and not repeated", time.Now().Add(-time.Hour))
			revise(last, nil)
			recalls(last, second)
		})
	}
}
