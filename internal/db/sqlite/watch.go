package sqlite

import (
	"context"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"
)

// moment is for how long a connection is used before the end of a context interrupts it: waiting for a context takes longer than
// many reads.
const moment = 5 * time.Millisecond

// watched is what lets the end of a context interrupt the statements of a connection.
type watched struct {
	ended chan struct{} // closed when a context ends; nil: none is watched yet, or it has ended
	open  *sqlite.Stmt  // is in use as long as ended is there, see watch

	mutex sync.Mutex // of the following, for the timer
	timer *time.Timer
	runs  bool            // the timer does. It is not stopped: it may be of an earlier context
	ctx   context.Context // nil: none is watched
	stop  func() bool     // stops waiting for it; nil: nothing waits yet
}

// watch lets the end of a context interrupt the statements of the connection, until unwatch is called. SQLite's driver waits for a
// channel in a goroutine: a connection keeps both until a context has ended.
func (c *connection) watch(ctx context.Context) {
	w := &c.watched
	if w.ended == nil {
		w.ended = make(chan struct{})
		c.raw.SetInterrupt(w.ended)
		// When a statement begins and no other one is in use, SQLite forgets an interrupt, such as one that came just before. So
		// one is in use all the time. It reads nothing, so that it keeps no snapshot.
		if w.open == nil {
			w.open, _, _ = c.raw.PrepareTransient("SELECT 1 UNION ALL SELECT 1") // without it, an interrupt may be lost
		}
		if w.open != nil {
			_, _ = w.open.Step() // as above
		}
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.ctx = ctx
	if w.runs {
		return
	}
	w.runs = true
	if w.timer == nil {
		w.timer = time.AfterFunc(moment, w.wait)
	} else {
		w.timer.Reset(moment)
	}
}

// wait lets a context that is still watched close the channel.
func (w *watched) wait() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.runs = false
	if w.ctx != nil {
		ended := w.ended
		w.stop = context.AfterFunc(w.ctx, func() { close(ended) })
	}
}

func (c *connection) unwatch() {
	w := &c.watched
	w.mutex.Lock()
	stop := w.stop
	w.ctx, w.stop = nil, nil
	w.mutex.Unlock()
	if stop != nil && !stop() {
		<-w.ended
		w.ended = nil
		c.raw.SetInterrupt(nil)
		if w.open != nil {
			_ = w.open.Reset() // SQLite forgets the interrupt; the error is that of Step
		}
	}
}
