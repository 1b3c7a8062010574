package store

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/plural-go/plural/internal/db"
)

// readQuota counts the reads of each caller. Their number is limited, and no caller may use all of
// them: a caller that sends slow queries, or does not read the responses, would block everybody else.
// The program itself, whose name is empty, has no quota.
type readQuota struct {
	most int // per caller

	mutex   sync.Mutex
	held    map[string]int
	waiting map[string][]chan struct{} // each is closed when its reader gets a read, in the order in which they came
}

func newReadQuota(most int) *readQuota {
	return &readQuota{most: max(1, most), held: map[string]int{}, waiting: map[string][]chan struct{}{}}
}

// acquire counts one more read of a caller, unless its quota is used up. The read must be released.
func (s *readQuota) acquire(key string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.acquireLocked(key)
}

func (s *readQuota) acquireLocked(key string) bool {
	free := key == "" || s.held[key] < s.most
	if free {
		s.held[key]++
	}
	return free
}

// wait is like acquire, but waits for a free read, for db.MaxWait at most.
func (s *readQuota) wait(ctx context.Context, key string) error {
	turn := s.enqueue(key)
	if turn == nil {
		return nil
	}
	deadline := time.NewTimer(db.MaxWait)
	defer deadline.Stop()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		s.leave(key, turn)
		return ctx.Err()
	case <-deadline.C:
		s.leave(key, turn)
		return db.ErrBusy
	}
}

// enqueue returns a channel that is closed when the caller has a read; nil: it has one at once.
func (s *readQuota) enqueue(key string) chan struct{} {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.acquireLocked(key) {
		return nil
	}
	turn := make(chan struct{})
	s.waiting[key] = append(s.waiting[key], turn)
	return turn
}

// leave stops waiting. If a read came at the same time, it is released.
func (s *readQuota) leave(key string, turn chan struct{}) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if i := slices.Index(s.waiting[key], turn); i >= 0 {
		s.setWaiting(key, slices.Delete(s.waiting[key], i, i+1))
		return
	}
	s.releaseLocked(key)
}

func (s *readQuota) release(key string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.releaseLocked(key)
}

// releaseLocked gives the read to the one who waits for the longest time. If all who wait competed for it with those who
// come, some would wait in vain while the caller sends many requests.
func (s *readQuota) releaseLocked(key string) {
	if waiting := s.waiting[key]; len(waiting) > 0 {
		close(waiting[0])
		s.setWaiting(key, waiting[1:])
		return
	}
	if s.held[key]--; s.held[key] <= 0 {
		delete(s.held, key)
	}
}

func (s *readQuota) setWaiting(key string, waiting []chan struct{}) {
	if len(waiting) == 0 {
		delete(s.waiting, key)
		return
	}
	s.waiting[key] = waiting
}
