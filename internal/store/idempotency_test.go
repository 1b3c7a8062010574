package store

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// TestAnswers: they are kept by caller and key until their time is over.
func TestAnswers(t *testing.T) {
	eachStore(t, (*model.Schema)(schema.Example()), func(t *testing.T, st *Store) {
		clock := clocked(st)
		mine, yours := IdempotencyKey{Value: "a"}, IdempotencyKey{Caller: "you", Value: "a"}
		first := &IdempotencyRecord{Fingerprint: "f", Status: 201, Header: map[string]string{"Etag": `"1.1"`, "Location": "/x"}, Body: []byte(`{"data":"é"}`)}
		second := &IdempotencyRecord{Fingerprint: "g", Status: 404, Header: map[string]string{}, Body: []byte(`{}`)}
		expect := func(key IdempotencyKey, want *IdempotencyRecord) {
			t.Helper()
			read(t, st, func(tx *Tx) {
				if got, err := tx.FindRecord(key); !reflect.DeepEqual(got, want) || err != nil {
					t.Errorf("got %+v, %v\nwant %+v", got, err, want)
				}
			})
		}
		expect(mine, nil)
		write(t, st, func(tx *Tx) error { return tx.SaveRecord(mine, first) })
		expect(mine, first)
		expect(yours, nil)
		*clock = clock.Add(time.Hour)
		write(t, st, func(tx *Tx) error { return tx.SaveRecord(yours, second) })
		revised := &IdempotencyRecord{Fingerprint: "f", Status: 200, Header: map[string]string{"Etag": `"2.1"`}, Body: []byte(`{"data":1}`)}
		write(t, st, func(tx *Tx) error { return tx.SaveRecord(mine, revised) })
		expect(mine, revised)
		expect(yours, second)
		// It is as old as it was at first.
		if err := st.DeleteOldRecords(context.Background(), 30*time.Minute); err != nil {
			t.Fatal(err)
		}
		expect(mine, nil)
		expect(yours, second)
	})
}
