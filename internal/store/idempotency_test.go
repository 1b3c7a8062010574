package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/lists"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// TestAnswers: they are kept by caller and key until their time is over.
func TestAnswers(t *testing.T) {
	eachStore(t, (*model.Schema)(schema.Example()), func(t *testing.T, st *Store) {
		clock := clocked(st)
		mine, yours := IdempotencyKey{Value: "a"}, IdempotencyKey{Caller: "you", Value: "a"}
		first := &IdempotencyRecord{Fingerprint: "f", Outcome: []byte(`{"etag":"\"1.1\""}`), Body: []byte(`{"data":"é"}`)}
		second := &IdempotencyRecord{Fingerprint: "g", Outcome: []byte(`{"errors":[]}`)}
		expect := func(key IdempotencyKey, want *IdempotencyRecord) {
			t.Helper()
			read(t, st, func(tx *Tx) {
				if got, err := tx.IdempotencyRecord(key); !reflect.DeepEqual(got, want) || err != nil {
					t.Errorf("got %+v, %v\nwant %+v", got, err, want)
				}
			})
		}
		expect(mine, nil)
		write(t, st, func(tx *Tx) error { return tx.SaveRecord(mine, first, Quota{Most: 1 << 20}) })
		expect(mine, first)
		expect(yours, nil)
		*clock = clock.Add(time.Hour)
		write(t, st, func(tx *Tx) error { return tx.SaveRecord(yours, second, Quota{Most: 1 << 20}) })
		if err := st.DeleteOldRecords(context.Background(), 30*time.Minute); err != nil {
			t.Fatal(err)
		}
		expect(mine, nil)
		expect(yours, second)
	})
}

// usedBytes is what the records of a caller have, as it is kept, after it was compared with the records.
func usedBytes(t *testing.T, st *Store, caller string) (used int64) {
	t.Helper()
	read(t, st, func(tx *Tx) {
		wrong, err := lists.Check(tx.conn, st.db, st.schema)
		if err == nil {
			used, err = lists.Total(tx.conn, lists.RecordsOf(caller), nil)
		}
		if err != nil || len(wrong) > 0 {
			t.Errorf("got %q, %v", wrong, err)
		}
	})
	return used
}

// recordOf is a record that counts so many bytes with its key.
func recordOf(key IdempotencyKey, bytesInAll int) *IdempotencyRecord {
	return &IdempotencyRecord{Fingerprint: "f", Outcome: []byte("{}"), Body: bytes.Repeat([]byte("x"), bytesInAll-len(key.Value)-len("{}"))}
}

// saveRecord saves a record as a request does.
func saveRecord(st *Store, key IdempotencyKey, bytesInAll int, most int64) error {
	return st.Write(context.Background(), func(tx *Tx) error {
		_, _, used, err := tx.LockKey(key)
		if err != nil {
			return err
		}
		return tx.SaveRecord(key, recordOf(key, bytesInAll), Quota{Most: most, Used: used})
	})
}

// TestQuotaOfRecords: what the records of a caller have is known without reading them, whether they are small or large, merged or
// not, and until they expire. One that exceeds the quota is refused.
func TestQuotaOfRecords(t *testing.T) {
	const most, small = 1 << 16, 4
	eachStore(t, (*model.Schema)(schema.Example()), func(t *testing.T, st *Store) {
		clock := clocked(st)
		key := func(caller, value string) IdempotencyKey { return IdempotencyKey{Caller: caller, Value: value} }
		save := func(key IdempotencyKey, bytesInAll int, want error) {
			t.Helper()
			if err := saveRecord(st, key, bytesInAll, most); !errors.Is(err, want) || (err == nil) != (want == nil) {
				t.Errorf("%v with %d bytes: got %v, want %v", key, bytesInAll, err, want)
			}
		}
		expect := func(mine, yours int64) {
			t.Helper()
			if got := []int64{usedBytes(t, st, ""), usedBytes(t, st, "you")}; !slices.Equal(got, []int64{mine, yours}) {
				t.Errorf("got %d, want %d and %d", got, mine, yours)
			}
		}
		save(key("", "a"), small, nil)
		expect(small, 0)
		save(key("", "b"), most/2, nil)
		save(key("you", "a"), most, nil)
		expect(small+most/2, most)
		if err := st.MergeDeltas(context.Background()); err != nil {
			t.Fatal(err)
		}
		expect(small+most/2, most)
		*clock = clock.Add(time.Hour)
		save(key("", "c"), most/2-small+1, ErrQuota)
		save(key("you", "b"), small, ErrQuota)
		save(key("", "c"), most/2-small, nil)
		save(key("", "d"), small, ErrQuota)
		expect(most, most)
		if err := st.DeleteOldRecords(context.Background(), 30*time.Minute); err != nil {
			t.Fatal(err)
		}
		expect(most/2-small, 0)
		save(key("", "d"), small, nil)
		if err := st.MergeDeltas(context.Background()); err != nil {
			t.Fatal(err)
		}
		expect(most/2, 0)
		read(t, st, func(tx *Tx) {
			if n, err := db.Int(tx.conn, "SELECT count(*) FROM "+db.TotalsTable+" WHERE collection = '"+db.IdempotencyTable+"'"); n != 1 || err != nil {
				t.Errorf("%d callers are kept, %v", n, err)
			}
		})
	})
}

// TestQuotaOfLongerFinalRecords: a provisional record that becomes longer counts, and one that finds no room stays as it is.
func TestQuotaOfLongerFinalRecords(t *testing.T) {
	const most = 1 << 10
	eachStore(t, (*model.Schema)(schema.Example()), func(t *testing.T, st *Store) {
		key := IdempotencyKey{Caller: "me", Value: "a"}
		provisional := recordOf(key, 100)
		provisional.Until = "2030"
		write(t, st, func(tx *Tx) error { return tx.SaveRecord(key, provisional, Quota{Most: most}) })
		finalize := func(bytesInAll int) (revised bool, err error) {
			err = st.Write(context.Background(), func(tx *Tx) (err error) {
				revised, err = tx.FinalizeRecord(key, recordOf(key, bytesInAll), most)
				return err
			})
			return revised, err
		}
		if _, err := finalize(most + 1); !errors.Is(err, ErrQuota) {
			t.Errorf("got %v", err)
		}
		if used := usedBytes(t, st, "me"); used != 100 {
			t.Errorf("%d bytes are used", used)
		}
		for i, want := range []bool{true, false} {
			if revised, err := finalize(most - i); revised != want || err != nil {
				t.Errorf("got %t, %v, want %t", revised, err, want)
			}
		}
		if used := usedBytes(t, st, "me"); used != most {
			t.Errorf("%d bytes are used", used)
		}
	})
}

// TestQuotaOfManyWriters: it holds, whoever writes at the same time, also on two servers.
func TestQuotaOfManyWriters(t *testing.T) {
	const most, writers, fit = 1 << 20, 12, 5
	eachDatabase(t, func(t *testing.T, url string) {
		stores := []*Store{open(t, url, (*model.Schema)(schema.Example()))}
		if stores[0].db.Traits().ManyWriters {
			stores = append(stores, open(t, url, (*model.Schema)(schema.Example())))
		}
		errs := make([]error, writers)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() {
				errs[i] = saveRecord(stores[i%len(stores)], IdempotencyKey{Caller: "me", Value: fmt.Sprint("key ", i)}, most/fit, most)
			})
		}
		all.Wait()
		saved := 0
		for _, err := range errs {
			if err == nil {
				saved++
			} else if !errors.Is(err, ErrQuota) {
				t.Error(err)
			}
		}
		if used := usedBytes(t, stores[0], "me"); saved != fit || used != fit*(most/fit) {
			t.Errorf("%d records were saved, with %d bytes", saved, used)
		}
	})
}

// TestWrongQuotas: sums that are not those of the records are found, and computed again by a repair.
func TestWrongQuotas(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		st := open(t, url, (*model.Schema)(schema.Example()))
		for i, caller := range []string{"adds", "removes", "", "neither"} {
			if err := saveRecord(st, IdempotencyKey{Caller: caller, Value: fmt.Sprint(i)}, 100, 1<<10); err != nil {
				t.Fatal(err)
			}
		}
		write(t, st, func(tx *Tx) error {
			insert := "INSERT INTO " + db.IdempotencyTable + " (caller, key, fingerprint, outcome, body, at, until) SELECT "
			return db.ExecAll(tx.conn, insert+"'adds', 'b', fingerprint, outcome, body, at, until FROM "+db.IdempotencyTable+" WHERE caller = 'adds'",
				insert+"'new', 'c', fingerprint, outcome, body, at, until FROM "+db.IdempotencyTable+" WHERE caller = 'neither'",
				"DELETE FROM "+db.IdempotencyTable+" WHERE caller IN ('removes', '')",
				"INSERT INTO "+db.TotalsTable+" (collection, parent, total) VALUES ('"+db.IdempotencyTable+"', 'x', 1)")
		})
		want := []string{`the idempotency records of "" should have 0 bytes, but 100 are counted`, `the idempotency records of "adds" should have 200 bytes, but 100 are counted`,
			`the idempotency records of "new" should have 100 bytes, but 0 are counted`, `the idempotency records of "removes" should have 0 bytes, but 100 are counted`,
			`the idempotency records of "x" should have 0 bytes, but 1 are counted`}
		if got, err := admin.Examine(context.Background(), url, admin.ExamineOptions{Repair: true}); err != nil || !slices.Equal(got, want) {
			t.Errorf("got %q, %v\nwant %q", got, err, want)
		}
		for caller, want := range map[string]int64{"adds": 200, "removes": 0, "": 0, "neither": 100, "new": 100} {
			if used := usedBytes(t, st, caller); used != want {
				t.Errorf("%d bytes of %q are counted, want %d", used, caller, want)
			}
		}
	})
}
