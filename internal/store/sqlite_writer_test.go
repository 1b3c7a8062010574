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
	"github.com/plural-go/plural/internal/query"
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

// writerByHand is another writer of the database, which does nothing by itself.
func writerByHand(t *testing.T, st *Store) *sqliteWriter {
	t.Helper()
	c, err := st.backend.(*sqliteBackend).open(sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.close(); err != nil {
			t.Error(err)
		}
	})
	return &sqliteWriter{conn: c, ending: st.endShared}
}

// When the transaction that several share is lost, nobody gets an answer that
// came of it: each is run again, alone.
func TestLostTransactionIsRunAgainOneByOne(t *testing.T) {
	s := parse(t, uniqueNames)
	things := s.Collection("things")
	st := open(t, "sqlite:"+filepath.Join(t.TempDir(), "test.db"), s)
	writer := writerByHand(t, st)
	insertion := func(name string) *writeJob {
		r := record(t, things, `{"name":"`+name+`"}`)
		return &writeJob{ctx: context.Background(), run: func(c conn) error {
			_, err := st.run(c, func(tx *Tx) error {
				r[model.IDColumn] = model.IDValue(tx.NewID())
				_, err := tx.Insert(things, r)
				return err
			})
			return err
		}}
	}
	lost := errors.New("lost on purpose")
	loser := &writeJob{ctx: context.Background(), run: func(c conn) error {
		c.exec("ROLLBACK")
		return lost
	}}
	// The second is in conflict with the first, and only with it.
	batch := []*writeJob{insertion("a"), insertion("a"), insertion("b"), loser}
	writer.runBatch(batch)
	if batch[0].err != nil || !fault.Is(batch[1].err, problem.CodeNotUnique) || batch[2].err != nil || !errors.Is(batch[3].err, lost) {
		t.Errorf("got %v, %v, %v, %v", batch[0].err, batch[1].err, batch[2].err, batch[3].err)
	}
	read(t, st, func(tx *Tx) { expectTotals(t, tx, things, 2) })
	if got := len(changes(t, st)); got != 2 {
		t.Errorf("%d changes", got)
	}
}

// After an error of the disk nothing is acknowledged any more, not even what would
// succeed when tried again; what is there can still be read.
func TestDiskErrorEndsAllWriting(t *testing.T) {
	s := parse(t, uniqueNames)
	things := s.Collection("things")
	for _, code := range []sqlite.ResultCode{sqlite.ResultIOErrWrite, sqlite.ResultIOErrFsync, sqlite.ResultIOErrDirFsync, sqlite.ResultIOErrTruncate} {
		t.Run(code.String(), func(t *testing.T) {
			st := open(t, "sqlite:"+filepath.Join(t.TempDir(), "test.db"), s)
			insert(t, st, things, `{"name":"before"}`)
			fine := &writeJob{ctx: context.Background(), run: func(conn) error { return nil }}
			failing := &writeJob{ctx: context.Background(), run: func(conn) error { return code.ToError() }}
			writerByHand(t, st).runBatch([]*writeJob{fine, failing})
			if sqlite.ErrCode(fine.err) != code || sqlite.ErrCode(failing.err) != code {
				t.Errorf("got %v, %v", fine.err, failing.err)
			}
			if err := st.Health(); err != nil {
				t.Error(err)
			}
			err := st.Write(context.Background(), func(*Tx) error { return code.ToError() })
			if !fault.Is(err, problem.CodeUnavailable) {
				t.Error(err)
			}
			err = st.Write(context.Background(), func(*Tx) error {
				t.Error("a write was tried")
				return nil
			})
			if !fault.Is(err, problem.CodeUnavailable) || !fault.Is(st.Health(), problem.CodeUnavailable) {
				t.Errorf("write: %v, health: %v", err, st.Health())
			}
			read(t, st, func(tx *Tx) { expectTotals(t, tx, things, 1) })
		})
	}
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
	if err != nil || info.Size() > (maxLog+one)*(page+24) {
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
		if got := len(changes(t, st)); got != 2 {
			t.Errorf("%d changes", got)
		}
		read(t, st, func(tx *Tx) { expectTotals(t, tx, things, 2) })
	})
}

// However many lists are being read, a short read finds a connection, and however many
// of them are long, so does the first piece of another.
func TestLongReadsLeaveRoomForShortOnes(t *testing.T) {
	s := parse(t, uniqueNames)
	st := open(t, "sqlite:"+filepath.Join(t.TempDir(), "test.db"), s)
	stream := func() *Tx {
		tx, err := st.Stream(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(tx.Close)
		return tx
	}
	for range maxLongReaders {
		if err := stream().Lengthen(""); err != nil {
			t.Fatal(err)
		}
	}
	for range maxFirstReaders {
		expectTotals(t, stream(), s.Collection("things"), 0)
	}
	read(t, st, func(tx *Tx) { expectTotals(t, tx, s.Collection("things"), 0) })
}

// Statements of many shapes, and long ones, do not pile up.
func TestStatementsAreBounded(t *testing.T) {
	s := parse(t, uniqueNames)
	things := s.Collection("things")
	st := open(t, "sqlite:"+filepath.Join(t.TempDir(), "test.db"), s)
	read(t, st, func(tx *Tx) {
		for n := 0; n < 1000; n += 7 {
			values := make([]model.Value, n)
			for i := range values {
				values[i] = model.TextValue("x")
			}
			if _, err := tx.Count(things, query.In{Column: 1, Values: values}); err != nil {
				t.Fatal(err)
			}
		}
		kept := tx.conn.(*sqliteConn).statements
		if len(kept) > maxStatements {
			t.Errorf("%d statements are kept", len(kept))
		}
		for sql := range kept {
			if len(sql) > maxCachedSQL {
				t.Errorf("one of %d bytes is kept", len(sql))
			}
		}
	})
}
