package db

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/plural-go/plural/internal/model"
)

// Queue has the tasks that wait for a transaction. A few goroutines run them: tasks that wait together can share a transaction. The
// goroutines are started when they are needed, and kept: their stacks have grown.
type Queue struct {
	most int    // goroutines
	run  func() // takes tasks, runs them, and calls Done

	mutex   sync.Mutex
	waiting []*Queued // in the order in which they came
	runners int
	idle    int            // runners that were not called yet
	called  sync.Cond      // of the idle runners
	running sync.WaitGroup // the runners
	closed  bool
	updated map[model.ID]bool // resources of the short tasks that are running
	turn    int64             // number of the last long task that was taken
	served  map[string]int64  // numbers of the last long tasks of callers; missing: long ago
}

// Queued is a task in a queue.
type Queued struct {
	*Task
	Err  error         // its result
	Used time.Duration // of its limit

	done chan struct{}
}

// maxServed bounds how many callers are remembered.
const maxServed = 1000

// NewQueue returns a queue whose tasks are run by a number of goroutines.
func NewQueue(most int, run func()) *Queue {
	q := &Queue{most: most, run: run, updated: map[model.ID]bool{}, served: map[string]int64{}}
	q.called.L = &q.mutex
	return q
}

// Do waits until a task has run, and returns its result. The end of the context only ends the wait for its start.
func (q *Queue) Do(ctx context.Context, t *Task) error {
	w := &Queued{Task: t, done: make(chan struct{})}
	if err := q.add(ctx, w); err != nil {
		return err
	}
	select {
	case <-w.done:
	case <-ctx.Done():
		if q.remove(w) {
			return context.Cause(ctx)
		}
		<-w.done
	}
	return w.Err
}

func (q *Queue) add(ctx context.Context, w *Queued) error {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	switch {
	case q.closed:
		return ErrClosed
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	q.waiting = append(q.waiting, w)
	switch {
	case q.idle > 0:
		q.idle--
		q.called.Signal()
	case q.runners < q.most:
		q.runners++
		q.running.Go(func() {
			for q.stay() {
				q.run()
			}
		})
	}
	return nil
}

// remove reports whether a task has still waited, and no longer does.
func (q *Queue) remove(w *Queued) bool {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	at := slices.Index(q.waiting, w)
	if at >= 0 {
		q.waiting = slices.Delete(q.waiting, at, at+1)
	}
	return at >= 0
}

// stay waits for a task to run. If the queue is closed and there is none, the runner ends.
func (q *Queue) stay() bool {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for !slices.ContainsFunc(q.waiting, func(w *Queued) bool { return !q.updated[w.ID] }) {
		if q.closed {
			return false
		}
		q.idle++
		q.called.Wait()
	}
	return true
}

// Waiting is how many tasks wait.
func (q *Queue) Waiting() int {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	return len(q.waiting)
}

// TakeShort takes the short tasks that wait, in their order, up to a number. Those that update the same resource are never taken
// by two runners at the same time: transactions that update it cannot both succeed.
func (q *Queue) TakeShort(most int) (batch []*Queued) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(w *Queued) bool {
		taken := w.Short && len(batch) < most && !q.updated[w.ID]
		if taken {
			batch = append(batch, w)
		}
		return taken
	})
	for _, w := range batch {
		if w.ID != (model.ID{}) {
			q.updated[w.ID] = true
		}
	}
	return batch
}

// TakeLong takes a task that is not short, nil if none waits. Callers take turns: it is the first task of the caller who has waited
// for the longest time.
func (q *Queue) TakeLong() *Queued {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	next := -1
	for i, w := range q.waiting {
		if !w.Short && (next < 0 || q.served[w.Caller] < q.served[q.waiting[next].Caller]) {
			next = i
		}
	}
	if next < 0 {
		return nil
	}
	w := q.waiting[next]
	q.waiting = slices.Delete(q.waiting, next, next+1)
	if len(q.served) == maxServed {
		clear(q.served)
	}
	q.turn++
	q.served[w.Caller] = q.turn
	return w
}

// Done gives tasks that were taken back to their callers, with their results.
func (q *Queue) Done(batch ...*Queued) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for _, w := range batch {
		delete(q.updated, w.ID)
		close(w.done)
	}
}

// Close refuses further tasks, and waits until all others have run.
func (q *Queue) Close() {
	q.mutex.Lock()
	q.closed = true
	q.called.Broadcast()
	q.mutex.Unlock()
	q.running.Wait()
}
