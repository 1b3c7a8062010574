package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"zombiezen.com/go/sqlite"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
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
					r[model.IDColumn] = model.IDValue(tx.NewID())
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
			case fault.Is(err, problem.CodeNotUnique):
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
			r[model.IDColumn] = model.IDValue(tx.NewID())
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
		if !fault.Is(err, problem.CodeUnavailable) {
			t.Error("write:", err)
		}
		if _, err = st.Read(context.Background()); !fault.Is(err, problem.CodeUnavailable) {
			t.Error("read:", err)
		}
		closeStore(t, st) // once more does no harm
	})
}

// A disk that has failed is known to whoever asks, and reading goes on.
func TestHealthAfterADiskError(t *testing.T) {
	s := parse(t, uniqueNames)
	st := open(t, "sqlite:"+filepath.Join(t.TempDir(), "test.db"), s)
	insert(t, st, s.Collection("things"), `{"name":"before"}`)
	if err := st.Health(); err != nil {
		t.Error(err)
	}
	err := st.Write(context.Background(), func(*Tx) error { return sqlite.ResultIOErrFsync.ToError() })
	if !fault.Is(err, problem.CodeUnavailable) || !fault.Is(st.Health(), problem.CodeUnavailable) {
		t.Errorf("write: %v, health: %v", err, st.Health())
	}
	read(t, st, func(tx *Tx) { expectTotals(t, tx, s.Collection("things"), 1) })
}

// Other errors pass, and so does writing after them.
func TestOtherErrorsEndOneTransactionOnly(t *testing.T) {
	s := parse(t, uniqueNames)
	st := open(t, "sqlite:"+filepath.Join(t.TempDir(), "test.db"), s)
	for _, code := range []sqlite.ResultCode{sqlite.ResultFull, sqlite.ResultIOErrSHMSize, sqlite.ResultIOErrRead, sqlite.ResultBusy} {
		err := st.Write(context.Background(), func(*Tx) error { return code.ToError() })
		if sqlite.ErrCode(err) != code || st.Health() != nil {
			t.Errorf("%v: got %v, health %v", code, err, st.Health())
		}
		insert(t, st, s.Collection("things"), `{}`)
	}
}

// The log is moved into the database before it becomes long.
func TestLogStaysShort(t *testing.T) {
	s := parse(t, uniqueNames)
	file := filepath.Join(t.TempDir(), "test.db")
	st := open(t, "sqlite:"+file, s)
	for i := range 1500 {
		insert(t, st, s.Collection("things"), fmt.Sprintf(`{"name":"name %d"}`, i))
	}
	const page, one = 4096, 100 // a generous number of pages for one of these writes
	info, err := os.Stat(file + "-wal")
	if err != nil || info.Size() > (1000+one)*(page+24) {
		t.Errorf("the log has %d bytes, %v", info.Size(), err)
	}
}

// A conflict leaves no trace, so that the transaction can go on.
func TestConflictLeavesNoChange(t *testing.T) {
	s := parse(t, uniqueNames)
	things := s.Collection("things")
	eachStore(t, s, func(t *testing.T, st *Store) {
		insert(t, st, things, `{"name":"a"}`)
		write(t, st, func(tx *Tx) error {
			taken := record(t, things, `{"name":"a"}`)
			taken[model.IDColumn] = model.IDValue(tx.NewID())
			if _, err := tx.Insert(things, taken); !fault.Is(err, problem.CodeNotUnique) {
				t.Error(err)
			}
			free := record(t, things, `{"name":"b"}`)
			free[model.IDColumn] = model.IDValue(tx.NewID())
			_, err := tx.Insert(things, free)
			return err
		})
		if got := len(storedChanges(t, st)); got != 2 {
			t.Errorf("%d changes", got)
		}
		read(t, st, func(tx *Tx) { expectTotals(t, tx, things, 2) })
	})
}
