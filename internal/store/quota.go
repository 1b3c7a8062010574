package store

import (
	"sync"
)

// readQuota counts the long reads of each caller. Their number is limited, and nobody may have
// more than half of them: a caller that does not read its lists would block everybody else.
type readQuota struct {
	most int // per caller

	mutex sync.Mutex
	held  map[string]int
}

func newReadQuota(all int) *readQuota { return &readQuota{most: max(1, all/2), held: map[string]int{}} }

// acquire counts one more read of a caller, unless its quota is used up. The program itself,
// which has no name, is not counted.
func (s *readQuota) acquire(who string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if who == "" {
		return true
	}
	if s.held[who] >= s.most {
		return false
	}
	s.held[who]++
	return true
}

func (s *readQuota) release(who string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.held[who]--; s.held[who] <= 0 {
		delete(s.held, who)
	}
}
