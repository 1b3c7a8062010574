package store

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

// clocked gives a store a clock that only the test moves.
func clocked(st *Store) *time.Time {
	clock := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	st.now = func() time.Time { return clock }
	return &clock
}

// enqueue adds an operation on a user, who is a number.
func enqueue(t rapid.TB, st *Store, user byte, method string, needed ...model.ID) Job {
	t.Helper()
	job := Job{Method: method, Collection: "users", Resource: userID(user), Body: fmt.Sprintf(`{"name":"%d"}`, user), IfMatch: `"x"`, Schema: 1}
	if user%2 == 1 {
		parent := userID(user + 1)
		job.Parent, job.Caller, job.IfMatch, job.IfNoneMatch = &parent, "somebody", "", "*"
	}
	inTx(t, st, func(tx *Tx) error {
		job.Operation = tx.NewID()
		return tx.Enqueue(job, needed)
	})
	return job
}

func userID(user byte) model.ID { return model.ID{15: user} }

func inTx(t rapid.TB, st *Store, fn func(*Tx) error) {
	t.Helper()
	if err := st.Write(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}

func claimJobs(t rapid.TB, st *Store, most int, lease time.Duration) (jobs []Job) {
	t.Helper()
	inTx(t, st, func(tx *Tx) (err error) {
		jobs, err = tx.Claim(most, lease)
		return err
	})
	return jobs
}

// finish ends an operation if it still belongs to whoever claimed it so.
func finish(t rapid.TB, st *Store, job Job) (mine bool) {
	t.Helper()
	inTx(t, st, func(tx *Tx) (err error) {
		if mine, err = tx.Renew(job, time.Minute); err != nil || !mine {
			return err
		}
		return tx.Finish(job)
	})
	return mine
}

// TestJobOfARemovedCollection: a migration has removed the collection, and a worker fails the operation.
func TestJobOfARemovedCollection(t *testing.T) {
	eachStore(t, (*model.Schema)(schema.Example()), func(t *testing.T, st *Store) {
		clocked(st)
		job := enqueue(t, st, 2, "POST")
		inTx(t, st, func(tx *Tx) error {
			_, err := tx.conn.Exec("UPDATE " + db.QueueTable + " SET collection = 'removed'")
			return err
		})
		job.Collection, job.Attempt = "removed", 1
		if got := claimJobs(t, st, 10, time.Second); !reflect.DeepEqual(got, []Job{job}) {
			t.Fatalf("claimed %+v", got)
		}
		if !finish(t, st, job) {
			t.Error("the job has another owner")
		}
		if got := claimJobs(t, st, 10, time.Second); got != nil {
			t.Errorf("claimed %+v after the end", got)
		}
	})
}

func TestQueue(t *testing.T) {
	eachStore(t, (*model.Schema)(schema.Example()), func(t *testing.T, st *Store) {
		clock := clocked(st)
		first := enqueue(t, st, 1, "POST")
		second := enqueue(t, st, 1, "PATCH", first.Operation, first.Operation) // for two reasons, and it is behind it anyway
		third := enqueue(t, st, 2, "POST", first.Operation, second.Operation)
		first.Attempt = 1
		if got := claimJobs(t, st, 10, time.Second); !reflect.DeepEqual(got, []Job{first}) {
			t.Fatalf("claimed %+v", got)
		}
		if got := claimJobs(t, st, 10, time.Second); got != nil {
			t.Fatalf("claimed %+v", got)
		}
		// The lease is over, and another has it.
		*clock = clock.Add(time.Second)
		later := first
		later.Attempt = 2
		if got := claimJobs(t, st, 10, time.Second); !reflect.DeepEqual(got, []Job{later}) {
			t.Fatalf("claimed %+v", got)
		}
		if finish(t, st, first) {
			t.Error("who has lost an operation finished it")
		}
		if !finish(t, st, later) || finish(t, st, later) {
			t.Error("an operation is not finished once")
		}
		second.Attempt, third.Attempt = 1, 1
		if got := claimJobs(t, st, 10, time.Second); !reflect.DeepEqual(got, []Job{second}) {
			t.Fatalf("claimed %+v", got)
		}
		read(t, st, func(tx *Tx) {
			if n, err := tx.Backlog(1); n != 1 || err != nil {
				t.Errorf("the backlog is %d, %v", n, err)
			}
			creating, _, found, err := tx.Creating(st.schema.Collection("users"), userID(2))
			if creating != third.Operation || !found || err != nil {
				t.Errorf("%s creates it, %t, %v", creating, found, err)
			}
			if _, _, found, err := tx.Creating(st.schema.Collection("users"), userID(1)); found || err != nil {
				t.Errorf("what exists is created, %v", err)
			}
		})
		finish(t, st, second)
		if got := claimJobs(t, st, 10, time.Second); !reflect.DeepEqual(got, []Job{third}) {
			t.Fatalf("claimed %+v", got)
		}
		finish(t, st, third)
		for _, table := range []string{db.QueueTable, db.FollowersTable} {
			write(t, st, func(tx *Tx) error {
				if found, err := db.One(tx.conn, nil, "SELECT 1 FROM "+table); found || err != nil {
					t.Errorf("%s is not empty, %v", table, err)
				}
				return nil
			})
		}
		if err := st.Write(context.Background(), func(tx *Tx) error { return tx.Enqueue(Job{Operation: tx.NewID()}, []model.ID{first.Operation}) }); err == nil {
			t.Error("an operation follows one that is not in the queue")
		}
	})
}

// TestRequeueAfterARestart: what is in progress at the start was left by a server that is
// gone, if there can be no other.
func TestRequeueAfterARestart(t *testing.T) {
	eachStore(t, (*model.Schema)(schema.Example()), func(t *testing.T, st *Store) {
		clocked(st)
		enqueue(t, st, 1, "POST")
		claimJobs(t, st, 1, time.Hour)
		if err := st.RequeueAll(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := len(claimJobs(t, st, 1, time.Hour)) == 1; got != st.IsOnlyServer() {
			t.Errorf("it was taken over: %t", got)
		}
	})
}

// TestClaimsAreExclusive: of many who claim at the same time none get the same.
func TestClaimsAreExclusive(t *testing.T) {
	const jobs, claimers = 60, 6
	eachStore(t, (*model.Schema)(schema.Example()), func(t *testing.T, st *Store) {
		for i := range jobs {
			enqueue(t, st, byte(i), "POST")
		}
		var all sync.WaitGroup
		claimed := make([][]Job, claimers)
		for i := range claimers {
			all.Go(func() {
				for len(claimed[i]) < jobs {
					got := claimJobs(t, st, 1+i, time.Hour)
					if claimed[i] = append(claimed[i], got...); len(got) == 0 && isClaimed(t, st) {
						return
					}
				}
			})
		}
		all.Wait()
		seen := map[model.ID]int{}
		for _, each := range claimed {
			for _, job := range each {
				if seen[job.Operation]++; seen[job.Operation] > 1 || job.Attempt != 1 {
					t.Errorf("%s was claimed %d times, and this is attempt %d", job.Operation, seen[job.Operation], job.Attempt)
				}
			}
		}
		if len(seen) != jobs {
			t.Errorf("%d were claimed", len(seen))
		}
	})
}

// isClaimed reports whether nothing is left to claim: one may have passed over
// what another was about to take.
func isClaimed(t *testing.T, st *Store) (claimed bool) {
	read(t, st, func(tx *Tx) {
		next, found, err := tx.Next()
		claimed = err == nil && (!found || time.Until(next) > time.Minute)
	})
	return claimed
}

// TestQueueUnderLoad: whoever adds and whoever works, each resource's operations
// are finished in the order in which they were accepted, and all are.
func TestQueueUnderLoad(t *testing.T) {
	const users, each, workers = 4, 15, 4
	eachStore(t, (*model.Schema)(schema.Example()), func(t *testing.T, st *Store) {
		var accepted [users][]model.ID
		var mutex sync.Mutex
		finished := map[model.ID][]model.ID{}
		count := 0
		var adding, working sync.WaitGroup
		for user := range users {
			adding.Go(func() {
				for range each {
					accepted[user] = append(accepted[user], enqueue(t, st, byte(user), "PATCH").Operation)
				}
			})
		}
		for range workers {
			working.Go(func() {
				for done := 0; done < users*each; {
					for _, job := range claimJobs(t, st, 2, time.Hour) {
						// Nobody else works on the resource until it is finished.
						mutex.Lock()
						finished[job.Resource] = append(finished[job.Resource], job.Operation)
						mutex.Unlock()
						if !finish(t, st, job) {
							t.Error("an operation was lost")
						}
						mutex.Lock()
						count++
						mutex.Unlock()
					}
					mutex.Lock()
					done = count
					mutex.Unlock()
				}
			})
		}
		adding.Wait()
		working.Wait()
		for user := range users {
			if got := finished[userID(byte(user))]; !slices.Equal(got, accepted[user]) {
				t.Errorf("those of user %d were finished in the order\n%v\nand accepted in\n%v", user, got, accepted[user])
			}
		}
	})
}

// PostgreSQL may run a subquery once for each row that it is compared with, and then
// it would claim more than there are workers, which would wait for each other for ever.
func TestClaimIsBounded(t *testing.T) {
	url := pgtest.URL(t) + "&enable_hashagg=off&enable_sort=off&enable_hashjoin=off&enable_mergejoin=off&enable_material=off"
	st, err := Open(context.Background(), url, (*model.Schema)(schema.Example()))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for user := range byte(50) {
		enqueue(t, st, user, "POST")
	}
	for _, most := range []int{1, 3, 7} {
		if got := claimJobs(t, st, most, time.Minute); len(got) != most {
			t.Errorf("claimed %d, and not %d", len(got), most)
		}
	}
}
