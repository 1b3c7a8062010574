//go:build linux

package soak

import (
	"sync"

	"github.com/plural-go/plural/tools/soak/ledger"
)

// until is when writers stop: after a number of acknowledgements, or of errors of the server,
// whichever comes first. Zero: never.
type until struct{ acks, errors int }

// tally counts responses.
type tally struct {
	mutex  sync.Mutex
	got    until
	enough until
	done   chan struct{} // closed when it is enough
}

// reset starts counting again. The returned channel is closed when there are enough.
func (t *tally) reset(enough until) <-chan struct{} {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.got, t.enough, t.done = until{}, enough, make(chan struct{})
	return t.done
}

func (t *tally) count(a ledger.Answer) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	switch {
	case a.Status < 300 && !a.Replayed: // what was done before is nothing new
		if t.got.acks++; t.got.acks == t.enough.acks {
			t.finish()
		}
	case a.Status >= 500:
		if t.got.errors++; t.got.errors == t.enough.errors {
			t.finish()
		}
	}
}

func (t *tally) finish() {
	select {
	case <-t.done:
	default:
		close(t.done)
	}
}

// soFar is the counts since the last reset.
func (t *tally) soFar() until {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.got
}
