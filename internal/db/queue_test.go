package db_test

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// TestUpdatesOfAResourceAreRunByOne: short tasks that update the same resource never run at the same time, and every task runs, also
// if another goroutine takes the next one before it.
func TestUpdatesOfAResourceAreRunByOne(t *testing.T) {
	t.Parallel()
	var q *db.Queue
	var mutex sync.Mutex
	running, wrong, ran := map[model.ID]int{}, 0, 0
	q = db.NewQueue(3, func() {
		batch := q.TakeShort(5)
		ids := map[model.ID]bool{}
		for _, w := range batch {
			ids[w.ID] = true
		}
		delete(ids, model.ID{})
		count := func(change int) {
			mutex.Lock()
			defer mutex.Unlock()
			for id := range ids {
				if running[id] += change; running[id] > 1 {
					wrong++
				}
			}
		}
		count(1)
		runtime.Gosched()
		count(-1)
		mutex.Lock()
		ran += len(batch)
		mutex.Unlock()
		q.Done(batch...)
	})
	var all sync.WaitGroup
	for w := range 16 {
		all.Go(func() {
			for i := range 200 {
				if err := q.Do(t.Context(), &db.Task{Short: true, ID: model.ID{15: byte((w + i) % 7)}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	q.Close()
	if wrong > 0 || ran != 16*200 {
		t.Errorf("%d updates ran at the wrong time, %d tasks ran", wrong, ran)
	}
	if err := q.Do(t.Context(), &db.Task{}); !errors.Is(err, db.ErrClosed) {
		t.Errorf("a closed queue returns %v", err)
	}
}

// TestTurnsOfCallers: of the tasks that are not short, the next is that of the caller who has waited for the longest time.
func TestTurnsOfCallers(t *testing.T) {
	t.Parallel()
	var order []string
	first, release := make(chan bool), make(chan bool)
	var q *db.Queue
	q = db.NewQueue(1, func() {
		w := q.TakeLong()
		if order = append(order, w.Caller); len(order) == 1 {
			close(first)
			<-release
		}
		q.Done(w)
	})
	var all sync.WaitGroup
	for i, caller := range strings.Fields("eve eve eve eve ada bob eve ada bob") {
		all.Go(func() {
			if err := q.Do(t.Context(), &db.Task{Caller: caller}); err != nil {
				t.Error(err)
			}
		})
		if i == 0 {
			<-first
		}
		for q.Waiting() < i {
			runtime.Gosched()
		}
	}
	close(release)
	all.Wait()
	q.Close()
	if want := strings.Fields("eve ada bob eve ada bob eve eve eve"); !slices.Equal(order, want) {
		t.Errorf("got %v, want %v", order, want)
	}
}
