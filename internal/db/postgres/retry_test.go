package postgres

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
)

func userAt(i byte) db.ResourceID { return db.ResourceID{Collection: "users", ID: model.ID{i}} }

func usersAt(positions ...byte) []db.ResourceID {
	var all []db.ResourceID
	for _, i := range positions {
		all = append(all, userAt(i))
	}
	return all
}

func stripesOf(all []db.ResourceID) []stripe {
	var stripes []stripe
	for _, each := range all {
		stripes = append(stripes, stripeOf(each))
	}
	return stripes
}

// TestRetryLocks: one has them, the others wait for as long as they may, and who waits for nothing any more holds nothing.
func TestRetryLocks(t *testing.T) {
	var all retryLocks
	soon, both := time.Now().Add(time.Minute), []stripe{5, 1}
	never, ended := context.WithCancel(context.Background())
	ended()
	first, err := all.acquire(context.Background(), []stripe{5, 5}, soon)
	if err != nil || !slices.Equal(first.held, []stripe{5}) {
		t.Fatal(first, err)
	}
	if none, err := all.acquire(context.Background(), both, time.Now()); none != nil || !errors.Is(err, errContended) {
		t.Errorf("got %v, %v", none, err)
	}
	if none, err := all.acquire(never, []stripe{5}, soon); none != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", none, err)
	}
	if none, err := all.acquire(context.Background(), nil, time.Now()); none != nil || err != nil {
		t.Errorf("got %v, %v", none, err)
	}
	if all.contended([]stripe{1}, nil) || !all.contended(both, nil) || all.contended(both, first) {
		t.Error("other locks than 5 are held, or not by the first")
	}
	second := make(chan *retryLock)
	go func() {
		turn, _ := all.acquire(context.Background(), both, soon)
		second <- turn
	}()
	first.release()
	(<-second).release()
	if len(all.queues) > 0 {
		t.Error("there is a queue of nobody")
	}
}

// TestRetryLocksOfMany: a transaction that has failed holds the locks of all resources that it has announced, those of other servers
// included, and others write to other resources of the collection meanwhile. Nothing is left of its locks.
func TestRetryLocksOfMany(t *testing.T) {
	t.Parallel()
	d := open(t, pgtest.URL(t))
	d.replyTimeout = 5 * time.Second // of somebody who has to wait in vain
	written := usersAt(1, 2, 3, 4, 5)
	advisory := func() (held []int64) {
		query(t, d, func(row model.Row) { held = append(held, row.Int(0)) },
			"SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND classid = "+retryClass+" AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) ORDER BY 1")
		return held
	}
	var want []int64
	for _, s := range stripesOf(written) {
		want = append(want, int64(s%advisoryLocks))
	}
	slices.Sort(want)
	runs, others := 0, 0
	err := db.Write(context.Background(), d, func(c db.Conn) error {
		if runs++; runs == 1 {
			return errors.Join(c.Announce(written[:2]...), c.Announce(written[2:]...), &pgconn.PgError{Code: "40001"})
		}
		if err := c.Announce(written...); err != nil {
			return err
		}
		if got := advisory(); !slices.Equal(got, want) || !d.locks.contended(stripesOf(written[4:]), nil) {
			t.Errorf("other servers see the locks %v, want %v", got, want)
		}
		return db.Write(context.Background(), d, func(c db.Conn) error {
			others++
			return errors.Join(c.Announce(usersAt(6, 7)...), c.Announce(userAt(8)), keep(c, "other"))
		})
	})
	if err != nil || runs != 2 || others != 1 {
		t.Errorf("%d runs, and %d of others, got %v", runs, others, err)
	}
	if got := advisory(); len(got) > 0 || len(d.locks.queues) > 0 {
		t.Errorf("left behind: %v", got)
	}
}

// TestRetryOfContendedResources: what is announced at once is waited for at once, however many others wait for each. What is
// announced later is waited for together with what was announced before.
func TestRetryOfContendedResources(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		announced [][]db.ResourceID
		runs      int
	}{
		"at once":             {[][]db.ResourceID{usersAt(3, 1, 2)}, 2},
		"one after the other": {[][]db.ResourceID{usersAt(3), usersAt(1), usersAt(2)}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := open(t, pgtest.URL(t))
			held := map[stripe]*retryLock{}
			for _, s := range stripesOf(usersAt(1, 2, 3)) {
				lock, err := d.locks.acquire(context.Background(), []stripe{s}, time.Now().Add(time.Minute))
				if err != nil {
					t.Fatal(err)
				}
				held[s] = lock
			}
			runs, done := 0, make(chan error, 1)
			go func() {
				done <- db.Write(context.Background(), d, func(conn db.Conn) error {
					runs++
					for _, each := range c.announced {
						if err := conn.Announce(each...); err != nil {
							return err
						}
					}
					return keep(conn, "k")
				})
			}()
			for len(held) > 0 && len(done) == 0 {
				for s, lock := range held {
					d.locks.mutex.Lock()
					waits := d.locks.queues[s].length == 2
					d.locks.mutex.Unlock()
					if waits {
						lock.release()
						delete(held, s)
					}
				}
				runtime.Gosched()
			}
			if err := <-done; err != nil || runs != c.runs {
				t.Errorf("%d runs, got %v", runs, err)
			}
		})
	}
}

// TestOppositeOrders: transactions that write to the same resources in opposite orders all succeed, and those that write to
// others of the same collection meanwhile run once.
func TestOppositeOrders(t *testing.T) {
	t.Parallel()
	d := open(t, with(t, pgtest.URL(t), "deadlock_timeout", "10ms"))
	const transactions = 8
	increment := func(c db.Conn, i byte) error {
		if err := c.Announce(userAt(i)); err != nil {
			return err
		}
		key := fmt.Sprint(i)
		value, err := db.ReadMeta(c, key)
		if err == nil {
			_, err = c.Exec("UPDATE "+db.MetaTable+" SET value = $1 WHERE key = $2", model.TextValue(value+"x"), model.TextValue(key))
		}
		return err
	}
	err := db.Write(context.Background(), d, func(c db.Conn) error { return errors.Join(keep(c, "1"), keep(c, "2"), keep(c, "3")) })
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	write := func(fn func(c db.Conn) error) {
		if err := db.Write(context.Background(), d, fn); err != nil {
			t.Error(err)
		}
	}
	for i := range transactions {
		first := byte(1 + i%2)
		all.Go(func() {
			write(func(c db.Conn) error {
				if err := increment(c, first); err != nil {
					return err
				}
				return increment(c, 3-first)
			})
		})
	}
	runs := 0
	for range transactions {
		write(func(c db.Conn) error {
			runs++
			return increment(c, 3)
		})
	}
	all.Wait()
	var got []string
	query(t, d, func(row model.Row) { got = append(got, row.Text(0)) }, "SELECT value FROM "+db.MetaTable+" WHERE key IN ('1', '2', '3') ORDER BY key")
	want := strings.Repeat("x", transactions)
	if !slices.Equal(got, []string{want, want, want}) || runs != transactions {
		t.Errorf("got %q, and %d runs of others", got, runs)
	}
}
