package store

import (
	"sync"
)

// shares is who has how many of the reads that go on for as long as a client takes. There
// are only so many, and nobody may have more than half of them: a caller who does not read
// what it asked for would keep everybody else from theirs.
type shares struct {
	most int // that one caller may have

	mutex sync.Mutex
	held  map[string]int
}

func newShares(all int) *shares { return &shares{most: max(1, all/2), held: map[string]int{}} }

// enter counts one more read of a caller, unless that has its share. The program itself,
// which has no name, is not counted.
func (s *shares) enter(who string) bool {
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

func (s *shares) leave(who string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.held[who]--; s.held[who] <= 0 {
		delete(s.held, who)
	}
}
