package store

import (
	"context"
	"sync"
	"time"

	"github.com/plural-go/plural/internal/db"
)

// shares counts the reads of each caller. There are only so many, and no caller may have
// them all: one who sends slow queries, or does not read the responses, would keep
// everybody else waiting. The program itself, which has no name, is not counted.
type shares struct {
	most int // that one caller may have

	mutex sync.Mutex
	held  map[string]int
	freed chan struct{} // closed when a caller has one less
}

func newShares(most int) *shares {
	return &shares{most: max(1, most), held: map[string]int{}, freed: make(chan struct{})}
}

// enter counts one more read of a caller, unless that has its share. It must be left.
func (s *shares) enter(caller string) bool {
	_, entered := s.tryEnter(caller)
	return entered
}

func (s *shares) tryEnter(caller string) (freed <-chan struct{}, entered bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if caller != "" && s.held[caller] >= s.most {
		return s.freed, false
	}
	s.held[caller]++
	return nil, true
}

// wait is enter, but waits for a while until the caller has less than its share.
func (s *shares) wait(ctx context.Context, caller string) error {
	freed, entered := s.tryEnter(caller)
	if entered {
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
		if freed, entered = s.tryEnter(caller); entered {
			return nil
		}
	}
}

func (s *shares) leave(caller string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.held[caller]--; s.held[caller] <= 0 {
		delete(s.held, caller)
	}
	close(s.freed)
	s.freed = make(chan struct{})
}
