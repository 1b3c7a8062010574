package store

import (
	"context"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

func TestMintedIDsIncreaseWhateverTheClockDoes(t *testing.T) {
	for _, year := range []int{2026, 1960} {
		mintWhateverTheClockDoes(t, time.Date(year, 11, 14, 9, 30, 0, 0, time.UTC))
	}
}

func mintWhateverTheClockDoes(t *testing.T, start time.Time) {
	t.Helper()
	var m minter
	var last model.ID
	for i, step := range []time.Duration{0, 0, time.Millisecond, -time.Hour, 0, time.Hour, 48 * time.Hour, -1000 * time.Hour} {
		start = start.Add(step)
		for range 5000 { // more than one millisecond has room for
			id := m.next(start)
			if id.Compare(last) <= 0 {
				t.Fatalf("step %d: %s after %s", i, id, last)
			}
			if id[6]>>4 != 7 || id[8]>>6 != 2 {
				t.Fatalf("%s is not a UUIDv7", id)
			}
			last = id
		}
	}
}

func TestMintedIDContainsItsTime(t *testing.T) {
	var m minter
	when := time.UnixMilli(0x0192_3456_789a)
	if got := m.next(when).String()[:13]; got != "01923456-789a" {
		t.Errorf("starts with %s", got)
	}
}

// The last id is kept across a restart, also when the clock has gone back since.
func TestMintedIDsIncreaseAcrossARestart(t *testing.T) {
	s := (*model.Schema)(schema.Example())
	users := s.Collection("users")
	eachDatabase(t, func(t *testing.T, url string) {
		st, err := Open(context.Background(), url, s)
		if err != nil {
			t.Fatal(err)
		}
		st.now = func() time.Time { return time.Now().Add(24 * time.Hour) }
		before := insert(t, st, users, `{"name":"Ada","email":"ada@example.com"}`)
		closeStore(t, st)
		after := insert(t, open(t, url, s), users, `{"name":"Bob","email":"bob@example.com"}`)
		if model.Compare(before[model.IDColumn], after[model.IDColumn]) >= 0 {
			t.Errorf("%s after %s", after.ID(model.IDColumn), before.ID(model.IDColumn))
		}
	})
}
