package store

import (
	"context"
	"sync"
	"time"

	"github.com/plural-go/plural/internal/db"
)

// readQuota counts the reads of each caller. Their number is limited, and no caller may use all of
// them: a caller that sends slow queries, or does not read the responses, would block everybody else.
// The program itself, whose name is empty, has no quota.
type readQuota struct {
	most int // per caller

	mutex sync.Mutex
	held  map[string]int
	freed chan struct{} // closed when a read is released; nil: nobody waits
}

func newReadQuota(most int) *readQuota {
	return &readQuota{most: max(1, most), held: map[string]int{}}
}

// acquire counts one more read of a caller, unless its quota is used up. The read must be released.
func (s *readQuota) acquire(key string) bool {
	_, acquired := s.tryAcquire(key)
	return acquired
}

func (s *readQuota) tryAcquire(key string) (freed <-chan struct{}, acquired bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if key != "" && s.held[key] >= s.most {
		if s.freed == nil {
			s.freed = make(chan struct{})
		}
		return s.freed, false
	}
	s.held[key]++
	return nil, true
}

// wait is like acquire, but waits for a free read, for db.MaxWait at most.
func (s *readQuota) wait(ctx context.Context, key string) error {
	freed, acquired := s.tryAcquire(key)
	if acquired {
		return nil
	}
	deadline := time.NewTimer(db.MaxWait)
	defer deadline.Stop()
	for {
		select {
		case <-freed:
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline.C:
			return db.ErrBusy
		}
		if freed, acquired = s.tryAcquire(key); acquired {
			return nil
		}
	}
}

func (s *readQuota) release(key string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.held[key]--; s.held[key] <= 0 {
		delete(s.held, key)
	}
	if s.freed != nil {
		close(s.freed)
		s.freed = nil
	}
}
