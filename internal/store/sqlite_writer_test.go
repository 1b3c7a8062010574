package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/schema"
)

const uniqueNames = `
collections:
  things:
    attributes:
      name: {type: string, maxLength: 50, unique: true}
    timestamps: false
`

// Many writers at once, half of which conflict: everyone gets their own answer,
// and what was acknowledged is there.
func TestWritersShareATransactionButNotTheirFailures(t *testing.T) {
	s := parse(t, uniqueNames)
	things := s.Collection("things")
	eachStore(t, s, func(t *testing.T, st *Store) {
		const writers, names = 64, 32
		results := make([]error, writers)
		var wait sync.WaitGroup
		for i := range writers {
			r := record(t, things, fmt.Sprintf(`{"name":"name %d"}`, i%names))
			wait.Go(func() {
				results[i] = st.Write(context.Background(), func(tx *Tx) error {
					r[schema.IDColumn] = schema.IDValue(tx.NewID())
					_, err := tx.Insert(things, r)
					return err
				})
			})
		}
		wait.Wait()
		stored, refused := 0, 0
		for _, err := range results {
			switch {
			case err == nil:
				stored++
			case fault.Is(err, fault.CodeNotUnique):
				refused++
			default:
				t.Error(err)
			}
		}
		if stored != names || refused != writers-names {
			t.Errorf("%d stored and %d refused of %d", stored, refused, writers)
		}
		read(t, st, func(tx *Tx) { expectTotals(t, tx, things, names) })
	})
}

func TestWriteWithAnEndedContextDoesNothing(t *testing.T) {
	s := parse(t, uniqueNames)
	eachStore(t, s, func(t *testing.T, st *Store) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		err := st.Write(ctx, func(*Tx) error {
			t.Error("the write ran")
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// A client that hangs up after its write has begun takes nobody else's along,
// and not its own either.
func TestContextDoesNotEndAWriteThatHasBegun(t *testing.T) {
	s := parse(t, uniqueNames)
	things := s.Collection("things")
	eachStore(t, s, func(t *testing.T, st *Store) {
		ctx, cancel := context.WithCancel(context.Background())
		r := record(t, things, `{"name":"kept"}`)
		// What Write then returns is of no use to anybody; what matters is that
		// the transaction went on to its end.
		_ = st.Write(ctx, func(tx *Tx) error {
			cancel()
			r[schema.IDColumn] = schema.IDValue(tx.NewID())
			_, err := tx.Insert(things, r)
			return err
		})
		read(t, st, func(tx *Tx) { expectTotals(t, tx, things, 1) })
	})
}

func TestClosedStoreRefusesEverything(t *testing.T) {
	s := parse(t, uniqueNames)
	eachDatabase(t, func(t *testing.T, url string) {
		st, err := Open(context.Background(), url, s)
		if err != nil {
			t.Fatal(err)
		}
		closeStore(t, st)
		err = st.Write(context.Background(), func(*Tx) error { return nil })
		if !fault.Is(err, fault.CodeUnavailable) {
			t.Error("write:", err)
		}
		if _, err = st.Read(context.Background()); !fault.Is(err, fault.CodeUnavailable) {
			t.Error("read:", err)
		}
		closeStore(t, st) // once more does no harm
	})
}
