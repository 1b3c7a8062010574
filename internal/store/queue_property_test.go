package store

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// modelJob is an operation as the naive model knows it.
type modelJob struct {
	Job
	needed []*modelJob
	due    time.Time
	done   bool
}

func (j *modelJob) free() bool {
	return !slices.ContainsFunc(j.needed, func(other *modelJob) bool { return !other.done })
}

// TestQueueModel compares the queue with a naive model under random use.
func TestQueueModel(t *testing.T) {
	eachStore(t, (*model.Schema)(schema.Example()), func(t *testing.T, st *Store) {
		clock := clocked(st)
		rapid.Check(t, func(t *rapid.T) {
			inTx(t, st, func(tx *Tx) error {
				return db.ExecAll(tx.conn, "DELETE FROM "+db.QueueTable, "DELETE FROM "+db.FollowersTable)
			})
			m := &queueModel{st: st, clock: clock}
			t.Repeat(map[string]func(*rapid.T){
				"enqueue": m.enqueue, "claim": m.claim, "finish": m.finish, "hold": m.hold, "time": m.pass, "": m.check,
			})
			m.drain(t)
		})
	})
}

type queueModel struct {
	st       *Store
	clock    *time.Time
	all      []*modelJob // in the order in which they were accepted
	finished []*modelJob
	claims   []Job // also those that were lost
}

func (m *queueModel) unfinished() []*modelJob {
	return slices.DeleteFunc(slices.Clone(m.all), func(job *modelJob) bool { return job.done })
}

func (m *queueModel) enqueue(t *rapid.T) {
	user := rapid.ByteRange(0, 3).Draw(t, "user")
	method := rapid.SampledFrom([]string{"POST", "PUT", "PATCH", "DELETE"}).Draw(t, "method")
	added := &modelJob{due: *m.clock}
	var needed []model.ID
	for i, job := range m.unfinished() {
		relied := rapid.IntRange(0, 3).Draw(t, fmt.Sprint("needs ", i)) == 0
		if relied {
			needed = append(needed, job.Operation)
		}
		if relied || job.Resource == userID(user) {
			added.needed = append(added.needed, job)
		}
	}
	added.Job = enqueue(t, m.st, user, method, needed...)
	m.all = append(m.all, added)
}

func (m *queueModel) claim(t *rapid.T) {
	most := rapid.IntRange(1, 4).Draw(t, "most")
	lease := time.Duration(rapid.IntRange(0, 5).Draw(t, "lease")) * time.Second
	var want []*modelJob
	for _, job := range m.unfinished() {
		if job.free() && !job.due.After(*m.clock) {
			want = append(want, job)
		}
	}
	slices.SortFunc(want, func(a, b *modelJob) int {
		return cmp.Or(a.due.Compare(b.due), slices.Compare(a.Operation[:], b.Operation[:]))
	})
	want = want[:min(most, len(want))]
	for _, job := range want {
		job.Attempt++
		job.due = m.clock.Add(lease)
	}
	got := claimJobs(t, m.st, most, lease)
	m.claims = append(m.claims, got...)
	compareJobs(t, got, want)
}

// compareJobs compares in no order: those who work on them have none.
func compareJobs(t *rapid.T, got []Job, want []*modelJob) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d operations, want %d", len(got), len(want))
	}
	for _, expected := range want {
		if !slices.ContainsFunc(got, func(job Job) bool { return reflect.DeepEqual(job, expected.Job) }) {
			t.Fatalf("%+v is missing in %+v", expected.Job, got)
		}
	}
}

// pick chooses a claim, which may be lost by now.
func (m *queueModel) pick(t *rapid.T) (Job, *modelJob) {
	if len(m.claims) == 0 {
		t.Skip("nothing was claimed")
	}
	job := rapid.SampledFrom(m.claims).Draw(t, "claim")
	i := slices.IndexFunc(m.all, func(each *modelJob) bool { return each.Operation == job.Operation })
	return job, m.all[i]
}

func (m *queueModel) finish(t *rapid.T) {
	job, known := m.pick(t)
	want := !known.done && known.Attempt == job.Attempt
	if got := finish(t, m.st, job); got != want {
		t.Fatalf("finished: %t", got)
	}
	if want {
		known.done = true
		m.finished = append(m.finished, known)
	}
}

func (m *queueModel) hold(t *rapid.T) {
	job, known := m.pick(t)
	delay := time.Duration(rapid.IntRange(0, 5).Draw(t, "delay")) * time.Second
	want := !known.done && known.Attempt == job.Attempt
	var got bool
	inTx(t, m.st, func(tx *Tx) (err error) {
		got, err = tx.Renew(job, delay)
		return err
	})
	if got != want {
		t.Fatalf("held: %t", got)
	}
	if want {
		known.due = m.clock.Add(delay)
	}
}

func (m *queueModel) pass(t *rapid.T) {
	*m.clock = m.clock.Add(time.Duration(rapid.IntRange(1, 4000).Draw(t, "milliseconds")) * time.Millisecond)
}

// check compares what can be read of the queue.
func (m *queueModel) check(t *rapid.T) {
	tx, err := m.st.Read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Close()
	unfinished := m.unfinished()
	if n, err := tx.Backlog(1000); int(n) != len(unfinished) || err != nil {
		t.Fatalf("the backlog is %d, %v", n, err)
	}
	var next time.Time
	for _, job := range unfinished {
		if job.free() && (next.IsZero() || job.due.Before(next)) {
			next = job.due
		}
	}
	if at, found, err := tx.Next(); found != !next.IsZero() || !at.Equal(next) || err != nil {
		t.Fatalf("the next is due %s, %t, %v, and not %s", at, found, err, next)
	}
	for user := range byte(4) {
		var want []Job
		var creating model.ID
		for _, job := range unfinished {
			if job.Resource != userID(user) {
				continue
			}
			if want = append(want, job.Job); job.Method == "POST" && creating == (model.ID{}) {
				creating = job.Operation
			}
		}
		c := m.st.schema.Collection("users")
		if got, err := tx.Unfinished(c, userID(user)); !reflect.DeepEqual(got, want) || err != nil {
			t.Fatalf("got %+v, %v\nwant %+v", got, err, want)
		}
		if got, _, found, err := tx.Creating(c, userID(user)); got != creating || found != (creating != model.ID{}) || err != nil {
			t.Fatalf("%s creates it, %t, %v, and not %s", got, found, err, creating)
		}
	}
}

// drain works on all that is left: everything comes to its end, in order.
func (m *queueModel) drain(t *rapid.T) {
	for range len(m.all) + 1 {
		*m.clock = m.clock.Add(time.Minute)
		for _, job := range claimJobs(t, m.st, 3, time.Second) {
			i := slices.IndexFunc(m.all, func(each *modelJob) bool { return each.Operation == job.Operation })
			m.all[i].Attempt = job.Attempt
			if !m.all[i].free() || !finish(t, m.st, job) {
				t.Fatalf("%+v cannot be finished", job)
			}
			m.all[i].done = true
			m.finished = append(m.finished, m.all[i])
		}
	}
	if left := m.unfinished(); len(left) > 0 {
		t.Fatalf("%d are never finished", len(left))
	}
	for _, job := range m.finished {
		if i := slices.Index(m.finished, job); slices.ContainsFunc(job.needed, func(other *modelJob) bool { return slices.Index(m.finished, other) > i }) {
			t.Fatalf("%+v came too early", job.Job)
		}
	}
}
